//===- Tcgen05ScheduleChoice.cpp - Which schedule tcgen05 gets ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The candidates and their order. Only Tcgen05ScheduleEstimate.h knows what is
// fast.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/Tcgen05ScheduleChoice.h"

#include "blockscale/Support/TensorMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The N of tiles for `n` rows of B. A single tile may have any multiple of the
/// step that all instructions take; none is single if there `mayBeMore` rows.
static SmallVector<int64_t> getTileColumns(int64_t n, bool mayBeMore = false) {
  constexpr int64_t kStep = 16;
  SmallVector<int64_t> columns;
  for (int64_t tile = kTileUnit; tile <= kMostN; tile += kTileUnit)
    if (tile - kTileUnit < n)
      columns.push_back(
          mayBeMore ? tile : std::min<int64_t>(tile, llvm::alignTo(n, kStep)));
  return columns;
}

/// Whether the first is better than the second.
static bool isBetter(const ScheduleCandidate &first,
                     const ScheduleCandidate &second) {
  auto key = [](const ScheduleCandidate &candidate) {
    return std::tuple(
        candidate.estimate.total, candidate.estimate.onChip,
        candidate.schedule.getSplitK(), candidate.schedule.getSwapAb(),
        candidate.schedule.getTwoCta(), candidate.schedule.getInstructionK(),
        -candidate.schedule.getStages(), -candidate.schedule.getAccumulators());
  };
  return key(first) < key(second);
}

/// The largest number of split-K ranges: no more than there are steps, and than
/// there are SMs for the ranges of all tiles.
static int64_t getMostSplitK(const EstimatedProblem &problem,
                             const ScheduleEstimate &whole, int64_t tileK,
                             const ScheduleRates &rates) {
  constexpr int64_t kMost = 64;
  if (!problem.mayDivideK)
    return 1;
  int64_t steps = llvm::divideCeilSigned(problem.k, tileK);
  auto perTile = static_cast<int64_t>(static_cast<uint64_t>(rates.sms.value) /
                                      whole.tiles);
  return std::clamp<int64_t>(std::min(steps, perTile), 1, kMost);
}

namespace {
/// The best schedules for some tiles: without split-K, and with it.
struct BestOfTiles {
  std::optional<ScheduleCandidate> whole, divided;
};

class Search {
public:
  Search(MLIRContext *context, const EstimatedProblem &problem,
         const Instruction &instruction, const Chip &chip)
      : context(context), problem(problem), instruction(instruction),
        chip(chip), rates(getScheduleRates(chip, instruction.kind)) {}

  /// Empty if none fits. 2-CTA has to be better than single CTAs by more than
  /// the cost of cluster barriers, which no rate tells.
  BestOfTiles find(int64_t columns, bool swapsAb) {
    constexpr uint64_t kLeastRange = 16;
    BestOfTiles best = find(columns, swapsAb, /*isPair=*/false);
    if (problem.isInSoftware)
      return best;
    BestOfTiles paired = find(columns, swapsAb, /*isPair=*/true);
    for (auto member : {&BestOfTiles::whole, &BestOfTiles::divided}) {
      std::optional<ScheduleCandidate> &alone = best.*member;
      const std::optional<ScheduleCandidate> &pair = paired.*member;
      if (pair && (!alone || pair->estimate.total <
                                 alone->estimate.total -
                                     alone->estimate.total / kLeastRange))
        alone = pair;
    }
    return best;
  }

private:
  struct Pipeline {
    int64_t columns, stages, accumulators;
    bool swapsAb, isPair;
    int64_t wideK;
  };

  /// 0 for the K that all chips have, and the larger ones of this chip.
  SmallVector<int64_t, 2> getInstructionKs(int64_t columns) const {
    constexpr int64_t kStepN = 16;
    SmallVector<int64_t, 2> result = {0};
    if (problem.isInSoftware || columns % kStepN != 0)
      return result;
    for (unsigned k : getWideKs())
      if (const Instruction *wide = lookupWide(instruction, k);
          wide && wide->isOn(chip))
        result.push_back(k);
    return result;
  }

