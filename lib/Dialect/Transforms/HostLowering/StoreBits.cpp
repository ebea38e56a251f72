//===- StoreBits.cpp - Stores of bf16 and f16 as integers -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM moves a cast to bf16 across the selection of a constant in front of it,
// and the x86 backend rounds such a constant of bf16 by a function of the
// compiler's library, __truncsfbf2, which libgcc has only from version 13 on.
// Without the cast there is no such constant.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_STOREBITSPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;

static LogicalResult storeBits(LLVM::StoreOp op, PatternRewriter &rewriter) {
  auto cast = op.getValue().getDefiningOp<LLVM::BitcastOp>();
  Type from = cast ? getElementTypeOrSelf(cast.getArg().getType()) : Type();
  if (!cast || !isa<IntegerType>(from) ||
      !isa<FloatType>(getElementTypeOrSelf(op.getValue().getType())))
    return rewriter.notifyMatchFailure(op, "expected the bits of a float");
  rewriter.modifyOpInPlace(op,
                           [&] { op.getValueMutable().assign(cast.getArg()); });
  return success();
}

namespace {
struct StoreBitsPass final
    : mlir::blockscale::impl::StoreBitsPassBase<StoreBitsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(storeBits);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
