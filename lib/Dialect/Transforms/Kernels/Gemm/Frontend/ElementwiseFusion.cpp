//===- ElementwiseFusion.cpp - Elementwise ops around a GEMM --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/ElementwiseFusion.h"

#include "Fragments/AccLowering.h"
#include "Utils/PackedElements.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Whether `type` is a scalar, or a tensor of scalars, that loads and
/// parameters take: neither narrower than a byte nor a narrow float.
static bool isStorable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor && isa<ShapedType>(type))
    return false;
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ||
         (element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0 &&
          (isa<IntegerType>(element) || element.getIntOrFloatBitWidth() > 8));
}

/// Whether the body uses only its arguments, scalars and loop indices.
static bool isElementwiseBody(Block &body) {
  for (Operation &op : body.without_terminator()) {
    if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op) ||
        !isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                         linalg::LinalgDialect>(op.getDialect()))
      return false;
  }
  auto isTaken = [&](Value value) {
    return value.getParentBlock() == &body ||
           matchPattern(value, m_Constant()) || isStorable(value.getType());
  };
  return llvm::all_of(body, [&](Operation &op) {
    return llvm::all_of(op.getOperands(), isTaken);
  });
}

bool blockscale::isElementwiseOnMemory(linalg::LinalgOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isStorable(operand.get().getType()))
      return false;
    // Broadcasts and transposes: each index is a loop or a constant.
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return false;
  }
  return isElementwiseBody(*op.getBlock());
}

/// Whether `op` has one result and computes each element of it independently.
static bool isElementwise(linalg::GenericOp op) {
  return op.getNumDpsInits() == 1 && op->getNumResults() == 1 &&
         op.hasPureTensorSemantics() &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         isElementwiseOnMemory(cast<linalg::LinalgOp>(op.getOperation()));
}

/// Whether ops other than `user` ask only for sizes of `value`.
static bool isUsedOnceBy(Value value, Operation *user) {
  unsigned numUses = 0;
  for (OpOperand &use : value.getUses()) {
    if (use.getOwner() == user)
      ++numUses;
    else if (!isa<tensor::DimOp>(use.getOwner()))
      return false;
  }
  return numUses == 1;
}

linalg::GenericOp blockscale::findElementwiseProducer(ProductOpInterface op) {
  auto producer = op.getAcc().getDefiningOp<linalg::GenericOp>();
  if (!producer || !isUsedOnceBy(op.getAcc(), op) || !isElementwise(producer))
    return {};
  return producer;
}

linalg::GenericOp blockscale::findElementwiseConsumer(ProductOpInterface op) {
  Value result = op->getResult(0);
  if (!result.hasOneUse())
    return {};
  auto consumer = dyn_cast<linalg::GenericOp>(*result.user_begin());
  if (!consumer || !isElementwise(consumer) ||
      consumer->getBlock() != op->getBlock())
    return {};
  OpOperand *use = &*result.use_begin();
  if (!consumer.isDpsInput(use) ||
      !consumer.getMatchingIndexingMap(use).isIdentity())
    return {};
  return consumer;
}

/// Whether `type` is that of a result whose columns are expanded to blocks of
/// pairs.
static bool isExpandedToPairs(tensor::ExpandShapeOp expand) {
  auto type = cast<RankedTensorType>(expand.getType());
  return type.getRank() == 4 &&
         expand.getReassociationIndices() ==
             ArrayRef<ReassociationIndices>{{0}, {1, 2, 3}} &&
         type.getShape().take_back(2) == ArrayRef<int64_t>{2, kPairDistance};
}

/// Which element of a pair an operand with this map reads.
static std::optional<int64_t> getHalf(AffineMap map) {
  if (map.getNumResults() != 4)
    return std::nullopt;
  auto half = dyn_cast<AffineConstantExpr>(map.getResult(2));
  bool isRest = map.dropResult(2).isIdentity();
  return half && isRest ? std::optional(half.getValue()) : std::nullopt;
}

linalg::GenericOp blockscale::findPairConsumer(ProductOpInterface op) {
  Value result = op->getResult(0);
  if (!result.hasOneUse())
    return {};
  auto expand = dyn_cast<tensor::ExpandShapeOp>(*result.user_begin());
  if (!expand || !isExpandedToPairs(expand) || !expand.getResult().hasNUses(2))
    return {};
  auto consumer = dyn_cast<linalg::GenericOp>(*expand->user_begin());
  if (!consumer || !isElementwise(consumer) ||
      consumer->getBlock() != op->getBlock() || consumer.getNumLoops() != 3)
    return {};
  SmallVector<int64_t, 2> halves;
  for (OpOperand *operand : consumer.getDpsInputOperands()) {
    AffineMap map = consumer.getMatchingIndexingMap(operand);
    if (operand->get() == expand.getResult()) {
      std::optional<int64_t> half = getHalf(map);
      if (!half)
        return {};
      halves.push_back(*half);
    } else if (map.getNumResults() != 0) {
      return {};
    }
  }
  bool isPair =
      halves == ArrayRef<int64_t>{0, 1} || halves == ArrayRef<int64_t>{1, 0};
  bool readsInit =
      consumer.payloadUsesValueFromOperand(consumer.getDpsInitOperand(0));
  return isPair && !readsInit ? consumer : linalg::GenericOp();
}

