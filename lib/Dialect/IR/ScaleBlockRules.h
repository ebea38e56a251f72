//===- ScaleBlockRules.h - Rules of blocks of scales ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a matrix and its coarse scales, at compile time and at run time:
// (C11), (C12), (Q7) and (E6).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_SCALEBLOCKRULES_H
#define BLOCKSCALE_LIB_DIALECT_IR_SCALEBLOCKRULES_H

#include "SizeRelations.h"
#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// A matrix and its scales, which have one rank. Each dimension that is neither
/// that of rows nor that along K is a batch.
struct CoarseOperand {
  NamedShape matrix, scales;
  unsigned rowDim, kDim;
  /// How messages call the rows.
  StringRef rowName;
  /// The type of the elements: that of `matrix`, unless it is to be quantized.
  Type element;
  ScaleBlockAttr block;
  StringRef blockName;

  NamedDim getRows() const { return {matrix, rowDim, rowName}; }
  NamedDim getK() const { return {matrix, kDim, "K"}; }
};

/// The block of a valid operand: the given one, or the only one that fits.
ScaleBlock getScaleBlock(const CoarseOperand &operand);

/// Checks that the types have the block, and that the sizes of the scales are
/// those that follow from it. Batches are not checked.
LogicalResult verifyScaleBlock(Operation *op, const CoarseOperand &operand);

/// The same for dynamic sizes at run time. `hasScales` is false for scales that
/// are a result.
void checkScaleBlock(SizeChecker &check, const CoarseOperand &operand,
                     bool hasScales = true);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_SCALEBLOCKRULES_H
