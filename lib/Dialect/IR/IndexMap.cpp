//===- IndexMap.cpp - Index arithmetic as affine maps ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes and tile offsets are `affine` ops from tiling and `arith` ops from
// folds and lowerings. This gives both one form.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/IndexMap.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

AffineMap blockscale::getIndexMap(Operation *op) {
  MLIRContext *context = op->getContext();
  AffineExpr d0 = getAffineDimExpr(0, context);
  AffineExpr d1 = getAffineDimExpr(1, context);
  AffineExpr s0 = getAffineSymbolExpr(0, context);
  // By a constant, or by another value.
  auto divide = [&](Value by, AffineExprKind kind) {
    std::optional<int64_t> divisor = getConstantIntValue(by);
    if (!divisor)
      return AffineMap::get(1, 1, getAffineBinaryOpExpr(kind, d0, s0));
    return *divisor > 0
               ? AffineMap::get(
                     2, 0,
                     getAffineBinaryOpExpr(
                         kind, d0, getAffineConstantExpr(*divisor, context)))
               : AffineMap();
  };
  return TypeSwitch<Operation *, AffineMap>(op)
      .Case([&](affine::AffineApplyOp apply) { return apply.getAffineMap(); })
      .Case([&](arith::AddIOp) { return AffineMap::get(2, 0, d0 + d1); })
      .Case([&](arith::SubIOp) { return AffineMap::get(2, 0, d0 - d1); })
      .Case([&](arith::MulIOp mul) {
        if (std::optional<int64_t> factor = getConstantIntValue(mul.getRhs()))
          return AffineMap::get(2, 0, d0 * *factor);
        if (std::optional<int64_t> factor = getConstantIntValue(mul.getLhs()))
          return AffineMap::get(2, 0, d1 * *factor);
        return AffineMap::get(1, 1, d0 * s0);
      })
      .Case<arith::IndexCastUIOp, arith::IndexCastOp, arith::ExtSIOp,
            arith::ExtUIOp>([&](auto) { return AffineMap::get(1, 0, d0); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>([&](auto div) {
        return divide(div.getRhs(), AffineExprKind::FloorDiv);
      })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto div) {
        return divide(div.getRhs(), AffineExprKind::CeilDiv);
      })
      .Case<arith::RemUIOp, arith::RemSIOp>(
          [&](auto rem) { return divide(rem.getRhs(), AffineExprKind::Mod); })
      .Default(AffineMap());
}
