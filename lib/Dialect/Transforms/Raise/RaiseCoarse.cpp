//===- RaiseCoarse.cpp - Operands with coarse scales ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each legal block, the indices at which the operand has to be read are
// known. The matcher compares them with those that the program reads.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseCoarse.h"

#include "Raise/IndexExpressions.h"
#include "Raise/RaiseParts.h"
#include "Raise/RaiseRoles.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// `index` in blocks of `size`.
static AffineExpr getBlockIndex(AffineExpr index, int64_t size,
                                ArrayRef<int64_t> extents) {
  if (size == ScaleBlock::kAll)
    return getAffineConstantExpr(0, index.getContext());
  return normalize(index.floorDiv(size), extents);
}

namespace {
class CoarseMatcher {
public:
  CoarseMatcher(const Contraction &contraction, CoarseFailure &failure)
      : contraction(contraction), extents(contraction.loops.extents),
        failure(failure), reason(failure.reason) {}

  std::optional<RaiseMatch> run(const SideFactors &x, const SideFactors &y) {
    RaiseMatch match;
    match.acc = contraction.acc;
    if (!isa<RankedTensorType>(contraction.acc.getType())) {
      fail(reason, "expected tensors with these scales, got ",
           contraction.acc.getType());
      return std::nullopt;
    }
    // Of two loops along K, either may be that over blocks.
    CoarseFailure first;
    for (AffineExpr each : getK()) {
      k = each;
      failure = {};
      if (matchSide(Side::X, x, /*needsBatch=*/false, match.x) &&
          matchSide(Side::Y, y, /*needsBatch=*/false, match.y) &&
          matchBatch(x, match))
        return match;
      if (first.reason.empty())
        first = failure;
    }
    if (!first.reason.empty())
      failure = first;
    return std::nullopt;
  }

private:
  const Contraction &contraction;
  ArrayRef<int64_t> extents;
  CoarseFailure &failure;
  std::string &reason;
  AffineExpr k;

  /// The position along K as expressions of the loops along it.
  SmallVector<AffineExpr> getK() {
    MLIRContext *context = contraction.acc.getContext();
    unsigned first = contraction.reductions.front();
    unsigned last = contraction.reductions.back();
    if (first == last)
      return {normalize(getAffineDimExpr(first, context), extents)};
    SmallVector<AffineExpr> result;
    for (auto [outer, inner] : {std::pair(first, last), std::pair(last, first)})
      if (!ShapedType::isDynamic(extents[inner]))
        result.push_back(
            normalize(getAffineDimExpr(outer, context) * extents[inner] +
                          getAffineDimExpr(inner, context),
                      extents));
    if (result.empty())
      fail(reason, "expected one of the two loops along K to have a static "
                   "size");
    return result;
  }

  /// Whether K is known to be a multiple of `size`.
  bool isKMultipleOf(int64_t size) const {
    if (std::optional<int64_t> largest = getLargestIndex(k, extents))
      return (*largest + 1) % size == 0;
    return llvm::any_of(contraction.reductions, [&](unsigned loop) {
      // With two loops, K is the product of both.
      return (!ShapedType::isDynamic(extents[loop]) &&
              extents[loop] % size == 0) ||
             llvm::any_of(contraction.loops.divisors[loop],
                          [&](int64_t divisor) { return divisor % size == 0; });
    });
  }

  /// The indices of an operand of `side`, with blocks of `block`.
  SmallVector<AffineExpr> getParts(Side side, AffineExpr batch,
                                   ScaleBlock block) const {
    SmallVector<AffineExpr> parts;
    if (batch)
      parts.push_back(normalize(batch, extents));
    AffineExpr row =
        getBlockIndex(contraction.getRow(side), block.rows, extents);
    AffineExpr alongK = getBlockIndex(k, block.k, extents);
    if (side == Side::X)
      parts.append({row, alongK});
    else
      parts.append({alongK, row});
    return parts;
  }

