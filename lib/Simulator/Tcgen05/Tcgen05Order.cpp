//===- Tcgen05Order.cpp - The order of accesses of tensor memory ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules for two accesses of a cell, at least one of them a write: the first
// must be complete, the warp of the second must be ordered behind it, and there
// must be fences.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Tcgen05Engine.h"

#include "Machine/BlockGroup.h"
#include "SharedDescriptors/SharedTile.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static std::string describeAddress(const TensorRegion &region) {
  unsigned lane = 0;
  while (lane != kTensorLanes - 1 && !region.lanes.test(lane))
    ++lane;
  return printHex(Tcgen05Address{lane, region.column}.encode()) + " (lane " +
         std::to_string(lane) + ", column " + std::to_string(region.column) +
         ")";
}

/// Whether two tensor core instructions of one thread are executed in order
/// (pipelined).
static bool isPipeline(const Tcgen05Access &first, const Tcgen05Access &next,
                       const Tcgen05Use &use) {
  using Kind = Tcgen05AccessKind;
  switch (next.kind) {
  case Kind::Multiply:
    if (first.kind == Kind::Multiply)
      return use.isAccumulator && first.accumulator == next.accumulator;
    return first.kind == Kind::Copy || first.kind == Kind::CopyOf4 ||
           first.kind == Kind::Shift;
  case Kind::CopyOf4:
    return first.kind == Kind::Shift;
  case Kind::Shift:
    return first.kind == Kind::Multiply;
  default:
    return false;
  }
}

/// Reports what is missing before an instruction, once for each instruction.
/// False if that is an error.
bool Tcgen05Engine::report(Warp &warp, unsigned lane,
                           llvm::function_ref<std::string()> describe) {
  if (!hasReported)
    warp.block.reportProxy(warp, lane, describe());
  hasReported = true;
  return warp.state != WarpState::Failed;
}

/// Whether a warp is ordered behind the completion of an access, or behind the
/// issue of an ld or st, and, with `isFenced`, has executed the fence behind
/// that; true without race detection.
bool Tcgen05Engine::isKnown(const Warp &warp, const Tcgen05Access &first,
                            bool isFenced) {
  return !group.races ||
         group.races->isKnown(warp.number, first.time, isFenced);
}

static bool isCopy(Tcgen05AccessKind kind) {
  return kind == Tcgen05AccessKind::Copy || kind == Tcgen05AccessKind::CopyOf4;
}

static constexpr const char *kIncomplete =
    ", and the first of them may not be complete: expected ";

/// Checks two accesses, one of which writes; `firstReads` if the first one only
/// reads.
bool Tcgen05Engine::checkPair(Warp &warp, unsigned lane,
                              const Tcgen05Access &first, bool firstReads,
                              const Tcgen05Access &next,
                              const Tcgen05Use &use) {
  auto describePair = [&] {
    return describe(first) + " and this " + getName(next.kind).str() +
           " access " + describeAddress(use.region) + " of tensor memory";
  };
  bool isSameThread = first.isCommitted() && next.isCommitted() &&
                      first.warp == next.warp && first.lanes == next.lanes;
  if (isSameThread && isPipeline(first, next, use))
    return true;
  bool areOrdered =
      first.isCommitted() && next.isCommitted() && isPipeline(first, next, use);
  bool isKnownComplete =
      first.completed && isKnown(warp, first, /*isFenced=*/false);
  if (!isKnownComplete) {
    // Shipped code also relies on cp being ordered behind mma and cp.
    if (isSameThread && isCopy(next.kind) &&
        (first.kind == Tcgen05AccessKind::Multiply || isCopy(first.kind)))
      return report(warp, lane, [&] {
        return describePair() +
               ", and nothing orders them: expected tcgen05.commit and a wait "
               "for it between";
      });
    // Shipped code also relies on an mma being ordered before one that
    // overwrites its A with D.
    if (isSameThread && firstReads &&
        first.kind == Tcgen05AccessKind::Multiply &&
        next.kind == Tcgen05AccessKind::Multiply)
      return warp.block.reportStrict(
          warp, lane,
          describePair() +
              ", which changes cells that the first may still read: expected "
              "tcgen05.commit and a wait for it between",
          "PTX ISA, \"Pipelined tcgen05 Instructions\"");
    if (!areOrdered && first.isCommitted() && !first.completed)
      return warp.error(lane, describePair() + kIncomplete +
                                  "tcgen05.commit and a wait for it between");
    if (!areOrdered && !isKnown(warp, first, /*isFenced=*/false))
      return warp.error(lane,
                        "race: " + describePair() + " have no barrier between");
    // Shipped code signals after ld and st without a wait for them.
    if (!areOrdered &&
        !warp.block.reportStrict(warp, lane,
                                 describePair() + kIncomplete +
                                     (first.kind == Tcgen05AccessKind::Load
                                          ? "tcgen05.wait::ld"
                                          : "tcgen05.wait::st") +
                                     " between",
                                 "PTX ISA, tcgen05.wait"))
      return false;
  }
  const char *missing = fences.findMissing(first, warp.number, next.lanes);
  if (!missing && !areOrdered && !isKnown(warp, first, /*isFenced=*/true))
    missing = "tcgen05.fence::after_thread_sync";
  if (missing)
    return report(warp, lane, [&] {
      return describePair() + " without " + missing + " between";
    });
  return true;
}

bool Tcgen05Engine::checkOrder(Warp &warp, unsigned lane,
                               const Tcgen05Access &next,
                               const Tcgen05Use &use) {
  bool isGood = true;
  getMemory(*use.block)
      .forEachAccess(use.region, use.isWrite, [&](uint32_t number, bool reads) {
        isGood =
            isGood && checkPair(warp, lane, accesses[number], reads, next, use);
      });
  return isGood;
}

/// An instruction must not also read the cells that it writes.
bool Tcgen05Engine::checkOverlap(Warp &warp, unsigned lane,
                                 llvm::ArrayRef<Tcgen05Use> uses) {
  for (auto [i, use] : llvm::enumerate(uses))
    for (const Tcgen05Use &other : uses.drop_front(i + 1)) {
      if (use.block != other.block || (!use.isWrite && !other.isWrite) ||
          !use.region.overlaps(other.region))
        continue;
      return warp.error(lane,
                        "expected cells of its own for each operand, but those "
                        "from " +
                            describeAddress(use.region) + " and from " +
                            describeAddress(other.region) + " on overlap");
    }
  return true;
}

uint32_t Tcgen05Engine::note(const Tcgen05Access &access,
                             llvm::ArrayRef<Tcgen05Use> uses) {
  uint32_t number = accesses.size();
  accesses.push_back(access);
  // Writes come last, as they replace the noted reads.
  for (bool isWrite : {false, true})
    for (const Tcgen05Use &use : uses) {
      if (use.isWrite != isWrite)
        continue;
      if (isWrite)
        getMemory(*use.block).noteWrite(use.region, number);
      else
        getMemory(*use.block)
            .noteRead(use.region, number,
                      2 * access.warp + access.isCommitted());
    }
  return number;
}
