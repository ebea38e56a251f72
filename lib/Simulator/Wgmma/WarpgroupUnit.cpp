//===- WarpgroupUnit.cpp - wgmma of a group of blocks ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forwards events of warps to their queues and sequences.
//
//===----------------------------------------------------------------------===//

#include "Wgmma/WarpgroupUnit.h"

#include "Machine/BlockGroup.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

WarpgroupUnit::WarpgroupUnit(BlockGroup &group)
    : queues(group.maxBlocks * group.launch.getNumWarps()),
      numWarpgroups(group.launch.getNumThreads() /
                    (kWarpsOfWarpgroup * kLanes)),
      sequences(group.maxBlocks * numWarpgroups) {}

WarpgroupUnit &sim::getWarpgroups(const Warp &warp) {
  return warp.block.group.get<WarpgroupUnit>();
}

WarpgroupQueue &WarpgroupUnit::getQueue(const Warp &warp) {
  return queues[warp.number];
}

std::optional<AgentTime> WarpgroupUnit::getTime(const Warp &warp,
                                                uint64_t number) {
  RaceDetector *races = warp.block.group.races.get();
  if (!races)
    return std::nullopt;
  return races->getMultiplication(warp.block.number * numWarpgroups +
                                      warp.index / kWarpsOfWarpgroup,
                                  number);
}

WarpgroupSequence *WarpgroupUnit::getSequence(const Warp &warp) {
  unsigned index = warp.index / kWarpsOfWarpgroup;
  if (index >= numWarpgroups)
    return nullptr;
  return &sequences[warp.block.number * numWarpgroups + index];
}

bool WarpgroupUnit::note(Warp &warp, const WarpgroupStep &step) {
  for (Warp *peer : waiting)
    if (peer->state == WarpState::Waiting)
      peer->state = WarpState::Ready;
  waiting.clear();
  return getSequence(warp)->note(warp, step);
}

bool WarpgroupUnit::completeReads(Warp &warp, uint64_t keep) {
  std::optional<uint64_t> last = getQueue(warp).getLastAwaited(keep);
  if (!last)
    return true;
  WarpgroupSequence &sequence = *getSequence(warp);
  if (!sequence.haveAll(*last)) {
    unsigned missing = sequence.findMissing(warp, *last);
    warp.wait("for a wgmma.mma_async that warp " + std::to_string(missing) +
                  " has not issued",
              /*retries=*/true);
    waiting.push_back(&warp);
    return false;
  }
  unsigned first = warp.index - warp.index % kWarpsOfWarpgroup;
  for (unsigned i = 0; i != kWarpsOfWarpgroup; ++i) {
    Warp &peer = warp.block.warps[first + i];
    getQueue(peer).endReads(warp, *last);
  }
  if (std::optional<AgentTime> time = getTime(warp, *last))
    warp.block.group.races->learn(warp.number, *time);
  return warp.state != WarpState::Failed;
}

bool WarpgroupUnit::beginStep(Warp &warp, const Step &step) {
  return getQueue(warp).access(warp, step);
}

bool WarpgroupUnit::endFunction(Warp &warp) {
  if (!getQueue(warp).leave(warp))
    return false;
  WarpgroupSequence *sequence = getSequence(warp);
  bool isLast = warp.frames.size() == 1;
  return !isLast || !sequence || sequence->end(warp);
}

bool sim::requireWarpgroup(Warp &warp, llvm::StringRef what) {
  if (!warp.requireWholeWarp(what))
    return false;
  if (getWarpgroups(warp).getSequence(warp))
    return true;
  return warp.error(0, what + " expected a warpgroup of " +
                           llvm::Twine(kWarpsOfWarpgroup) +
                           " whole warps, but the block has " +
                           llvm::Twine(warp.block.launch.getNumThreads()) +
                           " threads, which end in warp " +
                           llvm::Twine(warp.block.launch.getNumWarps() - 1));
}
