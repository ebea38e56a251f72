//===- Tcgen05ScheduleEstimate.cpp - The cost model of tcgen05 ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The arithmetic of the model saturates, so that no size wraps around.
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/Tcgen05ScheduleEstimate.h"

#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/TunedRows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr uint64_t kByteBits = 8;
/// Bytes of each row along K that an instruction takes.
static constexpr uint64_t kStepBytes = 32;
static constexpr uint64_t kAccumulatorBytes = 4;

/// The product of all values; saturates.
template <typename... Factors>
static uint64_t multiply(uint64_t first, Factors... factors) {
  ((first = llvm::SaturatingMultiply<uint64_t>(first, factors)), ...);
  return first;
}

static uint64_t divideCeil(uint64_t value, uint64_t by) {
  return value / by + (value % by != 0);
}

EstimatedProblem blockscale::getEstimatedProblem(ProductOpInterface op) {
  // fp4 is packed in memory; 6-bit elements have a byte each.
  auto bits = [](Format format) -> int64_t {
    return getFormatInfo(format).storedBits();
  };
  TypeCombination types = op.getTypes();
  bool mayDivideK =
      getOpSizes(op, ShapedType::kDynamic).k != ShapedType::kDynamic;
  int64_t aBits = getKeptElements(bits(types.lhs), types.sparsity);
  if (types.sparsity)
    aBits += llvm::divideCeilSigned(
        kFieldBits, getGranularityInfo(*types.sparsity).chunk());
  EstimatedProblem problem = {getOpSizes(op, kEstimatedSize), aBits,
                              bits(types.rhs), mayDivideK};
  problem.hasGroups = bool(op.getRowGroups());
  problem.mayDivideK &= !problem.hasGroups;
  return problem;
}

ScheduleRates blockscale::getScheduleRates(const Chip &chip, Kind kind) {
  auto find = [&](ChipRates::Figure ChipRates::*figure) {
    // All chips with the path tcgen05 have these rates, see RatesTest.cpp.
    return findRate(chip.capability, figure).value_or(Rate{1});
  };
  return {find(&ChipRates::sms),
          find(&ChipRates::megahertz),
          find(getFlopsFigure(kind)),
          find(&ChipRates::sharedBytes),
          find(&ChipRates::l2Bytes),
          find(&ChipRates::copyLatency),
          find(&ChipRates::memoryGigabytes),
          find(&ChipRates::sparseFactor),
          getTunedLimits(chip.capability).nextKernel};
}

StringRef blockscale::describeBoundingUnit(BoundingUnit unit) {
  static constexpr StringLiteral names[kNumBoundingUnits] = {
      "tensor core",    "shared memory", "L2 cache",   "pipeline",
      "stores of sums", "memory",        "split-K sum"};
  return names[static_cast<unsigned>(unit)];
}

BoundingUnit ScheduleEstimate::getNearest() const {
  return BoundingUnit(std::max_element(clocks.begin(), clocks.end()) -
                      clocks.begin());
}

static uint64_t getResultBytes(const EstimatedProblem &problem) {
  return multiply(problem.m, problem.n, problem.batch, kAccumulatorBytes);
}

/// Bytes of the operands, each once.
static uint64_t getOperandBytes(const EstimatedProblem &problem,
                                const Instruction &instruction) {
  uint64_t a = divideCeil(multiply(problem.m, problem.k, problem.aBits),
                          kByteBits),
           b = divideCeil(multiply(problem.n, problem.k, problem.bBits),
                          kByteBits),
           blocks =
               instruction.scaleVec ? problem.k / instruction.blockSize : 0;
  uint64_t scales = llvm::SaturatingAdd(multiply(problem.m, blocks),
                                        multiply(problem.n, blocks));
  return multiply(llvm::SaturatingAdd(a, b, scales), problem.batch);
}

static uint64_t getMemoryClocks(uint64_t bytes, const ScheduleRates &rates) {
  constexpr uint64_t kMegaOfGiga = 1000;
  return divideCeil(multiply(bytes, rates.megahertz.value),
                    multiply(rates.memoryGigabytes.value, kMegaOfGiga));
}

/// The reduction kernel of split-K: it reads the partial results of all ranges
/// and writes their sum.
static uint64_t getSplitKClocks(const EstimatedProblem &problem,
                                uint64_t ranges, const ScheduleRates &rates) {
  if (ranges == 1)
    return 0;
  uint64_t bytes = multiply(getResultBytes(problem), ranges + 1);
  return llvm::SaturatingAdd(getMemoryClocks(bytes, rates),
                             rates.nextKernelNanoseconds *
                                 rates.megahertz.value / 1000);
}

/// The tiles of `tileRows` rows that `groups`, of `rows` rows on average, have
/// together. With sizes of all kinds, the last tile of each group is half empty
/// on average.
static uint64_t countTilesOfGroups(uint64_t groups, uint64_t rows,
                                   uint64_t tileRows) {
  uint64_t halves = llvm::SaturatingAdd(multiply(rows, 2), tileRows);
  return std::max(groups, divideCeil(multiply(halves, groups), 2 * tileRows));
}

