//===- CarryPacking.cpp - Packed buffers through movements ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel reads packed codes where they are if nothing is between it and the
// `unpack`; a step in between would have to write each code to a byte of its
// own. Steps that keep bytes whole are done with the bytes instead.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::blockscale {
#define GEN_PASS_DEF_CARRYPACKINGPASS
#include "blockscale/Dialect/Transforms/Passes.h.inc"
} // namespace mlir::blockscale

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Sizes in bytes
//===----------------------------------------------------------------------===//

static PackedUnit getUnit(RankedTensorType codes) {
  return getPackedUnit(codes.getElementTypeBitWidth());
}

/// `codes` along a row in bytes, where they are whole; of a dynamic number it
/// is known that they are.
static OpFoldResult toBytes(OpBuilder &builder, Location loc,
                            OpFoldResult codes, PackedUnit unit) {
  return affine::makeComposedFoldedAffineApply(
      builder, loc,
      builder.getAffineDimExpr(0).floorDiv(unit.codes) * unit.bytes, codes);
}

/// The type that holds `codes` packed; null where rows do not end on a byte.
static RankedTensorType getBytesType(RankedTensorType codes) {
  SmallVector<int64_t> shape(codes.getShape());
  if (!ShapedType::isDynamic(shape.back())) {
    std::optional<int64_t> bytes =
        getPackedBytes(shape.back(), codes.getElementTypeBitWidth());
    if (!bytes)
      return {};
    shape.back() = *bytes;
  }
  return RankedTensorType::get(shape, IntegerType::get(codes.getContext(), 8));
}

/// Whether the innermost size of `type`, which `group` are the dimensions of,
/// is whole bytes: it is the row's that was packed, or a known number.
static bool endsOnByte(RankedTensorType type, const ReassociationIndices &group,
                       PackedUnit unit) {
  int64_t last = type.getShape().back();
  return group.size() == 1 ||
         (!ShapedType::isDynamic(last) && last % unit.codes == 0);
}

/// `expand`, which is of codes, of the bytes `source`; null if a row of its
/// result does not end on a byte.
static Value expandBytes(PatternRewriter &rewriter,
                         tensor::ExpandShapeOp expand, Value source) {
  RankedTensorType codes = expand.getResultType();
  PackedUnit unit = getUnit(codes);
  SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
  RankedTensorType type = getBytesType(codes);
  if (!type || groups.empty() || !endsOnByte(codes, groups.back(), unit))
    return {};
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  sizes.back() = toBytes(rewriter, expand.getLoc(), sizes.back(), unit);
  return tensor::ExpandShapeOp::create(rewriter, expand.getLoc(), type, source,
                                       groups, sizes);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct CollapseOfUnpack final : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto unpack = op.getSrc().getDefiningOp<UnpackOp>();
    RankedTensorType type = op.getResultType();
    if (!unpack || type.getRank() == 0)
      return rewriter.notifyMatchFailure(op, "expected unpacked codes");
    RankedTensorType bytesType = getBytesType(type);
    if (!bytesType)
      return rewriter.notifyMatchFailure(op, "expected rows of whole bytes");
    Value bytes = tensor::CollapseShapeOp::create(rewriter, op.getLoc(),
                                                  bytesType, unpack.getSource(),
                                                  op.getReassociationIndices());
    rewriter.replaceOpWithNewOp<UnpackOp>(op, type, bytes);
    return success();
  }
};

struct ExpandOfUnpack final : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto unpack = op.getSrc().getDefiningOp<UnpackOp>();
    Value bytes =
        unpack ? expandBytes(rewriter, op, unpack.getSource()) : Value();
    if (!bytes)
      return rewriter.notifyMatchFailure(op, "expected unpacked codes in rows "
                                             "of whole bytes");
    rewriter.replaceOpWithNewOp<UnpackOp>(op, op.getResultType(), bytes);
    return success();
  }
};

