//===- DynamicSizes.cpp - Sizes that are arguments of kernels -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No host code of ours runs at a launch, so each size must be an expression of
// the arguments' sizes that the launch info can represent.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/IndexMap.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The op that states the sizes of `buffer`; null if there is none.
static ResultSizesOp findResultSizes(Value buffer) {
  for (Operation *user : buffer.getUsers())
    if (auto sizes = dyn_cast<ResultSizesOp>(user))
      return sizes;
  return {};
}

SmallVector<DynamicSize> blockscale::getDynamicSizes(func::FuncOp function) {
  SmallVector<DynamicSize> sizes;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank() ||
        findResultSizes(function.getArgument(i)))
      continue;
    for (unsigned dim = 0; dim != shaped.getRank(); ++dim)
      if (shaped.isDynamicDim(dim))
        sizes.push_back({static_cast<unsigned>(i), dim});
  }
  return sizes;
}

std::optional<SmallVector<OpFoldResult>>
blockscale::getResultSizes(func::FuncOp function, Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  ResultSizesOp sizes =
      argument && argument.getOwner()->getParentOp() == function
          ? findResultSizes(buffer)
          : ResultSizesOp();
  if (!sizes)
    return std::nullopt;
  Builder builder(function.getContext());
  return getMixedValues(cast<MemRefType>(buffer.getType()).getShape(),
                        sizes.getSizes(), builder);
}

std::optional<SmallVector<OpFoldResult>> blockscale::getViewSizes(Value view) {
  if (auto cast = view.getDefiningOp<memref::ReinterpretCastOp>())
    return cast.getMixedSizes();
  auto subview = view.getDefiningOp<memref::SubViewOp>();
  if (!subview)
    return std::nullopt;
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(subview.getMixedSizes()))
    if (!dropped.test(dim))
      sizes.push_back(size);
  return sizes;
}

std::pair<int64_t, int64_t>
blockscale::getElementsAndBytes(func::FuncOp function, DynamicSize size) {
  auto bits =
      function.getArgAttrOfType<IntegerAttr>(size.argument, kCodeBitsAttrName);
  auto type = cast<ShapedType>(function.getArgumentTypes()[size.argument]);
  if (!bits || size.dim + 1 != type.getRank())
    return {1, 1};
  PackedUnit unit = getPackedUnit(bits.getInt());
  return {unit.elements, unit.bytes};
}

namespace {
class ExprBuilder {
public:
  explicit ExprBuilder(func::FuncOp function)
      : function(function), sizes(getDynamicSizes(function)) {}

  AffineExpr build(Value size) {
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      return getAffineConstantExpr(*constant, size.getContext());
    Operation *op = size.getDefiningOp();
    if (!op || numOps++ == kMostOps)
      return {};
    if (auto dim = dyn_cast<memref::DimOp>(op))
      return buildDim(dim);
    AffineMap map = getIndexMap(op);
    return map ? buildResult(map, op->getOperands()) : AffineExpr();
  }

private:
  AffineExpr buildDim(memref::DimOp op) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!argument || !dim || argument.getOwner() != &function.getBody().front())
      return {};
    if (auto result = getResultSizes(function, argument)) {
      if (*dim < 0 || *dim >= static_cast<int64_t>(result->size()))
        return {};
      if (auto value = dyn_cast<Value>((*result)[*dim]))
        return build(value);
      return getAffineConstantExpr(*getConstantIntValue((*result)[*dim]),
                                   op.getContext());
    }
    unsigned number = argument.getArgNumber();
    for (auto [i, size] : llvm::enumerate(sizes))
      if (size.argument == number && size.dim == *dim)
        return getAffineDimExpr(i, op.getContext());
    return {};
  }

  AffineExpr buildResult(AffineMap map, ValueRange values) {
    SmallVector<AffineExpr> operands;
    for (Value value : values) {
      operands.push_back(build(value));
      if (!operands.back())
        return {};
    }
    auto [dims, symbols] =
        std::pair(ArrayRef<AffineExpr>(operands).take_front(map.getNumDims()),
                  ArrayRef<AffineExpr>(operands).drop_front(map.getNumDims()));
    AffineExpr result = map.getResult(0);
    // The launch info cannot represent products of two sizes.
    if (!result.isPureAffine() &&
        !llvm::all_of(symbols, llvm::IsaPred<AffineConstantExpr>))
      return {};
    return result.replaceDimsAndSymbols(dims, symbols);
  }

  /// Sizes are computed from the arguments by a few operations.
  static constexpr unsigned kMostOps = 64;

  func::FuncOp function;
  SmallVector<DynamicSize> sizes;
  unsigned numOps = 0;
};
} // namespace

AffineExpr blockscale::getSizeExpr(func::FuncOp function, Value size) {
  AffineExpr expr = ExprBuilder(function).build(size);
  if (!expr)
    return {};
  return simplifyAffineExpr(expr, getDynamicSizes(function).size(), 0);
}

bool blockscale::isMadeOfSizes(func::FuncOp function, Value size) {
  // (Each value is visited once, because values may have many users.)
  SetVector<Value> values;
  values.insert(size);
  for (size_t i = 0; i != values.size(); ++i) {
    Value value = values[i];
    if (getConstantIntValue(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op) {
      bool isInteger = value.getType().isIndex() ||
                       value.getType().isSignlessInteger(32) ||
                       value.getType().isSignlessInteger(64);
      if (!isInteger ||
          cast<BlockArgument>(value).getOwner()->getParentOp() != function)
        return false;
      continue;
    }
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto argument = dyn_cast<BlockArgument>(dim.getSource());
      if (!dim.getConstantIndex() || !argument ||
          argument.getOwner()->getParentOp() != function)
        return false;
      continue;
    }
    if (!isa<arith::MinUIOp, arith::MinSIOp, arith::MaxUIOp, arith::MaxSIOp,
             affine::AffineMinOp, affine::AffineMaxOp>(op) &&
        !getIndexMap(op))
      return false;
    values.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}
