//===- Block.cpp - A block of threads -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a block begins, which block owns a shared address, and which observers an
// access is reported to.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"
#include "Synchronization/GridDependency.h"
#include "Trace/Recorder.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

Block::Block(BlockGroup &group, const Extents &index, unsigned number,
             unsigned rank)
    : group(group), launch(group.launch), index(index), number(number),
      rank(rank), shared(launch.getSharedBytes()),
      isObserved(group.statistics || group.races || group.proxies ||
                 group.recorder) {
  mapShared();
  unsigned threads = launch.getNumThreads();
  for (unsigned first = 0; first < threads; first += kLanes)
    warps.emplace_back(*this, warps.size(), std::min(kLanes, threads - first));
  for (Warp &warp : warps)
    warp.enter(*launch.kernel->code, warp.existing, /*caller=*/nullptr);
}

/// At first, shared memory is undefined, and the gaps between variables are
/// unmapped.
void Block::mapShared() {
  uint8_t *states = shared.ensureStates();
  std::memset(states, ByteUnmapped, shared.size());
  for (auto [begin, end] : launch.kernel->sharedVariables)
    std::memset(states + begin, ByteUndefined, end - begin);
  if (launch.kernel->hasGroupScratch)
    std::memset(states + kGroupScratch, 0, kSharedStart - kGroupScratch);
  std::memset(states + launch.kernel->staticShared, ByteUndefined,
              launch.dynamicShared);
}

bool Block::isDone() const {
  return llvm::all_of(
      warps, [](const Warp &warp) { return warp.state == WarpState::Done; });
}

Block *Block::findOwner(uint64_t address) {
  uint64_t owner = address >> kSharedOffsetBits;
  if (owner >= group.clusterSize)
    return nullptr;
  return &group.blocks[number - rank + owner];
}

Block *Block::findPeer() {
  unsigned peer = rank ^ 1;
  return peer < group.clusterSize ? &group.blocks[number - rank + peer]
                                  : nullptr;
}

uint64_t Block::getByteNumberOf(uint64_t address) {
  return findOwner(address)->getByteNumber(getSharedOffset(address));
}

uint64_t Block::getAddress(uint64_t byteNumber) const {
  uint64_t owner = byteNumber / shared.size() % group.clusterSize;
  return owner << kSharedOffsetBits | byteNumber % shared.size();
}

void Block::observeGlobal(Warp &warp, const WarpAccess &access) {
  group.get<GridDependency>().access(warp, access);
  if (group.races)
    group.checkGlobalRaces(warp, access);
}

const uint8_t *Block::findStored(const WarpAccess &access, unsigned lane) {
  if (access.stored)
    return access.stored + lane * access.size;
  // If a single lane stores, its value is in memory.
  bool isAlone = access.lanes == LaneMask(1) << lane;
  if (access.kind != AccessKind::Store || access.isAsync || access.isBulk ||
      access.isCollective || !isAlone)
    return nullptr;
  uint64_t address = access.addresses[lane];
  return findOwner(address)->shared.data() + getSharedOffset(address);
}

void Block::notify(Warp &warp, const WarpAccess &access) {
  uint32_t line = warp.current->line;
  if (group.statistics)
    group.statistics->observe(line, access);
  if (group.recorder)
    group.recorder->observe(warp, access);
  if (access.space == AddressSpace::Global)
    observeGlobal(warp, access);
  if (access.space != AddressSpace::Shared &&
      access.space != AddressSpace::SharedCluster)
    return;
  bool isStrong =
      access.kind == AccessKind::Atomic || access.order != MemoryOrder::Weak;
  forEachLane(access.lanes, [&](unsigned lane) {
    uint64_t byte = getByteNumberOf(access.addresses[lane]);
    if (group.proxies && access.kind != AccessKind::Load)
      group.proxies->store(warp.number * kLanes + lane, byte, access.size);
    if (group.races && !(access.repeated >> lane & 1))
      group.checkRace(warp,
                      {warp.number, lane, line, byte, access.size, access.kind,
                       access.isCollective, access.isAsync,
                       /*time=*/{}, access.order, findStored(access, lane)});
    if (group.races && isStrong)
      group.races->synchronize(warp.number, byte / 8, access.kind,
                               access.order);
  });
}
