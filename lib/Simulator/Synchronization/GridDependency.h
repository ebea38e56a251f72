//===- GridDependency.h - Kernels that start early --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a card, a kernel of a programmatic launch may start while the previous
// kernel still runs. Here kernels run one after another, so results are right;
// with race detection, accesses that could come too early on a card are errors.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_GRIDDEPENDENCY_H
#define BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_GRIDDEPENDENCY_H

#include "Machine/AsyncUnit.h"

#include <set>

namespace mlir::blockscale::sim {

struct WarpAccess;

class GridDependency final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::GridDependency;

  explicit GridDependency(BlockGroup &group) : group(group) {}

  /// A warp has waited for the end of the previous kernel.
  void wait(Warp &warp);
  /// A warp lets the next kernel start.
  void startNext(Warp &warp);
  /// A warp accesses global memory; fails if the access is not ordered behind
  /// the end of the previous kernel, except for loads of memory to which only
  /// kernels have stored that ended before this one started.
  void access(Warp &warp, const WarpAccess &access);

  /// Fails if the block has not waited: the kernel could end before the
  /// previous one, and a third kernel could start too early.
  bool endBlock(Block &block) override;

private:
  bool isWatched() const;

  BlockGroup &group;
  /// The numbers of blocks that have waited.
  std::set<unsigned> waited;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_GRIDDEPENDENCY_H
