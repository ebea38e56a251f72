//===- SeparateResults.cpp - Each buffer once -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream turns results into arguments, one buffer each; a value that is
// returned twice would be written once.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_SEPARATERESULTSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

namespace {

struct SeparateResultsPass final
    : mlir::blockscale::impl::SeparateResultsPassBase<SeparateResultsPass> {
  using Base::Base;

  void runOnOperation() override {
    WalkResult result =
        getOperation()->walk([&](func::ReturnOp op) -> WalkResult {
          separate(op);
          return recordSizes(op);
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static void separate(func::ReturnOp op) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    llvm::SmallPtrSet<Value, 4> returned;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (returned.insert(operand.get()).second || !type)
        continue;
      Value copy = memref::AllocOp::create(
          builder, loc, memref::getMixedSizes(builder, loc, operand.get()),
          type.getElementType());
      memref::CopyOp::create(builder, loc, operand.get(), copy);
      operand.set(copy);
    }
  }

  /// Results become arguments, which do not tell how large they are.
  LogicalResult recordSizes(func::ReturnOp op) {
    func::FuncOp function = getOperation();
    size_t numSizes = getDynamicSizes(function).size();
    OpBuilder builder(op);
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      auto type = dyn_cast<MemRefType>(value.getType());
      if (!type || type.hasStaticShape())
        continue;
      SmallVector<AffineExpr> exprs;
      for (unsigned dim = 0; dim != type.getRank(); ++dim) {
        Value size = builder.createOrFold<memref::DimOp>(
            op.getLoc(), value, static_cast<int64_t>(dim));
        exprs.push_back(getSizeExpr(function, size));
        if (!exprs.back())
          return op.emitError("not supported in this version: result #")
                 << i << " with a size, in dimension " << dim
                 << ", that is not one of the arguments' on a GPU target";
      }
      function.setResultAttr(i, kSizesAttrName,
                             AffineMapAttr::get(AffineMap::get(
                                 numSizes, 0, exprs, &getContext())));
    }
    return success();
  }
};

} // namespace
