//===- ParseExpressions.cpp - Constant expressions of PTX -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions are evaluated as they are parsed. As in C, a signed and an
// unsigned operand give an unsigned result, and an integer and a floating-point
// operand give a floating-point result.
//
// Source: PTX ISA, section 4.5 "Constants".
//
//===----------------------------------------------------------------------===//

#include "Ptx/ParserImpl.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Error.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using Kind = Constant::Kind;

static constexpr uint64_t warpSize = 32;
/// No longer decimal is needed, and their conversion takes quadratic time.
static constexpr size_t maxFloatSize = 1024;

static Constant makeBool(bool value) { return {Kind::S64, value}; }

static double toDouble(const Constant &value) {
  switch (value.kind) {
  case Kind::S64:
    return static_cast<double>(static_cast<int64_t>(value.bits));
  case Kind::U64:
    return static_cast<double>(value.bits);
  case Kind::F32:
    return llvm::bit_cast<float>(static_cast<uint32_t>(value.bits));
  case Kind::F64:
    return llvm::bit_cast<double>(value.bits);
  }
  llvm_unreachable("no such kind of constant");
}

static Constant fromDouble(double value) {
  return {Kind::F64, llvm::bit_cast<uint64_t>(value)};
}

static bool isTrue(const Constant &value) {
  return value.isInteger() ? value.bits != 0 : toDouble(value) != 0;
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// Decimal, `0x`, `0b` or octal, with an optional `U`.
ParseResult PtxParser::parseIntegerLiteral(Constant &value) {
  StringRef digits = token.text;
  bool isUnsigned = digits.consume_back("U");
  unsigned radix = 10;
  if (digits.consume_front_insensitive("0x"))
    radix = 16;
  else if (digits.consume_front_insensitive("0b"))
    radix = 2;
  else if (digits.size() > 1 && digits.consume_front("0"))
    radix = 8;
  if (digits.getAsInteger(radix, value.bits))
    return emitExpected("an integer of at most 64 bits");
  bool fits = static_cast<int64_t>(value.bits) >= 0;
  value.kind = isUnsigned || !fits ? Kind::U64 : Kind::S64;
  advance();
  return success();
}

/// `0f` with the 8 digits of an f32, or `0d` with the 16 digits of an f64.
ParseResult PtxParser::parseHexFloat(Constant &value) {
  bool isSingle = llvm::toLower(token.text[1]) == 'f';
  StringRef digits = token.text.drop_front(2);
  unsigned numDigits = isSingle ? 8 : 16;
  if (digits.size() != numDigits || digits.getAsInteger(16, value.bits))
    return emitExpected("0" + Twine(token.text[1]) + " and " +
                        Twine(numDigits) + " hexadecimal digits");
  value.kind = isSingle ? Kind::F32 : Kind::F64;
  advance();
  return success();
}

/// Whether the text looks like `1.5`, `.5`, `1.` or `1e-5`.
static bool isDecimalFloat(StringRef text) {
  auto skipDigits = [&] {
    StringRef digits = text.take_while(llvm::isDigit);
    text = text.drop_front(digits.size());
    return !digits.empty();
  };
  bool hasDigits = skipDigits();
  if (text.consume_front("."))
    hasDigits |= skipDigits();
  if (text.consume_front_insensitive("e")) {
    if (!text.consume_front("+"))
      (void)text.consume_front("-");
    hasDigits &= skipDigits();
  }
  return hasDigits && text.empty();
}

ParseResult PtxParser::parseDecimalFloat(Constant &value) {
  if (token.text.size() > maxFloatSize)
    return emitExpected("a number of at most " + Twine(maxFloatSize) +
                        " characters");
  if (!isDecimalFloat(token.text))
    return emitExpected("a number");
  llvm::APFloat number(llvm::APFloat::IEEEdouble());
  llvm::Expected<llvm::APFloat::opStatus> status =
      number.convertFromString(token.text, llvm::APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return emitExpected("a number");
  }
  if (number.isInfinity())
    return emitExpected("a number in the range of f64");
  value = fromDouble(number.convertToDouble());
  advance();
  return success();
}

ParseResult PtxParser::parseLiteral(Constant &value) {
  if (token.is(TokenKind::Integer))
    return parseIntegerLiteral(value);
  if (token.text.starts_with_insensitive("0f") ||
      token.text.starts_with_insensitive("0d"))
    return parseHexFloat(value);
  return parseDecimalFloat(value);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// 0 if the token is no binary operator.
static unsigned getPrecedence(const Token &token) {
  if (!token.is(Token::Kind::Punctuator))
    return 0;
  return llvm::StringSwitch<unsigned>(token.text)
      .Case("||", 1)
      .Case("&&", 2)
      .Case("|", 3)
      .Case("^", 4)
      .Case("&", 5)
      .Cases({"==", "!="}, 6)
      .Cases({"<", ">", "<=", ">="}, 7)
      .Cases({"<<", ">>"}, 8)
      .Cases({"+", "-"}, 9)
      .Cases({"*", "/", "%"}, 10)
      .Default(0);
}

/// nullopt if `op` does not compare.
template <typename T>
static std::optional<bool> compare(StringRef op, T lhs, T rhs) {
  return llvm::StringSwitch<std::optional<bool>>(op)
      .Case("==", lhs == rhs)
      .Case("!=", lhs != rhs)
      .Case("<", lhs < rhs)
      .Case(">", lhs > rhs)
      .Case("<=", lhs <= rhs)
      .Case(">=", lhs >= rhs)
      .Default(std::nullopt);
}

ParseResult PtxParser::applyFloats(const Token &op, Constant &lhs,
                                   Constant rhs) {
  double x = toDouble(lhs), y = toDouble(rhs);
  if (std::optional<bool> result = compare(op.text, x, y))
    lhs = makeBool(*result);
  else if (op.text == "+")
    lhs = fromDouble(x + y);
  else if (op.text == "-")
    lhs = fromDouble(x - y);
  else if (op.text == "*")
    lhs = fromDouble(x * y);
  else if (op.text == "/" && y != 0)
    lhs = fromDouble(x / y);
  else if (op.text == "/")
    return emitError(op.location, "expected a divisor, got 0");
  else
    return emitExpected("an operator of floating-point numbers", op);
  return success();
}

/// The quotient or remainder; the divisor is not 0.
static uint64_t divide(StringRef op, Constant lhs, Constant rhs) {
  bool isRemainder = op == "%";
  if (lhs.kind == Kind::U64)
    return isRemainder ? lhs.bits % rhs.bits : lhs.bits / rhs.bits;
  auto x = static_cast<int64_t>(lhs.bits), y = static_cast<int64_t>(rhs.bits);
  // The quotient of the least integer wraps around.
  if (y == -1)
    return isRemainder ? 0 : -lhs.bits;
  return isRemainder ? x % y : x / y;
}

static uint64_t shift(StringRef op, Constant value, uint64_t count) {
  if (op == "<<")
    return value.bits << count;
  if (value.kind == Kind::U64)
    return value.bits >> count;
  return static_cast<int64_t>(value.bits) >> count;
}

ParseResult PtxParser::applyIntegers(const Token &op, Constant &lhs,
                                     Constant rhs) {
  bool isShift = op.text == "<<" || op.text == ">>";
  if (isShift && rhs.bits >= 64)
    return emitError(op.location,
                     "expected a shift by 0 to 63, got " +
                         (rhs.kind == Kind::U64
                              ? Twine(rhs.bits)
                              : Twine(static_cast<int64_t>(rhs.bits))));
  if (isShift) {
    lhs.bits = shift(op.text, lhs, rhs.bits);
    return success();
  }
  if (rhs.kind == Kind::U64)
    lhs.kind = Kind::U64;
  std::optional<bool> result =
      lhs.kind == Kind::U64 ? compare(op.text, lhs.bits, rhs.bits)
                            : compare(op.text, static_cast<int64_t>(lhs.bits),
                                      static_cast<int64_t>(rhs.bits));
  if (result) {
    lhs = makeBool(*result);
    return success();
  }
  bool isDivision = op.text == "/" || op.text == "%";
  if (isDivision && rhs.bits == 0)
    return emitError(op.location, "expected a divisor, got 0");
  lhs.bits = isDivision ? divide(op.text, lhs, rhs)
                        : llvm::StringSwitch<uint64_t>(op.text)
                              .Case("+", lhs.bits + rhs.bits)
                              .Case("-", lhs.bits - rhs.bits)
                              .Case("*", lhs.bits * rhs.bits)
                              .Case("&", lhs.bits & rhs.bits)
                              .Case("|", lhs.bits | rhs.bits)
                              .Default(lhs.bits ^ rhs.bits);
  return success();
}

ParseResult PtxParser::applyBinary(const Token &op, Constant &lhs,
                                   Constant rhs) {
  if (op.text == "&&" || op.text == "||") {
    lhs = makeBool(op.text == "&&" ? isTrue(lhs) && isTrue(rhs)
                                   : isTrue(lhs) || isTrue(rhs));
    return success();
  }
  if (lhs.isInteger() && rhs.isInteger())
    return applyIntegers(op, lhs, rhs);
  return applyFloats(op, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// `(EXPRESSION)`, or a cast such as `(.s64) UNARY`.
ParseResult PtxParser::parseParenthesized(Constant &value) {
  Nesting nesting(*this);
  if (nesting.check())
    return failure();
  advance();
  if (!token.is(TokenKind::Dot)) {
    if (parseExpression(value))
      return failure();
    return parsePunctuator(")");
  }
  if (token.text != ".s64" && token.text != ".u64")
    return emitExpected(".s64 or .u64");
  Kind kind = token.text == ".s64" ? Kind::S64 : Kind::U64;
  advance();
  if (parsePunctuator(")"))
    return failure();
  Token start = token;
  if (parseUnary(value))
    return failure();
  if (!value.isInteger())
    return emitExpected("an integer", start);
  value.kind = kind;
  return success();
}

ParseResult PtxParser::parsePrimary(Constant &value) {
  if (token.isPunctuator("("))
    return parseParenthesized(value);
  if (token.is(TokenKind::Integer) || token.is(TokenKind::Float))
    return parseLiteral(value);
  if (!token.isWord("WARP_SZ"))
    return emitExpected("a constant");
  value = {Kind::S64, warpSize};
  advance();
  return success();
}

static void negate(Constant &value) {
  constexpr uint64_t signOfF32 = uint64_t(1) << 31;
  constexpr uint64_t signOfF64 = uint64_t(1) << 63;
  if (value.kind == Kind::F32)
    value.bits ^= signOfF32;
  else if (value.kind == Kind::F64)
    value.bits ^= signOfF64;
  else
    value.bits = -value.bits;
}

ParseResult PtxParser::parseUnary(Constant &value) {
  Token op = token;
  bool isUnary = llvm::any_of(llvm::ArrayRef<StringRef>{"+", "-", "!", "~"},
                              [&](StringRef c) { return op.isPunctuator(c); });
  if (!isUnary)
    return parsePrimary(value);
  Nesting nesting(*this);
  if (nesting.check())
    return failure();
  advance();
  if (parseUnary(value))
    return failure();
  if (op.text == "-") {
    negate(value);
  } else if (op.text == "!" || op.text == "~") {
    if (!value.isInteger())
      return emitExpected("an operator of floating-point numbers", op);
    value = op.text == "!" ? makeBool(value.bits == 0)
                           : Constant{value.kind, ~value.bits};
  }
  return success();
}

ParseResult PtxParser::parseBinary(Constant &value, unsigned minPrecedence) {
  if (parseUnary(value))
    return failure();
  while (true) {
    Token op = token;
    unsigned precedence = getPrecedence(op);
    if (precedence == 0 || precedence < minPrecedence)
      return success();
    advance();
    Constant rhs;
    if (parseBinary(rhs, precedence + 1) || applyBinary(op, value, rhs))
      return failure();
  }
}

ParseResult PtxParser::parseExpression(Constant &value) {
  if (parseBinary(value, 1))
    return failure();
  if (!token.isPunctuator("?"))
    return success();
  Nesting nesting(*this);
  if (nesting.check())
    return failure();
  advance();
  Constant otherwise;
  bool isFirst = isTrue(value);
  if (parseExpression(value) || parsePunctuator(":") ||
      parseExpression(otherwise))
    return failure();
  if (!isFirst)
    value = otherwise;
  return success();
}
