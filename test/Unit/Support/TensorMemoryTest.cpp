//===- TensorMemoryTest.cpp - Layout of tensor memory ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/TensorMemory.h"
#include "gtest/gtest.h"

using namespace mlir::blockscale;

TEST(TensorMemory, Allocations) {
  for (int64_t columns : {32, 64, 128, 256, 512})
    EXPECT_TRUE(isTensorAllocation(columns)) << columns;
  for (int64_t columns : {-32, 0, 16, 48, 1024})
    EXPECT_FALSE(isTensorAllocation(columns)) << columns;
  for (int64_t columns : {1, 2, 4, 8, 16, 32, 64, 128})
    EXPECT_TRUE(isTensorMove(columns)) << columns;
  for (int64_t columns : {0, 3, 96, 256})
    EXPECT_FALSE(isTensorMove(columns)) << columns;
}

TEST(TensorMemory, Chips) {
  for (const char *name :
       {"sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"})
    EXPECT_TRUE(hasTensorMemory(*lookupChip(name))) << name;
  for (const char *name : {"cpu", "sm_80", "sm_90a", "sm_120a", "sm_121f"})
    EXPECT_FALSE(hasTensorMemory(*lookupChip(name))) << name;
}

TEST(TensorMemory, LayoutsOfSums) {
  ASSERT_NE(lookupAccLayout(1, 128), nullptr);
  EXPECT_EQ(lookupAccLayout(1, 128)->name, 'D');
  EXPECT_EQ(lookupAccLayout(2, 256)->name, 'A');
  EXPECT_EQ(lookupAccLayout(2, 128)->name, 'B');
  EXPECT_EQ(lookupAccLayout(1, 64), nullptr);
  EXPECT_EQ(lookupAccLayout(3, 128), nullptr);
  for (const AccLayout &layout : getAccLayouts()) {
    EXPECT_EQ(layout.rowsOfBlock * layout.parts, kTensorLanes);
    EXPECT_EQ(layout.rowsOfBlock * layout.group, layout.m);
  }
}

TEST(TensorMemory, LegalN) {
  auto check = [](unsigned group, bool isTransposed,
                  std::initializer_list<int64_t> legal,
                  std::initializer_list<int64_t> others) {
    const AccColumns *rule = lookupAccColumns(group, isTransposed);
    ASSERT_NE(rule, nullptr);
    for (int64_t n : legal)
      EXPECT_TRUE(isLegalN(*rule, n)) << group << ", " << n;
    for (int64_t n : others)
      EXPECT_FALSE(isLegalN(*rule, n)) << group << ", " << n;
  };
  check(1, false, {8, 24, 248, 256}, {0, 4, 12, 264});
  check(1, true, {16, 48, 256}, {8, 24, 272});
  check(2, false, {16, 240, 256}, {8, 24, 272});
  check(2, true, {32, 96, 256}, {16, 48, 288});
  EXPECT_EQ(lookupAccColumns(3, false), nullptr);
}

TEST(TensorMemory, RegionsOfScales) {
  for (int64_t rows : {1, 64, 128})
    EXPECT_EQ(lookupScaleRegion(rows)->columnsOfWord, 4u) << rows;
  for (int64_t rows : {129, 256})
    EXPECT_EQ(lookupScaleRegion(rows)->columnsOfWord, 8u) << rows;
  for (int64_t rows : {-1, 0, 257})
    EXPECT_EQ(lookupScaleRegion(rows), nullptr) << rows;
  // Two copies are for 256 rows, whose halves are in the same columns.
  EXPECT_EQ(lookupScaleRegion(256, 2)->columnsOfWord, 4u);
  EXPECT_EQ(lookupScaleRegion(256, 1), nullptr);
  for (const ScaleRegion &region : getScaleRegions())
    EXPECT_EQ(region.mostRows / 32 * region.copies, 4 * region.columnsOfWord);
}

// Section "Block scaling" of tcgen05.mma, tables of SF_ID.
TEST(TensorMemory, ScaleIds) {
  auto describe = [](Kind kind, Format scale, unsigned count) {
    return describeScaleIds(lookupInstruction(Path::Tcgen05, kind, Format::E2M1,
                                              Format::E2M1, scale, count)
                                ->scaleIds);
  };
  EXPECT_EQ(describe(Kind::MXF8F6F4, Format::UE8M0, 1), "0, 1, 2, 3");
  EXPECT_EQ(describe(Kind::MXF4, Format::UE8M0, 2), "0, 2");
  EXPECT_EQ(describe(Kind::MXF4NVF4, Format::UE8M0, 2), "0, 2");
  EXPECT_EQ(describe(Kind::MXF4NVF4, Format::UE4M3, 4), "0");
  EXPECT_EQ(describe(Kind::MXF4, Format::UE8M0, 3), "0, 1, 2, 3");
  EXPECT_EQ(describe(Kind::MXF4NVF4, Format::UE8M0, 3), "0, 1, 2, 3");
  EXPECT_EQ(describe(Kind::MXF4NVF4, Format::UE4M3, 6), "0, 2");
  EXPECT_EQ(describeScaleIds(0), "none");
  constexpr ScaleIds kEven = 0b0101;
  EXPECT_TRUE(isLegalScaleId(kEven, 2));
  for (int64_t id : {-1, 1, 3, 4})
    EXPECT_FALSE(isLegalScaleId(kEven, id)) << id;
}
