//===- RaiseWeights.h - Decoded weights beside numbers ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction of numbers of bf16 or f16 with an operand that is decoded from
// codes and scales is `dequantize` and a matmul, which kernels read codes for.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEWEIGHTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEWEIGHTS_H

#include "Raise/RaiseBlocks.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

namespace mlir::blockscale {

struct WeightsMatch {
  /// What the contraction adds to, [batch, M, N].
  Value acc;
  /// Which operand the weights are: x if M are their rows.
  MmaScaledOp::Side side;
  /// The numbers, as [batch, rows, K], and their type.
  OperandForm numbers;
  FloatType type;
  /// Codes and scales, as [batch, rows, K].
  RaisedSide weights;
  bool haveBatch;
  int64_t block;
  std::optional<TensorScale> tensorScale;
};

/// What `op` is as a product of numbers and weights. If it is none, although
/// one operand is numbers and the other decoded, `reason` says why.
std::optional<WeightsMatch>
matchWeights(Operation *op, const RaiseOptions &options, std::string &reason);

/// The result of `op`, computed as `match`.
Value createProduct(OpBuilder &builder, Operation *op,
                    const WeightsMatch &match);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEWEIGHTS_H
