//===- LaunchExpr.cpp - Numbers of a launch -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers build these expressions step by step. Constants are folded, so that
// most expressions stay a number or one division.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchExpr.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;
using Kind = LaunchExpr::Kind;

LaunchExpr LaunchExpr::ofSize(const ArgumentSize &size) {
  LaunchExpr expr;
  expr.kind = Kind::Size;
  expr.size = size;
  return expr;
}

LaunchExpr LaunchExpr::ofValue(uint32_t argument) {
  LaunchExpr expr(argument);
  expr.kind = Kind::Value;
  return expr;
}

LaunchExpr LaunchExpr::ofSms(int64_t factor) {
  LaunchExpr expr(factor);
  expr.kind = Kind::Sms;
  return expr;
}

bool blockscale::applyLaunchOperation(Kind kind, int64_t lhs, int64_t rhs,
                                      int64_t &result) {
  if (isDivision(kind) && rhs < 1)
    return false;
  switch (kind) {
  case Kind::Add:
    return !__builtin_add_overflow(lhs, rhs, &result);
  case Kind::Mul:
    return !__builtin_mul_overflow(lhs, rhs, &result);
  case Kind::CeilDiv:
    result = lhs / rhs + (lhs % rhs > 0 ? 1 : 0);
    return true;
  case Kind::FloorDiv:
    result = lhs / rhs - (lhs % rhs < 0 ? 1 : 0);
    return true;
  case Kind::Rem:
    result = lhs % rhs + (lhs % rhs < 0 ? rhs : 0);
    return true;
  case Kind::Min:
    result = std::min(lhs, rhs);
    return true;
  case Kind::Max:
    result = std::max(lhs, rhs);
    return true;
  case Kind::Eq:
    result = lhs == rhs;
    return true;
  case Kind::Lt:
    result = lhs < rhs;
    return true;
  case Kind::Number:
  case Kind::Size:
  case Kind::Value:
  case Kind::Sms:
  case Kind::Select:
    break;
  }
  return false;
}

/// An operation that is not simplified.
static LaunchExpr makeOperation(Kind kind, LaunchExpr &&first,
                                LaunchExpr &&second) {
  LaunchExpr expr;
  expr.kind = kind;
  // Not from a list, which would copy whole trees.
  expr.operands.reserve(kind == Kind::Select ? 3 : 2);
  expr.operands.push_back(std::move(first));
  expr.operands.push_back(std::move(second));
  return expr;
}

LaunchExpr LaunchExpr::make(Kind kind, LaunchExpr lhs, LaunchExpr rhs) {
  int64_t known;
  if (lhs.isNumber() && rhs.isNumber() &&
      applyLaunchOperation(kind, lhs.number, rhs.number, known))
    return known;
  bool isCommutative = !isDivision(kind) && kind != Kind::Lt;
  if (isCommutative && lhs.isNumber())
    std::swap(lhs, rhs);
  // x + 0, x * 1, x ceildiv 1, x floordiv 1; x * 0, x rem 1.
  if (rhs.isNumber()) {
    if ((kind == Kind::Add && rhs.number == 0) ||
        ((kind == Kind::Mul || kind == Kind::CeilDiv ||
          kind == Kind::FloorDiv) &&
         rhs.number == 1))
      return lhs;
    if (kind == Kind::Mul && rhs.number == 0)
      return rhs;
    if (kind == Kind::Rem && rhs.number == 1)
      return 0;
  }
  // The quotient of a quotient; a multiple divided by its factor.
  if (rhs.isNumber() && rhs.number > 0 && lhs.kind == Kind::CeilDiv &&
      lhs.operands[1].isNumber()) {
    const LaunchExpr &inner = lhs.operands[0];
    int64_t divisor = lhs.operands[1].number;
    if (kind == Kind::CeilDiv &&
        !__builtin_mul_overflow(divisor, rhs.number, &divisor))
      return make(Kind::CeilDiv, inner, divisor);
    if (kind == Kind::Mul && rhs.number == divisor &&
        inner.kind == Kind::Size && inner.size.elements % divisor == 0)
      return inner;
  }
  // The multiple of a multiple; an exact quotient multiplied by its divisor.
  if (rhs.isNumber() && rhs.number > 0 && lhs.kind == Kind::Mul &&
      lhs.operands[1].isNumber()) {
    const LaunchExpr &inner = lhs.operands[0];
    int64_t factor = lhs.operands[1].number;
    if (kind == Kind::Mul &&
        !__builtin_mul_overflow(factor, rhs.number, &factor))
      return make(Kind::Mul, inner, factor);
    if ((kind == Kind::CeilDiv || kind == Kind::FloorDiv) &&
        factor % rhs.number == 0)
      return make(Kind::Mul, inner, factor / rhs.number);
  }
  if ((kind == Kind::Min || kind == Kind::Max) && lhs == rhs)
    return lhs;
  if (kind == Kind::Eq && lhs == rhs)
    return 1;
  return makeOperation(kind, std::move(lhs), std::move(rhs));
}

