//===- DequantizeOperand.h - Dequantize to memory ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel that dequantizes a matrix to memory: for a `dequantize`, or in
// front of a product whose instructions take bf16 values. How it makes a value
// is a policy.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEOPERAND_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// Values that a lane makes at once. Rows of the result are multiples of them.
inline constexpr int64_t kDequantizedAtOnce = 8;

/// How the kernel makes a value.
enum class ValuePolicy {
  Exact,    // element times scale in bf16, with inexact flags
  Permuted, // a bf16 value times 2^scaleShift, with inexact flags
  Rounded,  // element times scale in f32, rounded to the result's type
};

/// A matrix, or a batch of them, and its scales. Behind the parameters that
/// hold them come the result, `[batch,] rows, K`, and the inexact flags if the
/// policy has some: a word of each block, not 0 if a value that the block has
/// made is inexact.
struct DequantizedOperandProblem {
  ValuePolicy policy;
  KernelOperand codes, scales;
  Format format, scaleFormat;
  unsigned blockSize;
  /// Whether the result is `[batch,] K, rows`, as quantized elements are that
  /// are contiguous along rows, a multiple of 8.
  bool isTransposed;
  /// Where quantized elements of the other operand are dequantized in registers
  /// (see warpgroup_mma_mixed): how many of them a K chunk has, in whose order
  /// along K the values are, not transposed then; and the exponent by which
  /// values of the other operand are too small.
  int64_t boxElements;
  unsigned scaleShift;
  /// What the values are multiplied by before they are rounded, or null, and
  /// what it is computed from.
  Value tensorScale;
  FusedArguments scaleInputs;
  /// The parameter for the result, and how many values that has, if that is
  /// known.
  unsigned result;
  std::optional<int64_t> numbers;

  bool hasFlags() const { return policy != ValuePolicy::Rounded; }
  /// Whether quantized elements are contiguous in the direction in which values
  /// are, so that 8 of them are loaded at once.
  bool isContiguous() const;
};

/// Blocks that are launched for so many values where there are flags: no more
/// than a large chip has at the same time, and that many where the number is
/// dynamic (nullopt).
int64_t getDequantizeOperandBlocks(std::optional<int64_t> numbers);

/// The shape of the kernel that writes a result of `type`: rows are M, columns
/// N.
KernelShape getDequantizeOperandShape(RankedTensorType type);
void buildDequantizeOperand(gpu::GPUFuncOp kernel,
                            const DequantizedOperandProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEOPERAND_H
