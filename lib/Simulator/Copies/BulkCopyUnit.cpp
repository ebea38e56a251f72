//===- BulkCopyUnit.cpp - Bulk copies of a group --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Begins and completes bulk copies, and reports their accesses to race
// detection and to the proxy tracker. Races.h describes which accesses a copy
// counts as.
//
//===----------------------------------------------------------------------===//

#include "Copies/BulkCopyUnit.h"

#include "Machine/BlockGroup.h"
#include "Synchronization/LaunchControl.h"
#include "Trace/Recorder.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

BulkCopyUnit &sim::getBulkCopies(const Warp &warp) {
  return warp.block.group.get<BulkCopyUnit>();
}

/// The side of a copy that is in the shared memory of a block. Reductions are
/// atomic.
static RaceDetector::Access makeAccess(const BulkCopy &copy, AccessKind kind,
                                       const Block &block) {
  const Span &span = kind == AccessKind::Load ? copy.source : copy.destination;
  RaceDetector::Access access = {};
  access.warp = copy.warp->number;
  access.lane = copy.lane;
  access.line = copy.line;
  access.address = block.getByteNumber(span);
  access.size = copy.size;
  access.kind =
      kind == AccessKind::Store && copy.operation ? AccessKind::Atomic : kind;
  access.isAsync = true;
  return access;
}

void BulkCopyUnit::checkProxy(const BulkCopy &copy, const Span &span,
                              const Block &block, llvm::StringRef what) {
  std::optional<ProxyTracker::Store> store =
      group.proxies->findUnfenced(copy.warp->number * kLanes + copy.lane,
                                  block.getByteNumber(span), copy.size);
  if (store)
    block.reportProxy(*copy.warp, copy.lane,
                      "the async proxy " + what + " the byte at " +
                          printHex(block.getAddress(store->address)) +
                          " in shared memory, which lane " +
                          llvm::Twine(store->thread % kLanes) + " of " +
                          group.describeWarp(store->thread / kLanes) +
                          " has stored: expected fence.proxy.async between");
}

/// Checks that what the async proxy accesses is visible to it. `from` and `to`
/// are null if the copy does not go from or to shared memory.
void BulkCopyUnit::checkProxies(const BulkCopy &copy, Block *from, Block *to) {
  if (from)
    checkProxy(copy, copy.source, *from, "reads");
  if (to) {
    checkProxy(copy, copy.destination, *to, "writes");
    group.proxies->forget(to->getByteNumber(copy.destination), copy.size);
  }
  if (copy.mbarrier)
    copy.mbarrier->block->checkPublished(*copy.warp, copy.lane,
                                         copy.mbarrier->offset);
}

/// The name of a copy's direction in statistics.
static std::string getPath(const BulkCopy &copy, bool isFromShared,
                           bool isToShared) {
  if (copy.isGeneric)
    return "async_stores";
  if (copy.response != BulkCopy::Response::None)
    return "launch_responses";
  std::string name = copy.tensor ? "tensor_map_" : "bulk_";
  if (isFromShared && isToShared)
    return name + "exchanges";
  return name + (isToShared ? "loads" : "stores");
}

/// Whether two copies are identical.
static bool isSame(const BulkCopy &lhs, const BulkCopy &rhs) {
  auto getAddresses = [](const BulkCopy &copy) {
    return copy.tensor && !copy.tensor->box.pieces.empty()
               ? copy.tensor->box.pieces.front().global
               : 0;
  };
  return lhs.source.bytes == rhs.source.bytes &&
         lhs.destination.bytes == rhs.destination.bytes &&
         lhs.size == rhs.size && getAddresses(lhs) == getAddresses(rhs);
}

void BulkCopyUnit::record(const Warp &warp, BulkCopy &copy, const Block *from,
                          const Block *to) {
  // In shipped kernels whole warps store the same bytes, which cards do once.
  if (!copies.getCopies().empty()) {
    const BulkCopy &last = copies.getCopies().back();
    if (last.warp == &warp && isSame(last, copy) &&
        group.recorder->isOfCurrentStep(warp, last.operationId)) {
      copy.operationId = last.operationId;
      return;
    }
  }
  TraceOperation operation = {};
  operation.unit = to ? TraceUnit::BulkLoads : TraceUnit::BulkStores;
  operation.block = to ? to->number : warp.block.number;
  operation.sharedBytes = copy.getTransactionBytes();
  const Span &global = to ? copy.source : copy.destination;
  auto add = [&](const Span &span, uint64_t size) {
    operation.l2Bytes += size;
    operation.newBytes += group.recorder->touch(span, size);
  };
  if (copy.tensor) {
    for (const BoxPiece &piece : copy.tensor->box.pieces)
      if (piece.isInTensor())
        add(global.at(piece.global), piece.getGlobalSize());
  } else if (!from || !to) {
    add(global, copy.size);
  } else {
    // A copy from block to block uses the same network.
    operation.l2Bytes = copy.size;
  }
  copy.operationId = group.recorder->begin(warp, operation);
}

