//===- MatrixSum.h - Exact sums and their rounding --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of finite values without error, rounded once. Most sums of a matrix
// instruction are exact in a double; the others go through a fixed-point number
// that is wide enough for every product of doubles.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXSUM_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXSUM_H

#include "Ptx/Types.h"

#include <array>
#include <cstdint>

namespace mlir::blockscale::sim {

/// (-1)^isNegative * significand * 2^exponent. The least significant bit is
/// sticky, which is enough to round correctly to 62 bits or fewer.
struct BinaryNumber {
  bool isNegative;
  uint64_t significand;
  int exponent;
};

enum class Rounding : uint8_t { NearestEven, TowardZero };

/// The bits of `number` in F16, F32 or F64. Overflow gives infinity, in both
/// modes.
uint64_t roundToBits(BinaryNumber number, Type type, Rounding rounding);

/// `value`, which may be NaN or infinite, in F16, F32 or F64, to nearest even.
uint64_t roundToBits(double value, Type type);

/// The NaN that instructions return.
uint64_t getCanonicalNaN(Type type);

/// The value of the bits of an F16, BF16, TF32, F32 or F64; TF32 ignores the
/// low 13 bits.
double decodeFloat(Type type, uint64_t bits);

/// a + b = sum + error, exactly, for finite sums.
inline double addWithError(double a, double b, double &error) {
  double sum = a + b;
  double partOfB = sum - a;
  error = (a - (sum - partOfB)) + (b - partOfB);
  return sum;
}

/// a + b rounded to odd: an inexact sum becomes the neighbour whose last bit is
/// 1. Rounding that to 51 bits or fewer gives what rounding a + b gives.
double addToOdd(double a, double b);

/// A sum of doubles and of products of doubles, all finite.
class ExactSum {
public:
  void add(double value) { addProduct(value, 1); }
  void addProduct(double a, double b);

  /// Zero is positive.
  BinaryNumber get() const;

private:
  /// The least significant bit is that of the smallest product: 2^-2148.
  static constexpr int kLowestExponent = -2176;
  /// Up to 2^(2048 + 64 + 64): the largest product, times 2^64 of them.
  static constexpr unsigned kLimbs = 69;

  void extend(unsigned first, unsigned last);

  /// The sums of the positive and of the negative terms. Limbs outside [begin,
  /// end) count as 0 and are not stored yet.
  std::array<uint64_t, kLimbs> sums[2];
  unsigned begin = 0, end = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_MATRIXSUM_H
