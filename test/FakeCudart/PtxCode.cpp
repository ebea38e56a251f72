//===- PtxCode.cpp - Functions and variables of a PTX text ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A braced body belongs to the function in front of it, and whatever ends in a
// semicolon is a declaration or an instruction.
//
// Source: PTX ISA, chapters 4 "Syntax" and 5.4 "Variables".
//
//===----------------------------------------------------------------------===//

#include "PtxCode.h"

#include <algorithm>
#include <cctype>
#include <charconv>

using namespace capture;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

namespace {

/// Splits PTX into tokens: identifiers and single other characters, without
/// white space, comments and strings.
class Words {
public:
  explicit Words(std::string_view text) : text(text) {}

  /// Empty at the end of the text.
  std::string_view take() {
    while (skipOne())
      ;
    size_t size = 0;
    while (size < text.size() && isLetter(text[size]))
      ++size;
    std::string_view word = text.substr(0, std::max<size_t>(size, 1));
    text.remove_prefix(word.size());
    return word;
  }

  bool isNext(char c) const { return !text.empty() && text[0] == c; }

  void skipLine() {
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }

private:
  static bool isLetter(char c) {
    return std::isalnum(uint8_t(c)) || c == '_' || c == '$' || c == '%' ||
           c == '.';
  }

  /// Skips white space, a comment or a string.
  bool skipOne() {
    size_t size = text.find_first_not_of(" \t\r\n\f\v");
    if (size == 0 && text.substr(0, 2) == "//")
      size = text.find('\n');
    else if (size == 0 && text.substr(0, 2) == "/*")
      size = findBehind("*/", 2);
    else if (size == 0 && text[0] == '"')
      size = findBehind("\"", 1);
    size = std::min(size, text.size());
    text.remove_prefix(size);
    return size != 0;
  }

  size_t findBehind(std::string_view end, size_t from) const {
    size_t start = text.find(end, from);
    return start == text.npos ? start : start + end.size();
  }

  std::string_view text;
};

} // namespace

