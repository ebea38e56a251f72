//===- Kernels.h - All GEMM kernels -----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emitting halves of all GEMM kernels. Each is defined in the folder of its
// instructions or of its mainloop; Paths/GemmPath.cpp says which path has
// which.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_KERNELS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_KERNELS_H

#include "Kernels/Gemm/GemmKernel.h"

namespace mlir::blockscale {

/// Plain arithmetic, one thread for each element of the result.
const GemmKernel &getReferenceKernel();
/// cp.async stages that all warps fill and read, for mma.sync: block-scaled
/// instructions, or bf16 ones behind dequantization in registers.
const GemmKernel &getMultistageKernel();
/// Warp-specialized: a TMA producer and MMA warps with block-scaled mma.sync.
const GemmKernel &getMmaSyncDenseKernel();
/// Warp-specialized: a TMA producer, an MMA warp and epilogue warps around
/// tensor memory, with tcgen05.mma, block-scaled or without scales, by one CTA
/// or two.
const GemmKernel &getTcgen05DenseKernel();
/// Warp-specialized: a TMA producer and warpgroups. Both operands are bf16 or
/// f16 in shared memory.
const GemmKernel &getWgmmaDenseKernel();
/// Mixed input: the same with y as A, dequantized in registers (swap-AB).
const GemmKernel &getWgmmaMixedInputKernel();
/// GEMV: the same for one row of x, as a block-diagonal B.
const GemmKernel &getWgmmaGemvKernel();
const GemmKernel &getWgmmaSparseInputKernel();

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_KERNELS_H
