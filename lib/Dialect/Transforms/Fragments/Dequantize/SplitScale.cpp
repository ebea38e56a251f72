//===- SplitScale.cpp - Tensor scales as sums of two bf16 -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/SplitScale.h"

#include "Fragments/Dequantize/Formats.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr unsigned kMantissaBits = 23, kBias = 127;
static constexpr uint32_t kMagnitude = 0x7FFFFFFF,
                          kMantissa = (1u << kMantissaBits) - 1,
                          kSign = ~kMagnitude;
/// The lowest bit of an exponent of bf16, in both halves.
static constexpr uint32_t kLowestBits = 0x00800080;
/// Scales of e4m3: their mantissas, with the lowest exponent and without.
static constexpr uint32_t kEighths = 8, kEighthsMask = kEighths - 1;

SplitScale::SplitScale(const WordEmitter &emit, Value tensorScale, Format scale,
                       int plus, Value lane)
    : emit(emit) {
  // With these exponents, products with e4m3 scales and elements are normal,
  // those with `low` exact, and factors finite. With powers of two the sum of
  // both exponents decides.
  constexpr int kLowest = -64, kHighest = 23;
  Value bits = emit.toBits(tensorScale);
  Value magnitude = emit.bitAnd(bits, kMagnitude);
  Value isZero = emit.isEqual(magnitude, 0);
  Value field = emit.shiftRight(magnitude, kMantissaBits);
  const FormatInfo &info = getFormatInfo(scale);
  bool isPower = info.mantissaBits == 0;
  auto lowest = static_cast<unsigned>(int(kBias) + kLowest),
       count = static_cast<unsigned>(kHighest - kLowest + 1);
  // Not subnormal, infinite or NaN.
  if (isPower)
    lowest = 1, count = 2 * kBias;
  Value isOutside =
      emit.isAtLeast(emit.sub(field, emit.integer(lowest)), count);
  outOfRange = emit.bitAnd(isOutside, emit.negate(isZero));
  exponent = emit.select(isZero, emit.integer(0),
                         emit.sub(field, emit.integer(kBias)));
  // In [1, 2), or zero, but never NaN: LLVM would fold products with that to
  // constants, which it moves to registers behind the fence.
  Value significand = emit.fromBits(
      emit.bitOr(emit.bitAnd(bits, kSign | kMantissa), kBias << kMantissaBits));
  significand = emit.select(isZero, emit.number(0), significand);
  if (isPower) {
    both = split(significand, emit.mul(significand, emit.number(1.5)));
    return;
  }
  // That of a code is its exponent field minus the bias. Subnormal codes have
  // that of the field 1.
  constexpr int kBiasOfPair = 127;
  int others = kBiasOfPair - static_cast<int>(info.bias) + plus;
  exponent =
      emit.mul(emit.add(exponent, static_cast<uint32_t>(others)), kLowestBits);
  Value code = emit.bitAnd(lane, 2 * kEighths - 1);
  Value eighths = emit.select(emit.isAtLeast(code, kEighths), code,
                              emit.shiftLeft(code, 1));
  eighths =
      arith::UIToFPOp::create(emit.b, emit.loc, emit.b.getF32Type(), eighths);
  auto multiply = [&](double factor) -> Value {
    return emit.mul(emit.mul(eighths, emit.number(factor / kEighths)),
                    significand);
  };
  both = split(multiply(1), multiply(1.5));
}

/// A word with `high` in the low half and `low` in the high half, for a scale
/// `one` and for 1.5 times it, each rounded to f32.
///
/// The values that are rounded to the same bf16 as `one` are an interval, and
/// so are those of which 1.5 times the value is rounded as `oneAndHalf` is.
/// Ends of both differ by at least a third of 2^-8 of the power of two below.
/// So one of the two multiples of 2^-10 of it around the scale is in both. If
/// `one` is such a multiple, the scale may have been below it before it was
/// rounded to f32.
Value SplitScale::split(Value one, Value oneAndHalf) const {
  OpBuilder &b = emit.b;
  constexpr uint32_t kStep = 1u << (kMantissaBits - 10);
  constexpr uint32_t kHalf = 16, kHighHalves = 0x7610;
  auto round = [&](Value first, Value second) {
    Value pair = vector::FromElementsOp::create(
        b, emit.loc, VectorType::get(2, b.getF32Type()),
        ValueRange{first, second});
    return emit.fromPair(arith::TruncFOp::create(
        b, emit.loc, VectorType::get(2, b.getBF16Type()), pair));
  };
  Value rounded = round(one, oneAndHalf);
  Value nearest = emit.bitAnd(emit.toBits(one), ~(kStep - 1));
  Value chosen = emit.sub(nearest, emit.integer(kStep));
  for (Value candidate : {Value(emit.add(nearest, kStep)), nearest}) {
    Value sum = emit.fromBits(candidate);
    Value isSame = emit.is(WordEmitter::IP::eq, rounded,
                           round(sum, emit.mul(sum, emit.number(1.5))));
    chosen = emit.select(isSame, candidate, chosen);
  }
  Value sum = emit.fromBits(chosen);
  Value low = emit.sub(sum, emit.fromBits(emit.shiftLeft(rounded, kHalf)));
  return emit.permute(rounded, emit.toBits(low), emit.integer(kHighHalves));
}

PairFactor SplitScale::multiply(Value of, Value power) const {
  constexpr uint32_t kHigh = 0x1010, kLow = 0x3232;
  Value scaled = emit.fromPair(emit.mul(emit.toPair(of), power));
  auto get = [&](uint32_t bytes) {
    return emit.toPair(emit.permute(scaled, {}, emit.integer(bytes)));
  };
  return {get(kHigh), get(kLow)};
}

PairFactor SplitScale::scale(Value power) const {
  return multiply(both, power);
}

PairFactor SplitScale::scaleByCode(Value code) const {
  constexpr uint32_t kExponent = 0x78, kToField = 0x00100010;
  Value mantissa = emit.bitOr(emit.bitAnd(code, kEighthsMask), kEighths);
  Value entry = emit.shuffle(both, emit.minU(code, mantissa));
  Value field = emit.mul(emit.bitAnd(code, kExponent), kToField);
  return multiply(entry, emit.toPair(emit.add(field, exponent)));
}
