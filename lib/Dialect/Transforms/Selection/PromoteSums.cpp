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
static int64_t getInterval(MmaScaledOp op) {
  int64_t k =
      getFinerBlock(op.getBlockShape(Side::X).k, op.getBlockShape(Side::Y).k);
  return k == ScaleBlock::kAll ? kMostInterval : std::min(k, kMostInterval);
}

Value blockscale::transposeLast(IRRewriter &rewriter, Location loc,
                                Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  return transposeTensor(rewriter, loc, value, order);
}

/// The elements of an operand as bf16.
static Value convertElements(IRRewriter &rewriter, MmaScaledOp op, Side side) {
  Location loc = op.getLoc();
  Value matrix = side == Side::X ? op.getX() : op.getY();
  auto type = cast<RankedTensorType>(matrix.getType());
  auto rank = static_cast<unsigned>(type.getRank());
  Type bf16 = rewriter.getBF16Type();
  int64_t k = type.getDimSize(MmaScaledOp::getKDim(side, rank));
  constexpr int64_t kBlock = 32;
  if (ShapedType::isDynamic(k) || k % kBlock != 0) {
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
  // dequantize has a kernel of its own; its blocks are along the last
  // dimension.
  if (side == Side::Y)
    matrix = transposeLast(rewriter, loc, matrix);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, matrix);
  sizes.back() = rewriter.getIndexAttr(k / kBlock);
  Value ones =
      createSplat(rewriter, loc, sizes,
                  rewriter.getFloatAttr(
                      Float8E8M0FNUType::get(rewriter.getContext()), 1.0));
  auto wide = cast<RankedTensorType>(matrix.getType()).clone(bf16);
  Value values = DequantizeOp::create(
      rewriter, loc, wide, matrix, ones, /*tensor_scale=*/Value(),
      rewriter.getI64IntegerAttr(kBlock), /*scale_block=*/ScaleBlockAttr());
  return side == Side::Y ? transposeLast(rewriter, loc, values) : values;
}

bool blockscale::mayMultiplyFP8(MmaScaledOp op, const PathChooser &chooser) {
  // Instructions add up a whole row of shared memory.
  std::optional<AccumulateAttr> licence = op.getAccumulate();
  if (!licence || licence->getChunk() < kMostInterval ||
      getInterval(op) != kMostInterval)
    return false;
  return hasUnscaledProduct(
      chooser, *getElementFormat(op.getMatrixType(Side::X).getElementType()),
      *getElementFormat(op.getMatrixType(Side::Y).getElementType()));
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

Value blockscale::promoteSums(IRRewriter &rewriter, MmaScaledOp op,
                              const PathChooser &chooser) {
  Location loc = op.getLoc();
  int64_t interval = getInterval(op);
  bool isFP8 = mayMultiplyFP8(op, chooser);
  bool areWhole = llvm::all_of(ArrayRef{Side::X, Side::Y}, [&](Side side) {
    return op.getBlockShape(side).k == ScaleBlock::kAll;
  });
  op->emitRemark("coarse scales are factors of ")
      << (areWhole
              ? "whole sums"
              : "the sums of " + std::to_string(interval) + " elements along K")
      << ", which are products of " << (isFP8 ? "fp8" : "bf16") << " elements";
  Value x = op.getX(), y = op.getY();
  if (!isFP8) {
    x = convertElements(rewriter, op, Side::X);
    y = convertElements(rewriter, op, Side::Y);
  }
  auto getBlock = [&](Side side) {
    return ScaleBlockAttr::get(op.getContext(), op.getBlockShape(side));
  };
  auto product = PromotedMatmulOp::create(
      rewriter, loc, op.getType(), x, y, op.getAcc(), op.getXScale(),
      op.getYScale(), interval, getBlock(Side::X), getBlock(Side::Y));
  product->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  return product;
}
