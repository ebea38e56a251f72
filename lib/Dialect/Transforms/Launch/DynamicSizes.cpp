//===- DynamicSizes.cpp - Sizes that are arguments of kernels -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Launch/DynamicSizes.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

SmallVector<DynamicSize> blockscale::getDynamicSizes(func::FuncOp function) {
  SmallVector<DynamicSize> sizes;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || function.getArgAttr(i, kSizesAttrName))
      continue;
    for (unsigned dim = 0; dim != shaped.getRank(); ++dim)
      if (shaped.isDynamicDim(dim))
        sizes.push_back({static_cast<unsigned>(i), dim});
  }
  return sizes;
}

std::pair<int64_t, int64_t> blockscale::getCodesAndBytes(func::FuncOp function,
                                                         DynamicSize size) {
  auto bits =
      function.getArgAttrOfType<IntegerAttr>(size.argument, kCodeBitsAttrName);
  auto type = cast<ShapedType>(function.getArgumentTypes()[size.argument]);
  if (!bits || size.dim + 1 != type.getRank())
    return {1, 1};
  PackedUnit unit = getPackedUnit(bits.getInt());
  return {unit.codes, unit.bytes};
}

namespace {
class ExprBuilder {
public:
  explicit ExprBuilder(func::FuncOp function)
      : function(function), sizes(getDynamicSizes(function)) {}

  AffineExpr build(Value size) {
    MLIRContext *context = size.getContext();
    if (std::optional<int64_t> constant = getConstantIntValue(size))
      return getAffineConstantExpr(*constant, context);
    Operation *op = size.getDefiningOp();
    if (!op || numOps++ == kMostOps)
      return {};
    auto binary = [&](AffineExprKind kind) -> AffineExpr {
      AffineExpr lhs = build(op->getOperand(0));
      AffineExpr rhs = build(op->getOperand(1));
      if (!lhs || !rhs)
        return {};
      auto constant = dyn_cast<AffineConstantExpr>(rhs);
      if (kind != AffineExprKind::Add && (!constant || constant.getValue() < 1))
        return {};
      return getAffineBinaryOpExpr(kind, lhs, rhs);
    };
    return llvm::TypeSwitch<Operation *, AffineExpr>(op)
        .Case([&](memref::DimOp dim) { return buildDim(dim); })
        .Case([&](arith::IndexCastUIOp cast) { return build(cast.getIn()); })
        .Case([&](arith::AddIOp) { return binary(AffineExprKind::Add); })
        .Case([&](arith::MulIOp) { return binary(AffineExprKind::Mul); })
        .Case([&](arith::DivUIOp) { return binary(AffineExprKind::FloorDiv); })
        .Case(
            [&](arith::CeilDivUIOp) { return binary(AffineExprKind::CeilDiv); })
        .Case([&](affine::AffineApplyOp apply) { return buildApply(apply); })
        .Default(AffineExpr());
  }

private:
  AffineExpr buildDim(memref::DimOp op) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    std::optional<int64_t> dim = op.getConstantIndex();
    if (!argument || !dim || argument.getOwner() != &function.getBody().front())
      return {};
    unsigned number = argument.getArgNumber();
    if (auto map =
            function.getArgAttrOfType<AffineMapAttr>(number, kSizesAttrName))
      return *dim < map.getValue().getNumResults()
                 ? map.getValue().getResult(*dim)
                 : AffineExpr();
    for (auto [i, size] : llvm::enumerate(sizes))
      if (size.argument == number && size.dim == *dim)
        return getAffineDimExpr(i, op.getContext());
    return {};
  }

  AffineExpr buildApply(affine::AffineApplyOp op) {
    SmallVector<AffineExpr> operands;
    for (Value operand : op.getMapOperands()) {
      operands.push_back(build(operand));
      if (!operands.back())
        return {};
    }
    unsigned numDims = op.getAffineMap().getNumDims();
    return op.getAffineMap().getResult(0).replaceDimsAndSymbols(
        ArrayRef(operands).take_front(numDims),
        ArrayRef(operands).drop_front(numDims));
  }

  /// Sizes are a few operations away from what they are made of.
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
