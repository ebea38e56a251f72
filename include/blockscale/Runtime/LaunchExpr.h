//===- LaunchExpr.h - Numbers of a launch -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions for numbers that depend on arguments and on the card: grids, the
// workspace, offsets into it, sizes and strides of tensor maps, shapes of
// buffers. In a launch info they are JSON: a number, or one of
//
//   {"size": {"arg": 0, "dim": 1}}     a size of an argument
//   {"value": {"arg": 0}}              an argument that is an integer
//   {"multiprocessors": 2}             2 times the SMs of the card
//   {"add": [a, b]}                    also mul, ceildiv, floordiv, rem, min,
//                                      max; eq and lt, which are 1 or 0
//   {"select": [c, a, b]}              a if c is not 0, else b; version 2
//
// The operand that a select does not choose is not evaluated, so its errors do
// not count.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHEXPR_H
#define BLOCKSCALE_RUNTIME_LAUNCHEXPR_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// The size of an argument of the function in a dimension, in elements. In a
/// packed dimension, every `bytes` bytes of the array hold `elements`.
struct ArgumentSize {
  uint32_t argument = 0;
  uint32_t dimension = 0;
  uint32_t elements = 1;
  uint32_t bytes = 1;

  bool operator==(const ArgumentSize &other) const {
    return argument == other.argument && dimension == other.dimension &&
           elements == other.elements && bytes == other.bytes;
  }
};

struct LaunchExpr {
  enum class Kind : uint8_t {
    /// `number`.
    Number,
    /// `size`.
    Size,
    /// Argument number `number`, a signed integer of 32 or 64 bits.
    Value,
    /// `number` times the SMs of the card.
    Sms,
    /// Operations with two operands. Quotients are rounded up or down; the
    /// remainder of the latter is not negative. Comparisons are 1 or 0.
    Add,
    Mul,
    CeilDiv,
    FloorDiv,
    Rem,
    Min,
    Max,
    Eq,
    Lt,
    /// The second operand if the first is not 0, else the third.
    Select,
  };

  LaunchExpr(int64_t number = 0) : number(number) {}
  static LaunchExpr ofSize(const ArgumentSize &size);
  static LaunchExpr ofValue(uint32_t argument);
  static LaunchExpr ofSms(int64_t factor = 1);
  /// An operation on two operands. Folds constants, and no-ops such as a factor
  /// of 1.
  static LaunchExpr make(Kind kind, LaunchExpr lhs, LaunchExpr rhs);
  static LaunchExpr select(LaunchExpr condition, LaunchExpr then,
                           LaunchExpr otherwise);
  /// 1 if `condition` is 0, else 0.
  static LaunchExpr negate(LaunchExpr condition);
  /// `expr` rounded up to a multiple of `unit`.
  static LaunchExpr alignTo(const LaunchExpr &expr, int64_t unit);

  bool isNumber() const { return kind == Kind::Number; }
  /// Whether it depends on the card.
  bool usesSms() const;
  bool usesSelect() const;
  /// Whether it is 1 or 0 for all arguments.
  bool isBoolean() const;
  /// Whether it is at least 0 for all arguments.
  bool isNonNegative() const;
  /// The minimum number of arguments.
  uint32_t numArguments() const;

  bool operator==(const LaunchExpr &other) const;

  Kind kind = Kind::Number;
  int64_t number = 0;
  ArgumentSize size;
  std::vector<LaunchExpr> operands;
};

/// The operations, with their names in a file.
struct LaunchOperation {
  LaunchExpr::Kind kind;
  std::string_view name;
  unsigned numOperands = 2;
};
inline constexpr LaunchOperation launchOperations[] = {
    {LaunchExpr::Kind::Add, "add"},
    {LaunchExpr::Kind::Mul, "mul"},
    {LaunchExpr::Kind::CeilDiv, "ceildiv"},
    {LaunchExpr::Kind::FloorDiv, "floordiv"},
    {LaunchExpr::Kind::Rem, "rem"},
    {LaunchExpr::Kind::Min, "min"},
    {LaunchExpr::Kind::Max, "max"},
    {LaunchExpr::Kind::Eq, "eq"},
    {LaunchExpr::Kind::Lt, "lt"},
    {LaunchExpr::Kind::Select, "select", 3},
};

/// Whether the second operand of `kind` must be positive.
constexpr bool isDivision(LaunchExpr::Kind kind) {
  return kind == LaunchExpr::Kind::CeilDiv ||
         kind == LaunchExpr::Kind::FloorDiv || kind == LaunchExpr::Kind::Rem;
}

/// Computes the operation `kind`, no select, of two numbers; false on overflow
/// of 64 bits, or if the divisor is not positive.
bool applyLaunchOperation(LaunchExpr::Kind kind, int64_t lhs, int64_t rhs,
                          int64_t &result);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHEXPR_H
