//===- Parser.cpp - From PTX text to a module -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers of all parts of the parser, the head of a module, and its statements.
//
//===----------------------------------------------------------------------===//

#include "Ptx/ParserImpl.h"
#include "Ptx/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <utility>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Texts are bounded so that everything in them can be counted in 32 bits.
static constexpr size_t maxTextSize = size_t(256) << 20;
static constexpr unsigned maxVersionMajor = 9, maxVersionMinor = 1;

//===----------------------------------------------------------------------===//
// Tokens and errors
//===----------------------------------------------------------------------===//

std::string sim::describe(const Token &token) {
  if (token.is(Token::Kind::End))
    return "the end of the text";
  return quoteForMessage(token.text);
}

ParseResult PtxParser::emitError(Location location, const Twine &text) {
  if (message.empty())
    message = ("line " + Twine(location.line) + ":" + Twine(location.column) +
               ": " + text)
                  .str();
  return failure();
}

ParseResult PtxParser::emitExpected(const Twine &what) {
  return emitExpected(what, token);
}

ParseResult PtxParser::emitExpected(const Twine &what, const Token &got) {
  return emitError(got.location, "expected " + what + ", got " + describe(got));
}

ParseResult PtxParser::emitNotSupported(const Twine &what) {
  return emitError(token.location, "not supported in this version: " + what);
}

void PtxParser::advance() {
  if (nextToken)
    token = *std::exchange(nextToken, std::nullopt);
  else
    token = lexer.next();
  if (!token.is(TokenKind::Error))
    return;
  // Keeps the lexer's message instead of one about the end of the text.
  (void)emitError(token.location, lexer.getError());
  token.kind = TokenKind::End;
}

const Token &PtxParser::peekNext() {
  if (!nextToken)
    nextToken = lexer.next();
  return *nextToken;
}

bool PtxParser::consumeIf(StringRef punctuator) {
  bool isNext = token.isPunctuator(punctuator);
  if (isNext)
    advance();
  return isNext;
}

bool PtxParser::consumeIfDot(StringRef name) {
  bool isNext = token.isDot(name);
  if (isNext)
    advance();
  return isNext;
}

ParseResult PtxParser::parsePunctuator(StringRef punctuator) {
  if (consumeIf(punctuator))
    return success();
  return emitExpected("'" + punctuator + "'");
}

ParseResult PtxParser::parseWord(StringRef &word, const Twine &what) {
  if (!token.is(TokenKind::Word))
    return emitExpected(what);
  word = token.text;
  advance();
  return success();
}

ParseResult PtxParser::parseInteger(uint64_t &value, uint64_t min,
                                    uint64_t max) {
  Token start = token;
  Constant constant;
  if (token.is(TokenKind::Integer) && parseLiteral(constant))
    return failure();
  value = constant.bits;
  if (!start.is(TokenKind::Integer) || value < min || value > max)
    return emitExpected("an integer from " + Twine(min) + " to " + Twine(max),
                        start);
  return success();
}

ParseResult PtxParser::parseString() {
  if (!token.is(TokenKind::String))
    return emitExpected("a string");
  advance();
  return success();
}

ParseResult
PtxParser::parseList(StringRef close,
                     llvm::function_ref<ParseResult()> parseElement) {
  if (consumeIf(close))
    return success();
  while (true) {
    if (parseElement())
      return failure();
    if (consumeIf(close))
      return success();
    if (!consumeIf(","))
      return emitExpected("',' or '" + close + "'");
  }
}

ParseResult PtxParser::skipBrackets(StringRef open, StringRef close) {
  if (parsePunctuator(open))
    return failure();
  for (uint64_t level = 1; level != 0; advance()) {
    if (token.is(TokenKind::End))
      return emitExpected("'" + close + "'");
    if (token.isPunctuator(open))
      ++level;
    else if (token.isPunctuator(close))
      --level;
  }
  return success();
}

ParseResult PtxParser::emitTooDeep() {
  return emitError(token.location, "expected at most " + Twine(maxNesting) +
                                       " levels of nesting, got more");
}

//===----------------------------------------------------------------------===//
// The head of a module
//===----------------------------------------------------------------------===//

ParseResult PtxParser::parseVersion() {
  if (!consumeIfDot(".version"))
    return emitExpected("'.version'");
  auto [majorText, minorText] = token.text.split('.');
  if (!token.is(TokenKind::Float) ||
      majorText.getAsInteger(10, module.versionMajor) ||
      minorText.getAsInteger(10, module.versionMinor))
    return emitExpected("a version such as 8.7");
  if (std::pair(module.versionMajor, module.versionMinor) >
      std::pair(maxVersionMajor, maxVersionMinor))
    return emitExpected("PTX of version " + Twine(maxVersionMajor) + "." +
                        Twine(maxVersionMinor) + " or lower");
  advance();
  return success();
}

ParseResult PtxParser::parseTarget() {
  if (!consumeIfDot(".target"))
    return emitExpected("'.target'");
  if (!token.is(TokenKind::Word) || !isTarget(token.text))
    return emitExpected("a target such as sm_90a");
  module.target = token.text;
  advance();
  // Other options would change results.
  static constexpr StringRef options[] = {"debug", "texmode_unified",
                                          "texmode_independent", "texmode_raw"};
  while (consumeIf(",")) {
    if (!llvm::is_contained(options, token.text))
      return emitExpected("an option of a target");
    advance();
  }
  return success();
}

