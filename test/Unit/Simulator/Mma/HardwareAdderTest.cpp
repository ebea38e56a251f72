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

#include <cmath>

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

/// The target of the first tests, and the value for exact sums.
static constexpr unsigned kSm120 = 120, kExact = 0;

static float runProducts(Mma &mma, unsigned hardware, float c) {
  mma.setC(0, 0, getBits(c));
  EXPECT_FALSE(mma.run(hardware).error);
  return mma.getFloat(0, 0);
}

TEST(MatrixHardwareTest, TermsBelowTheAlignmentAreCutOff) {
  for (const char *text : {kF8, kMxf8}) {
    Mma mma(text);
    // 256 * 256 = 2^16; e4m3 0x78 is 256.
    mma.setA(0, 0, 0x78);
    mma.setB(0, 0, 0x78);
    // The unit of the sum is 2^(16 - 25) = 2^-9; below 2^16, f32 has 2^-8.
    EXPECT_EQ(runProducts(mma, kSm120, -0x1p-9f), 65536.0f - 0x1p-8f);
    EXPECT_EQ(runProducts(mma, kExact, -0x1p-9f), 65536.0f);
    EXPECT_EQ(runProducts(mma, kSm120, -0x1.fp-10f), 65536.0f);
    // 2^16 - 2^-7 has 24 bits; so has C, but for the part below 2^-9.
    float c = -0x1p-7f - 0x1p-11f;
    EXPECT_EQ(runProducts(mma, kSm120, c), 65536.0f - 0x1p-7f);
    // Truncation toward zero, where Exact rounds to the nearest: 2^16 and
    // three quarters of a unit in the last place, 2^-7.
    EXPECT_EQ(runProducts(mma, kSm120, 0x1.8p-8f), 65536.0f);
    EXPECT_EQ(runProducts(mma, kExact, 0x1.8p-8f), 65536.0f + 0x1p-7f);
    // 31 products of 2^-10 are 3.875 units in the last place, or nothing.
    for (unsigned k = 1; k != 32; ++k) {
      mma.setA(0, k, 0x10);
      mma.setB(k, 0, 0x10);
    }
    EXPECT_EQ(runProducts(mma, kSm120, 0), 65536.0f);
    EXPECT_EQ(runProducts(mma, kExact, 0), 65536.0f + 0x1p-5f);
  }
}

TEST(MatrixHardwareTest, ExponentsOfProductsAreNotNormalized) {
  // 1.875 * 1.875 = 3.515625 has the exponent 0, not 1: the unit is 2^-25.
  Mma mma(kF8);
  mma.setA(0, 0, 0x3F);
  mma.setB(0, 0, 0x3F);
  mma.setA(0, 1, 0xBF);
  mma.setB(1, 0, 0x3F);
  EXPECT_EQ(runProducts(mma, kSm120, 0x1p-25f), 0x1p-25f);
  EXPECT_EQ(runProducts(mma, kSm120, 0x1p-26f), 0.0f);
  EXPECT_EQ(runProducts(mma, kExact, 0x1p-26f), 0x1p-26f);
  // A subnormal has the exponent of the smallest normal value: 2^-9 * 1 has -6,
  // and the unit is 2^-31.
  Mma subnormal(kF8);
  subnormal.setA(0, 0, 0x01);
  subnormal.setB(0, 0, 0x38);
  EXPECT_EQ(runProducts(subnormal, kSm120, 0x1p-31f), 0x1p-9f + 0x1p-31f);
  EXPECT_EQ(runProducts(subnormal, kSm120, 0x1p-32f), 0x1p-9f);
  EXPECT_EQ(runProducts(subnormal, kExact, 0x1p-32f), 0x1p-9f + 0x1p-32f);
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
  EXPECT_EQ(runProducts(mma, kSm120, 0x1p-15f), 0x1p-15f);
  EXPECT_EQ(runProducts(mma, kSm120, 0x1.fp-16f), 0.0f);
}

TEST(MatrixHardwareTest, GroupsOfFp4KeepThirtyFiveBits) {
  for (const char *text : {kMxf4, kNvf4}) {
    Mma mma(text);
    // 6 * 6 - 6 * 6 in one group: the exponent is that of the scales, 0, also
    // where nothing is left.
    mma.setA(0, 0, 0b0111);
    mma.setB(0, 0, 0b0111);
    mma.setA(0, 1, 0b1111);
    mma.setB(1, 0, 0b0111);
    EXPECT_EQ(runProducts(mma, kSm120, 0x1p-35f), 0x1p-35f);
    EXPECT_EQ(runProducts(mma, kSm120, 0x1p-36f), 0.0f);
    // Without any product, C has no other exponent beside it.
    mma.setA(0, 0, 0);
    mma.setA(0, 1, 0);
    EXPECT_EQ(runProducts(mma, kSm120, 0x1p-60f), 0x1p-60f);
    mma.setA(0, 0, 0b0111);
    // In two groups of 16: their unit is 2^-35, although the sum is 36.
    mma.setA(0, 1, 0);
    mma.setA(0, 16, 0b1111);
    mma.setB(16, 0, 0b0111);
    EXPECT_EQ(runProducts(mma, kSm120, 0x1p-35f), 0x1p-35f);
    EXPECT_EQ(runProducts(mma, kSm120, 0x1p-36f), 0.0f);
    EXPECT_EQ(runProducts(mma, kExact, 0x1p-36f), 0x1p-36f);
  }
}

