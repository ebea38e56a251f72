//===- GroupBulkCopies.cpp - Bulk copies of a group of blocks -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where bulk copies begin and complete, and what the search for races and the
// tracker of proxies are told then. Races.h says what a copy counts as.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static std::string describe(AccessKind kind, bool isAsync) {
  static constexpr const char *names[] = {"load", "store", "atomic access"};
  std::string name = names[static_cast<unsigned>(kind)];
  return isAsync ? "asynchronous " + name : name;
}

std::string
BlockGroup::describeConflict(const RaceDetector::Conflict &conflict) {
  return "the " + describe(conflict.kind, conflict.isAsync) + " in line " +
         std::to_string(conflict.line) + " by lane " +
         std::to_string(conflict.lane) + " of " + describeWarp(conflict.warp);
}

void BlockGroup::checkRace(Warp &warp, const RaceDetector::Access &access) {
  std::optional<RaceDetector::Conflict> conflict = races->access(access);
  if (conflict)
    warp.fail(access.lane,
              "race: this " + describe(access.kind, access.isAsync) +
                  " of the byte at " +
                  printHex(warp.block.getAddress(conflict->address)) +
                  " in shared memory and " + describeConflict(*conflict) +
                  " have no barrier between");
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

void BlockGroup::checkProxy(const BulkCopy &copy, const Span &span,
                            const Block &block, llvm::StringRef what) {
  std::optional<ProxyTracker::Store> store =
      proxies->findUnfenced(copy.warp->number * kLanes + copy.lane,
                            block.getByteNumber(span), copy.size);
  if (store)
    block.reportProxy(*copy.warp, copy.lane,
                      "the async proxy " + what + " the byte at " +
                          printHex(block.getAddress(store->address)) +
                          " in shared memory, which lane " +
                          llvm::Twine(store->thread % kLanes) + " of " +
                          describeWarp(store->thread / kLanes) +
                          " has stored: expected fence.proxy.async between");
}

/// What the async proxy is to see has to be there; `from` and `to` are null
/// where the copy does not go from or to shared memory.
void BlockGroup::checkProxies(const BulkCopy &copy, Block *from, Block *to) {
  if (from)
    checkProxy(copy, copy.source, *from, "reads");
  if (to) {
    checkProxy(copy, copy.destination, *to, "writes");
    proxies->forget(to->getByteNumber(copy.destination), copy.size);
  }
  if (copy.mbarrier)
    copy.mbarrier->block->checkPublished(*copy.warp, copy.lane,
                                         copy.mbarrier->offset);
}

/// What statistics call the way of a copy.
static std::string getPath(const BulkCopy &copy, bool isFromShared,
                           bool isToShared) {
  if (copy.isGeneric)
    return "async_stores";
  std::string name = copy.tensor ? "tensor_map_" : "bulk_";
  if (isFromShared && isToShared)
    return name + "exchanges";
  return name + (isToShared ? "loads" : "stores");
}

void BlockGroup::begin(Warp &warp, BulkCopy copy) {
  if (bulkCopies.getCopies().size() >= kMaxCopiesUnderWay)
    return warp.fail(copy.lane, "expected at most " +
                                    llvm::Twine(kMaxCopiesUnderWay) +
                                    " bulk copies under way in a block: "
                                    "expected a wait for some before");
  Block *from = findBlock(copy.source), *to = findBlock(copy.destination);
  // Tensor copies of a pair of blocks have looked for it themselves.
  if (copy.mbarrier && to && !copy.tensor && copy.mbarrier->block != to)
    return warp.fail(copy.lane, "expected the mbarrier object in the shared "
                                "memory of the destination, which is that of "
                                "block " +
                                    print(to->index) + ", got one of block " +
                                    print(copy.mbarrier->block->index));
  if (!copy.isGeneric)
    checkProxies(copy, from, to);
  if (races && from)
    checkRace(warp, makeAccess(copy, AccessKind::Load, *from));
  if (races && to)
    checkRace(warp, makeAccess(copy, AccessKind::Store, *to));
  if (races)
    copy.numStoresBefore = races->getNumStores();
  if (statistics)
    statistics->addBytes(getPath(copy, from, to), copy.getTransactionBytes());
  bulkCopies.begin(std::move(copy));
}

void BlockGroup::checkSource(const BulkCopy &copy, const Block &from) {
  RaceDetector::Access access = makeAccess(copy, AccessKind::Load, from);
  if (std::optional<RaceDetector::Conflict> store =
          races->findStore(access.address, access.size, copy.numStoresBefore))
    copy.warp->fail(copy.lane,
                    "race: " + describeConflict(*store) +
                        " changes the byte at " +
                        printHex(from.getAddress(store->address)) +
                        " in shared memory, which the copy in line " +
                        llvm::Twine(copy.line) + " may still have to read");
}

void BlockGroup::waitBulkCopies(Warp &warp, unsigned lane, uint64_t keep,
                                bool onlyReads) {
  bulkCopies.waitGroups(warp, lane, keep, onlyReads, [&](const BulkCopy &copy) {
    Block *from = findBlock(copy.source);
    if (!races || !from)
      return;
    checkSource(copy, *from);
    checkRace(warp, makeAccess(copy, AccessKind::Load, *from));
  });
}

bool BlockGroup::completeBulkCopy(SharedPlace mbarrier) {
  std::optional<BulkCopy> copy = bulkCopies.completeNext(mbarrier);
  if (!copy)
    return false;
  Warp &warp = *copy->warp;
  Block &owner = *mbarrier.block;
  if (proxies && copy->isGeneric)
    proxies->store(warp.number * kLanes + copy->lane,
                   owner.getByteNumber(copy->destination), copy->size);
  if (races) {
    uint64_t object = owner.getByteNumber(mbarrier.offset);
    Clocks &clocks = owner.mbarriers.at(mbarrier.offset).clocks;
    if (Block *from = findBlock(copy->source)) {
      checkSource(*copy, *from);
      races->complete(makeAccess(*copy, AccessKind::Load, *from), object,
                      clocks);
    }
    if (Block *to = findBlock(copy->destination))
      races->complete(makeAccess(*copy, AccessKind::Store, *to), object,
                      clocks);
  }
  Block *written = copy->isGeneric ? nullptr : findBlock(copy->destination);
  if (written)
    proxies->forget(written->getByteNumber(copy->destination), copy->size);
  if (warp.state != WarpState::Failed &&
      owner.addTransactions(warp, copy->lane, mbarrier.offset,
                            -static_cast<int64_t>(copy->getTransactionBytes())))
    owner.completeIfDue(mbarrier.offset);
  if (warp.state == WarpState::Failed) {
    warp.failure.line = copy->line;
    failed = &warp;
  }
  return true;
}
