//===- ParseDeclarations.cpp - Declarations of PTX variables --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers, variables and parameters.
//
// Source: PTX ISA, chapter 5 "State Spaces, Types, and Variables".
//
//===----------------------------------------------------------------------===//

#include "Ptx/ParserImpl.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Bounds the products of extents, and the nesting of initializers.
static constexpr size_t maxRank = 64;
static constexpr unsigned maxVectorBits = 128;
static constexpr uint64_t maxAlignment = uint64_t(1) << 31;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// `.align 16`, behind the directive.
ParseResult PtxParser::parseAlignment(uint64_t &alignment) {
  Token start = token;
  if (parseInteger(alignment, 1, maxAlignment))
    return failure();
  if (!llvm::isPowerOf2_64(alignment))
    return emitExpected("a power of two", start);
  return success();
}

/// `.ptr .global .align 16`, behind the first.
ParseResult PtxParser::parsePointer(Variable &variable) {
  variable.isPointer = true;
  variable.pointerSpace = llvm::StringSwitch<std::optional<Space>>(token.text)
                              .Case(".const", Space::Const)
                              .Case(".global", Space::Global)
                              .Case(".local", Space::Local)
                              .Case(".shared", Space::Shared)
                              .Default(std::nullopt);
  if (variable.pointerSpace)
    advance();
  if (!consumeIfDot(".align"))
    return success();
  return parseAlignment(variable.pointerAlignment);
}

/// The type, which is behind all attributes but `.ptr`.
ParseResult PtxParser::parseType(Attributes &attributes) {
  static constexpr StringRef refused[] = {".texref", ".samplerref", ".surfref"};
  if (llvm::is_contained(refused, token.text))
    return emitNotSupported(token.text);
  std::optional<Type> type;
  if (token.is(TokenKind::Dot))
    type = lookupType(token.text.drop_front());
  if (!type || !getTypeInfo(*type).isDeclarable)
    return emitExpected("a type");
  attributes.type = *type;
  if (attributes.vectorSize != 1 &&
      (*type == Type::Pred ||
       getBits(*type) * attributes.vectorSize > maxVectorBits))
    return emitExpected("a type of a vector of at most " +
                        Twine(maxVectorBits) + " bits");
  advance();
  return success();
}