TEST(MatrixHardwareTest, IntegersAreExact) {
  std::mt19937 random(5);
  for (const std::string &text : listInstructions()) {
    Mma mma(text);
    if (mma.d.c != "s32")
      continue;
    mma.randomize(random, /*withSpecials=*/false);
    ASSERT_FALSE(mma.run(kExact).error);
    std::vector<uint64_t> exact = mma.getResults();
    ASSERT_FALSE(mma.run(90).error);
    EXPECT_EQ(mma.getResults(), exact) << text;
  }
}

TEST(MatrixHardwareTest, ChunksOfF16GrowWithTheChip) {
  Mma mma("sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  // 2^15, -2^15 and 2^-9 (f16 0x7800, 0x1800), times 1. In one chunk, 2^-9
  // still has a bit of 2^(15 - 24).
  auto set = [&](unsigned k, unsigned code) {
    mma.setA(0, k, code);
    mma.setB(k, 0, 0x3C00);
  };
  set(0, 0x7800);
  set(7, 0xF800);
  set(8, 0x1800);
  for (unsigned target : {80, 89, 90, 100, 120})
    EXPECT_EQ(runProducts(mma, target, 0), 0x1p-9f);
  // 2^-10 is cut off beside 2^15 with 24 bits, unless it is in another chunk;
  // and 2^-11 with 25.
  set(8, 0x1400);
  for (unsigned target : {80, 89, 90, 100, 120})
    EXPECT_EQ(runProducts(mma, target, 0), 0x1p-10f);
  set(6, 0x1400);
  EXPECT_EQ(runProducts(mma, 80, 0), 0x1p-10f);
  EXPECT_EQ(runProducts(mma, 90, 0), 0x1p-9f);
  set(6, 0x1000);
  set(8, 0x1000);
  EXPECT_EQ(runProducts(mma, 89, 0), 0x1p-11f);
  EXPECT_EQ(runProducts(mma, 90, 0), 0.0f);
}

TEST(MatrixHardwareTest, SumsOfF8KeepThirteenBitsOnSm89) {
  Mma mma(kF8);
  mma.setA(0, 0, 0x38);
  mma.setB(0, 0, 0x38);
  // Cut off at 2^-13, and rounded to 13 bits of fraction.
  EXPECT_EQ(runProducts(mma, 89, 0x1.cp-13f), 1 + 0x1p-13f);
  EXPECT_EQ(runProducts(mma, 120, 0x1.cp-13f), 1 + 0x1.cp-13f);
  // 1 + (4 - 2^-11) needs 14 bits.
  EXPECT_EQ(runProducts(mma, 89, 4 - 0x1p-11f), 5 - 0x1p-11f);
  EXPECT_EQ(runProducts(mma, 89, 4 - 0x1p-13f), 5 - 0x1p-11f);
  // Without products, subnormal values have bits down to 2^-139.
  mma.setA(0, 0, 0);
  EXPECT_EQ(runProducts(mma, 89, 0x1.8p-139f), 0x1p-139f);
}

TEST(MatrixHardwareTest, SumsOfF8AreTwoOfF16OnSm90) {
  Mma mma(kF8);
  // 256 * 256 in the first half of K, the other factors in the second one; C is
  // added afterwards, to nearest.
  mma.setA(0, 0, 0x78);
  mma.setB(0, 0, 0x78);
  EXPECT_EQ(runProducts(mma, 90, 0x1.8p-8f), 65536.0f + 0x1p-7f);
  EXPECT_EQ(runProducts(mma, 90, 0x1p-8f), 65536.0f);
  mma.setA(0, 4, 0xF8);
  mma.setB(4, 0, 0x78);
  // 2^-6 * 2^-4 = 2^(16 - 26): cut off in the first half, not in the second.
  for (unsigned k : {5, 6}) {
    mma.setA(0, k, 0x08);
    mma.setB(k, 0, 0x18);
    EXPECT_EQ(runProducts(mma, 90, 0), k == 5 ? 0.0f : 0x1p-10f);
  }
  // An f16 has no subnormal as large as 2^-9: the unit is 2^(-9 - 25).
  Mma subnormal(kF8);
  subnormal.setA(0, 0, 0x01);
  subnormal.setB(0, 0, 0x38);
  subnormal.setA(0, 1, 0x01);
  subnormal.setB(1, 0, 0x01);
  EXPECT_EQ(runProducts(subnormal, 90, 0), 0x1p-9f + 0x1p-18f);
}

TEST(MatrixHardwareTest, ExponentsHaveAFloor) {
  Mma mma("sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32");
  // 1.5 * 2^-126 times 2^-20 to 2^-32 (bf16 0x00C0): terms below 2^-133 count
  // as that, 25 bits more are 2^-158.
  for (unsigned k = 0; k != 8; ++k) {
    mma.setA(0, k, 0x00C0);
    mma.setB(k, 0, (127 - 32) << 7);
  }
  // 8 * 1.5 * 2^-158 is truncated to 8 * 2^-158, less than 2^-149; with 2^-30,
  // 8 * 6 * 2^-158 has no bit of f32 either; with 2^-26, it is 1.5 * 2^-149.
  EXPECT_EQ(runProducts(mma, 90, 0), 0.0f);
  EXPECT_EQ(runProducts(mma, 90, 0x1p-149f), 0x1p-149f);
  for (unsigned k = 0; k != 8; ++k)
    mma.setB(k, 0, (127 - 26) << 7);
  EXPECT_EQ(runProducts(mma, 90, 0), 0x1p-149f);
  // Beside C, which counts as 2^-126, the unit is 2^-151.
  EXPECT_EQ(runProducts(mma, 90, -0x1p-149f), -0x1p-149f);
}

TEST(MatrixHardwareTest, FloorsAreThoseOfTheTable) {
  // The last bit of D, less the lowest bit that is kept: a bit of D is cut off.
  // Or half of the last bit of an f16, and that bit more: D is rounded up.
  static constexpr const char *kBF16 =
      "sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32";
  static constexpr const char *kTF32 =
      "sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
  static constexpr const char *kF16 =
      "sync.aligned.m16n8k8.row.col.f16.f16.f16.f16";
  const struct {
    const char *text;
    unsigned target;
    // Factors of the first term, those of the smallest that is kept, and a
    // factor of one with half as much.
    uint64_t a0, b0, a1, b1, half;
    uint64_t kept, lost;
  } rows[] = {
      {kBF16, 80, 0x1A00, 0x1A80, 0x1800, 0x9900, 0x9880, 0, 1},
      {kBF16, 90, 0x1A00, 0x1A80, 0x1800, 0x9800, 0x9780, 0, 1},
      {kBF16, 120, 0x1A00, 0x1A80, 0x1800, 0x9800, 0x9780, 0, 1},
      {kTF32, 80, 0x1A000000, 0x1A800000, 0x18000000, 0x99000000, 0x98800000, 0,
       1},
      {kTF32, 90, 0x1A000000, 0x1A800000, 0x18000000, 0x98000000, 0x97800000, 0,
       1},
      {kF16, 80, 0x0C00, 0x0800, 0x0001, 0x0010, 0x0008, 1, 0},
      {kF16, 90, 0x0C00, 0x0800, 0x0001, 0x0004, 0x0002, 1, 0},
  };
  for (const auto &row : rows) {
    Mma mma(row.text);
    mma.setA(0, 0, row.a0);
    mma.setB(0, 0, row.b0);
    mma.setA(0, 1, row.a1);
    mma.setB(1, 0, row.b1);
    ASSERT_FALSE(mma.run(row.target).error);
    EXPECT_EQ(mma.getD(0, 0), row.kept) << row.text << " on " << row.target;
    mma.setB(1, 0, row.half);
    ASSERT_FALSE(mma.run(row.target).error);
    EXPECT_EQ(mma.getD(0, 0), row.lost) << row.text << " on " << row.target;
  }
}

TEST(MatrixHardwareTest, FloorsWithScales) {
  // 2^-149 - 2^-158, then - 2^-159: the scales are 2^-127 and 2^-22.
  Mma mxf8(kMxf8);
  mxf8.setScaleA(0, 0, 0);
  mxf8.setScaleB(0, 0, 127 - 22);
  mxf8.setA(0, 0, 0x38);
  mxf8.setB(0, 0, 0x38);
  mxf8.setA(0, 1, 0x01);
  mxf8.setB(1, 0, 0xB8);
  EXPECT_EQ(runProducts(mxf8, kSm120, 0), 0.0f);
  mxf8.setB(1, 0, 0xB0);
  EXPECT_EQ(runProducts(mxf8, kSm120, 0), 0x1p-149f);
  // 2^-149 - 2^-174, then - 2^-175, in blocks with scales of their own.
  Mma mxf4(kMxf4);
  for (unsigned k : {0, 32}) {
    mxf4.setA(0, k, k ? 0b1010 : 0b0010);
    mxf4.setB(k, 0, 0b0010);
    mxf4.setScaleA(0, k / 32, 0);
  }
  mxf4.setScaleB(0, 0, 127 - 22);
  mxf4.setScaleB(0, 1, 127 - 47);
  EXPECT_EQ(runProducts(mxf4, kSm120, 0), 0.0f);
  mxf4.setScaleB(0, 1, 127 - 48);
  EXPECT_EQ(runProducts(mxf4, kSm120, 0), 0x1p-149f);
}

TEST(MatrixHardwareTest, SumsThatUnderflowArePositiveZero) {
  Mma mma("sync.aligned.m16n8k8.row.col.f16.f16.f16.f16");
  // -2^-24 * 2^-2.
  mma.setA(0, 0, 0x8001);
  mma.setB(0, 0, 0x3400);
  ASSERT_FALSE(mma.run(90).error);
  EXPECT_EQ(mma.getD(0, 0), 0u);
  mma.setC(0, 0, 0x8000);
  ASSERT_FALSE(mma.run(90).error);
  EXPECT_EQ(mma.getD(0, 0), 0u);
}

TEST(MatrixHardwareTest, OverflowBetweenChunksIsInfinity) {
  Mma mma("sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32");
  // 2^127 twice, then -2^127 twice (bf16 0x7F00).
  for (unsigned k : {0, 1, 8, 9}) {
    mma.setA(0, k, k < 8 ? 0x7F00 : 0xFF00);
    mma.setB(k, 0, 0x3F80);
  }
  EXPECT_EQ(runProducts(mma, 90, 0), 0.0f);
  EXPECT_TRUE(std::isinf(runProducts(mma, 80, 0)));
  // Infinity in the second chunk, too.
  mma.setA(0, 9, 0xFF80);
  EXPECT_TRUE(std::isnan(runProducts(mma, 80, 0)));
  EXPECT_EQ(runProducts(mma, 90, 0), -HUGE_VALF);
}

TEST(MatrixHardwareTest, F64IsAChain) {
  Mma mma("sync.aligned.m16n8k4.row.col.f64.f64.f64.f64");
  auto set = [&](unsigned k, double a, double b) {
    mma.setA(0, k, llvm::bit_cast<uint64_t>(a));
    mma.setB(k, 0, llvm::bit_cast<uint64_t>(b));
  };
  set(0, 1, 1);
  set(1, 0x1p-53, 1);
  set(2, 0x1p-53, 1);
  set(3, 0, 0);
  ASSERT_FALSE(mma.run(kExact).error);
  EXPECT_EQ(mma.getD(0, 0), llvm::bit_cast<uint64_t>(1 + 0x1p-52));
  ASSERT_FALSE(mma.run(90).error);
  EXPECT_EQ(mma.getD(0, 0), llvm::bit_cast<uint64_t>(1.0));
  // Products are not rounded.
  set(0, -1, 1);
  set(1, 1 + 0x1p-52, 1 - 0x1p-53);
  set(2, 0, 0);
  ASSERT_FALSE(mma.run(90).error);
  EXPECT_EQ(mma.getD(0, 0), llvm::bit_cast<uint64_t>(0x1p-53 - 0x1p-105));
  // NaN of B comes before that of C, and that before A's; it becomes quiet.
  const uint64_t a = 0x7FF0000000000001, b = 0xFFF0000000000002,
                 c = 0x7FF8000000000003, quiet = 0x0008000000000000;
  mma.setA(0, 3, a);
  ASSERT_FALSE(mma.run(90).error);
  EXPECT_EQ(mma.getD(0, 0), a | quiet);
  mma.setC(0, 0, c);
  ASSERT_FALSE(mma.run(90).error);
  EXPECT_EQ(mma.getD(0, 0), c);
  mma.setB(3, 0, b);
  ASSERT_FALSE(mma.run(90).error);
  EXPECT_EQ(mma.getD(0, 0), b | quiet);
  mma.setC(0, 0, 0);
  set(3, HUGE_VAL, 0);
  ASSERT_FALSE(mma.run(90).error);
  EXPECT_EQ(mma.getD(0, 0), 0xFFF8000000000000);
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
    ASSERT_FALSE(mma.run(kExact).error);
    std::vector<uint64_t> exact = mma.getResults();
    ASSERT_FALSE(mma.run(kSm120).error);
    EXPECT_EQ(mma.getResults(), exact) << text;
  }
}
