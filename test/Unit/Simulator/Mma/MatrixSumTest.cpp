//===- MatrixSumTest.cpp - Tests of exact sums ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixSum.h"
#include "Mma/MatrixTesting.h"

#include "llvm/ADT/bit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace mlir::blockscale::sim;
using mlir::blockscale::sim::mmatest::decodeElement;
using mlir::blockscale::sim::mmatest::Rational;

static double drawDouble(std::mt19937 &random, int spread) {
  double value = std::ldexp(double(random()) + random() * 0x1p-32,
                            int(random() % (2 * spread)) - spread);
  if (random() % 4 == 0)
    value = std::ldexp(1.0, std::ilogb(value));
  return random() % 2 ? -value : value;
}

TEST(MatrixSumTest, RandomSumsAreRoundedOnce) {
  std::mt19937 random(1);
  for (unsigned i = 0; i != 20000; ++i) {
    int spread = i % 2 ? 40 : 400;
    ExactSum sum;
    Rational expected;
    unsigned count = 1 + random() % 6;
    for (unsigned j = 0; j != count; ++j) {
      double x = drawDouble(random, spread), y = drawDouble(random, spread);
      if (j + 1 == count && random() % 2)
        y = -y;
      sum.addProduct(x, y);
      expected += Rational({x, y});
      if (random() % 3 == 0) {
        sum.addProduct(x, -y);
        expected += Rational({x, -y});
      }
    }
    struct {
      Type type;
      const char *name;
    } types[] = {{Type::F64, "f64"}, {Type::F32, "f32"}, {Type::F16, "f16"}};
    for (auto [type, name] : types)
      ASSERT_EQ(roundToBits(sum.get(), type, Rounding::NearestEven),
                expected.round(name))
          << name << " " << i;
  }
}

TEST(MatrixSumTest, TheWholeRangeOfDoublesFits) {
  double largest = std::numeric_limits<double>::max();
  double smallest = std::numeric_limits<double>::denorm_min();
  ExactSum sum;
  for (unsigned i = 0; i != 100; ++i)
    sum.addProduct(largest, largest);
  for (unsigned i = 0; i != 100; ++i)
    sum.addProduct(-largest, largest);
  sum.addProduct(smallest, smallest);
  BinaryNumber number = sum.get();
  EXPECT_FALSE(number.isNegative);
  EXPECT_EQ(number.significand >> 63, 1u);
  EXPECT_EQ(number.exponent + 63, -2148);
  sum.addProduct(smallest, -smallest);
  EXPECT_EQ(sum.get().significand, 0u);
  sum.addProduct(largest, -1);
  EXPECT_EQ(roundToBits(sum.get(), Type::F64, Rounding::NearestEven),
            llvm::bit_cast<uint64_t>(-largest));
  EXPECT_EQ(roundToBits(sum.get(), Type::F32, Rounding::NearestEven),
            0xFF800000u);
}

TEST(MatrixSumTest, CarriesGoThroughAllLimbs) {
  ExactSum sum;
  sum.add(0x1p-600);
  sum.add(0x1p600);
  sum.add(-0x1p-600);
  sum.add(-0x1p-600);
  // 2^600 - 2^-600: the bits in between are all 1.
  EXPECT_EQ(roundToBits(sum.get(), Type::F64, Rounding::NearestEven),
            llvm::bit_cast<uint64_t>(0x1p600));
  EXPECT_EQ(roundToBits(sum.get(), Type::F64, Rounding::TowardZero),
            llvm::bit_cast<uint64_t>(std::nextafter(0x1p600, 0.0)));
}

TEST(MatrixSumTest, RoundingToOddKeepsTies) {
  std::mt19937 random(2);
  for (unsigned i = 0; i != 20000; ++i) {
    double a = drawDouble(random, 60), b = drawDouble(random, 60);
    Rational expected(a);
    expected += Rational(b);
    double sum = addToOdd(a, b);
    ASSERT_EQ(roundToBits(sum, Type::F32), expected.round("f32"));
    ASSERT_EQ(roundToBits(sum, Type::F16), expected.round("f16"));
  }
  // 1 + 2^-24 is a tie in f32; 2^-60 more or less is not.
  double tie = 1 + 0x1p-24;
  EXPECT_EQ(static_cast<float>(addToOdd(tie, 0x1p-80)), 1 + 0x1p-23f);
  EXPECT_EQ(static_cast<float>(addToOdd(tie, -0x1p-80)), 1.0f);
  EXPECT_EQ(static_cast<float>(addToOdd(tie, 0)), 1.0f);
}

TEST(MatrixSumTest, EveryCodeOfF16AndBF16IsDecodedAndEncoded) {
  for (unsigned code = 0; code != 0x10000; ++code) {
    double value = decodeFloat(Type::F16, code);
    double expected = decodeElement("f16", code);
    double bf16 = decodeFloat(Type::BF16, code);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << code;
      EXPECT_EQ(roundToBits(value, Type::F16), 0x7FFFu);
    } else {
      EXPECT_EQ(value, expected) << code;
      EXPECT_EQ(roundToBits(value, Type::F16), code);
    }
    EXPECT_TRUE(bf16 == decodeElement("bf16", code) || std::isnan(bf16));
  }
}

TEST(MatrixSumTest, TowardZeroTruncates) {
  EXPECT_EQ(roundToBits({false, 0x1FFFFFF, 0}, Type::F32, Rounding::TowardZero),
            0x4BFFFFFFu);
  EXPECT_EQ(roundToBits({true, 0x1FFFFFF, 0}, Type::F32, Rounding::NearestEven),
            0xCC000000u);
  // 3 * 2^-150 is 1.5 of the smallest subnormal.
  EXPECT_EQ(roundToBits({false, 3, -150}, Type::F32, Rounding::TowardZero), 1u);
  EXPECT_EQ(roundToBits({false, 3, -150}, Type::F32, Rounding::NearestEven),
            2u);
  EXPECT_EQ(roundToBits({false, 1, -150}, Type::F32, Rounding::NearestEven),
            0u);
  EXPECT_EQ(
      roundToBits({true, ~uint64_t(0), -213}, Type::F32, Rounding::NearestEven),
      0x80000001u);
  EXPECT_EQ(roundToBits({true, 1, -5000}, Type::F32, Rounding::NearestEven),
            0x80000000u);
  EXPECT_EQ(roundToBits({false, 1, 5000}, Type::F64, Rounding::TowardZero),
            0x7FF0000000000000u);
}
