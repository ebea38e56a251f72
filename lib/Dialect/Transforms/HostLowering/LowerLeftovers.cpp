//===- LowerLeftovers.cpp - Passes for those who need them ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most kernels need none of these upstream passes, each of which takes time for
// every op.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
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
  void getDependentDialects(DialectRegistry &registry) const override {
    Leftovers all = {true, true, true, true};
    getPipeline(all).getDependentDialects(registry);
  }

  void runOnOperation() override {
    Leftovers found;
    getOperation().walk([&](Operation *op) {
      found.transfers |= isa<VectorTransferOpInterface>(op);
      found.affine |= isa_and_nonnull<affine::AffineDialect>(op->getDialect());
      found.arithmetic |=
          isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp,
              arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
              arith::MinNumFOp>(op);
      // Two kinds of views, and those of the LLVM dialect, have their own
      // lowering.
      found.views |= isa<ViewLikeOpInterface>(op) &&
                     isa_and_nonnull<memref::MemRefDialect>(op->getDialect()) &&
                     !isa<memref::ViewOp, memref::ReinterpretCastOp>(op);
    });
    OpPassManager pipeline = getPipeline(found);
    if (!pipeline.empty() && failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }

private:
  struct Leftovers {
    bool transfers = false, views = false, affine = false, arithmetic = false;
  };

  /// Each of these passes may create ops that the next ones lower.
  static OpPassManager getPipeline(const Leftovers &found) {
    OpPassManager pipeline(gpu::GPUModuleOp::getOperationName());
    if (found.transfers)
      pipeline.addPass(createConvertVectorToSCFPass());
    if (found.views)
      pipeline.addPass(createExpandsToCastsPass());
    if (found.transfers || found.views)
      pipeline.addPass(memref::createExpandStridedMetadataPass());
    if (found.transfers || found.views || found.affine)
      pipeline.addPass(createLowerAffinePass());
    if (found.arithmetic)
      pipeline.addPass(arith::createArithExpandOpsPass());
    return pipeline;
  }
};

} // namespace
