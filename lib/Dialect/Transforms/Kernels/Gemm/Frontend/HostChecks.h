//===- HostChecks.h - Checks in front of a kernel ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTCHECKS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTCHECKS_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Asserts that `k`, the dynamic K of `op`, is whole blocks of `blockSize`, as
/// products with scales need it.
void checkWholeBlocks(OpBuilder &builder, ProductOpInterface op, OpFoldResult k,
                      unsigned blockSize);

/// Asserts that the dynamic sizes of `operand` of the fused `generic` are those
/// of its loops, `loops`. `loc` is the location of the kernel.
void checkFusedSizes(OpBuilder &builder, linalg::GenericOp generic,
                     OpOperand &operand, ArrayRef<OpFoldResult> loops,
                     Location loc);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_HOSTCHECKS_H
