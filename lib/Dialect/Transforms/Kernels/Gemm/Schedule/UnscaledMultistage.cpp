//===- UnscaledMultistage.cpp - Multistage without scales -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The estimate counts the clocks of one step along K, of all tiles that one SM
// computes.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/UnscaledMultistage.h"

#include "Kernels/Gemm/Problem/OpSizes.h"
#include "blockscale/Support/SharedLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The bytes of an element.
static constexpr int64_t kElementBytes = 2;
/// The elements along K of a stage: rows of 128 bytes, or of 64.
static constexpr int64_t kLongK = kBankRowBytes / kElementBytes,
                         kShortK = kLongK / 2;
/// The most stages of each.
static constexpr int64_t kLongStages = 4, kShortStages = 5;

namespace {
struct Tile {
  std::array<int64_t, 2> tile, warps;

  int64_t getStageBytes(int64_t k) const {
    return (tile[0] + tile[1]) * k * kElementBytes;
  }
};
} // namespace

// Of equal ones, the first is chosen.
static constexpr Tile kTiles[] = {
    {{128, 256}, {2, 4}}, {{256, 128}, {4, 2}}, {{128, 128}, {2, 2}},
    {{64, 128}, {2, 2}},  {{128, 64}, {2, 2}},  {{64, 64}, {2, 2}},
    {{32, 128}, {1, 4}},  {{128, 32}, {4, 1}},  {{32, 64}, {1, 2}},
    {{64, 32}, {2, 1}},   {{32, 32}, {1, 1}},   {{16, 128}, {1, 4}},
    {{128, 16}, {4, 1}}};

/// The clocks of a step of `kLongK` elements along K.
static uint64_t getClocks(const Tile &tile, const Chip &chip) {
  // Multiplications and additions of mma.sync in a clock, of sm_90; and the
  // barrier and the first fragments of a step, which nothing hides.
  constexpr int64_t kProducts = 1280, kStepClocks = 100;
  auto blockBytes =
      static_cast<int64_t>(getTunedLimits(chip.capability).blockBytes);
  int64_t products = tile.tile[0] * tile.tile[1] * kLongK / kProducts;
  int64_t reads = tile.getStageBytes(kLongK) / blockBytes;
  return static_cast<uint64_t>(std::max(products, reads) + kStepClocks);
}

/// The blocks that should share an SM, which then has 8 warps.
static int64_t getWantedBlocks(const Tile &tile) {
  constexpr int64_t kWarps = 8;
  return std::max<int64_t>(kWarps / (tile.warps[0] * tile.warps[1]), 1);
}

/// The schedule with `tile`: long rows, if three stages of these fit, and as
/// many stages as fit, but no more than there are steps along `k`.
static MultistageScheduleAttr makeSchedule(MLIRContext *context,
                                           const Tile &tile, const Chip &chip,
                                           int64_t k) {
  int64_t bytes = int64_t(1024) * chip.sharedMemoryKiB / getWantedBlocks(tile);
  constexpr int64_t kLeastStages = 3;
  bool isLong =
      k > kShortK && bytes / tile.getStageBytes(kLongK) >= kLeastStages;
  int64_t tileK = isLong ? kLongK : kShortK;
  int64_t stages = std::min({isLong ? kLongStages : kShortStages,
                             bytes / tile.getStageBytes(tileK),
                             llvm::divideCeilSigned(k, tileK)});
  return MultistageScheduleAttr::get(context,
                                     {tile.tile[0], tile.tile[1], tileK},
                                     tile.warps, std::max<int64_t>(stages, 1));
}

MultistageScheduleAttr
blockscale::chooseUnscaledMultistage(ScheduledProduct product) {
  OpSizes sizes = getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20);
  auto sms = static_cast<uint64_t>(getSms(product.chip));
  const Tile *best = nullptr;
  uint64_t leastClocks = ~uint64_t(0);
  for (const Tile &tile : kTiles) {
    uint64_t tiles = llvm::SaturatingMultiply<uint64_t>(
        sizes.batch, llvm::SaturatingMultiply<uint64_t>(
                         llvm::divideCeilSigned(sizes.m, tile.tile[0]),
                         llvm::divideCeilSigned(sizes.n, tile.tile[1])));
    uint64_t clocks = llvm::SaturatingMultiply(llvm::divideCeil(tiles, sms),
                                               getClocks(tile, product.chip));
    if (clocks >= leastClocks)
      continue;
    leastClocks = clocks;
    best = &tile;
  }
  return makeSchedule(product.op->getContext(), *best, product.chip, sizes.k);
}

MultistageScheduleAttr
blockscale::fitUnscaledMultistage(ScheduledProduct product,
                                  std::array<int64_t, 2> tile,
                                  std::array<int64_t, 2> warps) {
  int64_t k = getOpSizes(product.op, /*dynamicSize=*/int64_t(1) << 20).k;
  return makeSchedule(product.op->getContext(), {tile, warps}, product.chip, k);
}

TunedTile blockscale::getUnscaledNarrowTile(const TunedTile &tile,
                                            const Chip &chip) {
  TunedTile result = tile;
  result.k = kLongK;
  result.stages = kLongStages;
  int64_t stageBytes =
      Tile{{tile.rowsOfX, tile.rowsOfY}, {}}.getStageBytes(result.k);
  int64_t fitting = 1024 * int64_t(chip.sharedMemoryKiB) / stageBytes;
  result.stages = std::min(result.stages, fitting);
  result.blocks = std::min(result.blocks, fitting / result.stages);
  return result;
}

SmallVector<ScheduleInterface>
blockscale::getUnscaledCandidates(ScheduledProduct product) {
  SmallVector<ScheduleInterface> candidates;
  for (const Tile &tile : kTiles)
    for (int64_t k : {kLongK, kShortK})
      for (int64_t stages : {2, 3, 4, 5})
        candidates.push_back(MultistageScheduleAttr::get(
            product.op->getContext(), {tile.tile[0], tile.tile[1], k},
            tile.warps, stages));
  return candidates;
}
