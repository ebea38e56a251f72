//===- FloatElements.h - Fast conversions to and from double ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts f16, bf16 and f32 to double, in which arithmetic is done, and back.
// There are no branches, so that compilers vectorize loops over lanes.
// FloatFormats.h does the same for all formats, but slowly.
//
// A double that was rounded to odd (its last bit is set if the value was
// inexact) rounds to any of these formats correctly, in all modes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATELEMENTS_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATELEMENTS_H

#include "Arithmetic/FloatFormats.h"

#include <algorithm>
#include <cmath>

namespace mlir::blockscale::sim {

namespace detail {

/// Rounds a magnitude to `mantissaBits` bits behind the leading one, or fewer
/// below 2^minimum; nearest, ties to even. Magnitudes from 2^130 on become
/// 2^130.
inline double roundMagnitude(double value, unsigned mantissaBits,
                             double minimum) {
  double magnitude = std::min(std::abs(value), 0x1p130);
  // Adding this power of two makes the last bit to keep the last bit of the
  // sum.
  uint64_t exponent = llvm::bit_cast<uint64_t>(std::max(magnitude, minimum)) &
                      kF64.getInfinity();
  double shift =
      llvm::bit_cast<double>(exponent + (uint64_t(52 - mantissaBits) << 52)) *
      1.5;
  return (magnitude + shift) - shift;
}

inline uint64_t getSign(double value) {
  return llvm::bit_cast<uint64_t>(value) >> 63;
}

} // namespace detail

struct F32Element {
  using Bits = uint32_t;
  static constexpr FloatFormat format = kF32;

  static double widen(uint64_t bits) {
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
  }

  static uint64_t narrow(double value, RoundingMode mode) {
    float nearest = static_cast<float>(value);
    uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
    if (mode == RoundingMode::NearestTiesToEven)
      return bits;
    // The neighbour, if the mode rounds to the other side.
    bool isDown = mode == RoundingMode::TowardNegative ||
                  (mode == RoundingMode::TowardZero && value > 0);
    bool isUp = mode == RoundingMode::TowardPositive ||
                (mode == RoundingMode::TowardZero && value < 0);
    if (isDown && nearest > value)
      bits += nearest > 0 ? -1 : 1;
    else if (isUp && nearest < value)
      bits += nearest < 0 ? -1 : 1;
    return bits;
  }
};

/// Instructions on 16-bit formats have no rounding mode but `.rn`.
struct F16Element {
  using Bits = uint16_t;
  static constexpr FloatFormat format = kF16;

  static double widen(uint64_t bits) {
    uint32_t magnitude = static_cast<uint32_t>(bits & 0x7FFF) << 13;
    // The product rebiases the exponent, also for subnormals.
    float finite = llvm::bit_cast<float>(magnitude) * 0x1p112f;
    uint32_t result = llvm::bit_cast<uint32_t>(finite);
    result |= (bits & 0x7C00) == 0x7C00 ? 0x7F800000 | magnitude : 0;
    result |= static_cast<uint32_t>(bits & 0x8000) << 16;
    return llvm::bit_cast<float>(result);
  }

  static uint64_t narrow(double value, RoundingMode) {
    double magnitude = detail::roundMagnitude(value, 10, 0x1p-14);
    float biased = static_cast<float>(magnitude) * 0x1p-112f;
    uint32_t bits = llvm::bit_cast<uint32_t>(biased) >> 13;
    return std::min<uint32_t>(bits, 0x7C00) | detail::getSign(value) << 15;
  }
};

struct BF16Element {
  using Bits = uint16_t;
  static constexpr FloatFormat format = kBF16;

  static double widen(uint64_t bits) {
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

  static uint64_t narrow(double value, RoundingMode) {
    double magnitude = detail::roundMagnitude(value, 7, 0x1p-126);
    float exact = static_cast<float>(magnitude);
    return llvm::bit_cast<uint32_t>(exact) >> 16 | detail::getSign(value) << 15;
  }
};

/// A source of an instruction, which `.ftz` makes zero if it is subnormal.
template <typename Element>
double widenSource(uint64_t bits, bool isFlushing) {
  return Element::widen(isFlushing ? flushSubnormal(bits, Element::format)
                                   : bits);
}

/// Whether a value is subnormal after it was rounded with an unbounded
/// exponent.
template <typename Element>
bool isTinyRounded(double value, RoundingMode mode) {
  constexpr FloatFormat format = Element::format;
  // Scales the value to a range where all exponents are normal, and compares it
  // with the scaled smallest normal value.
  constexpr unsigned shift = 8;
  constexpr uint64_t least = uint64_t(1 + shift) << format.mantissaBits;
  uint64_t bits = Element::narrow(value * (1 << shift), mode);
  return (bits & format.getMagnitudeMask()) < least;
}

/// A result of an instruction. There is one NaN, and `.ftz` flushes results
/// that are tiny after rounding, as GPUs do (the ISA does not say).
template <typename Element>
uint64_t narrowResult(double value, RoundingMode mode, bool isFlushing) {
  constexpr FloatFormat format = Element::format;
  uint64_t bits = Element::narrow(value, mode);
  if (isFlushing && isTinyRounded<Element>(value, mode))
    bits = detail::getSign(value) << format.getSignBit();
  return value == value ? bits : format.nan;
}

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATELEMENTS_H
