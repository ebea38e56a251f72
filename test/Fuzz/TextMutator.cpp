//===- TextMutator.cpp - Mutation of programs as text ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"

#include <cctype>
#include <vector>

using namespace mlir::blockscale;

namespace {

enum class TokenKind { Word, Number, Name, Other };

struct Token {
  TokenKind kind;
  size_t begin;
  size_t size;
};

bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$';
}

/// Sizes in shapes, `2x64xf32`, are tokens of their own.
std::vector<Token> tokenize(const std::string &text) {
  std::vector<Token> tokens;
  size_t pos = 0;
  auto take = [&](TokenKind kind, size_t begin, auto isPart) {
    while (pos < text.size() && isPart(text[pos]))
      ++pos;
    tokens.push_back({kind, begin, pos - begin});
  };
  auto isDigit = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  };
  while (pos < text.size()) {
    char c = text[pos];
    size_t begin = pos++;
    if (std::isspace(static_cast<unsigned char>(c)))
      continue;
    if (c == '%' || c == '@' || c == '#' || c == '!' || c == '^')
      take(TokenKind::Name, begin, isWordChar);
    else if (isDigit(c))
      take(TokenKind::Number, begin, isDigit);
    else if (c == '?')
      tokens.push_back({TokenKind::Number, begin, 1});
    else if (c == 'x' && begin > 0 && pos < text.size() &&
             (isDigit(text[begin - 1]) || text[begin - 1] == '?'))
      tokens.push_back({TokenKind::Other, begin, 1});
    else if (isWordChar(c))
      take(TokenKind::Word, begin, isWordChar);
    else
      tokens.push_back({TokenKind::Other, begin, 1});
  }
  return tokens;
}

constexpr const char *kNumbers[] = {"?",
                                    "0",
                                    "1",
                                    "2",
                                    "3",
                                    "4",
                                    "16",
                                    "31",
                                    "32",
                                    "33",
                                    "64",
                                    "127",
                                    "128",
                                    "129",
                                    "256",
                                    "512",
                                    "1024",
                                    "-1",
                                    "65536",
                                    "2147483648",
                                    "4294967296",
                                    "9223372036854775807",
                                    "18446744073709551615"};
constexpr const char *kWords[] = {"f8E4M3FN",
                                  "f8E5M2",
                                  "f6E3M2FN",
                                  "f6E2M3FN",
                                  "f4E2M1FN",
                                  "f8E8M0FNU",
                                  "f8E4M3",
                                  "f16",
                                  "f32",
                                  "f64",
                                  "i1",
                                  "i4",
                                  "i8",
                                  "index",
                                  "tensor",
                                  "vector",
                                  "memref",
                                  "complex",
                                  "tuple",
                                  "none",
                                  "dense",
                                  "sparse",
                                  "blockscale.mma_scaled",
                                  "blockscale.swizzle_scales",
                                  "blockscale.unswizzle_scales",
                                  "tensor.cast",
                                  "tensor.empty",
                                  "arith.extf",
                                  "arith.bitcast",
                                  "linalg.transpose",
                                  "vector.transpose",
                                  "block_size",
                                  "sizes",
                                  "ins",
                                  "outs",
                                  "to",
                                  "attributes",
                                  "module",
                                  "func.func",
                                  "private",
                                  "return",
                                  "true",
                                  "affine_map",
                                  "loc"};
constexpr const char *kOthers[] = {"(", ")", "[", "]", "<",  ">", "{",  "}",
                                   ",", ":", "=", "-", "->", "*", "\"", "x"};

} // namespace

std::string mlir::blockscale::mutateText(const std::string &text,
                                         std::minstd_rand &random) {
  auto below = [&](size_t bound) { return random() % bound; };
  std::vector<Token> tokens = tokenize(text);
  if (tokens.empty())
    return text;
  const Token &token = tokens[below(tokens.size())];
  std::string result = text;
  auto getText = [&](const Token &other) {
    return text.substr(other.begin, other.size);
  };
  auto replace = [&](const std::string &with) {
    return result.replace(token.begin, token.size, with);
  };

  switch (below(10)) {
  case 0: // A line is removed.
  case 1: // A line is repeated.
  {
    size_t newline = text.rfind('\n', token.begin);
    size_t begin = newline == std::string::npos ? 0 : newline + 1;
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (below(2))
      return result.erase(begin, end - begin);
    return result.insert(begin, text.substr(begin, end - begin));
  }
  case 2:
    return replace("");
  case 3:
    return replace(getText(token) + " " + getText(token));
  case 4: // Two tokens are swapped.
  {
    const Token &other = tokens[below(tokens.size())];
    const Token &first = token.begin < other.begin ? token : other;
    const Token &last = token.begin < other.begin ? other : token;
    result.replace(last.begin, last.size, getText(first));
    return result.replace(first.begin, first.size, getText(last));
  }
  default: // Another token of this kind, from the text or from the tables.
    if (below(2) || token.kind == TokenKind::Name) {
      for (unsigned attempt = 0; attempt != 16; ++attempt) {
        const Token &other = tokens[below(tokens.size())];
        if (other.kind == token.kind)
          return replace(getText(other));
      }
    }
    if (token.kind == TokenKind::Number)
      return replace(kNumbers[below(std::size(kNumbers))]);
    if (token.kind == TokenKind::Word)
      return replace(kWords[below(std::size(kWords))]);
    return replace(kOthers[below(std::size(kOthers))]);
  }
}
