//===- RatesTest.cpp - Rates of chips -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Rates.h"
#include "gtest/gtest.h"

using namespace mlir::blockscale;

TEST(Rates, RowsAreInTheOrderOfChips) {
  unsigned last = 0;
  for (const ChipRates &row : getChipRates()) {
    EXPECT_GT(row.capability, last) << row.product;
    last = row.capability;
    EXPECT_EQ(lookupChipRates(row.capability), &row);
    bool isChip = false;
    for (const Chip &chip : getChips())
      isChip |= chip.capability == row.capability;
    EXPECT_TRUE(isChip) << row.product;
  }
  EXPECT_EQ(lookupChipRates(101), nullptr);
}

// The estimates of the path tcgen05 have a figure for everything they need.
TEST(Rates, ChipsOfTcgen05HaveWhatEstimatesNeed) {
  ChipRates::Figure ChipRates::*const figures[] = {
      &ChipRates::sms,         &ChipRates::megahertz,
      &ChipRates::byteFlops,   &ChipRates::nibbleFlops,
      &ChipRates::sharedBytes, &ChipRates::l2Bytes,
      &ChipRates::copyLatency, &ChipRates::memoryGigabytes};
  for (const Chip &chip : getChips()) {
    if (!chip.has(Path::Tcgen05))
      continue;
    EXPECT_NE(lookupChipRates(chip.capability), nullptr) << chip.name;
    for (auto figure : figures)
      EXPECT_TRUE(findRate(chip.capability, figure)) << chip.name;
  }
}

TEST(Rates, FiguresArePositive) {
  ChipRates::Figure ChipRates::*const figures[] = {
      &ChipRates::sms,
      &ChipRates::megahertz,
      &ChipRates::bf16Flops,
      &ChipRates::byteFlops,
      &ChipRates::nibbleFlops,
      &ChipRates::sparseFactor,
      &ChipRates::sharedBytes,
      &ChipRates::tensorMemoryBytes,
      &ChipRates::l2Bytes,
      &ChipRates::issuedInstructions,
      &ChipRates::copyLatency,
      &ChipRates::memoryGigabytes,
      &ChipRates::syncFlops,
      &ChipRates::arithmeticLatency,
      &ChipRates::matrixLatency,
      &ChipRates::sharedLatency,
      &ChipRates::l2Latency,
      &ChipRates::memoryLatency,
      &ChipRates::tensorLatency,
      &ChipRates::barrierLatency,
      &ChipRates::bulkLatency,
      &ChipRates::blockBarrierLatency,
      &ChipRates::floatResults,
      &ChipRates::doubleResults,
      &ChipRates::syncByteFlops,
      &ChipRates::syncByteOperations,
      &ChipRates::syncNibbleOperations,
      &ChipRates::syncDoubleFlops};
  for (const ChipRates &row : getChipRates())
    for (auto figure : figures)
      if (row.*figure)
        EXPECT_GT(*(row.*figure), 0) << row.product;
}

