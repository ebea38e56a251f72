//===- ProxyTracker.cpp - Stores without a proxy fence --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A store is fenced if its thread, or the thread that begins the async
// operation, has executed a fence since.
//
//===----------------------------------------------------------------------===//

#include "Memory/ProxyTracker.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

void ProxyTracker::store(unsigned thread, uint64_t address, uint64_t size) {
  Record record = {true, static_cast<uint16_t>(thread), now, ++numWrites};
  std::fill_n(stores.begin() + address, size, record);
}

void ProxyTracker::forget(uint64_t address, uint64_t size) {
  Record record;
  record.number = ++numWrites;
  std::fill_n(stores.begin() + address, size, record);
}

std::optional<uint64_t> ProxyTracker::findWrite(uint64_t address, uint64_t size,
                                                uint64_t numBefore) const {
  for (uint64_t i = address; i != address + size; ++i)
    if (stores[i].number > numBefore)
      return i;
  return std::nullopt;
}

std::optional<ProxyTracker::Store>
ProxyTracker::findUnfenced(unsigned thread, uint64_t address,
                           uint64_t size) const {
  for (uint64_t i = address; i != address + size; ++i) {
    const Record &record = stores[i];
    if (record.isStored && fences[record.thread] <= record.time &&
        fences[thread] <= record.time)
      return Store{i, record.thread};
  }
  return std::nullopt;
}
