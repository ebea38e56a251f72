//===- Lexer.h - From PTX text to tokens ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a PTX text into tokens, on demand. Comments, line markers of a
// preprocessor (`# 1 "file"`) and lines of debug information (`@@DWARF`) are
// skipped.
//
// Source: PTX ISA, chapter 4 "Syntax".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_PTX_LEXER_H
#define BLOCKSCALE_LIB_SIMULATOR_PTX_LEXER_H

#include "Ptx/Ast.h"

#include "llvm/ADT/StringRef.h"

namespace mlir::blockscale::sim {

struct Token {
  enum class Kind : uint8_t {
    End,
    /// A character that cannot start a token; Lexer::getError has the message.
    Error,
    /// `add`, `%r1`, `$L__BB0_1`, `_`
    Word,
    /// A dot and the name behind it: `.u32`, `.shared::cta`, `.16x64b`
    Dot,
    /// A token that starts like a number; its form is not checked.
    Integer,
    Float,
    /// A string with its quotes.
    String,
    Punctuator,
  };

  Kind kind = Kind::End;
  llvm::StringRef text;
  Location location;

  bool is(Kind other) const { return kind == other; }
  bool isPunctuator(llvm::StringRef other) const {
    return kind == Kind::Punctuator && text == other;
  }
  bool isDot(llvm::StringRef other) const {
    return kind == Kind::Dot && text == other;
  }
  bool isWord(llvm::StringRef other) const {
    return kind == Kind::Word && text == other;
  }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef text)
      : rest(text), lineStart(text.data()), previousEnd(text.data()) {}

  /// The next token; at the end, always End.
  Token next();

  /// The message of an Error token, with expected and got.
  const std::string &getError() const { return error; }

private:
  /// Skips white space, comments and debug information; false on an error.
  bool skipSpace();
  bool skipComment();
  bool isSkippedLine() const;
  llvm::StringRef::size_type measureToken(Token::Kind &kind);
  llvm::StringRef::size_type measureNumber(Token::Kind &kind) const;
  llvm::StringRef::size_type measureDot() const;
  llvm::StringRef::size_type measureString();
  Location getLocation() const;

  llvm::StringRef rest;
  uint32_t line = 1;
  const char *lineStart;
  /// The end of the previous token: a modifier follows its opcode there.
  const char *previousEnd;
  bool isAtLineStart = true;
  std::string error;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_PTX_LEXER_H
