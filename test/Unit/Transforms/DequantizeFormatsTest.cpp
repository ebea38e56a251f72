//===- DequantizeFormatsTest.cpp - Formats that become bf16 ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the bf16 arithmetic that the path dequant_mma emits, for every code
// of every format with every scale, with the values of codes and scales.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/Formats.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// bf16
//===----------------------------------------------------------------------===//

static double toDouble(uint16_t bits) {
  unsigned exponent = bits >> 7 & 0xFF, mantissa = bits & 0x7F;
  double value = exponent == 0
                     ? std::ldexp(mantissa, -133)
                     : std::ldexp(128 + mantissa, int(exponent) - 134);
  if (exponent == 0xFF)
    value = mantissa == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  return (bits & 0x8000) != 0 ? -value : value;
}

/// `value` rounded to bf16, to nearest even.
static double roundToBf16(double value) {
  if (value == 0 || !std::isfinite(value))
    return value;
  double unit = std::ldexp(1.0, std::max(std::ilogb(value), -126) - 7);
  double rounded = std::nearbyint(value / unit) * unit;
  if (std::abs(rounded) >= std::ldexp(1.0, 128))
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded;
}

/// Products of bf16 are exact in double.
static double multiply(double x, double y) { return roundToBf16(x * y); }

static bool isNormalOrZero(double value) {
  return value == 0 ||
         (std::isfinite(value) && std::abs(value) >= std::ldexp(1.0, -126));
}

//===----------------------------------------------------------------------===//
// The emitted arithmetic
//===----------------------------------------------------------------------===//

static uint16_t shiftIntoPosition(const CodeFormat &format, unsigned code) {
  unsigned byte = code << format.signShift & 0xFF;
  unsigned half = (byte & 0x80) != 0 ? 0xFF00 | byte : byte;
  return static_cast<uint16_t>(half << format.shift & format.mask);
}

static double getPower(int exponent) {
  uint32_t pair = getPowerPair(exponent);
  EXPECT_EQ(pair >> 16, pair & 0xFFFF);
  return toDouble(static_cast<uint16_t>(pair));
}

/// An element times its scale.
static double scale(const CodeFormat &format, unsigned code, Format scaleFormat,
                    unsigned scaleCode) {
  double value = toDouble(shiftIntoPosition(format, code));
  int exponent = static_cast<int>(format.exponent);
  if (scaleFormat == Format::UE4M3) {
    double factor = multiply(toDouble((scaleCode & 0x7F) << 4), getPower(120));
    return multiply(multiply(value, getPower(exponent)), factor);
  }
  if (!format.isFolded)
    return multiply(multiply(value, getPower(exponent)),
                    toDouble(static_cast<uint16_t>(scaleCode << 7)));
  return multiply(value,
                  toDouble(static_cast<uint16_t>((scaleCode + exponent) << 7)));
}

/// Whether all finite elements are exact with this scale, and normal.
static bool areExact(Format element, Format scaleFormat, unsigned scaleCode) {
  CodeFormat format = getCodeFormat(element);
  for (unsigned code = 0; code != getFormatInfo(element).numCodes(); ++code) {
    double value = decode(element, code);
    if (!std::isfinite(value))
      continue;
    double scaled = scale(format, code, scaleFormat, scaleCode);
    if (scaled != value * decode(scaleFormat, scaleCode) ||
        !isNormalOrZero(scaled))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(DequantizeFormats, ShiftedCodesAreTheValueTimesAPower) {
  for (Format element : getFormats(/*areScales=*/false)) {
    CodeFormat format = getCodeFormat(element);
    for (unsigned code = 0; code != getFormatInfo(element).numCodes(); ++code) {
      double value = decode(element, code);
      if (!std::isfinite(value))
        continue;
      double shifted = toDouble(shiftIntoPosition(format, code));
      EXPECT_EQ(shifted, std::ldexp(value, -int(format.exponent))) << code;
      EXPECT_EQ(std::signbit(shifted), std::signbit(value)) << code;
      // The intermediate result of two multiplications.
      EXPECT_EQ(multiply(shifted, getPower(int(format.exponent))), value);
    }
  }
}

TEST(DequantizeFormats, ScalesInTheWindowAreExact) {
  for (Format element : getFormats(/*areScales=*/false))
    for (Format scale : {Format::UE8M0, Format::UE4M3}) {
      ScaleWindow window = getScaleWindow(element, scale);
      for (unsigned code = 0; code != 256; ++code) {
        unsigned masked = code & window.mask;
        bool isInside = masked >= window.lowest && masked <= window.highest;
        EXPECT_EQ(areExact(element, scale, code), isInside)
            << getFormatInfo(element).ptxName << " "
            << getFormatInfo(scale).ptxName << " " << code;
      }
    }
}

// The values of docs/Numerics.md.
TEST(DequantizeFormats, WindowsByHand) {
  struct Row {
    Format element;
    bool isFolded;
    unsigned lowest, highest;
  };
  for (const Row &row :
       {Row{Format::E4M3, true, 10, 134}, Row{Format::E5M2, true, 17, 142},
        Row{Format::E3M2, false, 5, 250}, Row{Format::E2M3, false, 4, 252},
        Row{Format::E2M1, false, 2, 252}}) {
    ScaleWindow window = getScaleWindow(row.element, Format::UE8M0);
    EXPECT_EQ(window.lowest, row.lowest);
    EXPECT_EQ(window.highest, row.highest);
    EXPECT_EQ(window.mask, 0xFF);
    EXPECT_EQ(getCodeFormat(row.element).isFolded, row.isFolded);
  }
  // All but NaN, whatever the sign.
  ScaleWindow window = getScaleWindow(Format::E2M1, Format::UE4M3);
  EXPECT_EQ(window.lowest, 0u);
  EXPECT_EQ(window.highest, 0x7Eu);
  EXPECT_EQ(window.mask, 0x7F);
}

// Without a scale; with bits set if the magnitude is that of the first special
// code, or larger.
TEST(DequantizeFormats, SpecialCodesBecomeInfinityAndNaN) {
  unsigned found = 0;
  for (Format element : getFormats(/*areScales=*/false)) {
    CodeFormat format = getCodeFormat(element);
    const FormatInfo &info = getFormatInfo(element);
    for (unsigned code = 0; code != info.numCodes(); ++code) {
      double value = decode(element, code);
      bool isSpecial = !std::isfinite(value);
      found += isSpecial;
      unsigned magnitude = code & info.magnitudeMask();
      EXPECT_EQ(isSpecial,
                format.firstSpecial != 0 && magnitude >= format.firstSpecial);
      if (!isSpecial)
        continue;
      // Bits of bf16 that are set in addition to those of the product.
      unsigned mantissa = shiftIntoPosition(format, code) & 0x7F;
      auto bits = static_cast<uint16_t>((code & 0x80) << 8 | mantissa |
                                        format.specialBits);
      EXPECT_EQ(std::isnan(toDouble(bits)), std::isnan(value));
      EXPECT_EQ(std::isinf(toDouble(bits)), std::isinf(value));
      EXPECT_EQ(std::signbit(toDouble(bits)) && std::isinf(value), value < 0);
    }
  }
  // Two of e4m3, eight of e5m2.
  EXPECT_EQ(found, 10u);
}
