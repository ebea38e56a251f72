//===- OperandMap.h - Operands as matrices in memory ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of an operand as an affine map, and its contiguous index.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDMAP_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDMAP_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// (batch, row, column) -> dimensions of an operand of `rank`, whose rows are
/// dimension `rowDim` and whose batch, if it has one, is of `batchSize`.
AffineMap getOperandMap(MLIRContext *context, unsigned rank, unsigned rowDim,
                        int64_t batchSize);

/// Which index is contiguous if `map` goes from (batch, row, column) of an
/// operand of `rank` to memory.
Contiguity getContiguity(AffineMap map, unsigned rank);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDMAP_H
