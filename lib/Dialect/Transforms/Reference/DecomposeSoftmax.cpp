//===- DecomposeSoftmax.cpp - linalg.softmax as elementary ops ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's decomposition, in f32 at least: a sum of many f16 values would
// lose most of its digits.
//
//===----------------------------------------------------------------------===//

#include "Kernels/RowWise/RowOps.h"
#include "Utils/OperandView.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Reference/Softmax.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_DECOMPOSESOFTMAXPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

/// Casts the elements of `source` by `Cast` to the type of `destination`, and
/// writes them there.
template <typename Cast>
static Value castElements(OpBuilder &b, Location loc, Value source,
                          Value destination) {
  auto type = cast<RankedTensorType>(destination.getType());
  return computeElements(
      b, loc, source, b.getMultiDimIdentityMap(type.getRank()), destination,
      [&](OpBuilder &inner, Location bodyLoc, ValueRange args) -> Value {
        return Cast::create(inner, bodyLoc, type.getElementType(), args[0]);
      });
}

FailureOr<Value> blockscale::decomposeSoftmax(OpBuilder &builder,
                                              linalg::SoftmaxOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  if (!type || !isa<RankedTensorType>(op.getOutput().getType()))
    return failure();
  Type element = type.getElementType();
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return failure();
  auto decompose = [&](linalg::SoftmaxOp wide) -> FailureOr<Value> {
    FailureOr<SmallVector<Value>> values = wide.decomposeOperation(builder);
    if (failed(values))
      return failure();
    return values->front();
  };
  if (element.getIntOrFloatBitWidth() >= 32)
    return decompose(op);

  Location loc = op.getLoc();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getInput()),
      builder.getF32Type());
  Value input = castElements<arith::ExtFOp>(builder, loc, op.getInput(), empty);
  auto wide = linalg::SoftmaxOp::create(builder, loc, empty.getType(), input,
                                        empty, op.getDimension());
  FailureOr<Value> result = decompose(wide);
  wide.erase();
  if (failed(result))
    return failure();
  return castElements<arith::TruncFOp>(builder, loc, *result, op.getOutput());
}

namespace {

struct DecomposeSoftmaxPass final
    : mlir::blockscale::impl::DecomposeSoftmaxPassBase<DecomposeSoftmaxPass> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::SoftmaxOp> ops;
    getOperation()->walk([&](linalg::SoftmaxOp op) {
      if (!keepRows || !isRowSoftmax(op))
        ops.push_back(op);
    });
    for (linalg::SoftmaxOp op : ops) {
      rewriter.setInsertionPoint(op);
      // A softmax in another form stays; a later pass reports it.
      FailureOr<Value> result = decomposeSoftmax(rewriter, op);
      if (succeeded(result))
        rewriter.replaceOp(op, *result);
    }
  }
};

} // namespace