LaunchExpr LaunchExpr::alignTo(const LaunchExpr &expr, int64_t unit) {
  return make(Kind::Mul, make(Kind::CeilDiv, expr, unit), unit);
}

LaunchExpr LaunchExpr::select(LaunchExpr condition, LaunchExpr then,
                              LaunchExpr otherwise) {
  if (condition.isNumber())
    return condition.number != 0 ? then : otherwise;
  if (then == otherwise)
    return then;
  LaunchExpr expr =
      makeOperation(Kind::Select, std::move(condition), std::move(then));
  expr.operands.push_back(std::move(otherwise));
  return expr;
}

LaunchExpr LaunchExpr::negate(LaunchExpr condition) {
  // Two negations cancel out.
  if (condition.kind == Kind::Eq && condition.operands[1] == 0 &&
      condition.operands[0].isBoolean())
    return condition.operands[0];
  return make(Kind::Eq, std::move(condition), 0);
}

/// Whether `expr` or an operand of it is of `kind`.
static bool hasKind(const LaunchExpr &expr, Kind kind) {
  return expr.kind == kind ||
         std::any_of(
             expr.operands.begin(), expr.operands.end(),
             [&](const LaunchExpr &operand) { return hasKind(operand, kind); });
}

bool LaunchExpr::usesSms() const { return hasKind(*this, Kind::Sms); }

bool LaunchExpr::usesSelect() const { return hasKind(*this, Kind::Select); }

bool LaunchExpr::isBoolean() const {
  auto isOperandBoolean = [](const LaunchExpr &operand) {
    return operand.isBoolean();
  };
  switch (kind) {
  case Kind::Eq:
  case Kind::Lt:
    return true;
  case Kind::Number:
    return number == 0 || number == 1;
  case Kind::Mul:
  case Kind::Min:
  case Kind::Max:
    return std::all_of(operands.begin(), operands.end(), isOperandBoolean);
  case Kind::Select:
    return std::all_of(operands.begin() + 1, operands.end(), isOperandBoolean);
  default:
    return false;
  }
}

bool LaunchExpr::isNonNegative() const {
  auto isOperandNonNegative = [](const LaunchExpr &operand) {
    return operand.isNonNegative();
  };
  switch (kind) {
  case Kind::Size:
  case Kind::Sms:
  case Kind::Rem:
  case Kind::Eq:
  case Kind::Lt:
    return true;
  case Kind::Value:
    return false;
  case Kind::Number:
    return number >= 0;
  case Kind::Max:
    return std::any_of(operands.begin(), operands.end(), isOperandNonNegative);
  case Kind::Select:
    return std::all_of(operands.begin() + 1, operands.end(),
                       isOperandNonNegative);
  case Kind::Add:
  case Kind::Mul:
  case Kind::CeilDiv:
  case Kind::FloorDiv:
  case Kind::Min:
    break;
  }
  return std::all_of(operands.begin(), operands.end(), isOperandNonNegative);
}

uint32_t LaunchExpr::numArguments() const {
  uint32_t number = kind == Kind::Size ? size.argument + 1 : 0;
  if (kind == Kind::Value)
    number = static_cast<uint32_t>(this->number) + 1;
  for (const LaunchExpr &operand : operands)
    number = std::max(number, operand.numArguments());
  return number;
}

bool LaunchExpr::operator==(const LaunchExpr &other) const {
  return kind == other.kind && number == other.number && size == other.size &&
         operands == other.operands;
}
