//===- Checks.h - What ops of tcgen05 have in common ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of operands and attributes that several ops have.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_CHECKS_H
#define BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_CHECKS_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/Descriptors.h"

namespace mlir::blockscale {

/// That instructions are those of one block or of a pair.
LogicalResult verifyGroup(Operation *op, int64_t group);

/// That `type` is workgroup memory of known sizes, which a block can have.
LogicalResult verifySharedMemory(Operation *op, StringRef name,
                                 MemRefType type);

/// That `count` columns from `column` on are among `available` ones, of what
/// `what` says.
LogicalResult verifyColumns(Operation *op, Value column, int64_t count,
                            int64_t available, StringRef what);

/// What instructions ask of their fields.
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

/// Scales of A or B that instructions take, those of `block` first.
struct ProductScales {
  TmemScalesType type;
  int64_t block;
  bool isTransposed;
};
/// What `tcgen05.mma` asks of its types.
struct Product {
  InstructionAttr instruction;
  TmemAccType acc;
  int64_t group;
  ProductScales a, b;
};
LogicalResult verifyProduct(Operation *op, const Product &product);

/// A tile in shared memory, of which `matrix_descriptor` can be made.
struct Matrix {
  StringRef name;
  MemRefType memory;
  TileLayout layout;

  MatrixShape getShape() const;
};
LogicalResult verifyMatrix(Operation *op, const Matrix &matrix);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_TCGEN05_CHECKS_H