ParseResult PtxParser::parseAttributes(Attributes &attributes) {
  while (true) {
    if (consumeIfDot(".v2")) {
      attributes.vectorSize = 2;
    } else if (consumeIfDot(".v4")) {
      attributes.vectorSize = 4;
    } else if (consumeIfDot(".align")) {
      if (parseAlignment(attributes.alignment))
        return failure();
    } else if (consumeIfDot(".attribute")) {
      // The location of managed memory does not matter to a program.
      if (skipBrackets("(", ")"))
        return failure();
    } else {
      break;
    }
  }
  return parseType(attributes);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

ParseResult PtxParser::declareLocal(StringRef name, Location location,
                                    Symbol symbol) {
  if (name != "_" && name != "WARP_SZ" && symbols.declare(name, symbol))
    return success();
  return emitError(location, "expected a name that is not declared yet, got " +
                                 quoteForMessage(name));
}

/// `%r1`, or a range `%r<100>`.
ParseResult PtxParser::parseRegister(const Attributes &attributes) {
  Token start = token;
  StringRef name;
  if (parseWord(name, "the name of a register"))
    return failure();
  if (!consumeIf("<")) {
    Symbol symbol = {Symbol::Kind::Register,
                     static_cast<Index>(function.registers.size())};
    function.registers.push_back(
        {name, attributes.type, attributes.vectorSize});
    return declareLocal(name, start.location, symbol);
  }
  uint64_t count;
  if (parseInteger(count, 0, UINT32_MAX) || parsePunctuator(">"))
    return failure();
  if (!symbols.declareRange(name, attributes.type, attributes.vectorSize,
                            count))
    return emitExpected("a name that is not declared yet", start);
  return success();
}

ParseResult PtxParser::parseRegisters() {
  Attributes attributes;
  if (parseAttributes(attributes))
    return failure();
  return parseNames([&] { return parseRegister(attributes); });
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// Declarations behind their attributes, at least one.
ParseResult PtxParser::parseNames(llvm::function_ref<ParseResult()> parseName) {
  do
    if (parseName())
      return failure();
  while (consumeIf(","));
  return consumeIf(";") ? success() : emitExpected("',' or ';'");
}

ParseResult PtxParser::parseExtents(Extents &extents) {
  while (consumeIf("[")) {
    if (extents.size() == maxRank)
      return emitExpected("at most " + Twine(maxRank) + " dimensions");
    uint64_t extent = 0;
    // Only the first may be left out.
    bool isOmitted = extents.empty() && token.isPunctuator("]");
    if ((!isOmitted && parseInteger(extent, 1, INT64_MAX)) ||
        parsePunctuator("]"))
      return failure();
    extents.push_back(extent);
  }
  return success();
}

/// The size of all elements; if the first extent is omitted, of the elements
/// below it.
ParseResult PtxParser::computeSize(Variable &variable,
                                   llvm::ArrayRef<uint64_t> extents) {
  uint64_t size = getBytes(variable.type) * variable.vectorSize;
  if (variable.alignment == 0)
    variable.alignment = size;
  variable.isUnsized = !extents.empty() && extents.front() == 0;
  for (uint64_t extent : extents)
    size = llvm::SaturatingMultiply(size, std::max<uint64_t>(extent, 1));
  if (size > INT64_MAX)
    return emitError(variable.location, "expected a size of at most " +
                                            Twine(INT64_MAX) + " bytes for " +
                                            quoteForMessage(variable.name) +
                                            ", got more");
  variable.size = variable.isUnsized ? 0 : size;
  return success();
}

/// The name and the size, behind the attributes.
ParseResult PtxParser::parseVariable(Variable &variable, Extents &extents) {
  variable.location = token.location;
  if (variable.type == Type::Pred)
    return emitExpected("a type of a variable before the name");
  return failure(parseWord(variable.name, "the name of a variable") ||
                 parseExtents(extents) || computeSize(variable, extents));
}

bool sim::haveSameType(const Variable &lhs, const Variable &rhs) {
  return lhs.space == rhs.space && lhs.type == rhs.type &&
         lhs.vectorSize == rhs.vectorSize &&
         (lhs.size == rhs.size || lhs.isUnsized || rhs.isUnsized);
}

/// A variable of the module, or the definition of one that is declared.
ParseResult PtxParser::addGlobal(Variable variable, Index &index) {
  index = module.variables.size();
  StringRef name = variable.name;
  Location location = variable.location;
  if (name != "_" && name != "WARP_SZ" &&
      symbols.declareGlobal(name, {Symbol::Kind::Variable, index})) {
    module.globals.push_back(index);
    module.variables.push_back(std::move(variable));
    return success();
  }
  std::optional<Symbol> symbol = symbols.lookupGlobal(name);
  if (!symbol || symbol->kind != Symbol::Kind::Variable)
    return emitError(location,
                     "expected a name that is not declared yet, got " +
                         quoteForMessage(name));
  index = symbol->index;
  Variable &previous = module.variables[index];
  if (!previous.isExtern && !variable.isExtern)
    return emitError(location,
                     "expected a name that is not declared yet, got " +
                         quoteForMessage(name));
  if (!haveSameType(previous, variable))
    return emitError(location, "expected the type and size of the first "
                               "declaration for " +
                                   quoteForMessage(name) + ", got others");
  if (!variable.isExtern)
    previous = std::move(variable);
  return success();
}

ParseResult PtxParser::addVariable(Variable variable, Index &index) {
  if (symbols.getDepth() == 0)
    return addGlobal(std::move(variable), index);
  index = module.variables.size();
  module.variables.push_back(std::move(variable));
  function.variables.push_back(index);
  const Variable &added = module.variables[index];
  return declareLocal(added.name, added.location,
                      {Symbol::Kind::Variable, index});
}

/// `.align 4 .b32 a[2] = {1, 2}, b;`, behind the space.
ParseResult PtxParser::parseVariables(Space space, const Linkage &linkage) {
  Attributes attributes;
  if (parseAttributes(attributes))
    return failure();
  auto parseOne = [&]() -> ParseResult {
    Variable variable;
    variable.space = space;
    variable.type = attributes.type;
    variable.vectorSize = attributes.vectorSize;
    variable.alignment = attributes.alignment;
    variable.isExtern = linkage.isExtern;
    Extents extents;
    if (parseVariable(variable, extents))
      return failure();
    bool isInitialized = token.isPunctuator("=");
    if (isInitialized && space != Space::Global && space != Space::Const)
      return emitExpected("no initializer outside of .global and .const");
    if (isInitialized && linkage.isExtern)
      return emitExpected("no initializer of an .extern variable");
    if (variable.isUnsized && !isInitialized && !linkage.isExtern)
      return emitExpected("an initializer of an array without a size");
    Index index;
    if (addVariable(std::move(variable), index))
      return failure();
    if (!consumeIf("="))
      return success();
    // The initializer may contain the variable's own address, so the variable
    // is declared first.
    Variable initialized = std::move(module.variables[index]);
    if (parseInitializer(initialized, index, extents))
      return failure();
    module.variables[index] = std::move(initialized);
    return success();
  };
  return parseNames(parseOne);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

ParseResult PtxParser::parseParameter(ParsedParameter &parameter,
                                      bool isEntry) {
  Attributes attributes;
  if (!isEntry && consumeIfDot(".reg")) {
    parameter.isRegister = true;
    if (parseAttributes(attributes))
      return failure();
    parameter.location = token.location;
    parameter.reg.type = attributes.type;
    parameter.reg.vectorSize = attributes.vectorSize;
    return parseWord(parameter.reg.name, "the name of a register");
  }
  if (!consumeIfDot(".param"))
    return emitExpected(isEntry ? "'.param'" : "'.param' or '.reg'");
  Variable &variable = parameter.variable;
  if (parseAttributes(attributes) ||
      (consumeIfDot(".ptr") && parsePointer(variable)))
    return failure();
  variable.space = Space::Param;
  variable.type = attributes.type;
  variable.vectorSize = attributes.vectorSize;
  variable.alignment = attributes.alignment;
  parameter.location = token.location;
  Extents extents;
  if (parseVariable(variable, extents))
    return failure();
  if (isEntry && variable.isUnsized)
    return emitExpected("a size of the parameter of an entry");
  return success();
}

/// A list in parentheses.
ParseResult PtxParser::parseParameters(std::vector<ParsedParameter> &parameters,
                                       bool isEntry) {
  if (parsePunctuator("("))
    return failure();
  return parseList(
      ")", [&] { return parseParameter(parameters.emplace_back(), isEntry); });
}
