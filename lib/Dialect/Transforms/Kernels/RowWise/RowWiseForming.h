//===- RowWiseForming.h - Launches of row-wise kernels ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions and softmax along rows.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISEFORMING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISEFORMING_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::blockscale {

/// Gives `op`, a reduction along rows in a function for a GPU, a kernel.
/// Returns what replaced the results: nothing if `op` stays and becomes loops.
/// Fails after an error.
FailureOr<SmallVector<Value>> formReduce(RewriterBase &rewriter,
                                         SymbolTableCollection &symbols,
                                         linalg::GenericOp op);

/// The same for a softmax along rows.
FailureOr<SmallVector<Value>> formSoftmax(RewriterBase &rewriter,
                                          SymbolTableCollection &symbols,
                                          linalg::SoftmaxOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_ROWWISE_ROWWISEFORMING_H
