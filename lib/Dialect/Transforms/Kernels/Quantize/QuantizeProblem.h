//===- QuantizeProblem.h - What a quantize kernel computes ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEPROBLEM_H

#include "Kernels/RowWise/RowWiseLanes.h"
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
  ScaleBlock block;
  /// Whether K may end inside of a block. Unknown of coarse blocks.
  bool mayEnd;
  /// For coarse blocks: K is known to be a multiple of so many values, at most
  /// 8, which a thread has at once.
  int64_t width = 1;
  FusedScalar tensorScale;
  /// The parameters for elements, of `elementBits` each in a memref of bytes,
  /// for scales, in the 32x4x4 layout with `hasAtoms`, and for the largest
  /// magnitude, an f32 that starts at 0.
  unsigned elements, scales;
  std::optional<unsigned> amax;
  /// The parameter for the largest magnitude of each block: f32s that start at
  /// 0, if one kernel finds them and another one reads them.
  std::optional<unsigned> magnitudes;
  unsigned elementBits;
  bool hasAtoms;
  const Chip *chip;

  /// Whether lanes read 8 values at once.
  bool isContiguous() const {
    return contiguity == Contiguity::Columns && !mayEnd;
  }
};

/// The size of x that is dimension `fromEnd` of its elements from the end.
Value emitSize(OpBuilder &b, Location loc, const QuantizeProblem &problem,
               Value x, unsigned fromEnd);

/// The sizes of its launch: M is rows, N is columns. In the 32x4x4 layout,
/// blocks cover all rows of atoms.
KernelShape getQuantizeShape(const QuantizeProblem &problem);
void buildQuantize(gpu::GPUFuncOp kernel, const QuantizeProblem &problem);

/// The same for coarse blocks of any kind; rows that are whole blocks have one
/// block of threads along N.
KernelShape getCoarseQuantizeShape(const QuantizeProblem &problem);
void buildCoarseQuantize(gpu::GPUFuncOp kernel, const QuantizeProblem &problem);
/// Whether another kernel, of the same shape, has to find the largest
/// magnitudes.
bool hasPartsOfBlocks(const QuantizeProblem &problem);
void buildMagnitudes(gpu::GPUFuncOp kernel, const QuantizeProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEPROBLEM_H
