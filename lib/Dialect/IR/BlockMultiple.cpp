//===- BlockMultiple.cpp - Are sizes along K whole blocks? ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockMultiple.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

static bool isMultiple(OpFoldResult value, MmaScaledOp op, unsigned &budget);

/// `expr` over `operands`, dimensions before symbols.
static bool isMultiple(AffineExpr expr, unsigned numDims, ValueRange operands,
                       MmaScaledOp op, unsigned &budget) {
  auto recurse = [&](AffineExpr part) {
    return isMultiple(part, numDims, operands, op, budget);
  };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() % op.getBlock() == 0;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return isMultiple(operands[dim.getPosition()], op, budget);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return isMultiple(operands[numDims + symbol.getPosition()], op, budget);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
  case AffineExprKind::Mod:
    return recurse(binary.getLHS()) && recurse(binary.getRHS());
  case AffineExprKind::Mul:
    return recurse(binary.getLHS()) || recurse(binary.getRHS());
  default:
    return false;
  }
}

/// The K of `op` itself, read off x or y.
static bool isOwnK(tensor::DimOp dim, MmaScaledOp op) {
  using Side = MmaScaledOp::Side;
  std::optional<int64_t> index = dim.getConstantIndex();
  auto isKOf = [&](Side side, Value matrix) {
    return dim.getSource() == matrix && index &&
           *index ==
               MmaScaledOp::getKDim(side, op.getMatrixType(side).getRank());
  };
  return isKOf(Side::X, op.getX()) || isKOf(Side::Y, op.getY());
}

/// An induction variable that starts at a multiple and steps by multiples.
static bool isInductionMultiple(BlockArgument arg, MmaScaledOp op,
                                unsigned &budget) {
  auto loop =
      dyn_cast_or_null<LoopLikeOpInterface>(arg.getOwner()->getParentOp());
  if (!loop)
    return false;
  std::optional<SmallVector<Value>> ivs = loop.getLoopInductionVars();
  std::optional<SmallVector<OpFoldResult>> starts = loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!ivs || !starts || !steps)
    return false;
  for (auto [iv, start, step] : llvm::zip_equal(*ivs, *starts, *steps))
    if (iv == arg)
      return isMultiple(start, op, budget) && isMultiple(step, op, budget);
  return false;
}

static bool isMultiple(OpFoldResult value, MmaScaledOp op, unsigned &budget) {
  if (budget == 0)
    return false;
  --budget;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant % op.getBlock() == 0;
  auto known = cast<Value>(value);
  if (auto arg = dyn_cast<BlockArgument>(known))
    return isInductionMultiple(arg, op, budget);

  auto areAllMultiples = [&](AffineMap map, ValueRange operands) {
    return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
      return isMultiple(expr, map.getNumDims(), operands, op, budget);
    });
  };
  return TypeSwitch<Operation *, bool>(known.getDefiningOp())
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [&](auto affineOp) {
            return areAllMultiples(affineOp.getMap(), affineOp.getOperands());
          })
      .Case([&](tensor::DimOp dim) { return isOwnK(dim, op); })
      .Default(false);
}

bool blockscale::isKnownBlockMultiple(OpFoldResult value, MmaScaledOp op) {
  // Tiling makes short chains of arithmetic. The budget, of values looked at,
  // bounds the work on others.
  unsigned budget = 64;
  return isMultiple(value, op, budget);
}
