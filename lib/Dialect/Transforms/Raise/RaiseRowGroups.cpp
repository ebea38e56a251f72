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

#include "Raise/GroupBounds.h"
#include "Raise/GroupSlices.h"
#include "Raise/RaiseContraction.h"
#include "Raise/RaiseEpilogue.h"
#include "Raise/RaiseOperand.h"
#include "blockscale/Dialect/IR/Grouped.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// acc[row, n] += x[row, k] * y[ids[row], k, n]. A row may be a pair of a token
/// and a slot, s and j; then x may have one row for all slots of a token.
struct RowGroups {
  Value x, y, ids, acc;
  /// Whether y is G x N x K.
  bool isYTransposed;
  /// Whether rows are pairs, and x has a row for each of them.
  bool haveSlots, hasXSlots;
};
} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

static Value stripExtension(Value value) {
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension ? extension.getIn() : value;
}

/// The loop whose index `value` is; nullopt if it is none.
static std::optional<unsigned> getLoop(Value value) {
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index ? std::optional<unsigned>(index.getDim()) : std::nullopt;
}

/// The operand of `op` that `value`, in its body, is an element of; null if it
/// is none.
static OpOperand *getOperand(linalg::GenericOp op, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBody()
             ? op.getMatchingOpOperand(argument)
             : nullptr;
}

/// The read of y if `value` is an element of a matrix that a row names.
static tensor::ExtractOp getElementOfNamed(linalg::GenericOp op, Value value) {
  auto extract = stripExtension(value).getDefiningOp<tensor::ExtractOp>();
  bool isMatch =
      extract && extract->getBlock() == op.getBody() &&
      extract.getIndices().size() == 3 &&
      getOperand(op, stripIndexCasts(extract.getIndices().front())) &&
      !op.getRegion().isAncestor(extract.getTensor().getParentRegion());
  return isMatch ? extract : tensor::ExtractOp();
}

namespace {
class RowGroupsMatcher {
public:
  RowGroupsMatcher(linalg::GenericOp op, std::string &reason)
      : op(op), reason(reason) {}

  /// Sets no reason if `op` is another contraction.
  std::optional<RowGroups> run() {
    if (op.getNumReductionLoops() != 1)
      return std::nullopt;
    std::optional<Contraction> contraction = describeContraction(op);
    if (!contraction || !contraction->problem.empty())
      return std::nullopt;
    auto product =
        contraction->inputs.front().value.getDefiningOp<arith::MulFOp>();
    if (!product)
      return std::nullopt;
    Value x = product.getLhs(), y = product.getRhs();
    if (getElementOfNamed(op, x))
      std::swap(x, y);
    read = getElementOfNamed(op, y);
    if (!read)
      return std::nullopt;
    match.y = read.getTensor();
    match.acc = op.getDpsInits().front();
    if (!findX(x) || !findLoops() || !findRows() || !checkTypes() ||
        !checkSizes())
      return std::nullopt;
    return match;
  }

private:
  linalg::GenericOp op;
  std::string &reason;
  RowGroups match;
  tensor::ExtractOp read;
  OpOperand *operandOfX, *operandOfIds;
  /// The loops over K, over N, and over rows.
  unsigned k, n;
  SmallVector<unsigned> rows;

  AffineMap map(ArrayRef<unsigned> loops) {
    return AffineMap::getMultiDimMapWithTargets(op.getNumLoops(), loops,
                                                op.getContext());
  }

  bool findX(Value element) {
    operandOfX = getOperand(op, stripExtension(element));
    if (!operandOfX)
      return fail(reason, "expected the product of an element of x and one of "
                          "y, each extended at most");
    match.x = operandOfX->get();
    operandOfIds = getOperand(op, stripIndexCasts(read.getIndices().front()));
    match.ids = operandOfIds->get();
    return true;
  }

  /// y is read at the loops over K and N, in one of both orders.
  bool findLoops() {
    SmallVector<unsigned> reductions;
    op.getReductionDims(reductions);
    k = reductions.front();
    std::optional<unsigned> first = getLoop(read.getIndices()[1]),
                            second = getLoop(read.getIndices()[2]);
    if (!first || !second || *first == *second || (*first != k && *second != k))
      return fail(reason, "expected y to be read at K and N");
    match.isYTransposed = *second == k;
    n = match.isYTransposed ? *first : *second;
    return true;
  }

  /// The result is rows by N, one number belongs to each row, and x is rows, or
  /// tokens, by K.
  bool findRows() {
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (AffineExpr loop : result.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(loop);
          dim && dim.getPosition() != n)
        rows.push_back(dim.getPosition());
    SmallVector<unsigned> all = rows;
    all.push_back(n);
    if (rows.empty() || rows.size() > 2 || result != map(all) ||
        all.size() + 1 != op.getNumLoops())
      return fail(reason,
                  "expected a result of one or two dimensions for rows, "
                  "and N, got one that is written at ",
                  result);
    AffineMap ids = op.getMatchingIndexingMap(operandOfIds);
    if (ids != map(rows))
      return fail(reason,
                  "expected one number of a group for each row, got one "
                  "that is read at ",
                  ids);
    AffineMap x = op.getMatchingIndexingMap(operandOfX);
    all.back() = k;
    match.haveSlots = rows.size() == 2;
    match.hasXSlots = match.haveSlots && x == map(all);
    if (x != map(all) && x != map({rows.front(), k}))
      return fail(reason, "expected x to be read at rows and K, got ", x);
    return true;
  }

