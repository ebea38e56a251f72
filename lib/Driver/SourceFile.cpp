//===- SourceFile.cpp - Reading input programs ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// Walks over a text once and follows its brackets. Tokens are only as exact
/// as that needs: strings, comments, arrows and comparisons are not brackets.
class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : text(text) {}

  std::optional<SourcePosition> run() {
    while (pos < text.size()) {
      char c = text[pos];
      if (c == '"') {
        skipString();
        continue;
      }
      if (text.substr(pos).starts_with("//")) {
        pos = std::min(text.find('\n', pos), text.size());
        continue;
      }
      if (isOneOf({"->", ">=", "<=", "=="})) {
        minusSigns = 0;
        pos += 2;
        continue;
      }
      if (c == '#' || c == '!') {
        if (visitAlias())
          return getPosition();
        continue;
      }
      if (visitCharacter(c))
        return getPosition();
      ++pos;
    }
    return std::nullopt;
  }

private:
  bool isOneOf(std::initializer_list<StringRef> tokens) const {
    return llvm::any_of(tokens, [&](StringRef token) {
      return text.substr(pos).starts_with(token);
    });
  }

  void skipString() {
    minusSigns = 0;
    for (++pos; pos < text.size() && text[pos] != '"'; ++pos)
      if (text[pos] == '\\')
        ++pos;
    ++pos;
  }

  /// A bracket, a minus sign or anything else; true if it nests too deeply.
  bool visitCharacter(char c) {
    if (c == '-')
      return ++minusSigns > kMaxNesting;
    if (!llvm::isSpace(c))
      minusSigns = 0;
    if (StringRef("([{<").contains(c)) {
      open.push_back(c);
      return noteDepth(open.size());
    }
    if (c == '>') {
      if (!open.empty() && open.back() == '<')
        open.pop_back();
    } else if (c == ')' || c == ']' || c == '}') {
      // What was taken for an opening bracket in between was none.
      char opening = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (llvm::is_contained(open, opening)) {
        while (open.back() != opening)
          open.pop_back();
        open.pop_back();
      }
    }
    return false;
  }

  /// `#name` or `!name`: the definition of an alias if `=` follows, else
  /// perhaps the use of one, which is as deep as its definition.
  bool visitAlias() {
    size_t end = text.find_if_not(
        [](char c) {
          return llvm::isAlnum(c) || StringRef("_$.-").contains(c);
        },
        pos + 1);
    end = std::min(end, text.size());
    StringRef name = text.slice(pos, end);
    if (name.ends_with("-")) { // The minus of an arrow.
      name = name.drop_back();
      --end;
    }
    pos = end;
    minusSigns = 0;
    StringRef rest = text.substr(pos).ltrim();
    if (open.empty() && rest.starts_with("=") && !rest.starts_with("==")) {
      definition = name;
      depths[definition] = 0;
      return false;
    }
    auto known = depths.find(name);
    return known != depths.end() && noteDepth(open.size() + known->second + 1);
  }

  bool noteDepth(unsigned depth) {
    if (!definition.empty()) {
      unsigned &known = depths[definition];
      known = std::max(known, depth);
    }
    return depth > kMaxNesting;
  }

  SourcePosition getPosition() const {
    StringRef before = text.take_front(pos);
    size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0.
    return {static_cast<unsigned>(before.count('\n') + 1),
            static_cast<unsigned>(pos - lineStart + 1)};
  }

  StringRef text;
  size_t pos = 0;
  unsigned minusSigns = 0;
  SmallVector<char> open;
  /// The alias that is being defined, and the depth of each that has been.
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
