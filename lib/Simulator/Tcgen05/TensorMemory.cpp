//===- TensorMemory.cpp - The tensor memory of an SM ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cells with their last accesses, columns with their owners, and fences of
// warps.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/TensorMemory.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

llvm::StringRef sim::getName(Tcgen05AccessKind kind) {
  static constexpr llvm::StringRef names[] = {"tcgen05.ld",  "tcgen05.st",
                                              "tcgen05.mma", "tcgen05.cp",
                                              "tcgen05.cp",  "tcgen05.shift"};
  return names[static_cast<unsigned>(kind)];
}

unsigned sim::getByteShift(unsigned bits) {
  switch (bits) {
  case 4:
    return 2;
  case 6:
    return 1;
  default:
    return 0;
  }
}

Tcgen05Lanes sim::makeTensorLanes(unsigned first, unsigned count) {
  Tcgen05Lanes lanes;
  for (unsigned i = 0; i != count; ++i)
    lanes.set(first + i);
  return lanes;
}

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

void Tcgen05Fences::Times::add(LaneMask lanes, uint64_t time) {
  if (lanes == kAllLanes)
    return ofAll.push_back(time);
  for (unsigned lane = 0; lane != kLanes; ++lane)
    if (lanes >> lane & 1)
      ofLane[lane].push_back(time);
}

static std::optional<uint64_t> findBehindIn(const std::vector<uint64_t> &times,
                                            uint64_t time) {
  auto found = llvm::upper_bound(times, time);
  if (found == times.end())
    return std::nullopt;
  return *found;
}

std::optional<uint64_t> Tcgen05Fences::Times::findBehind(uint64_t time,
                                                         LaneMask lanes) const {
  std::optional<uint64_t> common = findBehindIn(ofAll, time);
  uint64_t latest = 0;
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    auto own = ofLane.find(lane);
    std::optional<uint64_t> found;
    if (own != ofLane.end())
      found = findBehindIn(own->second, time);
    if (common && (!found || *common < *found))
      found = common;
    if (!found)
      return std::nullopt;
    latest = std::max(latest, *found);
  }
  return latest;
}

const char *Tcgen05Fences::findMissing(const Tcgen05Access &first,
                                       unsigned warp, LaneMask lanes,
                                       bool needsAfter) const {
  static constexpr const char *before = "tcgen05.fence::before_thread_sync";
  static constexpr const char *after = "tcgen05.fence::after_thread_sync";
  // A commit implies the fence. Accesses that lanes made themselves and waited
  // for are before their next ones.
  bool isBehindCommit = first.isCommitted() && first.completed;
  uint64_t time = first.completed.value_or(first.begun);
  if (!isBehindCommit) {
    bool isOwn = first.warp == warp && (first.lanes & lanes) == lanes;
    if (isOwn)
      return nullptr;
    std::optional<uint64_t> fence =
        fences[first.warp].before.findBehind(time, first.lanes);
    if (!fence)
      return before;
    time = *fence;
  }
  if (needsAfter && !fences[warp].after.findBehind(time, lanes))
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

void TensorMemory::claim(unsigned column, unsigned warp, uint32_t line) {
  Allocation &allocation = allocations.at(column);
  allocation.warp = warp;
  allocation.line = line;
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
// Accesses of cells
//===----------------------------------------------------------------------===//

void TensorMemory::noteWrite(const TensorRegion &region, uint32_t access) {
  forEachCell(region, [&](unsigned index) {
    cells[index].write = access;
    cells[index].reads = {};
  });
}

void TensorMemory::noteRead(const TensorRegion &region, uint32_t access,
                            uint32_t reader) {
  forEachCell(region, [&](unsigned index) {
    std::array<Read, kReads> &reads = cells[index].reads;
    if (reads[0].access && reads[0].reader != reader)
      reads[1] = reads[0];
    reads[0] = {access, reader};
  });
}
