//===- Checks.h - Shared checks of tcgen05 ops ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of operands and attributes that several ops share.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_CHECKS_H
#define BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_CHECKS_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/Descriptors.h"

namespace mlir::blockscale {

/// Checks that `group` is 1 or 2 CTAs.
LogicalResult verifyGroup(Operation *op, int64_t group);

/// Checks that `type` is workgroup memory of static shape that a block can
/// have.
LogicalResult verifySharedMemory(Operation *op, StringRef name,
                                 MemRefType type);

/// Checks that `count` columns from `column` on are among the `available` ones
/// of `what`.
LogicalResult verifyColumns(Operation *op, Value column, int64_t count,
                            int64_t available, StringRef what);

/// An operand of an instruction, for checks of its fields.
struct InstructionOperand {
  StringRef name;
  int64_t scaleId;
  bool isTransposed;
};
LogicalResult verifyScaleId(Operation *op, InstructionAttr instruction,
                            const InstructionOperand &operand);
LogicalResult verifyTransposed(Operation *op, InstructionAttr instruction,
                               const InstructionOperand &operand);
LogicalResult verifyN(Operation *op, InstructionAttr instruction, int64_t group,
                      bool isTransposedB);

/// Scales of A or B for an instruction, from `block` on; a null type without
/// scales.
struct ProductScales {
  TmemScalesType type;
  int64_t block;
  bool isTransposed;
};
/// The operands of `tcgen05.mma`, for checks of their types.
struct Product {
  InstructionAttr instruction;
  TmemAccType acc;
  int64_t group;
  ProductScales a, b;
  /// Null for a dense A; and which instruction's it is.
  TmemMetadataType metadata;
  int64_t metadataStep;
};
LogicalResult verifyProduct(Operation *op, const Product &product);

/// The type of `scales`; null without scales.
inline TmemScalesType getScalesType(TypedValue<TmemScalesType> scales) {
  return scales ? scales.getType() : TmemScalesType();
}

/// The type of `metadata`; null for a dense A.
inline TmemMetadataType getMetadataType(TypedValue<TmemMetadataType> metadata) {
  return metadata ? metadata.getType() : TmemMetadataType();
}

/// A tile in shared memory for a `matrix_descriptor`.
struct Matrix {
  StringRef name;
  MemRefType memory;
  TileLayout layout;

  MatrixShape getShape() const;
};
LogicalResult verifyMatrix(Operation *op, const Matrix &matrix);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_CHECKS_H
