//===- MatrixNumericsTest.cpp - Tests of sums and rounding ----------------===//
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
static constexpr const char *kMxf8E5M2 =
    "sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X."
    "f32."
    "e5m2.e5m2.f32.ue8m0";
static constexpr const char *kMxf4 =
    "sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32."
    "e2m1.e2m1.f32.ue8m0";
static constexpr const char *kNvf4 = "sync.aligned.m16n8k64.row.col.kind::"
                                     "mxf4nvf4.block_scale.scale_vec::4X.f32."
                                     "e2m1.e2m1.f32.ue4m3";
static constexpr const char *kF16 = "sync.aligned.m16n8k16.row.col.f16.f16.f16."
                                    "f16";
static constexpr const char *kF16ToF32 =
    "sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";

static uint32_t getBits(float value) { return llvm::bit_cast<uint32_t>(value); }

//===----------------------------------------------------------------------===//
// All instructions against the reference
//===----------------------------------------------------------------------===//

static void expectReference(Mma &mma) {
  MmaOutcome outcome = mma.run();
  ASSERT_FALSE(outcome.error) << mma.text << ": " << outcome.error->text;
  EXPECT_TRUE(outcome.warnings.empty()) << mma.text;
  for (unsigned m = 0; m != mma.d.m; ++m)
    for (unsigned n = 0; n != 8; ++n) {
      // The sign of a sum that is exactly 0 is positive on both sides.
      ASSERT_EQ(mma.getD(m, n), mma.getExpected(m, n))
          << mma.text << " at " << m << ", " << n;
      ASSERT_FALSE(mma.isUndefined(m, n));
    }
}

TEST(MatrixNumericsTest, EveryInstructionIsExactForRandomOperands) {
  std::mt19937 random(1);
  for (const std::string &text : listInstructions()) {
    Mma mma(text);
    mma.randomize(random, /*withSpecials=*/false);
    expectReference(mma);
  }
}

TEST(MatrixNumericsTest, EveryInstructionIsExactForInfinityAndNaN) {
  std::mt19937 random(2);
  for (const std::string &text : listInstructions()) {
    if (text.find("e4m3") == std::string::npos &&
        text.find("e5m2") == std::string::npos &&
        text.find("f16") == std::string::npos &&
        text.find("tf32") == std::string::npos &&
        text.find("f64") == std::string::npos)
      continue;
    Mma mma(text);
    mma.randomize(random, /*withSpecials=*/true);
    expectReference(mma);
  }
}

TEST(MatrixNumericsTest, EverySelectorOfSparseMetadataIsRead) {
  std::mt19937 random(3);
  for (const std::string &text : listInstructions()) {
    Description d = describe(text);
    if (!d.isSparse)
      continue;
    unsigned fields = d.m * d.k / d.getChunk();
    // A lane has eight fields, a warp 32 lanes.
    for (unsigned selector = 1; selector < 256 / fields; ++selector) {
      Mma mma(text);
      mma.metadata.value.fill(0);
      mma.selector = selector;
      mma.randomize(random, /*withSpecials=*/false);
      // Metadata of threads that are not selected is ignored.
      expectReference(mma);
    }
  }
}

/// Few values with wide gaps: the additions of blocks and of C round.
TEST(MatrixNumericsTest, CancellationLeavesTheSmallestTerm) {
  Mma mma(kMxf4);
  // Two blocks: 2^100 * 1 and -2^100 * 1, and C of 2^-140.
  mma.setA(3, 0, 0b0010);
  mma.setB(0, 5, 0b0010);
  mma.setA(3, 32, 0b1010);
  mma.setB(32, 5, 0b0010);
  for (unsigned block : {0, 1}) {
    mma.setScaleA(3, block, 127 + 50);
    mma.setScaleB(5, block, 127 + 50);
  }
  mma.setC(3, 5, getBits(0x1p-140f));
  ASSERT_FALSE(mma.run().error);
  EXPECT_EQ(mma.getFloat(3, 5), 0x1p-140f);
}

