//===- Sparse.h - Ops on 2:4 sparse operands --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops and attributes of sparse operands, and the shapes of compressed matrices
// and of tiled metadata.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_IR_SPARSE_H
#define BLOCKSCALE_DIALECT_IR_SPARSE_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Support/SparseMetadata.h"

#define GET_ATTRDEF_CLASSES
#include "blockscale/Dialect/IR/BlockScaleSparseAttrs.h.inc"

#define GET_OP_CLASSES
#include "blockscale/Dialect/IR/BlockScaleSparseOps.h.inc"

namespace mlir::blockscale {

/// The shape of row-major metadata of `shape` in atoms. Dynamic sizes stay
/// dynamic.
SmallVector<int64_t> getTiledMetadataShape(ArrayRef<int64_t> shape);

/// The same for sizes that may be values.
SmallVector<OpFoldResult> getTiledMetadataSizes(OpBuilder &builder,
                                                Location loc,
                                                ArrayRef<OpFoldResult> sizes);

/// `sizes` with the last one divided by `divisor`, and multiplied by `factor`.
SmallVector<OpFoldResult> scaleLastSize(OpBuilder &builder, Location loc,
                                        ArrayRef<OpFoldResult> sizes,
                                        int64_t factor, int64_t divisor);

/// Results of the ops on constants; null if they are too large, and if the op
/// would fail at run time.
DenseElementsAttr sparsifyConstant(DenseElementsAttr source,
                                   const GranularityInfo &units);
struct CompressedConstant {
  DenseElementsAttr elements, metadata;
};
std::optional<CompressedConstant> compressConstant(DenseElementsAttr source,
                                                   CompressOp op);
DenseElementsAttr decompressConstant(DenseElementsAttr elements,
                                     DenseElementsAttr metadata,
                                     DecompressOp op);
DenseElementsAttr tileMetadataConstant(DenseElementsAttr metadata,
                                       ShapedType type);
DenseElementsAttr untileMetadataConstant(DenseElementsAttr tiled,
                                         ShapedType type);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_IR_SPARSE_H
