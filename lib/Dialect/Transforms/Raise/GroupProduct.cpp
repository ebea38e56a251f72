//===- GroupProduct.cpp - Products of one group ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of the result are rows of x: the product may not have its operands
// exchanged, and its result not transposed.
//
//===----------------------------------------------------------------------===//

#include "Raise/GroupProduct.h"

#include "blockscale/Dialect/IR/Grouped.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::blockscale;

StringRef GroupProduct::getTarget() const {
  return xScale ? GroupedMmaScaledOp::getOperationName()
                : GroupedMatmulOp::getOperationName();
}

SmallVector<Value> GroupProduct::getOperands(SliceKind kind) const {
  SmallVector<Value> operands;
  if (kind == SliceKind::Rows)
    operands = {x};
  else if (kind == SliceKind::Matrix)
    operands = {y, yScale};
  if (kind == getXScaleKind())
    operands.push_back(xScale);
  llvm::erase(operands, Value());
  return operands;
}

SliceKind GroupProduct::getXScaleKind() const {
  return xBlock && xBlock.getRows() == ScaleBlock::kAll ? SliceKind::Common
                                                        : SliceKind::Rows;
}

static bool isHalfPrecision(Value value) {
  return isa<BFloat16Type, Float16Type>(getElementTypeOrSelf(value));
}

/// Whether the body of `op` adds the product of both operands to the
/// accumulator, and at most extends them before.
static bool isSumOfProducts(linalg::LinalgOp op) {
  return linalg::detail::isContractionBody(
             *op.getBlock(),
             [](Operation *multiply, Operation *add) {
               return isa<arith::MulFOp>(multiply) && isa<arith::AddFOp>(add);
             }) &&
         llvm::all_of(op.getBlock()->without_terminator(), [](Operation &in) {
           return isa<arith::ExtFOp, arith::MulFOp, arith::AddFOp>(in);
         });
}

/// `op` as a product of matrices of bf16 or f16, M x K and K x N or N x K.
static std::optional<GroupProduct> describe(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumLoops() != 3 || !op.hasPureTensorSemantics() ||
      !isSumOfProducts(op))
    return std::nullopt;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.size() != 1 || dims->n.size() != 1 ||
      dims->k.size() != 1)
    return std::nullopt;
  auto map = [&](unsigned first, unsigned second) {
    return AffineMap::getMultiDimMapWithTargets(3, {first, second},
                                                op.getContext());
  };
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[2].getNumResults() != 2 || !maps[2].isProjectedPermutation())
    return std::nullopt;
  unsigned row = maps[2].getDimPosition(0), column = maps[2].getDimPosition(1),
           k = dims->k.front();
  unsigned x = maps[0].isFunctionOfDim(row) ? 0 : 1, y = 1 - x;
  GroupProduct product;
  product.op = op;
  product.x = op->getOperand(x);
  product.y = op->getOperand(y);
  product.acc = op.getDpsInits().front();
  product.isYTransposed = maps[y] == map(column, k);
  if (maps[x] != map(row, k) ||
      (!product.isYTransposed && maps[y] != map(k, column)) ||
      !isHalfPrecision(product.x) || !isHalfPrecision(product.y))
    return std::nullopt;
  return product;
}

std::optional<GroupProduct> blockscale::describeGroupProduct(Operation *op) {
  if (auto scaled = dyn_cast<MmaScaledOp>(op)) {
    if (!scaled.hasTensorSemantics() ||
        cast<RankedTensorType>(scaled.getAcc().getType()).getRank() != 2)
      return std::nullopt;
    GroupProduct product = {op,
                            scaled.getX(),
                            scaled.getXScale(),
                            scaled.getY(),
                            scaled.getYScale(),
                            scaled.getAcc()};
    if (scaled.hasCoarseScales()) {
      auto getBlock = [&](MmaScaledOp::Side side) {
        return ScaleBlockAttr::get(op->getContext(),
                                   scaled.getBlockShape(side));
      };
      product.xBlock = getBlock(MmaScaledOp::Side::X);
      product.yBlock = getBlock(MmaScaledOp::Side::Y);
    }
    return product;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp ? describe(linalgOp) : std::nullopt;
}
