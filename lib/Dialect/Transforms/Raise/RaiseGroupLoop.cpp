//===- RaiseGroupLoop.cpp - Loops over groups of rows ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the loop does with slices is done with whole tensors, in front of the
// grouped product, and what it does with rows of the product behind it.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseGroupLoop.h"

#include "Raise/MatchGroupLoop.h"
#include "Raise/RaiseEpilogue.h"
#include "Raise/RaiseOperand.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/IR/Grouped.h"

using namespace mlir;
using namespace mlir::blockscale;

static Operation *createProduct(OpBuilder &builder, Location loc,
                                const GroupedResult &result, Value acc) {
  const GroupProduct &product = result.product;
  auto create = [&](Value value, SliceKind kind) {
    return result.slices.create(builder, value, kind);
  };
  Value x = create(product.x, SliceKind::Rows);
  Value y = create(product.y, SliceKind::Matrix);
  if (product.isYTransposed)
    y = transpose(builder, loc, y, {0, 2, 1});
  if (auto scaled = dyn_cast<MmaScaledOp>(product.op))
    return GroupedMmaScaledOp::create(
        builder, loc, acc.getType(), x,
        create(product.xScale, product.getXScaleKind()), y,
        create(product.yScale, SliceKind::Matrix), result.offsets, acc,
        /*rows=*/Value(), /*group_scale=*/Value(), /*bias=*/Value(),
        product.xBlock ? nullptr : builder.getI64IntegerAttr(scaled.getBlock()),
        product.xBlock, product.yBlock,
        /*legal_groups=*/UnitAttr(), scaled.getAccumulateAttr());
  return GroupedMatmulOp::create(builder, loc, acc.getType(), x, y,
                                 result.offsets, acc, /*rows=*/Value(),
                                 /*group_scale=*/Value(), /*bias=*/Value(),
                                 /*legal_groups=*/UnitAttr());
}

/// `values`, each converted as `truncation` does it.
static Value truncate(OpBuilder &builder, Location loc, Value values,
                      Value init, arith::TruncFOp truncation) {
  SmallVector<AffineMap> maps = {builder.getMultiDimIdentityMap(2)};
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, init),
      getElementTypeOrSelf(init));
  return computeElements(
      builder, loc, values, maps, empty,
      [&](OpBuilder &nested, Location at, ValueRange elements) -> Value {
        return arith::TruncFOp::create(
            nested, at, getElementTypeOrSelf(init), elements.front(),
            truncation.getRoundingmodeAttr(), truncation.getFastmathAttr());
      });
}

static Value createResult(OpBuilder &builder, const GroupedResult &result) {
  Location loc = result.product.op->getLoc();
  Value init = result.init;
  Value acc = result.needsZeros
                  ? createZeros(builder, loc, init, builder.getF32Type())
                  : init;
  Operation *product = createProduct(builder, loc, result, acc);
  // Keeps attributes such as a requested path.
  product->setDiscardableAttrs(
      result.product.op->getDiscardableAttrDictionary());
  Value value = product->getResult(0);
  if (result.truncation)
    value = truncate(builder, loc, value, init, result.truncation);
  return value.getType() == init.getType()
             ? value
             : tensor::CastOp::create(builder, loc, init.getType(), value)
                   .getResult();
}

namespace {
struct RaiseGroupLoop final : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(scf::ForOp loop,
                                PatternRewriter &rewriter) const override {
    std::string reason;
    if (!findGroupProduct(loop))
      return rewriter.notifyMatchFailure(
          loop, "expected a loop that multiplies by matrices of groups");
    SmallVector<std::optional<GroupedResult>> results =
        matchGroupLoop(loop, reason);
    if (results.empty())
      return rewriter.notifyMatchFailure(
          loop, [&](Diagnostic &diagnostic) { diagnostic << reason; });
    SmallVector<Value> values;
    for (auto [result, init] : llvm::zip_equal(results, loop.getInitArgs()))
      values.push_back(result ? createResult(rewriter, *result) : init);
    rewriter.replaceOp(loop, values);
    return success();
  }
};
} // namespace

std::optional<Verdict>
blockscale::judgeGroupLoop(Operation *op, const RaiseOptions & /*options*/) {
  auto loop = dyn_cast<scf::ForOp>(op);
  std::optional<GroupProduct> product =
      loop ? findGroupProduct(loop) : std::nullopt;
  if (!product)
    return std::nullopt;
  Verdict verdict = {product->getTarget(), ""};
  matchGroupLoop(loop, verdict.reason);
  return verdict;
}

void blockscale::populateRaiseGroupLoopPatterns(RewritePatternSet &patterns) {
  patterns.add<RaiseGroupLoop>(patterns.getContext());
}
