//===- Logarithms.cpp - Logarithms ----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and with s = f /
// (2 + f), ln(1 + f) = 2 artanh(s), whose series is short. Measured by
// benchmarks/math_errors.py.
//
//===----------------------------------------------------------------------===//

#include "Math/MathEmitter.h"

using namespace mlir;
using namespace mlir::blockscale;

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

static constexpr double kLn2 = 0.69314718055994530942;

namespace {
struct Logarithm {
  /// k as an integer, and f.
  Value exponent;
  Value fraction;
};
} // namespace

/// For positive x, subnormals included.
static Logarithm split(MathEmitter &e, Value x) {
  constexpr double kSmallestNormal = 0x1p-126;
  constexpr int64_t kSqrtHalf = 0x3F3504F3;
  Value isSubnormal = e.is(FP::OLT, x, kSmallestNormal);
  Value bits = e.toBits(e.select(isSubnormal, e.mul(x, 0x1p23), x));
  Value exponent = e.shiftRightSigned(e.add(bits, -kSqrtHalf), 23);
  Value significand = e.fromBits(e.sub(bits, e.shiftLeft(exponent, 23)));
  exponent =
      e.add(exponent, e.select(isSubnormal, e.integer(-23), e.integer(0)));
  return {exponent, e.sub(significand, e.number(1))};
}

/// ln(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + r)), where r is the series after its
/// first term 2s. Returns the part in parentheses, which is small.
static Value emitTail(MathEmitter &e, Value f, Value low) {
  Value s = e.div(f, e.add(e.number(2), f));
  Value z = e.mul(s, s);
  Value r =
      e.mul(z, e.polynomial(z, {2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11}));
  Value half = e.mul(e.mul(f, f), 0.5);
  return e.sub(half, e.fma(s, e.add(half, r), low));
}

/// The results for zero, negative values, infinity and NaN.
static Value selectSpecial(MathEmitter &e, Value x, Value result) {
  result = e.select(e.is(FP::OEQ, x, 0), e.neg(e.infinity()), result);
  result = e.select(e.is(FP::ULT, x, 0), e.nan(), result);
  return e.select(e.is(FP::OEQ, x, e.infinity()), x, result);
}

// Products of k with the first parts are exact; the second parts are the rest.
static constexpr double kLn2High = 0x1.62e4p-1;
static constexpr double kLn2Low = kLn2 - kLn2High;

static Value emitNaturalLog(MathEmitter &e, Logarithm l, Value correction) {
  Value k = e.toNumber(l.exponent);
  Value low = e.fma(k, kLn2Low, correction);
  Value tail = emitTail(e, l.fraction, low);
  return e.fma(k, kLn2High, e.sub(l.fraction, tail));
}

Value blockscale::emitLog(MathEmitter &e, Value x) {
  return selectSpecial(e, x, emitNaturalLog(e, split(e, x), e.number(0)));
}

/// k unit + ln(1 + f) factor; `unit` and `factor` are sums of two constants
/// each.
static Value emitScaledLog(MathEmitter &e, Value x, double unitHigh,
                           double unitLow, double factor) {
  Logarithm l = split(e, x);
  Value k = e.toNumber(l.exponent);
  // ln(1 + f) is a sum of two values, too.
  Value tail = emitTail(e, l.fraction, e.number(0));
  Value high = e.sub(l.fraction, tail);
  Value low = e.sub(e.sub(l.fraction, high), tail);
  double factorHigh = static_cast<float>(factor);
  Value product = e.mul(high, factorHigh);
  Value error = e.fma(high, factorHigh, e.neg(product));
  error = e.fma(low, factorHigh, error);
  error = e.fma(high, factor - factorHigh, error);
  error = e.fma(k, unitLow, error);
  Value main = e.mul(k, unitHigh); // Exact.
  Value sum = e.add(main, product);
  // |main| is 0 or the larger magnitude.
  error = e.add(error, e.sub(product, e.sub(sum, main)));
  return selectSpecial(e, x, e.add(sum, error));
}

Value blockscale::emitLog2(MathEmitter &e, Value x) {
  return emitScaledLog(e, x, 1, 0, 1.4426950408889634074);
}

Value blockscale::emitLog10(MathEmitter &e, Value x) {
  constexpr double kLog10Of2 = 0.30102999566398119521;
  constexpr double kHigh = 0x1.344p-2;
  return emitScaledLog(e, x, kHigh, kLog10Of2 - kHigh, 0.43429448190325182765);
}

Value blockscale::emitLog1p(MathEmitter &e, Value x) {
  Value one = e.number(1);
  Value sum = e.add(one, x);
  // The rounding error of the sum, over the sum.
  Value rest = e.sub(sum, x);
  Value lost = e.add(e.sub(x, e.sub(sum, rest)), e.sub(one, rest));
  Logarithm l = split(e, sum);
  // For an exponent of 0 there is no rounding error.
  Value isSmall = e.is(IP::eq, l.exponent, 0);
  l.fraction = e.select(isSmall, x, l.fraction);
  Value correction = e.select(isSmall, e.number(0), e.div(lost, sum));
  Value result = emitNaturalLog(e, l, correction);
  result = e.select(e.is(FP::OEQ, x, 0), x, result); // -0 stays.
  return selectSpecial(e, sum, result);
}
