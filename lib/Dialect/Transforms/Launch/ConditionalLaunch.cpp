//===- ConditionalLaunch.cpp - Launches for some sizes --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conditions are compared as sets of comparisons that all hold. That is enough
// for alternatives, where one has a comparison and the other its negation.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Launch/ConditionalLaunch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::blockscale;

ConditionalGrid blockscale::getConditionalGrid(gpu::LaunchFuncOp launch) {
  ConditionalGrid grid = {launch.getGridSizeX(), {}};
  while (auto select = grid.blocks.getDefiningOp<arith::SelectOp>()) {
    bool isNegated = matchPattern(select.getTrueValue(), m_Zero());
    if (!isNegated && !matchPattern(select.getFalseValue(), m_Zero()))
      break;
    grid.conditions.push_back({select.getCondition(), isNegated});
    grid.blocks = isNegated ? select.getFalseValue() : select.getTrueValue();
  }
  return grid;
}

//===----------------------------------------------------------------------===//
// Comparing conditions
//===----------------------------------------------------------------------===//

/// Adds to `parts` what has to hold for `condition`: no conjunctions and no
/// negations by xori.
static void split(LaunchCondition condition,
                  SmallVectorImpl<LaunchCondition> &parts) {
  Operation *op = condition.value.getDefiningOp();
  if (isa_and_nonnull<arith::XOrIOp>(op) &&
      matchPattern(op->getOperand(1), m_One()))
    return split({op->getOperand(0), !condition.isNegated}, parts);
  bool isConjunction = condition.isNegated ? isa_and_nonnull<arith::OrIOp>(op)
                                           : isa_and_nonnull<arith::AndIOp>(op);
  if (!isConjunction) {
    parts.push_back(condition);
    return;
  }
  for (Value operand : op->getOperands())
    split({operand, condition.isNegated}, parts);
}

static SmallVector<LaunchCondition> getParts(gpu::LaunchFuncOp launch) {
  SmallVector<LaunchCondition> parts;
  for (LaunchCondition condition : getConditionalGrid(launch).conditions)
    split(condition, parts);
  return parts;
}

/// Whether `lhs` holds exactly if `rhs`, negated if `isOpposite`, does.
static bool isSame(LaunchCondition lhs, LaunchCondition rhs, bool isOpposite) {
  bool isNegated = (lhs.isNegated != rhs.isNegated) != isOpposite;
  if (lhs.value == rhs.value)
    return !isNegated;
  auto left = lhs.value.getDefiningOp<arith::CmpIOp>();
  auto right = rhs.value.getDefiningOp<arith::CmpIOp>();
  if (!left || !right || left.getLhs() != right.getLhs() ||
      left.getRhs() != right.getRhs())
    return false;
  arith::CmpIPredicate predicate = right.getPredicate();
  return left.getPredicate() ==
         (isNegated ? arith::invertPredicate(predicate) : predicate);
}

bool blockscale::excludeEachOther(gpu::LaunchFuncOp first,
                                  gpu::LaunchFuncOp second) {
  SmallVector<LaunchCondition> others = getParts(second);
  return llvm::any_of(getParts(first), [&](LaunchCondition part) {
    return llvm::any_of(others, [&](LaunchCondition other) {
      return isSame(part, other, /*isOpposite=*/true);
    });
  });
}

bool blockscale::runsWheneverOther(gpu::LaunchFuncOp first,
                                   gpu::LaunchFuncOp second) {
  SmallVector<LaunchCondition> others = getParts(second);
  return llvm::all_of(getParts(first), [&](LaunchCondition part) {
    return llvm::any_of(others, [&](LaunchCondition other) {
      return isSame(part, other, /*isOpposite=*/false);
    });
  });
}
