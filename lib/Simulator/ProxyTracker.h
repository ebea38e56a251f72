//===- ProxyTracker.h - Stores that no proxy fence follows ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk copies and matrix units read shared memory through the async proxy. What
// threads store is visible there after a fence.proxy.async of the thread that
// stored it.
//
// Source: PTX ISA, sections 8.6 "Proxies" and 9.7.9.27.1 "Async proxy".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SIMULATOR_PROXYTRACKER_H
#define BLOCKSCALE_SIMULATOR_PROXYTRACKER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

class ProxyTracker {
public:
  ProxyTracker(uint64_t sharedBytes, unsigned numThreads)
      : stores(sharedBytes), numFences(numThreads) {}

  /// A thread stores through the generic proxy.
  void store(unsigned thread, uint64_t address, uint64_t size);
  /// A thread executes fence.proxy.async.
  void fence(unsigned thread) { ++numFences[thread]; }
  /// The async proxy itself writes bytes.
  void forget(uint64_t address, uint64_t size);

  struct Store {
    uint64_t address;
    unsigned thread;
  };
  /// The first byte of a range that a thread has stored without a fence.
  std::optional<Store> findUnfenced(uint64_t address, uint64_t size) const;

private:
  /// The last store to a byte: the thread, and how many fences it had executed.
  struct Record {
    bool isStored = false;
    uint16_t thread = 0;
    uint32_t numFences = 0;
  };
  std::vector<Record> stores;
  std::vector<uint32_t> numFences;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_PROXYTRACKER_H
