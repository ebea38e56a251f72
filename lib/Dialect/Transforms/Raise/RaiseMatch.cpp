//===- RaiseMatch.cpp - Contractions as mma_scaled ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides by the indices of each factor whether it is x, y or a scale, and says
// what is missing.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseBlocks.h"

#include "Raise/RaiseCoarse.h"
#include "Raise/RaiseRoles.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// Whether `factor` may be an element or a scale by its type.
static bool isEitherType(const Factor &factor) {
  return isa<Float8E4M3FNType>(factor.getElementType());
}

/// bf16 represents the product of one element and its scale, but not a product
/// of more factors, or of one with more bits.
static bool checkRoundings(const Product &product, ArrayRef<SideFactors> sides,
                           std::string &reason) {
  for (unsigned rounding = 0; rounding != product.numRoundings; ++rounding) {
    SmallVector<const Factor *> factors;
    for (const Factor &factor : product.factors)
      if (factor.rounding == rounding)
        factors.push_back(&factor);
    for (const Factor *factor : factors)
      if (factor->getElementType().isF32() && !getTensorScale(*factor))
        return fail(reason, "a scale of type ", factor->getElementType(),
                    ", or its product with an element, is rounded to bf16, "
                    "expected products in f32");
    bool isOfOneSide = llvm::any_of(sides, [&](const SideFactors &side) {
      return llvm::all_of(factors, [&](const Factor *factor) {
        return factor == side.element || factor == side.scale;
      });
    });
    if (isOfOneSide)
      continue;
    reason = "a product is rounded to bf16, expected that of an element and "
             "its scale, got one of " +
             std::to_string(factors.size()) + " factors";
    return false;
  }
  return true;
}

/// Without the scale for the whole tensor, sums may exceed f32, unless the
/// scales of blocks are small.
static bool checkTensorScales(ArrayRef<const Factor *> scales, Type scaleType,
                              std::string &reason) {
  if (scales.empty() || isa<Float8E4M3FNType>(scaleType))
    return true;
  llvm::raw_string_ostream(reason)
      << "a scale of type f32 for the whole tensor with scales of type "
      << scaleType << ", expected f8E4M3FN";
  return false;
}

namespace {

class Matcher {
public:
  Matcher(Contraction &contraction, const RaiseOptions &options,
          std::string &reason)
      : contraction(contraction), options(options), reason(reason),
        product(traceProduct(contraction.inputs, contraction.loops)) {}

  std::optional<RaiseMatch> run() {
    if (!hasBlockScales() || !checkForm() || !assignSides())
      return std::nullopt;
    // Blocks of instructions first, which both operands share.
    if (std::optional<RaiseMatch> match = matchOneBlock())
      return match;
    CoarseFailure failure;
    std::optional<RaiseMatch> match = matchTwoBlocks(failure);
    // The first reason explains more, unless it names the only blocks that it
    // knows.
    if (match)
      reason.clear();
    else if (reason.empty() || failure.isAboutBlock)
      reason = failure.reason;
    return match;
  }

private:
  Contraction &contraction;
  const RaiseOptions &options;
  std::string &reason;
  Product product;
  SideFactors sides[2];
  SmallVector<const Factor *> tensorScales;
  /// Scales for blocks of K of all rows, which may belong to either side.
  SmallVector<const Factor *> rowlessScales;
  std::vector<unsigned> legalBlocks;
  Type scaleType;

  SideFactors &get(Side side) { return sides[side == Side::X ? 0 : 1]; }

  std::optional<RaiseMatch> matchOneBlock() {
    if (!haveNarrowScales() || !checkTypes() ||
        !checkRoundings(product, sides, reason) ||
        !checkTensorScales(tensorScales, scaleType, reason))
      return std::nullopt;
    std::optional<RaiseMatch> match =
        matchBlocks(contraction, get(Side::X), get(Side::Y), legalBlocks,
                    scaleType, reason);
    if (match)
      for (const Factor *factor : tensorScales)
        match->tensorScales.push_back(*getTensorScale(*factor));
    return match;
  }

  /// Coarse scales: both operands have a block of their own.
  std::optional<RaiseMatch> matchTwoBlocks(CoarseFailure &failure) {
    for (const Factor *scale : rowlessScales) {
      SideFactors &side = get(get(Side::X).scale ? Side::Y : Side::X);
      if (side.scale) {
        fail(failure.reason,
             "expected one scale for each of x and y, got more");
        return std::nullopt;
      }
      side.scale = scale;
    }
    if (!checkSigns(failure.reason) ||
        !checkRoundings(product, sides, failure.reason))
      return std::nullopt;
    return matchCoarse(contraction, get(Side::X), get(Side::Y), tensorScales,
                       failure);
  }

