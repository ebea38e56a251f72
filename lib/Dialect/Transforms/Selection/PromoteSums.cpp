//===- PromoteSums.cpp - Coarse scales as factors of sums -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any coarse scales: elements are multiplied without them, and sums of blocks
// along K have factors. bf16 holds all elements, so products are exact. With a
// licence for that, fp8 elements are multiplied as they are.
//
//===----------------------------------------------------------------------===//

#include "Selection/CoarseScales.h"

#include "Kernels/Gemm/Problem/OpSizes.h"
#include "Kernels/Gemm/Problem/OperandMemory.h"
#include "blockscale/Dialect/IR/Promotion.h"
#include "blockscale/Support/InstructionTable.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// The elements along K whose sums have one factor, or are promoted anyway.
static int64_t getInterval(const CoarseProduct &product) {
  int64_t k = getFinerBlock(product.xBlock.k, product.yBlock.k);
  return k == ScaleBlock::kAll ? kMostInterval : std::min(k, kMostInterval);
}

Value blockscale::transposeLast(IRRewriter &rewriter, Location loc,
                                Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  return transposeTensor(rewriter, loc, value, order);
}

/// The elements of `matrix` as bf16.
static Value extendElements(IRRewriter &rewriter, Location loc, Value matrix) {
  Type bf16 = rewriter.getBF16Type();
  auto rank =
      static_cast<unsigned>(cast<RankedTensorType>(matrix.getType()).getRank());
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, matrix), bf16);
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  return linalg::GenericOp::create(
             rewriter, loc, empty.getType(), matrix, empty,
             ArrayRef<AffineMap>{identity, identity},
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [&](OpBuilder &b, Location bodyLoc, ValueRange args) {
               Value wide = arith::ExtFOp::create(b, bodyLoc, bf16, args[0]);
               linalg::YieldOp::create(b, bodyLoc, wide);
             })
      .getResult(0);
}

/// The same by a dequantize, which has a kernel of its own, with scales of 1
/// for so many `blocks` of each row.
static Value dequantizeElements(IRRewriter &rewriter, Location loc,
                                Value matrix, int64_t blocks) {
  auto type = cast<RankedTensorType>(matrix.getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, matrix);
  sizes.back() = rewriter.getIndexAttr(blocks);
  Value ones =
      createSplat(rewriter, loc, sizes,
                  rewriter.getFloatAttr(
                      Float8E8M0FNUType::get(rewriter.getContext()), 1.0));
  return DequantizeOp::create(
      rewriter, loc, type.clone(rewriter.getBF16Type()), matrix, ones,
      /*tensor_scale=*/Value(),
      rewriter.getI64IntegerAttr(type.getShape().back() / blocks),
      /*scale_block=*/ScaleBlockAttr());
}

/// The elements of an operand as bf16.
static Value convertElements(IRRewriter &rewriter, CoarseProduct product,
                             Side side) {
  Location loc = product.getLoc();
  Value matrix = product.getMatrix(side);
  auto type = cast<RankedTensorType>(matrix.getType());
  auto rank = static_cast<unsigned>(type.getRank());
  int64_t k = type.getDimSize(MmaScaledOp::getKDim(side, rank));
  constexpr int64_t kBlock = 32;
  bool isWhole = !ShapedType::isDynamic(k) && k % kBlock == 0;
  // The blocks of a dequantize are along the last dimension. Others are
  // converted as they are stored.
  bool isTransposed = side == Side::Y &&
                      (isWhole || matrix.getDefiningOp<linalg::TransposeOp>());
  if (isTransposed)
    matrix = transposeLast(rewriter, loc, matrix);
  Value values = isWhole ? dequantizeElements(rewriter, loc, matrix, k / kBlock)
                         : extendElements(rewriter, loc, matrix);
  return isTransposed ? transposeLast(rewriter, loc, values) : values;
}

bool blockscale::mayMultiplyFP8(CoarseProduct product,
                                const PathChooser &chooser) {
  // Instructions add up a whole row of shared memory.
  AccumulateAttr licence = product.accumulate;
  if (!licence || licence.getChunk() < kMostInterval ||
      getInterval(product) != kMostInterval)
    return false;
  return hasUnscaledProduct(chooser, product.getElement(Side::X),
                            product.getElement(Side::Y));
}

bool blockscale::hasUnscaledProduct(const PathChooser &chooser, Format x,
                                    Format y) {
  TypeCombination types = {x, y, Format::None, 1};
  return llvm::any_of(chooser.chip.paths, [&](Path path) {
    std::optional<InstructionChoice> choice = chooseInstruction(types, path);
    return choice && choice->emitted->isOn(chooser.chip) &&
           chooser.isExecuted(*choice);
  });
}

Value blockscale::promoteSums(IRRewriter &rewriter, CoarseProduct product,
                              const PathChooser &chooser) {
  Location loc = product.getLoc();
  ProductOpInterface op = product.op;
  int64_t interval = getInterval(product);
  bool isFP8 = mayMultiplyFP8(product, chooser);
  Value x = op.getX(), y = op.getY();
  if (!isFP8) {
    x = convertElements(rewriter, product, Side::X);
    y = convertElements(rewriter, product, Side::Y);
  }
  auto getBlock = [&](Side side) {
    return ScaleBlockAttr::get(op->getContext(), product.getBlock(side));
  };
  RowGroupOperands groups = op.getRowGroups();
  auto promoted = PromotedMatmulOp::create(
      rewriter, loc, op.getAcc().getType(), x, y, op.getAcc(), op.getXScale(),
      op.getYScale(), groups.offsets, groups.rows, groups.scale, groups.bias,
      interval, getBlock(Side::X), getBlock(Side::Y));
  op->emitRemark("coarse scales are factors of ")
      << (hasWholeFactors(promoted.getPromotion())
              ? "whole sums"
              : "the sums of " + std::to_string(interval) + " elements along K")
      << ", which are products of " << (isFP8 ? "fp8" : "bf16") << " elements";
  promoted->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  return promoted;
}
