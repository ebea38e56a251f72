//===- RasterizationTest.cpp - The order of tiles -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constant tile indices have constant positions.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/TileScheduler/Rasterization.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
using Position = std::pair<int64_t, int64_t>;

class Rasterization : public testing::Test {
protected:
  Rasterization() {
    context.loadDialect<arith::ArithDialect, affine::AffineDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
  }

  /// The positions of all tiles, in the order of their indices.
  std::vector<Position> list(int64_t m, int64_t n, int64_t group) {
    OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
    Location loc = b.getUnknownLoc();
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    TileCount count = {index(m), index(n), index(m * n)};
    std::vector<Position> positions;
    for (int64_t number = 0; number != m * n; ++number) {
      auto [row, column] =
          emitTilePosition(b, loc, index(number), count, group);
      positions.emplace_back(getConstantIntValue(row).value_or(-1),
                             getConstantIntValue(column).value_or(-1));
    }
    return positions;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

// Three rows of tiles, then the remaining two.
TEST_F(Rasterization, GroupsGoAlongMFirst) {
  EXPECT_EQ(list(5, 2, 3), (std::vector<Position>{{0, 0},
                                                  {1, 0},
                                                  {2, 0},
                                                  {0, 1},
                                                  {1, 1},
                                                  {2, 1},
                                                  {3, 0},
                                                  {4, 0},
                                                  {3, 1},
                                                  {4, 1}}));
  EXPECT_EQ(list(2, 2, 1),
            (std::vector<Position>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST_F(Rasterization, EveryTileOnce) {
  for (int64_t group : {1, 3, 8, 1024})
    for (int64_t m : {1, 2, 3, 8, 9, 16})
      for (int64_t n : {1, 2, 7}) {
        std::vector<Position> positions = list(m, n, group);
        std::set<Position> different(positions.begin(), positions.end());
        ASSERT_EQ(different.size(), positions.size());
        for (auto [row, column] : different) {
          ASSERT_TRUE(row >= 0 && row < m);
          ASSERT_TRUE(column >= 0 && column < n);
        }
      }
}
