//===- Decompose.cpp - The meaning in upstream dialects -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass that applies the patterns of this folder, which are also exported
// separately.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Reference/Grouped.h"
#include "blockscale/Dialect/Transforms/Reference/Sparse.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// (U2) and (U3) for sizes that are constants but not yet static: loops over
/// them would not verify.
static LogicalResult verifyConstantSizes(UnswizzleScalesOp op) {
  SmallVector<int64_t> shape;
  for (OpFoldResult size : op.getMixedSizes()) {
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    if (!ShapedType::isDynamic(shape.back()) && shape.back() < 1)
      return op.emitOpError("expected all sizes to be at least 1, got ")
             << shape.back();
  }
  auto source = cast<ShapedType>(op.getSource().getType()).getShape();
  for (auto [dim, expected] : llvm::enumerate(getSwizzledShape(shape)))
    if (!ShapedType::isDynamic(expected) &&
        !ShapedType::isDynamic(source[dim]) && expected != source[dim])
      return op.emitOpError("expected sizes that round up to the atoms of the "
                            "source, ")
             << source[dim] << " in dimension " << dim << ", got " << shape[dim]
             << ", which rounds up to " << expected;
  return success();
}

/// Replaces the size of a result of a launch by that of its output operand.
static LogicalResult resolveSizeOfLaunch(tensor::DimOp op,
                                         PatternRewriter &rewriter) {
  auto launch = op.getSource().getDefiningOp<LaunchOp>();
  if (!launch)
    return rewriter.notifyMatchFailure(op, "expected a result of a launch");
  Value output =
      launch.getOutputs()[cast<OpResult>(op.getSource()).getResultNumber()];
  rewriter.modifyOpInPlace(op, [&] { op.getSourceMutable().assign(output); });
  return success();
}

namespace {
struct DecomposePass final
    : mlir::blockscale::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    WalkResult sizes = getOperation()->walk([](UnswizzleScalesOp op) {
      return WalkResult(verifyConstantSizes(op));
    });
    if (sizes.wasInterrupted())
      return signalPassFailure();

    // An unswizzle that feeds mma_scaled becomes an indexing map, so mma_scaled
    // must be rewritten before it.
    RewritePatternSet matmuls(&getContext());
    populateDecomposeGroupedPatterns(matmuls);
    populateDecomposeMmaScaledPatterns(matmuls);
    populateDecomposeSparseMmaPatterns(matmuls);
    RewritePatternSet layouts(&getContext());
    populateDecomposeSwizzlePatterns(layouts);
    populateDecomposePackingPatterns(layouts);
    populateDecomposeQuantizePatterns(layouts);
    populateDecomposeRebasePatterns(layouts);
    populateDecomposeMetadataPatterns(layouts);
    populateDecomposeSparsePatterns(layouts);
    populateDecomposeCombineRowsPatterns(layouts);
    populateDecomposeRoutingPatterns(layouts);
    populateDecomposeGroupScalesPatterns(layouts);
    layouts.add(resolveSizeOfLaunch);
    tensor::EmptyOp::getCanonicalizationPatterns(layouts, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(matmuls))) ||
        failed(applyPatternsGreedily(getOperation(), std::move(layouts)))) {
      emitError(getOperation()->getLoc(), "decomposition did not converge");
      return signalPassFailure();
    }
  }
};
} // namespace
