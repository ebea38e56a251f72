//===- ScheduleChoiceTest.cpp - Which schedule a ring kernel gets ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers here are worked out by hand from the rates of a B200: 148
// SMs at 1965 MHz; 16384 (bytes) or 32768 (nibbles) operations, 128
// bytes of shared memory, 64 of the L2 cache in a clock; 1618 clocks for a
// copy; 7672 GB/s.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/Tcgen05ScheduleChoice.h"
#include "Kernels/Gemm/Schedule/Tcgen05ScheduleExplanation.h"
#include "blockscale/Support/TensorMemory.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class ScheduleChoice : public testing::Test {
protected:
  ScheduleChoice() { context.loadDialect<BlockScaleDialect>(); }

  static const Instruction &find(Kind kind, Format scale, Format b) {
    for (const Instruction &instruction : getInstructions())
      if (instruction.path == Path::Tcgen05 && instruction.kind == kind &&
          instruction.scale == scale && instruction.b == b)
        return instruction;
    llvm_unreachable("no such instruction");
  }
  static const Instruction &getMxfp8() {
    return find(Kind::MXF8F6F4, Format::UE8M0, Format::E4M3);
  }
  static const Instruction &getNvfp4() {
    return find(Kind::MXF4NVF4, Format::UE4M3, Format::E2M1);
  }
  static const Chip &getB200() { return *lookupChip("sm_100a"); }

  ScheduleCandidate choose(const EstimatedProblem &problem,
                           const Instruction &instruction,
                           const Chip &chip = getB200()) {
    return chooseSchedule(
        getScheduleCandidates(&context, problem, instruction, chip));
  }
  ScheduleEstimate estimate(const EstimatedProblem &problem, int64_t n,
                            int64_t stages, int64_t accumulators,
                            bool swapsAb = false, int64_t splitK = 1) {
    auto schedule = WarpSpecializedScheduleAttr::get(
        &context, {128, n, 128}, stages, accumulators, true, kTileGroup,
        swapsAb, splitK, ClusterSize());
    return estimateSchedule(problem, getMxfp8(), TmemPlan(getMxfp8(), schedule),
                            getScheduleRates(getB200(), Kind::MXF8F6F4));
  }
  /// N, stages, accumulators.
  static std::array<int64_t, 3> getNumbers(const ScheduleCandidate &candidate) {
    WarpSpecializedScheduleAttr schedule = candidate.schedule;
    return {schedule.getN(), schedule.getStages(), schedule.getAccumulators()};
  }

  MLIRContext context;
};

using Numbers = std::array<int64_t, 3>;

constexpr EstimatedProblem makeBytes(int64_t m, int64_t n, int64_t k) {
  return {{m, n, k, 1}, 8, 8};
}
} // namespace

// 32 x 16 tiles, 4 on a SM. A tile is 128 instructions of 128 x 256
// x 32, 2^21 operations each, 128 clocks. Stages, 32 of them, have 16384 +
// 32768 + 1536 bytes: 792 clocks of the L2 cache; instructions read (128 + 256)
// x 32 bytes, and the scales: 32 x (49152 + 1536) / 128 = 12672. A stage comes
// round in 1618 + 512 clocks, a quarter of that as there are four. Sums
// have 131072 bytes: 2048 clocks, of which 64 of 256 columns are waited for.
TEST_F(ScheduleChoice, EstimateByHand) {
  ScheduleEstimate of = estimate(makeBytes(4096, 4096, 4096), 256, 4, 2);
  EXPECT_EQ(of.tiles, 512u);
  EXPECT_EQ(of.tilesOfBlock, 4u);
  EXPECT_EQ(of.getClocks(BoundingUnit::TensorCore), 4u * 128 * 128);
  EXPECT_EQ(of.getClocks(BoundingUnit::SharedMemory), 4u * 12672);
  EXPECT_EQ(of.getClocks(BoundingUnit::L2Cache), 4u * 32 * 792);
  EXPECT_EQ(of.getClocks(BoundingUnit::Latency), 4u * 32 * (1618 + 512) / 4);
  EXPECT_EQ(of.getClocks(BoundingUnit::Epilogue), 4u * 2048);
  // 2 x 4096^2 codes, as many / 32 scales, 4 x 4096^2 bytes of sums.
  EXPECT_EQ(of.getClocks(BoundingUnit::Memory),
            (101711872ull * 1965 + 7671999) / 7672000);
  EXPECT_EQ(of.getNearest(), BoundingUnit::L2Cache);
  EXPECT_EQ(of.total, 1618u + 4 * (32 * 792 + 2048 / 4) + 2048 * 3 / 4);
}

