//===- DecodeKernel.h - From codes and scales to bf16 --------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One operand of a product as numbers of bf16, in memory.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DECODE_DECODEKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DECODE_DECODEKERNEL_H

#include "Kernels/KernelProblem.h"

namespace mlir::blockscale {

/// An operand and its scales. Behind the parameters that hold them come the
/// numbers, `[batch,] rows, K`, and a word for each block: not 0 if some number
/// that it has made is not what it should be.
struct DecodeProblem {
  KernelOperand codes, scales;
  Format format, scaleFormat;
  unsigned blockSize;
  /// Whether numbers are stored as codes are that are contiguous along rows, a
  /// multiple of 8: `[batch,] K, rows`.
  bool isTransposed;
  /// Where codes of the other operand are converted on the way (see
  /// warpgroup_mma_codes): the elements of a box of them, in whose order along
  /// K numbers are, not transposed then; and the exponent by which those of the
  /// other operand are too small.
  int64_t boxElements = 0;
  unsigned scaleShift = 0;
  /// The parameter for the numbers, and how many there are, if that is known.
  unsigned result;
  std::optional<int64_t> numbers;

  /// Whether codes are contiguous in the direction in which numbers are, so
  /// that 8 of them are loaded at once.
  bool isContiguous() const;
};

/// Blocks that are launched for so many numbers: no more than a large chip has
/// at the same time, and that many where the number is dynamic (nullopt).
int64_t getDecodeBlocks(std::optional<int64_t> numbers);

KernelShape getDecodeShape();
void buildDecode(gpu::GPUFuncOp kernel, const DecodeProblem &problem);
/// The same where there are numbers of bf16 already, in `codes`, without
/// scales: they get the order of codes of the other operand, and the power that
/// those lack.
void buildPlace(gpu::GPUFuncOp kernel, const DecodeProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DECODE_DECODEKERNEL_H
