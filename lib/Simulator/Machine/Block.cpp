//===- Block.cpp - A block of threads -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::string sim::print(const Extents &extents) {
  return "(" + std::to_string(extents[0]) + "," + std::to_string(extents[1]) +
         "," + std::to_string(extents[2]) + ")";
}

Block::Block(BlockGroup &group, const Extents &index, unsigned number,
             unsigned rank)
    : group(group), launch(group.launch), index(index), number(number),
      rank(rank), shared(launch.getSharedBytes()),
      registerLimits(launch.kernel->function->maximumRegisters,
                     launch.getNumWarps()),
      isObserved(group.statistics || group.races || group.proxies) {
  mapShared();
  unsigned threads = launch.getNumThreads();
  if (launch.kernel->hasWarpgroups)
    warpgroups.resize(threads / (kWarpsOfWarpgroup * kLanes));
  for (unsigned first = 0; first < threads; first += kLanes)
    warps.emplace_back(*this, warps.size(), std::min(kLanes, threads - first));
  for (Warp &warp : warps)
    warp.enter(*launch.kernel->code, warp.existing, /*caller=*/nullptr);
}

/// Nothing in shared memory is defined at first, and what lies between
/// variables is not there.
void Block::mapShared() {
  uint8_t *states = shared.ensureStates();
  std::memset(states, ByteUnmapped, shared.size());
  for (auto [begin, end] : launch.kernel->sharedVariables)
    std::memset(states + begin, ByteUndefined, end - begin);
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

void Block::notify(Warp &warp, const WarpAccess &access) {
  uint32_t line = warp.current->line;
  if (group.statistics)
    group.statistics->observe(line, access);
  if (access.space != AddressSpace::Shared &&
      access.space != AddressSpace::SharedCluster)
    return;
  forEachLane(access.lanes, [&](unsigned lane) {
    uint64_t byte = getByteNumberOf(access.addresses[lane]);
    if (group.proxies && access.kind != AccessKind::Load)
      group.proxies->store(warp.number * kLanes + lane, byte, access.size);
    if (group.races)
      group.checkRace(warp, {warp.number, lane, line, byte, access.size,
                             access.kind, access.isCollective, access.isAsync});
  });
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// Threads that a barrier without a count waits for: those of warps that have
/// not ended, or had arrived before. A warp counts as a whole one.
static uint32_t countThreads(const Block &block, const BlockBarrier &barrier) {
  return kLanes * llvm::count_if(block.warps, [&](const Warp &warp) {
           return warp.state != WarpState::Done ||
                  (barrier.warps >> warp.index & 1);
         });
}

void Block::completeIfDue(BlockBarrier &barrier) {
  if (barrier.arrived == 0)
    return;
  uint32_t expected =
      barrier.takesAll ? countThreads(*this, barrier) : barrier.expected;
  if (barrier.arrived < expected)
    return;
  group.noteProgress();
  for (const BarrierWaiter &waiter : barrier.waiting) {
    Warp &warp = warps[waiter.warp];
    warp.state = WarpState::Ready;
    if (group.races)
      group.races->acquire(warp.number, barrier.clocks);
    bool isTrue = barrier.reduction == Reduction::And
                      ? barrier.numTrue == barrier.numCounted
                      : barrier.numTrue != 0;
    switch (barrier.reduction) {
    case Reduction::None:
      break;
    case Reduction::PopCount:
      warp.reg(waiter.destination).value.fill(barrier.numTrue);
      warp.reg(waiter.destination).undefinedLanes = 0;
      break;
    case Reduction::And:
    case Reduction::Or:
      warp.pred(waiter.destination) = {isTrue ? kAllLanes : 0, 0};
      break;
    }
  }
  barrier = BlockBarrier();
}

void Block::releaseBarriers() {
  for (BlockBarrier &barrier : barriers)
    completeIfDue(barrier);
  group.getClusterBarrier(*this).completeIfDue();
}