// Nothing of a tile overlaps with the next one where there is one accumulator.
TEST_F(ScheduleChoice, OneAccumulatorWaitsForAllSums) {
  ScheduleEstimate of = estimate(makeBytes(4096, 4096, 4096), 256, 4, 1);
  EXPECT_EQ(of.total, 1618u + 4 * (32 * 792 + 2048));
}

// Rows that an operand has not are not copied: 16 of 128 rows of A here. The
// instructions take all of them.
TEST_F(ScheduleChoice, FewRows) {
  ScheduleEstimate of = estimate(makeBytes(16, 8192, 8192), 64, 8, 2);
  EXPECT_EQ(of.tilesOfBlock, 1u);
  EXPECT_EQ(of.getClocks(BoundingUnit::TensorCore), 256u * 32);
  EXPECT_EQ(of.getClocks(BoundingUnit::L2Cache),
            64u * (16 * 128 + 64 * 128 + 1024) / 64);
  EXPECT_EQ(of.getClocks(BoundingUnit::Epilogue), 16u * 64 * 4 / 64);
  EXPECT_EQ(of.getNearest(), BoundingUnit::Memory);
  EXPECT_EQ(of.total, of.getClocks(BoundingUnit::Memory));
  // B of 4 bits is packed in memory.
  EXPECT_EQ(estimate({{16, 8192, 8192, 1}, 8, 4}, 64, 8, 2)
                .getClocks(BoundingUnit::L2Cache),
            64u * (16 * 128 + 64 * 64 + 1024) / 64);
}

// K that ends in a stage: three instructions more, and one more stage.
TEST_F(ScheduleChoice, RestOfK) {
  ScheduleEstimate whole = estimate(makeBytes(128, 256, 128), 256, 4, 2);
  ScheduleEstimate more = estimate(makeBytes(128, 256, 128 + 96), 256, 4, 2);
  EXPECT_EQ(whole.getClocks(BoundingUnit::TensorCore), 512u);
  EXPECT_EQ(more.getClocks(BoundingUnit::TensorCore), 512u + 3 * 128);
  EXPECT_EQ(whole.getClocks(BoundingUnit::L2Cache), 792u);
  EXPECT_EQ(more.getClocks(BoundingUnit::L2Cache), 792u + 96 * 384 / 64 + 24);
}

// A block of a pair has 128 of 256 rows of B: 34304 bytes in a stage, 536
// clocks of the L2 cache, and (128 + 128) x 32 bytes for an instruction. 256
// pairs of tiles are four rounds of 74 pairs of SMs.
TEST_F(ScheduleChoice, Pairs) {
  auto schedule = WarpSpecializedScheduleAttr::get(
      &context, {128, 256, 128}, 4, 2, true, kTileGroup, false, 1, {2, 1},
      /*two_cta=*/true, /*instruction_k=*/0, KernelKind::Dense,
      /*blocks_per_sm=*/1);
  ScheduleEstimate of = estimateSchedule(
      makeBytes(4096, 4096, 4096), getMxfp8(), TmemPlan(getMxfp8(), schedule),
      getScheduleRates(getB200(), Kind::MXF8F6F4));
  EXPECT_EQ(of.tiles, 512u);
  EXPECT_EQ(of.tilesOfBlock, 4u);
  EXPECT_EQ(of.getClocks(BoundingUnit::TensorCore), 4u * 128 * 128);
  EXPECT_EQ(of.getClocks(BoundingUnit::SharedMemory),
            4u * 32 * (4 * 256 * 32 + 1536) / 128);
  EXPECT_EQ(of.getClocks(BoundingUnit::L2Cache), 4u * 32 * 536);
  EXPECT_EQ(of.total, 1618u + 4 * (32 * 536 + 512) + 1536);
}

// Three instructions with K = 96 and 64 take the time of three with K = 64.
TEST_F(ScheduleChoice, WideInstructions) {
  auto clocks = [&](int64_t k) {
    auto schedule = WarpSpecializedScheduleAttr::get(
        &context, {128, 256, 256}, 4, 2, true, kTileGroup, false, 1, {1, 1},
        /*two_cta=*/false, k, KernelKind::Dense,
        /*blocks_per_sm=*/1);
    return estimateSchedule(
               {{4096, 4096, 4096, 1}, 4, 4}, getNvfp4(),
               TmemPlan(getNvfp4(), schedule),
               getScheduleRates(*lookupChip("sm_103a"), Kind::MXF4NVF4))
        .getClocks(BoundingUnit::TensorCore);
  };
  EXPECT_EQ(clocks(0), 4u * 16 * 4 * 128);
  EXPECT_EQ(clocks(96), 4u * 16 * 3 * 128);
}

