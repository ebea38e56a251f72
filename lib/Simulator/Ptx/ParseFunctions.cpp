//===- ParseFunctions.cpp - Functions of PTX ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels, functions and their directives, up to the body.
//
// Source: PTX ISA, chapters 7 "Abstracting the ABI" and 11 "Directives".
//
//===----------------------------------------------------------------------===//

#include "Ptx/ParserImpl.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using Wanted = Reference::Wanted;

//===----------------------------------------------------------------------===//
// Directives before the body
//===----------------------------------------------------------------------===//

/// `128, 1, 1`; omitted extents are 1.
ParseResult
PtxParser::parseDimensions(std::optional<std::array<uint32_t, 3>> &extents) {
  if (extents)
    return emitExpected("each directive once");
  extents = {1, 1, 1};
  for (size_t i = 0; i != extents->size(); ++i) {
    uint64_t extent;
    if (i != 0 && !consumeIf(","))
      break;
    if (parseInteger(extent, 1, UINT32_MAX))
      return failure();
    (*extents)[i] = extent;
  }
  return success();
}

ParseResult PtxParser::parseNumber(std::optional<uint32_t> &number) {
  uint64_t value;
  if (number)
    return emitExpected("each directive once");
  if (parseInteger(value, 0, UINT32_MAX))
    return failure();
  number = value;
  return success();
}

/// Directives of functions and prototypes that the simulator ignores.
ParseResult PtxParser::parseAbiDirective(bool &isParsed) {
  isParsed = true;
  if (consumeIfDot(".noreturn") || consumeIfDot(".unique"))
    return success();
  uint64_t numRegisters;
  if (consumeIfDot(".abi_preserve") || consumeIfDot(".abi_preserve_control"))
    return parseInteger(numRegisters, 0, UINT32_MAX);
  isParsed = false;
  return success();
}

