//===- RaiseOperand.cpp - Factors as operands of mma_scaled ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A factor may be stored transposed or reshaped. This finds the form nearest to
// the op's operand, and creates the remaining ops.
//
//===----------------------------------------------------------------------===//

#include "Raise/RaiseOperand.h"

#include "Raise/IndexExpressions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

namespace {

/// The meaning of a dimension of an operand.
enum class Part { Batch, Row, K };

/// Finds the meaning of the dimensions of one form.
class FormMatcher {
public:
  FormMatcher(const OperandDims &dims, const Blocking &blocking)
      : dims(dims), blocking(blocking) {
    wholeK = simplifyIndex(blocking.outer * blocking.size + blocking.inner,
                           blocking.extents);
  }

  bool isPartial = false;

  std::optional<OperandForm> match(const Access &form) {
    OperandForm result;
    result.value = form.value;
    auto type = cast<ShapedType>(form.value.getType());
    SmallVector<AffineExpr> index;
    for (AffineExpr expr : form.index)
      index.push_back(
          simplifyIndex(expr.replaceDims(blocking.loops), blocking.extents));

    SmallVector<Part> missing = getMissing(index), parts;
    bool isBlockOpen = false, isWhole = true;
    ReassociationIndices units;
    for (auto [dim, expr] : llvm::enumerate(index)) {
      isWhole &= form.isWhole[dim] && hasSize(expr, type.getDimSize(dim));
      bool isUnit = isConstantZero(expr) && type.getDimSize(dim) == 1;
      if (isUnit && missing.empty()) {
        (result.groups.empty() ? units : result.groups.back()).push_back(dim);
        continue;
      }
      if (isBlockOpen && expr == blocking.inner && parts.back() == Part::K) {
        result.groups.back().push_back(dim);
        isBlockOpen = false;
        continue;
      }
      std::optional<Part> part =
          isUnit ? missing.pop_back_val() : getPart(expr);
      if (!part || llvm::is_contained(parts, *part))
        return std::nullopt;
      isBlockOpen |= !dims.isScale && expr == blocking.outer;
      parts.push_back(*part);
      units.push_back(dim);
      result.groups.push_back(std::exchange(units, {}));
    }
    if (isBlockOpen || !setOrder(parts, missing, result))
      return std::nullopt;
    isPartial |= !isWhole;
    if (!isWhole)
      return std::nullopt;
    return result;
  }

private:
  const OperandDims &dims;
  const Blocking &blocking;
  AffineExpr wholeK;

  /// The parts of an operand, in order.
  SmallVector<Part> getOrder() const {
    SmallVector<Part> order;
    if (dims.batch)
      order.push_back(Part::Batch);
    if (dims.side == Side::X)
      order.append({Part::Row, Part::K});
    else
      order.append({Part::K, Part::Row});
    return order;
  }

  /// The parts of size 1 that no loop reads, in reverse order; dimensions of
  /// size 1 may be these parts.
  SmallVector<Part> getMissing(ArrayRef<AffineExpr> index) const {
    SmallVector<Part> order = getOrder(), missing;
    for (Part part : llvm::reverse(order)) {
      bool mayMiss = part != Part::K || dims.isScale;
      AffineExpr loop = getLoop(part);
      if (mayMiss && isOneStep(loop) && !llvm::is_contained(index, loop))
        missing.push_back(part);
    }
    return missing;
  }

  AffineExpr getLoop(Part part) const {
    if (part == Part::Batch)
      return dims.batch;
    return part == Part::Row ? dims.row : blocking.outer;
  }

  bool isOneStep(AffineExpr loop) const {
    return getLargestIndex(loop, blocking.extents) == 0;
  }

  static bool isConstantZero(AffineExpr expr) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return constant && constant.getValue() == 0;
  }

  bool hasSize(AffineExpr expr, int64_t size) const {
    std::optional<int64_t> largest = getLargestIndex(expr, blocking.extents);
    return !largest || ShapedType::isDynamic(size) || *largest == size - 1;
  }

  std::optional<Part> getPart(AffineExpr expr) const {
    if (dims.batch && expr == dims.batch)
      return Part::Batch;
    if (expr == dims.row)
      return Part::Row;
    bool isK =
        expr == blocking.outer ||
        (!dims.isScale && (expr == wholeK || (expr == blocking.inner &&
                                              isOneStep(blocking.outer))));
    return isK ? std::optional(Part::K) : std::nullopt;
  }

  /// Sets how `parts`, and `missing` ones, become the operand; false if other
  /// parts are missing, too.
  bool setOrder(ArrayRef<Part> parts, ArrayRef<Part> missing,
                OperandForm &form) const {
    SmallVector<Part> order = getOrder();
    for (auto [dim, part] : llvm::enumerate(order)) {
      const Part *position = llvm::find(parts, part);
      if (position != parts.end())
        form.permutation.push_back(position - parts.begin());
      else if (llvm::is_contained(missing, part))
        form.units.push_back(dim);
      else
        return false;
    }
    return true;
  }
};

} // namespace

