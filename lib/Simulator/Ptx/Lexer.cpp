//===- Lexer.cpp - From PTX text to tokens --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tokens are views into the text, with their location. Debug information in the
// PTX text is skipped.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Lexer.h"
#include "blockscale/Runtime/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using llvm::StringRef;
using Kind = Token::Kind;

static bool isWordCharacter(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$';
}

static size_t measureWord(StringRef text) {
  return text.take_while(isWordCharacter).size();
}

Location Lexer::getLocation() const {
  return {line, static_cast<uint32_t>(rest.data() - lineStart) + 1};
}

//===----------------------------------------------------------------------===//
// White space
//===----------------------------------------------------------------------===//

/// Whether the line that starts here is a marker of a preprocessor, or debug
/// information in the form of early versions.
bool Lexer::isSkippedLine() const {
  if (rest.starts_with("@@DWARF"))
    return true;
  StringRef marker = rest;
  if (!isAtLineStart || !marker.consume_front("#"))
    return false;
  marker = marker.ltrim(" \t");
  return marker.starts_with("line") ||
         (!marker.empty() && llvm::isDigit(marker.front()));
}

bool Lexer::skipComment() {
  size_t end = rest.find("*/", 2);
  if (end == StringRef::npos) {
    error = "expected '*/', got the end of the text";
    return false;
  }
  StringRef comment = rest.take_front(end + 2);
  for (const char &c : comment)
    if (c == '\n') {
      ++line;
      lineStart = &c + 1;
    }
  rest = rest.drop_front(comment.size());
  return true;
}

bool Lexer::skipSpace() {
  while (!rest.empty()) {
    if (rest.front() == '\n') {
      rest = rest.drop_front();
      ++line;
      lineStart = rest.data();
      isAtLineStart = true;
    } else if (StringRef(" \t\r\f\v").contains(rest.front())) {
      rest = rest.drop_front();
    } else if (rest.starts_with("//") || isSkippedLine()) {
      rest = rest.drop_front(std::min(rest.find('\n'), rest.size()));
    } else if (rest.starts_with("/*")) {
      if (!skipComment())
        return false;
    } else {
      break;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// All characters up to one that cannot be in a number; errors in a number are
/// found when it is parsed.
size_t Lexer::measureNumber(Kind &kind) const {
  bool hasPrefix = rest.size() > 1 && rest[0] == '0' && llvm::isAlpha(rest[1]);
  bool isFloat = false;
  size_t size = 0;
  for (; size < rest.size(); ++size) {
    char c = rest[size];
    bool isExponentSign = (c == '+' || c == '-') && !hasPrefix && size != 0 &&
                          llvm::toLower(rest[size - 1]) == 'e';
    if (!isWordCharacter(c) && c != '.' && !isExponentSign)
      break;
    isFloat |= c == '.' || llvm::toLower(c) == 'e';
  }
  if (hasPrefix) {
    char prefix = llvm::toLower(rest[1]);
    isFloat = prefix == 'f' || prefix == 'd';
  }
  kind = isFloat ? Kind::Float : Kind::Integer;
  return size;
}

/// `.name`, and with parts joined by colons: `.L2::cache_hint`.
size_t Lexer::measureDot() const {
  size_t size = 1 + measureWord(rest.drop_front());
  while (rest.substr(size).starts_with("::")) {
    size_t part = measureWord(rest.substr(size + 2));
    if (part == 0)
      break;
    size += 2 + part;
  }
  return size;
}

/// 0 if the string does not end on its line.
size_t Lexer::measureString() {
  for (size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
    if (rest[i] == '"')
      return i + 1;
    if (rest[i] == '\\' && i + 1 < rest.size() && rest[i + 1] != '\n')
      ++i;
  }
  error = "expected '\"', got the end of the line";
  return 0;
}

static size_t measurePunctuator(StringRef text) {
  for (StringRef pair : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"})
    if (text.starts_with(pair))
      return 2;
  return StringRef("()[]{},;:+-*/%!~&^|?=<>@").contains(text.front()) ? 1 : 0;
}

/// 0 if there is no token; then `error` may have the reason.
size_t Lexer::measureToken(Kind &kind) {
  char first = rest.front();
  char second = rest.size() > 1 ? rest[1] : '\0';
  if (llvm::isAlpha(first) || first == '_' ||
      ((first == '$' || first == '%') && isWordCharacter(second))) {
    kind = Kind::Word;
    return 1 + measureWord(rest.drop_front());
  }
  // `.5` is a number, but behind a name `.5` would be a modifier.
  bool isDecimal =
      first == '.' && llvm::isDigit(second) && rest.data() != previousEnd;
  if (llvm::isDigit(first) || isDecimal)
    return measureNumber(kind);
  if (first == '.' && isWordCharacter(second)) {
    kind = Kind::Dot;
    return measureDot();
  }
  if (first == '"') {
    kind = Kind::String;
    return measureString();
  }
  kind = Kind::Punctuator;
  return measurePunctuator(rest);
}

Token Lexer::next() {
  Token token;
  error.clear();
  bool hasSpace = skipSpace();
  token.location = getLocation();
  if (hasSpace && rest.empty())
    return token;
  size_t size = hasSpace ? measureToken(token.kind) : 0;
  if (size == 0) {
    token.kind = Kind::Error;
    if (error.empty())
      error = "expected a token, got " + quoteForMessage(rest.take_front());
    return token;
  }
  token.text = rest.take_front(size);
  rest = rest.drop_front(size);
  // A number may follow an operator at once: `[%rd1+.5]` has no modifier.
  previousEnd = token.kind == Kind::Punctuator ? nullptr : rest.data();
  isAtLineStart = false;
  return token;
}