  /// Whether all scales but those of whole tensors have at most 8 bits, and
  /// rows.
  bool haveNarrowScales() {
    return rowlessScales.empty() &&
           llvm::all_of(sides, [](const SideFactors &side) {
             return !side.scale || side.scale->isNarrow();
           });
  }

  //===--------------------------------------------------------------------===//
  // Whether a remark is useful
  //===--------------------------------------------------------------------===//

  /// Whether the contraction has block scales: two factors that are not scales
  /// are multiplied, and there is a scale. A factor is a scale by its type, or
  /// because it is read once for several steps along K, or because it is narrow
  /// and has the same row as another one. Wide scales are those of two narrow
  /// factors.
  bool hasBlockScales() {
    // Paths support a matmul of a high-precision operand and the result of a
    // `dequantize` op directly.
    if (product.isDequantized &&
        llvm::any_of(product.factors, [&](const Factor &factor) {
          return !factor.isNarrow() && !isWideScale(factor);
        }))
      return false;
    llvm::SmallPtrSet<Value, 4> elements, narrow;
    bool hasScale = false, hasWideScale = false;
    for (auto [i, factor] : llvm::enumerate(product.factors)) {
      if (isWideScale(factor)) {
        hasWideScale = true;
        continue;
      }
      hasScale |=
          isScale(factor) || (product.factors.size() > 2 && factor.isNarrow() &&
                              isCoarse(factor, contraction));
      if (!isScale(factor)) {
        elements.insert(factor.origin.value);
        if (factor.isNarrow())
          narrow.insert(factor.origin.value);
      }
      for (const Factor &other : ArrayRef(product.factors).take_front(i))
        hasScale |= (factor.isNarrow() || other.isNarrow()) &&
                    haveOneRow(factor, other, contraction);
    }
    return (hasScale && elements.size() >= 2) ||
           (hasWideScale && narrow.size() >= 2);
  }

  /// Whether `factor` has more than 8 bits, and does not change with every step
  /// along K.
  bool isWideScale(const Factor &factor) const {
    return !factor.isNarrow() &&
           (getTensorScale(factor) || isCoarse(factor, contraction));
  }

  //===--------------------------------------------------------------------===//
  // Loops and types
  //===--------------------------------------------------------------------===//

  bool checkForm() {
    return checkSum(contraction, reason) &&
           (product.problem.empty() || fail(reason, product.problem)) &&
           checkLoops(contraction, reason);
  }

  bool assignSides() {
    SmallVector<const Factor *> factors[2], splats;
    for (const Factor &factor : product.factors) {
      Type type = factor.origin.value.getType();
      if (getTensorScale(factor)) {
        tensorScales.push_back(&factor);
        continue;
      }
      bool isX = isReadBy(factor, contraction.getRow(Side::X));
      bool isY = isReadBy(factor, contraction.getRow(Side::Y));
      bool isF32Scale = factor.getElementType().isF32() && isWideScale(factor);
      if (!factor.isNarrow() && !isF32Scale)
        return isWideScale(factor)
                   ? fail(reason, "a scale of type ", type,
                          ", expected f32, f8E8M0FNU or f8E4M3FN")
                   : fail(reason, "a factor of type ", type,
                          " is not dequantized from a type of at most 8 bits");
      bool isSplatScale =
          factor.splat && getScaleFormat(factor.getElementType());
      if (factor.forms.empty() && !isSplatScale)
        return fail(reason, "a factor of type ", type,
                    " is computed for each element, expected a tensor or "
                    "vector of them");
      if (isX && isY)
        return fail(reason, "a factor of type ", type,
                    " varies with both M and N, the last two dimensions of the "
                    "result");
      if (isX || isY)
        factors[isX ? 0 : 1].push_back(&factor);
      else if (isSplatScale)
        splats.push_back(&factor);
      else if (isF32Scale)
        rowlessScales.push_back(&factor);
      else if (std::optional<Side> side = getSideOfOneRow(factor, factors))
        factors[*side == Side::X ? 0 : 1].push_back(&factor);
      else if (isScale(factor) && isTensor(factor))
        rowlessScales.push_back(&factor);
      else
        return fail(reason, "a factor of type ", type,
                    " varies with neither M nor N, the last two dimensions of "
                    "the result");
    }
    for (Side side : {Side::X, Side::Y})
      if (!assignRoles(side, factors[side == Side::X ? 0 : 1]))
        return false;
    // A scale for all blocks may belong to either side.
    for (const Factor *splat : splats) {
      SideFactors &side = get(get(Side::X).scale ? Side::Y : Side::X);
      if (side.scale)
        return fail(reason, "expected one scale for each of x and y, got more");
      side.scale = splat;
    }
    return true;
  }

