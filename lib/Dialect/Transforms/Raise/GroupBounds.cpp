//===- GroupBounds.cpp - Groups that a loop goes through ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each form of a number is judged by what it is worth, not by the op that comes
// first, so that the same number may be written in several ways in one loop.
//
//===----------------------------------------------------------------------===//

#include "Raise/GroupBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

using Predicate = arith::CmpIPredicate;

Value blockscale::stripIndexCasts(Value value) {
  // Ends and groups are not negative, so all extensions are alike. An index is
  // cast to an integer only after it was one.
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isConstant(Value number, int64_t value) {
  return isConstantIntValue(stripIndexCasts(number), value);
}

//===----------------------------------------------------------------------===//
// Values that depend on whether it is the first group
//===----------------------------------------------------------------------===//

namespace {
/// The value of a number in the first group, and in all others.
struct Choice {
  Value first, other;
};
} // namespace

/// Whether a comparison of g with 0 by `predicate` is true in the first group
/// only; nullopt if it may have one result in all groups.
static std::optional<bool> isTrueInFirst(Predicate predicate) {
  switch (predicate) {
  case Predicate::eq:
  case Predicate::sle:
  case Predicate::ule:
    return true;
  case Predicate::ne:
  case Predicate::sgt:
  case Predicate::ugt:
    return false;
  default:
    return std::nullopt;
  }
}

/// `number` as a selection, or the result of an `scf.if`, by whether it is the
/// first group.
static std::optional<Choice> getChoice(scf::ForOp loop, Value number) {
  Value condition;
  Choice choice;
  if (auto select = number.getDefiningOp<arith::SelectOp>()) {
    condition = select.getCondition();
    choice = {select.getTrueValue(), select.getFalseValue()};
  } else if (auto branch = number.getDefiningOp<scf::IfOp>()) {
    unsigned result = cast<OpResult>(number).getResultNumber();
    condition = branch.getCondition();
    choice = {branch.thenYield().getOperand(result),
              branch.elseYield().getOperand(result)};
  } else {
    return std::nullopt;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !GroupBounds::isGroup(loop, compare.getLhs()) ||
      !isConstant(compare.getRhs(), 0))
    return std::nullopt;
  std::optional<bool> isFirst = isTrueInFirst(compare.getPredicate());
  if (!isFirst)
    return std::nullopt;
  if (!*isFirst)
    std::swap(choice.first, choice.other);
  return choice;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

bool GroupBounds::isGroup(scf::ForOp loop, OpFoldResult number) {
  auto value = dyn_cast<Value>(number);
  return value && stripIndexCasts(value) == loop.getInductionVar();
}

/// The tensor of rank 1 whose element `number` is, and the index of it.
static std::pair<Value, Value> getElement(Value number) {
  auto extract = stripIndexCasts(number).getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract.getIndices().size() != 1)
    return {};
  return {extract.getTensor(), extract.getIndices().front()};
}

bool GroupBounds::isEnd(OpFoldResult number) const {
  auto value = dyn_cast<Value>(number);
  if (!value)
    return false;
  auto [tensor, index] = getElement(value);
  return tensor == ends && isGroup(index);
}

bool GroupBounds::isPrevious(Value number) const {
  number = stripIndexCasts(number);
  if (auto minus = number.getDefiningOp<arith::SubIOp>())
    return isGroup(minus.getLhs()) && isConstant(minus.getRhs(), 1);
  if (auto plus = number.getDefiningOp<arith::AddIOp>())
    return isGroup(plus.getLhs()) && isConstant(plus.getRhs(), -1);
  // It is kept from being negative in the first group.
  if (auto larger = number.getDefiningOp<arith::MaxSIOp>())
    return isConstant(larger.getRhs(), 0) && isPrevious(larger.getLhs());
  std::optional<Choice> choice = getChoice(loop, number);
  return choice && isPrevious(choice->other);
}

bool GroupBounds::isEndOfPrevious(Value number) const {
  auto [tensor, index] = getElement(number);
  return tensor == ends && index && isPrevious(index);
}

bool GroupBounds::isCarriedEnd(Value number) const {
  scf::ForOp carrier = loop;
  auto argument = dyn_cast<BlockArgument>(number);
  if (!argument || argument.getOwner() != carrier.getBody())
    return false;
  OpOperand *init = carrier.getTiedLoopInit(argument);
  return init && isConstant(init->get(), 0) &&
         isEnd(carrier.getTiedLoopYieldedValue(argument)->get());
}

bool GroupBounds::isStart(OpFoldResult number) const {
  auto value = dyn_cast<Value>(number);
  if (!value)
    return false;
  value = stripIndexCasts(value);
  if (isCarriedEnd(value))
    return true;
  std::optional<Choice> choice = getChoice(loop, value);
  return choice && isConstant(choice->first, 0) &&
         isEndOfPrevious(choice->other);
}

/// `number` as a difference.
static arith::SubIOp getDifference(OpFoldResult number) {
  auto value = dyn_cast<Value>(number);
  return value ? stripIndexCasts(value).getDefiningOp<arith::SubIOp>()
               : arith::SubIOp();
}

bool GroupBounds::isSize(OpFoldResult number) const {
  arith::SubIOp difference = getDifference(number);
  return difference && isEnd(difference.getLhs()) &&
         isStart(difference.getRhs());
}

std::optional<GroupBounds> GroupBounds::find(scf::ForOp loop,
                                             OpFoldResult size) {
  arith::SubIOp difference = getDifference(size);
  if (!difference)
    return std::nullopt;
  GroupBounds bounds(loop, getElement(difference.getLhs()).first);
  return bounds.getEnds() && bounds.isSize(size) ? std::optional(bounds)
                                                 : std::nullopt;
}
