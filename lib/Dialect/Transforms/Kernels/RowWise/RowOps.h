//===- RowOps.h - Row-wise ops that have kernels ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which reductions and softmax ops get a kernel with a warp or a block for each
// row.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWOPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Whether threads share each result of `op`, on tensors: one reduction, of
/// many values that are contiguous in memory, by an op whose order does not
/// matter.
bool isRowReduction(linalg::LinalgOp op);

/// Whether threads share each row of `op`: on tensors, along the last
/// dimension, of f32, f16 or bf16.
bool isRowSoftmax(linalg::SoftmaxOp op);

/// The static sizes of the loops of `op` of a kind.
SmallVector<int64_t> getLoopSizes(linalg::LinalgOp op,
                                  utils::IteratorType kind);

/// Asserts in front of `op`, which is one of these, that its operands have the
/// same sizes.
void checkSoftmaxSizes(linalg::SoftmaxOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWOPS_H
