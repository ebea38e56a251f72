//===- ScaleLayoutTest.cpp - The 32x4x4 layout ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/ScaleLayout.h"
#include "gtest/gtest.h"

#include <set>
#include <vector>

using namespace mlir::blockscale;

using Point2 = std::array<int64_t, 2>;
using Point4 = std::array<int64_t, 4>;

TEST(ScaleLayout, PointsByHand) {
  // off(r, k) = 16 * (r % 32) + 4 * (r / 32) + k inside an atom.
  EXPECT_EQ(getSwizzledScaleOffset(0, 0, 4), 0);
  EXPECT_EQ(getSwizzledScaleOffset(0, 3, 4), 3);
  EXPECT_EQ(getSwizzledScaleOffset(1, 0, 4), 16);
  EXPECT_EQ(getSwizzledScaleOffset(31, 0, 4), 496);
  EXPECT_EQ(getSwizzledScaleOffset(32, 0, 4), 4);
  EXPECT_EQ(getSwizzledScaleOffset(96, 2, 4), 14);
  EXPECT_EQ(getSwizzledScaleOffset(127, 3, 4), 511);
  // Atoms along K come first, then those along the rows; 9 blocks are 3 atoms.
  EXPECT_EQ(getSwizzledScaleOffset(0, 4, 9), 512);
  EXPECT_EQ(getSwizzledScaleOffset(128, 0, 9), 3 * 512);
  EXPECT_EQ(getSwizzledScaleOffset(299, 8, 9),
            (2 * 3 + 2) * 512 + (299 % 32) * 16 + 4 * ((299 / 32) % 4));
}

TEST(ScaleLayout, LikeReshapeAndTranspose) {
  // scale.reshape(m0, 4, 32, k0, 4).transpose(0, 3, 2, 1, 4), counted out.
  constexpr int64_t rows = 256, blocks = 12;
  int64_t offset = 0;
  for (int64_t m0 = 0; m0 != rows / 128; ++m0)
    for (int64_t k0 = 0; k0 != blocks / 4; ++k0)
      for (int64_t m1 = 0; m1 != 32; ++m1)
        for (int64_t m2 = 0; m2 != 4; ++m2)
          for (int64_t k1 = 0; k1 != 4; ++k1, ++offset)
            EXPECT_EQ(getSwizzledScaleOffset(m0 * 128 + m2 * 32 + m1,
                                             k0 * 4 + k1, blocks),
                      offset);
}

TEST(ScaleLayout, IsBijection) {
  constexpr int64_t rows = 384, blocks = 8;
  std::set<Point4> seen;
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t block = 0; block != blocks; ++block) {
      Point4 swizzled = applyLayout<4>(kSwizzleTerms, Point2{row, block});
      EXPECT_LT(swizzled[0], rows / kScaleAtomRows);
      EXPECT_LT(swizzled[1], blocks / kScaleAtomBlocks);
      EXPECT_LT(swizzled[2], kScaleAtomOuter);
      EXPECT_LT(swizzled[3], kScaleAtomInner);
      EXPECT_TRUE(seen.insert(swizzled).second) << row << ", " << block;
      EXPECT_EQ((applyLayout<2>(kUnswizzleTerms, swizzled)),
                (Point2{row, block}));
    }
  EXPECT_EQ(seen.size(), size_t(rows * blocks));
}

TEST(ScaleLayout, InverseFromTheOtherSide) {
  for (int64_t a = 0; a != 2; ++a)
    for (int64_t b = 0; b != 3; ++b)
      for (int64_t c = 0; c != kScaleAtomOuter; ++c)
        for (int64_t d = 0; d != kScaleAtomInner; ++d) {
          Point4 swizzled = {a, b, c, d};
          Point2 logical = applyLayout<2>(kUnswizzleTerms, swizzled);
          EXPECT_EQ((applyLayout<4>(kSwizzleTerms, logical)), swizzled);
        }
}