/// 2^24 + 1 is halfway; a tiny term decides.
TEST(MatrixNumericsTest, TinyTermsBreakTies) {
  for (float tiny : {0x1p-100f, 0.0f, -0x1p-100f}) {
    Mma mma(kF16ToF32);
    mma.setA(0, 0, 0x6C00); // 2^12
    mma.setB(0, 0, 0x6C00);
    mma.setA(0, 1, 0x3C00); // 1
    mma.setB(1, 0, 0x3C00);
    mma.setC(0, 0, getBits(tiny));
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getFloat(0, 0), tiny > 0 ? 0x1.000002p24f : 0x1p24f);
  }
}

TEST(MatrixNumericsTest, WideSumsOfE5M2AreRoundedOnce) {
  // 57344^2 * 31 and the square of the smallest subnormal: 69 bits.
  for (int sign : {0, 1}) {
    Mma mma(kMxf8E5M2);
    for (unsigned k = 0; k != 31; ++k) {
      mma.setA(7, k, 0x7B);
      mma.setB(k, 2, 0x7B);
    }
    mma.setA(7, 31, sign ? 0x81 : 0x01);
    mma.setB(31, 2, 0x01);
    ASSERT_FALSE(mma.run().error);
    // 31 * 3.0625 * 2^30 = 94.9375 * 2^30 has 11 bits: representable.
    EXPECT_EQ(mma.getFloat(7, 2), 94.9375f * 0x1p30f);
    // Half a unit of the last place less, and it is a tie that 2^-32 breaks.
    mma.setC(7, 2, getBits(-0x1p12f));
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getD(7, 2), mma.getExpected(7, 2));
    EXPECT_EQ(mma.getFloat(7, 2), sign
                                      ? std::nextafter(94.9375f * 0x1p30f, 0.0f)
                                      : 94.9375f * 0x1p30f);
    // The same on the other side: the bit far below decides.
    mma.setC(7, 2, getBits(0x1p12f));
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getFloat(7, 2),
              sign ? 94.9375f * 0x1p30f
                   : std::nextafter(94.9375f * 0x1p30f, INFINITY));
  }
}

/// 2^30 + 2^6 + 2^-24 has 55 bits, two more than a double: in doubles, it
/// would be a tie.
TEST(MatrixNumericsTest, SumsOfF16BeyondADoubleAreRoundedOnce) {
  for (int sign : {0, 1}) {
    Mma mma(kF16ToF32);
    static const unsigned codes[] = {0x7800, 0x4800,
                                     0x0C00}; // 2^15, 2^3, 2^-12
    for (unsigned k = 0; k != 3; ++k) {
      mma.setA(1, 5 * k, codes[k]);
      mma.setB(5 * k, 6, codes[k]);
    }
    if (sign)
      mma.setA(1, 10, 0x8C00);
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getFloat(1, 6), sign ? 0x1p30f : 0x1.000002p30f);
  }
}

TEST(MatrixNumericsTest, RandomSumsOfWideElementsAreExact) {
  std::mt19937 random(4);
  for (const char *text :
       {kMxf8E5M2, "sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", kF16, kF16ToF32,
        "sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e5m2.e4m3.f16", kNvf4})
    for (unsigned i = 0; i != 20; ++i) {
      Mma mma(text);
      mma.randomize(random, /*withSpecials=*/false);
      expectReference(mma);
    }
}

//===----------------------------------------------------------------------===//
// Ends of the formats
//===----------------------------------------------------------------------===//

TEST(MatrixNumericsTest, ScalesAtTheEndsOfUE8M0) {
  struct {
    uint8_t a, b;
    float expected;
  } rows[] = {{0x00, 0xFE, 1.0f},      {0x00, 0x7F, 0x1p-127f},
              {0x01, 0x7F, 0x1p-126f}, {0x00, 0x00, 0.0f},
              {0xFE, 0x7F, 0x1p127f},  {0xFE, 0xFE, INFINITY}};
  for (auto [a, b, expected] : rows) {
    Mma mma(kMxf8);
    mma.setA(9, 4, 0x38);
    mma.setB(4, 6, 0x38);
    mma.setScaleA(9, 0, a);
    mma.setScaleB(6, 0, b);
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getFloat(9, 6), expected) << int(a) << " " << int(b);
  }
}