// The explanation names the K of wide instructions.
TEST_F(ScheduleChoice, PrintsTheWideK) {
  auto print = [&](int64_t k) {
    std::string text;
    llvm::raw_string_ostream os(text);
    ScheduleCandidate candidate = {};
    candidate.schedule = WarpSpecializedScheduleAttr::get(
        &context, {128, 256, 256}, 4, 2, true, kTileGroup, false, 1, {1, 1},
        /*two_cta=*/false, k, KernelKind::Dense,
        /*blocks_per_sm=*/1);
    printScheduleCandidates(os, candidate);
    return text;
  };
  EXPECT_NE(print(96).find("256         no    no      96       1       4"),
            std::string::npos);
  EXPECT_NE(print(0).find("256         no    no      no       1       4"),
            std::string::npos);
}

// Large: the L2 cache binds, and wide tiles of pairs ask least of it. Six
// stages have more than 64 columns of scales, so that these have two slots, and
// 32 columns of sums are waited for.
TEST_F(ScheduleChoice, LargeProductsGetWideTiles) {
  ScheduleCandidate of = choose(makeBytes(4096, 4096, 4096), getMxfp8());
  EXPECT_TRUE(of.schedule.getTwoCta());
  EXPECT_EQ(getNumbers(of), (Numbers{256, 6, 2}));
  EXPECT_EQ(of.estimate.total, 1618u + 4 * (32 * 536 + 256) + 1792);

  of = choose(makeBytes(8192, 8192, 8192), getMxfp8());
  EXPECT_TRUE(of.schedule.getTwoCta());
  EXPECT_EQ(getNumbers(of), (Numbers{256, 6, 2}));
  EXPECT_EQ(of.estimate.total, 1618u + 14 * (64 * 536 + 256) + 1792);
}

// fp4: a stage has 38912 bytes, 608 clocks, and takes 48 columns of scales, for
// which there are two slots, so that 96 of 256 columns of sums are waited for.
TEST_F(ScheduleChoice, SlotsOfScalesFreeSums) {
  ScheduleCandidate of = choose({{8192, 8192, 8192, 1}, 4, 4}, getNvfp4());
  EXPECT_EQ(getNumbers(of), (Numbers{256, 4, 2}));
  EXPECT_EQ(of.estimate.total, 1618u + 14 * (32 * 608 + 768) + 1280);
}

// One row of tiles: narrow ones are on more SMs. With operands
// swapAb, 64 columns are 64 pairs of tiles with 32 stages of 21504 bytes,
// 336 clocks each.
TEST_F(ScheduleChoice, FewTilesGetNarrow) {
  ScheduleCandidate of = choose(makeBytes(128, 8192, 4096), getMxfp8());
  EXPECT_EQ(getNumbers(of), (Numbers{64, 8, 2}));
  EXPECT_EQ(of.estimate.total, 1618u + 32 * 336 + 512);
  // The same the other way round, and where both are short.
  EXPECT_EQ(getNumbers(choose(makeBytes(8192, 128, 4096), getMxfp8())),
            (Numbers{64, 8, 2}));
  EXPECT_EQ(getNumbers(choose(makeBytes(1024, 1024, 1024), getMxfp8())),
            (Numbers{64, 8, 2}));
  // 64 x 2 tiles of 256 columns are as many as fit.
  EXPECT_EQ(getNumbers(choose(makeBytes(8192, 512, 4096), getMxfp8())),
            (Numbers{256, 6, 2}));
}

