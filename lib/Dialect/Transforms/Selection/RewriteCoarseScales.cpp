//===- RewriteCoarseScales.cpp - Coarse scales by block-scaled products ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two forms of coarse scales are products that every path has:
//
// * Powers of two are repeated for blocks of instructions.
// * Scales of whole rows, or of all of a matrix, are factors of the result of a
//   product whose scales are 1.
//
// Whether scales are powers of two is known by their type, or because they are
// constant; never from what they are at run time. Others are factors of sums
// (PromoteSums.cpp): inside of a sum they would leave the range of f32 where
// the definition does not.
//
//===----------------------------------------------------------------------===//

#include "Selection/CoarseScales.h"

#include "Reference/ScaledProduct.h"
#include "Utils/BlockMap.h"
#include "Utils/CheckMessage.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

//===----------------------------------------------------------------------===//
// Powers of two
//===----------------------------------------------------------------------===//

/// The e8m0 code of `value`; nullopt for a value that no code has.
static std::optional<uint8_t> getPowerCode(float value) {
  for (unsigned code = 0; code != getFormatInfo(Format::UE8M0).numCodes();
       ++code)
    if (decode(Format::UE8M0, code) == static_cast<double>(value))
      return static_cast<uint8_t>(code);
  return std::nullopt;
}

/// Constant scales of f32 that are powers of two, as e8m0.
static DenseElementsAttr getConstantPowers(Value scales) {
  DenseElementsAttr constant;
  if (!matchPattern(scales, m_Constant(&constant)) ||
      !constant.getElementType().isF32())
    return {};
  auto type = cast<ShapedType>(scales.getType())
                  .clone(Float8E8M0FNUType::get(scales.getContext()));
  SmallVector<APFloat> powers;
  auto append = [&](const APFloat &value) {
    std::optional<uint8_t> code = getPowerCode(value.convertToFloat());
    if (code)
      powers.push_back(
          APFloat(APFloat::Float8E8M0FNU(), APInt(/*numBits=*/8, *code)));
    return code.has_value();
  };
  if (constant.isSplat())
    return append(constant.getSplatValue<APFloat>())
               ? DenseElementsAttr::get(type, powers.front())
               : DenseElementsAttr();
  for (const APFloat &value : constant.getValues<APFloat>())
    if (!append(value))
      return {};
  return DenseElementsAttr::get(type, powers);
}

static bool arePowers(Value scales) {
  return isa<Float8E8M0FNUType>(getElementTypeOrSelf(scales.getType())) ||
         getConstantPowers(scales);
}

/// The sizes of scales of `side` for blocks of `size` elements of a row.
static SmallVector<OpFoldResult> getBlockSizes(IRRewriter &rewriter,
                                               CoarseProduct product, Side side,
                                               int64_t size) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(
      rewriter, product.getLoc(), product.getMatrix(side));
  ShapedType type = product.getMatrixType(side);
  unsigned k = MmaScaledOp::getKDim(side, type.getRank());
  sizes[k] = rewriter.getIndexAttr(type.getDimSize(k) / size);
  return sizes;
}

/// The scales of `side`, repeated for blocks of `size` elements of a row.
static Value repeatScales(IRRewriter &rewriter, CoarseProduct product,
                          Side side, int64_t size) {
  Location loc = product.getLoc();
  Value scales = product.getScales(side);
  if (DenseElementsAttr powers = getConstantPowers(scales))
    scales = arith::ConstantOp::create(rewriter, loc, powers);
  ScaleBlock block = product.getBlock(side);
  if (block == ScaleBlock{1, size})
    return scales;
  auto matrix = cast<RankedTensorType>(product.getMatrixType(side));
  auto rank = static_cast<unsigned>(matrix.getRank());
  unsigned row = MmaScaledOp::getRowDim(side, rank);
  unsigned k = MmaScaledOp::getKDim(side, rank);
  AffineMap map = getScaleBlockMap(rewriter.getContext(), rank,
                                   {block.rows, block.k == ScaleBlock::kAll
                                                    ? ScaleBlock::kAll
                                                    : block.k / size},
                                   row, k);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, getBlockSizes(rewriter, product, side, size),
      getElementTypeOrSelf(scales.getType()));
  return linalg::GenericOp::create(
             rewriter, loc, empty.getType(), scales, empty,
             ArrayRef<AffineMap>{map, rewriter.getMultiDimIdentityMap(rank)},
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [](OpBuilder &b, Location bodyLoc, ValueRange args) {
               linalg::YieldOp::create(b, bodyLoc, args[0]);
             })
      .getResult(0);
}

