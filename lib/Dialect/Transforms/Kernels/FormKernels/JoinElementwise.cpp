//===- JoinElementwise.cpp - One elementwise op on each side --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel fuses one elementwise op in front of a GEMM or row-wise op and one
// behind it. So elementwise ops that feed one another are first joined to one.
//
//===----------------------------------------------------------------------===//

#include "Kernels/RowWise/RowOps.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_JOINELEMENTWISEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// Whether `op` gets a GEMM kernel.
static bool isProduct(Operation *op) {
  auto product = dyn_cast<ProductOpInterface>(op);
  return product && product.hasTensorSemantics() &&
         (isa<MmaScaledOp>(op) || op->hasAttr(kPathAttrName));
}

/// Whether `op` gets a kernel for reductions.
static bool isReduction(Operation *op) {
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  return loops && !isProduct(op) && isRowReduction(loops);
}

namespace {

/// Elementwise and broadcasting named ops, and reductions along rows, but not
/// those that lowerings look through or that fill memory.
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
    if (isFill && !isWanted(op))
      return rewriter.notifyMatchFailure(op, "expected an accumulator or a "
                                             "scalar that is no constant");
    if (!isFill &&
        !isa<linalg::BroadcastOp, linalg::MapOp>(op.getOperation()) &&
        !linalg::isElementwise(op) && !isReduction(op))
      return rewriter.notifyMatchFailure(op, "expected an elementwise op or a "
                                             "reduction along rows");
    return linalg::generalizeNamedOp(rewriter, op);
  }

private:
  /// A fill that kernels compute instead of loading: with a scalar, or of an
  /// accumulator with a value other than zero.
  static bool isWanted(linalg::LinalgOp op) {
    Value scalar = op.getDpsInputs().front();
    if (!matchPattern(scalar, m_Constant()))
      return true;
    Value result = op->getResult(0);
    auto product = result.hasOneUse()
                       ? dyn_cast<ProductOpInterface>(*result.user_begin())
                       : ProductOpInterface();
    return product && product.getAcc() == result &&
           !matchPattern(scalar, m_AnyZeroFloat());
  }
};

/// A result has the sizes of its destination. Sizes are asked there, so that
/// they are no use of an op that may be joined to another one.
struct SizeOfResult final : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto generic = op.getSource().getDefiningOp<linalg::GenericOp>();
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!generic || !dim)
      return rewriter.notifyMatchFailure(op, "expected a known dimension of a "
                                             "result of linalg.generic");
    Value init =
        generic.getTiedOpOperand(cast<OpResult>(op.getSource()))->get();
    auto type = cast<RankedTensorType>(init.getType());
    auto empty = init.getDefiningOp<tensor::EmptyOp>();
    if (empty && *dim >= 0 && *dim < type.getRank() && type.isDynamicDim(*dim))
      rewriter.replaceOp(op, empty.getDynamicSize(*dim));
    else
      rewriter.modifyOpInPlace(op, [&] { op.getSourceMutable().assign(init); });
    return success();
  }
};

/// A tensor of one scalar is filled with that.
struct SplatToFill final : OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::SplatOp op,
                                PatternRewriter &rewriter) const override {
    Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), op.getType(),
                                          op.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, op.getInput(), empty);
    return success();
  }
};

struct JoinElementwisePass final
    : mlir::blockscale::impl::JoinElementwisePassBase<JoinElementwisePass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    WalkResult takesOver = function.walk([](Operation *op) -> WalkResult {
      return WalkResult(failure(isProduct(op) || isReduction(op)));
    });
    if (!takesOver.wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    patterns.add<GeneralizeElementwise, SizeOfResult, SplatToFill>(
        &getContext());
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [](OpOperand *use) { return use->get().hasOneUse(); });
    // An elementwise op on a reshaped result becomes one on the result itself,
    // which is reshaped afterwards.
    auto isOfProduct = [](OpOperand *use) {
      auto expand = use->get().getDefiningOp<tensor::ExpandShapeOp>();
      Operation *producer = expand ? expand.getSrc().getDefiningOp() : nullptr;
      return producer && (isProduct(producer) || isReduction(producer));
    };
    linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, isOfProduct);
    if (failed(applyPatternsGreedily(function, std::move(patterns)))) {
      emitError(function.getLoc(), "elementwise ops did not converge");
      signalPassFailure();
    }
  }
};

} // namespace
