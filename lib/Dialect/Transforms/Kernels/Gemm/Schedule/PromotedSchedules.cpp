//===- PromotedSchedules.cpp - Schedules of promoted sums -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/PromotedSchedules.h"

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaShares.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "blockscale/Support/TunedRows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether the sums of intervals have factors.
static bool hasFactorsInside(const Promotion &promotion) {
  return (promotion.xFactors || promotion.yFactors) &&
         !hasWholeFactors(promotion);
}

/// Beside two accumulators of so many values, a thread has registers for
/// addresses and factors. Factors of blocks take some, and a factor for each
/// column takes many. So does the search for groups of rows.
static int64_t getMostValues(ProductOpInterface op, int64_t groups) {
  constexpr int64_t kMost = 96, kMostWithFactors = 80, kMostWithColumns = 64,
                    kMostOfThree = 64, kMostOfThreeWithColumns = 32,
                    kMostOfRowGroupsWithColumns = 40;
  Promotion promotion = op.getPromotion();
  bool hasFactors = hasFactorsInside(promotion);
  bool hasColumns =
      hasFactors && promotion.yFactors && promotion.yBlock.rows == 1;
  bool hasRowGroups = bool(op.getRowGroups());
  // With three warpgroups, a thread has 160 registers in place of 240.
  if (groups > 2)
    return hasColumns || hasRowGroups ? kMostOfThreeWithColumns : kMostOfThree;
  if (hasColumns)
    return hasRowGroups ? kMostOfRowGroupsWithColumns : kMostWithColumns;
  return hasFactors ? kMostWithFactors : kMost;
}

/// Whether the sums of a tile fit into the registers of its warpgroups, which
/// have 64 rows each.
static bool fitsRegisters(ProductOpInterface op, int64_t m, int64_t n) {
  int64_t groups = m / kWarpgroupRows;
  return m * n / (groups * kWarpgroupWarps * kWarpLanes) <=
         getMostValues(op, groups);
}

/// Each range along K would multiply a part of the sum, where an infinite
/// factor makes NaN of parts of both signs.
template <typename Schedule>
static LogicalResult verifyWholeFactors(ScheduledProduct product,
                                        Schedule schedule,
                                        KernelChooser::EmitErrorFn emitError) {
  if (hasWholeFactors(product.op.getPromotion()) && schedule.getSplitK() != 1)
    return emitError() << "expected no split-K with factors of whole sums, got "
                       << schedule;
  return success();
}

/// Rounds of tiles over all SMs, times `clocks` of a step of one of them.
static uint64_t estimateClocks(ScheduledProduct product, int64_t m, int64_t n,
                               uint64_t clocks) {
  OpSizes sizes = getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20);
  uint64_t tiles = llvm::SaturatingMultiply<uint64_t>(
      sizes.batch,
      llvm::SaturatingMultiply<uint64_t>(llvm::divideCeilSigned(sizes.m, m),
                                         llvm::divideCeilSigned(sizes.n, n)));
  return llvm::SaturatingMultiply(
      llvm::divideCeil(tiles, static_cast<uint64_t>(getSms(product.chip))),
      clocks);
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

// Of equal ones, the first is chosen.
static constexpr std::array<int64_t, 2> kWgmmaTiles[] = {
    {128, 192}, {192, 128}, {128, 128}, {64, 192},
    {64, 128},  {64, 64},   {64, 32}};
// The same for groups of rows. (Those of 128 x 160 spill a few registers.)
static constexpr std::array<int64_t, 2> kGroupedWgmmaTiles[] = {
    {128, 128}, {128, 80}, {64, 128}, {64, 80}, {64, 64}, {64, 32}};

static ArrayRef<std::array<int64_t, 2>> getWgmmaTiles(ProductOpInterface op) {
  if (op.getRowGroups())
    return kGroupedWgmmaTiles;
  return kWgmmaTiles;
}

static WarpSpecializedScheduleAttr makeWgmma(ScheduledProduct product,
                                             std::array<int64_t, 2> tile,
                                             int64_t stages,
                                             ClusterSize cluster = {}) {
  int64_t sizes[] = {tile[0], tile[1],
                     getSwizzleRowElements(product.getInstruction())};
  return WarpSpecializedScheduleAttr::get(
      product.op->getContext(), sizes, stages, /*accumulators=*/1,
      /*persistent=*/true, kTileGroup, /*swapAb=*/false, /*splitK=*/1, cluster);
}

