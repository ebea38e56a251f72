//===- BitsEmitter.h - Arithmetic on the bits of floats ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for what the decoder and the encoder write all the time: integer
// arithmetic on the encodings of f32 or f64, of one number or of many.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_BITSEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_BITSEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

namespace mlir::blockscale {

/// Arithmetic on floats of `type`, f32 or f64, and on integers of its width, or
/// on vectors or tensors of them of the static shape of `shape`.
class BitsEmitter {
public:
  BitsEmitter(OpBuilder &builder, Location loc, Type shape, FloatType type)
      : builder(builder), loc(loc), shape(dyn_cast<ShapedType>(shape)),
        floatType(type), integerType(builder.getIntegerType(type.getWidth())) {}

  unsigned width() { return floatType.getWidth(); }
  /// Bits of the mantissa, without the implicit one.
  unsigned mantissaBits() { return floatType.getFPMantissaWidth() - 1; }
  int bias() { return (1 << (floatType.getWidth() - mantissaBits() - 2)) - 1; }
  /// The encoding of `value`, which `type` has.
  uint64_t encodingOf(double value) {
    APFloat number(value);
    bool losesInfo = false;
    number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.bitcastToAPInt().getZExtValue();
  }
  uint64_t infinity() {
    return encodingOf(std::numeric_limits<double>::infinity());
  }
  uint64_t signBit() { return uint64_t(1) << (floatType.getWidth() - 1); }

  Type withShape(Type element) {
    return shape ? Type(shape.clone(element)) : element;
  }
  Type numberType() { return withShape(floatType); }
  Value integer(uint64_t value) {
    return constant(builder.getIntegerAttr(
        integerType, APInt(integerType.getWidth(), value,
                           /*isSigned=*/false, /*implicitTrunc=*/true)));
  }
  Value number(double value) {
    return constant(builder.getFloatAttr(floatType, value));
  }

  Value bitAnd(Value value, uint64_t mask) {
    return arith::AndIOp::create(builder, loc, value, integer(mask));
  }
  Value bitOr(Value lhs, Value rhs) {
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  }
  Value bitOr(Value value, uint64_t bits) {
    return bitOr(value, integer(bits));
  }
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  }
  Value add(Value value, uint64_t addend) {
    return add(value, integer(addend));
  }
  Value subtract(Value value, uint64_t subtrahend) {
    return arith::SubIOp::create(builder, loc, value, integer(subtrahend));
  }
  Value shiftLeft(Value value, unsigned amount) {
    return arith::ShLIOp::create(builder, loc, value, integer(amount));
  }
  Value shiftRight(Value value, unsigned amount) {
    return arith::ShRUIOp::create(builder, loc, value, integer(amount));
  }
  Value asNumber(Value bits) {
    return arith::BitcastOp::create(builder, loc, numberType(), bits);
  }
  Value asBits(Value number) {
    return arith::BitcastOp::create(builder, loc, withShape(integerType),
                                    number);
  }
  /// An integer of fewer bits in the width of the floats, and back.
  Value widen(Value value) {
    return arith::ExtUIOp::create(builder, loc, withShape(integerType), value);
  }
  Value narrow(Value value, unsigned width) {
    return arith::TruncIOp::create(
        builder, loc, withShape(builder.getIntegerType(width)), value);
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
  FloatType floatType;
  IntegerType integerType;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_BITSEMITTER_H
