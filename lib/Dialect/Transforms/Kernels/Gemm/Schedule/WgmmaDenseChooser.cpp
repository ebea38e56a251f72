//===- WgmmaDenseChooser.cpp - Schedules of dense wgmma -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of 128 x 256, or smaller ones where these are too few for all SMs. This
// chooser comes last in its path: it takes all that the mixed-input and the
// GEMV chooser leave.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "Kernels/Gemm/Schedule/ProductBounds.h"
#include "Kernels/Gemm/Schedule/PromotedSchedules.h"
#include "Kernels/Gemm/Schedule/WgmmaChooser.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaDenseChooser final : public WgmmaChooser {
public:
  ScheduleInterface choose(ScheduledProduct product) const override;
  SmallVector<AlternativeAttr>
  getAlternatives(ScheduledProduct product) const override {
    if (product.op.getPromotion())
      return getPromotedWgmmaAlternatives(product);
    return {};
  }
  SmallVector<ScheduleInterface>
  getCandidates(ScheduledProduct product) const override;
  void explain(ScheduledProduct product, ScheduleInterface given, bool,
               raw_ostream &os) const override;

protected:
  LogicalResult verifyKernel(ScheduledProduct product,
                             WarpSpecializedScheduleAttr schedule,
                             EmitErrorFn emitError) const override;
};
} // namespace

/// Whether all matrices of y would be dequantized to memory in front, those of
/// groups without rows, too.
static bool isDequantizedForGroups(ScheduledProduct product) {
  return product.op.getRowGroups() && findQuantizedB(product.op);
}

LogicalResult
WgmmaDenseChooser::verifyKernel(ScheduledProduct product,
                                WarpSpecializedScheduleAttr schedule,
                                EmitErrorFn emitError) const {
  if (product.op.getMetadata())
    return emitError() << "expected a dense x, for the kernel dense, got "
                       << schedule;
  if (schedule.getSwapAb())
    return emitError() << "expected operands that are not swapped for the "
                          "kernel dense on the path wgmma, got "
                       << schedule;
  if (failed(verifyStages(product, schedule, emitError)))
    return failure();
  // Each block loads whole periods of swizzle rows.
  ClusterSize cluster = schedule.getCluster();
  if (product.op.getRowGroups() && cluster != ClusterSize())
    return emitError() << "expected no cluster for groups of rows, got "
                       << schedule;
  if (isDequantizedForGroups(product))
    return emitError() << "expected operands that are not quantized for groups "
                          "of rows and the kernel dense, got "
                       << schedule;
  if (product.op.getPromotion() &&
      failed(verifyPromotedWgmma(product, schedule, emitError)))
    return failure();
  if (int64_t rows = kSwizzlePeriodRows * cluster.m;
      schedule.getN() % rows != 0)
    return emitError() << "expected N of the tile to be a multiple of " << rows
                       << " for a cluster of " << cluster.m
                       << " blocks along M, got " << schedule;
  return success();
}

/// Tiles no larger than the result; smaller ones if there would be too few for
/// all SMs; as many stages as fit into shared memory.
ScheduleInterface WgmmaDenseChooser::choose(ScheduledProduct product) const {
  OpSizes sizes = getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20);
  const Instruction &instruction = product.getInstruction();
  if (isDequantizedForGroups(product))
    return {};
  if (product.op.getPromotion())
    return choosePromotedWgmma(product);
  constexpr int64_t kMostStages = 8, kLeastN = 16;
  auto sms = static_cast<uint64_t>(getSms(product.chip));
  static constexpr std::pair<int64_t, int64_t> kTiles[] = {
      {128, 256}, {128, 192}, {128, 128}, {64, 256}, {64, 128}, {64, 64}};
  uint64_t blockBytes = getTunedLimits(product.chip.capability).blockBytes;
  std::pair<int64_t, int64_t> best = {};
  uint64_t leastClocks = ~uint64_t(0);
  for (auto [m, n] : kTiles) {
    int64_t columns =
        std::min<int64_t>(n, llvm::alignTo(std::max(sizes.n, kLeastN), 16));
    uint64_t tiles = llvm::SaturatingMultiply<uint64_t>(
        sizes.batch, llvm::SaturatingMultiply<uint64_t>(
                         llvm::divideCeilSigned(sizes.m, m),
                         llvm::divideCeilSigned(sizes.n, columns)));
    // Clocks of a step along K: of the MMAs, and of the reads from the L2
    // cache.
    uint64_t clocks =
        std::max<uint64_t>(m * columns / 32, (m + columns) * 128 / blockBytes);
    uint64_t rounds = llvm::divideCeil(tiles, sms);
    clocks = llvm::SaturatingMultiply(rounds, clocks);
    if (clocks >= leastClocks)
      continue;
    leastClocks = clocks;
    best = {m, columns};
  }
  auto make = [&](int64_t stages) {
    int64_t tile[] = {best.first, best.second,
                      getSwizzleRowElements(instruction)};
    return WarpSpecializedScheduleAttr::get(
        product.op->getContext(), tile, stages,
        /*accumulators=*/1, /*persistent=*/true, kTileGroup, /*swapAb=*/false,
        /*splitK=*/1, ClusterSize());
  };
  int64_t stages = kMostStages;
  while (stages > 1 &&
         SharedMemoryPlan(instruction, make(stages)).getSharedBytes() >
             getMostStageBytes(product.chip))
    --stages;
  return make(stages);
}

SmallVector<ScheduleInterface>
WgmmaDenseChooser::getCandidates(ScheduledProduct product) const {
  if (product.op.getPromotion())
    return getPromotedWgmmaCandidates(product);
  static constexpr std::pair<int64_t, int64_t> kTried[] = {
      {64, 64},   {64, 128},  {64, 256},  {128, 128},
      {128, 192}, {128, 256}, {192, 128}, {256, 128}};
  static constexpr ClusterSize kClusters[] = {{1, 1}, {2, 1}, {1, 2}};
  int64_t k = getSwizzleRowElements(product.getInstruction());
  SmallVector<ScheduleInterface> candidates;
  for (auto [m, n] : kTried)
    for (int64_t stages : {3, 4, 6})
      for (ClusterSize cluster : kClusters)
        candidates.push_back(WarpSpecializedScheduleAttr::get(
            product.op->getContext(), {m, n, k}, stages, /*accumulators=*/1,
            /*persistent=*/true, kTileGroup, /*swapAb=*/false, /*splitK=*/1,
            cluster));
  return candidates;
}

void WgmmaDenseChooser::explain(ScheduledProduct product,
                                ScheduleInterface given, bool,
                                raw_ostream &os) const {
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  ProductTile tile = {schedule.getM(), schedule.getN(), schedule.getK(),
                      schedule.getSplitK()};
  // Each warpgroup reads its rows of A, and all of B.
  tile.readsOfX = 1;
  tile.readsOfY = WgmmaShares(schedule).groups;
  tile.isXDequantized = tile.isYDequantized =
      isa<MmaScaledOp>(product.op.getOperation());
  printProductBounds(os, product, tile);
}

const KernelChooser &blockscale::getWgmmaDenseChooser() {
  static const WgmmaDenseChooser chooser;
  return chooser;
}