  bool checkTypes() {
    for (Value tensor : {match.x, match.y, match.ids, match.acc}) {
      auto type = dyn_cast<RankedTensorType>(tensor.getType());
      if (!type || type.getEncoding())
        return fail(reason, "expected tensors without encoding, got ",
                    tensor.getType());
      if (llvm::is_contained(type.getShape().drop_front(), 0))
        return fail(reason, "expected sizes of at least 1, got ", type);
    }
    Type sum = getElementTypeOrSelf(match.acc);
    if (!sum.isF32())
      return fail(reason, "it accumulates in ", sum, ", expected f32");
    Type x = getElementTypeOrSelf(match.x), y = getElementTypeOrSelf(match.y);
    if (x != y || !isa<BFloat16Type, Float16Type>(x))
      return fail(reason, "expected x and y of bf16 or of f16, got ", x,
                  " and ", y);
    Type ids = getElementTypeOrSelf(match.ids);
    if (!ids.isInteger(32) && !ids.isInteger(64))
      return fail(reason, "expected numbers of groups of type i32 or i64, got ",
                  ids);
    return isZeros(match.acc) ||
           fail(reason, "expected an accumulator of zeros");
  }

  /// The sizes that the ops have (O6), and that y is read as a whole.
  bool checkSizes() {
    auto y = cast<RankedTensorType>(match.y.getType());
    auto ids = cast<RankedTensorType>(match.ids.getType());
    int64_t groups = y.getDimSize(0);
    if (ShapedType::isDynamic(groups) || groups < 1 ||
        groups > SortRoutesOp::kMostGroups)
      return fail(reason, "expected from 1 to ", SortRoutesOp::kMostGroups,
                  " groups, got y of type ", y);
    if (ids.hasStaticShape() && !llvm::isInt<32>(ids.getNumElements()))
      return fail(reason, "expected fewer than 2^31 rows, got ",
                  ids.getNumElements());
    int64_t kOfY = match.isYTransposed ? 2 : 1;
    auto last = [](Value value) {
      return cast<RankedTensorType>(value.getType()).getRank() - 1;
    };
    if (!haveOneSize(match.y, kOfY, match.x, last(match.x)) ||
        !haveOneSize(match.y, 3 - kOfY, match.acc, last(match.acc)))
      return fail(reason, "expected y to have the K of x, ", match.x.getType(),
                  ", and the N of the result, ", match.acc.getType(), ", got ",
                  y);
    return true;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
class RowGroupsBuilder {
public:
  RowGroupsBuilder(OpBuilder &builder, linalg::GenericOp op,
                   const RowGroups &match)
      : builder(builder), op(op), match(match), loc(op.getLoc()) {}

  Value create() {
    bool isFlat = !match.haveSlots || match.hasXSlots;
    Value ids =
        match.haveSlots && match.hasXSlots ? collapse(match.ids) : match.ids;
    Value x = match.hasXSlots ? collapse(match.x) : match.x;
    Value y = match.isYTransposed ? transpose(builder, loc, match.y, {0, 2, 1})
                                  : match.y;
    Value acc = match.haveSlots ? collapse(match.acc) : match.acc;
    acc = createZeros(builder, loc, acc);
    auto sorted = sort(isFlat ? addUnit(ids) : ids, y, acc);
    auto product = GroupedMatmulOp::create(
        builder, loc, acc.getType(), x, y, sorted.getOffsets(), acc,
        sorted.getRows(), /*group_scale=*/Value(), /*bias=*/Value(),
        /*legal_groups=*/builder.getUnitAttr());
    // Keeps attributes such as a requested path.
    product->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    Value positions = sorted.getPositions();
    if (!isFlat)
      positions = addUnit(collapse(positions));
    Value result = CombineRowsOp::create(builder, loc, acc.getType(), product,
                                         positions, createOnes(positions));
    return restore(result);
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

  SortRoutesOp sort(Value ids, Value y, Value acc) {
    auto i32 = [&](ArrayRef<int64_t> shape) {
      return RankedTensorType::get(shape, builder.getI32Type());
    };
    int64_t groups = getType(y).getDimSize(0);
    return SortRoutesOp::create(
        builder, loc, i32(groups), i32(getType(acc).getDimSize(0)),
        i32(getType(ids).getShape()), ids,
        arith::ConstantIndexOp::create(builder, loc, groups));
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
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    std::string reason;
    std::optional<RowGroups> match = RowGroupsMatcher(op, reason).run();
    if (!match)
      return rewriter.notifyMatchFailure(op, [&](Diagnostic &diagnostic) {
        diagnostic << (reason.empty() ? "expected rows that name their groups"
                                      : reason);
      });
    rewriter.replaceOp(op, RowGroupsBuilder(rewriter, op, *match).create());
    return success();
  }
};
} // namespace

std::optional<Verdict> blockscale::judgeRowGroups(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return std::nullopt;
  Verdict verdict = {GroupedMatmulOp::getOperationName(), ""};
  if (!RowGroupsMatcher(generic, verdict.reason).run() && verdict.isRaised())
    return std::nullopt;
  return verdict;
}

void blockscale::populateRaiseRowGroupsPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseRowGroups>(patterns.getContext());
}
