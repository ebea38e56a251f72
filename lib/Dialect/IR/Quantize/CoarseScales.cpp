//===- CoarseScales.cpp - Coarse scales of quantize and dequantize --------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// (Q7) and (E6): blocks of several rows, or of scales of f32.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BlockTypes.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace mlir::blockscale;

static CoarseOperand getCoarseOperand(NamedShape matrix, NamedShape scales,
                                      Type elements, ScaleBlockAttr block) {
  auto rank = static_cast<unsigned>(matrix.type().getRank());
  return {matrix,   scales,       rank - 2,
          rank - 1, "the rows",   getElementTypeOrSelf(elements),
          block,    "scale_block"};
}

CoarseOperand blockscale::getCoarseOperand(QuantizeOp op) {
  return ::getCoarseOperand({"x", op.getX()}, {"scales", op.getScales()},
                            op.getElements().getType(), op.getScaleBlockAttr());
}

CoarseOperand blockscale::getCoarseOperand(DequantizeOp op) {
  return ::getCoarseOperand({"elements", op.getElements()},
                            {"scales", op.getScales()},
                            op.getElements().getType(), op.getScaleBlockAttr());
}

/// What holds for both ops, before their sizes are compared.
static LogicalResult verifyCoarse(Operation *op, const NamedShape &matrix,
                                  const NamedShape &scales, Type elements,
                                  IntegerAttr blockSize, ScaleBlockAttr block) {
  if (blockSize)
    return op->emitOpError("expected no 'block_size' with 'scale_block' or "
                           "scales of type f32, got ")
           << blockSize.getInt();
  if (matrix.type().getRank() < 2)
    return op->emitOpError("expected ")
           << matrix.name << " to have rank 2 or more with coarse scales, got "
           << matrix.type();
  std::optional<Format> element =
      getElementFormat(getElementTypeOrSelf(elements));
  if (block && element &&
      isBlockOfInstructions(block.getBlock(), *element,
                            llvm::to_string(scales.type().getElementType())))
    return op->emitOpError("expected 'block_size = ")
           << block.getK() << "' for the block "
           << stringifyScaleBlock(block.getBlock()) << " of "
           << scales.type().getElementType() << " scales, got 'scale_block'";
  return success();
}

LogicalResult blockscale::verifyCoarseScales(QuantizeOp op) {
  CoarseOperand operand = getCoarseOperand(op);
  if (failed(verifyCoarse(op, operand.matrix, operand.scales,
                          op.getElements().getType(), op.getBlockSizeAttr(),
                          op.getScaleBlockAttr())))
    return failure();
  if (!op.getScaleBlockAttr())
    return op.emitOpError("expected attribute 'scale_block' for scales of type "
                          "f32");
  if (op.getPad())
    return op.emitOpError("expected no 'pad' with 'scale_block', whose last "
                          "blocks may be partial");
  // Sizes that are inferred: static where those of x are.
  ScaleBlock block = op.getBlockShape();
  auto expected = llvm::to_vector(operand.matrix.type().getShape());
  for (auto [dim, size] : {std::pair(operand.rowDim, block.rows),
                           std::pair(operand.kDim, block.k)}) {
    if (size == ScaleBlock::kAll)
      expected[dim] = 1;
    else if (!ShapedType::isDynamic(expected[dim]))
      expected[dim] = getNumScales(expected[dim], size);
  }
  ShapedType scales = operand.scales.type();
  if (scales.getShape() != ArrayRef(expected))
    return op.emitOpError("expected scales of type ")
           << scales.clone(expected) << " for blocks of "
           << stringifyScaleBlock(block) << " of " << operand.matrix.type()
           << ", got " << scales;
  return verifyScaleBlock(op, operand);
}

LogicalResult blockscale::verifyCoarseScales(DequantizeOp op) {
  CoarseOperand operand = getCoarseOperand(op);
  if (failed(verifyCoarse(op, operand.matrix, operand.scales,
                          op.getElements().getType(), op.getBlockSizeAttr(),
                          op.getScaleBlockAttr())))
    return failure();
  ShapedType matrix = operand.matrix.type(), scales = operand.scales.type();
  bool hasBatch = scales.getRank() == matrix.getRank();
  for (unsigned dim = 0; hasBatch && dim != operand.rowDim; ++dim)
    hasBatch = scales.isDynamicDim(dim) || matrix.isDynamicDim(dim) ||
               scales.getDimSize(dim) == matrix.getDimSize(dim);
  if (!hasBatch)
    return op.emitOpError("expected scales to have the rank and the batch of "
                          "elements, got ")
           << scales << " with " << matrix;
  return verifyScaleBlock(op, operand);
}

SmallVector<OpFoldResult>
blockscale::getCoarseScaleSizes(OpBuilder &builder, Location loc,
                                ArrayRef<OpFoldResult> sizes,
                                const ScaleBlock &block) {
  SmallVector<OpFoldResult> result(sizes);
  auto divide = [&](OpFoldResult &size, int64_t by) {
    AffineExpr d0 = builder.getAffineDimExpr(0);
    size = by == ScaleBlock::kAll ? OpFoldResult(builder.getIndexAttr(1))
                                  : affine::makeComposedFoldedAffineApply(
                                        builder, loc, d0.ceilDiv(by), {size});
  };
  divide(result[result.size() - 2], block.rows);
  divide(result.back(), block.k);
  return result;
}
