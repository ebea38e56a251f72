//===- Relations.h - Relations of two values --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two values have one of four relations (less, equal, greater, unordered), and
// a comparison is the set of relations for which it is true. Values are read
// from the bits of registers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_RELATIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_RELATIONS_H

#include "Arithmetic/FloatFormats.h"
#include "Machine/Warp.h"

#include "llvm/Support/MathExtras.h"

namespace mlir::blockscale::sim {

using Relations = uint8_t;
enum : Relations { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

template <typename T>
inline bool isIn(Relations relations, T a, T b) {
  bool isLess = a<b, isEqual = a == b, isGreater = a> b;
  Relations relation = isLess      ? Less
                       : isEqual   ? Equal
                       : isGreater ? Greater
                                   : Unordered;
  return relations & relation;
}

/// Reads the bits of a register as a value to compare: a `Number` of `kBytes`.
template <typename T>
struct Integer {
  static constexpr unsigned kBytes = sizeof(T);
  T read(uint64_t bits) const { return static_cast<T>(bits); }
};

struct Double {
  static constexpr unsigned kBytes = 8;
  double read(uint64_t bits) const { return llvm::bit_cast<double>(bits); }
};

struct Single {
  static constexpr unsigned kBytes = 4;
  bool isFlushing = false;
  float read(uint64_t bits) const {
    auto word = static_cast<uint32_t>(bits);
    if (isFlushing)
      word = static_cast<uint32_t>(flushSubnormal(word, kF32));
    return llvm::bit_cast<float>(word);
  }
};

/// An f16 or bf16 at bit `shift`.
struct Half {
  static constexpr unsigned kBytes = 2;
  const FloatFormat *format = nullptr;
  bool isFlushing = false;
  unsigned shift = 0;
  double read(uint64_t bits) const {
    bits = bits >> shift & 0xFFFF;
    return toDouble(isFlushing ? flushSubnormal(bits, *format) : bits, *format);
  }
};

/// Compares two registers in the active lanes. `first` is the index of the
/// first byte that counts.
template <typename Number>
Predicate compare(const Warp &warp, const Lanes &a, const Lanes &b,
                  Relations relations, const Number &number,
                  unsigned first = 0) {
  Predicate result = {0, 0};
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result.value |= LaneMask(isIn(relations, number.read(a.value[lane]),
                                  number.read(b.value[lane])))
                    << lane;
  uint8_t bytes = llvm::maskTrailingOnes<uint8_t>(Number::kBytes) << first;
  if (LaneMask any = (a.undefinedLanes | b.undefinedLanes) & warp.active)
    forEachLane(any, [&](unsigned lane) {
      if ((a.getUndefined(lane) | b.getUndefined(lane)) & bytes)
        result.undefined |= LaneMask(1) << lane;
    });
  return result;
}

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_ARITHMETIC_RELATIONS_H
