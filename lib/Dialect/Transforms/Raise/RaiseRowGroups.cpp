//===- RaiseRowGroups.cpp - Rows that name their groups -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are not sorted by group, so they are sorted first, and put back behind
// the grouped product. That changes no sum: `combine_rows` adds one row of
// weight 1 to +0, and sums that start with +0 are never -0. Any other
// accumulator would have to be sorted, too, so zeros are expected.
//
// Numbers of groups that y does not have read out of bounds, which has no
// meaning upstream. Rows with such numbers become zeros.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseRowGroups.h"

#include "Raise/MatchRowGroups.h"
#include "Raise/RaiseEpilogue.h"
#include "Raise/RaiseOperand.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class RowGroupsBuilder {
public:
  RowGroupsBuilder(OpBuilder &builder, linalg::GenericOp op,
                   const RowGroups &match)
      : builder(builder), op(op), match(match), loc(op.getLoc()) {}

  Value create() {
    // One slot for each row, unless slots of a token share a row of x.
    bool shareRows = match.haveSlots && !match.hasXSlots;
    Value ids = shareRows ? match.ids : addUnit(collapse(match.ids));
    Value acc = createZeros(builder, loc, collapse(match.acc));
    auto sorted = sort(ids, acc);
    Operation *product =
        match.scaled ? multiplyScaled(sorted, acc) : multiply(sorted, acc);
    // Keeps attributes such as a requested path.
    product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    Value positions = sorted.getPositions();
    if (shareRows)
      positions = addUnit(collapse(positions));
    Value result = restore(CombineRowsOp::create(
        builder, loc, acc.getType(), product->getResult(0), positions,
        createOnes(positions)));
    if (match.scaled && !match.scaled->tensorScales.empty())
      result = scaleAndAdd(builder, loc, result, match.scaled->tensorScales,
                           match.acc);
    return result;
  }

private:
  OpBuilder &builder;
  linalg::GenericOp op;
  const RowGroups &match;
  Location loc;

  static RankedTensorType getType(Value value) {
    return cast<RankedTensorType>(value.getType());
  }

  /// Pairs of a token and a slot as one row.
  Value collapse(Value value) {
    if (!match.haveSlots)
      return value;
    SmallVector<ReassociationIndices> groups = {{0, 1}};
    for (int64_t dim = 2, rank = getType(value).getRank(); dim != rank; ++dim)
      groups.push_back({dim});
    return tensor::CollapseShapeOp::create(builder, loc, value, groups);
  }

  /// One slot for each row.
  Value addUnit(Value value) {
    RankedTensorType type = getType(value);
    OpFoldResult rows = tensor::getMixedSize(builder, loc, value, 0);
    return tensor::ExpandShapeOp::create(
        builder, loc,
        RankedTensorType::get({type.getDimSize(0), 1}, type.getElementType()),
        value, ArrayRef<ReassociationIndices>{{0, 1}},
        ArrayRef<OpFoldResult>{rows, builder.getIndexAttr(1)});
  }

  SortRoutesOp sort(Value ids, Value acc) {
    auto i32 = [&](ArrayRef<int64_t> shape) {
      return RankedTensorType::get(shape, builder.getI32Type());
    };
    return SortRoutesOp::create(
        builder, loc, i32(match.numGroups), i32(getType(acc).getDimSize(0)),
        i32(getType(ids).getShape()), ids,
        arith::ConstantIndexOp::create(builder, loc, match.numGroups));
  }

  Operation *multiply(SortRoutesOp sorted, Value acc) {
    Value x = match.hasXSlots ? collapse(match.x) : match.x;
    Value y = match.isYTransposed ? transpose(builder, loc, match.y, {0, 2, 1})
                                  : match.y;
    return GroupedMatmulOp::create(builder, loc, acc.getType(), x, y,
                                   sorted.getOffsets(), acc, sorted.getRows(),
                                   /*group_scale=*/Value(), /*bias=*/Value(),
                                   /*legal_groups=*/builder.getUnitAttr());
  }

  Operation *multiplyScaled(SortRoutesOp sorted, Value acc) {
    const RaiseMatch &scaled = *match.scaled;
    Value x = createOperand(builder, loc, scaled.x.element);
    Value xScale = createScales(builder, loc, scaled.x, x, MmaScaledOp::Side::X,
                                scaled.block);
    Value y = createOperand(builder, loc, scaled.y.element);
    Value yScale = createScales(builder, loc, scaled.y, y, MmaScaledOp::Side::Y,
                                scaled.block);
    return GroupedMmaScaledOp::create(
        builder, loc, acc.getType(), x, xScale, y, yScale, sorted.getOffsets(),
        acc, sorted.getRows(), /*group_scale=*/Value(), /*bias=*/Value(),
        scaled.getBlockSize(), scaled.getScaleBlock(MmaScaledOp::Side::X),
        scaled.getScaleBlock(MmaScaledOp::Side::Y),
        /*legal_groups=*/builder.getUnitAttr(), /*accumulate=*/{});
  }

  Value createOnes(Value like) {
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1));
    return tensor::SplatOp::create(builder, loc, one,
                                   tensor::getMixedSizes(builder, loc, like));
  }

  /// The shape of the result of `op`.
  Value restore(Value rows) {
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    if (match.haveSlots)
      rows = tensor::ExpandShapeOp::create(
          builder, loc, type, rows, ArrayRef<ReassociationIndices>{{0, 1}, {2}},
          tensor::getMixedSizes(builder, loc, match.acc));
    return rows.getType() == type
               ? rows
               : tensor::CastOp::create(builder, loc, type, rows).getResult();
  }
};

struct RaiseRowGroups final : OpRewritePattern<linalg::GenericOp> {
  RaiseRowGroups(MLIRContext *context, const RaiseOptions &options)
      : OpRewritePattern(context), options(options) {}

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    RowGroups match;
    std::string reason;
    if (!matchRowGroups(op, options, match, reason))
      return rewriter.notifyMatchFailure(op, [&](Diagnostic &diagnostic) {
        diagnostic << (reason.empty() ? "expected rows that name their groups"
                                      : reason);
      });
    rewriter.replaceOp(op, RowGroupsBuilder(rewriter, op, match).create());
    return success();
  }

private:
  RaiseOptions options;
};
} // namespace

std::optional<Verdict> blockscale::judgeRowGroups(Operation *op,
                                                  const RaiseOptions &options) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  RowGroups match;
  std::string reason;
  if (!generic ||
      (!matchRowGroups(generic, options, match, reason) && reason.empty()))
    return std::nullopt;
  return Verdict{match.getTarget(), reason};
}

void blockscale::populateRaiseRowGroupsPatterns(RewritePatternSet &patterns,
                                                const RaiseOptions &options) {
  patterns.add<RaiseRowGroups>(patterns.getContext(), options);
}
