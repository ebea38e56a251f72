//===- Heap.h - Memory that kernels allocate --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `malloc` and `free` of kernels. What is allocated stays until it is freed, by
// whichever kernel of the run.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_HEAP_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_HEAP_H

#include "Memory/Storage.h"

namespace mlir::blockscale::sim {

class Heap {
public:
  explicit Heap(GlobalMemory &memory) : memory(memory) {}

  /// The address of `size` undefined bytes; 0 where that is none, or more than
  /// there is room for.
  uint64_t allocate(uint64_t size);
  /// False unless the address is what `allocate` gave, and not freed since.
  bool release(uint64_t address);
  /// Whether nothing more can be allocated, however much is freed: bytes that
  /// are freed are kept.
  bool isSpent() const {
    return numAllocated >= kMostAllocated || numGiven >= kMostGiven;
  }

  /// CUDA's default size of the heap.
  static constexpr uint64_t kBytes = 8 << 20;
  /// In a run, freed or not: bytes and calls.
  static constexpr uint64_t kMostAllocated = 1 << 30, kMostGiven = 1 << 18;

private:
  GlobalMemory &memory;
  uint64_t numLive = 0, numAllocated = 0, numGiven = 0;
  /// The region of the first allocation: later ones are all of the heap.
  uint64_t firstRegion = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_HEAP_H
