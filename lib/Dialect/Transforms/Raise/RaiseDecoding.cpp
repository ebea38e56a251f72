//===- RaiseDecoding.cpp - Match dequantization ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows one operand of a mixed-input matmul from the contraction to quantized
// elements and scales.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseDecoding.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

/// The limit for modules with many contractions that share a long chain of
/// producers, as in RaiseFactors.cpp.
static constexpr unsigned kMaxSteps = 128;

//===----------------------------------------------------------------------===//
// Ranges of types
//===----------------------------------------------------------------------===//

namespace {
/// The precision and the range of the values of a format.
struct FormatRange {
  int bits = 0;
  /// The exponent of the smallest value except zero.
  int smallest = 0;
  double largest = 0;

  explicit FormatRange(Format format) {
    const FormatInfo &info = getFormatInfo(format);
    bits = static_cast<int>(info.mantissaBits) + 1;
    // The code 1, or 0 if there are no subnormals.
    smallest = std::ilogb(decode(format, info.hasSubnormals ? 1 : 0));
    for (unsigned code = 0; code != info.numCodes(); ++code) {
      double number = decode(format, static_cast<uint8_t>(code));
      if (std::isfinite(number))
        largest = std::max(largest, number);
    }
  }

  FormatRange operator*(const FormatRange &other) const {
    FormatRange product = *this;
    product.bits += other.bits;
    product.smallest += other.smallest;
    product.largest *= other.largest;
    return product;
  }

  bool isIn(FloatType type) const {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    int precision = static_cast<int>(APFloat::semanticsPrecision(semantics));
    int end = APFloat::semanticsMaxExponent(semantics);
    // A type with the exponents of f32 overflows only where f32 does.
    bool isBounded = end >= 127 || largest < std::ldexp(1.0, end + 1);
    return bits <= precision && isBounded &&
           smallest >=
               APFloat::semanticsMinExponent(semantics) - (precision - 1);
  }
};
} // namespace

bool blockscale::holdsElements(FloatType type, Format format) {
  return FormatRange(format).isIn(type);
}

bool blockscale::holdsProducts(FloatType type, Format element, Format scale) {
  return type.isF32() || (FormatRange(element) * FormatRange(scale)).isIn(type);
}

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

static bool hasTensor(const Access &access) {
  return !access.body && isa<RankedTensorType>(access.value.getType());
}

Factor blockscale::traceHighPrecision(Access access, Loops &loops) {
  Factor factor;
  for (unsigned steps = 0; steps != kMaxSteps; ++steps) {
    Type type = getElementTypeOrSelf(access.value);
    if (hasTensor(access) && (type.isBF16() || type.isF16()))
      factor.forms.push_back(access);
    if (access.body && isa<ShapedType>(access.value.getType()))
      break;
    if (auto extend = access.value.getDefiningOp<arith::ExtFOp>())
      access.value = extend.getIn();
    else if (!followAccess(access, loops))
      break;
  }
  setOrigin(factor, std::move(access));
  return factor;
}

namespace {

class Tracer {
public:
  Tracer(Loops &loops, std::string &reason) : loops(loops), reason(reason) {}

  std::optional<Decoding> run(Access access) {
    while (steps-- != 0) {
      Type type = getElementTypeOrSelf(access.value);
      if (access.body && isa<ShapedType>(access.value.getType()))
        break;
      if (!addRounding(type))
        return std::nullopt;
      Operation *op = access.value.getDefiningOp();
      auto dequantize = dyn_cast_or_null<DequantizeOp>(op);
      if (dequantize && !dequantize.hasCoarseScales()) {
        if (!take(access, dequantize))
          return std::nullopt;
        return std::move(decoding);
      }
      if (auto extend = dyn_cast_or_null<arith::ExtFOp>(op)) {
        access.value = extend.getIn();
      } else if (auto truncate = dyn_cast_or_null<arith::TruncFOp>(op)) {
        if (!checkRounding(truncate))
          return std::nullopt;
        access.value = truncate.getIn();
      } else if (auto scaling = dyn_cast_or_null<arith::ScalingExtFOp>(op)) {
        return splitScaling(access, scaling);
      } else if (auto product = dyn_cast_or_null<arith::MulFOp>(op)) {
        if (!splitProduct(access, product))
          return std::nullopt;
        if (isDone)
          return std::move(decoding);
      } else if (!followAccess(access, loops)) {
        break;
      }
    }
    fail(reason, "expected elements times scales of blocks, got other ops");
    return std::nullopt;
  }

private:
  Loops &loops;
  std::string &reason;
  unsigned steps = kMaxSteps;
  Decoding decoding;
  bool isDone = false;

  /// Adds the rounding of a value that is computed in `type`.
  bool addRounding(Type type) {
    auto floatType = dyn_cast<FloatType>(type);
    if (type.isF32())
      return true;
    if (!type.isBF16() && !type.isF16())
      return fail(reason, "the weights are dequantized in ", type,
                  ", expected f32, bf16 or f16");
    SmallVector<FloatType> &types =
        decoding.tensorScale ? decoding.inner : decoding.outer;
    if (types.empty() || types.back() != floatType)
      types.push_back(floatType);
    return true;
  }

