//===- DequantizeOperand.h - Dequantize to memory ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dequantize kernel: it writes a quantized matrix to memory as f32, f16 or
// bf16 values, for a `dequantize` op or in front of a GEMM whose instructions
// take bf16. A policy (a ValueWriter) says how it makes a value.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEOPERAND_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// How many values a lane makes at once. Rows of the result are multiples of
/// it.
inline constexpr int64_t kDequantizedAtOnce = 8;

/// How the kernel makes a value.
enum class ValuePolicy {
  Exact,    // element times scale in bf16, with inexact flags
  Permuted, // a bf16 value times 2^scaleShift, with inexact flags
  Rounded,  // element times scale in f32, rounded to the result's type
};

/// A matrix, or a batch of them, and its scales. The parameters that hold them
/// come first, then the result, `[batch,] rows, K`, then the inexact flags if
/// the policy has some: an i32 for each block, not 0 if the block has made an
/// inexact value.
struct DequantizedOperandProblem {
  ValuePolicy policy;
  KernelOperand elements, scales;
  Format format, scaleFormat;
  unsigned blockSize;
  /// For the policy Rounded: whether scales are of f32, and of no format.
  bool hasF32Scales = false;
  /// Whether the result is `[batch,] K, rows`: for quantized elements that are
  /// contiguous along rows, a multiple of 8.
  bool isTransposed;
  /// For mixed input (see warpgroup_mma_mixed), where the other operand is
  /// dequantized in registers: how many of its elements a K chunk has, and the
  /// exponent by which its values are too small. The values here have the order
  /// of that chunk along K, and are not transposed. Rows of the result have
  /// whole chunks, with zeros behind the last value.
  int64_t chunkElements;
  unsigned scaleShift;
  /// What the other operand keeps two of four of, if it is sparse.
  std::optional<Granularity> sparsity;
  /// K and the number of rows, which may be dynamic. The result may have more
  /// rows, which are not written.
  int64_t k, rows;
  /// The parameter with the rows of the operand that those of the result are,
  /// i32; none if they are the same. Rows that the operand does not have are
  /// others of it.
  std::optional<unsigned> gathered = {};
  /// Whether there are flags of groups of rows behind those of blocks, which
  /// become 0.
  bool hasGroupFlags = false;
  /// The scalar that values are multiplied by before they are rounded.
  FusedScalar tensorScale;
  /// The parameter for the result.
  unsigned result;

  bool hasFlags() const { return policy != ValuePolicy::Rounded; }
  /// Whether rows of the result may be longer than K.
  bool isPadded() const {
    return chunkElements != 0 && !KernelProblem::isMultiple(k, chunkElements);
  }
  /// Whether elements are contiguous along the contiguous dimension of the
  /// result, so that 8 of them are loaded at once.
  bool isContiguous() const;
};

/// How many blocks are launched, if there are flags, for a result of `sizes`,
/// [batch,] rows, columns: at most as many as a large chip runs at once.
OpFoldResult getDequantizeOperandBlocks(OpBuilder &builder, Location loc,
                                        ArrayRef<OpFoldResult> sizes);

/// The shape of the kernel that writes a result of `type`: rows are M, columns
/// N.
KernelShape getDequantizeOperandShape(RankedTensorType type);
void buildDequantizeOperand(gpu::GPUFuncOp kernel,
                            const DequantizedOperandProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEOPERAND_H