// Where memory is the bound of several tiles, the one whose other units need
// fewest clocks. K = 512: 2 x 4096 x 512 elements, as many / 32 scales, 4 x
// 4096^2 bytes of sums.
TEST_F(ScheduleChoice, FewestClocksBelowTheBoundOfMemory) {
  EstimatedProblem problem = makeBytes(4096, 4096, 512);
  uint64_t memory = (71434240ull * 1965 + 7671999) / 7672000;
  ScheduleEstimate of256 = estimate(problem, 256, 4, 2);
  ScheduleEstimate of192 = estimate(problem, 192, 5, 2);
  ScheduleEstimate of128 = estimate(problem, 128, 6, 2);
  EXPECT_EQ(of256.total, memory);
  EXPECT_EQ(of192.total, memory);
  EXPECT_EQ(of128.total, memory);
  EXPECT_GT(estimate(problem, 64, 8, 2).total, memory);
  EXPECT_EQ(of256.onChip, 1618u + 4 * (4 * 792 + 512) + 1536);
  EXPECT_EQ(of192.onChip, 1618u + 5 * 4 * 664 + 1536);
  EXPECT_EQ(of128.onChip, 1618u + 7 * 4 * 528 + 1024);
  EXPECT_EQ(getNumbers(choose(problem, getMxfp8())), (Numbers{192, 5, 2}));
}

// Stages that no estimate asks for are there all the same.
TEST_F(ScheduleChoice, TiesGoToDeeperPipelines) {
  EstimatedProblem problem = makeBytes(128, 128, 128);
  EXPECT_EQ(estimate(problem, 64, 8, 2).total,
            estimate(problem, 64, 6, 2).total);
  EXPECT_EQ(getNumbers(choose(problem, getMxfp8())), (Numbers{64, 8, 2}));
}

// A result of few columns may be one tile, of what instructions take.
TEST_F(ScheduleChoice, NarrowResults) {
  for (auto [n, tile] : {std::pair(1, 16),
                         {16, 16},
                         {17, 32},
                         {64, 64},
                         {136, 144},
                         {300, 256}}) {
    SmallVector<ScheduleCandidate> plain = getScheduleCandidates(
        &context, makeBytes(4096, n, 4096), getMxfp8(), getB200());
    llvm::erase_if(plain, [](const ScheduleCandidate &of) {
      return of.schedule.getSwapAb();
    });
    EXPECT_EQ(plain.back().schedule.getN(), tile);
  }
}

// The transpose is the transposed product, of the other operands' types.
TEST_F(ScheduleChoice, SwappedIsTransposed) {
  ScheduleEstimate plain = estimate({{4096, 200, 512, 1}, 8, 4}, 64, 4, 2);
  ScheduleEstimate other =
      estimate({{200, 4096, 512, 1}, 4, 8}, 64, 4, 2, /*swapsAb=*/true);
  EXPECT_EQ(plain.total, other.total);
  EXPECT_EQ(plain.clocks, other.clocks);
}

// 128 tiles of 128 columns of the result, with few rows of x as N. A stage has
// 128 and 16 rows and two atoms: 304 clocks of the L2 cache. Memory is the
// bound of plain tiles, too, of which fewer stages fit.
// Of 257 rows of x there would be two tiles of swapped operands, as there are
// three of 128 rows: what is less by rounding is not for few rows.
TEST_F(ScheduleChoice, ManyRowsAreNotSwapped) {
  for (const ScheduleCandidate &candidate : getScheduleCandidates(
           &context, makeBytes(257, 16384, 1024), getMxfp8(), getB200()))
    EXPECT_FALSE(candidate.schedule.getSwapAb());
}

// 128 tiles of 64 columns on 148 SMs, or 256 halves of them, gain
// 1.5 %: less than what is not known of a second launch. A dynamic K may turn
// out to be short.
TEST_F(ScheduleChoice, SplitKHasToBeWorthwhile) {
  EstimatedProblem problem = makeBytes(128, 8192, 8192);
  EXPECT_EQ(choose(problem, getMxfp8()).schedule.getSplitK(), 1);
  problem = makeBytes(16, 2048, kEstimatedSize);
  EXPECT_GT(choose(problem, getMxfp8()).schedule.getSplitK(), 1);
  problem.mayDivideK = false;
  EXPECT_EQ(choose(problem, getMxfp8()).schedule.getSplitK(), 1);
}

TEST_F(ScheduleChoice, FewRowsAreSwapped) {
  ScheduleCandidate of = choose(makeBytes(16, 16384, 8192), getMxfp8());
  EXPECT_TRUE(of.schedule.getSwapAb());
  EXPECT_EQ(getNumbers(of), (Numbers{16, 8, 2}));
  EXPECT_EQ(of.estimate.onChip, 1618u + 64 * 304 + 16 * 128 * 4 / 64);
  EXPECT_EQ(of.estimate.total, of.estimate.getClocks(BoundingUnit::Memory));
  // 200 rows are one tile of 208, of which copies bring 200, not two of 128.
  of = choose(makeBytes(200, 16384, 1024), getMxfp8());
  EXPECT_TRUE(of.schedule.getSwapAb());
  EXPECT_EQ(getNumbers(of), (Numbers{208, 7, 2}));
  EXPECT_EQ(of.estimate.onChip, 1618u + 8 * 480 + 200 * 128 * 4 / 64);
  // Of equal ones the plain one.
  EXPECT_FALSE(
      choose(makeBytes(4096, 4096, 4096), getMxfp8()).schedule.getSwapAb());
}

