//===- QuantizedResults.cpp - Results of a quantize in memory -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Frontend/QuantizedResults.h"

#include "Kernels/Launch/LaunchForming.h"
#include "blockscale/Dialect/IR/ScaleRules.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The user of `value` if it is an op of this kind and the only user; else
/// null.
template <typename Op>
static Op getOnlyUser(Value value) {
  Op found;
  for (Operation *user : value.getUsers()) {
    auto op = dyn_cast<Op>(user);
    if (!op || found)
      return {};
    found = op;
  }
  return found;
}

static unsigned getPackedBits(PackOp pack) {
  return cast<ShapedType>(pack.getSource().getType()).getElementTypeBitWidth();
}

QuantizedResults::QuantizedResults(QuantizeOp op)
    : op(op), pack(getOnlyUser<PackOp>(op.getElements())),
      swizzle(getOnlyUser<SwizzleScalesOp>(op.getScales())) {
  // Rows that do not end on a byte are packed by an op of their own.
  constexpr unsigned kByte = 8;
  if (pack && kByte % getPackedBits(pack) != 0)
    pack = {};
  // Coarse scales are not what block-scaled instructions read.
  if (op.hasCoarseScales())
    swizzle = {};
}

unsigned QuantizedResults::getElementBits() const {
  constexpr unsigned kByte = 8;
  return pack ? getPackedBits(pack) : kByte;
}

SmallVector<Value> QuantizedResults::makeOutputs(OpBuilder &builder,
                                                 ArrayRef<OpFoldResult> sizes) {
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> elementSizes(sizes);
  SmallVector<OpFoldResult> scaleSizes =
      op.hasCoarseScales()
          ? getCoarseScaleSizes(builder, loc, sizes, op.getBlockShape())
          : getScaleSizes(builder, loc, sizes, op.getBlock());
  constexpr unsigned kByte = 8;
  if (pack)
    elementSizes.back() = affine::makeComposedFoldedAffineApply(
        builder, loc,
        builder.getAffineDimExpr(0).floorDiv(kByte / getElementBits()),
        {sizes.back()});
  if (swizzle)
    scaleSizes = getSwizzledSizes(builder, loc, scaleSizes);
  Value elements = pack ? pack.getResult() : op.getElements();
  Value scales = swizzle ? swizzle.getResult() : op.getScales();
  SmallVector<Value> outputs = {
      makeEmpty(builder, loc, cast<RankedTensorType>(elements.getType()),
                elementSizes),
      makeEmpty(builder, loc, cast<RankedTensorType>(scales.getType()),
                scaleSizes)};
  if (op.getAmax()) {
    Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(),
                                          builder.getF32Type());
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    outputs.push_back(
        linalg::FillOp::create(builder, loc, zero, empty).getResult(0));
  }
  return outputs;
}

void QuantizedResults::replace(RewriterBase &rewriter, ValueRange results) {
  if (pack)
    rewriter.replaceOp(pack, results[0]);
  if (swizzle)
    rewriter.replaceOp(swizzle, results[1]);
  // Results that were packed or swizzled have no other use.
  if (!pack)
    rewriter.replaceAllUsesWith(op.getElements(), results[0]);
  if (!swizzle)
    rewriter.replaceAllUsesWith(op.getScales(), results[1]);
  if (op.getAmax())
    rewriter.replaceAllUsesWith(op.getAmax(), results[2]);
}
