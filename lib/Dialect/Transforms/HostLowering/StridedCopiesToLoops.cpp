//===- StridedCopiesToLoops.cpp - Copies without a library ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream lowers such copies to a call of its run-time library, on which
// compiled functions must not depend.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_STRIDEDCOPIESTOLOOPSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

namespace {

struct CopyByLoops final : OpRewritePattern<memref::CopyOp> {
  CopyByLoops(MLIRContext *context, bool all)
      : OpRewritePattern(context), all(all) {}

  LogicalResult matchAndRewrite(memref::CopyOp op,
                                PatternRewriter &rewriter) const override {
    auto source = dyn_cast<MemRefType>(op.getSource().getType());
    auto target = dyn_cast<MemRefType>(op.getTarget().getType());
    if (!source || !target)
      return rewriter.notifyMatchFailure(op, "loops need ranks");
    if (!all && source.getLayout().isIdentity() &&
        target.getLayout().isIdentity())
      return rewriter.notifyMatchFailure(op, "becomes memcpy");
    linalg::makeMemRefCopyOp(rewriter, op.getLoc(), op.getSource(),
                             op.getTarget());
    rewriter.eraseOp(op);
    return success();
  }

private:
  bool all;
};

struct StridedCopiesToLoopsPass final
    : mlir::blockscale::impl::StridedCopiesToLoopsPassBase<
          StridedCopiesToLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<CopyByLoops>(&getContext(), all);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