/// Two blocks along M share the tile of y, if sums have factors and all tiles
/// along M are neighbors in the order of tiles: a product of 1024 rows takes
/// 0.87 of the time then. Others take longer, up to 1.05 of it (all measured on
/// an H200, with tiles of 192 rows).
static ClusterSize getCluster(ScheduledProduct product,
                              std::array<int64_t, 2> tile) {
  // Tiles of groups start at any row.
  if (product.op.getRowGroups())
    return {};
  constexpr ClusterSize kPair = {2, 1};
  constexpr int64_t kLeastRows = 192;
  OpSizes sizes = getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20);
  bool areNeighbors = sizes.m <= kTileGroup * tile[0] && sizes.m > tile[0];
  bool isWhole = tile[1] % (kSwizzlePeriodRows * kPair.m) == 0;
  return tile[0] >= kLeastRows && areNeighbors && isWhole &&
                 hasFactorsInside(product.op.getPromotion())
             ? kPair
             : ClusterSize();
}

/// With as many stages as fit into shared memory. Factors inside are read
/// through what is left of it as a cache, in which each row has a line: with
/// less than 64 KiB, a product takes 1.2 times as long (measured on an H200).
static WarpSpecializedScheduleAttr fitStages(ScheduledProduct product,
                                             std::array<int64_t, 2> tile,
                                             ClusterSize cluster = {}) {
  constexpr int64_t kMostStages = 8, kCacheBytes = 64 * 1024;
  int64_t stages = kMostStages, most = getMostStageBytes(product.chip);
  if (hasFactorsInside(product.op.getPromotion()))
    most -= kCacheBytes;
  while (stages > 1 && SharedMemoryPlan(product.getInstruction(),
                                        makeWgmma(product, tile, stages))
                               .getSharedBytes() > most)
    --stages;
  return makeWgmma(product, tile, stages, cluster);
}

WarpSpecializedScheduleAttr
blockscale::choosePromotedWgmma(ScheduledProduct product) {
  const Instruction &instruction = product.getInstruction();
  int64_t k = getSwizzleRowElements(instruction);
  if (product.op.getPromotion().interval % k != 0)
    return {};
  OpSizes sizes = getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20);
  auto blockBytes =
      static_cast<int64_t>(getTunedLimits(product.chip.capability).blockBytes);
  std::array<int64_t, 2> best = {};
  uint64_t leastClocks = ~uint64_t(0);
  for (auto [m, n] : getWgmmaTiles(product.op)) {
    constexpr int64_t kLeastN = 16;
    int64_t columns =
        std::min(n, int64_t(llvm::alignTo(std::max(sizes.n, kLeastN), 16)));
    // Clocks of a step along K: of an instruction for each warpgroup, which
    // takes N / 2 of them, and of reads from the L2 cache; and those of
    // promotion, barriers and waits, which hardly depend on the tile (measured
    // on an H200).
    constexpr int64_t kStepsOfRow = 4, kStepClocks = 400;
    int64_t groups = m / kWarpgroupRows;
    int64_t rows = m + columns / getCluster(product, {m, columns}).m;
    int64_t clocks = std::max(groups * columns / 2 * kStepsOfRow,
                              rows * kSwizzleRowBytes / blockBytes);
    if (!fitsRegisters(product.op, m, columns))
      continue;
    uint64_t all = estimateClocks(product, m, columns,
                                  static_cast<uint64_t>(clocks + kStepClocks));
    if (best[0] != 0 && all >= leastClocks)
      continue;
    leastClocks = all;
    best = {m, columns};
  }
  return fitStages(product, best, getCluster(product, best));
}

namespace {
/// The tile for at most so many rows; with groups, on average.
struct TileOfRows {
  int64_t mostRows;
  std::array<int64_t, 2> tile;
};
} // namespace

