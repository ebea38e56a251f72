//===- RaiseFactors.cpp - Factors of a contraction ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scales may be multiplied before or after a broadcast, on tensors or in a
// body: the product is flattened into factors first.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseFactors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

/// The limit of steps for one contraction, so that a module with many
/// contractions that share a long chain of producers takes linear time.
static constexpr unsigned kMaxSteps = 128;

/// More than the two elements and two scales of `mma_scaled`, so that remarks
/// can name the additional factors.
static constexpr unsigned kMaxFactors = 16;

bool blockscale::isNarrowFloat(Type type) {
  auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return floatType && floatType.getWidth() <= 8;
}

bool Factor::isNarrow() const { return isNarrowFloat(origin.value.getType()); }

bool Factor::isTensorScale() const {
  if (!getElementType().isF32() || origin.isAbsolute)
    return false;
  // A value that a body computes is not available outside of it.
  Value value = origin.value;
  linalg::LinalgOp body = origin.body;
  bool isInBody = body && value.getParentBlock() == body.getBlock();
  return splat ||
         (!isInBody &&
          llvm::all_of(origin.index, llvm::IsaPred<AffineConstantExpr>));
}

//===----------------------------------------------------------------------===//
// Signs and constants
//===----------------------------------------------------------------------===//

/// The value of all elements of `value`, if it is one constant.
static FloatAttr getSplat(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return nullptr;
  if (auto elements = dyn_cast<DenseFPElementsAttr>(attr))
    return elements.isSplat()
               ? FloatAttr::get(elements.getElementType(),
                                elements.getSplatValue<APFloat>())
               : nullptr;
  return dyn_cast<FloatAttr>(attr);
}

/// Whether `value` is a constant without negative elements. Only for the scale
/// type that has a sign.
static bool isNonNegativeConstant(Value value) {
  Attribute attr;
  if (!isa<Float8E4M3FNType>(getElementTypeOrSelf(value)) ||
      !matchPattern(value, m_Constant(&attr)))
    return false;
  auto isNonNegative = [](const APFloat &element) {
    return !element.isNegative() || element.isZero() || element.isNaN();
  };
  if (auto scalar = dyn_cast<FloatAttr>(attr))
    return isNonNegative(scalar.getValue());
  auto elements = dyn_cast<DenseFPElementsAttr>(attr);
  return elements && llvm::all_of(elements.getValues<APFloat>(), isNonNegative);
}

/// Matches `value`, a float of 8 bits, as bitcast(andi(x, mask)), where mask
/// has bit 7 clear; returns x.
static Value getMaskedCode(Value value, APInt &mask) {
  auto bitcast = value.getDefiningOp<arith::BitcastOp>();
  if (!bitcast || !getElementTypeOrSelf(bitcast.getIn()).isInteger(8) ||
      getElementTypeOrSelf(value).getIntOrFloatBitWidth() != 8)
    return nullptr;
  auto masked = bitcast.getIn().getDefiningOp<arith::AndIOp>();
  if (!masked)
    return nullptr;
  Value code;
  if (matchPattern(masked.getRhs(), m_ConstantInt(&mask)))
    code = masked.getLhs();
  else if (matchPattern(masked.getLhs(), m_ConstantInt(&mask)))
    code = masked.getRhs();
  return code && !mask[7] ? code : nullptr;
}

/// Matches `value` as an absolute value by integers,
/// bitcast(andi(bitcast(x), 0x7F)); returns the float x.
static Value getMaskedFloat(Value value) {
  APInt mask;
  Value code = getMaskedCode(value, mask);
  if (!code || mask != 0x7F)
    return nullptr;
  auto bitcast = code.getDefiningOp<arith::BitcastOp>();
  bool isSame = bitcast && bitcast.getIn().getType() == value.getType();
  return isSame ? bitcast.getIn() : nullptr;
}

bool blockscale::stepThroughMagnitude(Access &access) {
  Value source = getMaskedFloat(access.value);
  if (auto absolute = access.value.getDefiningOp<math::AbsFOp>())
    source = absolute.getOperand();
  if (!source)
    return false;
  access.value = source;
  access.isAbsolute = true;
  return true;
}

void blockscale::setOrigin(Factor &factor, Access origin) {
  factor.splat = getSplat(origin.value);
  // A constant, or a value from outside of the body, is the same for all loops.
  if (origin.body &&
      (factor.splat || origin.value.getParentBlock() != origin.body.getBlock()))
    origin.index.clear();
  APInt mask;
  factor.isNonNegative = origin.isAbsolute ||
                         getMaskedCode(origin.value, mask) ||
                         isNonNegativeConstant(origin.value);
  factor.origin = std::move(origin);
}

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

namespace {

struct Pending {
  Access access;
  FactorRole role;
  std::optional<unsigned> rounding;
};

class Tracer {
public:
  Tracer(Product &product, Loops &loops) : product(product), loops(loops) {}

  void run(ArrayRef<Access> accesses) {
    for (const Access &access : llvm::reverse(accesses))
      pending.push_back({access, FactorRole::Unknown, std::nullopt});
    while (!pending.empty()) {
      Pending next = pending.pop_back_val();
      if (product.factors.size() == kMaxFactors)
        return note("the product has more than " + Twine(kMaxFactors) +
                    " factors");
      trace(std::move(next));
    }
  }

private:
  Product &product;
  Loops &loops;
  unsigned steps = kMaxSteps;
  SmallVector<Pending> pending;

  void note(const Twine &problem) {
    if (product.problem.empty())
      product.problem = problem.str();
  }

