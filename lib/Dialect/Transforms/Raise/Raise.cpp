//===- Raise.cpp - Upstream contractions as mma_scaled --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass and its patterns. Matching is separate from rewriting, because
// remarks about failures need only the matching.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseBlocks.h"
#include "Raise/RaiseGroupLoop.h"
#include "Raise/RaiseRowGroups.h"
#include "Raise/RaiseSparse.h"
#include "Raise/RaiseWeights.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_RAISEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// Whether one of two values has a known size along K.
static bool hasKnownSize(Side side, Value first, Side otherSide, Value second) {
  auto isKnown = [](Side side, Value value) {
    auto type = cast<ShapedType>(value.getType());
    return !type.isDynamicDim(MmaScaledOp::getKDim(side, type.getRank()));
  };
  return isKnown(side, first) || isKnown(otherSide, second);
}

namespace {
/// The match of a contraction: as one of both forms, or as none, perhaps with a
/// reason why it is not `target`.
struct Outcome {
  std::optional<RaiseMatch> product;
  std::optional<WeightsMatch> weights;
  StringRef target = "blockscale.mma_scaled";
  std::string reason;

  explicit operator bool() const { return product || weights; }
};
} // namespace

static Outcome match(Operation *op, const RaiseOptions &options) {
  Outcome outcome;
  // It has remarks of its own.
  if (judgeRowGroups(op, options))
    return outcome;
  outcome.weights = matchWeights(op, options, outcome.reason);
  if (outcome.weights || !outcome.reason.empty()) {
    outcome.target = "blockscale.dequantize";
    return outcome;
  }
  outcome.product = matchMmaScaled(op, options, outcome.reason);
  return outcome;
}

namespace {
/// A form that a pattern of its own raises.
struct OtherForm {
  std::optional<Verdict> (*judge)(Operation *op, const RaiseOptions &options);
  /// What an op of this form is if nobody raises it.
  StringRef state;
};
} // namespace

static constexpr OtherForm kOtherForms[] = {
    {judgeSparse, "a product of a decompressed operand is dense"},
    {judgeGroupLoop, "products of groups of rows stay a loop"},
    {judgeRowGroups,
     "a product whose rows name their matrices stays scalar arithmetic"},
};

/// Says why ops of these forms are not raised; with `reportOnly`, also which
/// would be.
static void remarkOnOtherForms(Operation *op, const RaiseOptions &options,
                               bool reportOnly) {
  for (const OtherForm &form : kOtherForms) {
    std::optional<Verdict> verdict = form.judge(op, options);
    if (!verdict)
      continue;
    if (!verdict->isRaised())
      emitRemark(op->getLoc(), "not raised to ")
          << verdict->target << ": " << verdict->reason;
    else if (reportOnly)
      emitRemark(op->getLoc(), form.state)
          << "; blockscale-raise (--raise) makes it " << verdict->target;
  }
}

static LogicalResult raise(Operation *op, const RaiseOptions &options,
                           PatternRewriter &rewriter) {
  Outcome outcome = match(op, options);
  if (!outcome)
    return rewriter.notifyMatchFailure(op, [&](Diagnostic &diagnostic) {
      diagnostic << (outcome.reason.empty() ? "expected block-scaled operands"
                                            : outcome.reason);
    });
  if (outcome.weights) {
    rewriter.replaceOp(op, createProduct(rewriter, op, *outcome.weights));
    return success();
  }

  const std::optional<RaiseMatch> &match = outcome.product;
  Location loc = op->getLoc();
  int64_t block = match->block;
  Value x = createOperand(rewriter, loc, match->x.element);
  Value xScale = createScales(rewriter, loc, match->x, x, Side::X, block);
  Value y = createOperand(rewriter, loc, match->y.element);
  Value yScale = createScales(rewriter, loc, match->y, y, Side::Y, block);
  bool isKnown = hasKnownSize(Side::X, x, Side::Y, y) &&
                 hasKnownSize(Side::X, xScale, Side::Y, yScale);
  IntegerAttr blockSize = isKnown ? nullptr : match->getBlockSize();
  if (match->tensorScales.empty()) {
    auto product = rewriter.replaceOpWithNewOp<MmaScaledOp>(
        op, x, xScale, y, yScale, match->acc, blockSize);
    if (ScaleBlockAttr xBlock = match->getScaleBlock(Side::X))
      product.setXScaleBlockAttr(xBlock);
    if (ScaleBlockAttr yBlock = match->getScaleBlock(Side::Y))
      product.setYScaleBlockAttr(yBlock);
    return success();
  }
  Value zero = createZeros(rewriter, loc, match->acc);
  Value product =
      MmaScaledOp::create(rewriter, loc, x, xScale, y, yScale, zero, blockSize);
  rewriter.replaceOp(
      op, scaleAndAdd(rewriter, loc, product, match->tensorScales, match->acc));
  return success();
}

namespace {

template <typename Pattern, typename Op>
struct RaiseOp final : Pattern {
  RaiseOp(MLIRContext *context, const RaiseOptions &options)
      : Pattern(context), options(options) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    return raise(op, options, rewriter);
  }

private:
  RaiseOptions options;
};
using RaiseLinalg =
    RaiseOp<OpInterfaceRewritePattern<linalg::LinalgOp>, linalg::LinalgOp>;
using RaiseVectorContract =
    RaiseOp<OpRewritePattern<vector::ContractionOp>, vector::ContractionOp>;

struct RaisePass final : mlir::blockscale::impl::RaisePassBase<RaisePass> {
  using Base::Base;

  void runOnOperation() override {
    RaiseOptions options;
    options.assumePositiveScales = assumePositiveScales;
    if (reportOnly)
      return report(options);
    RewritePatternSet patterns(&getContext());
    populateRaisePatterns(patterns, options);
    // Other ops do not change.
    GreedyRewriteConfig config;
    config.enableFolding(false)
        .enableConstantCSE(false)
        .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     config))) {
      emitError(getOperation()->getLoc(), "raising did not converge");
      return signalPassFailure();
    }
    // The remaining contractions were not raised.
    getOperation()->walk([&](Operation *op) {
      remarkOnOtherForms(op, options, /*reportOnly=*/false);
      Outcome outcome = match(op, options);
      if (!outcome && !outcome.reason.empty())
        // At the location: a remark at the op would print the op, which takes
        // time proportional to its function to name operands.
        emitRemark(op->getLoc(), "not raised to ")
            << outcome.target << ": " << outcome.reason;
    });
  }

private:
  void report(const RaiseOptions &options) {
    getOperation()->walk([&](Operation *op) {
      remarkOnOtherForms(op, options, /*reportOnly=*/true);
      Outcome outcome = match(op, options);
      if (outcome)
        emitRemark(op->getLoc(), "a block-scaled matmul stays scalar "
                                 "arithmetic; blockscale-raise (--raise) makes "
                                 "it ")
            << (outcome.weights ? "blockscale.dequantize and a matmul"
                                : outcome.target);
      else if (!outcome.reason.empty())
        emitRemark(op->getLoc(),
                   "a block-scaled matmul stays scalar arithmetic, which "
                   "blockscale-raise (--raise) does not change: ")
            << outcome.reason;
    });
  }
};

} // namespace

void blockscale::populateRaisePatterns(RewritePatternSet &patterns,
                                       const RaiseOptions &options) {
  patterns.add<RaiseLinalg, RaiseVectorContract>(patterns.getContext(),
                                                 options);
  populateRaiseSparsePatterns(patterns);
  populateRaiseGroupLoopPatterns(patterns);
  populateRaiseRowGroupsPatterns(patterns, options);
}
