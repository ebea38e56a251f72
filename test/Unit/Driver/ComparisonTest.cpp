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

static NpyArray makeFloats(const std::vector<float> &values) {
  NpyArray array;
  array.dtype = DType::F4;
  array.shape = {static_cast<int64_t>(values.size() / 2), 2};
  array.data.resize(values.size() * sizeof(float));
  std::memcpy(array.data.data(), values.data(), array.data.size());
  return array;
}

/// The lines, or the message of the error, for one result.
static std::string compare(const std::vector<float> &expected,
                           const std::vector<float> &got,
                           const std::vector<float> &bounds,
                           std::string unknownThrough = "") {
  Reference reference;
  reference.results = {makeFloats(expected)};
  reference.bounds = {makeFloats(bounds)};
  reference.unknownThrough = {unknownThrough};
  std::string lines;
  Error error = compareResults(reference, {makeFloats(got)}, lines);
  return error ? error.message() : lines;
}

TEST(ComparisonTest, WithinBounds) {
  EXPECT_EQ(compare({1, 2, 3, 4}, {1, 2, 3, 4}, {0, 0, 0, 0}),
            "result #0: largest error 0\n");
  EXPECT_EQ(compare({1, 2, 3, 4}, {1, 2.25f, 3, 4.5f}, {0, 0.5f, 0, 0.5f}),
            "result #0: largest error 0.5 at [1, 1], bound 0.5\n");
  EXPECT_EQ(compare({0, -0.0f}, {-0.0f, 0}, {0, 0}),
            "result #0: largest error 0\n");
}

TEST(ComparisonTest, BeyondBounds) {
  EXPECT_EQ(compare({1, 2, 3, 4}, {1, 2, 3.5f, 4}, {1, 1, 0.25f, 1}),
            "result #0: element [1, 0]: expected 3 within 0.25, got 3.5");
  EXPECT_EQ(
      compare({1, 2}, {1, 3}, {0, 0}, "arith.divf"),
      "result #0: element [0, 1]: expected 2 within 0, got 3 (no bound is "
      "known through 'arith.divf', so results must be equal)");
  EXPECT_EQ(compare({1, 2}, {INFINITY, 2}, {1, 1}),
            "result #0: element [0, 0]: expected 1 within 1, got inf");
}

TEST(ComparisonTest, NaNsAndOverflow) {
  EXPECT_EQ(compare({NAN, 1}, {-NAN, 1}, {NAN, 0}),
            "result #0: largest error 0\n");
  EXPECT_EQ(compare({1, 1}, {NAN, 1}, {0, 0}),
            "result #0: element [0, 0]: expected 1 within 0, got nan");
  EXPECT_EQ(compare({NAN, 1}, {5, 1}, {INFINITY, 0}),
            "result #0: element [0, 0]: expected nan within inf, got 5");
  EXPECT_EQ(compare({1, 2}, {NAN, INFINITY}, {INFINITY, INFINITY}),
            "result #0: largest error 0; 2 elements may overflow and are not "
            "compared\n");
}

TEST(ComparisonTest, BytesMustBeEqual) {
  Reference reference;
  NpyArray bytes;
  bytes.dtype = DType::U1;
  bytes.shape = {2, 2};
  bytes.data = {1, 2, 3, 4};
  reference.results = {bytes};
  reference.bounds = {bytes};
  reference.unknownThrough = {""};
  std::string lines;
  EXPECT_FALSE(compareResults(reference, {bytes}, lines));
  EXPECT_EQ(lines, "result #0: equal\n");
  bytes.data[2] = 5;
  EXPECT_EQ(compareResults(reference, {bytes}, lines).message(),
            "result #0: element [1, 0] differs from the reference");
}
