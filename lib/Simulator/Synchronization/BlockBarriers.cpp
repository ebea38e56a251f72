//===- BlockBarriers.cpp - Barriers of a block ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Completes phases of barriers, and gives the warps that waited their results.
//
//===----------------------------------------------------------------------===//

#include "Synchronization/BlockBarriers.h"

#include "Machine/BlockGroup.h"
#include "Trace/Recorder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

BlockBarriers::BlockBarriers(BlockGroup &group) : barriers(group.maxBlocks) {}

BlockBarrier &BlockBarriers::get(const Block &block, unsigned number) {
  return barriers[block.number][number];
}

/// How many threads a barrier without a count expects: those of warps that have
/// not ended or have arrived. A warp counts as a whole.
static uint32_t countThreads(const Block &block, const BlockBarrier &barrier) {
  return kLanes * llvm::count_if(block.warps, [&](const Warp &warp) {
           return warp.state != WarpState::Done ||
                  (barrier.warps >> warp.index & 1);
         });
}

void BlockBarriers::completeIfDue(Block &block, BlockBarrier &barrier) {
  if (barrier.arrived == 0)
    return;
  uint32_t expected =
      barrier.expectsAll ? countThreads(block, barrier) : barrier.expected;
  if (barrier.arrived < expected)
    return;
  block.group.noteProgress();
  for (const BarrierWaiter &waiter : barrier.waiting) {
    Warp &warp = block.warps[waiter.warp];
    warp.state = WarpState::Ready;
    if (block.group.races)
      block.group.races->acquire(warp.number, barrier.clocks);
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
  if (block.group.recorder)
    block.group.recorder->complete(
        {&barrier, &barrier - barriers[block.number].data()});
  barrier = BlockBarrier();
}

void BlockBarriers::endWarp(Warp &warp) {
  for (BlockBarrier &barrier : barriers[warp.block.number])
    completeIfDue(warp.block, barrier);
}

std::optional<std::string> BlockBarriers::describeWait(const Warp &warp) {
  for (auto [i, barrier] : llvm::enumerate(barriers[warp.block.number]))
    for (const BarrierWaiter &waiter : barrier.waiting)
      if (waiter.warp == warp.index)
        return "at barrier " + std::to_string(i) + " (" +
               std::to_string(barrier.arrived) + " of " +
               std::to_string(barrier.expected) + " threads have arrived)";
  return std::nullopt;
}
