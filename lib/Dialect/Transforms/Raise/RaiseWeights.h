//===- RaiseWeights.h - Weight-only quantization ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weight-only quantization: a contraction of a bf16 or f16 operand with a
// dequantized operand becomes `dequantize` and a matmul, whose kernel reads the
// quantized elements.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEWEIGHTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEWEIGHTS_H

#include "Raise/RaiseBlocks.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

namespace mlir::blockscale {

struct WeightsMatch {
  /// The accumulator, [batch, M, N].
  Value acc;
  /// The side of the weights: x if their rows are M.
  MmaScaledOp::Side side;
  /// The high-precision operand, as [batch, rows, K], and its type.
  OperandForm dense;
  FloatType type;
  /// Quantized elements and scales, as [batch, rows, K].
  RaisedSide weights;
  bool haveBatch;
  int64_t block;
  std::optional<TensorScale> tensorScale;
};

/// Matches `op` as a mixed-input matmul with quantized weights. If one operand
/// has high precision and the other one is dequantized, but `op` does not
/// match, `reason` says why.
std::optional<WeightsMatch>
matchWeights(Operation *op, const RaiseOptions &options, std::string &reason);

/// Creates the result of `op` according to `match`.
Value createProduct(OpBuilder &builder, Operation *op,
                    const WeightsMatch &match);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEWEIGHTS_H
