//===- RaiseWeights.cpp - Weight-only quantization ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All factors of an operand decide whether it has high precision or is
// quantized; each step of its dequantization decides whether that equals
// `dequantize`.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseWeights.h"

#include "Raise/RaiseDecoding.h"
#include "Raise/RaiseRoles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

static bool isNarrowFactor(const Factor &factor) { return factor.isNarrow(); }

/// Whether `product` multiplies quantized elements and scales, and no
/// high-precision values.
static bool isDequantized(const Product &product,
                          const Contraction &contraction) {
  bool hasScale = llvm::any_of(product.factors, [&](const Factor &factor) {
    return isScale(factor) ||
           (factor.isNarrow() && isCoarse(factor, contraction));
  });
  return hasScale && llvm::count_if(product.factors, isNarrowFactor) >= 2 &&
         llvm::all_of(product.factors, [](const Factor &factor) {
           return factor.isNarrow() || factor.isTensorScale();
         });
}

/// Whether `product` has high-precision values that vary, and no quantized
/// elements.
static bool isHighPrecision(const Product &product) {
  return llvm::none_of(product.factors, isNarrowFactor) &&
         llvm::any_of(product.factors, [](const Factor &factor) {
           return !factor.isTensorScale();
         });
}

/// Whether one factor has high precision, and quantized elements and scales
/// have rows that it does not have.
static bool isMixedInput(ArrayRef<Product> products,
                         const Contraction &contraction) {
  SmallVector<const Factor *> dense, narrow;
  for (const Product &product : products)
    for (const Factor &factor : product.factors)
      // What is read once for several steps along K is a scale.
      if (factor.isNarrow())
        narrow.push_back(&factor);
      else if (!factor.isTensorScale() && !isCoarse(factor, contraction))
        dense.push_back(&factor);
  auto haveNoRow = [&](const Factor *number) {
    return llvm::none_of(narrow, [&](const Factor *factor) {
      return haveOneRow(*number, *factor, contraction);
    });
  };
  return !dense.empty() && narrow.size() >= 2 && contraction.getRank() >= 2 &&
         llvm::all_of(dense, haveNoRow) &&
         llvm::any_of(narrow, [&](const Factor *factor) {
           return isScale(*factor) || isCoarse(*factor, contraction);
         });
}

namespace {

class WeightsMatcher {
public:
  WeightsMatcher(Contraction &contraction, const RaiseOptions &options,
                 std::string &reason)
      : contraction(contraction), options(options), reason(reason) {}

  std::optional<WeightsMatch> run(const Access &dense, const Access &decoded) {
    WeightsMatch match;
    match.acc = contraction.acc;
    if (!checkSum(contraction, reason) || !checkLoops(contraction, reason))
      return std::nullopt;
    std::optional<Decoding> decoding =
        traceDecoding(decoded, contraction.loops, reason);
    if (!decoding || !assignRoles(*decoding) || !checkSigns() ||
        !chooseType(dense, *decoding, match.type))
      return std::nullopt;
    if (decoding->tensorScale)
      match.tensorScale = {decoding->tensorScale->origin,
                           decoding->tensorScale->splat};
    std::optional<Side> side = findSide();
    if (!side || !matchOperands(dense, *side, match))
      return std::nullopt;
    return match;
  }

private:
  Contraction &contraction;
  const RaiseOptions &options;
  std::string &reason;
  Factor code, scale;
  Format element, scaleFormat;
  std::vector<unsigned> legalBlocks;

  bool assignRoles(Decoding &decoding) {
    auto &[first, second] = decoding.factors;
    bool isFirst =
        isScale(first) || (!isScale(second) && isCoarse(first, contraction));
    code = isFirst ? second : first;
    scale = isFirst ? first : second;
    Type type = code.getElementType(), scaleType = scale.getElementType();
    std::optional<Format> elementFormat = getElementFormat(type),
                          formatOfScale = getScaleFormat(scaleType);
    if (!elementFormat)
      return fail(reason, "dequantize has no elements of type ", type);
    if (!formatOfScale)
      return fail(reason, "dequantize has no scales of type ", scaleType);
    element = *elementFormat;
    scaleFormat = *formatOfScale;
    legalBlocks = getLegalBlockSizes(element, element, scaleFormat);
    if (legalBlocks.empty())
      return fail(reason, type, " has no scales of type ", scaleType);
    for (const Factor &factor : {code, scale})
      if (factor.forms.empty() && !(factor.splat && &factor != &code))
        return fail(reason, "a factor of type ", factor.origin.value.getType(),
                    " is computed for each element, expected a tensor of them");
    return true;
  }

  bool checkSigns() {
    if (!isa<Float8E4M3FNType>(scale.getElementType()) || scale.isNonNegative ||
        options.assumePositiveScales)
      return true;
    return fail(reason,
                "scales may be negative, and dequantize ignores the sign of "
                "f8E4M3FN; 'math.absf' or the option assume-positive-scales "
                "says that they are not");
  }

