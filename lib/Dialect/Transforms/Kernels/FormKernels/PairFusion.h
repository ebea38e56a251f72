//===- PairFusion.h - Epilogues that combine columns ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the epilogue of a GEMM can combine pairs of columns, as gated
// activations do, and what takes the place of the ops that it computes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PAIRFUSION_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PAIRFUSION_H

#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// The findPairConsumer of `op`, a product of groups, if all kernels that `op`
/// may get can fuse it; else null. Fails after an error.
FailureOr<linalg::GenericOp> findFusedPairs(ProductOpInterface op);

/// Checks the sizes of the reshape of the product, and of the op that reads it,
/// as `host` has them: both will be gone.
void checkPairs(RewriterBase &rewriter, ProductOpInterface op,
                const HostProblem &host);

/// Erases the ops of the pairs behind `op`, which a `quantize` in the kernel
/// leaves without uses.
void erasePairs(RewriterBase &rewriter, ProductOpInterface op,
                linalg::GenericOp consumer);

/// Replaces the result of `consumer` by that of a launch, a matrix, and erases
/// it and the reshape in front of it.
void replacePairs(RewriterBase &rewriter, ProductOpInterface op,
                  linalg::GenericOp consumer, Value result);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_PAIRFUSION_H
