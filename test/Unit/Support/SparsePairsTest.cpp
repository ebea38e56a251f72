//===- SparsePairsTest.cpp ------------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The registers of dequantized operands for mma.sp, as PTX has them: "Matrix
// fragments for sparse mma.m16n8k32 with .f16 and .bf16 types".
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/LayoutGrid.h"
#include "blockscale/Support/SparseMetadata.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir::blockscale;

static Position getCell(const LayoutGrid &grid, int64_t row, int64_t column) {
  int64_t index = row * grid.columns + column;
  Position position = grid.cells[index / grid.run];
  position.back() += index % grid.run;
  return position;
}

// What one instruction multiplies has one chunk in the registers of A and of B
// and in the metadata.
TEST(SparsePairs, OperandsAgree) {
  for (Granularity granularity : {Granularity::Elements, Granularity::Pairs}) {
    const GranularityInfo &info = getGranularityInfo(granularity);
    bool isPairs = granularity == Granularity::Pairs;
    LayoutGrid a = getSparsePairGrid(Operand::A, granularity),
               b = getSparsePairGrid(Operand::B, granularity),
               metadata = getPairMetadataGrid(granularity);
    ASSERT_EQ(a.columns, 32);
    ASSERT_EQ(b.columns, 64);
    ASSERT_EQ(metadata.columns * info.chunk(), 64);
    std::set<Position> places;
    for (int64_t row = 0; row != 16; ++row)
      for (int64_t kept = 0; kept != 32; ++kept) {
        // Lane, instruction, register, half.
        Position at = getCell(a, row, kept);
        places.insert(at);
        EXPECT_EQ(at[0] / 4 + 8 * (at[2] % 2), row);
        int64_t index = 2 * (at[0] % 4) + at[3] + 8 * (at[2] / 2);
        int64_t chunk = kept / info.keptOfChunk(), inUnit = kept % info.unit;
        EXPECT_EQ(index % 2, kept % info.keptOfChunk() / info.unit);
        EXPECT_EQ(at[1], isPairs ? inUnit : kept / 16);
        // Lane, field.
        Position field = getCell(metadata, row, chunk);
        EXPECT_EQ(field[0] / 4 + 8 * (field[1] / 4), row);
        EXPECT_EQ(field[0] % 2 * 4 + field[1] % 4, index / 2);
        EXPECT_EQ(field[0] / 2 % 2, isPairs ? 0 : at[1]);
        for (int64_t position = 0; position != 4; ++position) {
          int64_t k = chunk * info.chunk() + position * info.unit + inUnit;
          Position of = getCell(b, row % 8, k);
          EXPECT_EQ(of[0] / 4, row % 8);
          EXPECT_EQ(of[1], at[1]);
          EXPECT_EQ(2 * (of[0] % 4) + of[3] + 8 * of[2],
                    index / 2 * 4 + position);
        }
      }
    EXPECT_EQ(places.size(), 16u * 32);
  }
}