Value blockscale::findJoinedPairs(linalg::GenericOp consumer) {
  Value result = consumer->getResult(0);
  if (!result.hasOneUse())
    return {};
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(*result.user_begin());
  bool isJoined = collapse && collapse->getBlock() == consumer->getBlock() &&
                  collapse.getReassociationIndices() ==
                      ArrayRef<ReassociationIndices>{{0}, {1, 2}};
  return isJoined ? collapse.getResult() : Value();
}

QuantizeOp blockscale::findQuantizer(Value result) {
  auto users = result.getUsers();
  auto user = llvm::find_if(users, llvm::IsaPred<QuantizeOp>);
  if (user == users.end() || !isUsedOnceBy(result, *user))
    return {};
  auto op = cast<QuantizeOp>(*user);
  // Tiles of a product do not have whole rows, nor 128 of them.
  if (op.getX() != result || op->getBlock() != result.getParentBlock() ||
      op.hasCoarseScales())
    return {};
  int64_t columns = cast<ShapedType>(result.getType()).getShape().back();
  bool isWhole = !op.getPad() || (!ShapedType::isDynamic(columns) &&
                                  columns % op.getBlock() == 0);
  return isWhole ? op : QuantizeOp();
}

ProductOpInterface blockscale::findProductOf(QuantizeOp op) {
  if (findQuantizer(op.getX()) != op)
    return {};
  auto isTaken = [](ProductOpInterface product) {
    auto path = product->getAttrOfType<PathAttr>(kPathAttrName);
    // The reference kernel fuses nothing.
    return path && !getPathInfo(path.getValue()).opcode.empty();
  };
  Operation *producer = op.getX().getDefiningOp();
  if (auto product = dyn_cast_or_null<ProductOpInterface>(producer);
      product && isTaken(product))
    return product;
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(producer)) {
    auto pairs = collapse.getSrc().getDefiningOp<linalg::GenericOp>();
    if (!pairs || findJoinedPairs(pairs) != op.getX())
      return {};
    for (OpOperand *operand : pairs.getDpsInputOperands())
      if (auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>())
        if (auto product = expand.getSrc().getDefiningOp<ProductOpInterface>();
            product && findPairConsumer(product) == pairs && isTaken(product))
          return product;
    return {};
  }
  auto consumer = dyn_cast_or_null<linalg::GenericOp>(producer);
  if (!consumer)
    return {};
  for (OpOperand *operand : consumer.getDpsInputOperands())
    if (auto product = operand->get().getDefiningOp<ProductOpInterface>();
        product && findElementwiseConsumer(product) == consumer &&
        isTaken(product))
      return product;
  return {};
}

SmallVector<OpOperand *> blockscale::getUsedOperands(linalg::GenericOp op) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands())
    if (op.payloadUsesValueFromOperand(&operand))
      operands.push_back(&operand);
  return operands;
}

SetVector<Value> blockscale::getCapturedScalars(linalg::GenericOp op) {
  SetVector<Value> scalars;
  Block &body = *op.getBody();
  for (Operation &inner : body)
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != &body &&
          !matchPattern(operand, m_Constant()))
        scalars.insert(operand);
  return scalars;
}

Value blockscale::emitElement(
    OpBuilder &builder, linalg::GenericOp op, ArrayRef<Value> position,
    function_ref<Value(OpBuilder &, Value, ArrayRef<Value>)> getInput) {
  Location loc = op.getLoc();
  IRMapping mapping;
  Block &body = *op.getBody();
  for (OpOperand *operand : getUsedOperands(op)) {
    SmallVector<Value> indices = applyMap(
        builder, loc, op.getMatchingIndexingMap(operand), ValueRange(position));
    mapping.map(op.getMatchingBlockArgument(operand),
                getInput(builder, operand->get(), indices));
  }
  for (Value scalar : getCapturedScalars(op))
    mapping.map(scalar, getInput(builder, scalar, {}));
  // Constants from around the op.
  auto capture = [&](Value value) {
    if (value.getParentBlock() != &body && !mapping.contains(value))
      mapping.map(value, builder.clone(*value.getDefiningOp())->getResult(0));
  };
  for (Operation &inner : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), position[index.getDim()]);
      continue;
    }
    for (Value operand : inner.getOperands())
      capture(operand);
    builder.clone(inner, mapping);
  }
  Value yielded = body.getTerminator()->getOperand(0);
  capture(yielded);
  return mapping.lookup(yielded);
}