  /// Chooses the type of the high-precision operand, in which `dequantize`
  /// equals `decoding`.
  bool chooseType(const Access &dense, const Decoding &decoding,
                  FloatType &type) {
    Factor x = traceHighPrecision(dense, contraction.loops);
    if (x.forms.empty())
      return fail(reason, "the other operand is of type ",
                  x.origin.value.getType(),
                  ", expected bf16 or f16, which may be extended");
    type = cast<FloatType>(getElementTypeOrSelf(x.forms.front().value));

    auto isRounding = [&](FloatType passed) {
      return !holdsProducts(passed, element, scaleFormat);
    };
    FloatType rounding;
    for (FloatType inner : decoding.inner)
      if (isRounding(inner))
        return fail(reason, "elements times scales are rounded to ", inner,
                    " before they are multiplied by the scale for the whole "
                    "tensor, expected f32");
    for (FloatType outer : decoding.outer) {
      if (!decoding.tensorScale && !isRounding(outer))
        continue;
      if (rounding && rounding != outer)
        return fail(reason, "the weights are rounded twice, to ", outer,
                    " and to ", rounding);
      rounding = outer;
    }
    bool isExact = !decoding.tensorScale && !rounding && !isRounding(type);
    if (rounding == type || isExact)
      return true;
    if (rounding)
      return fail(reason, "the weights are rounded to ", rounding,
                  ", and the other operand is of type ", type);
    return fail(reason,
                "the weights are of type f32 and the other operand of type ",
                type, ", which does not hold all of their values");
  }

  /// Whether rows of the weights are M or N: elements are indexed by them, or,
  /// if there is one row, the other operand is indexed by the other loop.
  std::optional<Side> findSide() {
    bool isX = isReadBy(code, contraction.getRow(Side::X));
    bool isY = isReadBy(code, contraction.getRow(Side::Y));
    if (!isX || !isY)
      return isX ? Side::X : Side::Y;
    fail(reason,
         "the weights vary with both M and N, the last two dimensions of the "
         "result");
    return std::nullopt;
  }

  bool matchOperands(const Access &dense, Side side, WeightsMatch &match) {
    SideFactors factors = {&code, &scale};
    bool isBatched = contraction.getRank() == 3;
    match.side = side;
    match.haveBatch = isBatched && isReadBy(code, contraction.accIndex.front());
    std::optional<RaisedSide> weights = matchBlocksOfSide(
        contraction, side, factors, match.haveBatch, legalBlocks,
        scale.getElementType(), match.block, reason);
    if (!weights)
      return false;
    match.weights = std::move(*weights);
    std::optional<OperandForm> form = matchHighPrecision(dense, match);
    if (form)
      match.dense = std::move(*form);
    return form.has_value();
  }

  /// Matches the high-precision operand with a tensor of its type on the way.
  std::optional<OperandForm> matchHighPrecision(const Access &dense,
                                                const WeightsMatch &match) {
    Factor x = traceHighPrecision(dense, contraction.loops);
    llvm::erase_if(x.forms, [&](const Access &form) {
      return getElementTypeOrSelf(form.value) != match.type;
    });
    Side side = match.side == Side::X ? Side::Y : Side::X;
    std::optional<OperandForm> form = matchRowsOfK(
        contraction, side, x, contraction.getRank() == 3, match.block);
    if (form)
      return form;
    const Access &access = x.forms.back();
    AffineMap map = AffineMap::get(contraction.loops.extents.size(), 0,
                                   access.index, access.value.getContext());
    fail(reason, "the other operand, of type ", access.value.getType(),
         ", is read at ", map, ", expected ",
         contraction.getRank() == 3 ? "the batch, " : "",
         side == Side::X ? "M" : "N", " and K");
    return std::nullopt;
  }
};

} // namespace

/// Whether kernels support `op` directly, if `dequantize` defines an operand.
static bool isCanonical(Operation *op) {
  return isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) &&
         getElementTypeOrSelf(op->getOperand(0)) ==
             getElementTypeOrSelf(op->getOperand(1));
}

std::optional<WeightsMatch>
blockscale::matchWeights(Operation *op, const RaiseOptions &options,
                         std::string &reason) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  std::optional<Contraction> contraction = describeContraction(op);
  if (!linalgOp || !contraction || contraction->inputs.size() != 1)
    return std::nullopt;
  Access &addend = contraction->inputs.front();
  auto product = addend.value.getDefiningOp<arith::MulFOp>();
  if (!product || addend.body != linalgOp)
    return std::nullopt;
  Access operands[2] = {addend, addend};
  operands[0].value = product.getLhs();
  operands[1].value = product.getRhs();
  Product factors[2];
  for (unsigned i : {0, 1})
    factors[i] = traceProduct(operands[i], contraction->loops);
  for (unsigned i : {0, 1}) {
    if (!isHighPrecision(factors[i]) ||
        !isDequantized(factors[1 - i], *contraction))
      continue;
    if (factors[1 - i].isDequantized && isCanonical(op))
      return std::nullopt;
    return WeightsMatcher(*contraction, options, reason)
        .run(operands[i], operands[1 - i]);
  }
  if (isMixedInput(factors, *contraction))
    reason =
        "elements and scales are multiplied by the other operand one after "
        "the other, which is rounded in another way than their product, "
        "expected their product";
  return std::nullopt;
}