static bool isCollapsed(const OperandForm &form) {
  int64_t rank = cast<ShapedType>(form.value.getType()).getRank();
  return rank != static_cast<int64_t>(form.groups.size());
}

bool OperandForm::isOperand() const {
  return !isCollapsed(*this) && isIdentityPermutation(permutation) &&
         units.empty();
}

/// Whether `type` is one of an operand, apart from its shape.
static bool isOperandKind(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return !tensor.getEncoding();
  auto vector = dyn_cast<VectorType>(type);
  return vector && !vector.isScalable();
}

std::optional<OperandForm> blockscale::findOperandForm(const Factor &factor,
                                                       const OperandDims &dims,
                                                       const Blocking &blocking,
                                                       bool &isPartial) {
  FormMatcher matcher(dims, blocking);
  std::optional<OperandForm> best;
  for (const Access &form : factor.forms) {
    // Signs of elements matter.
    if (form.isAbsolute && !dims.isScale)
      break;
    if (!isOperandKind(form.value.getType()))
      continue;
    std::optional<OperandForm> next = matcher.match(form);
    if (next && (next->isOperand() || !best || !best->isOperand()))
      best = std::move(next);
  }
  isPartial |= matcher.isPartial;
  return best;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static Value collapse(OpBuilder &builder, Location loc, Value value,
                      ArrayRef<ReassociationIndices> groups) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return tensor::CollapseShapeOp::create(builder, loc, value, groups);
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : groups) {
    shape.push_back(1);
    for (int64_t dim : group)
      shape.back() *= type.getDimSize(dim);
  }
  return vector::ShapeCastOp::create(
      builder, loc, VectorType::get(shape, type.getElementType()), value);
}

/// Inserts dimensions of size 1 at `units`.
static Value expand(OpBuilder &builder, Location loc, Value value,
                    ArrayRef<int64_t> units) {
  auto type = cast<ShapedType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t unit : units)
    shape.insert(shape.begin() + unit, 1);
  auto resultType = type.clone(shape);
  if (isa<VectorType>(type))
    return vector::ShapeCastOp::create(builder, loc, resultType, value);

  // Each dimension takes the new ones around it.
  SmallVector<ReassociationIndices> groups(type.getRank());
  int64_t taken = 0;
  for (int64_t dim = 0, rank = shape.size(); dim != rank; ++dim) {
    bool isNew = llvm::is_contained(units, dim);
    int64_t group = isNew ? std::max<int64_t>(taken - 1, 0) : taken++;
    if (!groups.empty())
      groups[group].push_back(dim);
  }
  return tensor::ExpandShapeOp::create(builder, loc, resultType, value, groups);
}

Value blockscale::transpose(OpBuilder &builder, Location loc, Value value,
                            ArrayRef<int64_t> permutation) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return vector::TransposeOp::create(builder, loc, value, permutation);
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : permutation)
    sizes.push_back(tensor::getMixedSize(builder, loc, value, dim));
  Value init =
      tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, value, init, permutation)
      ->getResult(0);
}

Value blockscale::createOperand(OpBuilder &builder, Location loc,
                                const OperandForm &form) {
  Value value = form.value;
  if (isCollapsed(form))
    value = collapse(builder, loc, value, form.groups);
  if (!isIdentityPermutation(form.permutation))
    value = transpose(builder, loc, value, form.permutation);
  if (!form.units.empty())
    value = expand(builder, loc, value, form.units);
  return value;
}

Value blockscale::createSplatScales(OpBuilder &builder, Location loc,
                                    Value operand, Side side, int64_t block,
                                    FloatAttr scale) {
  auto type = cast<ShapedType>(operand.getType());
  unsigned kDim = MmaScaledOp::getKDim(side, type.getRank());
  SmallVector<int64_t> shape(type.getShape());
  if (!type.isDynamicDim(kDim))
    shape[kDim] /= block;
  auto scalesType = type.clone(shape, scale.getType());
  if (scalesType.hasStaticShape())
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(scalesType, scale));

  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, loc, operand);
  if (type.isDynamicDim(kDim)) {
    Value k = cast<Value>(sizes[kDim]);
    Value size = arith::ConstantIndexOp::create(builder, loc, block);
    sizes[kDim] = arith::DivUIOp::create(builder, loc, k, size).getResult();
  } else {
    sizes[kDim] = builder.getIndexAttr(shape[kDim]);
  }
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, scale.getType());
  Value element = arith::ConstantOp::create(builder, loc, scale);
  return linalg::FillOp::create(builder, loc, element, empty).getResult(0);
}
