//===- RebaseScales.cpp - One scale for each row, with a licence ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of fp8 without scales add up 128 elements along K. Scales that
// end earlier, and elements of fp6 and fp4, keep products from them. Where the
// licence allows it, such operands become fp8 with one scale for each row of x,
// or column of y, and the product one with coarse scales.
//
//===----------------------------------------------------------------------===//

#include "Selection/CoarseScales.h"

#include "Utils/CheckMessage.h"
#include "blockscale/Dialect/IR/Rebase.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

static Format getFormat(MmaScaledOp op, Side side) {
  return *getElementFormat(op.getMatrixType(side).getElementType());
}

/// Whether instructions can multiply the elements of `side` as they are.
static bool isCoarseFP8(MmaScaledOp op, Side side) {
  int64_t k = op.getBlockShape(side).k;
  Format format = getFormat(op, side);
  return format == getRebasedFormat(format) &&
         (k == ScaleBlock::kAll || k % kMostInterval == 0);
}

/// Whether `side` has scales that can become one for each row.
static bool hasBlocksOfRow(MmaScaledOp op, Side side) {
  ScaleBlock block = op.getBlockShape(side);
  return isa<Float8E8M0FNUType>(op.getScaleType(side).getElementType()) &&
         block.rows == 1 && block.k != ScaleBlock::kAll;
}

/// Which operands of `op` are rebased; none if that does not make a product of
/// fp8.
static SmallVector<Side> getRebasedSides(MmaScaledOp op,
                                         const PathChooser &chooser) {
  std::optional<AccumulateAttr> licence = op.getAccumulate();
  if (!chooser.hasWorkspace || !licence || !licence->getRebase() ||
      licence->getChunk() < kMostInterval || !op.hasTensorSemantics() ||
      op->hasAttr(kPathAttrName))
    return {};
  SmallVector<Side> sides;
  for (Side side : {Side::X, Side::Y}) {
    if (isCoarseFP8(op, side))
      continue;
    if (!hasBlocksOfRow(op, side))
      return {};
    sides.push_back(side);
  }
  if (!hasUnscaledProduct(chooser, getRebasedFormat(getFormat(op, Side::X)),
                          getRebasedFormat(getFormat(op, Side::Y))))
    return {};
  return sides;
}

namespace {
struct RebasedOperand {
  Value elements, scales;
  ScaleBlockAttr block;
};
} // namespace

/// `scales`, one for each row, as a row of one for each column: the same
/// memory, while a transpose could be a kernel.
static Value toColumns(IRRewriter &rewriter, Location loc, Value scales) {
  auto type = cast<RankedTensorType>(scales.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, scales);
  SmallVector<int64_t> shape(type.getShape());
  std::swap(sizes[rank - 1], sizes[rank - 2]);
  std::swap(shape[rank - 1], shape[rank - 2]);
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim != rank - 2; ++dim)
    groups.push_back({dim});
  groups.push_back({rank - 2, rank - 1});
  Value flat = tensor::CollapseShapeOp::create(rewriter, loc, scales, groups);
  return tensor::ExpandShapeOp::create(
      rewriter, loc, type.clone(ArrayRef<int64_t>(shape)), flat, groups, sizes);
}

/// The operand `side` of a product whose scales are coarse.
static RebasedOperand getOperand(IRRewriter &rewriter, MmaScaledOp op,
                                 Side side, bool isRebased) {
  Location loc = op.getLoc();
  bool isX = side == Side::X;
  Value elements = isX ? op.getX() : op.getY();
  Value scales = isX ? op.getXScale() : op.getYScale();
  ScaleBlock block = op.getBlockShape(side);
  if (isRebased) {
    // Blocks of the op are along the last dimension.
    auto exchange = [&](Value value) {
      return isX ? value : transposeLast(rewriter, loc, value);
    };
    auto rebase = RebaseOp::create(rewriter, loc, exchange(elements),
                                   exchange(scales), block.k);
    elements = exchange(rebase.getRebased());
    scales = isX ? Value(rebase.getRowScales())
                 : toColumns(rewriter, loc, rebase.getRowScales());
    block = {/*rows=*/1, ScaleBlock::kAll};
  }
  return {elements, scales, ScaleBlockAttr::get(op.getContext(), block)};
}

/// "the scales of x and y become one for each row of x and each column of y".
static std::string describe(ArrayRef<Side> sides) {
  auto list = [&](StringRef ofX, StringRef ofY) {
    return llvm::join(
        llvm::map_range(
            sides,
            [&](Side side) { return (side == Side::X ? ofX : ofY).str(); }),
        " and ");
  };
  return "the scales of " + list("x", "y") + " become one for " +
         list("each row of x", "each column of y");
}

static void rebase(IRRewriter &rewriter, MmaScaledOp op, ArrayRef<Side> sides) {
  rewriter.setInsertionPoint(op);
  // What is checked here, nothing behind it knows.
  op.generateRuntimeVerification(rewriter, op.getLoc(),
                                 [](Operation *of, StringRef message) {
                                   return getCheckMessage(of, message);
                                 });
  RebasedOperand x =
      getOperand(rewriter, op, Side::X, llvm::is_contained(sides, Side::X));
  RebasedOperand y =
      getOperand(rewriter, op, Side::Y, llvm::is_contained(sides, Side::Y));
  op->emitRemark(describe(sides))
      << ", and the elements "
      << cast<ShapedType>(x.elements.getType()).getElementType() << " and "
      << cast<ShapedType>(y.elements.getType()).getElementType()
      << ", by the licence to rebase";
  auto product = MmaScaledOp::create(rewriter, op.getLoc(), op.getType(),
                                     x.elements, x.scales, y.elements, y.scales,
                                     op.getAcc(), /*block_size=*/IntegerAttr(),
                                     x.block, y.block, op.getAccumulateAttr());
  product->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  rewriter.replaceOp(op, product);
}

void blockscale::rebaseScales(Operation *root, const PathChooser &chooser) {
  SmallVector<std::pair<MmaScaledOp, SmallVector<Side>>> products;
  root->walk([&](MmaScaledOp op) {
    SmallVector<Side> sides = getRebasedSides(op, chooser);
    if (!sides.empty())
      products.emplace_back(op, sides);
  });
  IRRewriter rewriter(root->getContext());
  for (const auto &[op, sides] : products)
    rebase(rewriter, op, sides);
}
