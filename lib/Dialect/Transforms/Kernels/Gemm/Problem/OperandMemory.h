//===- OperandMemory.h - Memory that launches pass --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an operand lies in global memory, as an affine map, and how it is copied
// if a kernel cannot read it there.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDMEMORY_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDMEMORY_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// (batch, row, column) -> dimensions of an operand of `rank`, whose rows are
/// dimension `rowDim` and whose batch, if it has one, is of `batchSize`.
AffineMap getOperandMap(MLIRContext *context, unsigned rank, unsigned rowDim,
                        int64_t batchSize);

/// Which index is contiguous if `map` goes from (batch, row, column) of an
/// operand of `rank` to memory.
Contiguity getContiguity(AffineMap map, unsigned rank);

/// Whether a launch passes memory of an argument or of the workspace for
/// `tensor`; for a view, that of its source or of a copy. Tensor maps cannot
/// describe other memory.
bool hasOwnMemory(Value tensor);

/// The bit pattern of all elements of `tensor`, of at most 8 bits, if it is a
/// splat: a constant, or of dynamic sizes.
std::optional<uint8_t> getSplatByte(Value tensor);

/// A copy of `tensor` in new memory.
Value copyTensor(OpBuilder &builder, Location loc, Value tensor);

/// `tensor` with the dimensions in `order`, which swaps the last two. If
/// `tensor` is such a transpose itself, returns its source.
Value transposeTensor(OpBuilder &builder, Location loc, Value tensor,
                      ArrayRef<int64_t> order);

/// An operand whose rows come first, and the map from an index of the operand
/// to one of `tensor`.
struct RowsFirst {
  Value tensor;
  AffineMap map;
};

/// `operand`, whose rows are dimension `rowDim`, with rows in front of columns:
/// transposed if needed.
RowsFirst putRowsFirst(OpBuilder &builder, Location loc, Value operand,
                       unsigned rowDim);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDMEMORY_H
