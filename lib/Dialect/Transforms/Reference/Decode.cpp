//===- Decode.cpp - Exact decoding of codes -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes become f64 by arithmetic on i64 and f64, which hosts and GPUs have,
// unlike the formats; all formats take this path.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Arithmetic on i64 and f64, or on vectors or tensors of them.
class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, Type shape)
      : builder(builder), loc(loc), shape(dyn_cast<ShapedType>(shape)) {}

  Type withShape(Type element) {
    return shape ? Type(shape.clone(element)) : element;
  }
  Value integer(uint64_t value) {
    return constant(builder.getI64IntegerAttr(static_cast<int64_t>(value)));
  }
  Value number(double value) {
    return constant(builder.getF64FloatAttr(value));
  }

  Value bitAnd(Value value, uint64_t mask) {
    return arith::AndIOp::create(builder, loc, value, integer(mask));
  }
  Value shiftLeft(Value value, unsigned amount) {
    return arith::ShLIOp::create(builder, loc, value, integer(amount));
  }
  Value asNumber(Value bits) {
    return arith::BitcastOp::create(builder, loc,
                                    withShape(builder.getF64Type()), bits);
  }
  Value select(Value condition, Value ifTrue, Value ifFalse) {
    return arith::SelectOp::create(builder, loc, condition, ifTrue, ifFalse);
  }
  Value compare(arith::CmpIPredicate predicate, Value value, uint64_t bound) {
    return arith::CmpIOp::create(builder, loc, predicate, value,
                                 integer(bound));
  }

private:
  Value constant(TypedAttr value) {
    if (!shape)
      return arith::ConstantOp::create(builder, loc, value);
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(shape.clone(value.getType()), value));
  }

  OpBuilder &builder;
  Location loc;
  ShapedType shape;
};
} // namespace

// The f64 encoding that the narrow one is moved into.
static constexpr unsigned kF64MantissaBits = 52;
static constexpr int kF64Bias = 1023;
static constexpr uint64_t kF64Infinity = uint64_t(0x7FF) << kF64MantissaBits;

Value blockscale::emitDecode(OpBuilder &builder, Location loc, Value code,
                             Format format) {
  const FormatInfo &info = getFormatInfo(format);
  Emitter emit(builder, loc, code.getType());
  unsigned mantissaShift = kF64MantissaBits - info.mantissaBits;
  uint64_t firstNormal = uint64_t(1) << info.mantissaBits;

  Value wide = arith::ExtUIOp::create(
      builder, loc, emit.withShape(builder.getI64Type()), code);
  Value magnitude = emit.bitAnd(wide, info.magnitudeMask());

  // Normal numbers: the fields move up, the exponent changes its bias.
  Value moved = emit.shiftLeft(magnitude, mantissaShift);
  Value value = emit.asNumber(arith::AddIOp::create(
      builder, loc, moved,
      emit.integer(static_cast<uint64_t>(kF64Bias - info.bias)
                   << kF64MantissaBits)));

  // Subnormal numbers: the mantissa as an integer. (No f64 subnormals are
  // used, so a caller's flush-to-zero mode does no harm.)
  if (info.hasSubnormals) {
    Value mantissa = arith::UIToFPOp::create(
        builder, loc, emit.withShape(builder.getF64Type()), magnitude);
    int exponent = 1 - info.bias - static_cast<int>(info.mantissaBits);
    Value subnormal = arith::MulFOp::create(
        builder, loc, mantissa, emit.number(std::ldexp(1.0, exponent)));
    value = emit.select(
        emit.compare(arith::CmpIPredicate::ult, magnitude, firstNormal),
        subnormal, value);
  }

  switch (info.special) {
  case SpecialCodes::None:
    break;
  case SpecialCodes::AllOnesNaN: {
    Value isNaN =
        emit.compare(arith::CmpIPredicate::eq, magnitude, info.magnitudeMask());
    value = emit.select(isNaN, emit.number(std::nan("")), value);
    break;
  }
  case SpecialCodes::Ieee: {
    // The mantissa moves along: 0 stays infinity, others stay NaN.
    uint64_t firstSpecial = info.magnitudeMask() + 1 - firstNormal;
    Value special = emit.asNumber(
        arith::OrIOp::create(builder, loc, moved, emit.integer(kF64Infinity)));
    value = emit.select(
        emit.compare(arith::CmpIPredicate::uge, magnitude, firstSpecial),
        special, value);
    break;
  }
  }

  if (info.signBits == 0)
    return value;
  Value isNegative =
      emit.compare(arith::CmpIPredicate::ne,
                   emit.bitAnd(wide, uint64_t(1) << (info.bits - 1)), 0);
  return emit.select(isNegative, arith::NegFOp::create(builder, loc, value),
                     value);
}
