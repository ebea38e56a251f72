//===- CpAsyncUnit.h - cp.async of a group of blocks ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cp.async copies that warps have begun, and the arrivals at mbarrier
// objects that wait for them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_CPASYNCUNIT_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_CPASYNCUNIT_H

#include "Copies/CpAsyncQueue.h"
#include "Machine/AsyncUnit.h"

namespace mlir::blockscale::sim {

class CpAsyncUnit final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::CpAsync;

  explicit CpAsyncUnit(BlockGroup &group);

  CpAsyncQueue &getQueue(const Warp &warp);
  /// Whether the same copy is under way already in the block, so that its
  /// destination may be pending.
  bool isInFlight(const Block &block, const PendingCopy &copy);
  /// Completes the copies of the active lanes but those of the `keep` most
  /// recent groups; without a number, all of them.
  void wait(Warp &warp, std::optional<uint64_t> keep);

  bool completeNext(SharedLocation mbarrier) override;

private:
  /// Notes the bytes of a copy as stored by its thread.
  void noteStore(const PendingCopy &copy, const Warp &warp);
  bool completeArrival(Warp &warp, uint32_t offset);

  BlockGroup &group;
  /// By number of the warp.
  std::vector<CpAsyncQueue> queues;
};

/// The unit of a warp's group.
CpAsyncUnit &getCpAsync(const Warp &warp);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_CPASYNCUNIT_H
