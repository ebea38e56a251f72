//===- BlockTypes.h - Types of blocks ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_QUANTIZE_BLOCKTYPES_H
#define BLOCKSCALE_LIB_DIALECT_IR_QUANTIZE_BLOCKTYPES_H

#include "ScaleBlockRules.h"

namespace mlir::blockscale {

/// (Q4), (E4), (G4): types and block size are a legal combination.
LogicalResult verifyBlockTypes(Operation *op, Type element, Type scale,
                               int64_t blockSize);

/// (Q5), (G4): powers have a rule, other scales a tensor scale.
LogicalResult verifyScaleRule(Operation *op, Type scale,
                              std::optional<ScaleRule> rule,
                              bool hasTensorScale);

/// The elements and coarse scales of an op of rank 2 or more.
CoarseOperand getCoarseOperand(QuantizeOp op);
CoarseOperand getCoarseOperand(DequantizeOp op);

/// (Q7), (E6)
LogicalResult verifyCoarseScales(QuantizeOp op);
LogicalResult verifyCoarseScales(DequantizeOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_QUANTIZE_BLOCKTYPES_H
