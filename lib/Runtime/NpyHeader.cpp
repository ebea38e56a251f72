//===- NpyHeader.cpp - The dict in a .npy file ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the header, which is Python source: only as much of Python as numpy
// writes.
//
//===----------------------------------------------------------------------===//

#include "NpyHeader.h"
#include "blockscale/Runtime/Npy.h"

#include <charconv>
#include <iterator>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
/// The byte orders that mean little-endian for elements up to a size. '=', the
/// order of the machine that wrote the file, is unknown.
struct ByteOrder {
  char mark;
  unsigned maxElementSize;
};
constexpr ByteOrder byteOrders[] = {{'<', 8}, {'|', 1}, {'=', 1}};

/// A recursive-descent parser. Functions that succeed leave `position` after
/// what they parsed.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Error parse() {
    if (!consume('{'))
      return expected("'{'");
    while (!consume('}')) {
      if (Error error = parseEntry())
        return error;
      if (consume(','))
        continue;
      if (!consume('}'))
        return expected("',' or '}'");
      break;
    }
    skipSpace();
    if (position != text.size())
      return expected("only white space after '}'");
    return checkComplete();
  }

  NpyHeader takeHeader() { return std::move(header); }

private:
  /// The three keys, and the function that parses each one's value.
  struct Key {
    std::string_view name;
    Error (HeaderParser::*parseValue)();
  };
  static const Key keys[3];

  Error parseEntry() {
    skipSpace();
    size_t start = position;
    std::string_view name;
    if (Error error = parseString(name, "a key in quotes or '}'"))
      return error;
    for (size_t i = 0; i < std::size(keys); ++i) {
      if (name != keys[i].name)
        continue;
      if (seen[i]) {
        position = start;
        return expected("each key once");
      }
      seen[i] = true;
      if (!consume(':'))
        return expected("':'");
      skipSpace();
      return (this->*keys[i].parseValue)();
    }
    position = start;
    return expected("one of the keys 'descr', 'fortran_order' and 'shape'");
  }

  Error parseDescr() {
    // numpy writes a structured type as a list of fields.
    if (position != text.size() && text[position] == '[')
      return Error("unsupported dtype: expected one of " + listDTypeCodes() +
                   ", got a structured dtype");
    std::string_view descr;
    if (Error error = parseString(descr, "a dtype in quotes"))
      return error;
    const DTypeInfo *info =
        descr.empty() ? nullptr : lookupDType(descr.substr(1));
    if (!info)
      return Error("unsupported dtype: expected '<' and one of " +
                   listDTypeCodes() + ", got " + quoteForMessage(descr));
    header.dtype = info->dtype;
    for (const ByteOrder &order : byteOrders)
      if (order.mark == descr[0] && info->size <= order.maxElementSize)
        return Error::success();
    std::string problem =
        descr[0] == '>' ? "big-endian data" : "unsupported byte order";
    return Error(problem + ": expected '<" + std::string(info->code) +
                 "', got " + quoteForMessage(descr));
  }

  Error parseFortranOrder() {
    constexpr std::string_view spellings[] = {"False", "True"};
    for (size_t value = 0; value < 2; ++value) {
      if (text.substr(position, spellings[value].size()) != spellings[value])
        continue;
      fortranOrder = value == 1;
      position += spellings[value].size();
      return Error::success();
    }
    return expected("True or False");
  }

  Error parseShape() {
    if (!consume('('))
      return expected("'('");
    while (!consume(')')) {
      if (Error error = parseDimension())
        return error;
      if (consume(','))
        continue;
      // In Python, parentheses around one value are not a tuple.
      if (header.shape.size() == 1)
        return expected("','");
      if (!consume(')'))
        return expected("',' or ')'");
      break;
    }
    return Error::success();
  }

  Error parseDimension() {
    skipSpace();
    size_t start = position + (text.substr(position, 1) == "-" ? 1 : 0);
    size_t end =
        std::min(text.find_first_not_of("0123456789", start), text.size());
    // Python has no integers with leading zeros.
    if (end == start || (end > start + 1 && text[start] == '0'))
      return expected("a dimension or ')'");
    int64_t dimension = 0;
    const char *first = text.data() + position, *last = text.data() + end;
    if (std::from_chars(first, last, dimension).ec != std::errc())
      return Error("overflowing shape: expected dimensions of at most " +
                   std::to_string(INT64_MAX) + ", got " +
                   quoteForMessage(text.substr(position, end - position)));
    header.shape.push_back(dimension);
    position = end;
    return Error::success();
  }

  Error parseString(std::string_view &value, std::string_view what) {
    char quote = position == text.size() ? '\0' : text[position];
    if (quote != '\'' && quote != '"')
      return expected(what);
    const char stops[] = {quote, '\\', '\n'};
    size_t end = text.find_first_of(std::string_view(stops, 3), position + 1);
    if (end == std::string_view::npos || text[end] != quote) {
      position = std::min(end, text.size());
      return expected("a string without escapes that ends on its line");
    }
    value = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return Error::success();
  }

  /// Checks the dict as a whole: that no key is missing, and that Fortran order
  /// is the same as C order, if the header has it.
  Error checkComplete() {
    for (size_t i = 0; i < std::size(keys); ++i)
      if (!seen[i])
        return Error("bad header: expected the keys 'descr', 'fortran_order' "
                     "and 'shape', got no '" +
                     std::string(keys[i].name) + "'");
    if (fortranOrder && header.shape.size() > 1)
      return Error("fortran order: expected 'fortran_order': False for shape " +
                   printShape(header.shape) + ", got True");
    return Error::success();
  }

  void skipSpace() {
    position =
        std::min(text.find_first_not_of(" \t\r\n", position), text.size());
  }

  /// Skips white space and then `c`, if that comes next.
  bool consume(char c) {
    skipSpace();
    if (position == text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  /// The error that `what` is not at the position.
  Error expected(std::string_view what) {
    std::string message = "bad header at byte " + std::to_string(position) +
                          ": expected " + std::string(what) + ", got ";
    message += position == text.size() ? "its end"
                                       : quoteForMessage(text.substr(position));
    return Error(std::move(message));
  }

  std::string_view text;
  size_t position = 0;
  bool seen[3] = {};
  bool fortranOrder = false;
  NpyHeader header;
};

const HeaderParser::Key HeaderParser::keys[3] = {
    {"descr", &HeaderParser::parseDescr},
    {"fortran_order", &HeaderParser::parseFortranOrder},
    {"shape", &HeaderParser::parseShape},
};
} // namespace

Result<NpyHeader> blockscale::parseNpyHeader(std::string_view text) {
  HeaderParser parser(text);
  if (Error error = parser.parse())
    return error;
  return parser.takeHeader();
}

std::string blockscale::printNpyHeader(DType dtype,
                                       const std::vector<int64_t> &shape) {
  const DTypeInfo &info = getDTypeInfo(dtype);
  std::string text = "{'descr': '";
  text += info.size == 1 ? '|' : '<';
  text.append(info.code).append("', 'fortran_order': False, 'shape': ");
  return text + printShape(shape) + ", }";
}

std::string blockscale::printShape(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text.append(i == 0 ? "" : ", ");
    // Cut ranks above the maximum: such shapes occur in messages only.
    if (i == maxRank)
      return text + "...)";
    text.append(std::to_string(shape[i]));
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}
