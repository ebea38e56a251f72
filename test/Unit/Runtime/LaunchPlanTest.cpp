//===- LaunchPlanTest.cpp - Tests of kernels with their numbers -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchPlan.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;

/// Arguments that are arrays of bytes of these shapes.
static std::vector<LaunchArgument>
makeArguments(const std::vector<std::vector<int64_t>> &shapes) {
  std::vector<LaunchArgument> arguments;
  for (const std::vector<int64_t> &shape : shapes) {
    LaunchArgument &argument = arguments.emplace_back();
    argument.kind = LaunchArgument::Kind::In;
    argument.array.dtype = DType::U1;
    argument.array.shape = shape;
  }
  return arguments;
}

static std::string plan(const LaunchExtent &extent,
                        const std::vector<std::vector<int64_t>> &shapes) {
  Result<uint32_t> planned = planExtent(extent, makeArguments(shapes));
  return planned ? std::to_string(*planned) : planned.message();
}

TEST(LaunchPlanTest, DividesSizes) {
  EXPECT_EQ(plan(7u, {}), "7");
  EXPECT_EQ(plan(CeilDiv{{0, 1}, 128}, {{1, 128}}), "1");
  EXPECT_EQ(plan(CeilDiv{{0, 1}, 128}, {{1, 129}}), "2");
  EXPECT_EQ(plan(CeilDiv{{0, 1}, 128}, {{1, 2147483647}}), "16777216");
}

/// The sizes of packed arrays are in bytes, those of arguments in codes.
TEST(LaunchPlanTest, CountsCodes) {
  EXPECT_EQ(plan(CeilDiv{{1, 0, 2, 1}, 1}, {{1}, {33}}), "66");
  EXPECT_EQ(plan(CeilDiv{{0, 0, 4, 3}, 1}, {{24}}), "32");
  EXPECT_EQ(plan(CeilDiv{{0, 0, 4, 3}, 10}, {{24}}), "4");
}

TEST(LaunchPlanTest, RefusesSizes) {
  EXPECT_EQ(plan(CeilDiv{{0, 1}, 1}, {{8}}),
            "argument #0: expected an array of at least 2 dimensions, got 1");
  EXPECT_EQ(plan(CeilDiv{{0, 0}, 1}, {{0}}),
            "argument #0: expected a size of at least 1 in dimension 0, got 0");
  EXPECT_EQ(plan(CeilDiv{{0, 0}, 1}, {{2147483648}}),
            "argument #0: expected a size of at most 2147483647 in dimension "
            "0, got 2147483648");
  EXPECT_EQ(plan(CeilDiv{{0, 0, 2, 1}, 1}, {{1073741824}}),
            "argument #0: expected a size of at most 1073741823 in dimension "
            "0, got 1073741824");
  EXPECT_EQ(plan(CeilDiv{{0, 0, 4, 3}, 1}, {{25}}),
            "argument #0: expected a multiple of 3 bytes in dimension 0, got "
            "25");
}
