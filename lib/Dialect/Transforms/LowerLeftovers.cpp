//===- LowerLeftovers.cpp - Passes for those who need them ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_LOWERLEFTOVERSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct LowerLeftoversPass final
    : mlir::blockscale::impl::LowerLeftoversPassBase<LowerLeftoversPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    getPipeline(/*hasTransfers=*/true, /*hasViews=*/true, /*hasAffine=*/true)
        .getDependentDialects(registry);
  }

  void runOnOperation() override {
    bool hasTransfers = false, hasViews = false, hasAffine = false;
    getOperation().walk([&](Operation *op) {
      hasTransfers |= isa<VectorTransferOpInterface>(op);
      hasAffine |= isa_and_nonnull<affine::AffineDialect>(op->getDialect());
      hasViews |= isa<ViewLikeOpInterface>(op) && !isa<memref::ViewOp>(op);
    });
    OpPassManager pipeline = getPipeline(hasTransfers, hasViews, hasAffine);
    if (!pipeline.empty() && failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }

private:
  /// Each of these makes what the next ones take.
  static OpPassManager getPipeline(bool hasTransfers, bool hasViews,
                                   bool hasAffine) {
    OpPassManager pipeline(gpu::GPUModuleOp::getOperationName());
    if (hasTransfers)
      pipeline.addPass(createConvertVectorToSCFPass());
    if (hasTransfers || hasViews)
      pipeline.addPass(memref::createExpandStridedMetadataPass());
    if (hasTransfers || hasViews || hasAffine)
      pipeline.addPass(createLowerAffinePass());
    return pipeline;
  }
};

} // namespace
