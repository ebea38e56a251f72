//===- ElementwiseFusion.cpp - Around an mma_scaled -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementwiseFusion.h"

#include "CodeAccess.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_JOINELEMENTWISEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// What a kernel can take over
//===----------------------------------------------------------------------===//

/// Memory of a type below a byte, or of narrow floats, is not what loads take.
static bool isStorable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  Type element = tensor.getElementType();
  return element.isIndex() ||
         (element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0 &&
          (isa<IntegerType>(element) || element.getIntOrFloatBitWidth() > 8));
}

/// Whether the body needs nothing but its arguments, constants and loop
/// indices.
static bool isPlainBody(Block &body) {
  for (Operation &op : body.without_terminator()) {
    if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op) ||
        !isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                         linalg::LinalgDialect>(op.getDialect()))
      return false;
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &body &&
          !matchPattern(operand, m_Constant()))
        return false;
  }
  Value yielded = body.getTerminator()->getOperand(0);
  return yielded.getParentBlock() == &body ||
         matchPattern(yielded, m_Constant());
}

/// Whether `op` makes each element of its one result by itself.
static bool isElementwise(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op->getNumResults() != 1 ||
      !op.hasPureTensorSemantics() ||
      op.getNumParallelLoops() != op.getNumLoops())
    return false;
  OpOperand *init = op.getDpsInitOperand(0);
  if (!op.getMatchingIndexingMap(init).isIdentity() ||
      op.payloadUsesValueFromOperand(init) ||
      !isStorable(init->get().getType()))
    return false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isStorable(input->get().getType()))
      return false;
    // Broadcasts and transposes: each index is a loop or a constant.
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr))
        return false;
  }
  return isPlainBody(*op.getBody());
}

linalg::GenericOp blockscale::findElementwiseProducer(MmaScaledOp op) {
  auto producer = op.getAcc().getDefiningOp<linalg::GenericOp>();
  if (!producer || !op.getAcc().hasOneUse() || !isElementwise(producer))
    return {};
  return producer;
}

linalg::GenericOp blockscale::findElementwiseConsumer(MmaScaledOp op) {
  Value result = op.getResult();
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

Value blockscale::emitElement(
    OpBuilder &builder, linalg::GenericOp op, ArrayRef<Value> position,
    function_ref<Value(OpBuilder &, unsigned, ArrayRef<Value>)> getInput) {
  Location loc = op.getLoc();
  IRMapping mapping;
  Block &body = *op.getBody();
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    SmallVector<Value> indices = applyMap(
        builder, loc, op.getMatchingIndexingMap(input), ValueRange(position));
    mapping.map(argument,
                getInput(builder, input->getOperandNumber(), indices));
  }
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

//===----------------------------------------------------------------------===//
// One op on each side
//===----------------------------------------------------------------------===//

namespace {

/// Elementwise and broadcasting named ops, but not those that lowerings look
/// through or that fill memory.
struct GeneralizeElementwise final
    : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::TransposeOp, linalg::CopyOp>(
            op.getOperation()) ||
        !op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "expected a named op on tensors");
    bool isFill = isa<linalg::FillOp>(op.getOperation());
    if (isFill && !isAccumulator(op))
      return rewriter.notifyMatchFailure(op, "expected an accumulator");
    if (!isFill &&
        !isa<linalg::BroadcastOp, linalg::MapOp>(op.getOperation()) &&
        !linalg::isElementwise(op))
      return rewriter.notifyMatchFailure(op, "expected an elementwise op");
    return linalg::generalizeNamedOp(rewriter, op);
  }

private:
  /// A fill with something other than zero, which no op needs to load.
  static bool isAccumulator(linalg::LinalgOp op) {
    Value result = op->getResult(0);
    auto mma = result.hasOneUse() ? dyn_cast<MmaScaledOp>(*result.user_begin())
                                  : MmaScaledOp();
    return mma && mma.getAcc() == result &&
           matchPattern(op.getDpsInputs().front(), m_Constant()) &&
           !matchPattern(op.getDpsInputs().front(), m_AnyZeroFloat());
  }
};

struct JoinElementwisePass final
    : mlir::blockscale::impl::JoinElementwisePassBase<JoinElementwisePass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    WalkResult hasMma = function.walk([](MmaScaledOp op) -> WalkResult {
      return WalkResult(failure(op.hasTensorSemantics()));
    });
    if (!hasMma.wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    patterns.add<GeneralizeElementwise>(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [](OpOperand *use) { return use->get().hasOneUse(); });
    if (failed(applyPatternsGreedily(function, std::move(patterns)))) {
      emitError(function.getLoc(), "elementwise ops did not converge");
      signalPassFailure();
    }
  }
};

} // namespace