  std::optional<OperandForm> findForm(const Factor &factor, bool isScale,
                                      ArrayRef<AffineExpr> parts,
                                      bool &isPartial) const {
    // Signs of elements matter, and those of f32.
    bool areSigned = !isScale || !factor.isNarrow();
    std::optional<OperandForm> best;
    for (const Access &form : factor.forms) {
      if (form.isAbsolute && areSigned)
        break;
      std::optional<OperandForm> next =
          matchParts(form, parts, extents, isPartial);
      if (next && (next->isOperand() || !best || !best->isOperand()))
        best = std::move(next);
    }
    return best;
  }

  /// The legal blocks of the scales of an operand, the largest first, which
  /// have the fewest scales. One row is a block of 1.
  std::vector<ScaleBlock> getBlocks(Side side, const SideFactors &factors) {
    std::vector<ScaleBlock> blocks = getLegalBlocks(factors);
    bool isOneRow = contraction.getExtent(contraction.getRow(side)) == 1;
    auto rank = [&](const ScaleBlock &block) {
      auto size = [](int64_t each) {
        return each == ScaleBlock::kAll ? std::numeric_limits<int64_t>::max()
                                        : each;
      };
      int64_t rows = isOneRow && block.rows == 1
                         ? std::numeric_limits<int64_t>::max()
                         : size(block.rows) - 1;
      return std::pair(rows, size(block.k));
    };
    llvm::stable_sort(blocks,
                      [&](const ScaleBlock &first, const ScaleBlock &second) {
                        return rank(first) > rank(second);
                      });
    return blocks;
  }

  static std::vector<ScaleBlock> getLegalBlocks(const SideFactors &factors) {
    return getLegalScaleBlocks(
        *getElementFormat(factors.element->getElementType()),
        llvm::to_string(factors.scale->getElementType()));
  }

  /// Blocks of instructions are whole.
  bool isWhole(const SideFactors &factors, const ScaleBlock &block) const {
    return !isBlockOfInstructions(
               block, *getElementFormat(factors.element->getElementType()),
               llvm::to_string(factors.scale->getElementType())) ||
           isKMultipleOf(block.k);
  }

  /// Prefers operands that exist already, then those without a batch, unless
  /// `needsBatch`.
  bool matchSide(Side side, const SideFactors &factors, bool needsBatch,
                 RaisedSide &result) {
    bool isOfAll = !factors.scale || factors.scale->splat;
    bool hasElement = false, hasScale = isOfAll, isFound = false;
    bool isElementPartial = false, isScalePartial = false;
    for (bool hasBatch : {false, true}) {
      if (hasBatch ? contraction.getRank() == 2 : needsBatch)
        continue;
      AffineExpr batch = hasBatch ? contraction.accIndex[0] : AffineExpr();
      std::optional<OperandForm> element =
          findForm(*factors.element, /*isScale=*/false,
                   getParts(side, batch, {1, 1}), isElementPartial);
      hasElement |= element.has_value();
      std::optional<OperandForm> scale;
      ScaleBlock scaleBlock = {ScaleBlock::kAll, ScaleBlock::kAll};
      if (!isOfAll)
        for (const ScaleBlock &block : getBlocks(side, factors)) {
          scale = findForm(*factors.scale, /*isScale=*/true,
                           getParts(side, batch, block), isScalePartial);
          if (!scale || !isWhole(factors, block)) {
            scale = std::nullopt;
            continue;
          }
          scaleBlock = block;
          break;
        }
      hasScale |= scale.has_value();
      if (!element || !(scale || isOfAll))
        continue;
      bool isThere = element->isOperand() && (isOfAll || scale->isOperand());
      if (!isFound || isThere)
        result = getResult(factors, *element, scale, scaleBlock);
      isFound = true;
      if (isThere)
        break;
    }
    if (isFound)
      return true;
    if (!hasElement)
      return failToReadElements(side, *factors.element, isElementPartial);
    if (!hasScale)
      return failToReadScales(side, factors, isScalePartial);
    return fail(reason, "only one of ", getName(side), " and ", getName(side),
                "_scale has the batch");
  }