  bool checkRounding(arith::TruncFOp op) {
    std::optional<arith::RoundingMode> mode = op.getRoundingmode();
    if (!mode || *mode == arith::RoundingMode::to_nearest_even)
      return true;
    return fail(reason, "the weights are rounded ",
                arith::stringifyRoundingMode(*mode),
                ", expected to_nearest_even");
  }

  /// Traces an element or a scale: a narrow value, extended to types that hold
  /// it.
  std::optional<Factor> traceFactor(Access access) {
    Factor factor;
    SmallVector<FloatType> types;
    while (steps != 0) {
      --steps;
      bool isNarrow = isNarrowFloat(access.value.getType());
      if (isNarrow && hasTensor(access))
        factor.forms.push_back(access);
      if (access.body && isa<ShapedType>(access.value.getType()))
        break;
      auto extend = access.value.getDefiningOp<arith::ExtFOp>();
      if (extend && !isNarrow) {
        types.push_back(cast<FloatType>(getElementTypeOrSelf(extend.getOut())));
        access.value = extend.getIn();
      } else if (!stepThroughMagnitude(access) &&
                 !followAccess(access, loops)) {
        break;
      }
    }
    setOrigin(factor, std::move(access));
    for (FloatType type : types)
      if (!checkExtension(factor, type))
        return std::nullopt;
    return factor;
  }

  bool checkExtension(const Factor &factor, FloatType type) {
    Type narrow = factor.getElementType();
    std::optional<Format> format = getElementFormat(narrow);
    if (!format)
      format = getScaleFormat(narrow);
    if (!format || holdsElements(type, *format))
      return true;
    return fail(reason, "a factor of type ", factor.origin.value.getType(),
                " is extended to ", type,
                ", which does not hold all of its values");
  }

  bool set(std::optional<Factor> first, std::optional<Factor> second) {
    if (!first || !second)
      return false;
    decoding.factors[0] = std::move(*first);
    decoding.factors[1] = std::move(*second);
    isDone = true;
    return true;
  }

  std::optional<Decoding> splitScaling(const Access &access,
                                       arith::ScalingExtFOp op) {
    Type scaleType = getElementTypeOrSelf(op.getScale());
    if (!isa<Float8E8M0FNUType>(scaleType)) {
      fail(reason, "'arith.scaling_extf' has scales of type ", scaleType,
           ", expected f8E8M0FNU");
      return std::nullopt;
    }
    Access code = access, scale = access;
    code.value = op.getIn();
    scale.value = op.getScale();
    std::optional<Factor> element = traceFactor(code),
                          factor = traceFactor(scale);
    // Both are extended to the type of the result first.
    auto type = cast<FloatType>(getElementTypeOrSelf(op.getOut()));
    if (!element || !factor || !checkExtension(*element, type) ||
        !checkExtension(*factor, type))
      return std::nullopt;
    element->role = FactorRole::Element;
    factor->role = FactorRole::Scale;
    set(std::move(element), std::move(factor));
    return std::move(decoding);
  }

  /// Splits the product of an element and a scale; or that of such a product
  /// and a scale for the whole tensor, and then continues with `access`, the
  /// former.
  bool splitProduct(Access &access, arith::MulFOp op) {
    Access sides[2] = {access, access};
    sides[0].value = op.getLhs();
    sides[1].value = op.getRhs();
    std::optional<Factor> factors[2];
    for (unsigned side : {0, 1})
      if (!(factors[side] = traceFactor(sides[side])))
        return false;
    if (factors[0]->isNarrow() && factors[1]->isNarrow())
      return set(std::move(factors[0]), std::move(factors[1]));
    for (unsigned side : {0, 1}) {
      if (!factors[side]->isTensorScale() || factors[1 - side]->isTensorScale())
        continue;
      if (factors[1 - side]->isNarrow())
        break;
      Type type = getElementTypeOrSelf(op.getResult());
      if (!type.isF32())
        return fail(reason, "a scale for the whole tensor is multiplied in ",
                    type, ", expected f32");
      if (decoding.tensorScale)
        return fail(reason,
                    "expected one scale for the whole tensor, got more");
      decoding.tensorScale = std::move(factors[side]);
      access = std::move(sides[1 - side]);
      return true;
    }
    return fail(reason,
                "expected elements times scales of blocks, and that times a "
                "scale for the whole tensor, if there is one: other orders "
                "are rounded in another way than by blockscale.dequantize");
  }

  bool take(const Access &access, DequantizeOp op) {
    Access elements = access;
    elements.value = op.getElements();
    std::optional<Factor> element = traceFactor(elements),
                          scale = traceFactor(accessScales(access, op, loops));
    element->role = FactorRole::Element;
    scale->role = FactorRole::Scale;
    if (Value value = op.getTensorScale()) {
      if (decoding.tensorScale)
        return fail(reason,
                    "expected one scale for the whole tensor, got more");
      Access access;
      access.value = value;
      setOrigin(decoding.tensorScale.emplace(), std::move(access));
    }
    return set(std::move(element), std::move(scale));
  }
};

} // namespace

std::optional<Decoding> blockscale::traceDecoding(Access access, Loops &loops,
                                                  std::string &reason) {
  return Tracer(loops, reason).run(std::move(access));
}
