//===- PtxText.cpp - What a text of PTX declares --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scan of words: the parser would refuse most of what fuzzers make.
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

using namespace mlir;
using namespace mlir::blockscale;

bool blockscale::isPtxWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' ||
         c == '%';
}

/// The word at `at`, which moves behind it.
static std::string takeWord(const std::string &text, size_t &at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])))
    ++at;
  size_t begin = at;
  while (at < text.size() && (isPtxWordChar(text[at]) || text[at] == '.'))
    ++at;
  return text.substr(begin, at - begin);
}

static char getLetter(const std::string &type) {
  static constexpr std::pair<const char *, char> letters[] = {
      {".pred", 'p'}, {".b16", 'h'}, {".u16", 'h'}, {".s16", 'h'},
      {".b32", 'r'},  {".u32", 'r'}, {".s32", 'r'}, {".b64", 'd'},
      {".u64", 'd'},  {".s64", 'd'}, {".f32", 'f'}, {".f64", 'g'},
      {".b128", 'q'}};
  for (auto [name, letter] : letters)
    if (type == name)
      return letter;
  return 0;
}

/// `.reg .b32 %r<4>, %x;`
static void addRegisters(const std::string &statement, size_t at,
                         PtxText &text) {
  char letter = getLetter(takeWord(statement, at));
  if (!letter)
    return;
  do {
    std::string name = takeWord(statement, at);
    if (name.empty())
      return;
    if (statement.compare(at, 1, "<") != 0) {
      text.names[unsigned(letter)].push_back(name);
    } else {
      unsigned long count =
          std::strtoul(statement.c_str() + at + 1, nullptr, 10);
      for (unsigned i = 0; i < count && i != 16; ++i)
        text.names[unsigned(letter)].push_back(name + std::to_string(i));
      at = statement.find('>', at);
      if (at == std::string::npos)
        return;
    }
    at = statement.find(',', at);
  } while (at++ != std::string::npos);
}

/// `.shared .align 8 .b8 S[64];`: the name is before the bracket.
static void addVariable(const std::string &statement, char letter,
                        PtxText &text) {
  size_t end = statement.find_first_of("[;=");
  size_t begin = end;
  while (begin != std::string::npos && begin != 0 &&
         isPtxWordChar(statement[begin - 1]))
    --begin;
  if (begin != end)
    text.names[unsigned(letter)].push_back(
        statement.substr(begin, end - begin));
}

/// Looks at one piece; whether it is an instruction.
static bool scan(const std::string &statement, PtxText &text) {
  size_t at = 0;
  std::string word = takeWord(statement, at);
  if (word == ".reg")
    addRegisters(statement, at, text);
  else if (word == ".shared")
    addVariable(statement, 's', text);
  else if (word == ".local")
    addVariable(statement, 'l', text);
  else if (word == ".const")
    addVariable(statement, 'c', text);
  else if (!word.empty() && statement.compare(at, 1, ":") == 0)
    text.names[unsigned('t')].push_back(word);
  if (word.rfind("ld.param", 0) == 0 && word.find("64") != std::string::npos)
    text.names[unsigned('b')].push_back(takeWord(statement, at));
  bool isGuarded = word.empty() && statement.compare(at, 1, "@") == 0;
  return statement.back() == ';' &&
         (isGuarded ||
          (!word.empty() && std::islower(static_cast<unsigned char>(word[0]))));
}

PtxText::PtxText(const std::string &text) {
  for (size_t begin = 0; begin != text.size();) {
    size_t end = std::min(text.find_first_of(";\n:", begin), text.size() - 1);
    // A double colon is part of a modifier.
    while (text.compare(end, 2, "::") == 0)
      end = std::min(text.find_first_of(";\n:", end + 2), text.size() - 1);
    PtxPiece piece = {begin, end + 1};
    pieces.push_back(piece);
    if (scan(text.substr(begin, end + 1 - begin), *this))
      instructions.push_back(piece);
    begin = end + 1;
  }
}