  /// The side of a factor without a row, if M or N is 1. If both are 1, the
  /// sides are alike, and each only has to get a matrix.
  std::optional<Side>
  getSideOfOneRow(const Factor &factor,
                  ArrayRef<SmallVector<const Factor *>> factors) const {
    auto isScaleLike = [&](const Factor &other) {
      return isScale(other) || isCoarse(other, contraction);
    };
    for (Side side : {Side::X, Side::Y}) {
      bool isTaken = llvm::any_of(
          factors[side == Side::X ? 0 : 1], [&](const Factor *other) {
            return isScaleLike(*other) == isScaleLike(factor);
          });
      if (contraction.getExtent(contraction.getRow(side)) == 1 && !isTaken)
        return side;
    }
    return std::nullopt;
  }

  static bool isTensor(const Factor &factor) {
    return isa<RankedTensorType>(factor.getNearest().value.getType());
  }

  bool assignRoles(Side side, ArrayRef<const Factor *> factors) {
    SmallVector<const Factor *> elements, scales;
    for (const Factor *factor : factors)
      (isScale(*factor) || !factor->isNarrow() ? scales : elements)
          .push_back(factor);
    // f8E4M3FN may be the type of elements and of scales; factors of other
    // types may be intended as scales, too.
    if (elements.size() == 2 && scales.empty()) {
      bool isFirstCoarse = isCoarse(*elements[0], contraction);
      bool isSecondCoarse = isCoarse(*elements[1], contraction);
      unsigned scale = isFirstCoarse != isSecondCoarse
                           ? (isFirstCoarse ? 0 : 1)
                           : (isEitherType(*elements[1]) ? 1 : 0);
      if (isFirstCoarse != isSecondCoarse || isEitherType(*elements[scale])) {
        scales.push_back(elements[scale]);
        elements.erase(elements.begin() + scale);
      }
    }
    if (elements.size() != 1 || scales.size() > 1)
      return fail(reason, "expected ", getName(side),
                  " to be one matrix and one scale, got ", elements.size(),
                  " and ", scales.size());
    get(side) = {elements.front(), scales.empty() ? nullptr : scales.front()};
    return true;
  }

  bool checkTypes() {
    Type types[2];
    std::optional<Format> formats[2];
    for (Side side : {Side::X, Side::Y}) {
      unsigned i = side == Side::X ? 0 : 1;
      types[i] = get(side).element->getElementType();
      formats[i] = getElementFormat(types[i]);
      if (!formats[i])
        return fail(reason, "mma_scaled has no elements of type ", types[i]);
      const Factor *scale = get(side).scale;
      if (!scale)
        continue;
      if (scaleType && scaleType != scale->getElementType())
        return fail(reason, "expected scales of one type, got ", scaleType,
                    " and ", scale->getElementType());
      scaleType = scale->getElementType();
    }
    if (!scaleType) // It is a matmul without scales.
      return false;
    std::optional<Format> scaleFormat = getScaleFormat(scaleType);
    if (!scaleFormat)
      return fail(reason, "mma_scaled has no scales of type ", scaleType);
    legalBlocks = getLegalBlockSizes(*formats[0], *formats[1], *scaleFormat);
    if (legalBlocks.empty())
      return fail(reason, types[0], " times ", types[1],
                  " has no scales of type ", scaleType);
    return checkSigns(reason);
  }

  /// Scales of type f8E4M3FN are read as ue4m3.
  bool checkSigns(std::string &reason) {
    for (Side side : {Side::X, Side::Y}) {
      const Factor *scale = get(side).scale;
      if (scale && isa<Float8E4M3FNType>(scale->getElementType()) &&
          !scale->isNonNegative && !options.assumePositiveScales)
        return fail(reason, "the scales of ", getName(side),
                    " may be negative, and mma_scaled ignores the sign of "
                    "f8E4M3FN; 'math.absf' or the option "
                    "assume-positive-scales says that they are not");
    }
    return true;
  }
};

} // namespace

std::optional<RaiseMatch>
blockscale::matchMmaScaled(Contraction &contraction,
                           const RaiseOptions &options, std::string &reason) {
  return Matcher(contraction, options, reason).run();
}

std::optional<RaiseMatch>
blockscale::matchMmaScaled(Operation *op, const RaiseOptions &options,
                           std::string &reason) {
  std::optional<Contraction> contraction = describeContraction(op);
  if (!contraction)
    return std::nullopt;
  return matchMmaScaled(*contraction, options, reason);
}
