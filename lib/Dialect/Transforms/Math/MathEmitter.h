//===- MathEmitter.h - Arithmetic of approximations -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for what functions of f32 are made of: operations that every
// machine rounds alike, so that a function has the same bits on all of them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_MATH_MATHEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_MATH_MATHEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <limits>
#include <utility>

namespace mlir::blockscale {

/// Arithmetic on scalars of one type, f32 or f64, and integers of its width.
class MathEmitter {
public:
  MathEmitter(OpBuilder &builder, Location loc, FloatType type)
      : b(builder), loc(loc), type(type),
        bits(builder.getIntegerType(type.getWidth())) {}

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(bits, value));
  }
  Value infinity() { return number(std::numeric_limits<double>::infinity()); }
  Value nan() { return number(std::numeric_limits<double>::quiet_NaN()); }

  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, double y) { return mul(x, number(y)); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value neg(Value x) { return arith::NegFOp::create(b, loc, x); }
  /// x * y + z, rounded once.
  Value fma(Value x, Value y, Value z) { return call("llvm.fma", {x, y, z}); }
  Value fma(Value x, double y, Value z) { return fma(x, number(y), z); }
  Value abs(Value x) { return call("llvm.fabs", x); }
  Value roundEven(Value x) { return call("llvm.roundeven", x); }
  Value copySign(Value magnitude, Value sign) {
    return call("llvm.copysign", {magnitude, sign});
  }
  /// `x` times `factor` rounded to an integer, as a number and as an integer.
  /// It must be below 2^22 (of f64, 2^51): after an addition of 1.5 * 2^23 the
  /// last bit is a one. NaN is NaN, and some integer.
  std::pair<Value, Value> roundToInteger(Value x, double factor) {
    Value shift = number(type.isF64() ? 0x1.8p52 : 0x1.8p23);
    Value shifted = fma(x, factor, shift);
    return {sub(shifted, shift), subI(toBits(shifted), toBits(shift))};
  }
  /// coefficients[0] + coefficients[1] * x + ...
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }

  Value toBits(Value x) { return arith::BitcastOp::create(b, loc, bits, x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(b, loc, type, x); }
  Value addI(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value addI(Value x, int64_t y) { return addI(x, integer(y)); }
  Value subI(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value andI(Value x, int64_t y) {
    return arith::AndIOp::create(b, loc, x, integer(y));
  }
  Value shiftLeft(Value x, unsigned by) {
    return arith::ShLIOp::create(b, loc, x, integer(by));
  }
  /// With the sign.
  Value shiftRight(Value x, unsigned by) {
    return arith::ShRSIOp::create(b, loc, x, integer(by));
  }
  Value toNumber(Value x) { return arith::SIToFPOp::create(b, loc, type, x); }

  using FP = arith::CmpFPredicate;
  using IP = arith::CmpIPredicate;
  Value is(FP predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value is(FP predicate, Value x, double y) {
    return is(predicate, x, number(y));
  }
  Value is(IP predicate, Value x, int64_t y) {
    return arith::CmpIOp::create(b, loc, predicate, x, integer(y));
  }
  Value isNaN(Value x) { return is(FP::UNO, x, x); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value negate(Value x) {
    return arith::XOrIOp::create(
        b, loc, x, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// Between both; NaN stays.
  Value clamp(Value x, double low, double high) {
    x = select(is(FP::OLT, x, low), number(low), x);
    return select(is(FP::OGT, x, high), number(high), x);
  }

  /// An instruction that LLVM has an intrinsic for.
  Value call(StringRef intrinsic, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type,
                                         b.getStringAttr(intrinsic), operands)
        .getResult(0);
  }

  OpBuilder &b;
  Location loc;
  FloatType type;
  IntegerType bits;
};

/// The functions, by file. `x` is an f32; so is the result.
Value emitExp(MathEmitter &e, Value x);
Value emitExp2(MathEmitter &e, Value x);
Value emitExpM1(MathEmitter &e, Value x);
Value emitTanh(MathEmitter &e, Value x);
Value emitSinh(MathEmitter &e, Value x);
Value emitCosh(MathEmitter &e, Value x);

Value emitLog(MathEmitter &e, Value x);
Value emitLog2(MathEmitter &e, Value x);
Value emitLog10(MathEmitter &e, Value x);
Value emitLog1p(MathEmitter &e, Value x);

Value emitErf(MathEmitter &e, Value x);

Value emitSin(MathEmitter &e, Value x);
Value emitCos(MathEmitter &e, Value x);
Value emitTan(MathEmitter &e, Value x);

Value emitRsqrt(MathEmitter &e, Value x);
Value emitPow(MathEmitter &e, Value x, Value y);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_MATH_MATHEMITTER_H
