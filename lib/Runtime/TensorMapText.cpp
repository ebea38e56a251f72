//===- TensorMapText.cpp - Tensor maps on the command line ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text is read from its end, because the name of a file may have any
// characters: parts with a known key, then the type, then the file.
//
//===----------------------------------------------------------------------===//

#include "TensorMapTables.h"

#include <algorithm>
#include <charconv>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Values of keys
//===----------------------------------------------------------------------===//

static Error expected(std::string_view key, const std::string &what,
                      std::string_view got) {
  return Error("expected " + what + " behind " + std::string(key) + "=, got " +
               quoteForMessage(got));
}

/// `AxB..` with numbers from 1 to `most`, the innermost last.
static Error parseNumbers(std::string_view key, std::string_view text,
                          uint32_t most, std::vector<uint32_t> &numbers) {
  std::string_view rest = text;
  while (true) {
    std::string_view part = rest.substr(0, rest.find('x'));
    const char *end = part.data() + part.size();
    uint32_t number;
    auto [stop, code] = std::from_chars(part.data(), end, number);
    if (code != std::errc() || stop != end || number < 1 || number > most)
      return expected(key, "numbers from 1 to " + std::to_string(most), part);
    numbers.push_back(number);
    if (part.size() == rest.size())
      break;
    rest.remove_prefix(part.size() + 1);
  }
  if (numbers.size() > maxTensorRank)
    return expected(key, "1 to " + std::to_string(maxTensorRank) + " numbers",
                    text);
  std::reverse(numbers.begin(), numbers.end());
  return Error::success();
}

static Error parseBox(TensorMapText &result, std::string_view value) {
  return parseNumbers("BOX", value, maxTensorBox, result.map.box);
}

static Error parseStrides(TensorMapText &result, std::string_view value) {
  return parseNumbers("STRIDES", value, maxElementStride,
                      result.map.elementStrides);
}

static Error parseSwizzle(TensorMapText &result, std::string_view value) {
  result.map.swizzle = lookupName(tensorMapSwizzles, value);
  if (result.map.swizzle)
    return Error::success();
  return expected("SWIZZLE", "one of " + listNames(tensorMapSwizzles), value);
}

static Error parseFill(TensorMapText &result, std::string_view value) {
  if (value != "zero" && value != "nan")
    return expected("FILL", "zero or nan", value);
  result.map.fill = value == "nan" ? TensorMapFill::Nan : TensorMapFill::Zero;
  return Error::success();
}

static Error parseStore(TensorMapText &result, std::string_view value) {
  if (value != "0" && value != "1")
    return expected("STORE", "0 or 1", value);
  result.isStored = value == "1";
  return Error::success();
}

static constexpr struct {
  std::string_view key;
  Error (*parse)(TensorMapText &result, std::string_view value);
  bool isRequired = false;
} keys[] = {
    {"BOX", parseBox, /*isRequired=*/true},
    {"SWIZZLE", parseSwizzle, /*isRequired=*/true},
    {"STRIDES", parseStrides},
    {"FILL", parseFill},
    {"STORE", parseStore},
};

//===----------------------------------------------------------------------===//
// The whole text
//===----------------------------------------------------------------------===//

/// The row of the key that a part starts with; nothing if there is no `KEY=`.
static Result<int> findKey(std::string_view part) {
  std::string_view name = part.substr(0, part.find('='));
  bool isKey = !name.empty() && name.size() != part.size() &&
               std::all_of(name.begin(), name.end(),
                           [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!isKey)
    return -1;
  std::string list;
  for (int row = 0; row != static_cast<int>(std::size(keys)); ++row) {
    if (keys[row].key == name)
      return row;
    list.append(list.empty() ? "" : " ").append(keys[row].key);
  }
  return Error("expected one of the keys " + list + ", got " +
               quoteForMessage(name));
}

Result<TensorMapText> blockscale::parseTensorMap(std::string_view text) {
  TensorMapText result;
  bool isThere[std::size(keys)] = {};
  std::string_view part;
  while (true) {
    size_t colon = text.rfind(':');
    if (colon == text.npos)
      return Error("expected FILE:DTYPE:BOX=AxB..:SWIZZLE=.., got " +
                   quoteForMessage(text));
    part = text.substr(colon + 1);
    text = text.substr(0, colon);
    Result<int> row = findKey(part);
    if (!row)
      return row.error();
    if (*row < 0)
      break;
    const auto &key = keys[*row];
    if (isThere[*row])
      return Error("expected one " + std::string(key.key) + "=, got two");
    isThere[*row] = true;
    if (Error error = key.parse(result, part.substr(key.key.size() + 1)))
      return error;
  }
  result.map.type = lookupName(tensorMapTypes, part);
  if (!result.map.type)
    return Error("expected one of the types " + listNames(tensorMapTypes) +
                 ", got " + quoteForMessage(part));
  for (size_t row = 0; row != std::size(keys); ++row)
    if (keys[row].isRequired && !isThere[row])
      return Error("expected " + std::string(keys[row].key) + "=, got none");
  if (text.empty())
    return Error("expected the name of a file, got ''");
  result.path = text;
  if (result.map.elementStrides.empty())
    result.map.elementStrides.assign(result.map.getRank(), 1);
  if (Error error = checkTensorBox(result.map))
    return error;
  return result;
}
