//===- HardwareAdderTest.cpp - Tests of the model of the adder ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixTesting.h"

#include "llvm/ADT/bit.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

static constexpr const char *kMxf8 = "sync.aligned.m16n8k32.row.col.kind::"
                                     "mxf8f6f4.block_scale.scale_vec::1X.f32."
                                     "e4m3.e4m3.f32.ue8m0";
static constexpr const char *kMxf4 =
    "sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32."
    "e2m1.e2m1.f32.ue8m0";
static constexpr const char *kNvf4 = "sync.aligned.m16n8k64.row.col.kind::"
                                     "mxf4nvf4.block_scale.scale_vec::4X.f32."
                                     "e2m1.e2m1.f32.ue4m3";
static constexpr const char *kF8 = "sync.aligned.m16n8k32.row.col.f32.e4m3."
                                   "e4m3.f32";

static uint32_t getBits(float value) { return llvm::bit_cast<uint32_t>(value); }

static float runProducts(Mma &mma, Numerics numerics, float c) {
  mma.setC(0, 0, getBits(c));
  EXPECT_FALSE(mma.run(numerics).error);
  return mma.getFloat(0, 0);
}

TEST(MatrixHardwareTest, TermsBelowTheAlignmentAreLost) {
  for (const char *text : {kF8, kMxf8}) {
    Mma mma(text);
    // 256 * 256 = 2^16; e4m3 0x78 is 256.
    mma.setA(0, 0, 0x78);
    mma.setB(0, 0, 0x78);
    // The unit of the sum is 2^(16 - 25) = 2^-9; below 2^16, f32 has 2^-8.
    EXPECT_EQ(runProducts(mma, Numerics::Hardware, -0x1p-9f),
              65536.0f - 0x1p-8f);
    EXPECT_EQ(runProducts(mma, Numerics::Exact, -0x1p-9f), 65536.0f);
    EXPECT_EQ(runProducts(mma, Numerics::Hardware, -0x1.fp-10f), 65536.0f);
    // 2^16 - 2^-7 has 24 bits; so has C, but for the part below 2^-9.
    float c = -0x1p-7f - 0x1p-11f;
    EXPECT_EQ(runProducts(mma, Numerics::Hardware, c), 65536.0f - 0x1p-7f);
    // Truncation toward zero, where Exact rounds to the nearest: 2^16 and
    // three quarters of a unit in the last place, 2^-7.
    EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0x1.8p-8f), 65536.0f);
    EXPECT_EQ(runProducts(mma, Numerics::Exact, 0x1.8p-8f), 65536.0f + 0x1p-7f);
    // 31 products of 2^-10 are 3.875 units in the last place, or nothing.
    for (unsigned k = 1; k != 32; ++k) {
      mma.setA(0, k, 0x10);
      mma.setB(k, 0, 0x10);
    }
    EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0), 65536.0f);
    EXPECT_EQ(runProducts(mma, Numerics::Exact, 0), 65536.0f + 0x1p-5f);
  }
}

TEST(MatrixHardwareTest, ExponentsOfProductsAreNotNormalized) {
  // 1.875 * 1.875 = 3.515625 has the exponent 0, not 1: the unit is 2^-25.
  Mma mma(kF8);
  mma.setA(0, 0, 0x3F);
  mma.setB(0, 0, 0x3F);
  mma.setA(0, 1, 0xBF);
  mma.setB(1, 0, 0x3F);
  EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0x1p-25f), 0x1p-25f);
  EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0x1p-26f), 0.0f);
  EXPECT_EQ(runProducts(mma, Numerics::Exact, 0x1p-26f), 0x1p-26f);
  // A subnormal has the exponent of the smallest normal number: 2^-9 * 1 has
  // -6, and the unit is 2^-31.
  Mma subnormal(kF8);
  subnormal.setA(0, 0, 0x01);
  subnormal.setB(0, 0, 0x38);
  EXPECT_EQ(runProducts(subnormal, Numerics::Hardware, 0x1p-31f),
            0x1p-9f + 0x1p-31f);
  EXPECT_EQ(runProducts(subnormal, Numerics::Hardware, 0x1p-32f), 0x1p-9f);
  EXPECT_EQ(runProducts(subnormal, Numerics::Exact, 0x1p-32f),
            0x1p-9f + 0x1p-32f);
}

