//===- TensorMapText.cpp - Tensor maps on the command line ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses tensor maps from the end of the text, because a file name may have any
// characters: parts with a known key, then the type, then the file.
//
//===----------------------------------------------------------------------===//

#include "NumberText.h"
#include "TensorMapTables.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Values of keys
//===----------------------------------------------------------------------===//

static Error expected(std::string_view key, const std::string &what,
                      std::string_view got) {
  return Error("expected " + what + " after " + std::string(key) + "=, got " +
               quoteForMessage(got));
}

/// Parses `AxB..` with numbers from `least` to `most`, the innermost last.
template <typename Number>
static Error parseNumbers(std::string_view key, std::string_view text,
                          uint64_t least, uint64_t most,
                          std::vector<Number> &numbers) {
  std::string_view rest = text;
  while (true) {
    std::string_view part = rest.substr(0, rest.find('x'));
    Number number;
    if (!parseNumber(part, number) || number < least || number > most)
      return expected(key,
                      "numbers from " + std::to_string(least) + " to " +
                          std::to_string(most),
                      part);
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
  return parseNumbers("BOX", value, 1, maxTensorBox, result.map.box);
}

static Error parseStrides(TensorMapText &result, std::string_view value) {
  return parseNumbers("STRIDES", value, 1, maxElementStride,
                      result.map.elementStrides);
}

static Error parseSizes(TensorMapText &result, std::string_view value) {
  return parseNumbers("SIZES", value, 1, maxTensorSize, result.map.sizes);
}

static Error parsePitch(TensorMapText &result, std::string_view value) {
  return parseNumbers("PITCH", value, 0, tensorStrideLimit - 1,
                      result.map.strides);
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

static Error parseTemplate(TensorMapText &result, std::string_view value) {
  if (value != "0" && value != "1")
    return expected("TEMPLATE", "0 or 1", value);
  result.isTemplate = value == "1";
  return Error::success();
}

static constexpr struct {
  std::string_view key;
  Error (*parse)(TensorMapText &result, std::string_view value);
  bool isRequired = false;
  /// Whether only tensors in buffers of arguments have it.
  bool isOfViews = false;
} keys[] = {
    {"BOX", parseBox, /*isRequired=*/true},
    {"SWIZZLE", parseSwizzle, /*isRequired=*/true},
    {"STRIDES", parseStrides},
    {"FILL", parseFill},
    {"STORE", parseStore},
    {"SIZES", parseSizes, /*isRequired=*/true, /*isOfViews=*/true},
    {"PITCH", parsePitch, /*isRequired=*/false, /*isOfViews=*/true},
    {"TEMPLATE", parseTemplate, /*isRequired=*/false, /*isOfViews=*/true},
};

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The row of the key that a part starts with; nullopt if there is no `KEY=`.
static Result<int> findKey(std::string_view part, bool isView) {
  std::string_view name = part.substr(0, part.find('='));
  bool isKey = !name.empty() && name.size() != part.size() &&
               std::all_of(name.begin(), name.end(),
                           [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!isKey)
    return -1;
  std::string list;
  for (int row = 0; row != static_cast<int>(std::size(keys)); ++row) {
    if (keys[row].isOfViews && !isView)
      continue;
    if (keys[row].key == name)
      return row;
    list.append(list.empty() ? "" : " ").append(keys[row].key);
  }
  return Error("expected one of the keys " + list + ", got " +
               quoteForMessage(name));
}

/// Removes the keys and the type from the end of a text.
static Error takeKeys(std::string_view &text, TensorMapText &result) {
  bool isView = text.substr(0, 1) == "@";
  bool isThere[std::size(keys)] = {};
  std::string_view part, whole = text;
  while (true) {
    size_t colon = text.rfind(':');
    if (colon == text.npos)
      return Error(std::string("expected ") +
                   (isView ? "@N[+BYTES]:DTYPE:SIZES=AxB..:PITCH=BYTESx..:"
                           : "FILE:DTYPE:") +
                   "BOX=AxB..:SWIZZLE=.., got " +
                   quoteForMessage(isView ? whole : text));
    part = text.substr(colon + 1);
    text = text.substr(0, colon);
    Result<int> row = findKey(part, isView);
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
    if (keys[row].isRequired && !isThere[row] &&
        (isView || !keys[row].isOfViews))
      return Error("expected " + std::string(keys[row].key) + "=, got none");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The whole text
//===----------------------------------------------------------------------===//

/// The strides of all dimensions, from those after PITCH=.
static Error completeStrides(TensorMap &map) {
  size_t rank = map.getRank();
  unsigned elementBytes = map.type->bits / 8;
  size_t numGiven = map.strides.size();
  bool hasLast = numGiven == rank && elementBytes != 0;
  if (hasLast && map.strides[0] == elementBytes)
    return Error::success();
  if (hasLast)
    return Error("expected the size of an element, " +
                 std::to_string(elementBytes) +
                 " bytes, as the last number after PITCH=, got " +
                 std::to_string(map.strides[0]));
  if (numGiven + 1 != rank)
    return Error("expected a number after PITCH= for each dimension but the "
                 "last, " +
                 std::to_string(rank - 1) + ", got " +
                 std::to_string(numGiven));
  map.strides.insert(map.strides.begin(), elementBytes);
  return Error::success();
}

/// Parses `@N[+BYTES]` for a tensor in a buffer.
static Error takeView(std::string_view text, TensorMapText &result) {
  Result<BufferText> viewed = parseBufferText(text.substr(1));
  if (!viewed)
    return Error(viewed.message() + " after @");
  result.viewed = *viewed;
  TensorMap &map = result.map;
  if (map.sizes.size() != map.getRank())
    return Error("expected " + std::to_string(map.getRank()) +
                 " numbers after SIZES=, as in BOX, got " +
                 std::to_string(map.sizes.size()));
  if (Error error = completeStrides(map))
    return error;
  if (result.isTemplate)
    return Error::success();
  if (Error error = checkTensorOffset(map, viewed->offset))
    return error;
  // The size of its memory is not known yet.
  return checkTensor(map, /*bytes=*/UINT64_MAX);
}

Result<TensorMapText> blockscale::parseTensorMap(std::string_view text) {
  TensorMapText result;
  if (Error error = takeKeys(text, result))
    return error;
  if (text.empty())
    return Error("expected the name of a file, got ''");
  TensorMap &map = result.map;
  if (map.elementStrides.empty())
    map.elementStrides.assign(map.getRank(), 1);
  if (Error error = checkTensorBox(map))
    return error;
  if (text[0] != '@')
    result.path = text;
  else if (Error error = takeView(text, result))
    return error;
  return result;
}
