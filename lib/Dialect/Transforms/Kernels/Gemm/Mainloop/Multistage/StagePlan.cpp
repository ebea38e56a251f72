//===- StagePlan.cpp - What is brought to shared memory, and how ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One plan for a kernel: its memory is counted from the same tiles that are
// filled.
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
  SmallVector<SharedTile, kNumOperands> tiles;
  for (auto [extent, format] : {std::make_pair(extents.a, types.lhs),
                                std::make_pair(extents.b, types.rhs)}) {
    // All layouts of elements, and all orders of scales, take the same bytes.
    tiles.push_back(getElementTile(extent, getSlot(kind, format), {}));
    bool areNumbers = getFormatInfo(format).use == FormatUse::HighPrecision;
    tiles.push_back(areNumbers
                        ? SharedTile()
                        : getScaleTile(extent, types.blockSize, /*words=*/0));
  }
  return Stages(tiles, numStages);
}

/// The loaders of all operands.
static std::array<LoaderPtr, kNumOperands>
planLoaders(const KernelProblem &problem, Kind kind,
            const StageExtents &extents) {
  const TypeCombination &types = problem.types;
  return {planElements(problem.x, types.lhs, kind, extents.a),
          planScales(problem.xScale, types.blockSize, extents.a),
          planElements(problem.y, types.rhs, kind, extents.b),
          planScales(problem.yScale, types.blockSize, extents.b)};
}

static SmallVector<SharedTile, kNumOperands>
getTiles(ArrayRef<LoaderPtr> loaders) {
  SmallVector<SharedTile, kNumOperands> tiles;
  for (const LoaderPtr &loader : loaders)
    tiles.push_back(loader ? loader->getTile() : SharedTile());
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
                     Value offset, ArrayRef<FillSource> sources) const {
  // Elements first; for scales, some of the threads are enough.
  for (unsigned i : {0, 2, 1, 3})
    if (const TileLoader *loader = loaders[i].get())
      loader->emit(b, context,
                   stages.getMemory(b, context.loc, shared, offset, i,
                                    loader->getElementType(context)),
                   sources[i]);
}
