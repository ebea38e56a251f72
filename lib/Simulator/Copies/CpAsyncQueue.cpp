//===- CpAsyncQueue.cpp - cp.async in flight ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies and arrivals of a warp are in one list, in the order of the program,
// because an arrival waits for the copies of its lane before it.
//
//===----------------------------------------------------------------------===//

#include "Copies/CpAsyncQueue.h"

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
  // States may have been allocated since the copy began.
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

bool PendingCopy::isSame(const PendingCopy &other) const {
  return source.bytes == other.source.bytes &&
         destination.bytes == other.destination.bytes && size == other.size &&
         totalSize == other.totalSize;
}

void CpAsyncQueue::begin(PendingCopy copy) {
  copy.begin();
  entries.push_back({numEntries++, numCommitted[copy.lane], copy, {}});
}

void CpAsyncQueue::addArrival(const Arrival &arrival) {
  entries.push_back(
      {numEntries++, numCommitted[arrival.lane], std::nullopt, arrival});
}

bool CpAsyncQueue::contains(const PendingCopy &copy) const {
  return llvm::any_of(entries, [&](const Entry &entry) {
    return entry.copy && entry.copy->isSame(copy);
  });
}

template <typename Predicate>
void CpAsyncQueue::completeIf(Predicate predicate, OnComplete onComplete) {
  llvm::erase_if(entries, [&](Entry &entry) {
    if (!entry.copy || !predicate(entry))
      return false;
    entry.copy->complete();
    onComplete(*entry.copy);
    return true;
  });
}

void CpAsyncQueue::waitGroups(LaneMask lanes, uint64_t keep,
                              OnComplete onComplete) {
  completeIf(
      [&](const Entry &entry) {
        unsigned lane = entry.copy->lane;
        return (lanes >> lane & 1) && entry.group + keep < numCommitted[lane];
      },
      onComplete);
}

void CpAsyncQueue::waitAll(LaneMask lanes, OnComplete onComplete) {
  completeIf([&](const Entry &entry) { return lanes >> entry.copy->lane & 1; },
             onComplete);
}

std::optional<CpAsyncQueue::Arrival>
CpAsyncQueue::takeArrival(uint32_t mbarrier, OnComplete onComplete) {
  auto found = llvm::find_if(entries, [&](const Entry &entry) {
    return !entry.copy && entry.arrival.mbarrier == mbarrier;
  });
  if (found == entries.end())
    return std::nullopt;
  Arrival arrival = found->arrival;
  uint64_t number = found->number;
  entries.erase(found);
  completeIf(
      [&](const Entry &entry) {
        return entry.copy->lane == arrival.lane && entry.number < number;
      },
      onComplete);
  return arrival;
}
