//===- ErrorBounds.cpp - A function that computes error bounds ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each value of the function has a companion: the bound of its error, or none
// where it is exact. Bounds of products come from the same op on magnitudes.
//
//===----------------------------------------------------------------------===//

#include "ErrorBounds.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class BoundBuilder {
public:
  explicit BoundBuilder(func::FuncOp function)
      : function(function), builder(function.getContext()) {}

  std::vector<std::string> run();

private:
  Value getBound(Value value) const { return bounds.lookup(value); }
  /// The bound, 0 where a value is exact.
  Value getBoundOrZero(Value value) {
    Value bound = getBound(value);
    return bound ? bound : makeConstant(value, 0);
  }
  Value makeSum(Value a, Value b) {
    return arith::AddFOp::create(builder, a.getLoc(), a, b);
  }
  Value makeProduct(Value a, Value b) {
    return arith::MulFOp::create(builder, a.getLoc(), a, b);
  }
  /// The name of the op that the bound of a value got lost in.
  StringRef getUnknown(Value value) const { return unknown.lookup(value); }

  void visit(Operation &op);
  void visitMma(MmaScaledOp op);
  void visitMatmul(linalg::LinalgOp op);
  /// Of a product that adds `k` terms, the magnitudes of which are `sum`.
  void setProductBound(Operation *op, Value acc, Value sum, Value k,
                       double relative);
  void visitSum(Operation &op);
  void visitProduct(Operation &op);
  void visitExtremum(Operation &op);
  void visitMove(Operation &op);

  Value makeFill(Value like, Type element, Value scalar);
  Value makeConstant(Value like, double value);
  Value makeSize(Value like, Value tensor, unsigned dim);
  Value makeMagnitude(Value value);

  func::FuncOp function;
  OpBuilder builder;
  DenseMap<Value, Value> bounds;
  DenseMap<Value, StringRef> unknown;
};
} // namespace

static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isF32();
}

/// The dimension along K of the first operand of a product that tensor cores
/// may compute; nullopt for other ops.
static std::optional<unsigned> getPlainKDim(Operation *op) {
  if (!isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op) ||
      op->getNumResults() != 1 || !isFloatTensor(op->getResult(0).getType()))
    return std::nullopt;
  auto matmul = cast<linalg::LinalgOp>(op);
  for (OpOperand *input : matmul.getDpsInputOperands())
    if (!getPlainFormat(getElementTypeOrSelf(input->get())))
      return std::nullopt;
  AffineExpr k = getAffineDimExpr(matmul.getNumLoops() - 1, op->getContext());
  return matmul.getMatchingIndexingMap(matmul.getDpsInputOperand(0))
      .getResultPosition(k);
}

static bool containsMma(Operation &op) {
  return op.walk([](MmaScaledOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// A tensor of the sizes of `like` with `scalar` everywhere.
Value BoundBuilder::makeFill(Value like, Type element, Value scalar) {
  Location loc = like.getLoc();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), element);
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

/// A tensor of the sizes of `like` with `value` everywhere, as f32.
Value BoundBuilder::makeConstant(Value like, double value) {
  auto type = cast<RankedTensorType>(like.getType());
  FloatAttr attr = builder.getF32FloatAttr(value);
  if (type.hasStaticShape())
    return arith::ConstantOp::create(
        builder, like.getLoc(),
        SplatElementsAttr::get(type.clone(builder.getF32Type()), attr));
  Value scalar = arith::ConstantOp::create(builder, like.getLoc(), attr);
  return makeFill(like, builder.getF32Type(), scalar);
}

/// A tensor of the sizes of `like` with a size of `tensor` everywhere, as f32.
Value BoundBuilder::makeSize(Value like, Value tensor, unsigned dim) {
  int64_t known = cast<ShapedType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(known))
    return makeConstant(like, static_cast<double>(known));
  Location loc = like.getLoc();
  Value size = tensor::DimOp::create(builder, loc, tensor, dim);
  size = arith::IndexCastUIOp::create(builder, loc, builder.getI64Type(), size);
  size = arith::UIToFPOp::create(builder, loc, builder.getF32Type(), size);
  return makeFill(like, builder.getF32Type(), size);
}

/// |value|: all bits but the sign, which is the highest bit of every format.
Value BoundBuilder::makeMagnitude(Value value) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  unsigned bits = type.getElementTypeBitWidth();
  Type integer = builder.getIntegerType(bits);
  auto integers = type.clone(integer);
  auto most = IntegerAttr::get(integer, APInt::getSignedMaxValue(bits));
  Value mask;
  if (type.hasStaticShape())
    mask = arith::ConstantOp::create(builder, loc,
                                     SplatElementsAttr::get(integers, most));
  else
    mask =
        makeFill(value, integer, arith::ConstantOp::create(builder, loc, most));
  value = arith::BitcastOp::create(builder, loc, integers, value);
  value = arith::AndIOp::create(builder, loc, value, mask);
  return arith::BitcastOp::create(builder, loc, type, value);
}

