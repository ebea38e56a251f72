//===- StagePlan.cpp - The loaders of all operands ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory is counted from the same tiles that are filled.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/StagePlan.h"

using namespace mlir;
using namespace mlir::blockscale;

StageExtents blockscale::getStageExtents(MultistageScheduleAttr schedule) {
  int64_t k = schedule.getK(), threads = schedule.getNumThreads();
  return {{schedule.getM(), k, schedule.getWarpM(), threads},
          {schedule.getN(), k, schedule.getWarpN(), threads}};
}

Stages blockscale::getStages(const TypeCombination &types, Kind kind,
                             const StageExtents &extents, int64_t numStages) {
  PerOperand<SharedTile> tiles;
  for (bool isA : {true, false}) {
    const TileExtent &extent = isA ? extents.a : extents.b;
    Format format = isA ? types.lhs : types.rhs;
    // All layouts of elements, and all orders of scales, take the same bytes.
    tiles[getElementsOf(isA)] =
        getElementTile(extent, getSlot(kind, format), {});
    if (getFormatInfo(format).use != FormatUse::HighPrecision)
      tiles[getScalesOf(isA)] =
          getScaleTile(extent, types.blockSize, /*words=*/0);
  }
  return Stages(tiles, numStages);
}

/// The loaders of all operands.
static PerOperand<LoaderPtr> planLoaders(const KernelProblem &problem,
                                         Kind kind,
                                         const StageExtents &extents) {
  PerOperand<LoaderPtr> loaders;
  for (bool isA : {true, false}) {
    const TileExtent &extent = isA ? extents.a : extents.b;
    loaders[getElementsOf(isA)] =
        planElements(problem[getElementsOf(isA)],
                     isA ? problem.types.lhs : problem.types.rhs, kind, extent);
    loaders[getScalesOf(isA)] =
        planScales(problem[getScalesOf(isA)], problem.types.blockSize, extent);
  }
  return loaders;
}

static PerOperand<SharedTile> getTiles(const PerOperand<LoaderPtr> &loaders) {
  PerOperand<SharedTile> tiles;
  for (GemmOperand operand : kGemmOperands)
    if (const LoaderPtr &loader = loaders[operand])
      tiles[operand] = loader->getTile();
  return tiles;
}

StagePlan::StagePlan(const KernelProblem &problem, Kind kind,
                     const StageExtents &extents, int64_t numStages)
    : loaders(planLoaders(problem, kind, extents)),
      stages(getTiles(loaders), numStages) {}

bool StagePlan::hasAsyncCopies() const {
  return llvm::any_of(loaders, [](const LoaderPtr &loader) {
    return loader && loader->isAsync();
  });
}

void StagePlan::fill(OpBuilder &b, const FillContext &context, Value shared,
                     Value offset,
                     const PerOperand<FillSource> &sources) const {
  // Elements come first; a part of the threads is enough for scales.
  for (GemmOperand operand : kElementsFirst)
    if (const TileLoader *loader = loaders[operand].get())
      loader->emit(b, context,
                   stages.getMemory(b, context.loc, shared, offset, operand,
                                    loader->getElementType(context)),
                   sources[operand]);
}
