//===- Heap.cpp - Memory that kernels allocate ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each allocation is a separate one of global memory, so that accesses beside
// it, or after it was freed, are out of bounds.
//
//===----------------------------------------------------------------------===//

#include "Memory/Heap.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale::sim;

/// The alignment that CUDA's malloc guarantees.
static constexpr uint64_t kAlignment = 16;

uint64_t Heap::allocate(uint64_t size) {
  if (size == 0 || size > kBytes)
    return 0;
  uint64_t alignedSize = llvm::alignTo(size, kAlignment);
  if (alignedSize > kBytes - numLive)
    return 0;
  numLive += alignedSize;
  numAllocated += alignedSize;
  GlobalMemory::Allocation &allocation =
      memory.allocate("allocation " + std::to_string(numGiven) + " of malloc",
                      size, kAlignment);
  if (numGiven++ == 0)
    firstRegion = getRegion(allocation.address);
  std::memset(allocation.storage.ensureStates(), ByteUndefined, size);
  return allocation.address;
}

bool Heap::release(uint64_t address) {
  GlobalMemory::Allocation *allocation = memory.lookup(address);
  if (numGiven == 0 || getRegion(address) < firstRegion || !allocation ||
      allocation->address != address)
    return false;
  allocation->isFreed = true;
  numLive -= llvm::alignTo(allocation->storage.size(), kAlignment);
  return true;
}
