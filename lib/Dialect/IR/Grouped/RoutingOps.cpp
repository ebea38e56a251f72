//===- RoutingOps.cpp - Rows to groups ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/Routing.h"

#include "SizeRelations.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// `sizes` with the static ones of `value`.
static SmallVector<OpFoldResult>
withStaticSizes(OpBuilder &builder, SmallVector<OpFoldResult> sizes,
                Value value) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  for (auto [size, known] : llvm::zip_equal(sizes, shape))
    if (!ShapedType::isDynamic(known))
      size = builder.getIndexAttr(known);
  return sizes;
}

/// At run time, that a static size of a result is `expected`.
static void checkResultSize(SizeChecker &check, NamedShape result, int64_t dim,
                            Value expected, const Twine &meaning) {
  ShapedType type = result.type();
  if (type.isDynamicDim(dim))
    return;
  Value size = check.getConstant(type.getDimSize(dim));
  check.expect(check.isEqual(expected, size), result.name + " to have " +
                                                  meaning + ", " +
                                                  Twine(type.getDimSize(dim)));
}

/// The first sizes of results, which are that of an operand.
static SmallVector<SizeRelation> getRowRelations(NamedShape operand,
                                                 ArrayRef<NamedShape> results) {
  return llvm::map_to_vector(results, [&](NamedShape result) {
    return SizeRelation{{result, 0, "S"}, {operand, 0, "S"}};
  });
}

//===----------------------------------------------------------------------===//
// route
//===----------------------------------------------------------------------===//

LogicalResult RouteOp::verify() {
  NamedShape logits = {"logits", getLogits()}, ids = {"ids", getIds()},
             weights = {"weights", getWeights()};
  int64_t count = static_cast<int64_t>(getTopK());
  if (failed(verifySameKind(*this, {logits, ids, weights})) || // (O1)
      failed(verifySizes(*this, getRowRelations(logits, {ids, weights}))))
    return failure();
  if (count < 1 || count > kMostChosen) // (O3)
    return emitOpError("expected top_k to be from 1 to ")
           << kMostChosen << ", got " << count;
  int64_t groups = logits.type().getDimSize(1);
  if (!ShapedType::isDynamic(groups) && groups < count)
    return emitOpError("expected at least top_k = ")
           << count << " groups, got " << groups;
  for (NamedShape result : {ids, weights})
    if (int64_t slots = result.type().getDimSize(1);
        !ShapedType::isDynamic(slots) && slots != count)
      return emitOpError("expected ")
             << result.name << " to have top_k = " << count << " columns, got "
             << slots;
  return success();
}

LogicalResult
RouteOp::reifyResultShapes(OpBuilder &builder,
                           ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  SmallVector<OpFoldResult> sizes = {
      tensor::getMixedSize(builder, getLoc(), getLogits(), 0),
      builder.getIndexAttr(static_cast<int64_t>(getTopK()))};
  for (Value result : getResults())
    reifiedReturnShapes.push_back(withStaticSizes(builder, sizes, result));
  return success();
}

void RouteOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  SizeChecker check(builder, loc, *this, generateErrorMessage);
  if (isDynamic(getLogits(), 1))
    check.expect(check.isAtLeast(check.getSize(getLogits(), 1),
                                 static_cast<int64_t>(getTopK())),
                 "at least top_k = " + Twine(getTopK()) + " groups");
  if (isDynamic(getLogits(), 0))
    for (NamedShape result :
         {NamedShape{"ids", getIds()}, NamedShape{"weights", getWeights()}})
      checkResultSize(check, result, 0, check.getSize(getLogits(), 0),
                      "the S of logits");
}

//===----------------------------------------------------------------------===//
// sort_routes
//===----------------------------------------------------------------------===//

