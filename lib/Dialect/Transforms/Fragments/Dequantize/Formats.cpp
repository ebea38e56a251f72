//===- Formats.cpp - Bits of formats in bf16 ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here is computed from the fields of a format, so that no other
// code names a format. test/Unit checks all codes with all scales.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/Formats.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

/// bf16 has the exponents of f32, and so has e8m0.
static constexpr int kBias = 127, kMaxExponent = 127;

namespace {
struct ValueFormat {
  unsigned mantissaBits;
  int bias;
};
} // namespace

static ValueFormat getValueFormat(Format value) {
  return value == Format::F16 ? ValueFormat{10, 15} : ValueFormat{7, kBias};
}

/// The largest exponent of a value of the format.
static int getMaxExponent(const FormatInfo &info) {
  double largest = 0;
  for (unsigned code = 0; code != info.numCodes(); ++code)
    if (double value = decode(info.format, code); std::isfinite(value))
      largest = std::max(largest, value);
  return std::ilogb(largest);
}

/// The exact scales, and the exponents, where f16 holds the values.
static void setScalesOfHalf(CodeFormat &row, const FormatInfo &info) {
  constexpr int kSmallest = -24, kLargest = 15, kNormal = -14;
  auto bias = static_cast<int>(info.bias),
       mantissaBits = static_cast<int>(info.mantissaBits);
  int lowest = kBias + kSmallest - (1 - bias - mantissaBits);
  int highest = kBias + kLargest - getMaxExponent(info);
  int exponent = std::max(kBias + kNormal - lowest, 0);
  row.lowestScale = static_cast<unsigned>(lowest);
  row.scaleExponent = static_cast<unsigned>(exponent);
  row.highestScale =
      static_cast<unsigned>(std::min(highest, kBias + kLargest - exponent));
  row.highestExact = row.highestScale;
  row.isFolded = false;
}

CodeFormat blockscale::getCodeFormat(Format format, Format value) {
  constexpr unsigned kSlotBits = 8;
  const FormatInfo &info = getFormatInfo(format);
  auto [mantissaBits, bias] = getValueFormat(value);
  CodeFormat row;
  row.signShift = kSlotBits - info.bits;
  row.shift = mantissaBits - info.mantissaBits - row.signShift;
  row.mask = static_cast<uint16_t>(
      0x8000 | info.magnitudeMask() << (mantissaBits - info.mantissaBits));
  row.exponent = static_cast<unsigned>(bias) - info.bias;

  // 2^(x - 127) times the smallest code is normal; times the largest, finite.
  row.scaleExponent = 0;
  row.lowestScale = info.bias + info.mantissaBits;
  row.highestScale = kMaxExponent + kBias - getMaxExponent(info);
  row.highestExact = row.highestScale;
  // A folded factor is at most 2^127.
  constexpr unsigned kWantedScale = kBias + 7;
  unsigned highestFolded = kMaxExponent + kBias - row.exponent;
  row.isFolded = highestFolded >= kWantedScale;
  if (row.isFolded)
    row.highestScale = highestFolded;
  if (value == Format::F16)
    setScalesOfHalf(row, info);

  struct Special {
    unsigned first;
    uint16_t bits;
  };
  const Special specials[] = {
      {0, 0},
      {info.magnitudeMask(), 0x7FFF},
      {info.magnitudeMask() & ~0u << info.mantissaBits, 0x7F80}};
  const Special &special = specials[static_cast<unsigned>(info.special)];
  row.firstSpecial = special.first;
  row.specialBits = special.bits;
  return row;
}

ScaleWindow blockscale::getScaleWindow(Format format, Format scale) {
  // All scales of ue4m3 except NaN are small and have few bits. The sign is
  // ignored.
  if (scale == Format::UE4M3)
    return {0, 0x7E, 0x7F};
  CodeFormat row = getCodeFormat(format);
  return {row.lowestScale, row.highestScale, 0xFF};
}

unsigned blockscale::getScaleShift(Format format, Format scale, Format value,
                                   bool isSplit) {
  if (value == Format::F16)
    return 0;
  // With e8m0, scales up to 2^32; with ue4m3, the factor is finite.
  constexpr unsigned kWantedScale = kBias + 32, kShiftWithMantissa = 7;
  if (getFormatInfo(scale).mantissaBits != 0 && !isSplit)
    return kShiftWithMantissa;
  unsigned highestFolded =
      kMaxExponent + kBias -
      static_cast<unsigned>(getCodeFormat(format).exponent);
  return kWantedScale - highestFolded;
}

bool blockscale::isScaleSplit(Format format, Format value) {
  return getFormatInfo(format).mantissaBits == 1 && value == Format::BF16;
}

uint32_t blockscale::getPowerPair(int exponent, Format value) {
  auto [mantissaBits, bias] = getValueFormat(value);
  uint32_t bits = static_cast<uint32_t>(exponent + bias) << mantissaBits;
  return bits * 0x00010001u;
}
