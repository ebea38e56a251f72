//===- DecomposeGrouped.cpp - Grouped products as loops -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference semantics of grouped_mma_scaled and grouped_matmul: for each
// group, the product of its rows. A group ends where the ones before it end if
// its offset is less, and at T if that is more; a row that x does not have is
// another one of x. So wrong offsets and rows read no other memory.
//
//===----------------------------------------------------------------------===//

#include "Utils/GatherRows.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/Transforms/Reference/Grouped.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// The rows of one group, in the loop over groups.
template <typename Op>
class Group {
public:
  Group(OpBuilder &b, Op op, Value group, Value start, Value count)
      : b(b), op(op), loc(op.getLoc()), group(group), start(start),
        count(count) {
    if (op.getRows())
      rows = slice(op.getRows(), {start}, {count});
  }

  /// The rows of x, or of its scales.
  Value getRowsOf(Value matrix) {
    OpFoldResult columns = tensor::getMixedSize(b, loc, matrix, 1);
    if (!rows)
      return slice(matrix, {start, b.getIndexAttr(0)}, {count, columns});
    return gatherRows(b, loc, matrix, rows);
  }

  /// The matrix of the group in y, or in its scales.
  Value getMatrixOf(Value matrices) {
    auto type = cast<RankedTensorType>(matrices.getType());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, matrices);
    sizes[0] = b.getIndexAttr(1);
    SmallVector<OpFoldResult> starts(3, b.getIndexAttr(0));
    starts[0] = group;
    SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
    auto result = RankedTensorType::get(type.getShape().drop_front(),
                                        type.getElementType());
    return tensor::ExtractSliceOp::create(b, loc, result, matrices, starts,
                                          sizes, strides);
  }

  Value getAcc(Value all) {
    return slice(all, {start, b.getIndexAttr(0)},
                 {count, tensor::getMixedSize(b, loc, all, 1)});
  }

  /// What the product starts with: the accumulator, or zeros if the sum is
  /// multiplied.
  Value getInitial(Value acc) {
    if (!op.getGroupScale())
      return acc;
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0.0f));
    Value empty = tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, acc), b.getF32Type());
    return linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  }

  /// The result of the group: what is done with sums.
  Value finish(Value sum, Value acc) {
    if (!op.getGroupScale() && !op.getBias() && !rows)
      return sum;
    MLIRContext *context = b.getContext();
    AffineMap same = b.getMultiDimIdentityMap(2);
    SmallVector<Value> inputs = {sum, acc};
    SmallVector<AffineMap> maps = {same, same};
    if (op.getBias()) {
      inputs.push_back(getBias());
      maps.push_back(AffineMap::get(2, 0, b.getAffineDimExpr(1), context));
    }
    if (rows) {
      inputs.push_back(rows);
      maps.push_back(getRowMap());
    }
    Value factor;
    if (op.getGroupScale())
      factor = tensor::ExtractOp::create(b, loc, op.getGroupScale(), group);
    Value empty = tensor::EmptyOp::create(
        b, loc, tensor::getMixedSizes(b, loc, acc), b.getF32Type());
    return generate(inputs, maps, empty,
                    [&](OpBuilder &at, ValueRange args) -> Value {
                      return finishElement(at, args, factor);
                    });
  }

private:
  Value finishElement(OpBuilder &at, ValueRange args, Value factor) {
    Value result = args[0], acc = args[1];
    if (factor) {
      result = arith::MulFOp::create(at, loc, result, factor);
      result = arith::AddFOp::create(at, loc, acc, result);
    }
    if (op.getBias())
      result = arith::AddFOp::create(at, loc, result, args[2]);
    if (!rows)
      return result;
    Value zero = arith::ConstantIntOp::create(at, loc, 0, 32);
    Value isRow = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::sge,
                                        args[op.getBias() ? 3 : 2], zero);
    return arith::SelectOp::create(at, loc, isRow, result, acc);
  }

  Value getBias() {
    Value bias = op.getBias();
    auto type = cast<RankedTensorType>(bias.getType());
    OpFoldResult columns = tensor::getMixedSize(b, loc, bias, 1);
    OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
    return tensor::ExtractSliceOp::create(
        b, loc,
        RankedTensorType::get(type.getShape().drop_front(),
                              type.getElementType()),
        bias, ArrayRef<OpFoldResult>{group, zero},
        ArrayRef<OpFoldResult>{one, columns}, ArrayRef<OpFoldResult>{one, one});
  }

  Value slice(Value source, ArrayRef<OpFoldResult> starts,
              ArrayRef<OpFoldResult> sizes) {
    SmallVector<OpFoldResult> strides(starts.size(), b.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(b, loc, source, starts, sizes,
                                          strides);
  }

  using Body = function_ref<Value(OpBuilder &, ValueRange)>;
  Value generate(ValueRange inputs, ArrayRef<AffineMap> maps, Value init,
                 Body body) {
    SmallVector<AffineMap> all(maps);
    all.push_back(b.getMultiDimIdentityMap(2));
    SmallVector<utils::IteratorType> loops(2, utils::IteratorType::parallel);
    return linalg::GenericOp::create(
               b, loc, init.getType(), inputs, init, all, loops,
               [&](OpBuilder &at, Location, ValueRange args) {
                 linalg::YieldOp::create(at, loc, body(at, args));
               })
        ->getResult(0);
  }

  AffineMap getRowMap() {
    return AffineMap::get(2, 0, b.getAffineDimExpr(0), b.getContext());
  }
  Value makeIndex(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }

  OpBuilder &b;
  Op op;
  Location loc;
  Value group, start, count, rows;
};
} // namespace