ScheduleEstimate blockscale::estimateSchedule(const EstimatedProblem &asked,
                                              const Instruction &instruction,
                                              const TmemPlan &plan,
                                              const ScheduleRates &rates) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  EstimatedProblem problem = asked;
  if (schedule.getSwapAb()) {
    std::swap(problem.m, problem.n);
    std::swap(problem.aBits, problem.bBits);
  }
  uint64_t tileM = schedule.getM(), tileN = schedule.getN();
  // With 2-CTA, each block has half of the rows of B.
  uint64_t group = schedule.getBlocksOfProduct();
  ClusterSize cluster = schedule.getCluster();
  // The largest split-K range.
  uint64_t ranges = schedule.getSplitK(), tileK = schedule.getK();
  uint64_t steps = divideCeil(divideCeil(problem.k, tileK), ranges);
  uint64_t k = std::min<uint64_t>(problem.k, multiply(steps, tileK));
  ScheduleEstimate estimate;
  // With 2-CTA and fewer rows, a tile has several M sub-tiles.
  uint64_t subTiles = plan.getMSubTiles();
  uint64_t clusterM = plan.getRowsOfSubTiles() * cluster.m,
           clusterN = tileN * cluster.n;
  uint64_t alongM = divideCeil(problem.m, clusterM),
           alongN = divideCeil(problem.n, clusterN), matrices = problem.batch;
  if (problem.hasGroups) {
    if (schedule.getSwapAb())
      alongN = countTilesOfGroups(problem.batch, problem.n, clusterN);
    else
      alongM = countTilesOfGroups(problem.batch, problem.m, clusterM);
    matrices = 1;
  }
  uint64_t clusters = multiply(alongM, alongN, matrices, ranges);
  estimate.tiles = multiply(clusters, cluster.getBlocks(), subTiles);
  uint64_t tiles = multiply(
      divideCeil(clusters,
                 std::max<uint64_t>(rates.sms.value / cluster.getBlocks(), 1)),
      subTiles);
  estimate.tilesOfBlock = tiles;

  // Clocks of one tile. Instructions take all of its rows; copies bring only
  // rows that the operands have, but whole atoms of scales.
  uint64_t instructions = divideCeil(k, instruction.k);
  uint64_t flops = 2 * tileM * tileN * instruction.k;
  if (instruction.isSparse())
    flops = divideCeil(flops, rates.sparseFactor.value);
  uint64_t tensor =
      multiply(instructions, divideCeil(flops, rates.flops.value));
  // An instruction with the larger K takes as long as one with the smaller K:
  // three replace four.
  if (int64_t wideK = schedule.getInstructionK()) {
    std::vector<unsigned> pattern =
        lookupWide(instruction, wideK)->getKPattern();
    uint64_t patternK = llvm::sum_of(pattern, uint64_t(0));
    tensor =
        divideCeil(multiply(tensor, pattern.size()), patternK / instruction.k);
  }
  uint64_t scaleBytes = multiply(steps, plan.getBytes(GemmOperand::SFA) +
                                            plan.getBytes(GemmOperand::SFB) +
                                            plan.getBytes(GemmOperand::E));
  uint64_t columnsOfB = plan.getColumns(/*isA=*/false);
  uint64_t readBytes =
      multiply(instructions, (tileM + columnsOfB * tileN / group) * kStepBytes);
  uint64_t shared = divideCeil(llvm::SaturatingAdd(readBytes, scaleBytes),
                               rates.sharedBytes.value);
  uint64_t rows = std::min<uint64_t>(problem.m, tileM),
           columns = std::min<uint64_t>(problem.n, tileN);
  // Bytes that other blocks multicast to this one come through its own port,
  // too.
  uint64_t rowBits =
      rows * problem.aBits + divideCeil(columns, group) * problem.bBits;
  uint64_t elementBytes = divideCeil(multiply(k, rowBits), kByteBits);
  uint64_t l2 = divideCeil(llvm::SaturatingAdd(elementBytes, scaleBytes),
                           rates.l2Bytes.value);
  // A stage can be filled again when it has been filled (only latency counts
  // here) and multiplied.
  uint64_t latency = rates.copyLatency.value;
  uint64_t round =
      divideCeil(llvm::SaturatingAdd(multiply(latency, steps), tensor),
                 schedule.getStages());
  uint64_t sums =
      divideCeil(rows * columns * kAccumulatorBytes, rates.l2Bytes.value);

  uint64_t memory =
      llvm::SaturatingAdd(getOperandBytes(problem, instruction),
                          multiply(getResultBytes(problem), ranges));
  estimate.clocks = {multiply(tensor, tiles),
                     multiply(shared, tiles),
                     multiply(l2, tiles),
                     multiply(round, tiles),
                     multiply(sums, tiles),
                     getMemoryClocks(memory, rates),
                     getSplitKClocks(problem, ranges, rates)};

  // The part of the epilogue that the next tile waits for.
  uint64_t waited =
      sums * plan.getWaitedColumns() / plan.getAccumulatorColumns();
  uint64_t loop = std::max({tensor, shared, l2, round});
  uint64_t period = std::max(llvm::SaturatingAdd(loop, waited), sums);
  // The first tile, the tiles that overlap with the epilogue of another one,
  // and the last epilogue.
  estimate.onChip =
      llvm::SaturatingAdd(latency, loop, multiply(period, tiles - 1), sums);
  estimate.total = llvm::SaturatingAdd(
      std::max(estimate.onChip, estimate.getClocks(BoundingUnit::Memory)),
      estimate.getClocks(BoundingUnit::SplitKReduction));
  return estimate;
}
