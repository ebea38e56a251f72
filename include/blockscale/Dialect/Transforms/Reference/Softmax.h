//===- Softmax.h - linalg.softmax as elementary ops -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_SOFTMAX_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_SOFTMAX_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::blockscale {

/// Creates the value of `op`, on tensors, from ops without softmax, at
/// `builder`. f16 and bf16 are computed in f32, and rounded once. Fails if the
/// op has another form or another type.
FailureOr<Value> decomposeSoftmax(OpBuilder &builder, linalg::SoftmaxOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_SOFTMAX_H