/// The block size of the product that repeated scales make; nullopt if none is
/// legal or divides K.
static std::optional<int64_t> getRepeatedBlock(CoarseProduct product) {
  int64_t finer = getFinerBlock(product.xBlock.k, product.yBlock.k);
  std::vector<unsigned> legal = getLegalBlockSizes(
      product.getElement(Side::X), product.getElement(Side::Y), Format::UE8M0);
  auto type = product.getMatrixType(Side::X);
  int64_t k = type.getDimSize(MmaScaledOp::getKDim(Side::X, type.getRank()));
  if (ShapedType::isDynamic(k))
    return std::nullopt;
  for (unsigned size : llvm::reverse(legal))
    if ((finer == ScaleBlock::kAll || finer % size == 0) && k % size == 0)
      return size;
  return std::nullopt;
}

/// `product` with scales for blocks of `size` elements.
static Operation *createRepeated(IRRewriter &rewriter, CoarseProduct product,
                                 Value xScale, Value yScale, int64_t size) {
  Operation *op = product.op;
  if (auto grouped = dyn_cast<GroupedMmaScaledOp>(op))
    return GroupedMmaScaledOp::create(
        rewriter, op->getLoc(), grouped.getType(), grouped.getX(), xScale,
        grouped.getY(), yScale, grouped.getOffsets(), grouped.getAcc(),
        grouped.getRows(), grouped.getGroupScale(), grouped.getBias(),
        rewriter.getI64IntegerAttr(size), ScaleBlockAttr(), ScaleBlockAttr(),
        // What is illegal has been found by now.
        rewriter.getUnitAttr(), product.accumulate);
  auto mma = cast<MmaScaledOp>(op);
  auto repeated =
      MmaScaledOp::create(rewriter, op->getLoc(), mma.getX(), xScale,
                          mma.getY(), yScale, mma.getAcc(), size);
  repeated.setAccumulateAttr(product.accumulate);
  return repeated;
}

static LogicalResult repeatPowers(IRRewriter &rewriter, CoarseProduct product) {
  ProductOpInterface op = product.op;
  if (!arePowers(op.getXScale()) || !arePowers(op.getYScale()))
    return failure();
  std::optional<int64_t> size = getRepeatedBlock(product);
  if (!size)
    return failure();
  ScaleBlock whole = {/*rows=*/1, *size};
  if (product.xBlock != whole || product.yBlock != whole)
    op->emitRemark("coarse scales that are powers of two are repeated for "
                   "blocks of ")
        << *size << " elements";
  Value xScale = repeatScales(rewriter, product, Side::X, *size);
  Value yScale = repeatScales(rewriter, product, Side::Y, *size);
  Operation *repeated =
      createRepeated(rewriter, product, xScale, yScale, *size);
  repeated->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  rewriter.replaceOp(op, repeated);
  return success();
}

//===----------------------------------------------------------------------===//
// Factors of the result
//===----------------------------------------------------------------------===//

