//===- LaunchExprExport.cpp - Numbers of a launch -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No host code runs at launch: index arithmetic on the host becomes expressions
// of the launch info.
//
//===----------------------------------------------------------------------===//

#include "LaunchExprExport.h"

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/IndexMap.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;
using ExprKind = LaunchExpr::Kind;

/// Turns nodes that are no operations into expressions; nullopt for others.
using LeafFn = function_ref<std::optional<LaunchExpr>(AffineExpr)>;

/// `x floordiv by`, where `by` is positive.
static LaunchExpr makeFloorDiv(const LaunchExpr &x, int64_t by) {
  return LaunchExpr::make(ExprKind::CeilDiv,
                          LaunchExpr::make(ExprKind::Add, x, 1 - by), by);
}

static std::optional<LaunchExpr> convert(AffineExpr expr, LeafFn getLeaf) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (std::optional<LaunchExpr> leaf = getLeaf(expr))
    return leaf;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<LaunchExpr> lhs = convert(binary.getLHS(), getLeaf);
  std::optional<LaunchExpr> rhs = convert(binary.getRHS(), getLeaf);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return LaunchExpr::make(ExprKind::Add, *lhs, *rhs);
  case AffineExprKind::Mul:
    return LaunchExpr::make(ExprKind::Mul, *lhs, *rhs);
  case AffineExprKind::CeilDiv:
    return LaunchExpr::make(ExprKind::CeilDiv, *lhs, *rhs);
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod:
    break;
  default:
    return std::nullopt;
  }
  if (!rhs->isNumber() || rhs->number < 1)
    return std::nullopt;
  LaunchExpr quotient = makeFloorDiv(*lhs, rhs->number);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return quotient;
  return LaunchExpr::make(
      ExprKind::Add, *lhs,
      LaunchExpr::make(ExprKind::Mul, quotient, -rhs->number));
}

std::optional<LaunchExpr> LaunchExprExporter::matchSize(AffineExpr expr) const {
  ArgumentSize size;
  auto take = [&](AffineExprKind kind, uint32_t &number) {
    if (expr.getKind() != kind)
      return;
    auto binary = cast<AffineBinaryOpExpr>(expr);
    if (auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS())) {
      number = static_cast<uint32_t>(constant.getValue());
      expr = binary.getLHS();
    }
  };
  // d, d * codes or d floordiv bytes * codes.
  take(AffineExprKind::Mul, size.codes);
  take(AffineExprKind::FloorDiv, size.bytes);
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim)
    return std::nullopt;
  DynamicSize of = sizes[dim.getPosition()];
  auto [codes, bytes] = getCodesAndBytes(function, of);
  size.argument = of.argument;
  size.dimension = of.dim;
  bool isBytes = size.codes == 1 && size.bytes == 1;
  if (bytes != size.bytes || codes % size.codes != 0)
    return isBytes ? std::optional(LaunchExpr::ofSize(size)) : std::nullopt;
  // A factor of `codes` may have been cancelled.
  int64_t divisor = codes / size.codes;
  size.codes = static_cast<uint32_t>(codes);
  return LaunchExpr::make(ExprKind::CeilDiv, LaunchExpr::ofSize(size), divisor);
}

std::optional<LaunchExpr>
LaunchExprExporter::exportExpr(AffineExpr expr) const {
  return convert(expr, [&](AffineExpr node) { return matchSize(node); });
}

std::optional<LaunchExpr>
LaunchExprExporter::substitute(AffineExpr expr, ArrayRef<LaunchExpr> dims,
                               ArrayRef<LaunchExpr> symbols) {
  return convert(expr, [&](AffineExpr node) -> std::optional<LaunchExpr> {
    if (auto dim = dyn_cast<AffineDimExpr>(node))
      return dims[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(node))
      return symbols[symbol.getPosition()];
    return std::nullopt;
  });
}

std::optional<SmallVector<LaunchExpr>>
LaunchExprExporter::exportSizes(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto alloc = memory.getDefiningOp<memref::AllocOp>();
  if (!argument && !alloc)
    return std::nullopt;
  auto map = argument ? function.getArgAttrOfType<AffineMapAttr>(
                            argument.getArgNumber(), kSizesAttrName)
                      : AffineMapAttr();
  SmallVector<LaunchExpr> result;
  unsigned numDynamic = 0;
  for (auto [dim, known] :
       llvm::enumerate(cast<MemRefType>(memory.getType()).getShape())) {
    std::optional<LaunchExpr> size = known;
    if (ShapedType::isDynamic(known)) {
      if (alloc)
        size = exportValue(alloc.getDynamicSizes()[numDynamic++]);
      else if (map)
        size = exportExpr(map.getValue().getResult(dim));
      else
        size = LaunchExpr::ofSize(
            {argument.getArgNumber(), static_cast<uint32_t>(dim)});
    }
    if (!size)
      return std::nullopt;
    result.push_back(std::move(*size));
  }
  return result;
}

std::optional<LaunchExpr> LaunchExprExporter::exportValue(Value value) {
  if (AffineExpr expr = getSizeExpr(function, value))
    if (std::optional<LaunchExpr> known = exportExpr(expr))
      return known;
  Operation *op = value.getDefiningOp();
  if (!op || numOps++ >= kMostOps)
    return std::nullopt;
  if (isa<MultiprocessorsOp>(op))
    return LaunchExpr::ofMultiprocessors();
  // What has several results takes the least or the largest of them.
  auto [kind, map] =
      TypeSwitch<Operation *, std::pair<ExprKind, AffineMap>>(op)
          .Case<arith::MinUIOp, arith::MinSIOp>([](auto min) {
            return std::pair(ExprKind::Min, AffineMap::getMultiDimIdentityMap(
                                                2, min.getContext()));
          })
          .Case<arith::MaxUIOp, arith::MaxSIOp>([](auto max) {
            return std::pair(ExprKind::Max, AffineMap::getMultiDimIdentityMap(
                                                2, max.getContext()));
          })
          .Case([](affine::AffineMinOp min) {
            return std::pair(ExprKind::Min, min.getMap());
          })
          .Case([](affine::AffineMaxOp max) {
            return std::pair(ExprKind::Max, max.getMap());
          })
          .Default([](Operation *other) {
            return std::pair(ExprKind::Add, getIndexMap(other));
          });
  if (!map)
    return std::nullopt;
  SmallVector<LaunchExpr> operands;
  for (Value operand : op->getOperands()) {
    std::optional<LaunchExpr> expr = exportValue(operand);
    if (!expr)
      return std::nullopt;
    operands.push_back(std::move(*expr));
  }
  std::optional<LaunchExpr> combined;
  for (AffineExpr result : map.getResults()) {
    std::optional<LaunchExpr> expr =
        substitute(result, ArrayRef(operands).take_front(map.getNumDims()),
                   ArrayRef(operands).drop_front(map.getNumDims()));
    if (!expr)
      return std::nullopt;
    combined = combined ? LaunchExpr::make(kind, *combined, *expr) : *expr;
  }
  return combined;
}
