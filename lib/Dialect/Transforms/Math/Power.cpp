//===- Power.cpp - Roots and powers ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x^y = 2^(y log2 x) multiplies errors of the logarithm by up to 128. Therefore
// it is computed in f64, and the result is rounded once at the end. Measured by
// benchmarks/math_errors.py.
//
//===----------------------------------------------------------------------===//

#include "Math/MathEmitter.h"

using namespace mlir;
using namespace mlir::blockscale;

using FP = arith::CmpFPredicate;

Value blockscale::emitRsqrt(MathEmitter &e, Value x) {
  return e.div(e.number(1), e.call("llvm.sqrt", x));
}

/// log2 of a positive f64 that is neither subnormal nor infinite, as in
/// Logarithms.cpp.
static Value emitLog2OfDouble(MathEmitter &e, Value x) {
  constexpr int64_t kSqrtHalf = 0x3FE6A09E667F3BCD;
  constexpr double kTwiceLog2E = 2 * 1.4426950408889634074;
  Value bits = e.toBits(x);
  Value exponent = e.shiftRightSigned(e.add(bits, -kSqrtHalf), 52);
  Value significand = e.fromBits(e.sub(bits, e.shiftLeft(exponent, 52)));
  Value f = e.sub(significand, e.number(1));
  Value s = e.div(f, e.add(f, e.number(2)));
  Value series =
      e.polynomial(e.mul(s, s), {1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9,
                                 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17});
  return e.fma(e.mul(s, kTwiceLog2E), series, e.toNumber(exponent));
}

/// 2^x, if the result is normal.
static Value emitExp2OfDouble(MathEmitter &e, Value x) {
  constexpr double kLn2 = 0.69314718055994530942;
  auto [n, exponent] = e.roundToInteger(x, 1);
  Value rest = e.mul(e.sub(x, n), kLn2);
  Value power = e.polynomial(rest, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24,
                                    1.0 / 120, 1.0 / 720, 1.0 / 5040,
                                    1.0 / 40320, 1.0 / 362880, 1.0 / 3628800});
  return e.fromBits(e.add(e.toBits(power), e.shiftLeft(exponent, 52)));
}

static Value isInteger(MathEmitter &e, Value x) {
  return e.is(FP::OEQ, e.roundEven(x), x);
}

/// The special cases are those of C (C17, F.10.4.4).
Value blockscale::emitPow(MathEmitter &e, Value x, Value y) {
  MathEmitter wide(e.b, e.loc, e.b.getF64Type());
  auto widen = [&](Value value) {
    return arith::ExtFOp::create(e.b, e.loc, wide.type, value);
  };
  Value magnitude = e.abs(x);
  Value isZero = e.is(FP::OEQ, magnitude, 0);
  Value isInfinite = e.is(FP::OEQ, magnitude, e.infinity());
  Value logarithm = emitLog2OfDouble(wide, widen(magnitude));
  logarithm = wide.select(isZero, wide.neg(wide.infinity()), logarithm);
  logarithm = wide.select(isInfinite, wide.infinity(), logarithm);
  logarithm = wide.select(e.isNaN(x), wide.nan(), logarithm);

  // Limits that are out of the range of f32, but not of f64.
  Value exponent = wide.clamp(wide.mul(widen(y), logarithm), -300, 300);
  Value power = emitExp2OfDouble(wide, exponent);
  power = wide.select(wide.isNaN(exponent), wide.nan(), power);
  Value result = arith::TruncFOp::create(e.b, e.loc, e.type, power);
  result = e.select(e.is(FP::OEQ, magnitude, 1), e.number(1), result);
  result = e.select(e.isNaN(y), y, result);

  // A negative base: odd powers are negative, and powers that are not whole are
  // NaN.
  Value isWhole = isInteger(e, y);
  Value isOdd = e.bitAnd(isWhole, e.negate(isInteger(e, e.mul(y, 0.5))));
  result = e.select(isOdd, e.copySign(result, x), result);
  Value isUndefined = e.bitAnd(e.is(FP::OLT, x, 0), e.negate(isWhole));
  isUndefined = e.bitAnd(isUndefined, e.negate(isInfinite));
  isUndefined = e.bitAnd(isUndefined, e.negate(e.isNaN(y)));
  result = e.select(isUndefined, e.nan(), result);

  Value isOne = e.bitOr(e.is(FP::OEQ, y, 0), e.is(FP::OEQ, x, 1));
  return e.select(isOne, e.number(1), result);
}
