//===- CarryPacking.cpp - Packed buffers through movements ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel reads packed elements directly if no op is between it and the
// `unpack`. An op in between would have to write each element to a byte of its
// own. Therefore ops that keep bytes whole are moved to the packed bytes.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
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

static PackedUnit getUnit(RankedTensorType elements) {
  return getPackedUnit(elements.getElementTypeBitWidth());
}

/// The bytes of `elements` elements along a row, if they are whole bytes. For a
/// dynamic size, the caller knows that they are.
static OpFoldResult toBytes(OpBuilder &builder, Location loc,
                            OpFoldResult elements, PackedUnit unit) {
  return affine::makeComposedFoldedAffineApply(
      builder, loc,
      builder.getAffineDimExpr(0).floorDiv(unit.elements) * unit.bytes,
      elements);
}

/// The type of the packed bytes of `elements`; null if rows do not end with a
/// whole byte.
static RankedTensorType getBytesType(RankedTensorType elements) {
  SmallVector<int64_t> shape(elements.getShape());
  if (!ShapedType::isDynamic(shape.back())) {
    std::optional<int64_t> bytes =
        getPackedBytes(shape.back(), elements.getElementTypeBitWidth());
    if (!bytes)
      return {};
    shape.back() = *bytes;
  }
  return RankedTensorType::get(shape,
                               IntegerType::get(elements.getContext(), 8));
}

/// Whether the innermost size of `type`, in the dimensions `group` of a row,
/// has whole bytes: it is the whole packed row, or static.
static bool endsOnByte(RankedTensorType type, const ReassociationIndices &group,
                       PackedUnit unit) {
  int64_t last = type.getShape().back();
  return group.size() == 1 ||
         (!ShapedType::isDynamic(last) && last % unit.elements == 0);
}

/// Applies `expand`, an op on elements, to the packed bytes `source`. Returns
/// null if a row of its result does not end with a whole byte.
static Value expandBytes(PatternRewriter &rewriter,
                         tensor::ExpandShapeOp expand, Value source) {
  RankedTensorType elements = expand.getResultType();
  PackedUnit unit = getUnit(elements);
  SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
  RankedTensorType type = getBytesType(elements);
  if (!type || groups.empty() || !endsOnByte(elements, groups.back(), unit))
    return {};
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  sizes.back() = toBytes(rewriter, expand.getLoc(), sizes.back(), unit);
  return tensor::ExpandShapeOp::create(rewriter, expand.getLoc(), type, source,
                                       groups, sizes);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static LogicalResult carryCollapse(tensor::CollapseShapeOp op,
                                   PatternRewriter &rewriter) {
  auto unpack = op.getSrc().getDefiningOp<UnpackOp>();
  RankedTensorType type = op.getResultType();
  if (!unpack || type.getRank() == 0)
    return rewriter.notifyMatchFailure(op, "expected unpacked elements");
  RankedTensorType bytesType = getBytesType(type);
  if (!bytesType)
    return rewriter.notifyMatchFailure(op, "expected rows of whole bytes");
  Value bytes = tensor::CollapseShapeOp::create(rewriter, op.getLoc(),
                                                bytesType, unpack.getSource(),
                                                op.getReassociationIndices());
  rewriter.replaceOpWithNewOp<UnpackOp>(op, type, bytes);
  return success();
}

static LogicalResult carryExpand(tensor::ExpandShapeOp op,
                                 PatternRewriter &rewriter) {
  auto unpack = op.getSrc().getDefiningOp<UnpackOp>();
  Value bytes =
      unpack ? expandBytes(rewriter, op, unpack.getSource()) : Value();
  if (!bytes)
    return rewriter.notifyMatchFailure(op, "expected unpacked elements in rows "
                                           "of whole bytes");
  rewriter.replaceOpWithNewOp<UnpackOp>(op, op.getResultType(), bytes);
  return success();
}

static LogicalResult carrySlice(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) {
  auto unpack = op.getSource().getDefiningOp<UnpackOp>();
  if (!unpack)
    return rewriter.notifyMatchFailure(op, "expected unpacked elements");
  PackedUnit unit = getUnit(unpack.getResult().getType());
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  RankedTensorType type = op.getResultType();
  auto isWhole = [&](OpFoldResult number) {
    std::optional<int64_t> known = getConstantIntValue(number);
    return known && *known % unit.elements == 0;
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

static LogicalResult carryConcat(tensor::ConcatOp op,
                                 PatternRewriter &rewriter) {
  SmallVector<Value> parts;
  for (Value input : op.getInputs()) {
    auto unpack = input.getDefiningOp<UnpackOp>();
    if (!unpack)
      return rewriter.notifyMatchFailure(op, "expected unpacked elements");
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

static LogicalResult carryReshape(PackOp op, PatternRewriter &rewriter) {
  Operation *reshape = op.getSource().getDefiningOp();
  if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reshape))
    return rewriter.notifyMatchFailure(op, "expected a reshape");
  Value source = reshape->getOperand(0);
  auto sourceType = cast<RankedTensorType>(source.getType());
  auto bytesType =
      sourceType.getRank() == 0 ? RankedTensorType() : getBytesType(sourceType);
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
  // A dynamic row that becomes a part of another row may not end with a whole
  // byte.
  auto collapse = cast<tensor::CollapseShapeOp>(reshape);
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  if (groups.empty() ||
      !endsOnByte(sourceType, groups.back(), getUnit(sourceType)))
    return rewriter.notifyMatchFailure(op, "expected rows of whole bytes");
  Value packed = PackOp::create(rewriter, loc, bytesType, source);
  rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getType(), packed,
                                                       groups);
  return success();
}

namespace {
struct CarryPackingPass final
    : mlir::blockscale::impl::CarryPackingPassBase<CarryPackingPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add(carryCollapse)
        .add(carryExpand)
        .add(carrySlice)
        .add(carryConcat)
        .add(carryReshape);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) {
      emitError(getOperation()->getLoc(), "packed elements did not converge");
      signalPassFailure();
    }
  }
};
} // namespace
