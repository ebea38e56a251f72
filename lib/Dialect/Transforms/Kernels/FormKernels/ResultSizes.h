//===- ResultSizes.h - Sizes of results that get kernels --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may fuse an op only if nothing else uses the value between the two.
// An op that asks for a size of that value must not count as a use: it is
// rewritten to ask the operands.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_RESULTSIZES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_RESULTSIZES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Replaces each `tensor.dim` of a result of `op` by the sizes of operands that
/// it comes from, one value for each size, in front of `op`.
void resolveResultSizes(RewriterBase &rewriter, Operation *op);

/// Folds `tensor.dim` of launches, and other size arithmetic, in `module`, up
/// to sizes of arguments.
LogicalResult foldSizes(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_RESULTSIZES_H
