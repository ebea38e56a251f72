//===- FloatOperations.h - Sums, products and quotients ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// add, mul, fma, div and sqrt in one lane, as operations of Lanewise.h.
// Compilers may contract products and sums to fma here: wherever a sum follows
// a product, the product is exact.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATOPERATIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATOPERATIONS_H

#include "Arithmetic/FloatElements.h"
#include "Arithmetic/Lanewise.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>

namespace mlir::blockscale::sim {

constexpr unsigned getNumSources(FloatOperation operation) {
  switch (operation) {
  case FloatOperation::Sqrt:
    return 1;
  case FloatOperation::Fma:
    return 3;
  default:
    return 2;
  }
}

/// x + y as a double that is rounded to odd. An exact zero has the sign that
/// `mode` gives it.
inline double addToOdd(double x, double y, RoundingMode mode) {
  double sum = x + y;
  // The rounding error of the sum (Knuth's TwoSum); NaN if the sum is infinite.
  double xPart = sum - y, yPart = sum - xPart;
  double error = (x - xPart) + (y - yPart);
  uint64_t bits = llvm::bit_cast<uint64_t>(sum);
  // If the sum is even, its neighbour on the side of the error is odd.
  bool isInexact = (error > 0) | (error < 0);
  uint64_t neighbour = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  bits = (isInexact & !(bits & 1)) ? neighbour : bits;
  if (mode == RoundingMode::TowardNegative && sum == 0)
    bits =
        (llvm::bit_cast<uint64_t>(x) | llvm::bit_cast<uint64_t>(y)) >> 63 << 63;
  return llvm::bit_cast<double>(bits);
}

/// A double result for sources of up to 24 bits that rounds correctly to a
/// format of up to 24 bits. Products fit in a double. Quotients and roots are
/// never so close to a 24-bit value, or to the middle between two, that the
/// rounding to double hides on which side they are.
template <FloatOperation operation>
inline double computeWide(double a, double b, double c, RoundingMode mode) {
  switch (operation) {
  case FloatOperation::Add:
    return addToOdd(a, b, mode);
  case FloatOperation::Sub:
    return addToOdd(a, -b, mode);
  case FloatOperation::Mul:
    return a * b;
  case FloatOperation::Fma:
    return addToOdd(a * b, c, mode);
  case FloatOperation::Div:
    return a / b;
  case FloatOperation::Sqrt:
    return std::sqrt(a);
  }
  llvm_unreachable("all operations are above");
}

/// Computed by the host's own instruction.
template <FloatOperation operation, typename T>
inline T computeNearest(T a, T b, T c) {
  switch (operation) {
  case FloatOperation::Add:
    return a + b;
  case FloatOperation::Sub:
    return a - b;
  case FloatOperation::Mul:
    return a * b;
  case FloatOperation::Fma:
    return std::fma(a, b, c);
  case FloatOperation::Div:
    return a / b;
  case FloatOperation::Sqrt:
    return std::sqrt(a);
  }
  llvm_unreachable("all operations are above");
}

enum class Clamp : uint8_t {
  None,
  /// `.sat`: to [+0, 1]; a NaN becomes +0.
  Unit,
  /// `.relu`: negative values become +0.
  Positive,
};

/// Modifiers that are known at run time.
struct Modes {
  RoundingMode rounding = RoundingMode::NearestTiesToEven;
  bool isFlushing = false;
  Clamp clamp = Clamp::None;
};

/// No modifiers, known to the compiler.
struct PlainModes {
  static constexpr RoundingMode rounding = RoundingMode::NearestTiesToEven;
  static constexpr bool isFlushing = false;
  static constexpr Clamp clamp = Clamp::None;
};

/// Arithmetic in double. All sources but the last have the format `Source`.
template <typename Element, FloatOperation operation, typename Source = Element,
          typename M = Modes>
struct WideArithmetic
    : Operation<typename Element::Bits, getNumSources(operation)> {
  M modes;

  WideArithmetic(const M &modes) : modes(modes) {}

  uint64_t operator()(uint64_t a) const {
    return finish(
        computeWide<operation>(widen<Element>(a), 0, 0, modes.rounding));
  }
  uint64_t operator()(uint64_t a, uint64_t b) const {
    return finish(computeWide<operation>(widen<Source>(a), widen<Element>(b), 0,
                                         modes.rounding));
  }
  uint64_t operator()(uint64_t a, uint64_t b, uint64_t c) const {
    return finish(computeWide<operation>(widen<Source>(a), widen<Source>(b),
                                         widen<Element>(c), modes.rounding));
  }

private:
  template <typename Format>
  double widen(uint64_t bits) const {
    return widenSource<Format>(bits, modes.isFlushing);
  }

  uint64_t finish(double value) const {
    constexpr FloatFormat format = Element::format;
    uint64_t bits =
        narrowResult<Element>(value, modes.rounding, modes.isFlushing);
    if (modes.clamp == Clamp::None)
      return bits;
    bool isNegative = bits >> format.getSignBit();
    if (modes.clamp == Clamp::Positive)
      return isNegative ? 0 : bits;
    constexpr uint64_t one = uint64_t(format.bias) << format.mantissaBits;
    return isNegative || isNaN(bits, format) ? 0 : std::min(bits, one);
  }
};

/// f32 arithmetic with `.rn`, the most frequent case.
template <FloatOperation operation, bool isFlushing>
struct NearestArithmetic : Operation<uint32_t, getNumSources(operation)> {
  uint64_t operator()(uint64_t a, uint64_t b = 0, uint64_t c = 0) const {
    // After rounding, a tiny product or quotient may look normal.
    constexpr bool mayRoundUp =
        isFlushing &&
        (operation == FloatOperation::Mul || operation == FloatOperation::Div);
    if constexpr (operation == FloatOperation::Fma || mayRoundUp)
      return narrowResult<F32Element>(
          computeWide<operation>(widenSource<F32Element>(a, isFlushing),
                                 widenSource<F32Element>(b, isFlushing),
                                 widenSource<F32Element>(c, isFlushing), mode),
          mode, isFlushing);
    float value = computeNearest<operation>(toFloat(a), toFloat(b), toFloat(c));
    uint64_t bits = llvm::bit_cast<uint32_t>(value);
    if (isFlushing)
      bits = flushSubnormal(bits, kF32);
    return value == value ? bits : kF32.nan;
  }

private:
  static constexpr RoundingMode mode = RoundingMode::NearestTiesToEven;

  static float toFloat(uint64_t bits) {
    if (isFlushing)
      bits = flushSubnormal(bits, kF32);
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
  }
};

template <FloatOperation operation>
struct DoubleArithmetic : Operation<uint64_t, getNumSources(operation)> {
  RoundingMode mode;

  DoubleArithmetic(RoundingMode mode) : mode(mode) {}

  uint64_t operator()(uint64_t a, uint64_t b = 0, uint64_t c = 0) const {
    uint64_t result =
        mode == RoundingMode::NearestTiesToEven
            ? llvm::bit_cast<uint64_t>(computeNearest<operation>(
                  llvm::bit_cast<double>(a), llvm::bit_cast<double>(b),
                  llvm::bit_cast<double>(c)))
            : computeRounded(operation, kF64, mode, a, b, c);
    return isNaN(result, kF64) ? selectNaN(a, b, c) : result;
  }

private:
  static uint64_t selectNaN(uint64_t a, uint64_t b, uint64_t c) {
    for (uint64_t source : {a, b, c})
      if (isNaN(source, kF64))
        return quiet(source);
    return kF64.nan;
  }
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_FLOATOPERATIONS_H