struct SliceOfUnpack final : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto unpack = op.getSource().getDefiningOp<UnpackOp>();
    if (!unpack)
      return rewriter.notifyMatchFailure(op, "expected unpacked codes");
    PackedUnit unit = getUnit(unpack.getResult().getType());
    SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    RankedTensorType type = op.getResultType();
    auto isWhole = [&](OpFoldResult number) {
      std::optional<int64_t> known = getConstantIntValue(number);
      return known && *known % unit.codes == 0;
    };
    // The last dimension stays, and stays last.
    llvm::SmallBitVector dropped = op.getDroppedDims();
    if (!isWhole(offsets.back()) || !isWhole(sizes.back()) ||
        !isOneInteger(op.getMixedStrides().back()) ||
        dropped.test(dropped.size() - 1))
      return rewriter.notifyMatchFailure(op, "expected rows of whole bytes");
    Location loc = op.getLoc();
    offsets.back() = toBytes(rewriter, loc, offsets.back(), unit);
    sizes.back() = toBytes(rewriter, loc, sizes.back(), unit);
    Value bytes = tensor::ExtractSliceOp::create(
        rewriter, loc, getBytesType(type), unpack.getSource(), offsets, sizes,
        op.getMixedStrides());
    rewriter.replaceOpWithNewOp<UnpackOp>(op, type, bytes);
    return success();
  }
};

struct ConcatOfUnpacks final : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (Value input : op.getInputs()) {
      auto unpack = input.getDefiningOp<UnpackOp>();
      if (!unpack)
        return rewriter.notifyMatchFailure(op, "expected unpacked codes");
      parts.push_back(unpack.getSource());
    }
    auto type = cast<RankedTensorType>(op.getResult().getType());
    RankedTensorType bytesType = getBytesType(type);
    if (!bytesType)
      return rewriter.notifyMatchFailure(op, "expected rows of whole bytes");
    Value bytes = tensor::ConcatOp::create(rewriter, op.getLoc(), bytesType,
                                           op.getDim(), parts);
    rewriter.replaceOpWithNewOp<UnpackOp>(op, type, bytes);
    return success();
  }
};

struct PackOfReshape final : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PackOp op,
                                PatternRewriter &rewriter) const override {
    Operation *reshape = op.getSource().getDefiningOp();
    if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
            reshape))
      return rewriter.notifyMatchFailure(op, "expected a reshape");
    Value source = reshape->getOperand(0);
    auto sourceType = cast<RankedTensorType>(source.getType());
    auto bytesType = sourceType.getRank() == 0 ? RankedTensorType()
                                               : getBytesType(sourceType);
    if (!bytesType)
      return rewriter.notifyMatchFailure(op, "expected rows of whole bytes");
    Location loc = op.getLoc();
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape)) {
      Value packed = PackOp::create(rewriter, loc, bytesType, source);
      Value bytes = expandBytes(rewriter, expand, packed);
      if (!bytes) {
        rewriter.eraseOp(packed.getDefiningOp());
        return rewriter.notifyMatchFailure(op, "expected rows of whole bytes");
      }
      rewriter.replaceOp(op, bytes);
      return success();
    }
    // Of a dynamic row it is not known that it ends on a byte before it becomes
    // part of another one.
    auto collapse = cast<tensor::CollapseShapeOp>(reshape);
    SmallVector<ReassociationIndices> groups =
        collapse.getReassociationIndices();
    if (groups.empty() ||
        !endsOnByte(sourceType, groups.back(), getUnit(sourceType)))
      return rewriter.notifyMatchFailure(op, "expected rows of whole bytes");
    Value packed = PackOp::create(rewriter, loc, bytesType, source);
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getType(),
                                                         packed, groups);
    return success();
  }
};

struct CarryPackingPass final
    : mlir::blockscale::impl::CarryPackingPassBase<CarryPackingPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<CollapseOfUnpack, ExpandOfUnpack, SliceOfUnpack,
                 ConcatOfUnpacks, PackOfReshape>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      emitError(getOperation()->getLoc(), "packed codes did not converge");
      signalPassFailure();
    }
  }
};

} // namespace
