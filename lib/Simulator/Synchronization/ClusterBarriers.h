//===- ClusterBarriers.h - The barriers of clusters -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cluster has one barrier, at which each warp alternately arrives and waits.
// A phase is complete when all warps that have not exited have arrived; the
// next one begins when they have also waited.
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
  /// For `numWarps` warps of the group, from number `firstWarp` on.
  ClusterBarrier(BlockGroup &group, unsigned firstWarp, unsigned numWarps)
      : group(group), firstWarp(firstWarp), progress(numWarps) {}

  /// A warp arrives; fails if it has not waited since its last arrival.
  void arrive(Warp &warp, bool releases);
  /// A warp waits for the phase at which it has arrived; fails if there is
  /// none.
  void wait(Warp &warp);
  /// Wakes the warps that wait if none is missing.
  void completeIfDue();

  bool isAwaitedBy(const Warp &warp) const {
    return getProgress(warp) == Progress::Waits;
  }
  /// Describes the wait at the barrier, and the missing warps.
  std::string describe() const;

private:
  /// The states of a warp, in order.
  enum class Progress : uint8_t { None, HasArrived, Waits, IsComplete };

  /// A warp leaves the completed phase.
  void passOn(Warp &warp);
  Progress getProgress(const Warp &warp) const;
  bool isMissing(unsigned index) const;
  Warp &getWarp(unsigned index) const;

  BlockGroup &group;
  const unsigned firstWarp;
  /// By number of the warp in the cluster.
  std::vector<Progress> progress;
  /// For race detection: the merged clocks of the warps that have arrived, and
  /// those of the last completed phase.
  Clocks clocks, completeClocks;
};

/// The barriers of all clusters of a group.
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
