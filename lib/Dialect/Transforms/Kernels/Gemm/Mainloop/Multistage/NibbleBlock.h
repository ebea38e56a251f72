//===- NibbleBlock.h - Transpose 8 x 8 fp4 elements -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An 8 x 8 matrix of fp4 elements in the registers of one thread: one u32 for
// each row, the first element in bits [3:0].
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLEBLOCK_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLEBLOCK_H

#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// 4-bit elements in a u32.
inline constexpr int64_t kWordNibbles = 8;

/// Replaces the eight rows of a matrix by those of its transpose: row i by row
/// `i xor turn`. `turn` is an index below 8.
void transposeNibbles(OpBuilder &b, Location loc, MutableArrayRef<Value> words,
                      Value turn);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLEBLOCK_H
