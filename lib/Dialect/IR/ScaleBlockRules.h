//===- ScaleBlockRules.h - Rules of blocks of scales ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of a matrix and its coarse scales, at compile time and at run time:
// (C11), (C12), (P10), (P11), (Q7) and (E6). And what products with two of them
// share: `mma_scaled`, and `grouped_mma_scaled`.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_SCALEBLOCKRULES_H
#define BLOCKSCALE_LIB_DIALECT_IR_SCALEBLOCKRULES_H

#include "SizeRelations.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/ScopedPrinter.h"

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
  /// Whether groups of rows start at any row: then one row has a scale, or all.
  bool startsAnywhere = false;

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

//===----------------------------------------------------------------------===//
// Products with scales
//===----------------------------------------------------------------------===//

/// The operand of `op` at `side`. `rowsOfX` is what its rule calls the rows of
/// x; with `startsAnywhere`, groups of them do.
template <typename Op>
CoarseOperand makeCoarseOperand(Op op, MmaScaledOp::Side side,
                                StringRef rowsOfX, bool startsAnywhere) {
  bool isX = side == MmaScaledOp::Side::X;
  ShapedType type = op.getMatrixType(side);
  auto rank = static_cast<unsigned>(type.getRank());
  NamedShape matrix = {isX ? "x" : "y", isX ? op.getX() : op.getY()};
  NamedShape scales = {isX ? "x_scale" : "y_scale",
                       isX ? op.getXScale() : op.getYScale()};
  return {matrix,
          scales,
          MmaScaledOp::getRowDim(side, rank),
          MmaScaledOp::getKDim(side, rank),
          isX ? rowsOfX : "N",
          type.getElementType(),
          isX ? op.getXScaleBlockAttr() : op.getYScaleBlockAttr(),
          isX ? op.getXScaleBlockAttrName() : op.getYScaleBlockAttrName(),
          isX && startsAnywhere};
}

/// Whether scales of `op` have blocks of their own.
template <typename Op>
bool areScalesCoarse(Op op) {
  using Side = MmaScaledOp::Side;
  return op.getXScaleBlockAttr() || op.getYScaleBlockAttr() ||
         op.getScaleType(Side::X).getElementType().isF32() ||
         op.getScaleType(Side::Y).getElementType().isF32();
}

/// (C11) to (C13), (P10) to (P12)
LogicalResult verifyCoarseScales(Operation *op, IntegerAttr blockSize,
                                 const CoarseOperand &x,
                                 const CoarseOperand &y);

/// The block size of block-scaled instructions whose blocks `x` and `y` have;
/// nullopt if there are none.
std::optional<int64_t> findBlockOfInstructions(const CoarseOperand &x,
                                               const CoarseOperand &y);

/// The size along K of blocks of `op` that are whole, which are those of
/// instructions; 1 without.
template <typename Op>
int64_t getWholeBlock(Op op) {
  int64_t whole = 1;
  for (auto side : {MmaScaledOp::Side::X, MmaScaledOp::Side::Y})
    if (ScaleBlock block = op.getBlockShape(side); isBlockOfInstructions(
            block, *getElementFormat(op.getMatrixType(side).getElementType()),
            llvm::to_string(op.getScaleType(side).getElementType())))
      whole = std::max(whole, block.k);
  return whole;
}

/// Replaces the blocks of `op`, if block-scaled instructions have them, by a
/// `block_size`; `getOperand` gives the operand at a side.
template <typename Op, typename GetOperandFn>
LogicalResult replaceScaleBlocks(PatternRewriter &rewriter, Op op,
                                 GetOperandFn getOperand) {
  using Side = MmaScaledOp::Side;
  if (!op.hasCoarseScales())
    return failure();
  std::optional<int64_t> block =
      findBlockOfInstructions(getOperand(op, Side::X), getOperand(op, Side::Y));
  if (!block)
    return rewriter.notifyMatchFailure(op, "no block of an instruction");
  rewriter.modifyOpInPlace(op, [&] {
    op.removeXScaleBlockAttr();
    op.removeYScaleBlockAttr();
    op.setBlockSizeAttr(rewriter.getI64IntegerAttr(*block));
  });
  return success();
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_SCALEBLOCKRULES_H
