//===- NibbleBlock.h - Blocks of codes of 4 bits ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An 8 x 8 matrix of codes of 4 bits in the registers of one thread: eight
// words (i32), which are its rows, the first code of each in bits [3:0].
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLEBLOCK_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLEBLOCK_H

#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Codes of 4 bits in a word.
inline constexpr int64_t kWordNibbles = 8;

/// Replaces the eight words of a matrix by those of its transpose: word i by
/// number `i xor turn`. `turn` is an index below 8.
void transposeNibbles(OpBuilder &b, Location loc, MutableArrayRef<Value> words,
                      Value turn);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_NIBBLEBLOCK_H
