//===- QuantizedResults.h - Results of a quantize in memory -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `quantize` has three results: elements, scales and, on request, the largest
// magnitude. Kernels store them as the next op wants them: elements packed,
// scales in the 32x4x4 layout.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_QUANTIZEDRESULTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_QUANTIZEDRESULTS_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

struct QuantizedResults {
  /// `op`, with the pack and the swizzle that are the only uses of its results.
  explicit QuantizedResults(QuantizeOp op);

  QuantizeOp op;
  /// Null if elements stay bytes, and if scales stay row-major.
  PackOp pack;
  SwizzleScalesOp swizzle;

  /// Bits of an element in memory.
  unsigned getElementBits() const;

  /// Memory for elements, for scales, and for the largest magnitude if that is
  /// a result (it starts at 0); `sizes` are those of x.
  SmallVector<Value> makeOutputs(OpBuilder &builder,
                                 ArrayRef<OpFoldResult> sizes);
  /// Replaces the results of `op`, and of its pack and swizzle, by `results`,
  /// which a kernel wrote. Nothing uses `op` after that.
  void replace(RewriterBase &rewriter, ValueRange results);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_QUANTIZEDRESULTS_H