/// Without the directive, the size is 64 as well: the simulated targets have no
/// other.
ParseResult PtxParser::parseAddressSize() {
  Token start = token;
  uint64_t size;
  if (parseInteger(size, 32, 64))
    return failure();
  if (size != module.addressSize)
    return emitExpected("an address size of 64", start);
  return success();
}

ParseResult PtxParser::parseHeader() {
  if (parseVersion() || parseTarget())
    return failure();
  return consumeIfDot(".address_size") ? parseAddressSize() : success();
}

//===----------------------------------------------------------------------===//
// Directives for debuggers and optimizers
//===----------------------------------------------------------------------===//

/// `.loc 1 23 5`, and `, function_name $L__info_string0, inlined_at 1 45 3`.
ParseResult PtxParser::parseLoc() {
  uint32_t line = token.location.line;
  std::array<uint64_t, 3> numbers;
  auto parseNumbers = [&]() -> ParseResult {
    for (uint64_t &number : numbers)
      if (parseInteger(number, 0, UINT32_MAX))
        return failure();
    return success();
  };
  if (parseNumbers())
    return failure();
  module.sourceLines.push_back({line, static_cast<uint32_t>(numbers[0]),
                                static_cast<uint32_t>(numbers[1])});
  while (consumeIf(",")) {
    StringRef word, label;
    if (parseWord(word, "function_name or inlined_at"))
      return failure();
    if (word == "inlined_at") {
      if (parseNumbers())
        return failure();
      continue;
    }
    uint64_t offset;
    if (parseWord(label, "a label of a debug section") ||
        (consumeIf("+") && parseInteger(offset, 0, UINT32_MAX)))
      return failure();
  }
  return success();
}

/// `.file 1 "name"`, and `, TIME, SIZE`.
ParseResult PtxParser::parseFile() {
  uint64_t number;
  if (parseInteger(number, 0, UINT32_MAX))
    return failure();
  StringRef name = token.text;
  if (parseString())
    return failure();
  module.files[number] = name.drop_front().drop_back().str();
  while (consumeIf(","))
    if (parseInteger(number, 0, UINT64_MAX))
      return failure();
  return success();
}

ParseResult PtxParser::parsePragma() {
  do
    if (parseString())
      return failure();
  while (consumeIf(","));
  return parsePunctuator(";");
}

std::optional<ParseResult> PtxParser::parseDebugDirective() {
  if (consumeIfDot(".loc"))
    return parseLoc();
  if (consumeIfDot(".file"))
    return parseFile();
  if (consumeIfDot(".pragma"))
    return parsePragma();
  if (consumeIfDot(".section")) {
    if (!token.is(TokenKind::Dot) && !token.is(TokenKind::Word))
      return emitExpected("the name of a section");
    advance();
    return skipBrackets("{", "}");
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

ParseResult PtxParser::parseLinkage(Linkage &linkage) {
  static constexpr StringRef directives[] = {".extern", ".visible", ".weak",
                                             ".common"};
  if (!token.is(TokenKind::Dot) || !llvm::is_contained(directives, token.text))
    return success();
  linkage.isExtern = token.text == ".extern";
  linkage.isVisible = !linkage.isExtern;
  advance();
  return success();
}

static std::optional<Space> lookupGlobalSpace(StringRef directive) {
  return llvm::StringSwitch<std::optional<Space>>(directive)
      .Case(".const", Space::Const)
      .Case(".global", Space::Global)
      .Case(".shared", Space::Shared)
      .Default(std::nullopt);
}

ParseResult PtxParser::parseModuleDirective() {
  if (std::optional<ParseResult> result = parseDebugDirective())
    return *result;
  Linkage linkage;
  if (parseLinkage(linkage))
    return failure();
  if (!token.is(TokenKind::Dot))
    return emitExpected("a directive");
  if (token.text == ".entry" || token.text == ".func") {
    bool isEntry = token.text == ".entry";
    advance();
    return parseFunction(linkage, isEntry);
  }
  if (std::optional<Space> space = lookupGlobalSpace(token.text)) {
    advance();
    return parseVariables(*space, linkage);
  }
  static constexpr StringRef refused[] = {".alias", ".tex", ".sampler",
                                          ".surf"};
  if (llvm::is_contained(refused, token.text))
    return emitNotSupported(token.text);
  return emitExpected("a function or a variable of the module");
}

ParseResult PtxParser::resolveGlobalReferences() {
  for (const Reference &reference : globalReferences) {
    std::optional<Symbol> symbol = symbols.lookupGlobal(reference.name);
    if (!symbol || symbol->kind != Symbol::Kind::Function)
      return emitUnresolved(reference);
    if (reference.site == Reference::Site::Initializer) {
      Variable &variable = module.variables[reference.index];
      variable.relocations[reference.part].target = symbol->index;
      continue;
    }
    if (reference.site != Reference::Site::Nowhere &&
        resolve(module.functions[reference.function], reference, *symbol))
      return failure();
  }
  return success();
}

Error PtxParser::parse() {
  advance();
  ParseResult result = parseHeader();
  while (!result && !token.is(TokenKind::End))
    result = parseModuleDirective();
  // The text may end in an invalid token.
  if (!result && message.empty())
    result = resolveGlobalReferences();
  return message.empty() ? Error::success() : Error(message);
}

Result<Module> sim::parsePtx(std::string text) {
  if (text.size() > maxTextSize)
    return Error("line 1:1: expected at most " + std::to_string(maxTextSize) +
                 " bytes of text, got " + std::to_string(text.size()));
  Module module;
  module.text = std::make_unique<const std::string>(std::move(text));
  if (Error error = PtxParser(module).parse())
    return error;
  return module;
}