TEST(MatrixHardwareTest, ScalesMoveTheExponent) {
  // The scales make 1 * 1 * 2^10: the unit is 2^-15.
  Mma mma(kMxf8);
  mma.setA(0, 0, 0x38);
  mma.setB(0, 0, 0x38);
  mma.setA(0, 1, 0xB8);
  mma.setB(1, 0, 0x38);
  mma.setScaleA(0, 0, 127 + 3);
  mma.setScaleB(0, 0, 127 + 7);
  EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0x1p-15f), 0x1p-15f);
  EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0x1.fp-16f), 0.0f);
}

TEST(MatrixHardwareTest, GroupsOfFp4KeepThirtyFiveBits) {
  for (const char *text : {kMxf4, kNvf4}) {
    Mma mma(text);
    // 6 * 6 - 6 * 6 in one group: exact. The exponent of the group would be
    // that of its scales, 0; but its sum is 0, and it has none.
    mma.setA(0, 0, 0b0111);
    mma.setB(0, 0, 0b0111);
    mma.setA(0, 1, 0b1111);
    mma.setB(1, 0, 0b0111);
    EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0x1p-60f), 0x1p-60f);
    // In two groups of 16: their unit is 2^-35, although the sum is 36.
    mma.setA(0, 1, 0);
    mma.setA(0, 16, 0b1111);
    mma.setB(16, 0, 0b0111);
    EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0x1p-35f), 0x1p-35f);
    EXPECT_EQ(runProducts(mma, Numerics::Hardware, 0x1p-36f), 0.0f);
    EXPECT_EQ(runProducts(mma, Numerics::Exact, 0x1p-36f), 0x1p-36f);
  }
}

TEST(MatrixHardwareTest, OthersAreExact) {
  std::mt19937 random(5);
  for (const std::string &text : listInstructions()) {
    Description d = describe(text);
    bool hasModel = d.a[0] == 'e' && !d.isSparse && d.c == "f32";
    if (hasModel)
      continue;
    Mma mma(text);
    mma.randomize(random, /*withSpecials=*/false);
    ASSERT_FALSE(mma.run(Numerics::Exact).error);
    std::vector<uint64_t> exact = mma.getResults();
    ASSERT_FALSE(mma.run(Numerics::Hardware).error);
    EXPECT_EQ(mma.getResults(), exact) << text;
  }
}

TEST(MatrixHardwareTest, SmallIntegersAreTheSameInBoth) {
  // Sums of few bits are exact in the model, too.
  std::mt19937 random(6);
  for (const char *text : {kF8, kMxf8, kMxf4, kNvf4}) {
    Mma mma(text);
    for (unsigned k = 0; k != mma.d.k; ++k)
      for (unsigned m = 0; m != 16; ++m) {
        // 0, 1, 2 and -2 in e2m1 and in e4m3.
        static const unsigned fp4[] = {0, 2, 4, 12}, fp8[] = {0, 56, 64, 192};
        const unsigned *codes = mma.d.a == "e2m1" ? fp4 : fp8;
        mma.setA(m, k, codes[random() % 4]);
        mma.setB(k, m % 8, codes[random() % 4]);
      }
    ASSERT_FALSE(mma.run(Numerics::Exact).error);
    std::vector<uint64_t> exact = mma.getResults();
    ASSERT_FALSE(mma.run(Numerics::Hardware).error);
    EXPECT_EQ(mma.getResults(), exact) << text;
  }
}
