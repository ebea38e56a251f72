//===- RingChoice.cpp - Which schedule a ring kernel gets -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedules that there are to choose from, and their order. What is fast is
// known to RingEstimate.h alone.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Tcgen05/RingChoice.h"

#include "blockscale/Support/TensorMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

int64_t blockscale::getMostStageBytes(const Chip &chip) {
  // What barriers and the address of tensor memory take at most.
  constexpr int64_t kBarrierBytes = 1024;
  return int64_t(1024) * chip.sharedMemoryKiB - kBarrierBytes;
}

int64_t blockscale::getElementsOfLine(const Instruction &instruction) {
  constexpr int64_t kStepBytes = 32;
  return kLineBytes / kStepBytes * instruction.k;
}

/// N of tiles for `n` rows of B. A single tile may have any multiple of what
/// all instructions take.
static SmallVector<int64_t> getTileColumns(int64_t n) {
  constexpr int64_t kStep = 16;
  SmallVector<int64_t> columns;
  for (int64_t tile = kTileUnit; tile <= kMostN; tile += kTileUnit)
    if (tile - kTileUnit < n)
      columns.push_back(std::min<int64_t>(tile, llvm::alignTo(n, kStep)));
  return columns;
}

/// Whether the first is better than the second.
static bool isBetter(const RingCandidate &first, const RingCandidate &second) {
  auto key = [](const RingCandidate &candidate) {
    return std::tuple(candidate.estimate.total, candidate.estimate.onChip,
                      candidate.schedule.getExchanged(),
                      -candidate.schedule.getStages(),
                      -candidate.schedule.getAccumulators());
  };
  return key(first) < key(second);
}

/// The best schedule with such tiles; nullopt if none fits.
static std::optional<RingCandidate> findBest(MLIRContext *context,
                                             const RingProblem &problem,
                                             const Instruction &instruction,
                                             const Chip &chip, int64_t columns,
                                             bool isExchanged) {
  RingRates rates = getRingRates(chip, instruction.kind);
  constexpr int64_t kMostStages = 8;
  int64_t tile[] = {kTensorLanes, columns, getElementsOfLine(instruction)};
  std::optional<RingCandidate> found;
  for (int64_t accumulators : {2, 1})
    for (int64_t stages = kMostStages; stages != 0; --stages) {
      auto schedule =
          RingScheduleAttr::get(context, tile, stages, accumulators,
                                /*persistent=*/true, kTileGroup, isExchanged);
      RingPlan plan(instruction, schedule);
      if (plan.getSharedBytes() > getMostStageBytes(chip) ||
          !plan.fitsTensorMemory())
        continue;
      RingCandidate candidate = {
          schedule, estimateRing(problem, instruction, plan, rates)};
      if (!found || isBetter(candidate, *found))
        found = candidate;
    }
  return found;
}

SmallVector<RingCandidate>
blockscale::getRingCandidates(MLIRContext *context, const RingProblem &problem,
                              const Instruction &instruction,
                              const Chip &chip) {
  SmallVector<RingCandidate> best;
  for (bool isExchanged : {false, true})
    for (int64_t columns : getTileColumns(isExchanged ? problem.m : problem.n))
      if (std::optional<RingCandidate> found = findBest(
              context, problem, instruction, chip, columns, isExchanged))
        best.push_back(*found);
  return best;
}

RingCandidate blockscale::chooseRing(ArrayRef<RingCandidate> candidates) {
  RingCandidate best = candidates.front();
  for (const RingCandidate &candidate : candidates.drop_front())
    if (isBetter(candidate, best))
      best = candidate;
  return best;
}