void BulkCopyUnit::begin(Warp &warp, BulkCopy copy) {
  warp.act();
  if (copies.getCopies().size() >= kMaxCopiesInFlight)
    return warp.fail(copy.lane, "expected at most " +
                                    llvm::Twine(kMaxCopiesInFlight) +
                                    " bulk copies in flight in a block: "
                                    "expected a wait for some before");
  Block *from = group.findBlock(copy.source),
        *to = group.findBlock(copy.destination);
  // Tensor copies of a CTA pair have looked for it themselves.
  if (copy.mbarrier && to && !copy.tensor && copy.mbarrier->block != to)
    return warp.fail(copy.lane, "expected the mbarrier object in the shared "
                                "memory of the destination, which is that of "
                                "block " +
                                    print(to->index) + ", got one of block " +
                                    print(copy.mbarrier->block->index));
  if (!copy.isGeneric)
    checkProxies(copy, from, to);
  if (group.races && from)
    group.checkRace(warp, makeAccess(copy, AccessKind::Load, *from));
  if (group.races && to)
    group.checkRace(warp, makeAccess(copy, AccessKind::Store, *to));
  if (group.races)
    copy.numStoresBefore = group.races->getNumStores();
  if (group.statistics)
    group.statistics->addBytes(getPath(copy, from, to),
                               copy.getTransactionBytes());
  if (group.recorder)
    record(warp, copy, from, to);
  copies.begin(std::move(copy));
}

void BulkCopyUnit::checkSource(const BulkCopy &copy, const Block &from) {
  RaceDetector::Access access = makeAccess(copy, AccessKind::Load, from);
  if (std::optional<RaceDetector::Conflict> store = group.races->findStore(
          access.address, access.size, copy.numStoresBefore))
    copy.warp->fail(copy.lane,
                    "race: " + group.describeConflict(*store) +
                        " changes the byte at " +
                        printHex(from.getAddress(store->address)) +
                        " in shared memory, which the copy in line " +
                        llvm::Twine(copy.line) + " may still have to read");
}

void BulkCopyUnit::wait(Warp &warp, unsigned lane, uint64_t keep,
                        bool onlyReads) {
  copies.waitGroups(warp, lane, keep, onlyReads, [&](const BulkCopy &copy) {
    Block *from = group.findBlock(copy.source);
    if (!group.races || !from)
      return;
    checkSource(copy, *from);
    group.checkRace(warp, makeAccess(copy, AccessKind::Load, *from));
  });
}

/// Reports the accesses of a copy whose mbarrier object is signaled now.
void BulkCopyUnit::noteComplete(const BulkCopy &copy) {
  SharedLocation mbarrier = *copy.mbarrier;
  Block &owner = *mbarrier.block;
  Block *from = group.findBlock(copy.source);
  Block *to = group.findBlock(copy.destination);
  if (copy.response == BulkCopy::Response::Refused)
    group.get<LaunchControlUnit>().noteRefusal(copy.warp->block);
  if (group.proxies && copy.isGeneric)
    group.proxies->store(copy.warp->number * kLanes + copy.lane,
                         owner.getByteNumber(copy.destination), copy.size);
  if (group.races) {
    uint64_t object = owner.getByteNumber(mbarrier.offset);
    Clocks &clocks = owner.mbarriers.at(mbarrier.offset).clocks;
    if (from) {
      checkSource(copy, *from);
      group.races->complete(makeAccess(copy, AccessKind::Load, *from), object,
                            clocks);
    }
    if (to)
      group.races->complete(makeAccess(copy, AccessKind::Store, *to), object,
                            clocks);
  }
  if (to && !copy.isGeneric)
    group.proxies->forget(to->getByteNumber(copy.destination), copy.size);
}

bool BulkCopyUnit::completeNext(SharedLocation mbarrier) {
  std::optional<BulkCopy> copy = copies.completeNext(mbarrier);
  if (!copy)
    return false;
  noteComplete(*copy);
  Warp &warp = *copy->warp;
  Block &owner = *mbarrier.block;
  if (group.recorder)
    group.recorder->arrive(copy->operationId, Recorder::getBarrier(mbarrier));
  if (warp.state != WarpState::Failed &&
      owner.addTransactions(warp, copy->lane, mbarrier.offset,
                            -static_cast<int64_t>(copy->getTransactionBytes())))
    owner.completeIfDue(mbarrier.offset);
  if (warp.state == WarpState::Failed) {
    warp.failure.line = copy->line;
    group.failed = &warp;
  }
  return true;
}

bool BulkCopyUnit::endBlock(Block &block) {
  for (const BulkCopy &copy : copies.getCopies()) {
    Warp &warp = *copy.warp;
    std::string name =
        &warp.block == &block ? "the block" : "block " + print(block.index);
    if (copy.mbarrier && copy.mbarrier->block == &block) {
      group.warn(warp, {copy.line, copy.lane,
                        name +
                            " ends before this copy into its shared memory is "
                            "complete: expected a wait for " +
                            block.describeMBarrier(copy.mbarrier->offset)});
    } else if (!copy.isRead && block.isOwn(copy.source)) {
      std::string text =
          name + " ends before this copy has read its shared memory: expected ";
      if (copy.mbarrier)
        return group.failAt(
            warp,
            {copy.line, copy.lane,
             text + "a barrier of the cluster behind a wait for " +
                 copy.mbarrier->block->describeMBarrier(copy.mbarrier->offset) +
                 " before"});
      text += "cp.async.bulk.wait_group before (the ISA does not say what "
              "becomes of it)";
      if (group.launch.options->checkStrict)
        return group.failAt(warp, {copy.line, copy.lane, std::move(text)});
      group.warn(warp, {copy.line, copy.lane, std::move(text)});
    }
  }
  return true;
}
