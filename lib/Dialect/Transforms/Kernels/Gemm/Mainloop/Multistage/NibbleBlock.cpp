//===- NibbleBlock.cpp - Transpose 8 x 8 fp4 elements ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transposition in registers, in three steps that swap masked bit fields
// between two registers.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/NibbleBlock.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Swaps the elements of `first` outside of `mask` with those of `second`
/// inside of it, which are `shift` bits lower.
static void exchange(OpBuilder &b, Location loc, Value &first, Value &second,
                     uint32_t mask, int64_t shift) {
  Type i32 = b.getI32Type();
  auto constant = [&](uint32_t value) -> Value {
    return makeWord(b, loc, value);
  };
  auto merge = [&](Value low, Value high) -> Value {
    low = arith::AndIOp::create(b, loc, low, constant(mask));
    high = arith::AndIOp::create(b, loc, high, constant(~mask));
    return arith::OrIOp::create(b, loc, low, high);
  };
  Value amount = arith::ConstantIntOp::create(b, loc, i32, shift);
  Value up = arith::ShLIOp::create(b, loc, second, amount);
  Value down = arith::ShRUIOp::create(b, loc, first, amount);
  Value merged = merge(first, up);
  second = merge(down, second);
  first = merged;
}

void blockscale::transposeNibbles(OpBuilder &b, Location loc,
                                  MutableArrayRef<Value> words, Value turn) {
  // Each stage swaps one bit of the row index with the same bit of the column
  // index; the mask has the elements whose column index lacks this bit.
  struct Stage {
    int64_t distance;
    uint32_t mask;
  };
  constexpr Stage stages[] = {
      {4, 0x0000FFFF}, {2, 0x00FF00FF}, {1, 0x0F0F0F0F}};
  Value zero = makeIndex(b, loc, 0);
  for (auto [distance, mask] : stages) {
    Value bit = makeIndex(b, loc, distance);
    bit = arith::AndIOp::create(b, loc, turn, bit);
    Value isTurned =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, zero);
    for (int64_t i = 0; i != kWordNibbles; ++i) {
      if ((i & distance) != 0)
        continue;
      Value low = words[i], high = words[i + distance];
      exchange(b, loc, low, high, mask, 4 * distance);
      words[i] = arith::SelectOp::create(b, loc, isTurned, high, low);
      words[i + distance] =
          arith::SelectOp::create(b, loc, isTurned, low, high);
    }
  }
}
