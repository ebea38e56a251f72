//===- ResultSizes.h - Sizes of results that get kernels --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may take over an op only if nothing else uses what is between them.
// Who asks for sizes of that is no such user: sizes are asked of operands
// instead.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_RESULTSIZES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_RESULTSIZES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Replaces each `tensor.dim` of results of `op` by what `op` makes that size
/// of, one value for each size, in front of `op`.
void resolveResultSizes(RewriterBase &rewriter, Operation *op);

/// Folds what asks for sizes of launches, and other sizes, in `module`, up to
/// those of arguments.
LogicalResult foldSizes(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_RESULTSIZES_H
