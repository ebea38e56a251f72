//===- Heap.h - Memory that kernels allocate --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `malloc` and `free` of kernels. Allocations live until any kernel of the run
// frees them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_HEAP_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_HEAP_H

#include "Memory/Storage.h"

namespace mlir::blockscale::sim {

class Heap {
public:
  explicit Heap(GlobalMemory &memory) : memory(memory) {}

  /// The address of `size` undefined bytes; 0 if `size` is 0 or does not fit in
  /// the heap.
  uint64_t allocate(uint64_t size);
  /// False unless `allocate` returned the address and it was not freed since.
  bool release(uint64_t address);
  /// Whether the run can allocate no more, even after a free: freed bytes are
  /// kept.
  bool isSpent() const {
    return numAllocated >= kMostAllocated || numGiven >= kMostGiven;
  }

  /// CUDA's default size of the heap.
  static constexpr uint64_t kBytes = 8 << 20;
  /// The most bytes and calls of a run, freed or not.
  static constexpr uint64_t kMostAllocated = 1 << 30, kMostGiven = 1 << 18;

private:
  GlobalMemory &memory;
  uint64_t numLive = 0, numAllocated = 0, numGiven = 0;
  /// The region of the first allocation; all later regions belong to the heap.
  uint64_t firstRegion = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_HEAP_H
