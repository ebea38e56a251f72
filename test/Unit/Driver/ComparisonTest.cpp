//===- ComparisonTest.cpp - Tests of results against bounds ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/Comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace mlir::blockscale;

template <typename T>
static NpyArray makeArray(DType dtype, const std::vector<T> &values) {
  NpyArray array;
  array.dtype = dtype;
  array.shape = {static_cast<int64_t>(values.size() / 2), 2};
  array.data.resize(values.size() * sizeof(T));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

/// The lines, or the message of the error.
static std::string compare(ReferenceResult expected, const NpyArray &got) {
  std::string lines;
  Error error = compareResults({{std::move(expected)}}, {got}, lines);
  return error ? error.message() : lines;
}

/// For one result whose intervals reach as far to both sides; without
/// `bounds`, for one that must be equal.
static std::string compare(const std::vector<float> &expected,
                           const std::vector<float> &got,
                           const std::vector<double> &bounds,
                           std::string unknownThrough = "") {
  ReferenceResult reference;
  reference.value = makeArray(DType::F4, expected);
  reference.unknownThrough = unknownThrough;
  std::vector<double> low, high;
  for (size_t i = 0; i != bounds.size(); ++i) {
    low.push_back(expected[i] - bounds[i]);
    high.push_back(expected[i] + bounds[i]);
  }
  if (!bounds.empty()) {
    reference.low = makeArray(DType::F8, low);
    reference.high = makeArray(DType::F8, high);
  }
  return compare(std::move(reference), makeArray(DType::F4, got));
}

TEST(ComparisonTest, WithinBounds) {
  EXPECT_EQ(compare({1, 2, 3, 4}, {1, 2, 3, 4}, {}),
            "result #0: largest error 0\n");
  EXPECT_EQ(compare({1, 2, 3, 4}, {1, 2.25f, 3, 4.5f}, {0, 0.5f, 0, 0.5f}),
            "result #0: largest error 0.5 at [1, 1], bound 0.5; relative error "
            "0.102\n");
  EXPECT_EQ(compare({0, -0.0f}, {-0.0f, 0}, {}),
            "result #0: largest error 0\n");
}

TEST(ComparisonTest, BeyondBounds) {
  EXPECT_EQ(compare({1, 2, 3, 4}, {1, 2, 3.5f, 4}, {1, 1, 0.25f, 1}),
            "result #0: element [1, 0]: expected 3, got 3.5, error 0.5, bound "
            "0.25");
  EXPECT_EQ(compare({1, 2}, {1, 3}, {}, "math.atan2"),
            "result #0: element [0, 1]: expected 2, got 3, error 1, bound 0 "
            "(no bound is known through 'math.atan2', so results must be "
            "equal)");
  EXPECT_EQ(compare({1, 2}, {INFINITY, 2}, {1, 1}),
            "result #0: element [0, 0]: expected 1, got inf, error inf, bound "
            "1");
}

TEST(ComparisonTest, SidesOfTheInterval) {
  ReferenceResult reference;
  reference.value = makeArray<float>(DType::F4, {1, 1});
  reference.low = makeArray<double>(DType::F8, {0.5, 0.5});
  reference.high = makeArray<double>(DType::F8, {3, 3});
  EXPECT_EQ(compare(reference, makeArray<float>(DType::F4, {0.75f, 3})),
            "result #0: largest error 2 at [0, 1], bound 2; relative error "
            "1.43\n");
  EXPECT_EQ(compare(reference, makeArray<float>(DType::F4, {1, 0.25f})),
            "result #0: element [0, 1]: expected 1, got 0.25, error 0.75, "
            "bound 0.5");
}

TEST(ComparisonTest, NaNsAndOverflow) {
  EXPECT_EQ(compare({NAN, 1}, {-NAN, 1}, {NAN, 0}),
            "result #0: largest error 0\n");
  EXPECT_EQ(compare({1, 1}, {NAN, 1}, {}),
            "result #0: element [0, 0]: expected 1, got nan, error nan, bound "
            "0");
  EXPECT_EQ(compare({1, 1}, {NAN, 1}, {2, 2}),
            "result #0: element [0, 0]: expected 1, got nan, error nan, bound "
            "2");
  EXPECT_EQ(compare({NAN, 1}, {5, 1}, {NAN, 0}),
            "result #0: element [0, 0]: expected nan, got 5, error nan, bound "
            "0");
  EXPECT_EQ(compare({1, 2}, {NAN, INFINITY}, {INFINITY, INFINITY}),
            "result #0: largest error 0; 2 elements may overflow and are not "
            "compared\n");
}

TEST(ComparisonTest, Codes) {
  ReferenceResult reference;
  reference.value = makeArray<uint8_t>(DType::U1, {0x38, 0x39, 0x00, 0x7F});
  reference.format = Format::E4M3;
  NpyArray got = reference.value;
  EXPECT_EQ(compare(reference, got), "result #0: equal\n");
  got.data[3] = 0xFF; // NaN, too.
  EXPECT_EQ(compare(reference, got), "result #0: equal\n");
  got.data[2] = 0x80;
  EXPECT_EQ(compare(reference, got),
            "result #0: element [1, 0]: expected 0, got -0, error 0, bound 0");
  got.data[2] = 0x00;
  got.data[0] = 0x39;
  EXPECT_EQ(compare(reference, got), "result #0: element [0, 0]: expected 1, "
                                     "got 1.125, error 0.125, bound 0");
  // Quantized elements within an interval.
  reference.low = makeArray<double>(DType::F8, {1, 1.125, 0, NAN});
  reference.high = makeArray<double>(DType::F8, {1.125, 1.125, 0, NAN});
  EXPECT_EQ(compare(reference, got),
            "result #0: largest error 0.125 at [0, 0], bound 0.125; relative "
            "error 0.083\n");
  got.data[1] = 0x3A;
  EXPECT_EQ(compare(reference, got), "result #0: element [0, 1]: expected "
                                     "1.125, got 1.25, error 0.125, bound 0");
}

TEST(ComparisonTest, HalvesAndIntegers) {
  ReferenceResult reference;
  reference.value = makeArray<uint16_t>(DType::U2, {0x3F80, 0x0000});
  reference.format = Format::BF16;
  EXPECT_EQ(
      compare(reference, makeArray<uint16_t>(DType::U2, {0x3F80, 0x8000})),
      "result #0: largest error 0\n");
  EXPECT_EQ(compare(reference, makeArray<uint16_t>(DType::U2, {0x3F81, 0})),
            "result #0: element [0, 0]: expected 1, got 1.0078125, error "
            "0.0078125, bound 0");
  reference.value = makeArray<uint8_t>(DType::U1, {1, 2});
  reference.format = std::nullopt;
  EXPECT_EQ(compare(reference, makeArray<uint8_t>(DType::U1, {1, 2})),
            "result #0: equal\n");
  EXPECT_EQ(compare(reference, makeArray<uint8_t>(DType::U1, {1, 5})),
            "result #0: element [0, 1]: expected 2, got 5, error 3, bound 0");
}

/// Probes are off by 0.25 of [3, 4], together, in the first element.
static ReferenceResult makeProbed() {
  ReferenceResult reference;
  reference.value = makeArray<float>(DType::F4, {3, 4});
  reference.low = makeArray<double>(DType::F8, {-9, -9});
  reference.high = makeArray<double>(DType::F8, {9, 9});
  for (float first : {3.125f, 3.0f, 2.875f})
    reference.probes.push_back(makeArray<float>(DType::F4, {first, 4}));
  return reference;
}

TEST(ComparisonTest, WhatProbesComeTo) {
  EXPECT_EQ(compare(makeProbed(), makeArray<float>(DType::F4, {3, 4})),
            "result #0: largest error 0\n");
  EXPECT_EQ(compare(makeProbed(), makeArray<float>(DType::F4, {3, 4.25f})),
            "result #0: largest error 0.25 at [0, 1], bound 5; relative error "
            "0.05, bound 0.05\n");
  EXPECT_EQ(compare(makeProbed(), makeArray<float>(DType::F4, {3, 4.375f})),
            "result #0: expected a relative error of at most 0.05, what sums "
            "of f32 come to in this function, got 0.075");
  // A bug that the intervals do not exclude.
  EXPECT_EQ(compare(makeProbed(),
                    makeArray<float>(DType::F4, {3 / 128.f, 4 / 128.f})),
            "result #0: expected a relative error of at most 0.05, what sums "
            "of f32 come to in this function, got 0.992");
}

TEST(ComparisonTest, ProbesOfWhatIsNotCompared) {
  ReferenceResult reference = makeProbed();
  reference.low = makeArray<double>(DType::F8, {-INFINITY, -9});
  reference.high = makeArray<double>(DType::F8, {INFINITY, 9});
  EXPECT_EQ(compare(reference, makeArray<float>(DType::F4, {NAN, 4})),
            "result #0: largest error 0; 1 elements may overflow and are not "
            "compared\n");
  // Those of the element that may be anything allow nothing for others.
  EXPECT_EQ(compare(reference, makeArray<float>(DType::F4, {NAN, 4.25f})),
            "result #0: expected a relative error of at most 0, what sums of "
            "f32 come to in this function, got 0.0625");
}
