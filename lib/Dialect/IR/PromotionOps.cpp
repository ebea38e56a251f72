//===- PromotionOps.cpp - Sums with factors -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/Promotion.h"

#include "Grouped/GroupedRules.h"
#include "blockscale/Support/FragmentLayout.h"
#include "blockscale/Support/InstructionTable.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

//===----------------------------------------------------------------------===//
// promoted_matmul
//===----------------------------------------------------------------------===//

TypeCombination PromotedMatmulOp::getTypes() {
  auto getFormat = [](Value value) {
    Type type = getElementTypeOrSelf(value);
    std::optional<Format> wide = getHighPrecisionFormat(type);
    return wide ? *wide : *getElementFormat(type);
  };
  return {getFormat(getX()), getFormat(getY()), Format::None, 1};
}

Promotion PromotedMatmulOp::getPromotion() {
  auto getBlock = [](std::optional<ScaleBlockAttr> block) {
    return block ? block->getBlock() : ScaleBlock();
  };
  return {static_cast<int64_t>(getInterval()), getXFactors(), getYFactors(),
          getBlock(getXBlock()), getBlock(getYBlock())};
}

LogicalResult PromotedMatmulOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, getLoc(), getAcc()));
  return success();
}

/// Checks that two sizes are equal, if both are known.
static LogicalResult verifyEqual(PromotedMatmulOp op, StringRef what,
                                 int64_t expected, int64_t got) {
  if (ShapedType::isDynamic(expected) || ShapedType::isDynamic(got) ||
      expected == got)
    return success();
  return op.emitOpError("expected ")
         << what << " to be " << expected << ", got " << got;
}

/// (R1) with groups of rows.
static LogicalResult verifyGroupedShapes(PromotedMatmulOp op) {
  for (auto [name, value, rank] :
       {std::tuple(StringRef("x"), Value(op.getX()), 2),
        {"y", op.getY(), 3},
        {"acc", op.getAcc(), 2}}) {
    auto type = cast<ShapedType>(value.getType());
    if (type.getRank() != rank)
      return op.emitOpError("expected ")
             << name << " of rank " << rank << " with offsets, got " << type;
  }
  return verifyGrouped(op, GroupedProduct(op));
}

/// (R1), (R5)
static LogicalResult verifyShapes(PromotedMatmulOp op) {
  if (op.getOffsets())
    return verifyGroupedShapes(op);
  if (op.getRows() || op.getGroupScale() || op.getBias())
    return op.emitOpError("expected offsets with rows, group_scale or bias");
  ShapedType x = op.getX().getType(), y = op.getY().getType(),
             acc = op.getAcc().getType();
  auto dim = [](ShapedType type, int64_t fromEnd) {
    return type.getDimSize(type.getRank() - fromEnd);
  };
  if (failed(verifyEqual(op, "K of y", dim(x, 1), dim(y, 2))) ||
      failed(verifyEqual(op, "M of acc", dim(x, 2), dim(acc, 2))) ||
      failed(verifyEqual(op, "N of acc", dim(y, 1), dim(acc, 1))))
    return failure();
  int64_t rank = std::max(x.getRank(), y.getRank());
  if (acc.getRank() != rank)
    return op.emitOpError("expected acc of rank ")
           << rank << ", got " << acc.getRank();
  int64_t batch = 1;
  for (ShapedType type : {x, y}) {
    int64_t size = type.getRank() == 3 ? type.getDimSize(0) : 1;
    if (size == 1)
      continue;
    if (batch != 1 &&
        failed(verifyEqual(op, "the batch of x and y", batch, size)))
      return failure();
    batch = size;
  }
  return rank == 3
             ? verifyEqual(op, "the batch of acc", batch, acc.getDimSize(0))
             : success();
}

/// (R4)
static LogicalResult verifyFactors(PromotedMatmulOp op, Side side,
                                   Value factors, const ScaleBlock &block) {
  StringRef name = side == Side::X ? "x_factors" : "y_factors";
  auto matrix =
      cast<ShapedType>((side == Side::X ? op.getX() : op.getY()).getType());
  auto type = cast<ShapedType>(factors.getType());
  auto rank = static_cast<unsigned>(matrix.getRank());
  if (type.getRank() != matrix.getRank())
    return op.emitOpError("expected ")
           << name << " of rank " << rank << ", got " << type;
  if (side == Side::X && op.getOffsets() && block.rows != 1 &&
      block.rows != ScaleBlock::kAll)
    return op.emitOpError("expected x_factors for 1 or all rows, since groups "
                          "of rows start anywhere, got ")
           << stringifyScaleBlock(block);
  if (block.k != ScaleBlock::kAll &&
      block.k % static_cast<int64_t>(op.getInterval()) != 0)
    return op.emitOpError("expected interval to divide the block of ")
           << name << ", " << block.k << " along K, got " << op.getInterval();
  for (unsigned i = 0; i != rank; ++i) {
    int64_t size = matrix.getDimSize(i);
    bool isRow = i == MmaScaledOp::getRowDim(side, rank),
         isK = i == MmaScaledOp::getKDim(side, rank);
    if (isRow || isK) {
      int64_t of = isRow ? block.rows : block.k;
      if (!ShapedType::isDynamic(size) || of == ScaleBlock::kAll)
        size = getNumScales(size, of);
      else if (of != 1)
        continue;
    }
    if (failed(verifyEqual(op, ("dimension " + Twine(i) + " of " + name).str(),
                           size, type.getDimSize(i))))
      return failure();
  }
  return success();
}