LogicalResult SortRoutesOp::verify() {
  NamedShape ids = {"ids", getIds()}, offsets = {"offsets", getOffsets()},
             rows = {"rows", getRows()},
             positions = {"positions", getPositions()};
  SmallVector<SizeRelation> relations = getRowRelations(ids, {positions});
  relations.push_back({{positions, 1, "J"}, {ids, 1, "J"}});
  if (failed(verifySameKind(*this, {ids, offsets, rows, positions})) || // (O4)
      failed(verifySizes(*this, relations)))                            // (O5)
    return failure();
  std::optional<int64_t> groups = getConstantIntValue(getGroups());
  int64_t ends = offsets.type().getDimSize(0);
  if (groups && !ShapedType::isDynamic(ends) && ends != *groups)
    return emitOpError("expected offsets of ")
           << *groups << " groups, got " << ends;
  if (!groups && !ShapedType::isDynamic(ends))
    groups = ends;
  if (groups && (*groups < 1 || *groups > kMostGroups)) // (O6)
    return emitOpError("expected from 1 to ")
           << kMostGroups << " groups, got " << *groups;
  if (ids.type().getDimSize(1) == 0)
    return emitOpError("expected J to be at least 1, got 0 in dimension 1 of "
                       "ids (")
           << ids.type() << ")";
  if (!ids.type().hasStaticShape())
    return success();
  int64_t slots;
  if (llvm::MulOverflow(ids.type().getDimSize(0), ids.type().getDimSize(1),
                        slots) ||
      slots > std::numeric_limits<int32_t>::max())
    return emitOpError("expected less than 2^31 slots, got ")
           << ids.type().getDimSize(0) << " times " << ids.type().getDimSize(1);
  int64_t count = rows.type().getDimSize(0);
  if (!ShapedType::isDynamic(count) && count != slots)
    return emitOpError("expected rows to have S * J = ")
           << slots << " elements, got " << count;
  return success();
}

/// S * J
static OpFoldResult getSlots(OpBuilder &builder, SortRoutesOp op) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, op.getLoc(), op.getIds());
  AffineExpr s, j;
  bindSymbols(builder.getContext(), s, j);
  std::optional<int64_t> known = getConstantIntValue(sizes[1]);
  if (known)
    return affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                                 s * *known, {sizes[0]});
  Value rows = getValueOrCreateConstantIndexOp(builder, op.getLoc(), sizes[0]);
  Value slots = getValueOrCreateConstantIndexOp(builder, op.getLoc(), sizes[1]);
  return builder.createOrFold<arith::MulIOp>(op.getLoc(), rows, slots);
}

LogicalResult SortRoutesOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  reifiedReturnShapes = {
      withStaticSizes(builder, {OpFoldResult(getGroups())}, getOffsets()),
      withStaticSizes(builder, {getSlots(builder, *this)}, getRows()),
      withStaticSizes(builder,
                      tensor::getMixedSizes(builder, getLoc(), getIds()),
                      getPositions())};
  return success();
}

void SortRoutesOp::generateRuntimeVerification(
    OpBuilder &builder, Location loc,
    function_ref<std::string(Operation *, StringRef)> generateErrorMessage) {
  SizeChecker check(builder, loc, *this, generateErrorMessage);
  if (!getConstantIntValue(getGroups())) {
    checkResultSize(check, {"offsets", getOffsets()}, 0, getGroups(),
                    "as many elements as there are groups");
    if (isDynamic(getOffsets(), 0)) {
      check.expect(check.isPositive(getGroups()), "at least 1 group");
      check.expect(check.isAtMost(getGroups(), kMostGroups),
                   "at most " + Twine(kMostGroups) + " groups");
    }
  }
  if (isDynamic(getIds(), 1))
    check.expect(check.isPositive(check.getSize(getIds(), 1)),
                 "J to be at least 1");
  if (!isDynamic(getIds(), 0) && !isDynamic(getIds(), 1))
    return;
  // So that their product does not overflow.
  for (int64_t dim : {0, 1})
    if (isDynamic(getIds(), dim))
      check.expect(check.isAtMost(check.getSize(getIds(), dim),
                                  std::numeric_limits<int32_t>::max()),
                   "less than 2^31 slots");
  Value slots =
      getValueOrCreateConstantIndexOp(builder, loc, getSlots(builder, *this));
  check.expect(check.isAtMost(slots, std::numeric_limits<int32_t>::max()),
               "less than 2^31 slots");
  checkResultSize(check, {"rows", getRows()}, 0, slots, "S * J elements");
  for (int64_t dim : {0, 1})
    if (isDynamic(getIds(), dim))
      checkResultSize(check, {"positions", getPositions()}, dim,
                      check.getSize(getIds(), dim),
                      dim == 0 ? "the S of ids" : "the J of ids");
}
