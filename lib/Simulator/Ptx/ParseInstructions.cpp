//===- ParseInstructions.cpp - Statements of PTX functions ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies of functions: labels, guards, instructions and the directives between
// them, without knowing what an opcode means.
//
// Source: PTX ISA, sections 4.3 "Statements", 9.7.12 "Control Flow
// Instructions" and 11.3 "Control Flow Directives".
//
//===----------------------------------------------------------------------===//

#include "Ptx/ParserImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using Wanted = Reference::Wanted;

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// A list of labels or functions, which may be declared later.
ParseResult PtxParser::parseTargets(Wanted wanted, Reference::Site site,
                                    Index index, std::vector<Index> &targets) {
  return parseNames([&]() -> ParseResult {
    Reference reference;
    reference.location = token.location;
    reference.wanted = wanted;
    reference.site = site;
    reference.index = index;
    reference.part = targets.size();
    if (parseWord(reference.name,
                  wanted == Wanted::Label ? "a label" : "a function"))
      return failure();
    targets.push_back(Reference::none);
    symbols.addReference(reference);
    return success();
  });
}

/// `(RETURNS) _ (PARAMETERS);`
ParseResult PtxParser::parseCallPrototype(Prototype &prototype) {
  auto parse = [&](std::vector<Prototype::Parameter> &parameters) {
    std::vector<ParsedParameter> parsed;
    if (token.isPunctuator("(") && parseParameters(parsed, false))
      return ParseResult(failure());
    for (const ParsedParameter &each : parsed)
      parameters.push_back(
          {each.isRegister, each.reg.type, each.variable.size});
    return ParseResult(success());
  };
  StringRef name;
  if (parse(prototype.returns) || parseWord(name, "'_'") ||
      parse(prototype.parameters))
    return failure();
  for (bool isParsed = true; isParsed;)
    if (parseAbiDirective(isParsed))
      return failure();
  return parsePunctuator(";");
}

/// The directive behind a label that names no instruction.
ParseResult PtxParser::parseLabelDirective(StringRef name, Location location) {
  auto index = static_cast<Index>(function.branchTargets.size());
  if (consumeIfDot(".branchtargets")) {
    function.branchTargets.emplace_back();
    if (declareLocal(name, location, {Symbol::Kind::BranchTargets, index}))
      return failure();
    return parseTargets(Wanted::Label, Reference::Site::BranchTargets, index,
                        function.branchTargets[index]);
  }
  index = static_cast<Index>(function.prototypes.size());
  Prototype &prototype = function.prototypes.emplace_back();
  if (declareLocal(name, location, {Symbol::Kind::Prototype, index}))
    return failure();
  prototype.isList = consumeIfDot(".calltargets");
  if (prototype.isList)
    return parseTargets(Wanted::Function, Reference::Site::CallTargets, index,
                        prototype.targets);
  advance();
  return parseCallPrototype(prototype);
}

static bool isLabelDirective(const Token &token) {
  return token.isDot(".branchtargets") || token.isDot(".calltargets") ||
         token.isDot(".callprototype");
}

