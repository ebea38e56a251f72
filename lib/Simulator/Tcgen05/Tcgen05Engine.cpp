//===- Tcgen05Engine.cpp - Tensor core operations in flight ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses of a cell, at least one of them a write, must be ordered. What
// orders them depends on the instructions and on the threads that issue them.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Tcgen05Engine.h"

#include "Machine/BlockGroup.h"
#include "SharedDescriptors/SharedTile.h"
#include "Trace/Recorder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// One tensor memory for each SM; there are as many SMs as blocks in a cluster.
Tcgen05Engine::Tcgen05Engine(BlockGroup &group)
    : group(group), memories(group.clusterSize), allocations(group.maxBlocks),
      collectors(group.maxBlocks),
      fences(group.maxBlocks * group.launch.getNumWarps()), accesses(1),
      waiting(group.maxBlocks * group.launch.getNumWarps()) {}

Tcgen05Engine &sim::getTensorEngine(const Warp &warp) {
  return warp.block.group.get<Tcgen05Engine>();
}

TensorMemory &Tcgen05Engine::getMemory(const Block &block) {
  return memories[block.rank];
}

bool Tcgen05Engine::findBlocks(Warp &warp, unsigned lane, unsigned numBlocks,
                               llvm::StringRef what,
                               llvm::SmallVectorImpl<Block *> &blocks) {
  blocks.push_back(&warp.block);
  if (numBlocks == 1)
    return true;
  Block *peer = warp.block.findPeer();
  if (peer && !peer->isDone()) {
    blocks.push_back(peer);
    return true;
  }
  return warp.error(
      lane,
      what + (peer ? ".cta_group::2 expected the other block of the CTA pair "
                     "to run, but block " +
                         print(peer->index) + " has ended"
                   : ".cta_group::2 expected a cluster with an even "
                     "number of blocks, got " +
                         std::to_string(group.clusterSize)));
}

void Tcgen05Engine::endGroup() {
  unsigned most = 0;
  for (const TensorMemory &memory : memories)
    most = std::max(most, memory.getMostUsed());
  if (group.statistics)
    group.statistics->noteTensorColumns(most);
}

