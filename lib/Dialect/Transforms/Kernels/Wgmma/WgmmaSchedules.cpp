//===- WgmmaSchedules.cpp - Schedules of the path wgmma -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which tiles a warpgroup can have, and which of them a product gets.

//===----------------------------------------------------------------------===//

#include "Kernels/OpSizes.h"
#include "Kernels/Ring/RingPlan.h"
#include "Kernels/Ring/RingSchedules.h"
#include "Kernels/Wgmma/WgmmaBackend.h"
#include "Kernels/Wgmma/WgmmaRoles.h"
#include "blockscale/Support/Rates.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class WgmmaScheduleRules final : public RingScheduleRules {
public:
  ScheduleInterface choose(ProductOpInterface op, InstructionAttr instruction,
                           const Chip &chip, bool hasWorkspace) const override;
  SmallVector<ScheduleInterface>
  getCandidates(ProductOpInterface op, InstructionAttr instruction,
                const Chip &chip, bool hasWorkspace) const override;
  LogicalResult verify(ProductOpInterface op, InstructionAttr instruction,
                       ScheduleInterface schedule, const Chip &chip,
                       EmitErrorFn emitError) const override;
};
} // namespace

/// Sums in the registers of a thread.
static int64_t getSums(RingScheduleAttr schedule) {
  WgmmaShares shares(schedule);
  return schedule.getM() * schedule.getN() /
         (shares.getWarps() * int64_t(kWarpLanes));
}

/// Most of them: three warpgroups have 160 registers for each thread, fewer
/// 240.
static int64_t getMostSums(RingScheduleAttr schedule) {
  constexpr int64_t kFewGroups = 2, kMost = 128, kMostOfMore = 96;
  return WgmmaShares(schedule).groups > kFewGroups ? kMostOfMore : kMost;
}

LogicalResult WgmmaScheduleRules::verify(ProductOpInterface op,
                                         InstructionAttr attr,
                                         ScheduleInterface given,
                                         const Chip &chip,
                                         EmitErrorFn emitError) const {
  auto schedule = cast<RingScheduleAttr>(given);
  if (failed(verifyStages(op, attr, schedule, chip, emitError)))
    return failure();
  if (schedule.getAccumulators() != 1 || schedule.getExchanged())
    return emitError() << "expected one accumulator, and operands that are not "
                          "exchanged, on the path wgmma, got "
                       << given;
  // Each block loads whole groups of the lines that a copy swizzles.
  ClusterSize cluster = schedule.getCluster();
  if (int64_t lines = kSwizzledLines * cluster.m; schedule.getN() % lines != 0)
    return emitError() << "expected N of the tile to be a multiple of " << lines
                       << " for a cluster of " << cluster.m
                       << " blocks along M, got " << given;
  if (getSums(schedule) > getMostSums(schedule))
    return emitError() << "expected a schedule with at most "
                       << getMostSums(schedule) << " sums in each thread, got "
                       << given << ", which has " << getSums(schedule);
  return success();
}

/// Tiles of 128 x 256, or as large as the result is; smaller ones where that
/// makes too few tiles for all multiprocessors; as many stages as there is
/// shared memory for.
ScheduleInterface WgmmaScheduleRules::choose(ProductOpInterface op,
                                             InstructionAttr attr,
                                             const Chip &chip,
                                             bool hasWorkspace) const {
  OpSizes sizes = getOpSizes(op, /*dynamicSize=*/int64_t(1) << 20);
  const Instruction &instruction = attr.getInstruction();
  constexpr int64_t kMostStages = 8, kLeastN = 16;
  uint64_t multiprocessors = 1;
  if (auto rate = findRate(chip.capability, &ChipRates::multiprocessors))
    multiprocessors = static_cast<uint64_t>(rate->value);
  static constexpr std::pair<int64_t, int64_t> kTiles[] = {
      {128, 256}, {128, 192}, {128, 128}, {64, 256}, {64, 128}, {64, 64}};
  std::pair<int64_t, int64_t> best = {};
  uint64_t leastClocks = ~uint64_t(0);
  for (auto [m, n] : kTiles) {
    int64_t columns =
        std::min<int64_t>(n, llvm::alignTo(std::max(sizes.n, kLeastN), 16));
    uint64_t tiles = llvm::SaturatingMultiply<uint64_t>(
        sizes.batch, llvm::SaturatingMultiply<uint64_t>(
                         llvm::divideCeilSigned(sizes.m, m),
                         llvm::divideCeilSigned(sizes.n, columns)));
    // Of a step along K: products, and what a tile reads of the L2 cache.
    uint64_t clocks =
        std::max<uint64_t>(m * columns / 32, (m + columns) * 128 / 48);
    uint64_t rounds = llvm::divideCeil(tiles, multiprocessors);
    clocks = llvm::SaturatingMultiply(rounds, clocks);
    if (clocks >= leastClocks)
      continue;
    leastClocks = clocks;
    best = {m, columns};
  }
  auto make = [&](int64_t stages) {
    int64_t tile[] = {best.first, best.second, getElementsOfLine(instruction)};
    return RingScheduleAttr::get(op->getContext(), tile, stages,
                                 /*accumulators=*/1, /*persistent=*/true,
                                 kTileGroup, /*exchanged=*/false, /*splits=*/1,
                                 ClusterSize());
  };
  int64_t stages = kMostStages;
  while (stages > 1 && RingPlan(instruction, make(stages)).getSharedBytes() >
                           getMostStageBytes(chip))
    --stages;
  return make(stages);
}

SmallVector<ScheduleInterface>
WgmmaScheduleRules::getCandidates(ProductOpInterface op,
                                  InstructionAttr instruction, const Chip &chip,
                                  bool hasWorkspace) const {
  static constexpr std::pair<int64_t, int64_t> kTried[] = {
      {64, 64},   {64, 128},  {64, 256},  {128, 128},
      {128, 192}, {128, 256}, {192, 128}, {256, 128}};
  static constexpr ClusterSize kClusters[] = {{1, 1}, {2, 1}, {1, 2}};
  int64_t k = getElementsOfLine(instruction.getInstruction());
  SmallVector<ScheduleInterface> candidates;
  for (auto [m, n] : kTried)
    for (int64_t stages : {3, 4, 6})
      for (ClusterSize cluster : kClusters)
        candidates.push_back(RingScheduleAttr::get(
            op->getContext(), {m, n, k}, stages, /*accumulators=*/1,
            /*persistent=*/true, kTileGroup, /*exchanged=*/false, /*splits=*/1,
            cluster));
  return candidates;
}

const ScheduleRules &blockscale::getWgmmaScheduleRules() {
  static const WgmmaScheduleRules rules;
  return rules;
}
