//===- SeparateResults.cpp - Each buffer once -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

namespace {

struct SeparateResultsPass final
    : mlir::blockscale::impl::SeparateResultsPassBase<SeparateResultsPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](func::ReturnOp op) {
      OpBuilder builder(op);
      llvm::SmallPtrSet<Value, 4> returned;
      for (OpOperand &operand : op->getOpOperands()) {
        auto type = dyn_cast<MemRefType>(operand.get().getType());
        bool isFirst = returned.insert(operand.get()).second;
        if (isFirst || !type || !type.hasStaticShape())
          continue;
        Value copy = memref::AllocOp::create(builder, op.getLoc(), type);
        memref::CopyOp::create(builder, op.getLoc(), operand.get(), copy);
        operand.set(copy);
      }
    });
  }
};

} // namespace
