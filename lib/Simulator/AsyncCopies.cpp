//===- AsyncCopies.cpp - Copies that complete later -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopies.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

void PendingCopy::begin() {
  uint8_t *states = destination.ensureStates();
  for (uint64_t i = 0; i != totalSize; ++i)
    states[i] |= BytePending;
}

void PendingCopy::complete() {
  if (size)
    std::memcpy(destination.bytes, source.bytes, size);
  std::memset(destination.bytes + size, 0, totalSize - size);
  uint8_t *states = destination.ensureStates();
  // States may have come into being since the copy began.
  const uint8_t *sourceStates =
      source.storage && source.storage->states()
          ? source.storage->states() + (source.bytes - source.storage->data())
          : source.states;
  for (uint64_t i = 0; i != totalSize; ++i) {
    bool isUndefined =
        i < size && sourceStates && (sourceStates[i] & ByteUndefined);
    states[i] = isUndefined ? ByteUndefined : 0;
  }
}

void CopyQueue::begin(unsigned lane, PendingCopy copy) {
  copy.begin();
  entries.push_back({lane, numCommitted[lane], /*isArrival=*/false, copy, {}});
}

void CopyQueue::addArrival(unsigned lane, uint32_t barrier, uint32_t line) {
  entries.push_back({lane,
                     numCommitted[lane],
                     /*isArrival=*/true,
                     {},
                     {lane, barrier, line}});
}

bool CopyQueue::contains(const PendingCopy &copy) const {
  return llvm::any_of(entries, [&](const Entry &entry) {
    return !entry.isArrival && entry.copy.source.bytes == copy.source.bytes &&
           entry.copy.destination.bytes == copy.destination.bytes &&
           entry.copy.size == copy.size &&
           entry.copy.totalSize == copy.totalSize;
  });
}

template <typename Predicate>
void CopyQueue::completeIf(Predicate predicate) {
  llvm::erase_if(entries, [&](Entry &entry) {
    if (entry.isArrival || !predicate(entry))
      return false;
    entry.copy.complete();
    return true;
  });
}

void CopyQueue::waitGroups(LaneMask lanes, uint64_t keep) {
  completeIf([&](const Entry &entry) {
    return (lanes >> entry.lane & 1) &&
           entry.group + keep < numCommitted[entry.lane];
  });
}

void CopyQueue::waitAll(LaneMask lanes) {
  completeIf([&](const Entry &entry) { return lanes >> entry.lane & 1; });
}

std::vector<CopyQueue::Arrival> CopyQueue::settle(uint32_t barrier) {
  std::vector<Arrival> arrivals;
  LaneMask lanes = 0;
  // From the back: what stands before an arrival of its lane is due.
  for (Entry &entry : llvm::reverse(entries)) {
    LaneMask bit = LaneMask(1) << entry.lane;
    if (entry.isArrival && entry.arrival.barrier == barrier) {
      lanes |= bit;
      arrivals.push_back(entry.arrival);
      entry.group = ~uint64_t(0);
    } else if (!entry.isArrival && (lanes & bit)) {
      entry.copy.complete();
      entry.group = ~uint64_t(0);
    }
  }
  llvm::erase_if(
      entries, [](const Entry &entry) { return entry.group == ~uint64_t(0); });
  return arrivals;
}
