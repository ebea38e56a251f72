//===- Block.h - A block of threads -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has shared memory, barriers and warps. It runs in a group of blocks.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCK_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCK_H

#include "Machine/LaunchedKernel.h"
#include "Machine/Warp.h"
#include "Synchronization/MBarrier.h"

#include <deque>

namespace mlir::blockscale::sim {

class BlockGroup;

class Block {
public:
  /// `number` counts the blocks of the group, `rank` those of the cluster.
  Block(BlockGroup &group, const Extents &index, unsigned number,
        unsigned rank);

  /// Wakes the warps that wait for the mbarrier object at an offset.
  void wakeWaiters(uint32_t mbarrier);
  /// Counts arrivals at an mbarrier object; fails if there are more than the
  /// phase expects.
  bool arrive(Warp &warp, unsigned lane, uint32_t mbarrier, uint32_t count);
  /// Adds to the tx-count of the current phase; fails if it gets out of range.
  bool addTransactions(Warp &warp, unsigned lane, uint32_t mbarrier,
                       int64_t bytes);
  /// Completes the phase of an mbarrier object if no arrivals and bytes are
  /// pending.
  void completeIfDue(uint32_t mbarrier);
  /// The mbarrier object at an address; null after a failure.
  MBarrier *findMBarrier(Warp &warp, unsigned lane, uint32_t address);
  /// Makes the mbarrier objects that threads of a warp have initialized visible
  /// to others.
  void publishMBarriers(const Warp &warp, LaneMask lanes);
  /// The same for the objects of all threads that a warp is ordered behind.
  void publishKnownMBarriers(const Warp &warp);
  /// Reports a missing proxy fence: an error with --check=proxy, else a
  /// warning.
  void reportProxy(Warp &warp, unsigned lane, const llvm::Twine &text) const;
  /// Reports behavior that shipped kernels rely on, although `source`, a
  /// section of the ISA, does not allow it: an error with --check=strict, else
  /// a warning. False after an error.
  bool reportStrict(Warp &warp, unsigned lane, const llvm::Twine &text,
                    llvm::StringRef source) const;
  /// Reports if the async proxy would use an mbarrier object that is not
  /// visible to it yet.
  void checkPublished(Warp &warp, unsigned lane, uint32_t mbarrier) const;
  std::string describeMBarrier(uint32_t offset) const;
  /// Reports an access to statistics and to race detection.
  void observe(Warp &warp, const WarpAccess &access) {
    if (isObserved)
      notify(warp, access);
  }
  /// Whether all of its warps have left the kernel.
  bool isDone() const;
  /// Bits 24 and up of its addresses in shared memory.
  uint32_t getSharedBase() const { return rank << kSharedOffsetBits; }
  /// The block of the cluster that has an address in shared memory; null if
  /// there is none.
  Block *findOwner(uint64_t address);
  /// The other block of the CTA pair (.cta_group::2); null if there is none.
  Block *findPeer();
  /// Numbers the bytes of all shared memory of the group: the number of the
  /// byte at an offset, or at an address in the cluster, and the address of the
  /// byte with a number.
  uint64_t getByteNumber(uint64_t offset) const {
    return number * shared.size() + offset;
  }
  uint64_t getByteNumber(const Span &span) const {
    return getByteNumber(span.bytes - shared.data());
  }
  uint64_t getByteNumberOf(uint64_t address);
  uint64_t getAddress(uint64_t byteNumber) const;
  bool isOwn(const Span &span) const { return span.storage == &shared; }

  BlockGroup &group;
  const LaunchedKernel &launch;
  const Extents index;
  const unsigned number, rank;
  Storage shared;
  MBarriers mbarriers;
  std::deque<Warp> warps;
  /// How many registers and predicates the frames of all warps have.
  uint64_t numRegisters = 0;

private:
  void mapShared();
  void notify(Warp &warp, const WarpAccess &access);
  /// The bytes that a lane has stored to shared memory; null if they are not
  /// known.
  const uint8_t *findStored(const WarpAccess &access, unsigned lane);
  void observeGlobal(Warp &warp, const WarpAccess &access);

  bool isObserved = false;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCK_H
