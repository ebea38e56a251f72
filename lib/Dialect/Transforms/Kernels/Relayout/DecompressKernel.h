//===- DecompressKernel.h - Kernel of decompress ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_DECOMPRESSKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_DECOMPRESSKERNEL_H

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "blockscale/Dialect/IR/Sparse.h"

namespace mlir::blockscale {

/// A `decompress` whose units are bytes in memory: parameter 0 holds the kept
/// ones, parameter 1 the metadata, parameter 2 is the result. M of its shape is
/// rows, N is bytes of metadata.
KernelShape getDecompressKernelShape();
void buildDecompressKernel(gpu::GPUFuncOp kernel, DecompressOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_DECOMPRESSKERNEL_H
