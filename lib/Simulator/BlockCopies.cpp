//===- BlockCopies.cpp - Asynchronous copies of a block -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where copies begin and complete, and what the search for races and the
// tracker of proxies are told then. Races.h says what a copy counts as.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static std::string describe(AccessKind kind, bool isAsync) {
  static constexpr const char *names[] = {"load", "store", "atomic access"};
  std::string name = names[static_cast<unsigned>(kind)];
  return isAsync ? "asynchronous " + name : name;
}

static std::string describe(const RaceDetector::Conflict &conflict) {
  return "the " + describe(conflict.kind, conflict.isAsync) + " in line " +
         std::to_string(conflict.line) + " by lane " +
         std::to_string(conflict.lane) + " of warp " +
         std::to_string(conflict.warp);
}

void Block::checkRace(Warp &warp, const RaceDetector::Access &access) {
  std::optional<RaceDetector::Conflict> conflict = races->access(access);
  if (conflict)
    warp.fail(access.lane,
              "race: this " + describe(access.kind, access.isAsync) +
                  " of the byte at " + printHex(conflict->address) +
                  " in shared memory and " + describe(*conflict) +
                  " have no barrier between");
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

RaceDetector::Access Block::makeAccess(const PendingCopy &copy,
                                       unsigned warp) const {
  RaceDetector::Access access = {};
  access.warp = warp;
  access.lane = copy.lane;
  access.line = copy.line;
  access.address = copy.destination.bytes - shared.data();
  access.size = copy.totalSize;
  access.kind = AccessKind::Store;
  access.isAsync = true;
  return access;
}

bool Block::isUnderWay(const PendingCopy &copy) const {
  return llvm::any_of(
      warps, [&](const Warp &warp) { return warp.copies.contains(copy); });
}

void Block::waitCopies(Warp &warp, std::optional<uint64_t> keep) {
  auto onComplete = [&](const PendingCopy &copy) {
    RaceDetector::Access access = makeAccess(copy, warp.index);
    if (proxies)
      proxies->store(warp.index * kLanes + copy.lane, access.address,
                     access.size);
    if (races)
      checkRace(warp, access);
  };
  if (keep)
    warp.copies.waitGroups(warp.active, *keep, onComplete);
  else
    warp.copies.waitAll(warp.active, onComplete);
}

/// Completes what stands before the next arrival of a warp at an mbarrier
/// object, and arrives; false if there is none.
bool Block::completeArrival(Warp &warp, uint32_t address) {
  std::optional<CopyQueue::Arrival> arrival =
      warp.copies.takeArrival(address, [&](const PendingCopy &copy) {
        RaceDetector::Access access = makeAccess(copy, warp.index);
        if (proxies)
          proxies->store(warp.index * kLanes + copy.lane, access.address,
                         access.size);
        if (races)
          races->complete(access, address, mbarriers.at(address).clocks);
      });
  if (!arrival)
    return false;
  if (!arrive(warp, arrival->lane, address, /*count=*/1)) {
    warp.failure.line = arrival->line;
    failed = &warp;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

/// The side of a copy that a kind of access is to.
RaceDetector::Access Block::makeAccess(const BulkCopy &copy,
                                       AccessKind kind) const {
  const Span &span = kind == AccessKind::Load ? copy.source : copy.destination;
  RaceDetector::Access access = {};
  access.warp = copy.warp;
  access.lane = copy.lane;
  access.line = copy.line;
  access.address = span.bytes - shared.data();
  access.size = copy.size;
  access.kind = kind;
  access.isAsync = true;
  return access;
}

/// What threads have stored must have passed a proxy fence, before the async
/// proxy reads or overwrites it.
void Block::checkProxy(Warp &warp, const BulkCopy &copy, const Span &span,
                       llvm::StringRef what) {
  std::optional<ProxyTracker::Store> store = proxies->findUnfenced(
      copy.warp * kLanes + copy.lane, span.bytes - shared.data(), copy.size);
  if (store)
    reportProxy(warp, copy.lane,
                "the async proxy " + what + " the byte at " +
                    printHex(store->address) +
                    " in shared memory, which lane " +
                    llvm::Twine(store->thread % kLanes) + " of warp " +
                    llvm::Twine(store->thread / kLanes) +
                    " has stored: expected fence.proxy.async between");
}

void Block::begin(Warp &warp, BulkCopy copy) {
  if (bulkCopies.getCopies().size() >= kMaxCopiesUnderWay)
    return warp.fail(copy.lane, "expected at most " +
                                    llvm::Twine(kMaxCopiesUnderWay) +
                                    " bulk copies under way in a block: "
                                    "expected a wait for some before");
  if (isShared(copy.source))
    checkProxy(warp, copy, copy.source, "reads");
  if (isShared(copy.destination)) {
    checkProxy(warp, copy, copy.destination, "writes");
    proxies->forget(copy.destination.bytes - shared.data(), copy.size);
  }
  if (copy.mbarrier && !mbarriers.at(*copy.mbarrier).isPublished)
    reportProxy(warp, copy.lane,
                "the async proxy uses the mbarrier object at " +
                    printHex(*copy.mbarrier) +
                    ", which has just been initialized: expected "
                    "fence.mbarrier_init, fence.proxy.async or a barrier "
                    "between");
  if (races && isShared(copy.source))
    checkRace(warp, makeAccess(copy, AccessKind::Load));
  if (races && isShared(copy.destination))
    checkRace(warp, makeAccess(copy, AccessKind::Store));
  if (races)
    copy.numStoresBefore = races->getNumStores();
  bulkCopies.begin(std::move(copy));
}

/// Nobody may have stored to the source while the copy was under way.
void Block::checkSource(Warp &warp, const BulkCopy &copy) {
  RaceDetector::Access access = makeAccess(copy, AccessKind::Load);
  if (std::optional<RaceDetector::Conflict> store =
          races->findStore(access.address, access.size, copy.numStoresBefore))
    warp.fail(copy.lane, "race: " + describe(*store) + " changes the byte at " +
                             printHex(store->address) +
                             " in shared memory, which the copy in line " +
                             llvm::Twine(copy.line) +
                             " may still have to read");
}

void Block::waitBulkCopies(Warp &warp, unsigned lane, uint64_t keep,
                           bool onlyReads) {
  bulkCopies.waitGroups(warp.index, lane, keep, onlyReads,
                        [&](const BulkCopy &copy) {
                          if (!races)
                            return;
                          checkSource(warp, copy);
                          checkRace(warp, makeAccess(copy, AccessKind::Load));
                        });
}

/// Completes the next bulk copy that an mbarrier object is told of; false if
/// there is none.
bool Block::completeBulkCopy(uint32_t address) {
  std::optional<BulkCopy> copy = bulkCopies.completeNext(address);
  if (!copy)
    return false;
  Warp &warp = warps[copy->warp];
  if (races) {
    Clocks &clocks = mbarriers.at(address).clocks;
    if (isShared(copy->source)) {
      checkSource(warp, *copy);
      races->complete(makeAccess(*copy, AccessKind::Load), address, clocks);
    }
    races->complete(makeAccess(*copy, AccessKind::Store), address, clocks);
  }
  if (warp.state != WarpState::Failed &&
      addTransactions(warp, copy->lane, address,
                      -static_cast<int64_t>(copy->size)))
    completeIfDue(address);
  if (warp.state == WarpState::Failed) {
    warp.failure.line = copy->line;
    failed = &warp;
  }
  return true;
}
