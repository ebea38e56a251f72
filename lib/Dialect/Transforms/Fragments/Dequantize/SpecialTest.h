//===- SpecialTest.h - Words of codes with special ones ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes of infinity and NaN are looked for in four bytes at a time.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALTEST_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALTEST_H

#include "Fragments/Dequantize/Formats.h"
#include "Fragments/Dequantize/WordEmitter.h"

namespace mlir::blockscale {

/// Collects words with a code in each byte.
class SpecialTest {
public:
  SpecialTest(WordEmitter emit, Format format)
      : emit(emit), first(getCodeFormat(format).firstSpecial) {}

  bool isNeeded() const { return first != 0; }

  void reset() { kept = nullptr; }

  /// All bits that special codes have in common with the sign, and then one in
  /// the lowest of the bits that decide: the sign's place overflows.
  void add(Value word) {
    uint32_t lowest = first & -first;
    uint32_t ones = (0x80 | (lowest - 1)) * kBytes;
    Value sum = emit.add(emit.bitOr(word, ones), lowest * kBytes);
    kept = kept ? emit.bitAnd(kept, sum) : sum;
  }

  Value isFound() const {
    return emit.isDifferent(emit.bitAnd(kept, kSigns), kSigns);
  }

private:
  static constexpr uint32_t kBytes = 0x01010101, kSigns = 0x80808080;

  WordEmitter emit;
  unsigned first;
  Value kept;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALTEST_H