uint64_t capture::readNumber(std::string_view word) {
  uint64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

static bool contains(const PtxStatement &words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static constexpr struct {
  std::string_view word;
  PtxVariable::Space space;
} spaces[] = {{".global", PtxVariable::Space::Global},
              {".const", PtxVariable::Space::Const},
              {".shared", PtxVariable::Space::Shared}};

/// The bytes of a type such as ".u32" or ".f16x2"; 0 if it is none.
static uint64_t getTypeBytes(std::string_view word) {
  size_t digits = word.find_first_of("0123456789");
  if (digits == word.npos || digits < 2 || word[0] != '.')
    return 0;
  std::string_view kind = word.substr(1, digits - 1);
  if (kind != "b" && kind != "u" && kind != "s" && kind != "f" && kind != "bf")
    return 0;
  bool isPair = word.size() > 2 && word.substr(word.size() - 2) == "x2";
  return readNumber(word.substr(digits)) / 8 * (isPair ? 2 : 1);
}

/// Adds a variable, or completes one that the module has declared before.
static void addVariable(PtxVariable variable, bool isInFunction,
                        PtxCode &code) {
  if (!isInFunction)
    for (PtxVariable &known : code.variables)
      if (known.name == variable.name) {
        known = std::move(variable);
        return;
      }
  code.variables.push_back(std::move(variable));
}

/// Reads `.align 4 .b8 name[16] = {..}`, from `at` on.
static void addVariables(const PtxStatement &words, size_t at,
                         PtxVariable::Space space, bool isInFunction,
                         PtxCode &code) {
  auto get = [&] { return at < words.size() ? words[at] : std::string_view(); };
  uint64_t elementBytes = 0, alignment = 0, vector = 1;
  for (; elementBytes == 0 && at < words.size(); ++at) {
    if (get() == ".v2" || get() == ".v4")
      vector = readNumber(get().substr(2));
    elementBytes = getTypeBytes(get());
    if (at != 0 && words[at - 1] == ".align")
      alignment = readNumber(get());
  }
  elementBytes *= vector;
  for (; at < words.size(); ++at) {
    PtxVariable variable = {
        space, get(), elementBytes, alignment ? alignment : elementBytes, {}};
    for (++at; get() == "["; ++at) {
      ++at;
      variable.bytes *= readNumber(get());
      if (get() != "]")
        ++at;
    }
    // An initial value has commas in braces.
    for (int depth = 0; at < words.size() && (depth != 0 || get() != ",");
         ++at) {
      depth += get() == "{" ? 1 : get() == "}" ? -1 : 0;
      variable.value.push_back(get());
    }
    addVariable(std::move(variable), isInFunction, code);
  }
}

/// Whether a statement declares variables; those that live longer than a
/// function are added.
static bool addDeclaration(const PtxStatement &words, bool isInFunction,
                           PtxCode &code) {
  size_t at = 0;
  while (at != words.size() &&
         (words[at] == ".visible" || words[at] == ".weak" ||
          words[at] == ".extern" || words[at] == ".common"))
    ++at;
  if (at == words.size())
    return false;
  for (const auto &row : spaces)
    if (words[at] == row.word) {
      addVariables(words, at + 1, row.space, isInFunction, code);
      return true;
    }
  return words[at] == ".reg" || words[at] == ".local" || words[at] == ".param";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Directives that end with their line.
static bool isLine(std::string_view word) {
  return word == ".version" || word == ".target" || word == ".address_size" ||
         word == ".file" || word == ".loc";
}

/// Its name is behind `.entry`, or behind `.func` and what it returns.
static PtxFunction makeFunction(PtxStatement head) {
  bool isEntry = contains(head, ".entry");
  auto at = std::find(head.begin(), head.end(), isEntry ? ".entry" : ".func");
  if (head.end() - at > 1 && at[1] == "(")
    at = std::find(at, head.end(), ")");
  std::string_view name = head.end() - at > 1 ? at[1] : std::string_view();
  return {name, isEntry, std::move(head), {}};
}

static void skipBlock(Words &words) {
  for (int depth = 1; depth != 0;) {
    std::string_view word = words.take();
    if (word.empty())
      return;
    depth += word == "{" ? 1 : word == "}" ? -1 : 0;
  }
}

static void readBody(Words &words, PtxFunction &function, PtxCode &code) {
  PtxStatement statement;
  for (int depth = 1; depth != 0;) {
    std::string_view word = words.take();
    if (word.empty())
      return;
    bool isFirst = statement.empty();
    if (isFirst && (word == "{" || word == "}")) {
      depth += word == "{" ? 1 : -1;
    } else if (isFirst && isLine(word)) {
      words.skipLine();
    } else if (word == ":" && statement.size() == 1 && !words.isNext(':')) {
      statement.clear();
    } else if (word != ";") {
      statement.push_back(word);
    } else {
      if (!isFirst && !addDeclaration(statement, /*isInFunction=*/true, code))
        function.statements.push_back(std::move(statement));
      statement.clear();
    }
  }
}

PtxCode capture::splitPtx(std::string_view text) {
  PtxCode code;
  Words words(text);
  PtxStatement statement;
  for (std::string_view word; !(word = words.take()).empty();) {
    if (statement.empty() && isLine(word)) {
      words.skipLine();
    } else if (word == ";") {
      addDeclaration(statement, /*isInFunction=*/false, code);
      statement.clear();
    } else if (word == "{" && !contains(statement, "=")) {
      if (contains(statement, ".entry") || contains(statement, ".func")) {
        PtxFunction function = makeFunction(std::move(statement));
        readBody(words, function, code);
        code.functions.push_back(std::move(function));
      } else {
        // Of a `.section`.
        skipBlock(words);
      }
      statement.clear();
    } else {
      statement.push_back(word);
    }
  }
  return code;
}