TEST(MatrixNumericsTest, NaNScalesSpoilTheirRowOrColumn) {
  Mma mma(kMxf8);
  mma.setScaleA(9, 0, 0xFF);
  ASSERT_FALSE(mma.run().error);
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned n = 0; n != 8; ++n)
      EXPECT_EQ(mma.getD(m, n), m == 9 ? 0x7FFFFFFF : 0);

  Mma nvf4(kNvf4);
  nvf4.setScaleB(3, 2, 0x7F);
  ASSERT_FALSE(nvf4.run().error);
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned n = 0; n != 8; ++n)
      EXPECT_EQ(nvf4.getD(m, n), n == 3 ? 0x7FFFFFFF : 0);
}

TEST(MatrixNumericsTest, NaNAndInfinityFollowIeee) {
  // e5m2: 0x7C is infinity, 0x3C is 1, 0x7D NaN.
  struct {
    unsigned a0, b0, a1, b1;
    uint32_t c, expected;
  } rows[] = {
      {0x7C, 0x3C, 0, 0, 0, 0x7F800000},
      {0xFC, 0x3C, 0, 0, 0, 0xFF800000},
      {0x7C, 0x00, 0, 0, 0, 0x7FFFFFFF},
      {0x7C, 0x3C, 0xFC, 0x3C, 0, 0x7FFFFFFF},
      {0x7C, 0x3C, 0xFC, 0xBC, 0, 0x7F800000},
      {0x7C, 0x3C, 0, 0, 0xFF800000, 0x7FFFFFFF},
      {0x3C, 0x3C, 0, 0, 0xFF800000, 0xFF800000},
      {0x7D, 0x3C, 0, 0, 0, 0x7FFFFFFF},
      {0xFF, 0x00, 0, 0, 0, 0x7FFFFFFF},
      {0x3C, 0x3C, 0, 0, 0xFFC12345, 0x7FFFFFFF},
  };
  for (unsigned hardware : {0, 120})
    for (const auto &row : rows) {
      Mma mma(kMxf8E5M2);
      // The other elements of B are 1, so that 0 * infinity appears only where
      // it is meant to.
      mma.setA(2, 0, row.a0);
      mma.setB(0, 1, row.b0);
      mma.setA(2, 1, row.a1);
      mma.setB(1, 1, row.b1);
      mma.setC(2, 1, row.c);
      ASSERT_FALSE(mma.run(hardware).error);
      EXPECT_EQ(mma.getD(2, 1), row.expected);
    }
}

TEST(MatrixNumericsTest, AccumulatorsInF16) {
  Mma mma(kF16);
  // 65504 is the largest; 65520 is halfway to 65536.
  mma.setC(0, 0, 0x7BFF);
  mma.setA(0, 0, 0x4B80); // 15
  mma.setB(0, 0, 0x3C00);
  mma.setC(1, 0, 0x7BFF);
  mma.setA(1, 0, 0x4C00); // 16
  // NaN.
  mma.setC(2, 1, 0xFE00);
  // Half of the smallest subnormal, and a little more.
  mma.setA(3, 0, 0x1000); // 2^-11
  mma.setB(0, 2, 0x0800); // 2^-13
  mma.setB(0, 3, 0x0400); // 2^-14
  mma.setB(0, 4, 0x0401);
  ASSERT_FALSE(mma.run().error);
  EXPECT_EQ(mma.getD(0, 0), 0x7BFFu);
  EXPECT_EQ(mma.getD(1, 0), 0x7C00u);
  EXPECT_EQ(mma.getD(2, 1), 0x7FFFu);
  EXPECT_EQ(mma.getD(3, 2), 0x0001u);
  EXPECT_EQ(mma.getD(3, 3), 0x0000u);
  EXPECT_EQ(mma.getD(3, 4), 0x0001u);
}

TEST(MatrixNumericsTest, OverflowOfF32IsInfinity) {
  Mma mma(kF16ToF32);
  mma.setC(0, 0, 0x7F7FFFFF);
  mma.setC(0, 1, 0xFF7FFFFF);
  mma.setA(0, 0, 0x3C00);
  mma.setB(0, 0, 0x3C00);
  mma.setB(0, 1, 0xBC00);
  ASSERT_FALSE(mma.run().error);
  EXPECT_EQ(mma.getD(0, 0), 0x7F7FFFFFu);
  EXPECT_EQ(mma.getD(0, 1), 0xFF7FFFFFu);

  Mma scaled(kMxf8);
  scaled.setC(0, 0, 0x7F7FFFFF);
  scaled.setA(0, 0, 0x38);
  scaled.setB(0, 0, 0x38);
  scaled.setScaleA(0, 0, 127 + 103); // Half a unit of the last place.
  ASSERT_FALSE(scaled.run().error);
  EXPECT_EQ(scaled.getD(0, 0), 0x7F800000u);
  scaled.setScaleA(0, 0, 127 + 102);
  ASSERT_FALSE(scaled.run().error);
  EXPECT_EQ(scaled.getD(0, 0), 0x7F7FFFFFu);
}

