//===- MathEmitter.h - Arithmetic of approximations -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for the operations that functions of f32 consist of. Every
// machine rounds them alike, so a function has the same bits everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_MATH_MATHEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_MATH_MATHEMITTER_H

#include "Utils/ArithEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <limits>
#include <utility>

namespace mlir::blockscale {

/// Arithmetic on scalars of one type, f32 or f64, and integers of its width.
class MathEmitter : public ArithEmitter {
public:
  MathEmitter(OpBuilder &builder, Location loc, FloatType type)
      : ArithEmitter(builder, loc, type) {}

  Value infinity() { return number(std::numeric_limits<double>::infinity()); }
  Value nan() { return number(std::numeric_limits<double>::quiet_NaN()); }

  /// x * y + z, rounded once.
  Value fma(Value x, Value y, Value z) { return call("llvm.fma", {x, y, z}); }
  Value fma(Value x, double y, Value z) { return fma(x, number(y), z); }
  Value abs(Value x) { return call("llvm.fabs", x); }
  Value roundEven(Value x) { return call("llvm.roundeven", x); }
  Value copySign(Value magnitude, Value sign) {
    return call("llvm.copysign", {magnitude, sign});
  }
  /// `x` times `factor`, rounded to an integer, as a float and as an integer.
  /// It must be below 2^22 (for f64, 2^51), because the method adds 1.5 * 2^23,
  /// so that the last bit has the weight 1. For NaN, the float is NaN and the
  /// integer is arbitrary.
  std::pair<Value, Value> roundToInteger(Value x, double factor) {
    Value shift = number(type.isF64() ? 0x1.8p52 : 0x1.8p23);
    Value shifted = fma(x, factor, shift);
    return {sub(shifted, shift), sub(toBits(shifted), toBits(shift))};
  }
  /// coefficients[0] + coefficients[1] * x + ...
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }
  Value toNumber(Value x) { return arith::SIToFPOp::create(b, loc, type, x); }
  /// Clamps `x` to [low, high]; NaN stays.
  Value clamp(Value x, double low, double high) {
    x = select(is(FP::OLT, x, low), number(low), x);
    return select(is(FP::OGT, x, high), number(high), x);
  }

  /// An instruction by LLVM's intrinsic; not an op of math, because the pass
  /// expands these.
  Value call(StringRef intrinsic, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type,
                                         b.getStringAttr(intrinsic), operands)
        .getResult(0);
  }
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
