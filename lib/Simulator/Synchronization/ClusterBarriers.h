//===- ClusterBarriers.h - The barriers of clusters -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cluster has one barrier, at which warps arrive and wait in turns. A phase
// is complete when all warps have arrived that have not exited; the next one
// begins when they have waited, too.
//
// Source: PTX ISA, section 9.7.13.3 "barrier.cluster".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_CLUSTERBARRIERS_H
#define BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_CLUSTERBARRIERS_H

#include "Machine/AsyncUnit.h"
#include "Memory/Races.h"

namespace mlir::blockscale::sim {

class ClusterBarrier {
public:
  /// Of `numWarps` warps of the group, from number `firstWarp` on.
  ClusterBarrier(BlockGroup &group, unsigned firstWarp, unsigned numWarps)
      : group(group), firstWarp(firstWarp), progress(numWarps) {}

  /// A warp arrives; fails if it has not waited since it did last.
  void arrive(Warp &warp, bool releases);
  /// A warp waits for the phase that it has arrived at; fails if there is none.
  void wait(Warp &warp);
  /// Lets go those who wait, if nobody is missing.
  void completeIfDue();

  bool isAwaitedBy(const Warp &warp) const {
    return getProgress(warp) == Progress::Waits;
  }
  /// What those who wait do: they are at the barrier, and who is missing.
  std::string describe() const;

private:
  /// Of a warp, in the order in which it gets there.
  enum class Progress : uint8_t { None, HasArrived, Waits, IsComplete };

  /// A warp leaves the phase that is complete.
  void passOn(Warp &warp);
  Progress getProgress(const Warp &warp) const;
  bool isMissing(unsigned index) const;
  Warp &getWarp(unsigned index) const;

  BlockGroup &group;
  const unsigned firstWarp;
  /// By number of the warp in the cluster.
  std::vector<Progress> progress;
  /// For the search for races: the clocks of those who have arrived, and as
  /// they were when the last phase was complete.
  Clocks clocks, completeClocks;
};

/// Those of all clusters of a group.
class ClusterBarriers final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::ClusterBarriers;

  explicit ClusterBarriers(BlockGroup &group);

  /// The barrier of the cluster that a block belongs to.
  ClusterBarrier &get(const Block &block);

  std::optional<std::string> describeWait(const Warp &warp) override;
  void endWarp(Warp &warp) override;

private:
  std::vector<ClusterBarrier> barriers;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_CLUSTERBARRIERS_H