Value blockscale::createSplat(IRRewriter &rewriter, Location loc,
                              ArrayRef<OpFoldResult> sizes, FloatAttr number) {
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, number.getType());
  auto type = cast<RankedTensorType>(empty.getType());
  if (!type.hasStaticShape()) {
    Value scalar = arith::ConstantOp::create(rewriter, loc, number);
    return linalg::FillOp::create(rewriter, loc, scalar, empty).getResult(0);
  }
  rewriter.eraseOp(empty.getDefiningOp());
  return arith::ConstantOp::create(
      rewriter, loc, DenseElementsAttr::get(type, number.getValue()));
}

/// Scales of 1 for blocks of `size` elements.
static Value createOnes(IRRewriter &rewriter, MmaScaledOp op, Side side,
                        int64_t size) {
  Type e8m0 = Float8E8M0FNUType::get(rewriter.getContext());
  return createSplat(rewriter, op.getLoc(),
                     getBlockSizes(rewriter, CoarseProduct(op), side, size),
                     rewriter.getFloatAttr(e8m0, 1.0));
}

/// acc + product * (x_scale * y_scale) in f64, rounded once, as the definition
/// has it: factors that cancel do not leave the range of f32.
static Value scaleResult(IRRewriter &rewriter, MmaScaledOp op, Value product) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  auto rank = static_cast<unsigned>(type.getRank());
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  auto getMap = [&](Side side) {
    return getRowScaleMap(rank, op.getScaleType(side), side == Side::X,
                          op.getBlockShape(side));
  };
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getAcc()),
      type.getElementType());
  return linalg::GenericOp::create(
             rewriter, loc, type,
             ValueRange{product, op.getXScale(), op.getYScale(), op.getAcc()},
             empty,
             ArrayRef<AffineMap>{identity, getMap(Side::X), getMap(Side::Y),
                                 identity, identity},
             SmallVector<utils::IteratorType>(rank,
                                              utils::IteratorType::parallel),
             [](OpBuilder &b, Location bodyLoc, ValueRange args) {
               auto extend = [&](Value value) -> Value {
                 return arith::ExtFOp::create(b, bodyLoc, b.getF64Type(),
                                              value);
               };
               Value scale = arith::MulFOp::create(
                   b, bodyLoc, decodeScale(b, bodyLoc, args[1]),
                   decodeScale(b, bodyLoc, args[2]));
               Value scaled =
                   arith::MulFOp::create(b, bodyLoc, extend(args[0]), scale);
               Value sum =
                   arith::AddFOp::create(b, bodyLoc, extend(args[3]), scaled);
               Value result =
                   arith::TruncFOp::create(b, bodyLoc, b.getF32Type(), sum);
               linalg::YieldOp::create(b, bodyLoc, result);
             })
      .getResult(0);
}

static LogicalResult moveScalesToResult(IRRewriter &rewriter, MmaScaledOp op) {
  for (Side side : {Side::X, Side::Y})
    if (op.getBlockShape(side).k != ScaleBlock::kAll)
      return failure();
  std::optional<int64_t> size = getRepeatedBlock(CoarseProduct(op));
  if (!size)
    return failure();
  op->emitRemark("coarse scales of whole rows are factors of the result of a "
                 "product with scales of 1 for blocks of ")
      << *size << " elements";
  Location loc = op.getLoc();
  Value zeros = createSplat(rewriter, loc,
                            tensor::getMixedSizes(rewriter, loc, op.getAcc()),
                            rewriter.getF32FloatAttr(0.0));
  auto product = MmaScaledOp::create(
      rewriter, loc, op.getX(), createOnes(rewriter, op, Side::X, *size),
      op.getY(), createOnes(rewriter, op, Side::Y, *size), zeros, *size);
  product.setAccumulateAttr(op.getAccumulateAttr());
  product->setDiscardableAttrs(llvm::to_vector(op->getDiscardableAttrs()));
  rewriter.replaceOp(op, scaleResult(rewriter, op, product));
  return success();
}

