//===- GroupedRules.h - Rules of grouped products ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `grouped_mma_scaled`, `grouped_matmul` and a `promoted_matmul` with
// groups share: (P1) to (P5), and the checks of offsets and rows at run time.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_GROUPED_GROUPEDRULES_H
#define BLOCKSCALE_LIB_DIALECT_IR_GROUPED_GROUPEDRULES_H

#include "SizeRelations.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Promotion.h"

namespace mlir::blockscale {

/// The operands of a grouped product. Values of optional ones may be null.
struct GroupedProduct {
  NamedShape x, y, offsets, acc, rows, groupScale, bias;
  /// Null without scales.
  NamedShape xScale, yScale;
  /// Sizes of coarse scales follow from blocks: see ScaleBlockRules.h.
  bool hasCoarseScales = false;
  /// Whether the program says that offsets and rows are legal.
  bool areLegal = false;

  explicit GroupedProduct(GroupedMmaScaledOp op);
  explicit GroupedProduct(GroupedMatmulOp op);
  explicit GroupedProduct(PromotedMatmulOp op);

  /// Those that are there.
  SmallVector<NamedShape> getOperands() const;
};

/// (P1) to (P5)
LogicalResult verifyGrouped(Operation *op, const GroupedProduct &of);

/// The sizes that have to be equal: (P2) to (P4).
SmallVector<SizeRelation> getSizeRelations(const GroupedProduct &of);

/// Checks dynamic sizes, offsets and rows at run time.
void checkGrouped(OpBuilder &builder, Location loc, Operation *op,
                  function_ref<std::string(Operation *, StringRef)> getMessage,
                  const GroupedProduct &of);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_GROUPED_GROUPEDRULES_H
