//===- Trigonometry.cpp - Functions of angles -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x = n pi/2 + r with |r| <= pi/4, where series are short; n modulo 4 selects
// the series and the sign. Large x need many bits of 2 / pi for r. Measured by
// benchmarks/math_errors.py.
//
//===----------------------------------------------------------------------===//

#include "Math/MathEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;

namespace {
struct Angle {
  /// n; only the lowest two bits matter.
  Value quadrant;
  Value rest;
};
} // namespace

/// Below this, products of n with the parts of pi/2 are accurate enough.
static constexpr double kLarge = 0x1p17;

/// pi/2 as the sum of three f32 constants.
static constexpr double kHalfPi[] = {0x1.921fb6p+0, -0x1.777a5cp-25,
                                     -0x1.ee59dap-50};

static Angle reduceSmall(MathEmitter &e, Value x) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  auto [n, quadrant] = e.roundToInteger(x, kTwoOverPi);
  Value rest = x;
  for (double part : kHalfPi)
    rest = e.fma(n, -part, rest);
  return {quadrant, rest};
}

//===----------------------------------------------------------------------===//
// Large arguments
//===----------------------------------------------------------------------===//

/// 32 bits of 0, then the first 224 bits of 2/pi after the binary point.
static constexpr uint32_t kTwoOverPiBits[] = {
    0,          0xA2F9836E, 0x4E441529, 0xFC2757D1,
    0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB};

/// x is m * 2^p with an m of 24 bits. In x * 2/pi modulo 4, bits of 2/pi with a
/// weight of 4 or more in the product do not matter. The first one that does
/// has the weight 2, and 96 bits from there on are enough, because no f32 is
/// closer to a multiple of pi/2 than about 2^-30.
static Angle reduceLarge(MathEmitter &e, Value x) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  MathEmitter wide(b, loc, b.getF64Type());
  Value magnitude = e.bitAnd(e.toBits(x), 0x7FFFFFFF);
  Value significand = e.add(e.bitAnd(magnitude, 0x7FFFFF), int64_t(1) << 23);
  // p is the exponent field minus 150, and the position in the bits is p + 30.
  Value position = e.add(e.shiftRightSigned(magnitude, 23), 30 - 150);
  Value first = e.shiftRightSigned(position, 5);
  Value shift = wide.widen(e.bitAnd(position, 31));

  // The 32-bit words `first` to `first + 3`, then 96 bits of them.
  constexpr unsigned kMostFirst = 4;
  Value words[4];
  for (unsigned i = 0; i != 4; ++i) {
    words[i] = e.integer(static_cast<int32_t>(kTwoOverPiBits[i]));
    for (unsigned at = 1; at <= kMostFirst; ++at)
      words[i] = e.select(
          e.is(IP::eq, first, at),
          e.integer(static_cast<int32_t>(kTwoOverPiBits[at + i])), words[i]);
    words[i] = wide.widen(words[i]);
  }
  Value complement = wide.sub(wide.integer(32), shift);
  constexpr int64_t kWord = 0xFFFFFFFF;
  Value parts[3];
  for (unsigned i = 0; i != 3; ++i) {
    Value pair = wide.bitOr(wide.shiftLeft(words[i], 32), words[i + 1]);
    parts[i] = wide.bitAnd(wide.shiftRight(pair, complement), kWord);
  }

  // Bits 32 to 95 of the product: 2 bits of n, then 62 bits after the point.
  Value m = wide.widen(significand);
  Value product = wide.add(wide.shiftLeft(wide.mul(m, parts[0]), 32),
                           wide.mul(m, parts[1]));
  product = wide.add(product, wide.shiftRight(wide.mul(m, parts[2]), 32));
  Value n = wide.shiftRight(wide.add(product, int64_t(1) << 61), 62);
  Value fraction = wide.sub(product, wide.shiftLeft(n, 62));
  constexpr double kUnit = 1.57079632679489661923 * 0x1p-62;
  Value rest = arith::TruncFOp::create(
      b, loc, e.type, wide.mul(wide.toNumber(fraction), kUnit));
  Value quadrant = arith::TruncIOp::create(b, loc, e.bits, n);

  Value isNegative = e.is(FP::OLT, x, 0);
  return {e.select(isNegative, e.sub(e.integer(0), quadrant), quadrant),
          e.select(isNegative, e.neg(rest), rest)};
}

static Angle reduce(MathEmitter &e, Value x) {
  Value isLarge = e.is(FP::OGE, e.abs(x), kLarge);
  Angle small = reduceSmall(e, x);
  auto branch = scf::IfOp::create(
      e.b, e.loc, isLarge,
      [&](OpBuilder &b, Location loc) {
        MathEmitter inner(b, loc, e.type);
        Angle large = reduceLarge(inner, x);
        scf::YieldOp::create(b, loc, {large.quadrant, large.rest});
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, {small.quadrant, small.rest});
      });
  return {branch.getResult(0), branch.getResult(1)};
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

namespace {
struct SinCos {
  Value sin, cos;
};
} // namespace

static SinCos emitSeries(MathEmitter &e, Value r) {
  Value z = e.mul(r, r);
  Value sin = e.polynomial(z, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880});
  Value cos =
      e.polynomial(z, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800});
  Value half = e.fma(z, -0.5, e.number(1));
  // The rounding error of `half`.
  Value lost = e.fma(z, -0.5, e.sub(e.number(1), half));
  return {e.fma(e.mul(r, z), sin, r),
          e.add(half, e.fma(e.mul(z, z), cos, lost))};
}

/// The sine of the angle plus `quadrants` times pi/2.
static Value emitSine(MathEmitter &e, Angle angle, unsigned quadrants) {
  SinCos series = emitSeries(e, angle.rest);
  Value quadrant = e.add(angle.quadrant, quadrants);
  Value value =
      e.select(e.is(IP::eq, e.bitAnd(quadrant, 1), 0), series.sin, series.cos);
  return e.select(e.is(IP::eq, e.bitAnd(quadrant, 2), 0), value, e.neg(value));
}

/// The result is NaN for infinity and NaN.
static Value selectSpecial(MathEmitter &e, Value x, Value result) {
  Value isFinite = e.is(FP::OLT, e.abs(x), e.infinity());
  return e.select(isFinite, result, e.nan());
}

Value blockscale::emitSin(MathEmitter &e, Value x) {
  Value result = emitSine(e, reduce(e, x), 0);
  result = e.select(e.is(FP::OEQ, x, 0), x, result); // -0 stays.
  return selectSpecial(e, x, result);
}

Value blockscale::emitCos(MathEmitter &e, Value x) {
  return selectSpecial(e, x, emitSine(e, reduce(e, x), 1));
}

Value blockscale::emitTan(MathEmitter &e, Value x) {
  Angle angle = reduce(e, x);
  SinCos series = emitSeries(e, angle.rest);
  Value isEven = e.is(IP::eq, e.bitAnd(angle.quadrant, 1), 0);
  Value over = e.select(isEven, series.sin, e.neg(series.cos));
  Value under = e.select(isEven, series.cos, series.sin);
  Value result = e.select(e.is(FP::OEQ, x, 0), x, e.div(over, under));
  return selectSpecial(e, x, result);
}