// The TFLOP/s of whole chips in data sheets, up to the clock.
TEST(Rates, AgreeWithWholeChips) {
  const ChipRates &b200 = *lookupChipRates(100);
  double perFlop = *b200.sms * *b200.megahertz * 1e-6;
  EXPECT_NEAR(*b200.bf16Flops * perFlop, 2250, 0.06 * 2250);
  EXPECT_NEAR(*b200.byteFlops * perFlop, 4500, 0.06 * 4500);
  EXPECT_NEAR(*b200.nibbleFlops * perFlop, 9000, 0.06 * 9000);
  EXPECT_NEAR(*b200.nibbleFlops * *b200.sparseFactor * perFlop, 18000,
              0.06 * 18000);
  // Dense instructions of K = 96 take as long as those of K = 64.
  const ChipRates &b300 = *lookupChipRates(103);
  EXPECT_NEAR(*b300.sparseFactor / 1.5, 18 / 13.5, 0.001);
  const ChipRates &rtx5090 = *lookupChipRates(120);
  perFlop = *rtx5090.sms * *rtx5090.megahertz * 1e-6;
  EXPECT_NEAR(*rtx5090.byteFlops * perFlop, 838, 0.01 * 838);
  EXPECT_NEAR(*rtx5090.nibbleFlops * perFlop, 1676, 0.01 * 1676);
  EXPECT_NEAR(*rtx5090.nibbleFlops * *rtx5090.sparseFactor * perFlop, 3352,
              0.01 * 3352);
  EXPECT_NEAR(*rtx5090.syncByteFlops * perFlop, 419, 0.01 * 419);
  EXPECT_NEAR(*rtx5090.syncByteOperations * perFlop, 838, 0.01 * 838);
  const ChipRates &a100 = *lookupChipRates(80);
  perFlop = *a100.sms * *a100.megahertz * 1e-6;
  EXPECT_NEAR(*a100.syncFlops * perFlop, 312, 0.01 * 312);
  EXPECT_NEAR(*a100.syncFlops * *a100.sparseFactor * perFlop, 624, 0.01 * 624);
  EXPECT_NEAR(*a100.syncByteOperations * perFlop, 624, 0.01 * 624);
  EXPECT_NEAR(*a100.syncNibbleOperations * perFlop, 1248, 0.01 * 1248);
  EXPECT_NEAR(*a100.syncDoubleFlops * perFlop, 19.5, 0.01 * 19.5);
  EXPECT_NEAR(*a100.floatResults * 2 * perFlop, 19.5, 0.01 * 19.5);
  EXPECT_NEAR(*a100.doubleResults * 2 * perFlop, 9.7, 0.01 * 9.7);
  const ChipRates &a40 = *lookupChipRates(86);
  perFlop = *a40.sms * *a40.megahertz * 1e-6;
  EXPECT_NEAR(*a40.syncFlops * perFlop, 149.7, 0.01 * 149.7);
  EXPECT_NEAR(*a40.syncByteOperations * perFlop, 299.3, 0.01 * 299.3);
  EXPECT_NEAR(*a40.floatResults * 2 * perFlop, 37.4, 0.01 * 37.4);
  const ChipRates &l40s = *lookupChipRates(89);
  perFlop = *l40s.sms * *l40s.megahertz * 1e-6;
  EXPECT_NEAR(*l40s.syncFlops * perFlop, 362, 0.02 * 362);
  EXPECT_NEAR(*l40s.syncByteFlops * perFlop, 733, 0.01 * 733);
  EXPECT_NEAR(*l40s.floatResults * 2 * perFlop, 91.6, 0.01 * 91.6);
}

TEST(Rates, WhatIsMissingIsThatOfAnOlderChip) {
  std::optional<Rate> own = findRate(100, &ChipRates::sms);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->value, 148);
  EXPECT_FALSE(own->isAssumed);
  std::optional<Rate> older = findRate(100, &ChipRates::l2Bytes);
  ASSERT_TRUE(older);
  EXPECT_EQ(older->value, 64);
  EXPECT_TRUE(older->isAssumed);
  EXPECT_EQ(older->source->product, "H200");
  // Of several older ones the newest.
  std::optional<Rate> newest = findRate(110, &ChipRates::megahertz);
  EXPECT_EQ(newest->source->product, "Thor");
  EXPECT_EQ(findRate(110, &ChipRates::byteFlops)->source->product, "B300");
  EXPECT_EQ(findRate(103, &ChipRates::megahertz)->source->product, "B200");
  EXPECT_FALSE(findRate(100, &ChipRates::tensorMemoryBytes));
  // Figures of newer chips are not used for older ones.
  EXPECT_FALSE(findRate(89, &ChipRates::byteFlops));
  EXPECT_FALSE(findRate(75, &ChipRates::sharedBytes));
  // Unless no other chip has one.
  std::optional<Rate> oldest = findAnyRate(75, &ChipRates::sharedBytes);
  ASSERT_TRUE(oldest);
  EXPECT_EQ(oldest->source->product, "A100 80GB");
  EXPECT_TRUE(oldest->isAssumed);
  EXPECT_EQ(findAnyRate(100, &ChipRates::l2Bytes)->source->product, "H200");
  EXPECT_FALSE(findAnyRate(100, &ChipRates::tensorMemoryBytes));
}

TEST(Rates, KindsHaveTheirOwn) {
  EXPECT_EQ(getFlopsFigure(Kind::BF16), &ChipRates::bf16Flops);
  EXPECT_EQ(getFlopsFigure(Kind::BF16Packed), &ChipRates::bf16Flops);
  EXPECT_EQ(getFlopsFigure(Kind::MXF8F6F4), &ChipRates::byteFlops);
  EXPECT_EQ(getFlopsFigure(Kind::MXF4), &ChipRates::nibbleFlops);
  EXPECT_EQ(getFlopsFigure(Kind::MXF4NVF4), &ChipRates::nibbleFlops);
}