void BoundBuilder::visitMma(MmaScaledOp op) {
  auto x = cast<ShapedType>(op.getX().getType());
  auto magnitude = cast<MmaScaledOp>(builder.clone(*op));
  magnitude.getXMutable().assign(makeMagnitude(op.getX()));
  magnitude.getYMutable().assign(makeMagnitude(op.getY()));
  magnitude.getAccMutable().assign(makeMagnitude(op.getAcc()));
  magnitude->moveAfter(&*std::prev(builder.getInsertionPoint()));

  Value sum = magnitude.getResult();
  setProductBound(op, op.getAcc(), sum,
                  makeSize(sum, op.getX(), x.getRank() - 1),
                  std::ldexp(1.0, -22));
}

void BoundBuilder::visitMatmul(linalg::LinalgOp op) {
  Operation *magnitude = builder.clone(*op);
  for (OpOperand &operand : magnitude->getOpOperands())
    operand.set(makeMagnitude(operand.get()));
  magnitude->moveAfter(&*std::prev(builder.getInsertionPoint()));
  Value sum = magnitude->getResult(0);
  // The reference, too, rounds each of its sums.
  setProductBound(op, op.getDpsInits()[0], sum,
                  makeSize(sum, op.getDpsInputs()[0], *getPlainKDim(op)),
                  std::ldexp(1.0, -22) + std::ldexp(1.0, -24));
}

void BoundBuilder::setProductBound(Operation *op, Value acc, Value sum, Value k,
                                   double relative) {
  Value bound = makeProduct(sum, makeConstant(sum, relative));
  bound = makeProduct(bound, k);
  bound = makeSum(bound, makeConstant(sum, std::ldexp(1.0, -122)));
  if (Value accBound = getBound(acc))
    bound = makeSum(bound, accBound);
  Value isLarge =
      arith::CmpFOp::create(builder, op->getLoc(), arith::CmpFPredicate::OGT,
                            sum, makeConstant(sum, std::ldexp(1.0, 126)));
  bounds[op->getResult(0)] = arith::SelectOp::create(
      builder, op->getLoc(), isLarge,
      makeConstant(sum, std::numeric_limits<double>::infinity()), bound);
}

/// What the rounding of an f32 may add.
static double getRoundingError() { return std::ldexp(1.0, -23); }

/// Errors of a sum: those of both sides, and of its own rounding.
void BoundBuilder::visitSum(Operation &op) {
  Value result = op.getResult(0);
  Value bound = makeProduct(makeMagnitude(result),
                            makeConstant(result, getRoundingError()));
  for (Value operand : op.getOperands())
    if (Value operandBound = getBound(operand))
      bound = makeSum(bound, operandBound);
  bounds[result] = bound;
}

/// (a + e) (b + f) - a b, and its own rounding.
void BoundBuilder::visitProduct(Operation &op) {
  Value result = op.getResult(0);
  Value a = op.getOperand(0), b = op.getOperand(1);
  Value boundA = getBoundOrZero(a), boundB = getBoundOrZero(b);
  Value bound = makeProduct(makeMagnitude(result),
                            makeConstant(result, getRoundingError()));
  Value fromA = makeProduct(makeMagnitude(a), boundB);
  bound = makeSum(bound, fromA);
  Value fromB = makeProduct(makeMagnitude(b), boundA);
  bound = makeSum(bound, fromB);
  Value fromBoth = makeProduct(boundA, boundB);
  bounds[result] = makeSum(bound, fromBoth);
}