/// Whether all sizes are known, except for rows whose scales are one for each,
/// or one for all. Loops over such scales are checked at run time.
static bool areSizesSupported(CoarseProduct product) {
  auto acc = cast<ShapedType>(product.op.getAcc().getType());
  if (acc.getRank() == 3 && acc.isDynamicDim(0))
    return false;
  return llvm::all_of(ArrayRef{Side::X, Side::Y}, [&](Side side) {
    ShapedType matrix = product.getMatrixType(side),
               scales = product.getScaleType(side);
    auto rank = static_cast<unsigned>(matrix.getRank());
    unsigned row = MmaScaledOp::getRowDim(side, rank);
    int64_t rows = product.getBlock(side).rows;
    for (unsigned dim = 0; dim != rank; ++dim) {
      bool isKnown = !matrix.isDynamicDim(dim) && !scales.isDynamicDim(dim);
      bool isChecked = dim == row && (rows == 1 || (rows == ScaleBlock::kAll &&
                                                    !scales.isDynamicDim(dim)));
      if (!isKnown && !isChecked)
        return false;
    }
    return true;
  });
}

/// The products of tensors in `root` with coarse scales.
template <typename Op>
static SmallVector<Op> findCoarse(Operation *root) {
  SmallVector<Op> ops;
  root->walk([&](Op op) {
    if (op.hasCoarseScales() && op.hasTensorSemantics())
      ops.push_back(op);
  });
  return ops;
}

/// Blocks that instructions have become a `block_size`.
static void canonicalizeBlocks(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    auto product = dyn_cast<MmaScaledOp>(op);
    auto grouped = dyn_cast<GroupedMmaScaledOp>(op);
    if ((product && product.hasCoarseScales()) ||
        (grouped && grouped.hasCoarseScales()))
      ops.push_back(op);
  });
  RewritePatternSet patterns(root->getContext());
  MmaScaledOp::getCanonicalizationPatterns(patterns, root->getContext());
  GroupedMmaScaledOp::getCanonicalizationPatterns(patterns, root->getContext());
  (void)applyOpPatternsGreedily(ops, std::move(patterns));
}

/// What is checked here, nothing behind it knows.
static void checkOperands(IRRewriter &rewriter,
                          RuntimeVerifiableOpInterface op) {
  op.generateRuntimeVerification(rewriter, op->getLoc(),
                                 [](Operation *of, StringRef message) {
                                   return getCheckMessage(of, message);
                                 });
}

/// Factors of the result would be those of groups, so there are none.
static void rewriteGrouped(IRRewriter &rewriter, GroupedMmaScaledOp op,
                           const PathChooser &chooser) {
  CoarseProduct product(op);
  if (!mayMultiplyFP8(product, chooser) && areSizesSupported(product) &&
      succeeded(repeatPowers(rewriter, product)))
    return;
  rewriter.replaceOp(op, promoteSums(rewriter, product, chooser));
}

static void rewriteDense(IRRewriter &rewriter, MmaScaledOp op,
                         const PathChooser &chooser) {
  CoarseProduct product(op);
  // Products of fp8 are faster than block-scaled ones in bf16.
  if (!mayMultiplyFP8(product, chooser) && areSizesSupported(product) &&
      (succeeded(repeatPowers(rewriter, product)) ||
       succeeded(moveScalesToResult(rewriter, op))))
    return;
  rewriter.replaceOp(op, promoteSums(rewriter, product, chooser));
}

void blockscale::rewriteCoarseScales(Operation *root,
                                     const PathChooser &chooser) {
  canonicalizeBlocks(root);
  IRRewriter rewriter(root->getContext());
  for (MmaScaledOp op : findCoarse<MmaScaledOp>(root)) {
    rewriter.setInsertionPoint(op);
    checkOperands(rewriter, op);
    rewriteDense(rewriter, op, chooser);
  }
  for (GroupedMmaScaledOp op : findCoarse<GroupedMmaScaledOp>(root)) {
    rewriter.setInsertionPoint(op);
    checkOperands(rewriter, op);
    rewriteGrouped(rewriter, op, chooser);
  }
}