TEST(MatrixNumericsTest, ZeroesArePositive) {
  Mma mma(kF16ToF32);
  mma.setC(0, 0, 0x80000000);
  mma.setA(0, 0, 0x8000);
  mma.setB(0, 0, 0x3C00);
  ASSERT_FALSE(mma.run().error);
  EXPECT_EQ(mma.getD(0, 0), 0u);
}

TEST(MatrixNumericsTest, Tf32IgnoresTheLowBits) {
  Mma mma("sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32");
  mma.setA(0, 0, 0x3F801FFF);
  mma.setB(0, 0, 0x3F802000);
  ASSERT_FALSE(mma.run().error);
  EXPECT_EQ(mma.getD(0, 0), 0x3F802000u);
}

//===----------------------------------------------------------------------===//
// Integers and f64
//===----------------------------------------------------------------------===//

TEST(MatrixNumericsTest, IntegersWrapOrSaturate) {
  for (const char *mode : {"", "satfinite."}) {
    bool saturates = *mode;
    Mma mma(std::string("sync.aligned.m16n8k32.row.col.") + mode +
            "s32.s8.u8.s32");
    mma.setC(0, 0, 0x7FFFFFFF);
    mma.setA(0, 0, 1);
    mma.setB(0, 0, 255);
    mma.setC(1, 0, 0x80000000);
    mma.setA(1, 0, 0x80); // -128
    // An intermediate overflow has no effect.
    mma.setC(2, 0, 0x7FFFFFFF);
    mma.setA(2, 0, 1);
    mma.setA(2, 31, 0xFF);
    mma.setB(31, 0, 255);
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getD(0, 0), saturates ? 0x7FFFFFFFu : 0x800000FEu);
    EXPECT_EQ(mma.getD(1, 0),
              saturates ? 0x80000000u : 0x80000000u - 128u * 255u);
    EXPECT_EQ(mma.getD(2, 0), 0x7FFFFFFFu);
  }
}

TEST(MatrixNumericsTest, F64IsRoundedOnceAndOverflowsOnlyAtTheEnd) {
  Mma mma("sync.aligned.m16n8k4.row.col.f64.f64.f64.f64");
  auto set = [&](unsigned m, unsigned k, double value) {
    mma.setA(m, k, llvm::bit_cast<uint64_t>(value));
  };
  for (unsigned k = 0; k != 4; ++k)
    mma.setB(k, 0, llvm::bit_cast<uint64_t>(k == 1 ? 0x1p-1000 : 1.0));
  mma.setB(3, 0, llvm::bit_cast<uint64_t>(2.0));
  set(0, 0, 0x1.fffffffffffffp1023);
  set(0, 2, 0x1.fffffffffffffp1023);
  set(0, 3, -0x1.fffffffffffffp1023);
  // 1 + 2^-53 + 2^-2000: not a tie.
  set(1, 0, 1);
  set(1, 1, 0x1p-1000);
  set(1, 2, 0x1p-53);
  // The same without the smallest.
  set(2, 0, 1);
  set(2, 2, 0x1p-53);
  set(3, 0, INFINITY);
  set(3, 2, 0x1.fffffffffffffp1023);
  set(4, 0, INFINITY);
  set(4, 2, -INFINITY);
  ASSERT_FALSE(mma.run().error);
  auto get = [&](unsigned m) { return llvm::bit_cast<double>(mma.getD(m, 0)); };
  EXPECT_EQ(get(0), 0.0);
  EXPECT_EQ(get(1), 1 + 0x1p-52);
  EXPECT_EQ(get(2), 1.0);
  EXPECT_EQ(get(3), INFINITY);
  EXPECT_EQ(mma.getD(4, 0), 0x7FF8000000000000u);
}