  BestOfTiles find(int64_t columns, bool swapsAb, bool isPair) {
    constexpr int64_t kMostStages = 8;
    BestOfTiles best;
    for (int64_t wideK : getInstructionKs(columns))
      for (int64_t accumulators : {2, 1})
        for (int64_t stages = kMostStages; stages != 1; --stages)
          find({columns, stages, accumulators, swapsAb, isPair, wideK}, best);
    return best;
  }

  void find(const Pipeline &pipeline, BestOfTiles &best) {
    std::optional<ScheduleCandidate> whole = make(pipeline, 1);
    if (!whole)
      return;
    keepBest(best.whole, *whole);
    int64_t most =
        getMostSplitK(problem, whole->estimate, whole->schedule.getK(), rates);
    for (int64_t splitK = 2; splitK <= most; ++splitK)
      keepBest(best.divided, *make(pipeline, splitK));
  }

  /// Nullopt if it does not fit, which does not depend on the number of ranges.
  std::optional<ScheduleCandidate> make(const Pipeline &pipeline,
                                        int64_t splitK) {
    int64_t tile[] = {kTensorLanes, pipeline.columns,
                      getSwizzleRowElements(instruction)};
    ClusterSize cluster;
    if (pipeline.isPair)
      cluster.m = 2;
    auto schedule = WarpSpecializedScheduleAttr::get(
        context, tile, pipeline.stages, pipeline.accumulators,
        /*persistent=*/true, kTileGroup, pipeline.swapsAb, splitK, cluster,
        pipeline.isPair, pipeline.wideK, KernelKind::Dense,
        /*blocks_per_sm=*/1);
    TmemPlan plan(instruction, schedule);
    if (plan.getSharedBytes() > getMostStageBytes(chip) ||
        !plan.fitsTensorMemory())
      return std::nullopt;
    return ScheduleCandidate{
        schedule, estimateSchedule(problem, instruction, plan, rates)};
  }

  static void keepBest(std::optional<ScheduleCandidate> &best,
                       const ScheduleCandidate &candidate) {
    if (!best || isBetter(candidate, *best))
      best = candidate;
  }

  MLIRContext *context;
  const EstimatedProblem &problem;
  const Instruction &instruction;
  const Chip &chip;
  ScheduleRates rates;
};
} // namespace

SmallVector<ScheduleCandidate> blockscale::getScheduleCandidates(
    MLIRContext *context, const EstimatedProblem &problem,
    const Instruction &instruction, const Chip &chip) {
  Search search(context, problem, instruction, chip);
  SmallVector<BestOfTiles> found;
  for (int64_t columns : getTileColumns(problem.n))
    found.push_back(search.find(columns, /*swapsAb=*/false));
  // With more rows there are several tiles in either case. A sparse x is A.
  if (problem.m <= kMostN && !instruction.isSparse())
    for (int64_t columns : getTileColumns(problem.m, problem.hasGroups))
      found.push_back(search.find(columns, /*swapsAb=*/true));

  // Split-K has to be better than all schedules without it by more than the
  // cost of a launch differs between cards.
  constexpr uint64_t kLeastRange = 16;
  uint64_t most = ~uint64_t(0);
  for (const BestOfTiles &of : found)
    if (of.whole)
      most = std::min(most, of.whole->estimate.total);
  most -= most / kLeastRange;
  SmallVector<ScheduleCandidate> best;
  for (const BestOfTiles &of : found)
    if (of.divided && of.divided->estimate.total < most)
      best.push_back(*of.divided);
    else if (of.whole)
      best.push_back(*of.whole);
  return best;
}

ScheduleCandidate
blockscale::chooseSchedule(ArrayRef<ScheduleCandidate> candidates) {
  ScheduleCandidate best = candidates.front();
  for (const ScheduleCandidate &candidate : candidates.drop_front())
    if (isBetter(candidate, best))
      best = candidate;
  return best;
}
