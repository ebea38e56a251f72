//===- DequantizeProblem.h - What a dequantising kernel computes *- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_DEQUANTIZEPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_DEQUANTIZEPROBLEM_H

#include "Kernels/KernelProblem.h"

namespace mlir::blockscale {

/// Numbers that a lane makes at once; K is a multiple of them.
inline constexpr int64_t kDequantizedAtOnce = 8;

/// A `dequantize` of a matrix, or of a batch of them, as a kernel computes it.
struct DequantizeProblem {
  DequantizeOp op;
  unsigned rank;
  /// K, a multiple of `kDequantizedAtOnce`, or dynamic, as rows may be.
  int64_t k;
  /// The parameters for codes and scales, and (batch, row, column) -> where
  /// they are there.
  unsigned codes, scales, result;
  unsigned codeBits;
  AffineMap codesMap, scalesMap;
  FusedArguments scaleInputs;
};

/// Sizes of its launch: rows are M of its shape, columns N.
KernelShape getDequantizeShape(const DequantizeProblem &problem);
void buildDequantize(gpu::GPUFuncOp kernel, const DequantizeProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_DEQUANTIZEPROBLEM_H
