//===- ConditionalLaunch.cpp - Launches for some sizes --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conditions are compared as sets of comparisons that all hold. That is enough
// for alternatives, where one has a comparison and the other its negation
// (maybe with sides that have changed places), or where both compare a size
// with constants.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/Transforms/Launch/ConditionalLaunch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/IR/ConstantRange.h"

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

static llvm::CmpInst::Predicate getLLVMPredicate(arith::CmpIPredicate given) {
  using llvm::CmpInst;
  switch (given) {
  case arith::CmpIPredicate::eq:
    return CmpInst::ICMP_EQ;
  case arith::CmpIPredicate::ne:
    return CmpInst::ICMP_NE;
  case arith::CmpIPredicate::slt:
    return CmpInst::ICMP_SLT;
  case arith::CmpIPredicate::sle:
    return CmpInst::ICMP_SLE;
  case arith::CmpIPredicate::sgt:
    return CmpInst::ICMP_SGT;
  case arith::CmpIPredicate::sge:
    return CmpInst::ICMP_SGE;
  case arith::CmpIPredicate::ult:
    return CmpInst::ICMP_ULT;
  case arith::CmpIPredicate::ule:
    return CmpInst::ICMP_ULE;
  case arith::CmpIPredicate::ugt:
    return CmpInst::ICMP_UGT;
  case arith::CmpIPredicate::uge:
    return CmpInst::ICMP_UGE;
  }
  llvm_unreachable("all predicates have a case");
}

/// Whether `lhs` holds exactly if `rhs`, negated if `isOpposite`, does.
static bool isSame(LaunchCondition lhs, LaunchCondition rhs, bool isOpposite) {
  bool isNegated = (lhs.isNegated != rhs.isNegated) != isOpposite;
  if (lhs.value == rhs.value)
    return !isNegated;
  auto left = lhs.value.getDefiningOp<arith::CmpIOp>();
  auto right = rhs.value.getDefiningOp<arith::CmpIOp>();
  if (!left || !right)
    return false;
  auto predicate = getLLVMPredicate(right.getPredicate());
  if (isNegated)
    predicate = llvm::CmpInst::getInversePredicate(predicate);
  bool isSwapped =
      left.getLhs() == right.getRhs() && left.getRhs() == right.getLhs();
  if (isSwapped)
    predicate = llvm::CmpInst::getSwappedPredicate(predicate);
  else if (left.getLhs() != right.getLhs() || left.getRhs() != right.getRhs())
    return false;
  return getLLVMPredicate(left.getPredicate()) == predicate;
}

/// The values of the left side for which a comparison with a constant holds.
static std::optional<llvm::ConstantRange> getRegion(arith::CmpIOp compare,
                                                    bool isNegated) {
  APInt constant;
  if (!compare || !matchPattern(compare.getRhs(), m_ConstantInt(&constant)))
    return std::nullopt;
  llvm::ConstantRange region = llvm::ConstantRange::makeExactICmpRegion(
      getLLVMPredicate(compare.getPredicate()), constant);
  return isNegated ? region.inverse() : region;
}

/// Whether no value fulfills both.
static bool areDisjoint(LaunchCondition lhs, LaunchCondition rhs) {
  auto left = lhs.value.getDefiningOp<arith::CmpIOp>();
  auto right = rhs.value.getDefiningOp<arith::CmpIOp>();
  if (!left || !right || left.getLhs() != right.getLhs())
    return false;
  std::optional<llvm::ConstantRange> of = getRegion(left, lhs.isNegated);
  std::optional<llvm::ConstantRange> other = getRegion(right, rhs.isNegated);
  return of && other && of->intersectWith(*other).isEmptySet();
}

bool blockscale::excludeEachOther(gpu::LaunchFuncOp first,
                                  gpu::LaunchFuncOp second) {
  SmallVector<LaunchCondition> others = getParts(second);
  return llvm::any_of(getParts(first), [&](LaunchCondition part) {
    return llvm::any_of(others, [&](LaunchCondition other) {
      return isSame(part, other, /*isOpposite=*/true) ||
             areDisjoint(part, other);
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
