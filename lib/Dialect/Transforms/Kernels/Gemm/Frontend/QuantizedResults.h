//===- QuantizedResults.h - What a quantize leaves in memory ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of a `quantize` as kernels make them, which take over what packs
// its codes and what swizzles its scales.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_QUANTIZEDRESULTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_QUANTIZEDRESULTS_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

struct QuantizedResults {
  /// With all that is used in one way.
  explicit QuantizedResults(QuantizeOp op);

  QuantizeOp op;
  /// Null where codes stay bytes, and where scales stay rows.
  PackOp pack;
  SwizzleScalesOp swizzle;

  /// Bits of a code in memory.
  unsigned getCodeBits() const;

  /// Memory for codes, for scales, and for the largest magnitude, which is 0,
  /// if that is a result; `sizes` are those of x.
  SmallVector<Value> makeOutputs(OpBuilder &builder,
                                 ArrayRef<OpFoldResult> sizes);
  /// Replaces the results of `op`, and what is taken over, by `results`, which
  /// a kernel left there. Nothing uses `op` after that.
  void replace(RewriterBase &rewriter, ValueRange results);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_QUANTIZEDRESULTS_H