  RaisedSide getResult(const SideFactors &factors, const OperandForm &element,
                       const std::optional<OperandForm> &scale,
                       ScaleBlock block) const {
    RaisedSide result = {element, scale, nullptr};
    result.block = block;
    if (scale)
      return result;
    if (factors.scale)
      result.splatScale = factors.scale->splat;
    else if (factors.tensorScale && !factors.tensorScale->splat)
      result.tensorScale = getTensorScale(*factors.tensorScale);
    else if (factors.tensorScale)
      result.splatScale = factors.tensorScale->splat;
    else
      result.splatScale =
          Builder(contraction.acc.getContext()).getF32FloatAttr(1);
    return result;
  }

  /// One of x and y has the batch of the result.
  bool matchBatch(const SideFactors &x, RaiseMatch &match) {
    if (contraction.getRank() == 2 || match.x.element.getOperandRank() == 3 ||
        match.y.element.getOperandRank() == 3 ||
        matchSide(Side::X, x, /*needsBatch=*/true, match.x))
      return true;
    reason.clear();
    return fail(reason, "neither x nor y has the batch of the result");
  }

  //===--------------------------------------------------------------------===//
  // Reasons
  //===--------------------------------------------------------------------===//

  static StringRef getRowName(Side side) { return side == Side::X ? "M" : "N"; }

  AffineMap getMap(const Access &form) const {
    return AffineMap::get(extents.size(), 0, form.index,
                          form.value.getContext());
  }

  bool failToReadElements(Side side, const Factor &factor, bool isPartial) {
    const Access &form = factor.forms.back();
    Type type = form.value.getType();
    if (isPartial)
      return fail(reason, getName(side), " of type ", type,
                  " is not known to have just the sizes of ", getRowName(side),
                  " and K");
    if (form.isAbsolute)
      return fail(reason, getName(side), " is an absolute value");
    return fail(reason, getName(side), " of type ", type, " is read at ",
                getMap(form), ", expected ", getRowName(side), " and K");
  }

  /// The elements along `whole` that one scale is read for; nullopt if that is
  /// no number.
  std::optional<int64_t> getObserved(const Access &form,
                                     AffineExpr whole) const {
    SmallVector<AffineExpr> along;
    for (AffineExpr each : form.index) {
      AffineExpr index = normalize(each, extents);
      bool isAlong = false;
      for (unsigned loop = 0; loop != extents.size(); ++loop)
        isAlong |= whole.isFunctionOfDim(loop) && index.isFunctionOfDim(loop);
      if (isAlong)
        along.push_back(index);
    }
    if (along.empty())
      return ScaleBlock::kAll;
    if (along.size() != 1)
      return std::nullopt;
    if (along.front() == whole)
      return 1;
    auto division = dyn_cast<AffineBinaryOpExpr>(along.front());
    auto divisor = division ? dyn_cast<AffineConstantExpr>(division.getRHS())
                            : AffineConstantExpr();
    if (divisor && divisor.getValue() > 0 &&
        along.front() == getBlockIndex(whole, divisor.getValue(), extents))
      return divisor.getValue();
    // Blocks that a loop of their own counts.
    for (unsigned loop : contraction.reductions) {
      int64_t size = extents[loop];
      if (!ShapedType::isDynamic(size) && size > 1 &&
          along.front() == getBlockIndex(whole, size, extents))
        return size;
    }
    return std::nullopt;
  }

