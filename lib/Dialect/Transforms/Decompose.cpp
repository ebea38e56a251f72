//===- Decompose.cpp - The meaning in upstream dialects -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct DecomposePass final
    : mlir::blockscale::impl::DecomposePassBase<DecomposePass> {
  using Base::Base;

  void runOnOperation() override {
    // An unswizzle that feeds mma_scaled is read through, so it must still be
    // one when mma_scaled is rewritten.
    RewritePatternSet matmuls(&getContext());
    populateDecomposeMmaScaledPatterns(matmuls);
    RewritePatternSet swizzles(&getContext());
    populateDecomposeSwizzlePatterns(swizzles);
    if (failed(applyPatternsGreedily(getOperation(), std::move(matmuls))) ||
        failed(applyPatternsGreedily(getOperation(), std::move(swizzles)))) {
      emitError(getOperation()->getLoc(), "decomposition did not converge");
      return signalPassFailure();
    }
  }
};

} // namespace
