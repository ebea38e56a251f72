//===- BlockShapes.h - Tensors of blocks -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_QUANTIZE_BLOCKSHAPES_H
#define BLOCKSCALE_LIB_DIALECT_IR_QUANTIZE_BLOCKSHAPES_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"

namespace mlir::blockscale {

/// Constraints (Q4), (E4), (H2): types and block size of a legal row.
LogicalResult verifyBlockTypes(Operation *op, Type element, Type scale,
                               int64_t blockSize);

/// Constraint (Q5), and the same of (H2).
LogicalResult verifyScaleRule(Operation *op, Type scale,
                              std::optional<ScaleRule> rule,
                              bool hasTensorScale);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_QUANTIZE_BLOCKSHAPES_H
