//===- WgmmaChooser.cpp - What choosers for wgmma share -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accumulators are in registers, which limits tiles.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/WgmmaChooser.h"

#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Problem/QuantizedB.h"
#include "blockscale/Support/TunedRows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Accumulator registers of a thread.
static int64_t getAccumulatorValues(WarpSpecializedScheduleAttr schedule) {
  WgmmaShares shares(schedule);
  return schedule.getM() * schedule.getN() /
         (shares.getWarps() * int64_t(kWarpLanes));
}

/// The largest number of them: with four warpgroups a thread has 112 registers,
/// with three 160, with fewer 240.
static int64_t getMostAccumulators(WarpSpecializedScheduleAttr schedule) {
  constexpr int64_t kMost[] = {128, 128, 96, 32};
  return kMost[WgmmaShares(schedule).groups - 1];
}

LogicalResult WgmmaChooser::verify(ScheduledProduct product,
                                   ScheduleInterface given,
                                   EmitErrorFn emitError) const {
  auto schedule = cast<WarpSpecializedScheduleAttr>(given);
  if (schedule.getTwoCta() || schedule.getInstructionK() != 0)
    return emitError() << "expected no pairs of CTAs and no K of instructions "
                          "on the path wgmma, got "
                       << given;
  if (failed(verifyKernel(product, schedule, emitError)))
    return failure();
  if (schedule.getAccumulators() != 1)
    return emitError() << "expected one accumulator on the path wgmma, got "
                       << given;
  if (getAccumulatorValues(schedule) > getMostAccumulators(schedule))
    return emitError() << "expected a schedule with at most "
                       << getMostAccumulators(schedule)
                       << " accumulator values in each thread, got " << given
                       << ", which has " << getAccumulatorValues(schedule);
  return success();
}

//===----------------------------------------------------------------------===//
// The path
//===----------------------------------------------------------------------===//

namespace {
/// What limits the time of a product with scales.
struct DequantizedSizes {
  uint64_t products, valuesOfX, values;
};
} // namespace

static uint64_t multiply(uint64_t first, uint64_t second) {
  return llvm::SaturatingMultiply<uint64_t>(first, second);
}

static DequantizedSizes getDequantizedSizes(ProductOpInterface op) {
  OpSizes sizes = getOpSizes(op, kDequantizedSize);
  uint64_t ofX = multiply(multiply(sizes.batch, sizes.m), sizes.k);
  return {multiply(ofX, sizes.n), ofX,
          multiply(multiply(sizes.batch, sizes.m + sizes.n), sizes.k)};
}

/// Nanoseconds of a product whose operands are dequantized by kernels in front.
static uint64_t estimateDequantized(const DequantizedSizes &sizes,
                                    const TunedLimits &limits) {
  constexpr uint64_t kBytesOfValue = 3;
  return sizes.products / limits.wgmmaProducts +
         multiply(sizes.values, kBytesOfValue) / limits.writtenBytes +
         limits.launches;
}

/// Whether a product with scales is faster if kernels in front dequantize its
/// operands.
static bool isDequantizedFaster(ProductOpInterface op, const Chip &chip) {
  TunedLimits limits = getTunedLimits(chip.capability);
  DequantizedSizes sizes = getDequantizedSizes(op);
  return estimateDequantized(sizes, limits) <
         sizes.products / limits.syncProducts;
}

bool blockscale::isMetadataFaster(ProductOpInterface op, const Chip &chip,
                                  uint64_t numProducts) {
  TunedLimits limits = getTunedLimits(chip.capability);
  DequantizedSizes sizes = getDequantizedSizes(op);
  uint64_t dense = sizes.products / limits.syncProducts;
  if (chip.findPath(Dequantization::InFront))
    dense = std::min(dense, estimateDequantized(sizes, limits));
  // Half of the elements are read, and all are written.
  constexpr uint64_t kBytesOfElement = 2;
  uint64_t decompressed =
      multiply(sizes.valuesOfX, kBytesOfElement) / limits.writtenBytes +
      limits.launches;
  return sizes.products / limits.sparseProducts <=
         multiply(dense, numProducts) + decompressed;
}

bool blockscale::isWgmmaBest(ProductOpInterface op, const Chip &chip,
                             bool hasWorkspace) {
  // Kernels of other paths multiply other elements.
  if (op.getPromotion())
    return true;
  bool isMixedInput =
      chooseGemvSchedule(op, chip, hasWorkspace) ||
      chooseMixedInputSchedule(op, chip, hasWorkspace) ||
      !getMixedInputAlternatives(op, chip, hasWorkspace).empty();
  if (op.getXScale())
    return isMixedInput || (hasWorkspace && isDequantizedFaster(op, chip));
  if (!isMixedInput && findQuantizedB(op) &&
      getOpSizes(op, kDequantizedSize).m <=
          getTunedLimits(chip.capability).mostSyncRows)
    return false;
  return hasWorkspace || areReadInPlace(op);
}

std::string blockscale::findWgmmaMixedInputObstacle(ProductOpInterface op,
                                                    const Chip &chip,
                                                    bool hasWorkspace) {
  if (chooseGemvSchedule(op, chip, hasWorkspace) ||
      chooseMixedInputSchedule(op, chip, hasWorkspace) ||
      !getMixedInputAlternatives(op, chip, hasWorkspace).empty())
    return {};
  std::string obstacle = findMixedInputObstacle(op);
  return obstacle.empty() ? describeMixedInputSizes(chip) : obstacle;
}
