//===- RowWiseLanes.h - Threads that share a row ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row belongs to a warp, to a part of one (a power of two), or to a block.
// Its threads take every n-th element and join their values, by shuffles in a
// warp and through shared memory between warps. All of them have the result,
// with the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISELANES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISELANES_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// How many threads have a row, and how many rows a block has. More than one
/// warp has one row only.
struct RowWisePlan {
  int64_t lanes, rows;

  /// Where rows are M.
  KernelShape getShape() const {
    KernelShape shape;
    shape.tile = {rows, 1, 1};
    shape.threads = {lanes * rows, 1, 1};
    return shape;
  }
};

/// A plan for `rows` rows of `length` elements, either of which may be
/// dynamic: a block where a row is longer than `longest`.
RowWisePlan getRowWisePlan(int64_t length, int64_t rows, int64_t longest);

/// Emits what the threads of a kernel do with their rows.
class RowWiseLanes {
public:
  using JoinFn = function_ref<Value(OpBuilder &, Value, Value)>;

  RowWiseLanes(OpBuilder &b, gpu::GPUFuncOp kernel, const RowWisePlan &plan);

  /// The row of the thread, and its index among the threads of the row.
  Value getRow() const { return row; }
  Value getLane() const { return lane; }
  /// Emits `body` for rows below `numRows`: all threads of a warp do the same.
  void emitIfRow(OpBuilder &b, Value numRows,
                 function_ref<void(OpBuilder &)> body);
  /// Joins the scalar values of all threads of a row, in any order. All threads
  /// of a warp call it.
  Value join(OpBuilder &b, Value value, JoinFn join);

private:
  Value joinInWarp(OpBuilder &b, Value value, int64_t lanes, JoinFn join);
  Value shuffle(OpBuilder &b, Value value, int64_t distance);

  Location loc;
  gpu::GPUFuncOp kernel;
  RowWisePlan plan;
  Value row, lane;
};

/// The product of sizes; dynamic if one of them is.
int64_t multiplySizes(ArrayRef<int64_t> sizes);
/// The same of values, which are sizes.
Value emitProduct(OpBuilder &b, Location loc, ValueRange sizes);
/// The indices of element number `linear` of a tensor of `sizes`.
SmallVector<Value> emitIndices(OpBuilder &b, Location loc, Value linear,
                               ValueRange sizes);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISELANES_H
