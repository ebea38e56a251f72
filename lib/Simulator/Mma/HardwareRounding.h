//===- HardwareRounding.h - Rounding of aligned sums ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounds a double that holds a sum exactly as a tensor core does. The result
// stays a double until it is stored. A zero is positive, also if a negative sum
// underflows.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MMA_HARDWAREROUNDING_H
#define BLOCKSCALE_LIB_SIMULATOR_MMA_HARDWAREROUNDING_H

#include "Mma/MatrixSum.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <limits>

namespace mlir::blockscale::sim {

/// Exact, for normal results.
inline double makePowerOfTwo(int exponent) {
  return llvm::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

/// Truncates to so many fraction bits, with the exponent range of f32.
inline double truncate(double value, unsigned fractionBits) {
  constexpr int minExponent = -126;
  if (std::fabs(value) < makePowerOfTwo(minExponent)) {
    double units = value * makePowerOfTwo(fractionBits - minExponent);
    return static_cast<double>(static_cast<int64_t>(units)) *
           makePowerOfTwo(minExponent - int(fractionBits));
  }
  uint64_t dropped = (uint64_t(1) << (52 - fractionBits)) - 1;
  double kept =
      llvm::bit_cast<double>(llvm::bit_cast<uint64_t>(value) & ~dropped);
  if (std::fabs(kept) >= 0x1p128)
    return std::copysign(std::numeric_limits<double>::infinity(), kept);
  return kept;
}

/// Rounds to the nearest f16.
inline double roundToF16(double value) {
  // Adding this rounds away all bits below the lowest one of a subnormal f16.
  constexpr double lowestBit = 0x1.8p28;
  if (std::fabs(value) < 0x1p-14)
    return value + lowestBit - lowestBit;
  constexpr unsigned dropped = 42;
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  bits += (uint64_t(1) << (dropped - 1)) - 1 + (bits >> dropped & 1);
  double kept = llvm::bit_cast<double>(bits >> dropped << dropped);
  if (std::fabs(kept) >= 0x1p16)
    return std::copysign(std::numeric_limits<double>::infinity(), kept);
  return kept;
}

/// Encodes a value that the type can represent.
inline uint64_t encode(double value, Type type) {
  if (std::isnan(value))
    return getCanonicalNaN(type);
  if (type != Type::F16)
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  uint64_t bits = llvm::bit_cast<uint64_t>(value);
  uint64_t sign = bits >> 63 << 15;
  double magnitude = std::fabs(value);
  if (magnitude >= 0x1p16)
    return sign | 0x7C00;
  if (magnitude < 0x1p-14)
    return sign | static_cast<uint64_t>(magnitude * 0x1p24);
  // Rebiases the exponent.
  return sign | ((bits >> 42 & 0x1FFFFF) - (uint64_t(1023 - 15) << 10));
}

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MMA_HARDWAREROUNDING_H
