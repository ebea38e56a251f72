//===- CheckLoopSizes.cpp - Sizes that loops agree on ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If sizes of tensors do not agree, the kernel of a loop would read beyond the
// end of the smaller one, and a GPU may not report that.
//
//===----------------------------------------------------------------------===//

#include "Launch/LoopSizes.h"

#include "Utils/CheckMessage.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_CHECKLOOPSIZESPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// Emits whether `index`, in loops of `sizes`, stays below `size`; for an index
/// that is a loop itself, whether the sizes are equal. Null if that is known.
static Value emitFits(OpBuilder &builder, Location loc, AffineExpr index,
                      ArrayRef<OpFoldResult> sizes, OpFoldResult size) {
  auto getValue = [&](OpFoldResult from) {
    return getValueOrCreateConstantIndexOp(builder, loc, from);
  };
  if (auto dim = dyn_cast<AffineDimExpr>(index)) {
    OpFoldResult expected = sizes[dim.getPosition()];
    if (isEqualConstantIntOrValue(size, expected))
      return {};
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                 getValue(size), getValue(expected));
  }
  // Indices of named ops increase with their loops: the last one is the
  // largest.
  SmallVector<AffineExpr> last;
  for (unsigned i = 0; i != sizes.size(); ++i)
    last.push_back(builder.getAffineDimExpr(i) - 1);
  OpFoldResult most = affine::makeComposedFoldedAffineApply(
      builder, loc, index.replaceDims(last), sizes);
  std::optional<int64_t> knownMost = getConstantIntValue(most);
  std::optional<int64_t> known = getConstantIntValue(size);
  if (knownMost && known && *knownMost < *known)
    return {};
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                               getValue(most), getValue(size));
}

void blockscale::checkLoopSizes(linalg::LinalgOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> loops;
  for (const Range &range : op.createLoopRanges(builder, loc))
    loops.push_back(range.size);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, index] : llvm::enumerate(map.getResults())) {
      OpFoldResult size =
          tensor::getMixedSize(builder, loc, operand.get(), dim);
      Value fits = emitFits(builder, loc, index, loops, size);
      if (!fits)
        continue;
      cf::AssertOp::create(
          builder, loc, fits,
          getCheckMessage(op, "expected size " + Twine(dim) + " of operand #" +
                                  Twine(operand.getOperandNumber()) +
                                  " to fit the loops over it"));
    }
  }
}

namespace {

struct CheckLoopSizesPass final
    : mlir::blockscale::impl::CheckLoopSizesPassBase<CheckLoopSizesPass> {
  void runOnOperation() override {
    getOperation()->walk([](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && !hasStaticShapes(op))
        checkLoopSizes(op);
    });
  }
};

} // namespace