std::string Tcgen05Engine::describe(const Tcgen05Access &access) {
  return "the " + getName(access.kind).str() + " in line " +
         std::to_string(access.line) + " by " + group.describeWarp(access.warp);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

BlockAllocation &Tcgen05Engine::getAllocation(const Block &block) {
  return allocations[block.number];
}

CollectorBuffers &Tcgen05Engine::getCollectors(const Block &block) {
  return collectors[block.number];
}

void Tcgen05Engine::awaitColumns(Warp &warp, std::string reason) {
  warp.wait(std::move(reason), /*retries=*/true);
  awaitingColumns.push_back(&warp);
}

void Tcgen05Engine::wakeAllocations() {
  for (Warp *warp : awaitingColumns)
    if (warp->state == WarpState::Waiting)
      warp->state = WarpState::Ready;
  awaitingColumns.clear();
}

bool Tcgen05Engine::checkAllocated(Warp &warp, unsigned lane,
                                   const Tcgen05Use &use) {
  const TensorRegion &region = use.region;
  std::optional<unsigned> foreign =
      getMemory(*use.block)
          .findForeign(*use.block, region.column, region.numColumns);
  if (!foreign)
    return true;
  return warp.error(
      lane, llvm::Twine("expected columns ") + llvm::Twine(region.column) +
                " to " + llvm::Twine(region.column + region.numColumns - 1) +
                " of tensor memory to be allocated by block " +
                print(use.block->index) + ", but column " +
                llvm::Twine(*foreign) + " is not");
}

/// Checks that columns are deallocated behind an access; false after a failure.
bool Tcgen05Engine::checkBehind(Warp &warp, unsigned lane,
                                const Tcgen05Access &access) {
  auto reject = [&](const std::string &text) { return warp.error(lane, text); };
  bool isLoad = access.kind == Tcgen05AccessKind::Load;
  if (!access.completed && !isLoad)
    return reject(describe(access) + " may still use these columns: expected " +
                  (access.isCommitted() ? "tcgen05.commit and a wait for it"
                                        : "tcgen05.wait") +
                  " before tcgen05.dealloc");
  if (!isKnown(warp, access, /*isFenced=*/false))
    return reject("race: " + describe(access) +
                  " and this tcgen05.dealloc have no barrier between");
  if (!access.completed &&
      !warp.block.reportStrict(warp, lane,
                               describe(access) +
                                   " may still read these columns: expected "
                                   "tcgen05.wait::ld before tcgen05.dealloc",
                               "PTX ISA, tcgen05.wait"))
    return false;
  const char *missing = fences.findMissing(access, warp.number, warp.active,
                                           /*needsAfter=*/false);
  if (missing)
    warp.block.reportProxy(warp, lane,
                           describe(access) +
                               " and this tcgen05.dealloc have no " + missing +
                               " between");
  return warp.state != WarpState::Failed;
}

bool Tcgen05Engine::checkUnused(Warp &warp, unsigned lane, unsigned column,
                                unsigned numColumns) {
  TensorRegion region = {Tcgen05Lanes().set(), column, numColumns};
  bool isGood = true;
  getMemory(warp.block)
      .forEachAccess(region, /*isWrite=*/true, [&](uint32_t number, bool) {
        isGood = isGood && checkBehind(warp, lane, accesses[number]);
      });
  return isGood;
}

bool Tcgen05Engine::endBlock(Block &block) {
  for (const auto &[column, allocation] : getMemory(block).getAllocations()) {
    if (allocation.owner != &block)
      continue;
    return group.failAt(
        group.getWarp(allocation.warp),
        {allocation.line, 0,
         "the block ends before the " + std::to_string(allocation.numColumns) +
             " columns of tensor memory from " + std::to_string(column) +
             " on are deallocated: expected tcgen05.dealloc"});
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Operations of tensor cores
//===----------------------------------------------------------------------===//

Tcgen05Access Tcgen05Engine::makeAccess(const Warp &warp,
                                        Tcgen05AccessKind kind,
                                        LaneMask lanes) {
  hasReported = false;
  Tcgen05Access access = {};
  access.kind = kind;
  access.warp = warp.number;
  access.lanes = lanes;
  access.line = warp.current->line;
  access.begun = ++now;
  return access;
}

bool Tcgen05Engine::begin(Warp &warp, Tcgen05Operation operation) {
  warp.act();
  unsigned lane = operation.lane;
  Tcgen05Access access = makeAccess(warp, operation.kind, LaneMask(1) << lane);
  access.accumulator = operation.accumulator;
  for (const Tcgen05Use &use : operation.uses)
    if (!checkAllocated(warp, lane, use))
      return false;
  if (!checkOverlap(warp, lane, operation.uses))
    return false;
  for (const Tcgen05Use &use : operation.uses)
    if (!checkOrder(warp, lane, access, use))
      return false;
  SharedReads shared;
  if (!shared.begin(warp, lane, std::move(operation.shared),
                    getName(operation.kind)))
    return false;
  if (group.statistics)
    group.statistics->addBytes(operation.kind == Tcgen05AccessKind::Multiply
                                   ? "matrix_operands"
                                   : "tensor_copies",
                               shared.getNumBytes());
  if (group.recorder) {
    TraceOperation recorded = {};
    recorded.unit = TraceUnit::TensorCore;
    // The first block of a CTA pair has the even rank.
    recorded.block = warp.block.number & ~(operation.numBlocks - 1);
    recorded.numBlocks = operation.numBlocks;
    recorded.flops = operation.flops;
    recorded.rate = operation.rate;
    recorded.isSparse = operation.isSparse;
    recorded.sharedBytes = shared.getNumBytes() / operation.numBlocks;
    group.recorder->begin(warp, recorded);
  }
  Entry entry = {};
  entry.access = note(access, operation.uses);
  entry.shared = std::move(shared);
  entry.lane = lane;
  entry.line = access.line;
  queues[{warp.number, lane}].push_back(std::move(entry));
  return true;
}

void Tcgen05Engine::commit(Warp &warp, unsigned lane,
                           llvm::ArrayRef<SharedLocation> mbarriers) {
  Entry entry = {};
  entry.mbarriers.append(mbarriers.begin(), mbarriers.end());
  entry.lane = lane;
  entry.line = warp.current->line;
  if (group.recorder) {
    TraceOperation recorded = {};
    recorded.unit = TraceUnit::TensorCore;
    recorded.block = warp.block.number;
    entry.operationId = group.recorder->begin(warp, recorded);
  }
  queues[{warp.number, lane}].push_back(std::move(entry));
  group.noteProgress();
}

bool Tcgen05Engine::arrive(Warp &warp, const Entry &entry,
                           SharedLocation location) {
  unsigned lane = entry.lane;
  Block &block = *location.block;
  if (block.isDone())
    return warp.error(lane, "tcgen05.commit arrives at " +
                                block.describeMBarrier(location.offset) +
                                " of block " + print(block.index) +
                                ", which has ended");
  MBarrier *mbarrier = block.findMBarrier(warp, lane, location.offset);
  if (!mbarrier)
    return false;
  if (group.races) {
    group.races->release(warp.number, mbarrier->clocks);
    group.races->arriveTensor(warp.number * kLanes + lane, mbarrier->clocks);
  }
  if (group.recorder)
    group.recorder->arrive(entry.operationId, Recorder::getBarrier(location));
  return block.arrive(warp, lane, location.offset, /*count=*/1);
}

/// Completes an operation, or makes the arrival of a commit; false after a
/// failure.
bool Tcgen05Engine::complete(Warp &warp, const Entry &entry) {
  unsigned thread = warp.number * kLanes + entry.lane;
  if (!entry.access && group.races)
    group.races->commitTensor(thread);
  if (!entry.access)
    return llvm::all_of(entry.mbarriers, [&](SharedLocation location) {
      return arrive(warp, entry, location);
    });
  Tcgen05Access &access = accesses[entry.access];
  if (!entry.shared.checkUnchanged(warp, entry.lane, describe(access),
                                   "tcgen05.commit and a wait for it"))
    return false;
  access.completed = now;
  if (group.races)
    access.time = group.races->getNextCommit(thread);
  return true;
}

bool Tcgen05Engine::completeNext(SharedLocation mbarrier) {
  for (auto &[thread, queue] : queues) {
    auto commit = llvm::find_if(queue, [&](const Entry &entry) {
      return llvm::is_contained(entry.mbarriers, mbarrier);
    });
    if (commit == queue.end())
      continue;
    Warp &warp = group.getWarp(thread.first);
    size_t count = commit - queue.begin() + 1;
    ++now;
    for (size_t i = 0; i != count; ++i) {
      Entry entry = std::move(queue.front());
      queue.pop_front();
      if (complete(warp, entry))
        continue;
      warp.failure.line = entry.line;
      group.failed = &warp;
      return true;
    }
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// ld, st, wait and fences
//===----------------------------------------------------------------------===//

static uint64_t getNumBytes(const TensorRegion &region) {
  return region.lanes.count() * region.numColumns * sizeof(uint32_t);
}

bool Tcgen05Engine::begin(Warp &warp, Tcgen05AccessKind kind,
                          llvm::ArrayRef<TensorRegion> regions) {
  warp.act();
  Tcgen05Access access = makeAccess(warp, kind, warp.active);
  if (group.races)
    access.time = group.races->accessTensor(warp.number);
  llvm::SmallVector<Tcgen05Use, 2> uses;
  for (const TensorRegion &region : regions)
    uses.push_back({&warp.block, region, kind == Tcgen05AccessKind::Store});
  for (const Tcgen05Use &use : uses)
    if (!checkAllocated(warp, /*lane=*/0, use) ||
        !checkOrder(warp, /*lane=*/0, access, use))
      return false;
  if (!checkOverlap(warp, /*lane=*/0, uses))
    return false;
  if (group.statistics)
    for (const TensorRegion &region : regions)
      group.statistics->addBytes(
          kind == Tcgen05AccessKind::Load ? "tensor_loads" : "tensor_stores",
          getNumBytes(region));
  if (group.recorder) {
    TraceOperation recorded = {};
    recorded.unit = kind == Tcgen05AccessKind::Load ? TraceUnit::Tcgen05Loads
                                                    : TraceUnit::Tcgen05Stores;
    recorded.block = warp.block.number;
    for (const TensorRegion &region : regions)
      recorded.tensorMemoryBytes += getNumBytes(region);
    group.recorder->begin(warp, recorded);
  }
  waiting[warp.number].push_back(note(access, uses));
  return true;
}

void Tcgen05Engine::wait(Warp &warp, Tcgen05AccessKind kind) {
  ++now;
  if (group.recorder)
    group.recorder->awaitAll(warp, kind == Tcgen05AccessKind::Load
                                       ? TraceUnit::Tcgen05Loads
                                       : TraceUnit::Tcgen05Stores);
  llvm::erase_if(waiting[warp.number], [&](uint32_t number) {
    if (accesses[number].kind != kind)
      return false;
    accesses[number].completed = now;
    if (group.races)
      accesses[number].time = group.races->accessTensor(warp.number);
    return true;
  });
}

void Tcgen05Engine::fence(Warp &warp, bool isBefore) {
  ++now;
  if (isBefore)
    fences.before(warp.number, warp.active, now);
  else
    fences.after(warp.number, warp.active, now);
  if (group.races && isBefore)
    group.races->fenceTensorBefore(warp.number);
  else if (group.races)
    group.races->fenceTensorAfter(warp.number);
}