LogicalResult PromotedMatmulOp::verify() {
  SmallVector<NamedShape> shapes = {
      {"x", getX()}, {"y", getY()}, {"acc", getAcc()}};
  if (Value factors = getXFactors())
    shapes.push_back({"x_factors", factors});
  if (Value factors = getYFactors())
    shapes.push_back({"y_factors", factors});
  if (failed(verifySameKind(*this, shapes)) || failed(verifyShapes(*this)))
    return failure();
  Type x = getX().getType().getElementType(), // (R2)
      y = getY().getType().getElementType();
  if (x != y && (getHighPrecisionFormat(x) || getHighPrecisionFormat(y)))
    return emitOpError("expected x and y to be both of bf16, of f16 or of fp8, "
                       "got ")
           << x << " and " << y;
  constexpr int64_t kLeast = 16, kMost = 128;
  auto interval = static_cast<int64_t>(getInterval()); // (R3)
  if (interval < kLeast || interval > kMost || !llvm::isPowerOf2_64(interval))
    return emitOpError("expected an interval of 16, 32, 64 or 128, got ")
           << interval;
  Promotion promotion = getPromotion();
  for (auto [side, factors, block, given] :
       {std::tuple(Side::X, promotion.xFactors, promotion.xBlock,
                   getXBlock().has_value()),
        std::tuple(Side::Y, promotion.yFactors, promotion.yBlock,
                   getYBlock().has_value())}) {
    if (given != bool(factors))
      return emitOpError("expected a block for factors, and only for them");
    if (factors && failed(verifyFactors(*this, side, factors, block)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// acc_factors and acc_promote
//===----------------------------------------------------------------------===//

/// What a warp has of the rows or columns of `acc`, what a fragment has of
/// them, and how many of these a lane has; nullopt for other layouts.
static std::optional<std::array<int64_t, 3>> getLaneShare(AccType acc,
                                                          bool areColumns) {
  auto warps = dyn_cast<WarpsAttr>(Attribute(acc.getLayout()));
  if (!warps || warps.getInterleaveM() != 1 || warps.getInterleaveN() != 1)
    return std::nullopt;
  constexpr int64_t kOfLane = 2;
  const FragmentLayout &fragment = getFragmentLayout(Operand::C, kSumBits);
  if (areColumns)
    return std::array<int64_t, 3>{warps.getShareN(acc), fragment.columns,
                                  kOfLane};
  return std::array<int64_t, 3>{warps.getShareM(acc), fragment.rows, kOfLane};
}

int64_t AccFactorsOp::getNumFactors(AccType acc, bool areColumns,
                                    int64_t size) {
  auto [share, fragment, ofLane] = *getLaneShare(acc, areColumns);
  return size == 1 ? share / fragment * ofLane : share / size;
}

LogicalResult AccFactorsOp::verify() {
  auto share = getLaneShare(getAccType(), getColumns());
  if (!share)
    return emitOpError("expected an accumulator in warps that are not "
                       "interleaved, got ")
           << getAccType();
  auto size = static_cast<int64_t>(getSize()); // (A1)
  if (size < 1 || (size != 1 && size % (*share)[1] != 0) ||
      (*share)[0] % size != 0)
    return emitOpError("expected a size of 1, or a multiple of ")
           << (*share)[1] << " that divides " << (*share)[0] << ", got "
           << size;
  int64_t count = getNumFactors(getAccType(), getColumns(), size); // (A3)
  if (getType().getNumElements() == count)
    return success();
  return emitOpError("expected a vector of ")
         << count << " factors, got " << getType();
}

LogicalResult AccFactorsOp::verifyRegions() { // (A2)
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (body.getNumArguments() == 1 && body.getArgument(0).getType().isIndex() &&
      yield && yield.getValue())
    return success();
  return emitOpError("expected a body that takes an index and yields an f32");
}

LogicalResult AccPromoteOp::verify() { // (A4)
  if (getExact() && !getRows() && !getColumns())
    return emitOpError("expected 'exact' with factors only");
  for (auto [factors, areColumns] :
       {std::pair(getRows(), false), std::pair(getColumns(), true)}) {
    if (!factors)
      continue;
    auto share = getLaneShare(getSums().getType(), areColumns);
    if (!share)
      return emitOpError("expected an accumulator in warps that are not "
                         "interleaved, got ")
             << getSums().getType();
    int64_t count = cast<VectorType>(factors.getType()).getNumElements(),
            all = (*share)[0] / (*share)[1] * (*share)[2];
    if (all % count != 0)
      return emitOpError("expected as many factors as acc_factors has, got ")
             << factors.getType() << " for " << all;
  }
  return success();
}
