//===- StagePlan.h - The loaders of all operands ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The load half of the multistage mainloop: a loader for each operand, and the
// stages that they fill.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGEPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGEPLAN_H

#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"
#include "Kernels/Gemm/Mainloop/Multistage/TileLoader.h"

namespace mlir::blockscale {

/// The extents of A's tile and of B's.
struct StageExtents {
  TileExtent a, b;

  const TileExtent &get(bool isA) const { return isA ? a : b; }
  /// That of the elements of a side; a sparse A has only the kept ones.
  TileExtent getElements(bool isA, std::optional<Granularity> sparsity) const {
    TileExtent extent = get(isA);
    if (isA)
      extent.k = getKeptElements(extent.k, sparsity);
    return extent;
  }
};

/// The extents of the tiles of A and B of a kernel with `schedule`.
StageExtents getStageExtents(MultistageScheduleAttr schedule);

/// `numStages` stages for `types`, whatever the layouts of the operands are.
/// Scales that are splats take no memory, but only the problem knows them.
Stages getStages(const TypeCombination &types, Kind kind,
                 const StageExtents &extents, int64_t numStages);

/// How a tile of the elements `operand` of `format` is filled for an
/// instruction of `kind`.
LoaderPtr planElements(const KernelOperand &operand, Format format, Kind kind,
                       const TileExtent &extent);

class StagePlan {
public:
  StagePlan(const KernelProblem &problem, Kind kind,
            const StageExtents &extents, int64_t numStages);

  const Stages &getStages() const { return stages; }
  /// Null for an operand that needs no memory.
  const TileLoader *getLoader(GemmOperand operand) const {
    return loaders[operand].get();
  }
  bool hasAsyncCopies() const;

  /// Fills the stage at byte `offset` of `shared`; `sources` are those of all
  /// operands.
  void fill(OpBuilder &b, const FillContext &context, Value shared,
            Value offset, const PerOperand<FillSource> &sources) const;

private:
  PerOperand<LoaderPtr> loaders;
  Stages stages;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_STAGEPLAN_H
