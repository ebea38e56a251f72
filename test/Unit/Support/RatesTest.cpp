//===- RatesTest.cpp - How fast chips are ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Rates.h"
#include "gtest/gtest.h"

using namespace mlir::blockscale;

TEST(Rates, RowsAreOfChipsInOrder) {
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
      &ChipRates::multiprocessors, &ChipRates::megahertz,
      &ChipRates::byteFlops,       &ChipRates::nibbleFlops,
      &ChipRates::sharedBytes,     &ChipRates::l2Bytes,
      &ChipRates::copyLatency,     &ChipRates::memoryGigabytes};
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
      &ChipRates::multiprocessors,    &ChipRates::megahertz,
      &ChipRates::bf16Flops,          &ChipRates::byteFlops,
      &ChipRates::nibbleFlops,        &ChipRates::sharedBytes,
      &ChipRates::tensorMemoryBytes,  &ChipRates::l2Bytes,
      &ChipRates::issuedInstructions, &ChipRates::copyLatency,
      &ChipRates::memoryGigabytes,    &ChipRates::syncFlops,
      &ChipRates::arithmeticLatency,  &ChipRates::matrixLatency,
      &ChipRates::sharedLatency,      &ChipRates::l2Latency,
      &ChipRates::memoryLatency,      &ChipRates::tensorLatency,
      &ChipRates::barrierLatency,     &ChipRates::bulkLatency};
  for (const ChipRates &row : getChipRates())
    for (auto figure : figures)
      if (row.*figure)
        EXPECT_GT(*(row.*figure), 0) << row.product;
}

// What the data sheets say of a whole chip, in TFLOP/s and up to its clock.
TEST(Rates, AgreeWithWholeChips) {
  const ChipRates &b200 = *lookupChipRates(100);
  double perFlop = *b200.multiprocessors * *b200.megahertz * 1e-6;
  EXPECT_NEAR(*b200.bf16Flops * perFlop, 2250, 0.06 * 2250);
  EXPECT_NEAR(*b200.byteFlops * perFlop, 4500, 0.06 * 4500);
  EXPECT_NEAR(*b200.nibbleFlops * perFlop, 9000, 0.06 * 9000);
  const ChipRates &rtx5090 = *lookupChipRates(120);
  perFlop = *rtx5090.multiprocessors * *rtx5090.megahertz * 1e-6;
  EXPECT_NEAR(*rtx5090.byteFlops * perFlop, 838, 0.01 * 838);
  EXPECT_NEAR(*rtx5090.nibbleFlops * perFlop, 1676, 0.01 * 1676);
}

TEST(Rates, WhatIsMissingIsThatOfAnOlderChip) {
  std::optional<Rate> own = findRate(100, &ChipRates::multiprocessors);
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
  // Newer chips say nothing of older ones.
  EXPECT_FALSE(findRate(90, &ChipRates::byteFlops));
  EXPECT_FALSE(findRate(80, &ChipRates::sharedBytes));
}

TEST(Rates, KindsHaveTheirOwn) {
  EXPECT_EQ(getFlopsFigure(Kind::BF16), &ChipRates::bf16Flops);
  EXPECT_EQ(getFlopsFigure(Kind::BF16Packed), &ChipRates::bf16Flops);
  EXPECT_EQ(getFlopsFigure(Kind::MXF8F6F4), &ChipRates::byteFlops);
  EXPECT_EQ(getFlopsFigure(Kind::MXF4), &ChipRates::nibbleFlops);
  EXPECT_EQ(getFlopsFigure(Kind::MXF4NVF4), &ChipRates::nibbleFlops);
}
