//===- FloatFormats.h - Floating-point formats and rounding -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions on the bits of PTX's floating-point formats: the value of
// bits, and rounding to a format. A format is a row of data, and one rounding
// function serves all of them, from f64 down to e2m1.
//
// Sources: PTX ISA, sections 5.2 "Types", 9.7.9.21 "cvt".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATFORMATS_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATFORMATS_H

#include "Ptx/Types.h"
#include "blockscale/Support/Formats.h"

#include "llvm/ADT/FloatingPointMode.h"
#include "llvm/ADT/bit.h"

namespace mlir::blockscale::sim {

using llvm::RoundingMode;

/// The fields from the most significant bit on: a sign (if there is one),
/// `exponentBits`, `mantissaBits`, and `paddingBits` zeros (tf32).
struct FloatFormat {
  unsigned exponentBits, mantissaBits, paddingBits;
  int bias;
  bool hasSign, hasSubnormals;
  SpecialCodes special;
  /// The bits of a NaN; narrow formats that have none use the largest value.
  uint64_t nan;

  /// Without padding.
  constexpr unsigned getSignBit() const { return exponentBits + mantissaBits; }
  constexpr uint64_t getMagnitudeMask() const {
    return (uint64_t(1) << getSignBit()) - 1;
  }
  constexpr uint64_t getInfinity() const {
    return ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
  }
  /// The code of the largest finite number.
  constexpr uint64_t getLargest() const {
    switch (special) {
    case SpecialCodes::None:
      return getMagnitudeMask();
    case SpecialCodes::AllOnesNaN:
      return getMagnitudeMask() - 1;
    case SpecialCodes::Ieee:
      return getInfinity() - 1;
    }
    return 0;
  }
};

// clang-format off
inline constexpr FloatFormat kF16  = {5,  10, 0,  15,   true, true, SpecialCodes::Ieee, 0x7FFF};
inline constexpr FloatFormat kBF16 = {8,  7,  0,  127,  true, true, SpecialCodes::Ieee, 0x7FFF};
inline constexpr FloatFormat kTF32 = {8,  10, 13, 127,  true, true, SpecialCodes::Ieee, 0x7FFFE000};
inline constexpr FloatFormat kF32  = {8,  23, 0,  127,  true, true, SpecialCodes::Ieee, 0x7FFFFFFF};
/// An f64 keeps the payloads of NaNs; this one is for operations without a NaN
/// among the sources.
inline constexpr FloatFormat kF64  = {11, 52, 0,  1023, true, true, SpecialCodes::Ieee, 0xFFF8000000000000};
// clang-format on

/// The format of (an element of) a floating-point type.
const FloatFormat &getFloatFormat(Type type);

/// A value before it is rounded to a format: (-1)^isNegative * significand *
/// 2^exponent. The least significant bit is sticky, which is enough to round
/// correctly to 62 bits or fewer.
struct Unrounded {
  bool isNegative;
  uint64_t significand;
  int exponent;
};

/// The finite value of a double, exactly.
inline Unrounded toUnrounded(double value) {
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  uint64_t mantissa = bits & kF64.getMagnitudeMask() & ~kF64.getInfinity();
  int exponent = static_cast<int>(bits >> 52 & 0x7FF);
  if (exponent)
    mantissa |= uint64_t(1) << 52;
  else
    exponent = 1;
  return {static_cast<bool>(bits >> 63), mantissa, exponent - 1075};
}

/// The bits of a finite value in a format. Overflow gives infinity, or the
/// largest value if `isSaturating`, if the mode rounds towards zero, or if the
/// format has no infinity. Formats without a sign take the magnitude.
uint64_t round(const Unrounded &number, const FloatFormat &format,
               RoundingMode mode, bool isSaturating = false);

/// The same with stochastic rounding (`.rs`): the first `numRandomBits` of the
/// dropped fraction are added to `randomBits`; a carry rounds away from zero.
uint64_t roundStochastically(const Unrounded &number, const FloatFormat &format,
                             uint32_t randomBits, unsigned numRandomBits,
                             bool isSaturating);

/// Rounds a double, which may be NaN or infinite, to a format.
uint64_t fromDouble(double value, const FloatFormat &format, RoundingMode mode,
                    bool isSaturating = false);

/// The exact value of bits in a format; a NaN becomes some NaN.
double toDouble(uint64_t bits, const FloatFormat &format);

/// A subnormal number becomes zero with its sign.
constexpr uint64_t flushSubnormal(uint64_t bits, const FloatFormat &format) {
  return (bits & format.getInfinity())
             ? bits
             : bits & (uint64_t(1) << format.getSignBit());
}

constexpr bool isNaN(uint64_t bits, const FloatFormat &format) {
  return (bits & format.getMagnitudeMask()) > format.getInfinity();
}

/// An f64 NaN as instructions return it.
constexpr uint64_t quiet(uint64_t nan) { return nan | uint64_t(1) << 51; }

/// Rounds a finite value to an integer.
double roundToIntegral(double value, RoundingMode mode);

/// Arithmetic on kF32 and kF64 with a rounding mode. A result that is NaN may
/// be any NaN.
enum class FloatOperation : uint8_t { Add, Sub, Mul, Fma, Div, Sqrt };
uint64_t computeRounded(FloatOperation operation, const FloatFormat &format,
                        RoundingMode mode, uint64_t a, uint64_t b, uint64_t c);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATFORMATS_H
