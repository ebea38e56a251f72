//===- DecomposeGroupScales.cpp - Scales of groups as loops ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "Utils/PaddedTiles.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/Transforms/Reference/Grouped.h"
#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// Emits one byte of the result.
class GroupScale {
public:
  GroupScale(OpBuilder &b, SwizzleGroupScalesOp op)
      : op(op), loc(op.getLoc()), zero(makeIndex(b, loc, 0)),
        none(makeIndex(b, loc, -1)), t(getSize(b, op.getRowsOrSource(), 0)),
        groups(getSize(b, op.getOffsets(), 0)),
        ofSource(getSize(b, op.getSource(), 0)),
        blocks(getSize(b, op.getSource(), 1)) {}

  Value emit(OpBuilder &at) {
    SmallVector<Value> position = applyExprs(
        at, loc, getUnswizzleMap(at.getContext(), /*rank=*/2).getResults(),
        getLoopIndices(at, loc, 4));
    Value row = emitRow(at, position[0]), block = position[1];
    Value isInside =
        arith::AndIOp::create(at, loc, isBelow(at, loc, row, ofSource),
                              isBelow(at, loc, block, blocks));
    Type type = getElementTypeOrSelf(op.getType());
    auto choice = scf::IfOp::create(at, loc, type, isInside,
                                    /*withElseRegion=*/true);
    OpBuilder then = choice.getThenBodyBuilder(),
              other = choice.getElseBodyBuilder();
    scf::YieldOp::create(then, loc,
                         ValueRange(tensor::ExtractOp::create(
                             then, loc, op.getSource(), {row, block})));
    // Not a float constant: e8m0 has no zero.
    Value padding = arith::ConstantIntOp::create(other, loc, 0, 8);
    scf::YieldOp::create(
        other, loc,
        ValueRange(arith::BitcastOp::create(other, loc, type, padding)));
    return choice.getResult(0);
  }

private:
  static Value getSize(OpBuilder &b, Value value, unsigned dim) {
    return getValueOrCreateConstantIndexOp(
        b, value.getLoc(), tensor::getMixedSize(b, value.getLoc(), value, dim));
  }

  /// The row of the source that row `padded` of the result has; -1 for none.
  Value emitRow(OpBuilder &at, Value padded) {
    auto search = scf::ForOp::create(
        at, loc, zero, groups, makeIndex(at, loc, 1), ValueRange{none, zero},
        [&](OpBuilder &inner, Location, Value group, ValueRange state) {
          Value first = state[1];
          Value end = arith::IndexCastOp::create(
              inner, loc, inner.getIndexType(),
              tensor::ExtractOp::create(inner, loc, op.getOffsets(), group));
          end = arith::MaxSIOp::create(inner, loc, end, first);
          end = arith::MinSIOp::create(inner, loc, end, t);
          AffineExpr d0, d1, d2;
          bindDims(inner.getContext(), d0, d1, d2);
          AffineExpr start =
              getFirstPaddedTile(d0, d1, kScaleAtomRows) * kScaleAtomRows;
          Value row =
              applyExpr(inner, loc, d2 - start + d0, {first, group, padded});
          Value isHere = arith::AndIOp::create(
              inner, loc,
              arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sge, row,
                                    first),
              arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, row,
                                    end));
          row = arith::SelectOp::create(inner, loc, isHere, row, state[0]);
          scf::YieldOp::create(inner, loc, ValueRange{row, end});
        });
    Value row = search.getResult(0);
    if (!op.getRows())
      return row;
    Value isRow = isBelow(at, loc, row, t);
    auto choice = scf::IfOp::create(at, loc, at.getIndexType(), isRow,
                                    /*withElseRegion=*/true);
    OpBuilder then = choice.getThenBodyBuilder(),
              other = choice.getElseBodyBuilder();
    Value word = tensor::ExtractOp::create(then, loc, op.getRows(), row);
    scf::YieldOp::create(then, loc,
                         ValueRange(arith::IndexCastOp::create(
                             then, loc, then.getIndexType(), word)));
    scf::YieldOp::create(other, loc, none);
    return choice.getResult(0);
  }

  SwizzleGroupScalesOp op;
  Location loc;
  Value zero, none, t, groups, ofSource, blocks;
};
} // namespace

static LogicalResult decompose(SwizzleGroupScalesOp op,
                               PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  ReifiedRankedShapedTypeDims shapes;
  if (failed(op.reifyResultShapes(rewriter, shapes)))
    return failure();
  Value empty = tensor::EmptyOp::create(rewriter, loc, shapes.front(),
                                        getElementTypeOrSelf(op.getType()));
  GroupScale scale(rewriter, op);
  Value result = computeElements(
      rewriter, loc, {}, ArrayRef<AffineMap>(), empty,
      [&](OpBuilder &b, Location, ValueRange) { return scale.emit(b); });
  rewriter.replaceOp(op,
                     convertFromTensor(rewriter, loc, result, op.getType()));
  return success();
}

void blockscale::populateDecomposeGroupScalesPatterns(
    RewritePatternSet &patterns) {
  patterns.add(decompose);
}