ParseResult PtxParser::parseFunctionDirectives() {
  // A deprecated hint.
  std::optional<uint32_t> maximumBlocksPerSm;
  while (token.is(TokenKind::Dot)) {
    bool isParsed;
    if (parseAbiDirective(isParsed))
      return failure();
    if (isParsed)
      continue;
    ParseResult result;
    if (consumeIfDot(".pragma"))
      result = parsePragma();
    else if (!function.isEntry)
      return emitExpected("a directive of a function, '{' or ';'");
    else if (consumeIfDot(".reqntid"))
      result = parseDimensions(function.requiredBlock);
    else if (consumeIfDot(".maxntid"))
      result = parseDimensions(function.maximumBlock);
    else if (consumeIfDot(".reqnctapercluster"))
      result = parseDimensions(function.requiredCluster);
    else if (consumeIfDot(".maxnreg"))
      result = parseNumber(function.maximumRegisters);
    else if (consumeIfDot(".minnctapersm"))
      result = parseNumber(function.minimumBlocksPerSm);
    else if (consumeIfDot(".maxnctapersm"))
      result = parseNumber(maximumBlocksPerSm);
    else if (consumeIfDot(".maxclusterrank"))
      result = parseNumber(function.maximumClusterRank);
    else if (consumeIfDot(".explicitcluster"))
      function.isExplicitCluster = true;
    else if (token.isDot(".blocksareclusters"))
      // The directive changes the unit of a grid's extents.
      return emitNotSupported(token.text);
    else
      return emitExpected("a directive of an entry, '{' or ';'");
    if (result)
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

ParseResult PtxParser::addParameters(std::vector<ParsedParameter> &&parsed,
                                     std::vector<Parameter> &parameters) {
  for (ParsedParameter &parameter : parsed) {
    bool isRegister = parameter.isRegister;
    StringRef name = isRegister ? parameter.reg.name : parameter.variable.name;
    auto index = static_cast<Index>(isRegister ? function.registers.size()
                                               : module.variables.size());
    if (isRegister)
      function.registers.push_back(parameter.reg);
    else
      module.variables.push_back(std::move(parameter.variable));
    parameters.push_back({isRegister, index});
    Symbol symbol = {
        isRegister ? Symbol::Kind::Register : Symbol::Kind::Variable, index};
    if (declareLocal(name, parameter.location, symbol))
      return failure();
  }
  return success();
}

bool PtxParser::haveSameTypes(const Function &previous,
                              llvm::ArrayRef<Parameter> lhs,
                              llvm::ArrayRef<Parameter> rhs) const {
  auto isSame = [&](const Parameter &x, const Parameter &y) {
    if (x.isRegister != y.isRegister)
      return false;
    if (!x.isRegister) {
      const Variable &first = module.variables[x.index];
      const Variable &second = module.variables[y.index];
      return haveSameType(first, second) &&
             first.isUnsized == second.isUnsized &&
             first.alignment == second.alignment;
    }
    const Register &first = previous.registers[x.index];
    const Register &second = function.registers[y.index];
    return first.type == second.type && first.vectorSize == second.vectorSize;
  };
  return lhs.size() == rhs.size() &&
         std::equal(lhs.begin(), lhs.end(), rhs.begin(), isSame);
}

ParseResult PtxParser::checkRedeclaration(const Function &previous) {
  std::string name = quoteForMessage(function.name);
  if (previous.isDefined && function.isDefined)
    return emitError(function.location,
                     "expected one definition of " + name + ", got another");
  if (previous.isEntry != function.isEntry ||
      !haveSameTypes(previous, previous.returns, function.returns) ||
      !haveSameTypes(previous, previous.parameters, function.parameters))
    return emitError(function.location, "expected the parameters of the first "
                                        "declaration for " +
                                            name + ", got others");
  return success();
}

/// Gives the function its index in the module, which is that of an earlier
/// declaration if there is one.
ParseResult PtxParser::declareFunction(Index &index) {
  index = module.functions.size();
  if (symbols.declareGlobal(function.name, {Symbol::Kind::Function, index})) {
    module.functions.emplace_back();
    return success();
  }
  std::optional<Symbol> symbol = symbols.lookupGlobal(function.name);
  if (symbol->kind != Symbol::Kind::Function)
    return emitError(function.location,
                     "expected a name that is not declared yet, got " +
                         quoteForMessage(function.name));
  index = symbol->index;
  Function &previous = module.functions[index];
  if (checkRedeclaration(previous))
    return failure();
  function.isVisible |= previous.isVisible;
  previous.isVisible = function.isVisible;
  return success();
}

//===----------------------------------------------------------------------===//
// Names that are used before they are declared
//===----------------------------------------------------------------------===//

ParseResult PtxParser::emitUnresolved(const Reference &reference) {
  // In the order of Wanted.
  static constexpr StringRef names[] = {
      "a declared name", "a label", "a label of .branchtargets",
      "a label of .callprototype or .calltargets", "a function"};
  StringRef expected = names[static_cast<unsigned>(reference.wanted)];
  return emitError(reference.location, "expected " + expected + ", got " +
                                           quoteForMessage(reference.name));
}

static bool isWanted(Wanted wanted, Symbol::Kind kind) {
  switch (kind) {
  case Symbol::Kind::Label:
    return wanted == Wanted::Label || wanted == Wanted::LabelOrFunction;
  case Symbol::Kind::Function:
    return wanted == Wanted::Function || wanted == Wanted::LabelOrFunction;
  case Symbol::Kind::BranchTargets:
    return wanted == Wanted::BranchTargets;
  case Symbol::Kind::Prototype:
    return wanted == Wanted::Prototype;
  case Symbol::Kind::Register:
  case Symbol::Kind::Variable:
    return false;
  }
  llvm_unreachable("no such kind of symbol");
}

ParseResult PtxParser::resolve(Function &user, const Reference &reference,
                               Symbol symbol) {
  if (!isWanted(reference.wanted, symbol.kind))
    return emitUnresolved(reference);
  if (reference.site == Reference::Site::BranchTargets) {
    user.branchTargets[reference.index][reference.part] = symbol.index;
    return success();
  }
  if (reference.site == Reference::Site::CallTargets) {
    user.prototypes[reference.index].targets[reference.part] = symbol.index;
    return success();
  }
  PtxOperand *operand =
      &user.instructions[reference.index].operands[reference.part];
  if (reference.element != Reference::none)
    operand = &operand->elements[reference.element];
  operand->kind = symbol.kind == Symbol::Kind::Label ? PtxOperand::Kind::Label
                  : symbol.kind == Symbol::Kind::Function
                      ? PtxOperand::Kind::Function
                  : symbol.kind == Symbol::Kind::BranchTargets
                      ? PtxOperand::Kind::BranchTargets
                      : PtxOperand::Kind::Prototype;
  operand->index = symbol.index;
  return success();
}

ParseResult PtxParser::leaveScope(std::vector<Reference> *rest) {
  bool isFailure = false;
  std::vector<Reference> references =
      symbols.leaveScope([&](const Reference &reference, Symbol symbol) {
        isFailure |= bool(resolve(function, reference, symbol));
      });
  if (rest)
    *rest = std::move(references);
  return isFailure ? failure() : success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The statements up to the brace that closes the body. Scopes are not
/// recursive here.
ParseResult PtxParser::parseBody() {
  if (parsePunctuator("{"))
    return failure();
  unsigned outermost = symbols.getDepth();
  while (true) {
    if (consumeIf("}")) {
      if (symbols.getDepth() == outermost)
        return success();
      if (leaveScope())
        return failure();
    } else if (token.isPunctuator("{")) {
      if (symbols.getDepth() - outermost == maxNesting)
        return emitTooDeep();
      advance();
      symbols.enterScope();
    } else if (parseStatement()) {
      return failure();
    }
  }
}

ParseResult PtxParser::finishFunction(Index index) {
  std::vector<Reference> references;
  if (leaveScope(&references))
    return failure();
  for (Reference &reference : references) {
    if (reference.wanted != Wanted::Function &&
        reference.wanted != Wanted::LabelOrFunction)
      return emitUnresolved(reference);
    reference.function = index;
    globalReferences.push_back(reference);
  }
  if (function.isDefined || module.functions[index].name.empty())
    module.functions[index] = std::move(function);
  function = Function();
  return success();
}

/// `(RETURNS) NAME (PARAMETERS) DIRECTIVES BODY`
ParseResult PtxParser::parseFunction(const Linkage &linkage, bool isEntry) {
  function.isEntry = isEntry;
  function.isExtern = linkage.isExtern;
  function.isVisible = linkage.isVisible;
  std::vector<ParsedParameter> returns, parameters;
  if (consumeIfDot(".attribute") && skipBrackets("(", ")"))
    return failure();
  if (!isEntry && token.isPunctuator("(") && parseParameters(returns, false))
    return failure();
  function.location = token.location;
  if (parseWord(function.name, "the name of a function"))
    return failure();
  if (token.isPunctuator("(") && parseParameters(parameters, isEntry))
    return failure();
  symbols.enterScope();
  if (addParameters(std::move(returns), function.returns) ||
      addParameters(std::move(parameters), function.parameters) ||
      parseFunctionDirectives())
    return failure();

  function.isDefined = token.isPunctuator("{");
  if (function.isDefined && linkage.isExtern)
    return emitExpected("no body of an .extern function");
  if (!function.isDefined && !token.isPunctuator(";"))
    return emitExpected("'{' or ';'");
  Index index;
  if (declareFunction(index) ||
      (function.isDefined ? parseBody() : parsePunctuator(";")))
    return failure();
  // The next function has no .loc yet.
  if (!module.sourceLines.empty())
    module.sourceLines.push_back({token.location.line, 0, 0});
  return finishFunction(index);
}
