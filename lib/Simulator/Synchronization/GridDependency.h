//===- GridDependency.h - Kernels that start early --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a card a kernel of a programmatic launch may start while the one in front
// of it still runs. Here kernels run one after another, so that nothing goes
// wrong; under the search for races it is an error if something could.
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

  /// A warp has waited for the end of the kernel in front.
  void wait(Warp &warp);
  /// A warp accesses global memory: fails if nothing puts that behind the end
  /// of the kernel in front, but for loads of what no kernel stores to.
  void access(Warp &warp, const WarpAccess &access);

  /// Without a wait in each block, the kernel could end before the one in
  /// front, which a third one would not know of.
  bool endBlock(Block &block) override;

private:
  bool isWatched() const;

  BlockGroup &group;
  /// The numbers of blocks that have waited.
  std::set<unsigned> waited;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_GRIDDEPENDENCY_H