  bool failToReadScales(Side side, const SideFactors &factors, bool isPartial) {
    const Access &form = factors.scale->forms.back();
    Type type = form.value.getType();
    std::string name = (getName(side) + "_scale").str();
    if (form.isAbsolute && !factors.scale->isNarrow())
      return fail(reason, name, " is an absolute value");
    std::optional<int64_t> rows =
        getObserved(form, normalize(contraction.getRow(side), extents));
    std::optional<int64_t> alongK = getObserved(form, k);
    if (rows && alongK) {
      if (!checkBlock(side, name, factors, {*rows, *alongK}))
        return false;
      if (!isWhole(factors, {*rows, *alongK}))
        return failToDivideK(*alongK);
      if (isPartial)
        return fail(reason, name, " of type ", type,
                    " is not known to have just one scale for each block of ",
                    stringifyScaleBlock({*rows, *alongK}));
    }
    return fail(reason, name, " of type ", type, " is read at ", getMap(form),
                ", expected blocks of ", getRowName(side), " and of K");
  }

  bool failToDivideK(int64_t block) {
    if (std::optional<int64_t> largest = getLargestIndex(k, extents))
      return fail(reason, "expected K to be a multiple of ", block, ", got ",
                  *largest + 1);
    return fail(reason, "K is dynamic and not known to be a multiple of ",
                block);
  }

  /// Whether scales of the type have the block that is read.
  bool checkBlock(Side side, const std::string &name,
                  const SideFactors &factors, ScaleBlock got) {
    std::vector<int64_t> rows, ks;
    for (const ScaleBlock &legal : getLegalBlocks(factors)) {
      if (!llvm::is_contained(rows, legal.rows))
        rows.push_back(legal.rows);
      if (legal.rows == got.rows)
        ks.push_back(legal.k);
    }
    if (llvm::is_contained(ks, got.k))
      return true;
    failure.isAboutBlock = true;
    Type type = factors.scale->getElementType();
    std::string block = stringifyScaleBlock(got);
    if (ks.empty())
      return fail(reason, "expected ", name, " of type ", type,
                  " to have blocks of ", listBlockSizes(rows), " of ",
                  getRowName(side), ", got ", block);
    llvm::sort(ks, [](int64_t first, int64_t second) {
      return static_cast<uint64_t>(first - 1) <
             static_cast<uint64_t>(second - 1);
    });
    return fail(reason, "expected ", name, " of type ", type,
                " to have blocks of ", listBlockSizes(ks), " of K, got ",
                block);
  }
};
} // namespace

std::optional<TensorScale> blockscale::getTensorScale(const Factor &factor) {
  if (factor.isTensorScale())
    return TensorScale{factor.origin, factor.splat};
  // What a body computes is there as a tensor.
  if (!factor.getElementType().isF32() || factor.forms.empty() ||
      !isa<RankedTensorType>(factor.forms.back().value.getType()) ||
      factor.forms.back().isAbsolute ||
      !llvm::all_of(factor.forms.back().index,
                    llvm::IsaPred<AffineConstantExpr>))
    return std::nullopt;
  return TensorScale{factor.forms.back(), nullptr};
}

std::optional<RaiseMatch>
blockscale::matchCoarse(const Contraction &contraction, SideFactors x,
                        SideFactors y, ArrayRef<const Factor *> tensorScales,
                        CoarseFailure &failure) {
  for (const Factor *scale : tensorScales) {
    SideFactors *side = nullptr;
    for (SideFactors *each : {&y, &x})
      if (!each->scale && !each->tensorScale)
        side = each;
    if (!side) {
      fail(failure.reason, "expected one scale for each of x and y, got more");
      return std::nullopt;
    }
    side->tensorScale = scale;
  }
  for (const SideFactors *side : {&x, &y}) {
    Type type = side->element->getElementType();
    std::optional<Format> format = getElementFormat(type);
    if (!format) {
      fail(failure.reason, "mma_scaled has no elements of type ", type);
      return std::nullopt;
    }
    if (!side->scale)
      continue;
    Type scaleType = side->scale->getElementType();
    if (getLegalScaleBlocks(*format, llvm::to_string(scaleType)).empty()) {
      fail(failure.reason, type, " has no scales of type ", scaleType);
      return std::nullopt;
    }
  }
  return CoarseMatcher(contraction, failure).run(x, y);
}