static Value multiply(OpBuilder &b, GroupedMmaScaledOp op,
                      Group<GroupedMmaScaledOp> &group, Value initial) {
  using Side = MmaScaledOp::Side;
  IntegerAttr blockSize;
  ScaleBlockAttr xBlock, yBlock;
  // A group has any number of rows, so that blocks are always given.
  if (op.hasCoarseScales()) {
    xBlock = ScaleBlockAttr::get(b.getContext(), op.getBlockShape(Side::X));
    yBlock = ScaleBlockAttr::get(b.getContext(), op.getBlockShape(Side::Y));
  } else {
    blockSize = b.getI64IntegerAttr(op.getBlock());
  }
  bool haveAllOneScale = xBlock && xBlock.getRows() == ScaleBlock::kAll;
  Value x = group.getRowsOf(op.getX());
  Value xScale =
      haveAllOneScale ? Value(op.getXScale()) : group.getRowsOf(op.getXScale());
  return MmaScaledOp::create(b, op.getLoc(), initial.getType(), x, xScale,
                             group.getMatrixOf(op.getY()),
                             group.getMatrixOf(op.getYScale()), initial,
                             blockSize, xBlock, yBlock, op.getAccumulateAttr());
}

static Value multiply(OpBuilder &b, GroupedMatmulOp op,
                      Group<GroupedMatmulOp> &group, Value initial) {
  return linalg::MatmulOp::create(b, op.getLoc(),
                                  ValueRange{group.getRowsOf(op.getX()),
                                             group.getMatrixOf(op.getY())},
                                  initial)
      .getResult(0);
}

template <typename Op>
static LogicalResult decompose(Op op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  auto getSize = [&](Value value) {
    return getValueOrCreateConstantIndexOp(
        rewriter, loc, tensor::getMixedSize(rewriter, loc, value, 0));
  };
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value t = getSize(op.getAcc()), groups = getSize(op.getOffsets()),
        ofX = getSize(op.getX());
  auto loop = scf::ForOp::create(
      rewriter, loc, zero, groups, one, ValueRange{op.getAcc(), zero},
      [&](OpBuilder &b, Location, Value g, ValueRange state) {
        Value result = state[0], start = state[1];
        Value offset = tensor::ExtractOp::create(b, loc, op.getOffsets(), g);
        Value end =
            arith::IndexCastOp::create(b, loc, b.getIndexType(), offset);
        end = arith::MaxSIOp::create(b, loc, end, start);
        end = arith::MinSIOp::create(b, loc, end, t);
        Value count = arith::SubIOp::create(b, loc, end, start);
        if (op.getRows()) {
          // An x without rows has none that could be read.
          Value isNone = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                               ofX, zero);
          count = arith::SelectOp::create(b, loc, isNone, zero, count);
        }
        Group<Op> group(b, op, g, start, count);
        Value acc = group.getAcc(result);
        Value sum = multiply(b, op, group, group.getInitial(acc));
        Value rows = group.finish(sum, acc);
        OpFoldResult step = b.getIndexAttr(1), first = b.getIndexAttr(0);
        Value next = tensor::InsertSliceOp::create(
            b, loc, rows, result, ArrayRef<OpFoldResult>{start, first},
            ArrayRef<OpFoldResult>{count,
                                   tensor::getMixedSize(b, loc, result, 1)},
            ArrayRef<OpFoldResult>{step, step});
        scf::YieldOp::create(b, loc, ValueRange{next, end});
      });
  rewriter.replaceOp(op, loop.getResult(0));
  return success();
}

void blockscale::populateDecomposeGroupedPatterns(RewritePatternSet &patterns) {
  patterns.add(decompose<GroupedMmaScaledOp>);
  patterns.add(decompose<GroupedMatmulOp>);
}
