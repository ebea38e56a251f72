//===- CoarseScales.h - Coarse scales on GPUs -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H

#include "Selection/PathChoice.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// The longest interval of promoted sums: what the accumulators of fp8
/// instructions may add up.
inline constexpr int64_t kMostInterval = 128;

/// Gives products in `root` that have a licence for it one scale for each row
/// of x and each column of y, and elements of fp8, where the chip has
/// instructions for such products; with a remark.
void rebaseScales(Operation *root, const PathChooser &chooser);

/// A `mma_scaled` or a `grouped_mma_scaled`, for what holds for both.
struct CoarseProduct {
  using Side = MmaScaledOp::Side;

  explicit CoarseProduct(MmaScaledOp op);
  explicit CoarseProduct(GroupedMmaScaledOp op);

  Value getMatrix(Side side) { return side == Side::X ? op.getX() : op.getY(); }
  Value getScales(Side side) {
    return side == Side::X ? op.getXScale() : op.getYScale();
  }
  ShapedType getMatrixType(Side side) {
    return cast<ShapedType>(getMatrix(side).getType());
  }
  ShapedType getScaleType(Side side) {
    return cast<ShapedType>(getScales(side).getType());
  }
  Format getElement(Side side) {
    return *getElementFormat(getMatrixType(side).getElementType());
  }
  ScaleBlock getBlock(Side side) const {
    return side == Side::X ? xBlock : yBlock;
  }
  Location getLoc() { return op->getLoc(); }

  ProductOpInterface op;
  ScaleBlock xBlock, yBlock;
  AccumulateAttr accumulate;
};

/// Rewrites the products in `root` with coarse scales into products that paths
/// of the chip have, with a remark. Exact, but for sums that have a licence: a
/// device may differ from the definition by no more than its sums may.
void rewriteCoarseScales(Operation *root, const PathChooser &chooser);

/// Whether instructions of the chip may multiply the elements of `product` as
/// they are: fp8 with a licence for their sums.
bool mayMultiplyFP8(CoarseProduct product, const PathChooser &chooser);

/// Whether instructions of the chip multiply elements of these formats, without
/// scales.
bool hasUnscaledProduct(const PathChooser &chooser, Format x, Format y);

/// `value` with its last two dimensions exchanged.
Value transposeLast(IRRewriter &rewriter, Location loc, Value value);

/// A `promoted_matmul` of the elements of `product`, with a remark: scales are
/// factors of its sums.
Value promoteSums(IRRewriter &rewriter, CoarseProduct product,
                  const PathChooser &chooser);

/// A tensor of one number: a constant if its sizes are known.
Value createSplat(IRRewriter &rewriter, Location loc,
                  ArrayRef<OpFoldResult> sizes, FloatAttr number);

/// Emits an error at the ops in `root` that have coarse scales, which no kernel
/// takes. Passes that lead to kernels call it before anything else, so that
/// none of them has to know such scales.
LogicalResult refuseCoarseScales(Operation *root);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H
