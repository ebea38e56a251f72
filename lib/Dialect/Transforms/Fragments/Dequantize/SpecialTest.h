//===- SpecialTest.h - Test for infinities and NaN --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests four bytes at a time for codes of infinity and NaN.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALTEST_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_SPECIALTEST_H

#include "Fragments/Dequantize/Formats.h"
#include "Fragments/Dequantize/WordEmitter.h"

namespace mlir::blockscale {

/// Tests 32-bit registers with an element in each byte.
class SpecialTest {
public:
  SpecialTest(WordEmitter emit, Format format)
      : emit(emit), first(getCodeFormat(format).firstSpecial) {}

  bool isNeeded() const { return first != 0; }

  void reset() { kept = nullptr; }

  /// Sets all bits that do not decide, sign included, and adds one to the
  /// lowest bit that decides. If a code is special, its byte carries out of the
  /// sign bit, which becomes 0.
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
