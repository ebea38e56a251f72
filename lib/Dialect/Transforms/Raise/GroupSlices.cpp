//===- GroupSlices.cpp - Slices that a loop over groups reads -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops between a slice and the product keep the dimension that is sliced where
// it is, so that they do the same to the whole tensor.
//
//===----------------------------------------------------------------------===//

#include "Raise/GroupSlices.h"

#include "Raise/RaiseOperand.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

static int64_t getRank(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

static bool isOutside(scf::ForOp loop, Value value) {
  return loop.isDefinedOutsideOfLoop(value);
}

using Variable = ValueBoundsConstraintSet::Variable;

static bool areEqual(const Variable &first, const Variable &second) {
  FailureOr<bool> isEqual = ValueBoundsConstraintSet::areEqual(first, second);
  return succeeded(isEqual) && *isEqual;
}

bool blockscale::isSizeOf(OpFoldResult size, Value tensor, int64_t dim) {
  return areEqual(Variable(size), Variable(tensor, dim));
}

bool blockscale::haveOneSize(Value first, int64_t firstDim, Value second,
                             int64_t secondDim) {
  return areEqual(Variable(first, firstDim), Variable(second, secondDim));
}

/// Whether `slice` is all of `tensor` in all dimensions but the first one. What
/// has all elements of a dimension starts at 0, or it is out of bounds.
static bool isWholeButFirst(OffsetSizeAndStrideOpInterface slice,
                            Value tensor) {
  for (int64_t dim = 1, rank = getRank(tensor); dim != rank; ++dim)
    if (!isSizeOf(slice.getMixedSizes()[dim], tensor, dim))
      return false;
  return slice.hasUnitStride();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Whether `value` can be computed in front of `loop`.
static bool isInvariant(scf::ForOp loop, Value value) {
  if (isOutside(loop, value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isInvariant(loop, operand);
         });
}

/// Computes an invariant `value` in front of `loop`.
static Value createInvariant(OpBuilder &builder, scf::ForOp loop, Value value) {
  if (!value || isOutside(loop, value))
    return value;
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, createInvariant(builder, loop, operand));
  return builder.clone(*op, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

//===----------------------------------------------------------------------===//
// Steps from slices to operands
//===----------------------------------------------------------------------===//

namespace {
/// How a value is made of tensors, and how to do the same with whole ones.
struct Step {
  SmallVector<Value> tensors;
  std::function<Value(OpBuilder &, ValueRange)> create;
};
} // namespace

static Step getStep(linalg::TransposeOp op) {
  return {{op.getInput()}, [=](OpBuilder &builder, ValueRange tensors) mutable {
            SmallVector<int64_t> order = {0};
            for (int64_t dim : op.getPermutation())
              order.push_back(dim + 1);
            return transpose(builder, op.getLoc(), tensors.front(), order);
          }};
}

static Step getStep(tensor::CollapseShapeOp op, SliceKind kind) {
  return {{op.getSrc()}, [=](OpBuilder &builder, ValueRange tensors) mutable {
            SmallVector<ReassociationIndices> groups;
            if (kind == SliceKind::Matrix)
              groups.push_back({0});
            for (ReassociationIndices group : op.getReassociationIndices()) {
              if (kind == SliceKind::Matrix)
                for (int64_t &dim : group)
                  ++dim;
              groups.push_back(group);
            }
            return tensor::CollapseShapeOp::create(builder, op.getLoc(),
                                                   tensors.front(), groups);
          }};
}

/// Null if sizes of the whole tensor do not follow from those of its source.
static std::optional<Step> getStep(tensor::ExpandShapeOp op, SliceKind kind) {
  RankedTensorType type = op.getResultType();
  SmallVector<ReassociationIndices> groups;
  if (kind == SliceKind::Matrix)
    groups.push_back({0});
  for (ReassociationIndices group : op.getReassociationIndices()) {
    if (llvm::count_if(group,
                       [&](int64_t dim) { return type.isDynamicDim(dim); }) > 1)
      return std::nullopt;
    if (kind == SliceKind::Matrix)
      for (int64_t &dim : group)
        ++dim;
    groups.push_back(group);
  }
  // One element becomes units.
  if (op.getReassociationIndices().empty())
    for (int64_t dim = 0; dim != type.getRank(); ++dim)
      groups.front().push_back(dim + 1);
  return Step{
      {op.getSrc()}, [=](OpBuilder &builder, ValueRange tensors) mutable {
        int64_t size =
            cast<RankedTensorType>(tensors.front().getType()).getDimSize(0);
        SmallVector<int64_t> shape(type.getShape());
        if (kind == SliceKind::Matrix)
          shape.insert(shape.begin(), size);
        else
          shape.front() = size;
        return tensor::ExpandShapeOp::create(
            builder, op.getLoc(), type.clone(shape), tensors.front(), groups);
      }};
}

static Step getStep(DequantizeOp op, scf::ForOp loop) {
  return {{op.getElements(), op.getScales()},
          [=](OpBuilder &builder, ValueRange tensors) mutable {
            auto type = cast<RankedTensorType>(tensors[0].getType());
            return DequantizeOp::create(
                builder, op.getLoc(),
                type.clone(getElementTypeOrSelf(op.getResult())), tensors[0],
                tensors[1], createInvariant(builder, loop, op.getTensorScale()),
                builder.getI64IntegerAttr(op.getBlock()));
          }};
}

/// The step to `value`; nullopt if it is made in another way.
static std::optional<Step> findStep(scf::ForOp loop, Value value,
                                    SliceKind kind) {
  using Result = std::optional<Step>;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  return TypeSwitch<Operation *, Result>(op)
      .Case([&](linalg::TransposeOp op) -> Result {
        // Rows are the first dimension before and behind it.
        if (kind == SliceKind::Rows || !op.hasPureTensorSemantics())
          return std::nullopt;
        return getStep(op);
      })
      .Case([&](tensor::CollapseShapeOp op) -> Result {
        if (kind == SliceKind::Rows &&
            op.getReassociationIndices().front().size() != 1)
          return std::nullopt;
        return getStep(op, kind);
      })
      .Case([&](tensor::ExpandShapeOp op) -> Result {
        // Rows stay the first dimension, and are not split.
        if (kind == SliceKind::Rows &&
            (op.getReassociationIndices().empty() ||
             !llvm::all_of(
                 ArrayRef(op.getReassociationIndices().front()).drop_front(),
                 [&](int64_t dim) {
                   return op.getResultType().getDimSize(dim) == 1;
                 })))
          return std::nullopt;
        return getStep(op, kind);
      })
      .Case([&](DequantizeOp op) -> Result {
        Value scale = op.getTensorScale();
        if (!op.hasTensorSemantics() || op.hasCoarseScales() ||
            (scale && !isInvariant(loop, scale)))
          return std::nullopt;
        return getStep(op, loop);
      })
      .Default(std::nullopt);
}

/// The slice that `value` is without a leading dimension of size 1, which the
/// slice has, or a reshape removes.
static tensor::ExtractSliceOp getSliceOfMatrix(Value value) {
  auto isReduced = [&](tensor::ExtractSliceOp slice) {
    return slice.getSourceType().getRank() == getRank(value) + 1 &&
           slice.getType().getShape().take_back(getRank(value)) ==
               cast<RankedTensorType>(value.getType()).getShape();
  };
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>())
    slice = collapse.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
  return slice && isReduced(slice) ? slice : tensor::ExtractSliceOp();
}

bool blockscale::isMatrixOfGroup(scf::ForOp loop, Value value) {
  while (true) {
    if (tensor::ExtractSliceOp slice = getSliceOfMatrix(value))
      return GroupBounds::isGroup(loop, slice.getMixedOffsets().front());
    std::optional<Step> step = findStep(loop, value, SliceKind::Matrix);
    if (!step)
      return false;
    value = step->tensors.front();
  }
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

bool GroupSlices::areRows(OffsetSizeAndStrideOpInterface slice,
                          Value matrix) const {
  return bounds.isStart(slice.getMixedOffsets().front()) &&
         bounds.isSize(slice.getMixedSizes().front()) &&
         isWholeButFirst(slice, matrix);
}

Value GroupSlices::getSource(Value value, SliceKind kind) const {
  if (kind == SliceKind::Common)
    return isInvariant(loop, value) ? value : Value();
  auto slice = kind == SliceKind::Matrix
                   ? getSliceOfMatrix(value)
                   : value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return {};
  Value source = slice.getSource();
  bool isMatch =
      kind == SliceKind::Rows
          ? slice.getSourceType().getRank() == getRank(value) &&
                areRows(slice, source)
          : bounds.isGroup(slice.getMixedOffsets().front()) &&
                isConstantIntValue(slice.getMixedSizes().front(), 1) &&
                isWholeButFirst(slice, source);
  return isMatch && isOutside(loop, source) ? source : Value();
}

SmallVector<Value> GroupSlices::getSources(Value value, SliceKind kind) const {
  if (Value source = getSource(value, kind))
    return {source};
  if (kind == SliceKind::Common)
    return {};
  std::optional<Step> step = findStep(loop, value, kind);
  if (!step)
    return {};
  SmallVector<Value> sources;
  for (Value tensor : step->tensors) {
    SmallVector<Value> some = getSources(tensor, kind);
    if (some.empty())
      return {};
    sources.append(some);
  }
  return sources;
}

Value GroupSlices::create(OpBuilder &builder, Value value,
                          SliceKind kind) const {
  if (kind == SliceKind::Common)
    return createInvariant(builder, loop, value);
  if (Value source = getSource(value, kind))
    return source;
  std::optional<Step> step = findStep(loop, value, kind);
  auto tensors = llvm::map_to_vector(step->tensors, [&](Value tensor) {
    return create(builder, tensor, kind);
  });
  return step->create(builder, tensors);
}
