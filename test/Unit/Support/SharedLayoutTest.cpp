//===- SharedLayoutTest.cpp - Tiles in shared memory ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/SharedLayout.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir::blockscale;

static int64_t getLine(int64_t row, int64_t part) {
  return applyLayout<1>(kScaleLineTerms, std::array<int64_t, 2>{row, part})[0];
}

static int64_t getRow(int64_t line, int64_t part) {
  return applyLayout<1>(kScaleRowTerms, std::array<int64_t, 2>{line, part})[0];
}

TEST(SharedLayout, LinesOfScalesAreABijection) {
  for (int64_t part = 0; part != 8; ++part) {
    std::set<int64_t> lines;
    for (int64_t row = 0; row != kWarpLanes; ++row) {
      int64_t line = getLine(row, part);
      EXPECT_LT(line, int64_t(kWarpLanes));
      EXPECT_EQ(getRow(line, part), row) << part;
      lines.insert(line);
    }
    EXPECT_EQ(lines.size(), kWarpLanes);
  }
}

// By hand, from the description of `scale_tile_layout`.
TEST(SharedLayout, LinesOfScalesByHand) {
  EXPECT_EQ(getLine(1, 0), 4);
  EXPECT_EQ(getLine(8, 0), 1);
  EXPECT_EQ(getLine(31, 0), 31);
  EXPECT_EQ(getLine(0, 1), 1);
  EXPECT_EQ(getLine(9, 3), 4 + (1 ^ 3));
  EXPECT_EQ(getLine(9, 7), getLine(9, 3));
}

// Lane l holds words of the row that line l of part 0 has.
TEST(SharedLayout, LinesAreInTheOrderOfLanes) {
  for (Operand operand : {Operand::A, Operand::B}) {
    const ScaleFragment &fragment = getScaleFragment(operand);
    for (int64_t lane = 0; lane != kWarpLanes; ++lane)
      EXPECT_EQ(applyLayout<1>(fragment.toRow, std::array<int64_t, 1>{lane})[0],
                getRow(lane, 0));
  }
}

// The words of one row, which are neighbours in the 32x4x4 layout, go to four
// parts: in each to another bank.
TEST(SharedLayout, WordsOfARowGoToDifferentBanks) {
  constexpr int64_t kBanks = kBankLineBytes / 4;
  for (int64_t row = 0; row != kWarpLanes; ++row) {
    std::set<int64_t> banks;
    for (int64_t part = 0; part != 4; ++part)
      banks.insert((part * kWarpLanes + getLine(row, part)) % kBanks);
    EXPECT_EQ(banks.size(), 4u) << row;
  }
}

TEST(SharedLayout, TermsThatShareBitsAreExclusive) {
  constexpr std::array<LayoutTerm, 2> terms = {
      {{0, 0, 1, 4, 1}, {0, 1, 1, 4, 1}}};
  EXPECT_EQ(applyLayout<1>(terms, std::array<int64_t, 2>{3, 1})[0], 2);
}

TEST(SharedLayout, RanksAndNames) {
  EXPECT_EQ(getScaleRank(ScaleOrder::Rows), 2u);
  EXPECT_EQ(getScaleRank(ScaleOrder::Parts), 4u);
  EXPECT_EQ(stringifyScaleOrder(ScaleOrder::Lanes), "lanes");
}