ParseResult PtxParser::parseLabel() {
  StringRef name = token.text;
  Location location = token.location;
  advance();
  advance();
  if (isLabelDirective(token))
    return parseLabelDirective(name, location);
  auto index = static_cast<Index>(function.labels.size());
  function.labels.push_back(
      {name, location, static_cast<Index>(function.instructions.size())});
  return declareLocal(name, location, {Symbol::Kind::Label, index});
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// `(a, b)`
ParseResult PtxParser::parseCallArguments(PtxOperand &operand) {
  operand.kind = PtxOperand::Kind::Vector;
  operand.location = token.location;
  if (parsePunctuator("("))
    return failure();
  return parseList(
      ")", [&] { return parseOperand(operand.elements.emplace_back()); });
}

/// `(RETURNS), FUNCTION, (PARAMETERS), PROTOTYPE`; only the function is always
/// there.
ParseResult PtxParser::parseCall(PtxInstruction &instruction) {
  auto &operands = instruction.operands;
  instruction.hasReturns = token.isPunctuator("(");
  if (instruction.hasReturns &&
      (parseCallArguments(operands.emplace_back()) || parsePunctuator(",")))
    return failure();
  std::optional<Symbol> symbol;
  if (lookup(symbol))
    return failure();
  if (symbol && symbol->kind != Symbol::Kind::Register &&
      symbol->kind != Symbol::Kind::Function)
    return emitExpected("a function or a register");
  PtxOperand &callee = operands.emplace_back();
  callee.location = token.location;
  if (symbol ? parseNamedOperand(callee)
             : parseReference(callee, "a function or a register"))
    return failure();
  if (!consumeIf(","))
    return success();
  if (token.isPunctuator("(") &&
      (parseCallArguments(operands.emplace_back()) || !consumeIf(",")))
    return message.empty() ? success() : failure();
  return parseReference(operands.emplace_back(), "a label");
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// `@%p` or `@!%p`
ParseResult PtxParser::parseGuard(PtxInstruction &instruction) {
  advance();
  bool isNegated = consumeIf("!");
  std::optional<Symbol> symbol;
  if (lookup(symbol))
    return failure();
  bool isPredicate = symbol && symbol->kind == Symbol::Kind::Register;
  if (isPredicate) {
    const Register &reg = function.registers[symbol->index];
    isPredicate = reg.type == Type::Pred;
  }
  if (!isPredicate)
    return emitExpected("a predicate register");
  instruction.guard = {symbol->index, isNegated};
  advance();
  return success();
}

ParseResult PtxParser::parseOperands(PtxInstruction &instruction) {
  if (instruction.opcode == "call")
    return parseCall(instruction);
  if (token.isPunctuator(";"))
    return success();
  do {
    // Labels may have the name of a register of an enclosing scope.
    size_t index = instruction.operands.size();
    PtxOperand &operand = instruction.operands.emplace_back();
    bool isLabel = getWanted(instruction, index) != Wanted::LabelOrFunction;
    if (isLabel ? parseReference(operand, "a label") : parseOperand(operand))
      return failure();
  } while (consumeIf(","));
  return success();
}

/// What an operand must be if its name is not declared yet.
Wanted PtxParser::getWanted(const PtxInstruction &instruction,
                            size_t operand) const {
  if (instruction.opcode == "bra")
    return Wanted::Label;
  if (instruction.opcode == "brx" && operand == 1)
    return Wanted::BranchTargets;
  if (instruction.opcode != "call")
    return Wanted::LabelOrFunction;
  size_t callee = instruction.hasReturns ? 1 : 0;
  return operand == callee ? Wanted::Function : Wanted::Prototype;
}

static bool isReference(const PtxOperand &operand) {
  return operand.kind == PtxOperand::Kind::Label &&
         operand.index == Reference::none;
}

static const PtxOperand *findReference(const PtxOperand &operand) {
  if (isReference(operand))
    return &operand;
  for (const PtxOperand &element : operand.elements)
    if (const PtxOperand *use = findReference(element))
      return use;
  return nullptr;
}

ParseResult PtxParser::addReferences(PtxInstruction &instruction) {
  Reference reference;
  reference.site = Reference::Site::PtxOperand;
  reference.index = function.instructions.size();
  auto add = [&](const PtxOperand &operand, Wanted wanted) {
    if (!isReference(operand))
      return;
    reference.name = operand.name;
    reference.location = operand.location;
    reference.wanted = wanted;
    symbols.addReference(reference);
  };
  for (auto [part, operand] : llvm::enumerate(instruction.operands)) {
    reference.part = part;
    reference.element = Reference::none;
    add(operand, getWanted(instruction, part));
    for (auto [i, element] : llvm::enumerate(operand.elements)) {
      reference.element = i;
      add(element, Wanted::LabelOrFunction);
      // Labels and functions are not nested deeper in an operand.
      for (const PtxOperand &inner : element.elements)
        if (const PtxOperand *use = findReference(inner))
          return emitError(use->location, "expected a declared name, got " +
                                              quoteForMessage(use->name));
    }
  }
  return success();
}

ParseResult PtxParser::parseInstruction() {
  PtxInstruction instruction;
  instruction.location = token.location;
  hasReferences = false;
  if (token.isPunctuator("@") && parseGuard(instruction))
    return failure();
  if (!token.is(TokenKind::Word) || !llvm::isLower(token.text.front()))
    return emitExpected("an instruction");
  instruction.opcode = token.text;
  advance();
  for (; token.is(TokenKind::Dot); advance())
    instruction.modifiers.push_back(token.text.drop_front());
  if (parseOperands(instruction))
    return failure();
  if (!consumeIf(";"))
    return emitExpected(instruction.operands.empty() ? "an operand or ';'"
                                                     : "',' or ';'");
  if (hasReferences && addReferences(instruction))
    return failure();
  function.instructions.push_back(std::move(instruction));
  return success();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

ParseResult PtxParser::parseBodyDirective() {
  if (std::optional<ParseResult> result = parseDebugDirective())
    return *result;
  if (consumeIfDot(".reg"))
    return parseRegisters();
  if (isLabelDirective(token))
    return emitExpected("a label before the directive");
  auto space = llvm::StringSwitch<std::optional<Space>>(token.text)
                   .Case(".const", Space::Const)
                   .Case(".global", Space::Global)
                   .Case(".local", Space::Local)
                   .Case(".param", Space::Param)
                   .Case(".shared", Space::Shared)
                   .Default(std::nullopt);
  if (!space)
    return emitExpected("a directive of a function");
  advance();
  return parseVariables(*space, Linkage());
}

ParseResult PtxParser::parseStatement() {
  if (token.is(TokenKind::Dot))
    return parseBodyDirective();
  if (token.is(TokenKind::Word) && peekNext().isPunctuator(":"))
    return parseLabel();
  if (token.is(TokenKind::Word) || token.isPunctuator("@"))
    return parseInstruction();
  return emitExpected("a statement or '}'");
}
