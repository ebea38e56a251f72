//===- TransposeKernel.h - Transposes through shared memory -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_TRANSPOSEKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_TRANSPOSEKERNEL_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// The transpose of a matrix of elements of 8, 16 or 32 bits: parameter 0 holds
/// the M x N elements, parameter 1 is the result, N x M.
KernelShape getTransposeKernelShape();
void buildTransposeKernel(gpu::GPUFuncOp kernel);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_TRANSPOSEKERNEL_H
