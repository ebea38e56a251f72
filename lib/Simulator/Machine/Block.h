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

#include "Copies/TensorMaps.h"
#include "Machine/RegisterLimits.h"
#include "Machine/Statistics.h"
#include "Machine/Warp.h"
#include "Memory/Races.h"
#include "Synchronization/MBarrier.h"
#include "Translation/TranslatedModule.h"
#include "Wgmma/WarpgroupSequence.h"

#include <deque>

namespace mlir::blockscale::sim {

/// Of a grid, a block or a cluster, or a place in one: x, y and z.
using Extents = std::array<uint32_t, 3>;
std::string print(const Extents &extents);

/// A kernel with its extents and parameters.
struct LaunchedKernel {
  const Kernel *kernel;
  Extents grid, block, cluster;
  uint32_t dynamicShared;
  GlobalMemory *memory;
  /// The bytes of the parameters, which nothing writes.
  Storage *parameters;
  const TensorMaps *tensorMaps;
  const Options *options;
  uint64_t seed;

  unsigned getNumThreads() const { return block[0] * block[1] * block[2]; }
  unsigned getNumWarps() const {
    return (getNumThreads() + kLanes - 1) / kLanes;
  }
  /// Whether the launch or the kernel names the extents of a cluster.
  bool hasExplicitCluster() const {
    return cluster != Extents{1, 1, 1} || kernel->function->requiredCluster;
  }
  uint64_t getSharedBytes() const {
    return kernel->staticShared + dynamicShared;
  }
};

class BlockGroup;

/// What a block has done with tcgen05.alloc.
struct BlockAllocation {
  /// The columns that the last one got, and whether another one may come.
  std::optional<unsigned> last;
  bool isAllowed = true;
  /// Of a pair of blocks: how many columns which warp asks for, and the first
  /// one that it gets.
  std::optional<unsigned> wanted, granted;
  unsigned warp = 0;
};

class Block {
public:
  /// `number` counts the blocks of the group, `rank` those of the cluster.
  Block(BlockGroup &group, const Extents &index, unsigned number,
        unsigned rank);

  /// Lets go those who wait at a barrier, if enough threads have arrived.
  void completeIfDue(BlockBarrier &barrier);
  /// Lets go those who wait for the mbarrier object at an offset.
  void wakeWaiters(uint32_t mbarrier);
  /// Counts arrivals at an mbarrier object; fails where it takes fewer.
  bool arrive(Warp &warp, unsigned lane, uint32_t mbarrier, uint32_t count);
  /// Adds to the bytes that the current phase waits for; fails out of range.
  bool addTransactions(Warp &warp, unsigned lane, uint32_t mbarrier,
                       int64_t bytes);
  /// Completes the phase of an mbarrier object if nothing is missing.
  void completeIfDue(uint32_t mbarrier);
  /// Whether the same copy is under way already, so that its destination may be
  /// pending.
  bool isUnderWay(const PendingCopy &copy) const;
  /// Completes the copies of the active lanes but those of the `keep` most
  /// recent groups; without a number, all of them.
  void waitCopies(Warp &warp, std::optional<uint64_t> keep);
  /// The mbarrier object at an address; null after a failure.
  MBarrier *findMBarrier(Warp &warp, unsigned lane, uint32_t address);
  /// What threads of a warp have initialized is visible to others from here on.
  void publishMBarriers(const Warp &warp, LaneMask lanes);
  /// Reports a missing proxy fence: an error with --check=proxy, else a
  /// warning.
  void reportProxy(Warp &warp, unsigned lane, const llvm::Twine &text) const;
  /// Reports where the async proxy is to use an mbarrier object that others
  /// may not see yet.
  void checkPublished(Warp &warp, unsigned lane, uint32_t mbarrier) const;
  std::string describeMBarrier(uint32_t offset) const;
  /// Tells statistics and the search for races of an access.
  void observe(Warp &warp, const WarpAccess &access) {
    if (isObserved)
      notify(warp, access);
  }
  /// Completes the oldest arrival of a warp's cp.async copies at an mbarrier
  /// object; false if there is none.
  bool completeArrival(Warp &warp, uint32_t mbarrier);
  /// Lets go those who wait for warps that have ended.
  void releaseBarriers();
  /// The block has ended: copies must not need its shared memory any more.
  bool checkEnd();

  /// Whether all of its warps have left the kernel.
  bool isDone() const;
  /// What bits 24 and up of its addresses in shared memory are.
  uint32_t getSharedBase() const { return rank << kSharedOffsetBits; }
  /// The block of the cluster that has an address in shared memory; null if
  /// there is none.
  Block *findOwner(uint64_t address);
  /// The other block of a pair of tcgen05 (.cta_group::2); null if there is
  /// none.
  Block *findPeer();
  /// The number, over all shared memory of the group, of the byte at an
  /// offset, or at an address in the cluster; and the address of the byte with
  /// a number.
  uint64_t getByteNumber(uint64_t offset) const {
    return number * shared.size() + offset;
  }
  uint64_t getByteNumber(const Span &span) const {
    return getByteNumber(span.bytes - shared.data());
  }
  uint64_t getByteNumberOf(uint64_t address);
  uint64_t getAddress(uint64_t byteNumber) const;

  BlockGroup &group;
  const LaunchedKernel &launch;
  const Extents index;
  const unsigned number, rank;
  Storage shared;
  BlockBarriers barriers;
  MBarriers mbarriers;
  std::deque<Warp> warps;
  BlockAllocation tensorAllocation;
  RegisterLimits registerLimits;
  /// Those whose warps are all whole.
  std::vector<WarpgroupSequence> warpgroups;
  /// Registers and predicates of all functions that warps are in.
  uint64_t numRegisters = 0;

private:
  void mapShared();
  bool failAtEnd(Warp &warp, uint32_t line, unsigned lane, std::string text);
  void notify(Warp &warp, const WarpAccess &access);
  void noteStore(const PendingCopy &copy, const Warp &warp);
  bool isOwn(const Span &span) const { return span.storage == &shared; }
  RaceDetector::Access makeAccess(const PendingCopy &copy,
                                  const Warp &warp) const;

  bool isObserved = false;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_BLOCK_H
