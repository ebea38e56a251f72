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

/// bf16 has the exponents of f32.
static constexpr int kBias = 127, kMaxExponent = 127;
static constexpr unsigned kMantissaBits = 7;

/// The largest exponent of a value of the format.
static int getMaxExponent(const FormatInfo &info) {
  double largest = 0;
  for (unsigned code = 0; code != info.numCodes(); ++code)
    if (double value = decode(info.format, code); std::isfinite(value))
      largest = std::max(largest, value);
  return std::ilogb(largest);
}

CodeFormat blockscale::getCodeFormat(Format format) {
  constexpr unsigned kSlotBits = 8;
  const FormatInfo &info = getFormatInfo(format);
  CodeFormat row;
  row.signShift = kSlotBits - info.bits;
  row.shift = kMantissaBits - info.mantissaBits - row.signShift;
  row.mask = static_cast<uint16_t>(
      0x8000 | info.magnitudeMask() << (kMantissaBits - info.mantissaBits));
  row.exponent = kBias - info.bias;

  // 2^(x - 127) times the smallest code is normal; times the largest, finite.
  row.lowestScale = info.bias + info.mantissaBits;
  row.highestScale = kMaxExponent + kBias - getMaxExponent(info);
  row.highestExact = row.highestScale;
  // A folded factor is at most 2^127.
  constexpr unsigned kWantedScale = kBias + 7;
  unsigned highestFolded = kMaxExponent + kBias - row.exponent;
  row.isFolded = highestFolded >= kWantedScale;
  if (row.isFolded)
    row.highestScale = highestFolded;

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

unsigned blockscale::getScaleShift(Format format, Format scale) {
  // With e8m0, scales up to 2^32; with ue4m3, the factor is finite.
  constexpr unsigned kWantedScale = kBias + 32, kShiftWithMantissa = 7;
  if (getFormatInfo(scale).mantissaBits != 0)
    return kShiftWithMantissa;
  unsigned highestFolded =
      kMaxExponent + kBias -
      static_cast<unsigned>(getCodeFormat(format).exponent);
  return kWantedScale - highestFolded;
}

uint32_t blockscale::getPowerPair(int exponent) {
  uint32_t bits = static_cast<uint32_t>(exponent + kBias) << kMantissaBits;
  return bits * 0x00010001u;
}
