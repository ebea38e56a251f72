//===- NestChecks.cpp - Checks of parallel loops in branches --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In front of convert-parallel-loops-to-gpu, with no canonicalization between
// the two: that could move a check out of its branch.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_NESTCHECKSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

namespace {

struct NestChecksPass final
    : mlir::blockscale::impl::NestChecksPassBase<NestChecksPass> {
  void runOnOperation() override {
    SmallVector<cf::AssertOp> checks;
    getOperation()->walk([&](cf::AssertOp check) {
      if (isa<scf::ParallelOp>(check->getParentOp()))
        checks.push_back(check);
    });
    for (cf::AssertOp check : checks)
      nest(check);
  }

private:
  static void nest(cf::AssertOp check) {
    OpBuilder builder(check);
    Location loc = check.getLoc();
    Value isTrue = arith::ConstantIntOp::create(builder, loc, 1, /*width=*/1);
    Value fails = arith::XOrIOp::create(builder, loc, check.getArg(), isTrue);
    auto branch =
        scf::IfOp::create(builder, loc, fails, /*withElseRegion=*/false);
    check->moveBefore(branch.thenYield());
  }
};

} // namespace
