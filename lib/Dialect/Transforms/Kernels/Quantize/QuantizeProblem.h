//===- QuantizeProblem.h - What a quantize kernel computes ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEPROBLEM_H

#include "Kernels/Gemm/Problem/KernelProblem.h"
#include "Quantize/BlockArithmetic.h"

namespace mlir::blockscale {

/// A `quantize` of a matrix, or of a batch of them, as a kernel computes it.
/// Sizes may be dynamic.
struct QuantizeProblem {
  BlockFormat format;
  /// Of rank 2 or 3.
  unsigned rank;
  int64_t m, k;
  /// The parameter that holds x, a memref of f32, f16 or bf16, and (batch, row,
  /// column) -> its dimensions.
  unsigned x;
  AffineMap map;
  Contiguity contiguity;
  /// Whether K may end inside of a block.
  bool mayEnd;
  FusedScalar tensorScale;
  /// The parameters for elements, of `elementBits` each in a memref of bytes,
  /// for scales, in the 32x4x4 layout with `hasAtoms`, and for the largest
  /// magnitude, an f32 that starts at 0.
  unsigned elements, scales;
  std::optional<unsigned> amax;
  unsigned elementBits;
  bool hasAtoms;
  const Chip *chip;

  /// Whether lanes read 8 values at once.
  bool isContiguous() const {
    return contiguity == Contiguity::Columns && !mayEnd;
  }
};

/// The sizes of its launch: M is rows, N is columns. In the 32x4x4 layout,
/// blocks cover all rows of atoms.
KernelShape getQuantizeShape(const QuantizeProblem &problem);
void buildQuantize(gpu::GPUFuncOp kernel, const QuantizeProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEPROBLEM_H
