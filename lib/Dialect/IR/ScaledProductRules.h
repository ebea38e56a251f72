//===- ScaledProductRules.h - Rules of products with scales -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules that `mma_scaled` and `sparse_mma_scaled` share: (C1) to (C10) and
// (X1) to (X10), at compile time and at run time.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_SCALEDPRODUCTRULES_H
#define BLOCKSCALE_LIB_DIALECT_IR_SCALEDPRODUCTRULES_H

#include "SizeRelations.h"
#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// x or its metadata: M rows, and the elements along K that each element in
/// them stands for.
struct RowsOfX {
  NamedShape shape;
  int64_t perElement = 1;
};

/// The operands of a product, and the block sizes that are legal for its types.
/// Rules of scales do not hold for coarse ones, see ScaleBlockRules.h.
struct ScaledProduct {
  /// x, and its metadata if it is sparse.
  SmallVector<RowsOfX, 2> rows;
  NamedShape xScale, y, yScale, acc;
  IntegerAttr blockSize;
  std::vector<unsigned> (*getLegal)(Format lhs, Format rhs, Format scale);
  bool hasCoarseScales = false;

  const NamedShape &getX() const { return rows.front().shape; }
  SmallVector<NamedShape> getOperands() const;

  /// A static size of K or of K_s, or dynamic.
  int64_t getK() const;
  int64_t getBlocks() const;
  /// The block size of a valid op.
  int64_t getBlock() const;
};

/// (C2), (X2)
LogicalResult verifyRanks(Operation *op, const ScaledProduct &product);
/// (C3), (C4), (C6), (X3), (X4), (X6)
SmallVector<SizeRelation> getSizeRelations(const ScaledProduct &product);
/// (C5), (X5)
LogicalResult verifyBatch(Operation *op, const ScaledProduct &product);
/// (C8), (X8)
LogicalResult verifyScaleTypes(Operation *op, const ScaledProduct &product);
/// (C9), (C10), (X9), (X10)
LogicalResult verifyBlock(Operation *op, const ScaledProduct &product);

/// The checks of dynamic sizes at run time, without those of coarse scales.
void checkScaledProduct(SizeChecker &check, const ScaledProduct &product);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_SCALEDPRODUCTRULES_H
