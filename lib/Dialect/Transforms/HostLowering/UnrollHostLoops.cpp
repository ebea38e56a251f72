//===- UnrollHostLoops.cpp - Loops around kernels -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No host code runs between launches, so loops are unrolled. Without this pass,
// bufferization would fail at a loop, with an unclear error.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_UNROLLHOSTLOOPSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

/// The limit of ops; more launches take minutes to compile.
static constexpr uint64_t kMaxOps = 4096;

namespace {

struct UnrollHostLoopsPass final
    : mlir::blockscale::impl::UnrollHostLoopsPassBase<UnrollHostLoopsPass> {
  void runOnOperation() override {
    // Inner loops come first. Bodies of structured ops run on the device.
    SmallVector<Operation *> loops;
    getOperation()->walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (isa<scf::ForOp, scf::WhileOp>(op) &&
          !op->getParentOfType<linalg::LinalgOp>())
        loops.push_back(op);
    });
    for (Operation *loop : loops)
      if (failed(unroll(loop)))
        return signalPassFailure();
    if (loops.empty())
      return;
    OpPassManager cleanUp(func::FuncOp::getOperationName());
    cleanUp.addPass(createCanonicalizerPass());
    cleanUp.addPass(createCSEPass());
    if (failed(runPipeline(cleanUp, getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult unroll(Operation *op) {
    auto refuse = [&](const Twine &why) {
      return op->emitError("not supported in this version: '")
             << op->getName() << "' outside of kernels on a GPU target" << why;
    };
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return refuse("");
    std::optional<APInt> count = loop.getStaticTripCount();
    if (!count)
      return refuse(", with bounds that are not constant");
    uint64_t numOps = 0;
    loop.getBody()->walk([&](Operation *) { ++numOps; });
    numOps = llvm::SaturatingMultiply(numOps, count->getLimitedValue());
    numUnrolled = llvm::SaturatingAdd(numUnrolled, numOps);
    if (numUnrolled > kMaxOps)
      return refuse(", of more than " + Twine(kMaxOps) + " ops when unrolled");
    if (failed(loopUnrollFull(loop)))
      return refuse(", which cannot be unrolled");
    return success();
  }

  uint64_t numUnrolled = 0;
};

} // namespace
