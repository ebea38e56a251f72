//===- CheckReshapes.cpp - As many elements as before ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program states the sizes of a view. If they are products and quotients of
// others, nothing else compares them with the actual memory.
//
//===----------------------------------------------------------------------===//

#include "HostLowering/CheckReshapes.h"

#include "Utils/CheckMessage.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_CHECKRESHAPESPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// The product of sizes, in the form of the size of a collapsed tensor.
static OpFoldResult multiply(OpBuilder &b, Location loc,
                             ArrayRef<OpFoldResult> sizes) {
  AffineExpr product = b.getAffineConstantExpr(1);
  for (unsigned i = 0; i != sizes.size(); ++i)
    product = product * b.getAffineSymbolExpr(i);
  return affine::makeComposedFoldedAffineApply(
      b, loc, AffineMap::get(0, sizes.size(), product), sizes);
}

void blockscale::checkExpandedSizes(tensor::ExpandShapeOp op,
                                    ArrayRef<OpFoldResult> sourceSizes) {
  RankedTensorType type = op.getResultType();
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (llvm::none_of(group, [&](int64_t i) { return type.isDynamicDim(i); }))
      continue;
    SmallVector<OpFoldResult> ofGroup;
    for (int64_t i : group)
      ofGroup.push_back(sizes[i]);
    OpFoldResult expected = sourceSizes.empty()
                                ? tensor::getMixedSize(b, loc, op.getSrc(), dim)
                                : sourceSizes[dim];
    OpFoldResult got = multiply(b, loc, ofGroup);
    if (isEqualConstantIntOrValue(expected, got))
      continue;
    Value fits = b.createOrFold<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq,
        getValueOrCreateConstantIndexOp(b, loc, got),
        getValueOrCreateConstantIndexOp(b, loc, expected));
    cf::AssertOp::create(
        b, loc, fits,
        getCheckMessage(op, "expected sizes that multiply to that of "
                            "dimension " +
                                Twine(dim) + " of the source"));
  }
}

namespace {

struct CheckReshapesPass final
    : mlir::blockscale::impl::CheckReshapesPassBase<CheckReshapesPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk(
        [](tensor::ExpandShapeOp op) { checkExpandedSizes(op); });
  }
};

} // namespace
