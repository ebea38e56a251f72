//===- Encode.cpp - Exact encoding of values ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes f32 and f64 by integer arithmetic on their bits and one addition,
// which hosts and GPUs have, unlike the formats. Nothing is rounded twice: an
// f64 is not rounded to f32 first.
//
//===----------------------------------------------------------------------===//

#include "Reference/BitsEmitter.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

namespace {

/// Special codes of a format, from the table of formats. They are magnitudes,
/// without the sign.
struct Codes {
  explicit Codes(const FormatInfo &info)
      : mantissaMask((1u << info.mantissaBits) - 1),
        signBit(info.signBits << (info.bits - 1)) {
    unsigned all = info.magnitudeMask();
    switch (info.special) {
    case SpecialCodes::None:
      // As the conversion instructions of PTX define it.
      largest = overflow = nan = all;
      break;
    case SpecialCodes::AllOnesNaN:
      largest = all - 1;
      overflow = nan = all;
      break;
    case SpecialCodes::Ieee:
      overflow = all - mantissaMask;
      largest = overflow - 1;
      nan = overflow | (mantissaMask + 1) / 2;
      keepsPayload = true;
      break;
    }
    keepsSignOfNaN = info.signBits != 0 && info.special != SpecialCodes::None;
  }

  unsigned mantissaMask;
  unsigned signBit;
  /// The codes of the largest value, of values beyond it, and of a quiet NaN.
  unsigned largest = 0, overflow = 0, nan = 0;
  /// Whether the upper bits of a NaN's mantissa are kept, as IEEE 754 says.
  bool keepsPayload = false;
  bool keepsSignOfNaN;
};

} // namespace

/// The code of a positive value with the encoding `magnitude`, rounded. It is
/// beyond the largest code if the value overflows, and for NaN and infinity.
static Value emitRounded(BitsEmitter &emit, Value magnitude,
                         const FormatInfo &info) {
  int smallestExponent = (info.hasSubnormals ? 1 : 0) - info.bias;
  unsigned shift = emit.mantissaBits() - info.mantissaBits;
  uint64_t half = uint64_t(1) << (shift - 1);

  // The fields move down, and the bias of the exponent changes. Without a
  // mantissa, the implicit bit decides ties: it is odd, so ties round up.
  uint64_t rebias = static_cast<uint64_t>(emit.bias() - info.bias)
                    << emit.mantissaBits();
  Value moved = emit.sub(magnitude, rebias);
  Value odd = info.mantissaBits == 0
                  ? emit.integer(1)
                  : emit.bitAnd(emit.shiftRight(moved, shift), 1);
  Value normal =
      emit.shiftRight(emit.add(emit.add(moved, half - 1), odd), shift);

  if (!info.hasSubnormals) {
    // Values below the smallest one round to it.
    Value isSmallest =
        emit.is(arith::CmpIPredicate::ult, magnitude,
                emit.encodingOf(std::ldexp(1.5, smallestExponent)));
    return emit.select(isSmallest, emit.integer(0), normal);
  }

  // Adding a value whose last bit has the weight of the smallest subnormal
  // rounds to that weight, and the low bits of the sum count smallest
  // subnormals.
  int lastBit = smallestExponent - static_cast<int>(info.mantissaBits);
  double unit =
      std::ldexp(1.0, lastBit + static_cast<int>(emit.mantissaBits()));
  Value sum = emit.add(emit.fromBits(magnitude), unit);
  Value subnormal = emit.sub(emit.toBits(sum), emit.encodingOf(unit));
  Value isSubnormal =
      emit.is(arith::CmpIPredicate::ult, magnitude,
              emit.encodingOf(std::ldexp(1.0, smallestExponent)));
  return emit.select(isSubnormal, subnormal, normal);
}

/// The bits of a bf16 or f16 as an f32. The payload of NaN is kept here,
/// because machines differ in what their conversions keep.
static Value emitShortBits(OpBuilder &builder, Location loc, BitsEmitter &emit,
                           Value value) {
  const FormatInfo &info = getFormatInfo(
      *getHighPrecisionFormat(getElementTypeOrSelf(value.getType())));
  unsigned shift = emit.mantissaBits() - info.mantissaBits;
  Value code = emit.widen(arith::BitcastOp::create(
      builder, loc, emit.withShape(builder.getI16Type()), value));
  if (info.bias == emit.bias())
    return emit.shiftLeft(code, shift);
  Value wide = emit.toBits(
      arith::ExtFOp::create(builder, loc, emit.withShape(emit.type), value));
  Value magnitude = emit.bitAnd(code, info.magnitudeMask());
  uint64_t firstSpecial =
      info.magnitudeMask() + 1 - (uint64_t(1) << info.mantissaBits);
  Value sign = emit.shiftLeft(emit.bitAnd(code, info.magnitudeMask() + 1),
                              emit.width() - info.bits);
  Value nan = emit.bitOr(emit.bitOr(emit.shiftLeft(magnitude, shift), sign),
                         emit.infinity());
  return emit.select(
      emit.is(arith::CmpIPredicate::ugt, magnitude, firstSpecial), nan, wide);
}

Value blockscale::emitEncode(OpBuilder &builder, Location loc, Value value,
                             Format format, Overflow overflow) {
  const FormatInfo &info = getFormatInfo(format);
  Codes codes(info);
  auto type = cast<FloatType>(getElementTypeOrSelf(value.getType()));
  bool isShort = type.getWidth() == 16;
  BitsEmitter emit(builder, loc, value.getType(),
                   isShort ? builder.getF32Type() : type);
  unsigned shift = emit.mantissaBits() - info.mantissaBits;
  using arith::CmpIPredicate;

  Value bits =
      isShort ? emitShortBits(builder, loc, emit, value) : emit.toBits(value);
  Value magnitude = emit.bitAnd(bits, emit.signBit() - 1);
  Value code = emitRounded(emit, magnitude, info);
  unsigned beyond =
      overflow == Overflow::Saturate ? codes.largest : codes.overflow;
  code = emit.select(emit.is(CmpIPredicate::ugt, code, codes.largest),
                     emit.integer(beyond), code);

  Value nan = emit.integer(codes.nan);
  if (codes.keepsPayload)
    nan = emit.bitOr(
        emit.bitAnd(emit.shiftRight(magnitude, shift), codes.mantissaMask),
        nan);
  Value isNaN = emit.is(CmpIPredicate::ugt, magnitude, emit.infinity());
  if (codes.signBit == 0) {
    // -0 is not below 0. NaNs compare like larger negative numbers.
    Value isNegative = emit.is(CmpIPredicate::ugt, bits, emit.signBit());
    isNaN = emit.bitOr(isNaN, isNegative);
    code = emit.select(isNaN, nan, code);
  } else {
    Value sign = emit.bitAnd(emit.shiftRight(bits, emit.width() - info.bits),
                             codes.signBit);
    if (codes.keepsSignOfNaN)
      code = emit.bitOr(emit.select(isNaN, nan, code), sign);
    else
      code = emit.select(isNaN, nan, emit.bitOr(code, sign));
  }
  return emit.narrow(code, info.bits <= 8 ? 8 : 16);
}
