//===- BlockArithmetic.cpp - Quantization of values -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounds by adding a power of two whose unit in the last place is the distance
// between neighbouring values of the format.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BlockArithmetic.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

static constexpr uint32_t kF32Exponent = 0x7F800000;
static constexpr int kF32Bias = 127;

BlockFormat BlockFormat::get(QuantizeOp op) {
  bool hasF32Scales = getElementTypeOrSelf(op.getScales().getType()).isF32();
  return {op.getElementFormat(),
          hasF32Scales ? Format::UE8M0 : op.getScaleFormat(),
          op.getBlockShape().k,
          op.getScaleRule(),
          getElementTypeOrSelf(op.getElements().getType()),
          hasF32Scales};
}

//===----------------------------------------------------------------------===//
// Magnitudes
//===----------------------------------------------------------------------===//

Value BlockArithmetic::toF32(Value value) {
  if (value.getType().isF32())
    return value;
  return arith::ExtFOp::create(b, loc, b.getF32Type(), value);
}

Value BlockArithmetic::getMagnitude(Value value) {
  return bitAnd(toBits(value), kF32Magnitude);
}

Value BlockArithmetic::getLargest(Value magnitude, Value other) {
  return maxU(magnitude, other);
}

Value BlockArithmetic::fromMagnitude(Value magnitude) {
  Value isNaN = is(IP::ugt, magnitude, kF32Infinity);
  return fromBits(select(isNaN, integer(kF32NaN), magnitude));
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

Value BlockArithmetic::encode(Format format, Value value) {
  const FormatInfo &info = getFormatInfo(format);
  auto floatBits = [](double of) {
    return llvm::bit_cast<uint32_t>(static_cast<float>(of));
  };
  unsigned shift = kF32MantissaBits - info.mantissaBits;
  Value bits = toBits(value);
  // Saturates at the largest value.
  Value magnitude =
      minU(bitAnd(bits, kF32Magnitude), floatBits(getLargestNumber(format)));
  // The power of two at or below it, but not below the smallest normal one.
  uint32_t smallest = floatBits(std::ldexp(1.0, 1 - info.bias));
  Value power = maxU(bitAnd(magnitude, kF32Exponent), smallest);
  // A power whose unit in the last place is the distance between values there.
  Value large = mul(fromBits(power), std::ldexp(1.0f, static_cast<int>(shift)));
  Value sum = add(large, fromBits(magnitude));
  Value steps = sub(toBits(sum), toBits(large));
  // Each exponent above the smallest is 2^mantissaBits codes more.
  Value above = shiftRight(sub(power, smallest), shift);
  Value code = add(steps, above);
  if (info.signBits == 0)
    return code;
  constexpr unsigned kF32Bits = 32;
  Value sign = shiftRight(bits, kF32Bits - info.bits);
  return bitOr(code, bitAnd(sign, 1u << (info.bits - 1)));
}

Value BlockArithmetic::decode(Format format, Value code) {
  const FormatInfo &info = getFormatInfo(format);
  Value magnitude = bitAnd(code, info.magnitudeMask());
  Value moved = shiftLeft(magnitude, kF32MantissaBits - info.mantissaBits);
  Value value;
  if (info.hasSubnormals) {
    // The fields are shifted into position: subnormals become subnormals of
    // f32.
    value = mul(fromBits(moved), std::ldexp(1.0f, kF32Bias - info.bias));
  } else {
    // Only the smallest power has an exponent field of 0 and is a subnormal
    // f32.
    constexpr uint32_t kHalfOfNormal = 1u << (kF32MantissaBits - 1);
    value = fromBits(maxU(moved, kHalfOfNormal));
  }
  uint32_t firstSpecial = info.magnitudeMask();
  if (info.special == SpecialCodes::Ieee)
    firstSpecial -= (1u << info.mantissaBits) - 1;
  if (info.special != SpecialCodes::None) {
    // The mantissa of infinity is 0; that of NaN is not.
    uint32_t keep = info.special == SpecialCodes::Ieee ? 0 : kF32NaN;
    Value special = bitOr(moved, kF32Exponent | keep);
    value =
        select(is(IP::uge, magnitude, firstSpecial), fromBits(special), value);
  }
  if (info.signBits == 0)
    return value;
  Value isNegative = is(IP::ne, bitAnd(code, 1u << (info.bits - 1)), 0);
  return select(isNegative, neg(value), value);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value BlockArithmetic::emitPowerCode(ScaleRule rule, Format element,
                                     Value largest) {
  Value sum = add(largest, getScaleAddend(rule, element));
  Value field = shiftRight(sum, kF32MantissaBits);
  Value code = sub(field, getLargestExponent(element));
  code = maxS(code, 0);
  return minS(code, kLastPowerCode);
}

Value BlockArithmetic::emitScale(const BlockFormat &format, Value largest,
                                 Value tensorScale) {
  if (format.hasF32Codes())
    return toBits(emitF32Scale(format.element, format.rule, largest));
  Value isNumber = is(IP::ult, largest, kF32Infinity);
  Value code;
  if (format.rule) {
    code = emitPowerCode(*format.rule, format.element, largest);
  } else {
    Value quotient = div(fromBits(largest), kLargestE2M1);
    if (tensorScale)
      quotient = div(quotient, tensorScale);
    code = encode(format.scale, quotient);
  }
  return select(isNumber, code, integer(getScaleNaN(format.scale)));
}

Value BlockArithmetic::emitStoredScale(const BlockFormat &format, Value largest,
                                       Value code) {
  return format.hasF32Scales
             ? emitF32Scale(format.element, format.rule, largest)
             : code;
}

Value BlockArithmetic::emitF32Scale(Format element,
                                    std::optional<ScaleRule> rule,
                                    Value largest) {
  Value scale =
      rule ? decode(Format::UE8M0, emitPowerCode(*rule, element, largest))
           : div(fromBits(largest), getLargestNumber(element));
  // A block of zeros, or whose magnitudes are so small that the scale is 0.
  Value isZero = is(IP::eq, rule ? largest : toBits(scale), 0);
  scale = select(isZero, number(1), scale);
  Value isNumber = is(IP::ult, largest, kF32Infinity);
  return select(isNumber, scale, fromBits(integer(kF32NaN)));
}

Value BlockArithmetic::emitF32Code(Format element, Value value, Value scale) {
  Value code = encode(element, div(value, scale));
  return select(is(FP::UNO, scale, scale), integer(0), code);
}

/// How quotients by scales of ue4m3 are made: see `emitQuotientByReciprocal`.
static void setPrecision(BlockFactor &factor, Value tensorScale) {
  factor.corrections = tensorScale ? 2 : 1;
  factor.clamps = tensorScale != nullptr;
}

BlockFactor BlockArithmetic::emitFactor(const BlockFormat &format, Value scale,
                                        Value tensorScale) {
  BlockFactor factor;
  if (format.hasF32Codes()) {
    // Never 0. Values are at most a little more than the largest element times
    // the scale.
    factor.value = fromBits(scale);
    factor.isNaN = isNaN(factor.value);
    factor.clamps = false;
    return factor;
  }
  factor.isNaN = is(IP::eq, scale, getScaleNaN(format.scale));
  if (format.rule) {
    // 2^-e; for the largest power, a subnormal.
    constexpr uint32_t kSmallest = 1u << (kF32MantissaBits - 1);
    Value field = sub(integer(kLastPowerCode), scale);
    Value bits = shiftLeft(field, kF32MantissaBits);
    bits = select(factor.isNaN, integer(0), maxU(bits, kSmallest));
    factor.value = fromBits(bits);
    return factor;
  }
  factor.isZero = is(IP::eq, scale, 0);
  factor.value = decode(format.scale, scale);
  setPrecision(factor, tensorScale);
  if (tensorScale)
    factor.value = mul(factor.value, tensorScale);
  return factor;
}

BlockFactor BlockArithmetic::fromReciprocal(Value divisor, Value reciprocal,
                                            Value tensorScale) {
  BlockFactor factor;
  setPrecision(factor, tensorScale);
  factor.value = divisor;
  factor.reciprocal = reciprocal;
  factor.isNaN = is(FP::UNO, divisor, divisor);
  // The reciprocal of an infinite divisor is 0, too, and so are the quotients.
  factor.isZero = is(IP::eq, toBits(reciprocal), 0);
  return factor;
}

Value BlockArithmetic::emitQuotient(const BlockFormat &format, Value value,
                                    const BlockFactor &factor) {
  // A product with a power that f32 cannot hold exactly is far below the
  // smallest element, and rounds to 0 anyway.
  if (format.rule)
    return mul(value, factor.value);
  Value quotient = div(value, factor.value);
  if (!factor.isZero)
    return quotient;
  // 0 / 0 if the divisor is too small for f32.
  Value isNaN = is(FP::UNO, quotient, quotient);
  Value isZero = bitOr(factor.isZero, isNaN);
  constexpr uint32_t kSign = ~kF32Magnitude;
  Value zero = fromBits(bitAnd(toBits(value), kSign));
  return select(isZero, zero, quotient);
}

static uint32_t getPowerBits(int exponent) {
  return static_cast<uint32_t>(kF32Bias + exponent) << kF32MantissaBits;
}

/// Scales of ue4m3 are from 2^-9 to 2^9, so divisors are from 2^-59 to 2^59.
Value BlockArithmetic::emitAllowsReciprocal(Value scale) {
  constexpr int kRange = 50;
  if (!scale)
    return {};
  Value offset = sub(toBits(scale), getPowerBits(-kRange));
  return is(IP::ult, offset, getPowerBits(kRange) - getPowerBits(-kRange));
}

void BlockArithmetic::emitReciprocal(BlockFactor &factor) {
  // For a scale of 0, the factor is 0; elements of a NaN block are masked
  // later.
  factor.reciprocal = div(number(1), factor.value);
  if (factor.isZero)
    factor.reciprocal = select(factor.isZero, number(0), factor.reciprocal);
}

/// P. Markstein's division: with a reciprocal that is rounded to nearest, one
/// more correction makes a quotient that is within one unit in the last place
/// the nearest one. Remainders of the quotients that matter, 1/4 and more, are
/// far above subnormals, and so exact.
///
/// Without a tensor scale, the divisor is a ue4m3 scale of 4 bits. A quotient
/// close to a rounding boundary of e2m1, which has 3 bits, is at least 2^-32 of
/// it away from where rounding to f32 would change the result. The first
/// correction leaves an error of 2^-46, so one is enough. Nothing overflows,
/// because elements are at most 7 times a scale that is not the largest. With a
/// tensor scale, values are clamped to 2^65, which saturates with any divisor.
///
/// With a scale of f32, quotients of all types matter from 2^-17 on, half of
/// the smallest e5m2: remainders there are multiples of 2^(-17 - 23 - 50 - 23).
Value BlockArithmetic::emitQuotientByReciprocal(Value value,
                                                const BlockFactor &factor) {
  constexpr int kLarge = 65;
  Value magnitude = math::AbsFOp::create(b, loc, value);
  if (factor.clamps)
    magnitude = arith::MinNumFOp::create(
        b, loc, magnitude, fromBits(integer(getPowerBits(kLarge))));
  Value negated = neg(factor.value);
  Value quotient = mul(magnitude, factor.reciprocal);
  for (int i = 0; i != factor.corrections; ++i) {
    Value rest = math::FmaOp::create(b, loc, negated, quotient, magnitude);
    quotient = math::FmaOp::create(b, loc, rest, factor.reciprocal, quotient);
  }
  constexpr uint32_t kSign = ~kF32Magnitude;
  Value sign = bitAnd(toBits(value), kSign);
  return fromBits(bitOr(toBits(quotient), sign));
}

Value BlockArithmetic::emitCode(const BlockFormat &format, Value value,
                                const BlockFactor &factor) {
  Value code = encode(format.element, emitQuotient(format, value, factor));
  return select(factor.isNaN, integer(0), code);
}
