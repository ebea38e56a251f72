//===- ProxyTracker.cpp - Stores that no proxy fence follows --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProxyTracker.h"

#include <algorithm>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

void ProxyTracker::store(unsigned thread, uint64_t address, uint64_t size) {
  Record record = {true, static_cast<uint16_t>(thread), numFences[thread]};
  // Accesses that failed are told, too.
  if (address < stores.size() && size <= stores.size() - address)
    std::fill_n(stores.begin() + address, size, record);
}

void ProxyTracker::forget(uint64_t address, uint64_t size) {
  std::fill_n(stores.begin() + address, size, Record());
}

std::optional<ProxyTracker::Store>
ProxyTracker::findUnfenced(uint64_t address, uint64_t size) const {
  for (uint64_t i = address; i != address + size; ++i) {
    const Record &record = stores[i];
    if (record.isStored && record.numFences == numFences[record.thread])
      return Store{i, record.thread};
  }
  return std::nullopt;
}
