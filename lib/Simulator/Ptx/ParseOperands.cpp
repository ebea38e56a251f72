//===- ParseOperands.cpp - Operands of PTX instructions -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Determines the kinds of operands, and resolves names to indices; names that
// are declared later are patched at the end of their scope.
//
// Source: PTX ISA, chapter 6 "Instruction Operands".
//
//===----------------------------------------------------------------------===//

#include "Machine/SpecialRegisters.h"
#include "Ptx/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using Kind = PtxOperand::Kind;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Looks up the current word: a name of the function, else of the module.
ParseResult PtxParser::lookup(std::optional<Symbol> &symbol) {
  SymbolTable::Found found = symbols.lookup(token.text, function.registers);
  if (found.isAmbiguous)
    return emitExpected("a name that is declared once");
  symbol = found.symbol ? found.symbol : symbols.lookupGlobal(token.text);
  return success();
}

/// Whether the text is a selector of a video instruction: `.b0`, `.h1`,
/// `.b3210`.
static bool isSelector(StringRef text) {
  return (text.consume_front(".b") || text.consume_front(".h")) &&
         !text.empty() && llvm::all_of(text, llvm::isDigit);
}

/// `.x`, `.y`, `.z` or `.w`, or `.r`, `.g`, `.b` or `.a`, of a vector of this
/// many elements; or nothing.
ParseResult PtxParser::parseComponent(PtxOperand &operand, unsigned size) {
  if (!token.is(TokenKind::Dot))
    return success();
  int component = llvm::StringSwitch<int>(token.text)
                      .Cases({".x", ".r"}, 0)
                      .Cases({".y", ".g"}, 1)
                      .Cases({".z", ".b"}, 2)
                      .Cases({".w", ".a"}, 3)
                      .Default(-1);
  if (size == 1)
    return emitExpected("a vector before a component");
  if (component < 0 || static_cast<unsigned>(component) >= size)
    return emitExpected("a component of a vector of " + Twine(size));
  operand.component = component;
  advance();
  return success();
}

ParseResult PtxParser::parseSpecialRegister(PtxOperand &operand) {
  constexpr unsigned vectorSize = 4;
  bool isVector = lookupSpecialRegister(token.text)->isVector;
  operand.kind = Kind::SpecialRegister;
  operand.name = token.text;
  advance();
  Token component = token;
  if (parseComponent(operand, isVector ? vectorSize : 1))
    return failure();
  if (operand.component < 0)
    return success();
  // The whole name must be contiguous in the text.
  if (component.text.data() != operand.name.end())
    return emitError(component.location, "expected no space before " +
                                             quoteForMessage(component.text));
  operand.name = StringRef(operand.name.data(),
                           operand.name.size() + component.text.size());
  return success();
}

ParseResult PtxParser::parseReference(PtxOperand &operand, const Twine &what) {
  hasReferences = true;
  operand.kind = Kind::Label;
  operand.index = Reference::none;
  operand.location = token.location;
  return parseWord(operand.name, what);
}

/// A register of a vector type is the vector of its elements.
static void splitVector(PtxOperand &operand, unsigned size) {
  if (size == 1 || operand.component >= 0)
    return;
  PtxOperand vector;
  vector.kind = Kind::Vector;
  vector.location = operand.location;
  for (unsigned i = 0; i != size; ++i) {
    operand.component = i;
    vector.elements.push_back(operand);
  }
  operand = std::move(vector);
}

