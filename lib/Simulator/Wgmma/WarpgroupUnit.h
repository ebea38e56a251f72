//===- WarpgroupUnit.h - wgmma of a group of blocks -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What wgmma has under way in the warps of a group, and what the warps of each
// warpgroup have executed.
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
  /// When a multiplication is over, for the search for races; nothing where
  /// nobody searches.
  std::optional<AgentTime> getTime(const Warp &warp, uint64_t number);
  /// That of the warp's warpgroup; null where that is not whole.
  WarpgroupSequence *getSequence(const Warp &warp);

  /// A warp executes its next instruction; false after a failure.
  bool note(Warp &warp, const WarpgroupStep &step);
  /// A warp is about to wait for all groups but the `keep` most recent ones. A
  /// multiplication is over when all four warps have issued it: false as long
  /// as one has not, and after a failure. Then it is over for all four.
  bool completeReads(Warp &warp, uint64_t keep);

  bool watchesSteps() const override { return true; }
  /// Another instruction is about to use registers.
  bool beginStep(Warp &warp, const Step &step) override;
  bool endFunction(Warp &warp) override;

private:
  /// By number of the warp.
  std::vector<WarpgroupQueue> queues;
  /// Of each block, those whose warps are all whole.
  unsigned numWarpgroups;
  std::vector<WarpgroupSequence> sequences;
  /// Those that wait for others of their warpgroup.
  std::vector<Warp *> waiting;
};

/// That of the group of a warp.
WarpgroupUnit &getWarpgroups(const Warp &warp);

/// Fails unless the whole warp executes `what`, in a block that has all four
/// warps of its warpgroup.
bool requireWarpgroup(Warp &warp, llvm::StringRef what);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPUNIT_H