/// Of the tiles that are half empty then, the first that registers hold. Not
/// measured.
static SmallVector<TileOfRows> getTilesOfGroups(ProductOpInterface op) {
  SmallVector<TileOfRows> tiles;
  for (auto [mostRows, m] : {std::pair<int64_t, int64_t>{48, 64}, {256, 128}})
    for (std::array<int64_t, 2> tile : kGroupedWgmmaTiles)
      if (tile[0] == m && fitsRegisters(op, tile[0], tile[1])) {
        tiles.push_back({mostRows, tile});
        break;
      }
  return tiles;
}

SmallVector<AlternativeAttr>
blockscale::getPromotedWgmmaAlternatives(ScheduledProduct product) {
  // As many tiles as there are SMs for 8192 columns.
  static constexpr TileOfRows kTiles[] = {
      {64, {64, 64}}, {128, {128, 64}}, {512, {128, 128}}};
  int64_t interval = product.op.getPromotion().interval;
  SmallVector<AlternativeAttr> alternatives;
  if (getOpSizes(product.op, /*dynamicSize=*/0).m != 0 ||
      interval % getSwizzleRowElements(product.getInstruction()) != 0)
    return alternatives;
  SmallVector<TileOfRows> ofGroups = getTilesOfGroups(product.op);
  ArrayRef<TileOfRows> tiles = kTiles;
  if (product.op.getRowGroups())
    tiles = ofGroups;
  for (const TileOfRows &row : tiles)
    alternatives.push_back(AlternativeAttr::get(
        product.op->getContext(), row.mostRows, /*most_ranges=*/1, /*cost=*/0,
        product.instruction, fitStages(product, row.tile)));
  return alternatives;
}

SmallVector<ScheduleInterface>
blockscale::getPromotedWgmmaCandidates(ScheduledProduct product) {
  static constexpr ClusterSize kClusters[] = {{1, 1}, {2, 1}, {1, 2}};
  SmallVector<ScheduleInterface> candidates;
  for (std::array<int64_t, 2> tile : getWgmmaTiles(product.op))
    for (int64_t stages : {3, 4, 5, 6})
      for (ClusterSize cluster : kClusters)
        candidates.push_back(makeWgmma(product, tile, stages, cluster));
  return candidates;
}

LogicalResult
blockscale::verifyPromotedWgmma(ScheduledProduct product,
                                WarpSpecializedScheduleAttr schedule,
                                KernelChooser::EmitErrorFn emitError) {
  int64_t interval = product.op.getPromotion().interval;
  if (interval % schedule.getK() != 0)
    return emitError() << "expected K of the tile to divide the interval of "
                          "promoted sums, "
                       << interval << ", got " << schedule;
  // Ranges start at any step.
  if (interval != schedule.getK() && schedule.getSplitK() != 1)
    return emitError() << "expected no split-K with several steps in an "
                          "interval of promoted sums, "
                       << interval << ", got " << schedule;
  if (failed(verifyWholeFactors(product, schedule, emitError)))
    return failure();
  WgmmaShares shares(schedule);
  int64_t values =
      schedule.getM() * schedule.getN() / (shares.getWarps() * kWarpLanes);
  int64_t most = getMostValues(product.op, shares.groups);
  if (shares.mInstructions != 1 || values > most)
    return emitError() << "expected at most " << most
                       << " values of promoted sums in each thread, and 64 "
                          "rows for each warpgroup, got "
                       << schedule << ", which has " << values;
  return success();
}

//===----------------------------------------------------------------------===//
// Multistage
//===----------------------------------------------------------------------===//

namespace {
struct WarpTiles {
  std::array<int64_t, 2> tile, warps;
};
} // namespace

// Of equal ones, the first is chosen. 64 values for each lane, or fewer.
static constexpr WarpTiles kWarpTiles[] = {
    {{128, 128}, {2, 4}}, {{128, 64}, {2, 2}}, {{64, 128}, {2, 2}},
    {{64, 64}, {2, 2}},   {{32, 128}, {1, 4}}, {{128, 32}, {4, 1}},
    {{32, 64}, {1, 2}},   {{32, 32}, {1, 1}},  {{16, 128}, {1, 4}},
    {{16, 64}, {1, 2}}};

static constexpr int64_t kValueBytes = 2, kLeastStages = 2, kMostStages = 4;