ParseResult PtxParser::parseNamedOperand(PtxOperand &operand) {
  std::optional<Symbol> symbol;
  if (lookup(symbol))
    return failure();
  if (!symbol) {
    if (lookupSpecialRegister(token.text))
      return parseSpecialRegister(operand);
    return parseReference(operand, "a name");
  }
  operand.index = symbol->index;
  StringRef name = token.text;
  advance();
  switch (symbol->kind) {
  case Symbol::Kind::Register: {
    operand.kind = Kind::Register;
    unsigned size = function.registers[operand.index].vectorSize;
    if (size == 1 && token.is(Token::Kind::Dot) && isSelector(token.text)) {
      operand.selector = token.text.drop_front();
      advance();
      return success();
    }
    if (parseComponent(operand, size))
      return failure();
    splitVector(operand, size);
    return success();
  }
  case Symbol::Kind::Variable:
    operand.kind = Kind::Variable;
    // The extents of arrays are not kept.
    if (token.isPunctuator("["))
      return emitNotSupported("an element of a variable");
    return parseOffset(operand.offset);
  case Symbol::Kind::Function:
    operand.kind = Kind::Function;
    return success();
  case Symbol::Kind::Label:
    operand.kind = Kind::Label;
    return success();
  case Symbol::Kind::BranchTargets:
    operand.kind = Kind::BranchTargets;
    return success();
  case Symbol::Kind::Prototype:
    operand.kind = Kind::Prototype;
    operand.name = name;
    return success();
  }
  llvm_unreachable("no such kind of symbol");
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ParseResult PtxParser::parseOffset(int64_t &offset) {
  constexpr unsigned precedenceOfProducts = 10;
  // Addresses wrap around.
  uint64_t sum = offset;
  while (token.isPunctuator("+") || token.isPunctuator("-")) {
    bool isMinus = token.text == "-";
    advance();
    Token start = token;
    Constant value;
    if (parseBinary(value, precedenceOfProducts))
      return failure();
    if (!value.isInteger())
      return emitExpected("an integer", start);
    sum += isMinus ? -value.bits : value.bits;
  }
  offset = static_cast<int64_t>(sum);
  return success();
}

static bool endsOperand(const Token &token) {
  if (!token.is(Token::Kind::Punctuator))
    return false;
  return llvm::StringSwitch<bool>(token.text)
      .Cases({",", ";", "}", "]", ")"}, true)
      .Default(false);
}

static bool startsConstant(const Token &token) {
  if (token.is(Token::Kind::Punctuator))
    return llvm::StringSwitch<bool>(token.text)
        .Cases({"(", "+", "-", "!", "~"}, true)
        .Default(false);
  return token.is(Token::Kind::Integer) || token.is(Token::Kind::Float) ||
         token.isWord("WARP_SZ");
}

ParseResult PtxParser::parseConstantOperand(PtxOperand &operand) {
  if (token.isWord("WARP_SZ") && endsOperand(peekNext())) {
    operand.kind = Kind::SpecialRegister;
    return parseWord(operand.name, "WARP_SZ");
  }
  Constant value;
  if (parseExpression(value))
    return failure();
  operand.bits = value.bits;
  operand.kind = value.isInteger()                   ? Kind::Integer
                 : value.kind == Constant::Kind::F32 ? Kind::Float32
                                                     : Kind::Float64;
  return success();
}

/// `!%p`
ParseResult PtxParser::parseNegatedRegister(PtxOperand &operand) {
  advance();
  std::optional<Symbol> symbol;
  if (lookup(symbol))
    return failure();
  if (!symbol || symbol->kind != Symbol::Kind::Register)
    return emitExpected("a register");
  operand.isNegated = true;
  return parseNamedOperand(operand);
}

/// `[base+offset, ...]`
ParseResult PtxParser::parseAddress(PtxOperand &operand) {
  operand.kind = Kind::Address;
  Nesting nesting(*this);
  if (nesting.check())
    return failure();
  advance();
  if (token.isPunctuator("]"))
    return emitExpected("an address");
  auto parsePart = [&]() -> ParseResult {
    PtxOperand &part = operand.elements.emplace_back();
    if (parseOperand(part))
      return failure();
    if (operand.elements.size() != 1)
      return success();
    std::swap(operand.offset, part.offset);
    return parseOffset(operand.offset);
  };
  Token start = token;
  if (parseList("]", parsePart))
    return failure();
  const PtxOperand &base = operand.elements.front();
  if (base.isNegated ||
      (base.kind != Kind::Register && base.kind != Kind::Variable &&
       base.kind != Kind::Integer))
    return emitExpected("a register, a variable or an integer", start);
  return success();
}

/// `{a, b}`
ParseResult PtxParser::parseVector(PtxOperand &operand) {
  operand.kind = Kind::Vector;
  Nesting nesting(*this);
  if (nesting.check())
    return failure();
  advance();
  return parseList(
      "}", [&] { return parseOperand(operand.elements.emplace_back()); });
}

ParseResult PtxParser::parseSimpleOperand(PtxOperand &operand) {
  operand.location = token.location;
  if (token.isPunctuator("["))
    return parseAddress(operand);
  if (token.isPunctuator("{"))
    return parseVector(operand);
  if (token.isPunctuator("!") && peekNext().is(TokenKind::Word) &&
      !peekNext().isWord("WARP_SZ"))
    return parseNegatedRegister(operand);
  // A name behind a minus sign is a register: constants have none.
  if (token.isPunctuator("-") && peekNext().is(TokenKind::Word) &&
      !peekNext().isWord("WARP_SZ")) {
    advance();
    Token name = token;
    if (parseNamedOperand(operand))
      return failure();
    operand.isMinus = true;
    return operand.kind == Kind::Register ? success()
                                          : emitExpected("a register", name);
  }
  if (token.isWord("_")) {
    operand.kind = Kind::Sink;
    advance();
    return success();
  }
  if (token.is(TokenKind::Word) && !token.isWord("WARP_SZ"))
    return parseNamedOperand(operand);
  if (!startsConstant(token))
    return emitExpected("an operand");
  return parseConstantOperand(operand);
}

static bool isDestination(const PtxOperand &operand) {
  return !operand.isNegated &&
         (operand.kind == Kind::Register || operand.kind == Kind::Sink);
}

/// `|q` behind a first destination.
ParseResult PtxParser::parsePairEnd(PtxOperand &operand) {
  advance();
  PtxOperand first = std::move(operand);
  operand = PtxOperand();
  operand.kind = Kind::Pair;
  operand.location = first.location;
  operand.elements.push_back(std::move(first));
  Token start = token;
  PtxOperand &second = operand.elements.emplace_back();
  if (parseSimpleOperand(second))
    return failure();
  if (!isDestination(second))
    return emitExpected("a register or _", start);
  return success();
}

ParseResult PtxParser::parseOperand(PtxOperand &operand) {
  if (parseSimpleOperand(operand))
    return failure();
  if (token.isPunctuator("|") && isDestination(operand))
    return parsePairEnd(operand);
  return success();
}
