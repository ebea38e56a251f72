//===- ArrayPrinterTest.cpp - Tests of arrays as text ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/ArrayPrinter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::blockscale;

template <typename T>
static NpyArray makeArray(DType dtype, std::vector<int64_t> shape,
                          const std::vector<T> &values) {
  NpyArray array{dtype, std::move(shape), {}};
  array.data.resize(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

template <typename T>
static std::string printScalar(DType dtype, T value) {
  return printArray(makeArray<T>(dtype, {}, {value}));
}

static std::string printF4(float value) {
  return printScalar(DType::F4, value);
}

static std::string printF8(double value) {
  return printScalar(DType::F8, value);
}

/// A half-precision number given by its bits.
static std::string printF2(uint16_t bits) {
  return printScalar(DType::F2, bits);
}

/// The numbers 0, 1, 2, ... of this shape.
static NpyArray makeIota(std::vector<int64_t> shape) {
  int64_t size = 1;
  for (int64_t dimension : shape)
    size *= dimension;
  std::vector<int32_t> values;
  for (int32_t i = 0; i < size; ++i)
    values.push_back(i);
  return makeArray(DType::I4, std::move(shape), values);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

TEST(ArrayPrinterTest, Integers) {
  EXPECT_EQ(printScalar<uint8_t>(DType::U1, 255), "255");
  EXPECT_EQ(printScalar<int8_t>(DType::I1, -128), "-128");
  EXPECT_EQ(printScalar<uint16_t>(DType::U2, 65535), "65535");
  EXPECT_EQ(printScalar<int16_t>(DType::I2, -32768), "-32768");
  EXPECT_EQ(printScalar<uint32_t>(DType::U4, UINT32_MAX), "4294967295");
  EXPECT_EQ(printScalar<int32_t>(DType::I4, INT32_MIN), "-2147483648");
  EXPECT_EQ(printScalar<uint64_t>(DType::U8, UINT64_MAX),
            "18446744073709551615");
  EXPECT_EQ(printScalar<int64_t>(DType::I8, INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(printScalar<uint8_t>(DType::U1, 0), "0");
}

TEST(ArrayPrinterTest, FloatsHaveTheFewestDigits) {
  EXPECT_EQ(printF4(256.0f), "256.0");
  EXPECT_EQ(printF4(0.1f), "0.1");
  EXPECT_EQ(printF4(1.0f / 3), "0.33333334");
  EXPECT_EQ(printF4(-2.5f), "-2.5");
  EXPECT_EQ(printF4(16777216.0f), "16777216.0");
  EXPECT_EQ(printF4(1073741824.0f), "1073741800.0");
  EXPECT_EQ(printF4(std::numeric_limits<float>::max()), "3.4028235e+38");
  EXPECT_EQ(printF4(std::numeric_limits<float>::denorm_min()), "1e-45");
  EXPECT_EQ(printF8(0.1), "0.1");
  EXPECT_EQ(printF8(0.1f), "0.10000000149011612");
  EXPECT_EQ(printF8(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(printF8(9007199254740993.0), "9007199254740992.0");
  EXPECT_EQ(printF8(-std::numeric_limits<double>::max()),
            "-1.7976931348623157e+308");
  EXPECT_EQ(printF8(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(ArrayPrinterTest, FloatsChooseNotationAsPython) {
  EXPECT_EQ(printF8(1e-4), "0.0001");
  EXPECT_EQ(printF8(0.00012345), "0.00012345");
  EXPECT_EQ(printF8(9.9999e-5), "9.9999e-05");
  EXPECT_EQ(printF8(1e-5), "1e-05");
  EXPECT_EQ(printF8(1e15), "1000000000000000.0");
  EXPECT_EQ(printF8(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(printF8(1e16), "1e+16");
  EXPECT_EQ(printF8(-1.5e16), "-1.5e+16");
  EXPECT_EQ(printF8(1e100), "1e+100");
  EXPECT_EQ(printF4(1e-4f), "0.0001");
  EXPECT_EQ(printF4(1e-5f), "1e-05");
  EXPECT_EQ(printF4(1e15f), "1000000000000000.0");
  EXPECT_EQ(printF4(1e16f), "1e+16");
  EXPECT_EQ(printF8(123.456), "123.456");
  EXPECT_EQ(printF8(0.5), "0.5");
  EXPECT_EQ(printF8(100.0), "100.0");
}

TEST(ArrayPrinterTest, SpecialFloats) {
  EXPECT_EQ(printF4(0.0f), "0.0");
  EXPECT_EQ(printF4(-0.0f), "-0.0");
  EXPECT_EQ(printF4(INFINITY), "inf");
  EXPECT_EQ(printF4(-INFINITY), "-inf");
  EXPECT_EQ(printF4(NAN), "nan");
  EXPECT_EQ(printF4(-NAN), "nan");
  EXPECT_EQ(printF8(-0.0), "-0.0");
  EXPECT_EQ(printF8(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(printF8(std::nan("")), "nan");
}

TEST(ArrayPrinterTest, Halves) {
  EXPECT_EQ(printF2(0x3c00), "1.0");
  EXPECT_EQ(printF2(0xc100), "-2.5");
  EXPECT_EQ(printF2(0x2e66), "0.1");
  EXPECT_EQ(printF2(0x3555), "0.3333");
  EXPECT_EQ(printF2(0x7bff), "65500.0");
  EXPECT_EQ(printF2(0x6400), "1024.0");
  EXPECT_EQ(printF2(0x0400), "6.104e-05");
  EXPECT_EQ(printF2(0x0001), "6e-08");
  EXPECT_EQ(printF2(0x3100), "0.1562"); // 0.15625, a tie.
  // Between 0.01562 and 0.01563, of which the first is another number's.
  EXPECT_EQ(printF2(0x2400), "0.01563");
  EXPECT_EQ(printF2(0x0000), "0.0");
  EXPECT_EQ(printF2(0x8000), "-0.0");
  EXPECT_EQ(printF2(0x7c00), "inf");
  EXPECT_EQ(printF2(0xfc00), "-inf");
  EXPECT_EQ(printF2(0x7e00), "nan");
  EXPECT_EQ(printF2(0xfc01), "nan");
}

/// Rounds to half precision, to the even neighbour on a tie.
static uint16_t roundToHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  value = std::fabs(value);
  if (value == 0)
    return sign;
  int exponent = std::max(std::ilogb(value), -14);
  auto units =
      static_cast<int>(std::nearbyint(std::ldexp(value, 10 - exponent)));
  // A carry out of the fraction lands in the exponent, as it should.
  return static_cast<uint16_t>(sign | (((exponent + 14) << 10) + units));
}

TEST(ArrayPrinterTest, EveryHalfComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00) == 0x7c00)
      continue;
    std::string text = printF2(static_cast<uint16_t>(bits));
    ASSERT_EQ(roundToHalf(std::strtod(text.c_str(), nullptr)), bits) << text;
  }
}

static std::string printBFloat16(uint16_t bits) {
  return printArray(makeArray<uint16_t>(DType::U2, {}, {bits}),
                    Elements::BFloat16);
}

TEST(ArrayPrinterTest, BFloat16) {
  EXPECT_EQ(printBFloat16(0x3f80), "1.0");
  EXPECT_EQ(printBFloat16(0xc020), "-2.5");
  EXPECT_EQ(printBFloat16(0x3dcd), "0.1");
  EXPECT_EQ(printBFloat16(0x3f81), "1.01"); // 1.0078125.
  EXPECT_EQ(printBFloat16(0x7f7f), "3.39e+38");
  EXPECT_EQ(printBFloat16(0x0001), "9e-41");
  EXPECT_EQ(printBFloat16(0x8000), "-0.0");
  EXPECT_EQ(printBFloat16(0x7f80), "inf");
  EXPECT_EQ(printBFloat16(0xff80), "-inf");
  EXPECT_EQ(printBFloat16(0x7fc0), "nan");
  EXPECT_EQ(printScalar<uint16_t>(DType::U2, 0x3f80), "16256");
}

TEST(ArrayPrinterTest, EveryBFloat16ComesBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7f80) == 0x7f80)
      continue;
    std::string text = printBFloat16(static_cast<uint16_t>(bits));
    // Rounds an f64 to its upper bits by way of f32, which is exact enough for
    // this few digits.
    float number = std::strtof(text.c_str(), nullptr);
    uint32_t wide;
    std::memcpy(&wide, &number, sizeof(wide));
    wide += 0x7fff + (wide >> 16 & 1);
    ASSERT_EQ(wide >> 16, bits) << text;
  }
}

//===----------------------------------------------------------------------===//
// Brackets
//===----------------------------------------------------------------------===//

TEST(ArrayPrinterTest, Ranks) {
  EXPECT_EQ(printArray(makeIota({})), "0");
  EXPECT_EQ(printArray(makeIota({1})), "[0]");
  EXPECT_EQ(printArray(makeIota({3})), "[0, 1, 2]");
  EXPECT_EQ(printArray(makeIota({2, 3})), "[[0, 1, 2], [3, 4, 5]]");
  EXPECT_EQ(printArray(makeIota({2, 1, 2})), "[[[0, 1]], [[2, 3]]]");
  EXPECT_EQ(printArray(makeArray<float>(DType::F4, {2, 2},
                                        {256.0f, 256.0f, 256.0f, 256.0f})),
            "[[256.0, 256.0], [256.0, 256.0]]");
}

TEST(ArrayPrinterTest, NoElements) {
  EXPECT_EQ(printArray(makeIota({0})), "[]");
  EXPECT_EQ(printArray(makeIota({0, 5})), "[]");
  EXPECT_EQ(printArray(makeIota({2, 0})), "[[], []]");
  EXPECT_EQ(printArray(makeIota({2, 1, 0, 9})), "[[[]], [[]]]");
}

TEST(ArrayPrinterTest, ManyBracketsWithoutElements) {
  std::string brackets = printArray({DType::U1, {1000, 0}, {}});
  EXPECT_EQ(brackets.size(), 4000u);
  EXPECT_EQ(printArray({DType::U1, {1001, 0}, {}}), "[]");
  EXPECT_EQ(printArray({DType::U1, {INT64_MAX, 0}, {}}), "[]");
  EXPECT_EQ(printArray({DType::U1, {2, INT64_MAX, 0}, {}}), "[]");
  // 6^20 pairs, none of which a summary would leave out.
  std::vector<int64_t> shape(20, 6);
  shape.push_back(0);
  EXPECT_EQ(printArray({DType::U1, shape, {}}), "[]");
}

TEST(ArrayPrinterTest, SummaryStartsAbove1000) {
  EXPECT_EQ(printArray(makeIota({1000})).find("..."), std::string::npos);
  EXPECT_EQ(printArray(makeIota({10, 100})).find("..."), std::string::npos);
  EXPECT_EQ(printArray(makeIota({1001})), "[0, 1, 2, ..., 998, 999, 1000]");
}

TEST(ArrayPrinterTest, SummaryOfLongAxesOnly) {
  EXPECT_EQ(printArray(makeIota({2, 501})),
            "[[0, 1, 2, ..., 498, 499, 500], "
            "[501, 502, 503, ..., 999, 1000, 1001]]");
  EXPECT_EQ(printArray(makeIota({501, 2})),
            "[[0, 1], [2, 3], [4, 5], ..., "
            "[996, 997], [998, 999], [1000, 1001]]");
  EXPECT_EQ(printArray(makeIota({1, 6, 200})).substr(0, 40),
            "[[[0, 1, 2, ..., 197, 198, 199], [200, 2");
  EXPECT_EQ(printArray(makeIota({7, 1, 144})),
            "[[[0, 1, 2, ..., 141, 142, 143]], "
            "[[144, 145, 146, ..., 285, 286, 287]], "
            "[[288, 289, 290, ..., 429, 430, 431]], ..., "
            "[[576, 577, 578, ..., 717, 718, 719]], "
            "[[720, 721, 722, ..., 861, 862, 863]], "
            "[[864, 865, 866, ..., 1005, 1006, 1007]]]");
}

TEST(ArrayPrinterTest, SummaryKeepsAxisOf6) {
  std::string text = printArray(makeIota({6, 1, 167}));
  size_t parts = 0;
  for (size_t at = 0; (at = text.find("...", at)) != std::string::npos; ++at)
    ++parts;
  EXPECT_EQ(parts, 6u);
}
