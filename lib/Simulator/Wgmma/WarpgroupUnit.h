//===- WarpgroupUnit.h - wgmma of a group of blocks -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The wgmma operations in flight in the warps of a group, and the instructions
// that each warpgroup has executed.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPUNIT_H
#define BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPUNIT_H

#include "Machine/AsyncUnit.h"
#include "Wgmma/WarpgroupQueue.h"
#include "Wgmma/WarpgroupSequence.h"

namespace mlir::blockscale::sim {

class WarpgroupUnit final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::Warpgroups;

  explicit WarpgroupUnit(BlockGroup &group);

  WarpgroupQueue &getQueue(const Warp &warp);
  /// The time when a multiplication is complete, for race detection; nothing
  /// without it.
  std::optional<AgentTime> getTime(const Warp &warp, uint64_t number);
  /// The sequence of the warp's warpgroup; null if the block does not have all
  /// of its warps.
  WarpgroupSequence *getSequence(const Warp &warp);

  /// A warp executes its next instruction; false after a failure.
  bool note(Warp &warp, const WarpgroupStep &step);
  /// Called before a warp waits for all groups but the `keep` most recent ones.
  /// A multiplication completes, for all four warps, when all of them have
  /// issued it; false while one has not, and after a failure.
  bool completeReads(Warp &warp, uint64_t keep);

  bool watchesSteps() const override { return true; }
  /// Called before another instruction uses registers.
  bool beginStep(Warp &warp, const Step &step) override;
  bool endFunction(Warp &warp) override;

private:
  /// By number of the warp.
  std::vector<WarpgroupQueue> queues;
  /// How many warpgroups of a block have four whole warps.
  unsigned numWarpgroups;
  std::vector<WarpgroupSequence> sequences;
  /// Warps that wait for others of their warpgroup.
  std::vector<Warp *> waiting;
};

/// The unit of a warp's group.
WarpgroupUnit &getWarpgroups(const Warp &warp);

/// Fails unless the whole warp executes `what`, in a block that has all four
/// warps of its warpgroup.
bool requireWarpgroup(Warp &warp, llvm::StringRef what);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPUNIT_H
