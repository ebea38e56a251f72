//===- TunedRowsTest.cpp - Measured tuning tables -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/TunedRows.h"
#include "blockscale/Support/Chips.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <utility>

using namespace mlir::blockscale;

// The first entry with enough rows of x is used.
TEST(TunedRows, TilesAreInOrder) {
  for (Path path : {Path::DequantMma, Path::Wgmma}) {
    std::vector<TunedTile> tiles = getTunedTiles(90, path);
    ASSERT_FALSE(tiles.empty());
    for (size_t i = 0; i != tiles.size(); ++i) {
      const TunedTile &tile = tiles[i];
      EXPECT_EQ(tile.capability, 90u);
      EXPECT_FALSE(tile.card.empty() || tile.benchmark.empty());
      if (i == 0)
        continue;
      const TunedTile &last = tiles[i - 1];
      EXPECT_GE(tile.mostM, last.mostM);
      // For the same number of rows, entries for wider elements come first.
      bool isSame = tile.mostM == last.mostM;
      EXPECT_TRUE(!isSame || tile.leastBits <= last.leastBits);
    }
  }
  EXPECT_TRUE(getTunedTiles(90, Path::Tcgen05).empty());
}

// A chip without entries uses those of an older one, or of the oldest.
TEST(TunedRows, ChipsWithoutRowsUseOthers) {
  for (const Chip &chip : getChips()) {
    EXPECT_EQ(getTunedTiles(chip.capability, Path::DequantMma).size(), 3u);
    EXPECT_EQ(getTunedLimits(chip.capability).capability, 90u);
    std::optional<TunedRows> few = lookupTunedRows(chip.capability, "few");
    ASSERT_TRUE(few) << chip.name;
    EXPECT_EQ(few->mostM, 16);
  }
  EXPECT_FALSE(lookupTunedRows(90, "fewer"));
}

// An entry with split-K has a tile for the same number of rows of x.
TEST(TunedRows, RowsHaveTiles) {
  int64_t last = 0;
  for (const TunedRows &row : getTunedRows(90)) {
    EXPECT_GT(row.mostM, last);
    last = row.mostM;
    bool hasTile = false;
    for (const TunedTile &tile : getTunedTiles(90, Path::DequantMma))
      hasTile |= tile.mostM == row.mostM;
    EXPECT_EQ(hasTile, row.splitK != 0) << row.name;
  }
}

TEST(TunedRows, TilesEndInMemoryOfX) {
  for (unsigned bits : {4, 8}) {
    int64_t before = 0, most = 0;
    for (const TunedRowRange &range : getTunedRowRanges(90)) {
      if (bits < range.leastBits || bits > range.mostBits)
        continue;
      if (range.mostRows != most)
        before = std::exchange(most, range.mostRows);
      for (int64_t rows = before + 1; rows <= most; ++rows) {
        int64_t behind = std::min(rows + kFewRowsBehind, kMostRowsBehind);
        int64_t tiles = (rows + range.rowsOfX - 1) / range.rowsOfX;
        EXPECT_LE(tiles * range.rowsOfX, rows + behind)
            << range.rowsOfX << " rows of x in a tile";
      }
    }
  }
}

TEST(TunedRows, PrintsRows) {
  TunedTile tile = getTunedTiles(90, Path::Wgmma).back();
  tile.card = "H200";
  tile.benchmark = "B";
  EXPECT_EQ(printTunedTile(tile), "{90, Path::Wgmma, 256, 8, 64, 0, 64, 0, "
                                  "3, 1, 0, \"H200\", \"B\"},");
}
