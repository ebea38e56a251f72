//===- KernelOperandTest.cpp - Tests of operands of kernels ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Problem/KernelProblem.h"

#include "gtest/gtest.h"

#include <limits>

using namespace mlir::blockscale;

static int64_t getAlignment(Contiguity contiguity, int64_t multiple,
                            unsigned bits) {
  KernelOperand operand = {};
  operand.contiguity = contiguity;
  operand.bits = bits;
  operand.rowMultiple = contiguity == Contiguity::Rows ? multiple : 3;
  operand.columnMultiple = contiguity == Contiguity::Columns ? multiple : 3;
  return operand.getStrideAlignment();
}

TEST(KernelOperandTest, RowsHaveWholeBytes) {
  for (Contiguity contiguity : {Contiguity::Rows, Contiguity::Columns}) {
    EXPECT_EQ(getAlignment(contiguity, 1, 4), 1);
    EXPECT_EQ(getAlignment(contiguity, 33, 4), 16);
    EXPECT_EQ(getAlignment(contiguity, 48, 6), 36);
    EXPECT_EQ(getAlignment(contiguity, 7, 6), 5);
    EXPECT_EQ(getAlignment(contiguity, 7, 8), 7);
    // More bits than an integer can count.
    constexpr int64_t most = std::numeric_limits<int64_t>::max() - 127;
    EXPECT_EQ(getAlignment(contiguity, most, 8), most);
    EXPECT_EQ(getAlignment(contiguity, most, 6), most / 8 * 6);
    EXPECT_EQ(getAlignment(contiguity, most, 4), most / 2);
  }
}
