//===- SourceFile.cpp - Reading input programs ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's parser recurses with the nesting of the text, so texts that nest
// too deeply are refused before parsing.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/SourceFile.h"

#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {

/// Scans a text once and tracks its brackets. Tokens are only as exact as this
/// needs: strings, comments, arrows and comparisons are not brackets.
class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : text(text) {}

  std::optional<SourcePosition> run() {
    while (pos < text.size())
      if (visitToken())
        return getPosition();
    return std::nullopt;
  }

private:
  /// An open bracket. Each minus sign just before it counts as a level, because
  /// the parser recurses for it.
  struct Bracket {
    char opening;
    unsigned depth;
  };

  bool isOneOf(std::initializer_list<StringRef> tokens) const {
    return llvm::any_of(tokens, [&](StringRef token) {
      return text.substr(pos).starts_with(token);
    });
  }

  /// Skips one token, or a part of one that does not matter; true if it nests
  /// too deeply.
  bool visitToken() {
    char c = text[pos];
    if (llvm::isSpace(c)) {
      // A definition ends with its line, unless something must follow.
      if (c == '\n' && open.empty() && last != '=' && last != ':')
        definition = {};
      ++pos;
      return false;
    }
    if (isOneOf({"//"})) {
      pos = std::min(text.find('\n', pos), text.size());
      return false;
    }
    last = c;
    if (c == '-' && !isOneOf({"->"})) {
      ++pos;
      return noteDepth(getDepth() + ++minusSigns);
    }
    if (StringRef("([{<").contains(c) && !isOneOf({"<="})) {
      ++pos;
      open.push_back({c, getDepth() + minusSigns + 1});
      minusSigns = 0;
      return noteDepth(getDepth());
    }
    minusSigns = 0;
    if (c == '"')
      return skipString();
    if (c == '#' || c == '!')
      return visitAlias();
    if (isOneOf({"->", ">=", "<=", "=="})) {
      pos += 2;
      return false;
    }
    close(c);
    ++pos;
    return false;
  }

  bool skipString() {
    for (++pos; pos < text.size() && text[pos] != '"'; ++pos)
      if (text[pos] == '\\')
        ++pos;
    pos = std::min(pos + 1, text.size());
    return false;
  }

  void close(char c) {
    if (c == '>') {
      if (!open.empty() && open.back().opening == '<')
        open.pop_back();
      return;
    }
    if (c != ')' && c != ']' && c != '}')
      return;
    // Unmatched opening brackets in between were none.
    char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
    auto matches = [&](const Bracket &bracket) {
      return bracket.opening == opening;
    };
    if (llvm::none_of(open, matches))
      return;
    while (!matches(open.back()))
      open.pop_back();
    open.pop_back();
  }

  /// `#name` or `!name`: the definition of an alias if `=` follows, else
  /// perhaps a use of one, which is as deep as its definition.
  bool visitAlias() {
    size_t end = text.find_if_not(
        [](char c) {
          return llvm::isAlnum(c) || StringRef("_$.-").contains(c);
        },
        pos + 1);
    StringRef name = text.slice(pos, end);
    name.consume_back("-"); // The minus of an arrow.
    pos += name.size();
    StringRef rest = text.substr(pos).ltrim();
    if (open.empty() && rest.starts_with("=") && !rest.starts_with("==")) {
      definition = name;
      depths[definition] = 0;
      return false;
    }
    auto known = depths.find(name);
    return known != depths.end() && noteDepth(getDepth() + known->second);
  }

  unsigned getDepth() const { return open.empty() ? 0 : open.back().depth; }

  bool noteDepth(unsigned depth) {
    if (!definition.empty()) {
      unsigned &known = depths[definition];
      known = std::max(known, depth);
    }
    return depth > kMaxNesting;
  }

  SourcePosition getPosition() const {
    // The token that is too deep has been skipped.
    StringRef before = text.take_front(pos - 1);
    size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0.
    return {static_cast<unsigned>(before.count('\n') + 1),
            static_cast<unsigned>(before.size() - lineStart + 1)};
  }

  StringRef text;
  size_t pos = 0;
  char last = 0;
  unsigned minusSigns = 0;
  SmallVector<Bracket> open;
  /// The alias that is being defined, and the depth of each defined one.
  StringRef definition;
  llvm::StringMap<unsigned> depths;
};

} // namespace

std::optional<SourcePosition> blockscale::findTooDeepNesting(StringRef text) {
  return NestingScanner(text).run();
}

std::unique_ptr<llvm::MemoryBuffer>
blockscale::readSourceFile(StringRef path, std::string &error) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &error);
  if (!buffer) {
    error = "error: " + error;
    return nullptr;
  }
  if (isBytecode(buffer->getMemBufferRef()))
    return buffer;
  if (std::optional<SourcePosition> position =
          findTooDeepNesting(buffer->getBuffer())) {
    error = buffer->getBufferIdentifier().str() + ":" +
            std::to_string(position->line) + ":" +
            std::to_string(position->column) + ": error: nested deeper than " +
            std::to_string(kMaxNesting) + " levels";
    return nullptr;
  }
  return buffer;
}
