//===- Accumulation.h - The adder of fp8 tensor cores -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `#blockscale.accumulate` permits, in numbers. docs/Numerics.md has the
// bound that follows from them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_ACCUMULATION_H
#define BLOCKSCALE_SUPPORT_ACCUMULATION_H

#include <cstdint>
#include <string>

namespace mlir::blockscale {

/// The terms along K whose sum a tensor core may form before it is added in
/// f32, in ascending order. Each divides the next one.
inline constexpr int64_t kAccumulateChunks[] = {32, 64, 128};

bool isAccumulateChunk(int64_t chunk);

/// "32, 64 or 128"
std::string listAccumulateChunks();

/// A licence as options have it; without a chunk there is none.
struct Accumulation {
  int64_t chunk = 0;
  bool rebase = false;

  explicit operator bool() const { return chunk != 0 || rebase; }
};

/// The fraction bits of a sum of fp8 products, below its largest exponent.
inline constexpr int kAccumulateBits = 13;
/// The fewest terms after which a sum is rounded: the K of one step of sm_89,
/// half of that of sm_90.
inline constexpr int64_t kAccumulateStep = 16;
/// A rebased element is a multiple of 2^-9 of the scale of its row, so that it
/// moves by at most half of that.
inline constexpr int kRebaseBits = 10;

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_ACCUMULATION_H