/// The elements along K of a stage: of an interval, and of at least 64 bytes.
static int64_t getStageK(ScheduledProduct product) {
  constexpr int64_t kLeastK = 32;
  return std::max(kLeastK, product.op.getPromotion().interval);
}

static int64_t countStages(ScheduledProduct product, const WarpTiles &tile) {
  int64_t bytes =
      (tile.tile[0] + tile.tile[1]) * getStageK(product) * kValueBytes;
  return std::min(kMostStages,
                  int64_t(1024) * product.chip.sharedMemoryKiB / bytes);
}

static MultistageScheduleAttr makeMultistage(ScheduledProduct product,
                                             const WarpTiles &tile,
                                             int64_t stages) {
  return MultistageScheduleAttr::get(
      product.op->getContext(),
      {tile.tile[0], tile.tile[1], getStageK(product)}, tile.warps, stages);
}

MultistageScheduleAttr
blockscale::choosePromotedMultistage(ScheduledProduct product) {
  const WarpTiles *best = nullptr;
  uint64_t leastClocks = ~uint64_t(0);
  auto blockBytes =
      static_cast<int64_t>(getTunedLimits(product.chip.capability).blockBytes);
  for (const WarpTiles &tile : kWarpTiles) {
    if (countStages(product, tile) < kLeastStages)
      continue;
    // Multiplications of mma.sync in a clock; and the barrier of a step.
    constexpr int64_t kProducts = 1024, kStepClocks = 100;
    auto [m, n] = tile.tile;
    int64_t k = getStageK(product);
    int64_t clocks =
        std::max(m * n * k / kProducts, (m + n) * k * kValueBytes / blockBytes);
    uint64_t all = estimateClocks(product, m, n,
                                  static_cast<uint64_t>(clocks + kStepClocks));
    if (best && all >= leastClocks)
      continue;
    leastClocks = all;
    best = &tile;
  }
  return makeMultistage(product, *best, countStages(product, *best));
}

SmallVector<AlternativeAttr>
blockscale::getPromotedGroupAlternatives(ScheduledProduct product) {
  SmallVector<AlternativeAttr> alternatives;
  if (!product.hasWorkspace || getOpSizes(product.op, /*dynamicSize=*/0).m != 0)
    return alternatives;
  // Of 128 columns, so that pairs of them are those of one warp. Not measured.
  for (auto [mostRows, rows] : {std::pair<int64_t, int64_t>{10, 16}, {40, 32}})
    for (const WarpTiles &tile : kWarpTiles)
      if (int64_t stages = countStages(product, tile);
          tile.tile == std::array<int64_t, 2>{rows, 128} &&
          stages >= kLeastStages)
        alternatives.push_back(AlternativeAttr::get(
            product.op->getContext(), mostRows, /*most_ranges=*/1, /*cost=*/0,
            product.instruction, makeMultistage(product, tile, stages)));
  return alternatives;
}

SmallVector<ScheduleInterface>
blockscale::getPromotedMultistageCandidates(ScheduledProduct product) {
  SmallVector<ScheduleInterface> candidates;
  for (const WarpTiles &tile : kWarpTiles)
    for (int64_t stages = kLeastStages; stages <= kMostStages; ++stages)
      candidates.push_back(makeMultistage(product, tile, stages));
  return candidates;
}

LogicalResult
blockscale::verifyPromotedMultistage(ScheduledProduct product,
                                     MultistageScheduleAttr schedule,
                                     KernelChooser::EmitErrorFn emitError) {
  if (failed(verifyWholeFactors(product, schedule, emitError)))
    return failure();
  int64_t interval = product.op.getPromotion().interval;
  constexpr int64_t kMostOfLane = 64;
  int64_t values = schedule.getM() * schedule.getN() / schedule.getNumThreads();
  if (schedule.getK() % interval != 0 || schedule.getStages() < kLeastStages ||
      values > kMostOfLane)
    return emitError() << "expected stages of whole intervals of promoted "
                          "sums, "
                       << interval << ", at least " << kLeastStages
                       << " of them, and at most " << kMostOfLane
                       << " values in each lane, got " << schedule
                       << ", which has " << values;
  return success();
}
