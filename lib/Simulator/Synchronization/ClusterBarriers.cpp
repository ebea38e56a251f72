//===- ClusterBarriers.cpp - The barriers of clusters ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Completes phases of the barrier of a cluster, and finds the warps that are
// missing.
//
//===----------------------------------------------------------------------===//

#include "Synchronization/ClusterBarriers.h"

#include "Machine/BlockGroup.h"
#include "Trace/Recorder.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

ClusterBarrier::Progress ClusterBarrier::getProgress(const Warp &warp) const {
  return progress[warp.number - firstWarp];
}

Warp &ClusterBarrier::getWarp(unsigned index) const {
  return group.getWarp(firstWarp + index);
}

/// Whether a warp has yet to arrive at this phase, before which it has to wait
/// for the previous one. Warps that have exited need not arrive.
bool ClusterBarrier::isMissing(unsigned index) const {
  bool hasArrived = progress[index] == Progress::HasArrived ||
                    progress[index] == Progress::Waits;
  return !hasArrived && getWarp(index).state != WarpState::Done;
}

void ClusterBarrier::arrive(Warp &warp, bool releases) {
  Progress &own = progress[warp.number - firstWarp];
  if (own != Progress::None)
    return warp.fail(__builtin_ctz(warp.active),
                     "barrier.cluster.arrive expected a barrier.cluster.wait "
                     "before, but this warp arrives a second time without one");
  own = Progress::HasArrived;
  if (group.recorder)
    group.recorder->arrive(warp, {this, Recorder::kOfCluster});
  if (group.races && releases)
    group.races->release(warp.number, clocks);
  else if (group.races)
    group.races->releaseFenced(warp.number, clocks);
  group.noteProgress();
  completeIfDue();
}

void ClusterBarrier::wait(Warp &warp) {
  Progress &own = progress[warp.number - firstWarp];
  switch (own) {
  case Progress::None:
  case Progress::Waits:
    return warp.fail(__builtin_ctz(warp.active),
                     "barrier.cluster.wait expected a barrier.cluster.arrive "
                     "of this warp before, got none");
  case Progress::HasArrived:
    own = Progress::Waits;
    if (group.recorder)
      group.recorder->awaitCurrent(warp, {this, Recorder::kOfCluster});
    return warp.wait("at the barrier of the cluster", /*retries=*/false);
  case Progress::IsComplete:
    if (group.recorder)
      group.recorder->awaitLast(warp, {this, Recorder::kOfCluster});
    return passOn(warp);
  }
}

void ClusterBarrier::passOn(Warp &warp) {
  progress[warp.number - firstWarp] = Progress::None;
  if (group.races)
    group.races->acquire(warp.number, completeClocks);
}

void ClusterBarrier::completeIfDue() {
  bool hasBegun = false;
  for (unsigned i = 0; i != progress.size(); ++i) {
    if (isMissing(i))
      return;
    hasBegun |=
        progress[i] == Progress::HasArrived || progress[i] == Progress::Waits;
  }
  if (!hasBegun)
    return;
  completeClocks = clocks;
  if (group.recorder)
    group.recorder->complete({this, Recorder::kOfCluster});
  group.noteProgress();
  for (unsigned i = 0; i != progress.size(); ++i) {
    if (progress[i] == Progress::HasArrived)
      progress[i] = Progress::IsComplete;
    if (progress[i] != Progress::Waits)
      continue;
    Warp &warp = getWarp(i);
    warp.state = WarpState::Ready;
    passOn(warp);
  }
}

std::string ClusterBarrier::describe() const {
  unsigned numMissing = 0, first = 0;
  for (unsigned i = progress.size(); i-- != 0;)
    if (isMissing(i)) {
      first = i;
      ++numMissing;
    }
  return "at the barrier of the cluster (" +
         std::to_string(progress.size() - numMissing) + " of " +
         std::to_string(progress.size()) + " warps have arrived, " +
         group.describeWarp(firstWarp + first) + " has not)";
}

//===----------------------------------------------------------------------===//
// All clusters of a group
//===----------------------------------------------------------------------===//

ClusterBarriers::ClusterBarriers(BlockGroup &group) {
  unsigned numWarps = group.clusterSize * group.launch.getNumWarps();
  for (unsigned i = 0; i != group.maxBlocks / group.clusterSize; ++i)
    barriers.emplace_back(group, i * numWarps, numWarps);
}

ClusterBarrier &ClusterBarriers::get(const Block &block) {
  return barriers[block.number / block.group.clusterSize];
}

std::optional<std::string> ClusterBarriers::describeWait(const Warp &warp) {
  const ClusterBarrier &barrier = get(warp.block);
  if (!barrier.isAwaitedBy(warp))
    return std::nullopt;
  return barrier.describe();
}

void ClusterBarriers::endWarp(Warp &warp) { get(warp.block).completeIfDue(); }
