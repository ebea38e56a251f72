//===- ProxyTracker.h - Stores without a proxy fence ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk copies and tensor cores access shared memory through the async proxy.
// Stores of threads are visible to it after a fence.proxy.async between the
// store and the copy: by the thread that stored, or, behind a barrier, by the
// thread that begins the copy. Race detection checks that there is a barrier.
//
// Source: PTX ISA, sections 8.6 "Proxies" and 9.7.9.27.1 "Async proxy".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_PROXYTRACKER_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_PROXYTRACKER_H

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

class ProxyTracker {
public:
  ProxyTracker(uint64_t sharedBytes, unsigned numThreads)
      : stores(sharedBytes), fences(numThreads) {}

  /// A thread stores through the generic proxy.
  void store(unsigned thread, uint64_t address, uint64_t size);
  /// A thread executes fence.proxy.async.
  void fence(unsigned thread) { fences[thread] = ++now; }
  /// The async proxy itself writes bytes.
  void forget(uint64_t address, uint64_t size);

  /// How many writes there were, and the first byte of a range that was written
  /// after the first `numBefore` writes.
  uint64_t getNumWrites() const { return numWrites; }
  std::optional<uint64_t> findWrite(uint64_t address, uint64_t size,
                                    uint64_t numBefore) const;

  struct Store {
    uint64_t address;
    unsigned thread;
  };
  /// The first byte of a range that was stored without a fence before `thread`
  /// passes the range to the async proxy.
  std::optional<Store> findUnfenced(unsigned thread, uint64_t address,
                                    uint64_t size) const;

private:
  /// The last write of a byte: its number, and, for the generic proxy, the
  /// thread and how many fences there were.
  struct Record {
    bool isStored = false;
    uint16_t thread = 0;
    uint32_t time = 0;
    uint64_t number = 0;
  };
  std::vector<Record> stores;
  uint64_t numWrites = 0;
  /// The number of fences so far, and the number of each thread's last fence.
  uint32_t now = 0;
  std::vector<uint32_t> fences;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_PROXYTRACKER_H
