//===- TensorMemory.cpp - The tensor memory of a multiprocessor -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMemory.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

llvm::StringRef sim::getName(TensorAccessKind kind) {
  static constexpr llvm::StringRef names[] = {"tcgen05.ld",  "tcgen05.st",
                                              "tcgen05.mma", "tcgen05.cp",
                                              "tcgen05.cp",  "tcgen05.shift"};
  return names[static_cast<unsigned>(kind)];
}

TensorLanes sim::makeTensorLanes(unsigned first, unsigned count) {
  TensorLanes lanes;
  for (unsigned i = 0; i != count; ++i)
    lanes.set(first + i);
  return lanes;
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

/// The first fence behind a time that all of some lanes executed.
const TensorFences::Fence *
TensorFences::findBehind(const std::vector<Fence> &fences, uint64_t time,
                         LaneMask lanes) {
  auto fence =
      llvm::upper_bound(fences, time, [](uint64_t time, const Fence &fence) {
        return time < fence.time;
      });
  for (; fence != fences.end(); ++fence)
    if ((fence->lanes & lanes) == lanes)
      return &*fence;
  return nullptr;
}

const char *TensorFences::findMissing(const TensorAccess &first, unsigned warp,
                                      LaneMask lanes, bool needsAfter) const {
  static constexpr const char *before = "tcgen05.fence::before_thread_sync";
  static constexpr const char *after = "tcgen05.fence::after_thread_sync";
  // A commit has the fence in it. What a warp did itself, and has waited for,
  // is before what it does next.
  bool isBehindCommit = first.isCommitted() && first.completed;
  uint64_t time = first.completed.value_or(first.begun);
  if (!isBehindCommit) {
    if (first.warp == warp)
      return nullptr;
    const Fence *fence =
        findBehind(fences[first.warp].before, time, first.lanes);
    if (!fence)
      return before;
    time = fence->time;
  }
  if (needsAfter && !findBehind(fences[warp].after, time, lanes))
    return after;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

TensorMemory::TensorMemory() : cells(kTensorLanes * kTensorColumns) {}

bool TensorMemory::isFree(unsigned column, unsigned numColumns) const {
  return llvm::none_of(allocations, [&](const auto &entry) {
    return column < entry.first + entry.second.numColumns &&
           entry.first < column + numColumns;
  });
}

unsigned TensorMemory::getNumFree() const {
  unsigned used = 0;
  for (const auto &[column, allocation] : allocations)
    used += allocation.numColumns;
  return kTensorColumns - used;
}

void TensorMemory::allocate(unsigned column, const Allocation &allocation) {
  allocations[column] = allocation;
  mostUsed = std::max(mostUsed, kTensorColumns - getNumFree());
  for (unsigned lane = 0; lane != kTensorLanes; ++lane)
    for (unsigned i = 0; i != allocation.numColumns; ++i)
      cells[getIndex(lane, column + i)] = Cell();
}

void TensorMemory::free(unsigned column) { allocations.erase(column); }

std::optional<unsigned> TensorMemory::findForeign(const Block &block,
                                                  unsigned column,
                                                  unsigned numColumns) const {
  for (unsigned i = column; i != column + numColumns; ++i) {
    auto next = allocations.upper_bound(i);
    if (next == allocations.begin())
      return i;
    const auto &[first, allocation] = *std::prev(next);
    if (allocation.owner != &block || i >= first + allocation.numColumns)
      return i;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Who accessed what
//===----------------------------------------------------------------------===//

void TensorMemory::noteWrite(const TensorRegion &region, uint32_t access) {
  forEachCell(region, [&](unsigned index) {
    cells[index].write = access;
    cells[index].read = 0;
  });
}

void TensorMemory::noteRead(const TensorRegion &region, uint32_t access) {
  forEachCell(region, [&](unsigned index) { cells[index].read = access; });
}
