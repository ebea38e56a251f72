//===- OperandInRegisters.h - The quantized A of wgmma ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma kernels dequantize one operand in registers: y, or a sparse x. A K
// chunk is the part of one of its rows that a bulk copy brings to a row of
// shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDINREGISTERS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDINREGISTERS_H

#include "blockscale/Support/InstructionTable.h"

namespace mlir::blockscale {

/// Bytes of a row of quantized elements in a K chunk.
inline constexpr int64_t kQuantizedChunkBytes = 64;

/// The format of the operand that is dequantized in registers: y, or a sparse
/// x.
Format getFormatInRegisters(const TypeCombination &types);

/// Elements of that operand in a K chunk; of a sparse one, logical ones.
int64_t getMixedInputChunk(const TypeCombination &types);

/// K is a multiple of this: rows of its quantized elements are multiples of 16
/// bytes, for bulk copies, and of whole scale blocks; two blocks where it
/// `isDynamic`, since scales are loaded by two then.
int64_t getMixedInputUnit(const TypeCombination &types, bool isDynamic);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_OPERANDINREGISTERS_H
