//===- Exponentials.cpp - exp and functions of exp ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x = n ln 2 + r with |r| <= ln(2) / 2, where the series of e^r is short; 2^n
// is an exponent. Measured by benchmarks/math_errors.py.
//
//===----------------------------------------------------------------------===//

#include "Math/MathEmitter.h"

using namespace mlir;
using namespace mlir::blockscale;

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

// ln 2 as the sum of two constants. The first one has so few bits that products
// with exponents of f32 are exact.
static constexpr double kLn2 = 0.69314718055994530942;
static constexpr double kLn2High = 0x1.62e4p-1;
static constexpr double kLn2Low = kLn2 - kLn2High;
static constexpr double kLog2E = 1.4426950408889634074;

namespace {
/// x = n * unit + rest.
struct Reduced {
  /// n as an integer.
  Value exponent;
  Value rest;
};
} // namespace

static Reduced reduce(MathEmitter &e, Value x) {
  auto [n, exponent] = e.roundToInteger(x, kLog2E);
  Value rest = e.fma(n, -kLn2High, x);
  return {exponent, e.fma(n, -kLn2Low, rest)};
}

/// 2^exponent, which must be normal.
static Value powerOfTwo(MathEmitter &e, Value exponent) {
  return e.fromBits(e.shiftLeft(e.add(exponent, 127), 23));
}

/// x * 2^exponent, in two steps: the power alone may be out of range.
static Value scale(MathEmitter &e, Value x, Value exponent) {
  Value half = e.shiftRightSigned(exponent, 1);
  Value other = e.sub(exponent, half);
  return e.mul(e.mul(x, powerOfTwo(e, half)), powerOfTwo(e, other));
}

/// e^r - 1: r + r^2 / 2 + ...
static Value emitSmallExpM1(MathEmitter &e, Value r) {
  Value series = e.polynomial(
      r, {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040});
  return e.fma(e.mul(r, r), series, r);
}

// Beyond these, results are zero or infinity.
static constexpr double kLeast = -104, kMost = 89;

Value blockscale::emitExp(MathEmitter &e, Value x) {
  Reduced reduced = reduce(e, e.clamp(x, kLeast, kMost));
  Value power = e.add(e.number(1), emitSmallExpM1(e, reduced.rest));
  return scale(e, power, reduced.exponent);
}

Value blockscale::emitExp2(MathEmitter &e, Value x) {
  Value clamped = e.clamp(x, -151, 129);
  auto [n, exponent] = e.roundToInteger(clamped, 1);
  // The difference is exact; its product with ln 2 is not.
  Value fraction = e.sub(clamped, n);
  Value rest = e.mul(fraction, kLn2);
  Value error = e.fma(fraction, static_cast<float>(kLn2), e.neg(rest));
  error = e.fma(fraction, kLn2 - static_cast<float>(kLn2), error);
  Value power = e.add(e.number(1), e.add(emitSmallExpM1(e, rest), error));
  return scale(e, power, exponent);
}

Value blockscale::emitExpM1(MathEmitter &e, Value x) {
  Reduced reduced = reduce(e, e.clamp(x, -18, kMost));
  Value small = emitSmallExpM1(e, reduced.rest);
  // 2 (2^(n-1) small + 2^(n-1) - 1/2): 2^n may be out of range.
  Value half = powerOfTwo(e, e.add(reduced.exponent, -1));
  Value sum = e.fma(half, small, e.sub(half, e.number(0.5)));
  Value large = e.mul(sum, 2);
  Value result = e.select(e.is(IP::eq, reduced.exponent, 0), small, large);
  return e.copySign(result, x); // -0 stays.
}

/// (1 - e^-2x) / (1 + e^-2x), and (e^2x - 1) / (e^2x + 1) for small x.
Value blockscale::emitTanh(MathEmitter &e, Value x) {
  Value magnitude = e.abs(x);
  Value isLarge = e.is(FP::OGT, magnitude, 1);
  Value twice = e.mul(e.clamp(magnitude, 0, 20), 2);
  Value power = emitExpM1(e, e.select(isLarge, twice, e.neg(twice)));
  Value sum = e.add(power, e.number(2));
  Value large = e.sub(e.number(1), e.div(e.number(2), sum));
  Value small = e.div(e.neg(power), sum);
  return e.copySign(e.select(isLarge, large, small), x);
}

/// With t = e^x - 1: (t + t / (t + 1)) / 2; if t is too large, e^x / 2 in two
/// steps.
Value blockscale::emitSinh(MathEmitter &e, Value x) {
  Value magnitude = e.abs(x);
  Value power = emitExpM1(e, magnitude);
  Value fraction = e.div(power, e.add(power, e.number(1)));
  Value sum = e.mul(e.add(power, fraction), 0.5);
  Value root = emitExp(e, e.mul(magnitude, 0.5));
  Value large = e.mul(e.mul(root, 0.5), root);
  Value result = e.select(e.is(FP::OGT, magnitude, 88), large, sum);
  return e.copySign(result, x);
}

Value blockscale::emitCosh(MathEmitter &e, Value x) {
  Value magnitude = e.abs(x);
  Value power = emitExp(e, magnitude);
  Value sum = e.fma(power, 0.5, e.div(e.number(0.5), power));
  Value root = emitExp(e, e.mul(magnitude, 0.5));
  Value large = e.mul(e.mul(root, 0.5), root);
  return e.select(e.is(FP::OGT, magnitude, 88), large, sum);
}