// 16 tiles of 128 columns of the result are 112 with 7 parts of K, 8 of 56
// steps each: 304 clocks of the L2 cache for one, 128 for the sums. The second
// kernel reads 7 and writes one times 16 x 2048 sums, 269 clocks of memory, and
// starts after 3930.
TEST_F(ScheduleChoice, FewTilesDivideK) {
  EstimatedProblem problem = makeBytes(16, 2048, 7168);
  ScheduleCandidate of = choose(problem, getMxfp8());
  EXPECT_EQ(getNumbers(of), (Numbers{16, 8, 2}));
  EXPECT_TRUE(of.schedule.getSwapAb());
  EXPECT_EQ(of.schedule.getSplitK(), 7);
  EXPECT_EQ(of.estimate.tiles, 16u * 7);
  EXPECT_EQ(of.estimate.onChip, 1618u + 8 * 304 + 128);
  EXPECT_EQ(of.estimate.getClocks(BoundingUnit::SplitKReduction), 3930u + 269);
  EXPECT_EQ(of.estimate.total, of.estimate.onChip + 3930 + 269);
  EXPECT_EQ(estimate(problem, 64, 8, 2).total, 13904u);
}

// What the second kernel needs is more than there is to gain, or there are
// tiles for all SMs.
TEST_F(ScheduleChoice, OneKernelWhereTwoDoNotPay) {
  for (const EstimatedProblem &problem :
       {makeBytes(16, 2048, 1024), makeBytes(128, 128, 128),
        makeBytes(4096, 4096, 4096), makeBytes(16, 16384, 8192)})
    EXPECT_EQ(choose(problem, getMxfp8()).schedule.getSplitK(), 1);
}

// The largest part counts: 4 of 10 steps where there are 3 parts, the last one
// of which ends inside of a step.
TEST_F(ScheduleChoice, UnevenParts) {
  EstimatedProblem problem = makeBytes(128, 64, 10 * 128 - 32);
  ScheduleEstimate of = estimate(problem, 64, 8, 2, /*swapsAb=*/false, 3);
  EXPECT_EQ(of.tiles, 3u);
  EXPECT_EQ(of.getClocks(BoundingUnit::L2Cache), 4u * 400);
  EXPECT_EQ(of.getClocks(BoundingUnit::TensorCore), 4u * 4 * 32);
}

// Every choice fits the chip, whatever the product; and no size wraps.
TEST_F(ScheduleChoice, EverythingIsLegal) {
  const int64_t sizes[] = {1, 63, 65, 4096, int64_t(1) << 40};
  for (const Chip &chip : getChips())
    for (const Instruction &instruction : getInstructions()) {
      // Wide ones are a choice of the schedule.
      if (!chip.has(Path::Tcgen05) || instruction.path != Path::Tcgen05 ||
          instruction.isWide())
        continue;
      for (int64_t m : sizes)
        for (int64_t n : sizes)
          for (int64_t k : sizes) {
            ScheduleCandidate of =
                choose({{m, n, k * instruction.blockSize, m}, 8, 8},
                       instruction, chip);
            TmemPlan plan(instruction, of.schedule);
            ASSERT_LE(plan.getSharedBytes(), getMostStageBytes(chip));
            ASSERT_TRUE(plan.fitsTensorMemory());
            int64_t rowsOfB = of.schedule.getSwapAb() ? m : n;
            ASSERT_TRUE(rowsOfB <= of.schedule.getN() ||
                        of.schedule.getN() % kTileUnit == 0);
            ASSERT_GT(of.schedule.getStages(), 1)
                << m << "x" << n << "x" << k * instruction.blockSize << " "
                << getOpcode(instruction) << " on " << chip.name;
            ASSERT_TRUE(of.schedule.getSplitK() == 1 ||
                        (of.schedule.getSplitK() - 1) * of.schedule.getK() <
                            k * instruction.blockSize);
          }
    }
}