  /// Follows one factor. If it is a product, adds its factors to `pending`.
  void trace(Pending next) {
    Factor factor;
    factor.role = next.role;
    Access &access = next.access;
    while (true) {
      Value value = access.value;
      checkType(getElementTypeOrSelf(value));
      if (getElementTypeOrSelf(value).isBF16() && !next.rounding)
        next.rounding = product.numRoundings++;
      factor.rounding = next.rounding;
      bool isNarrow = isNarrowFloat(value.getType());
      if ((isNarrow || getElementTypeOrSelf(value).isF32()) && !access.body &&
          isa<ShapedType>(value.getType()))
        factor.forms.push_back(access);
      if (steps == 0)
        break;
      --steps;
      // Tensors of vectors, which have vectors in bodies, are not followed.
      if (access.body && isa<ShapedType>(value.getType()))
        break;
      if (!isNarrow && splitProduct(next))
        return;
      if (!stepThrough(access, isNarrow))
        break;
    }
    // Those before a conversion hold other values.
    Type type = getElementTypeOrSelf(access.value);
    llvm::erase_if(factor.forms, [&](const Access &form) {
      return getElementTypeOrSelf(form.value) != type;
    });
    setOrigin(factor, std::move(access));
    product.factors.push_back(std::move(factor));
  }

  /// Products, and roundings of them, must be in f32, or in bf16, which
  /// represents the product of an element and its scale, too.
  void checkType(Type type) {
    if (isa<FloatType>(type) && !isNarrowFloat(type) && !type.isF32() &&
        !type.isBF16()) {
      std::string text;
      llvm::raw_string_ostream(text) << "an operand is dequantized to " << type
                                     << ", expected f32 or bf16";
      note(text);
    }
  }

  bool splitProduct(const Pending &whole) {
    const Access &access = whole.access;
    FactorRole role = whole.role;
    auto add = [&](Value value, FactorRole valueRole) {
      pending.push_back({access, valueRole, whole.rounding});
      pending.back().access.value = value;
    };
    if (auto mul = access.value.getDefiningOp<arith::MulFOp>()) {
      add(mul.getRhs(), role);
      add(mul.getLhs(), role);
      return true;
    }
    auto dequantize = access.value.getDefiningOp<DequantizeOp>();
    if (dequantize && !dequantize.hasCoarseScales() && !access.body) {
      splitDequantize(whole, dequantize);
      return true;
    }
    auto scaling = access.value.getDefiningOp<arith::ScalingExtFOp>();
    if (!scaling)
      return false;
    // Wider scales are rounded to f8E8M0FNU; for other types upstream defines
    // no semantics.
    Type scaleType = getElementTypeOrSelf(scaling.getScale());
    if (!isa<Float8E8M0FNUType>(scaleType)) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "'arith.scaling_extf' has scales of type " << scaleType
          << ", expected f8E8M0FNU";
      note(text);
    }
    add(scaling.getScale(), FactorRole::Scale);
    add(scaling.getIn(), FactorRole::Element);
    return true;
  }

  void splitDequantize(const Pending &whole, DequantizeOp op) {
    product.isDequantized = true;
    Type type = getElementTypeOrSelf(op.getType());
    if (op.getTensorScale())
      note("'blockscale.dequantize' with a scale of the tensor rounds twice");
    else if (type.isBF16() && !isExactInBF16(op))
      note("'blockscale.dequantize' rounds to bf16, which does not hold all "
           "products of these elements and scales, expected f32");
    pending.push_back({accessScales(whole.access, op, loops), FactorRole::Scale,
                       whole.rounding});
    pending.push_back(whole);
    pending.back().role = FactorRole::Element;
    pending.back().access.value = op.getElements();
  }

  /// Whether bf16 represents element * scale for all elements and scales, as
  /// f32 does: it has enough bits, and the smallest products are multiples of
  /// its smallest value. Its largest exponent is that of f32, so a product of
  /// so few bits overflows in both or in neither. The condition fails for fp8
  /// with powers of two, whose smallest products are 2^-136 and 2^-143, while
  /// the smallest bf16 is 2^-133.
  static bool isExactInBF16(DequantizeOp op) {
    const llvm::fltSemantics &bf16 = APFloat::BFloat();
    int bits = 0, smallest = 0;
    for (Format format : {op.getElementFormat(), op.getScaleFormat()}) {
      const FormatInfo &info = getFormatInfo(format);
      bits += static_cast<int>(info.mantissaBits) + 1;
      // The code 1, or 0 if there are no subnormals.
      smallest += std::ilogb(decode(format, info.hasSubnormals ? 1 : 0));
    }
    int precision = static_cast<int>(APFloat::semanticsPrecision(bf16));
    return bits <= precision &&
           smallest >= APFloat::semanticsMinExponent(bf16) - (precision - 1);
  }

  /// Follows `access` through one op; false if there is none to follow.
  bool stepThrough(Access &access, bool isNarrow) {
    auto step = [&](Value source) {
      access.value = source;
      return true;
    };
    // After dequantization, only exact ops may follow.
    if (Operation *op = access.value.getDefiningOp()) {
      if (auto extend = dyn_cast<arith::ExtFOp>(op))
        return !isNarrow && step(extend.getIn());
      // Followed only to find out that there is a scale; its type is recorded.
      if (auto truncate = dyn_cast<arith::TruncFOp>(op))
        return !isNarrow && step(truncate.getIn());
      if (stepThroughMagnitude(access))
        return true;
    }
    return followAccess(access, loops);
  }
};

} // namespace

Product blockscale::traceProduct(ArrayRef<Access> accesses, Loops &loops) {
  Product product;
  Tracer(product, loops).run(accesses);
  return product;
}
