//===- DecomposeCombineRows.cpp - Weighted sums of rows -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of combine_rows. GPUs have a kernel for it.
//
//===----------------------------------------------------------------------===//

#include "Reference/RowPosition.h"
#include "Utils/CheckMessage.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/Transforms/Reference/Grouped.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

void blockscale::checkPosition(OpBuilder &b, CombineRowsOp op, Value position,
                               Value last) {
  Location loc = op.getLoc();
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, loc, predicate, lhs, rhs);
  };
  Value none = arith::ConstantIndexOp::create(b, loc, -1);
  Value isBefore = compare(arith::CmpIPredicate::slt, position, none);
  Value isBehind = compare(arith::CmpIPredicate::sgt, position, last);
  Value isWrong = arith::OrIOp::create(b, loc, isBefore, isBehind);
  OpBuilder then = scf::IfOp::create(b, loc, isWrong).getThenBodyBuilder();
  cf::AssertOp::create(
      then, loc, arith::ConstantIntOp::create(then, loc, 0, 1),
      getCheckMessage(op, "expected positions from -1 to T - 1"));
}

/// `total` and the product of slot `slot` of row `row`, at `column`. `last` is
/// the last row of the source.
static Value addSlot(OpBuilder &b, CombineRowsOp op, Value total, Value row,
                     Value column, Value slot, Value last) {
  Location loc = op.getLoc();
  Value at[] = {row, slot};
  Value weight = tensor::ExtractOp::create(b, loc, op.getWeights(), at);
  Value position = tensor::ExtractOp::create(b, loc, op.getPositions(), at);
  position = arith::IndexCastOp::create(b, loc, b.getIndexType(), position);
  checkPosition(b, op, position, last);
  // Of a wrong one behind the last row, that is read.
  position = arith::MinSIOp::create(b, loc, position, last);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value isRow =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, position, zero);
  auto branch = scf::IfOp::create(b, loc, total.getType(), isRow,
                                  /*withElseRegion=*/true);
  OpBuilder then = branch.getThenBodyBuilder();
  Value value = tensor::ExtractOp::create(then, loc, op.getSource(),
                                          ValueRange{position, column});
  if (!value.getType().isF32())
    value = arith::ExtFOp::create(then, loc, then.getF32Type(), value);
  value = arith::MulFOp::create(then, loc, weight, value);
  value = arith::AddFOp::create(then, loc, total, value);
  scf::YieldOp::create(then, loc, value);
  OpBuilder other = branch.getElseBodyBuilder();
  scf::YieldOp::create(other, loc, total);
  return branch.getResult(0);
}

static LogicalResult decompose(CombineRowsOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(rewriter, shapes)))
    return failure();
  auto getSize = [&](Value value, int64_t dim) {
    return getValueOrCreateConstantIndexOp(
        rewriter, loc, tensor::getMixedSize(rewriter, loc, value, dim));
  };
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value last =
      arith::SubIOp::create(rewriter, loc, getSize(op.getSource(), 0), one);
  Value slots = getSize(op.getPositions(), 1);
  Value start =
      arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0.0f));
  Type element = getElementTypeOrSelf(op.getType());
  Value empty = tensor::EmptyOp::create(rewriter, loc, shapes.front(), element);
  Value result = computeElements(
      rewriter, loc, {}, ArrayRef<AffineMap>(), empty,
      [&](OpBuilder &b, Location, ValueRange) -> Value {
        SmallVector<Value> at = getLoopIndices(b, loc, 2);
        auto sum = scf::ForOp::create(
            b, loc, zero, slots, one, start,
            [&](OpBuilder &inner, Location, Value slot, ValueRange total) {
              scf::YieldOp::create(
                  inner, loc,
                  addSlot(inner, op, total[0], at[0], at[1], slot, last));
            });
        Value total = sum.getResult(0);
        if (!element.isF32())
          total = arith::TruncFOp::create(b, loc, element, total);
        return total;
      });
  rewriter.replaceOp(op,
                     convertFromTensor(rewriter, loc, result, op.getType()));
  return success();
}

void blockscale::populateDecomposeCombineRowsPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decompose);
}