/// The larger or smaller of two is off by no more than either.
void BoundBuilder::visitExtremum(Operation &op) {
  Value boundA = getBoundOrZero(op.getOperand(0));
  Value boundB = getBoundOrZero(op.getOperand(1));
  bounds[op.getResult(0)] =
      arith::MaximumFOp::create(builder, op.getLoc(), boundA, boundB);
}

/// An op that moves elements moves their bounds.
void BoundBuilder::visitMove(Operation &op) {
  IRMapping mapping;
  for (Value operand : op.getOperands()) {
    if (!isFloatTensor(operand.getType()))
      continue;
    mapping.map(operand, getBoundOrZero(operand));
  }
  Operation *moved = builder.clone(op, mapping);
  for (auto [result, bound] : llvm::zip(op.getResults(), moved->getResults()))
    bounds[result] = bound;
}

void BoundBuilder::visit(Operation &op) {
  builder.setInsertionPointAfter(&op);
  StringRef lost;
  bool isInexact = false;
  for (Value operand : op.getOperands()) {
    isInexact |= getBound(operand) != nullptr;
    if (lost.empty())
      lost = getUnknown(operand);
  }
  auto mma = dyn_cast<MmaScaledOp>(op);
  bool isKnownMatmul = getPlainKDim(&op) && !getBound(op.getOperand(0)) &&
                       !getBound(op.getOperand(1));
  bool isKnownMma = mma && isFloatTensor(mma.getType()) &&
                    !getBound(mma.getX()) && !getBound(mma.getY());
  // A computation that is not looked into.
  bool isHidden = isa<CallOpInterface>(op) || (!mma && containsMma(op));
  if (!lost.empty()) {
    for (Value result : op.getResults())
      unknown[result] = lost;
  } else if (isKnownMma) {
    visitMma(mma);
  } else if (isKnownMatmul) {
    visitMatmul(cast<linalg::LinalgOp>(op));
  } else if (!isInexact && !mma && !isHidden) {
    return;
  } else if (isa<arith::AddFOp, arith::SubFOp>(op) &&
             isFloatTensor(op.getResult(0).getType())) {
    visitSum(op);
  } else if (isa<arith::MulFOp>(op) &&
             isFloatTensor(op.getResult(0).getType())) {
    visitProduct(op);
  } else if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                 arith::MinNumFOp>(op) &&
             isFloatTensor(op.getResult(0).getType())) {
    visitExtremum(op);
  } else if (isa<linalg::TransposeOp, tensor::ExtractSliceOp,
                 tensor::InsertSliceOp, tensor::CollapseShapeOp,
                 tensor::ExpandShapeOp, arith::SelectOp>(op) &&
             llvm::all_of(op.getResultTypes(), isFloatTensor)) {
    visitMove(op);
  } else if (isa<arith::NegFOp>(op)) {
    bounds[op.getResult(0)] = getBound(op.getOperand(0));
  } else {
    for (Value result : op.getResults())
      unknown[result] = op.getName().getStringRef();
  }
}

std::vector<std::string> BoundBuilder::run() {
  std::vector<std::string> names;
  if (!function.getBody().hasOneBlock())
    return std::vector<std::string>(function.getNumResults());
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    visit(op);
  Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &operand : end->getOpOperands()) {
    Value value = operand.get();
    names.push_back(getUnknown(value).str());
    if (!isFloatTensor(value.getType()))
      continue;
    Value bound = names.back().empty() ? getBound(value) : Value();
    operand.set(bound ? bound : makeConstant(value, 0));
  }
  return names;
}

std::vector<std::string> blockscale::returnErrorBounds(func::FuncOp function) {
  return BoundBuilder(function).run();
}
