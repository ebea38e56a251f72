//===- LaunchParamJson.cpp - Parameters of kernels in a file --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table of the kinds of parameters: of kernels, of structs, and of the
// memory of tensor maps.
//
//===----------------------------------------------------------------------===//

#include "LaunchJson.h"

#include "TensorMapTables.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Offsets and numbers
//===----------------------------------------------------------------------===//

/// Reads the number of an argument, or of a result.
template <LaunchParam::Kind kind>
static Error readIndex(const JsonNode &node, const LaunchExpr &,
                       LaunchParam &param) {
  param.kind = kind;
  return readInteger(node, 0, maxLaunchNumber, param.index);
}

static Error readSize(const JsonNode &node, const LaunchExpr &,
                      LaunchParam &param) {
  param.kind = LaunchParam::Kind::Size;
  return readSize(node, param.size);
}

static Error readWorkspace(const JsonNode &node, const LaunchExpr &workspace,
                           LaunchParam &param) {
  param.kind = LaunchParam::Kind::Workspace;
  int64_t most = workspace.isNumber() ? workspace.number - 1 : INT64_MAX;
  return readExpr(node, 0, most, param.offset);
}

template <LaunchNumber::Type type, int64_t min, int64_t max>
static Error readIntegerOf(const JsonNode &node, const LaunchExpr &,
                           LaunchParam &param) {
  param.kind = LaunchParam::Kind::Number;
  param.number.type = type;
  return readExpr(node, min, max, param.number.integer);
}

static Error readF32(const JsonNode &node, const LaunchExpr &,
                     LaunchParam &param) {
  param.kind = LaunchParam::Kind::Number;
  param.number.type = LaunchNumber::Type::F32;
  if (!node.value.is_number())
    return expected(node, "a number");
  param.number.real = static_cast<float>(node.value.get<double>());
  if (!std::isfinite(param.number.real))
    return expected(node, "a number that f32 can hold");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// Reads the name of a table row.
template <typename Row, size_t size>
static Error readRow(const JsonNode &node, const Row (&table)[size],
                     const Row *&row) {
  row = lookupName(table, node.getText());
  return row ? Error::success() : expected(node, "one of " + listNames(table));
}

/// Reads an array of `rank` numbers, the innermost dimension last.
template <typename Number>
static Error
readNumbers(const JsonNode &node, size_t rank, int64_t min, int64_t max,
            Error (*read)(const JsonNode &, int64_t, int64_t, Number &),
            std::vector<Number> &numbers) {
  if (Error error = checkArray(node, rank))
    return error;
  for (size_t i = rank; i-- != 0;)
    if (Error error =
            read(node.getElement(i), min, max, numbers.emplace_back()))
      return error;
  return Error::success();
}

static Error readTensorMap(const JsonNode &node, LaunchTensorMap &map) {
  if (Error error = checkFields(
          node, {"of", "dtype", "sizes", "strides", "box", "swizzle"},
          {"element_strides", "fill", "l2"}))
    return error;
  TensorMap &form = map.form;
  if (Error error = readRow(node.getField("dtype"), tensorMapTypes, form.type))
    return error;
  JsonNode box = node.getField("box");
  size_t rank = box.value.is_array() ? box.value.size() : 0;
  if (rank < 1 || rank > maxTensorRank)
    return expected(box, "an array of 1 to " + std::to_string(maxTensorRank));
  if (Error error =
          readNumbers(box, rank, 1, maxTensorBox, readInteger, form.box))
    return error;
  form.elementStrides.assign(rank, 1);
  if (node.has("element_strides")) {
    form.elementStrides.clear();
    if (Error error =
            readNumbers(node.getField("element_strides"), rank, 1,
                        maxElementStride, readInteger, form.elementStrides))
      return error;
  }
  if (Error error = readNumbers(node.getField("sizes"), rank, 1, INT64_MAX,
                                readExpr, map.sizes))
    return error;
  if (Error error = readNumbers(node.getField("strides"), rank - 1, 0,
                                INT64_MAX, readExpr, map.strides))
    return error;
  if (Error error =
          readRow(node.getField("swizzle"), tensorMapSwizzles, form.swizzle))
    return error;
  if (node.has("fill")) {
    const TensorMapFillName *row;
    if (Error error = readRow(node.getField("fill"), tensorMapFills, row))
      return error;
    form.fill = row->fill;
  }
  if (node.has("l2"))
    if (Error error =
            readRow(node.getField("l2"), tensorMapPromotions, form.promotion))
      return error;
  if (Error error = checkTensorBox(form))
    return Error(node.where + ": " + error.message());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Structs
//===----------------------------------------------------------------------===//

static int getDigit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

static Error readBytes(const JsonNode &node, std::vector<uint8_t> &bytes) {
  std::string what = "two hexadecimal digits for each of 1 to " +
                     std::to_string(maxParamBytes) + " bytes";
  if (!node.value.is_string())
    return expected(node, what);
  const auto &digits = node.value.get_ref<const std::string &>();
  if (digits.empty() || digits.size() % 2 != 0 ||
      digits.size() / 2 > maxParamBytes)
    return Error(node.where + ": expected " + what + ", got " +
                 std::to_string(digits.size()) + " characters");
  for (size_t i = 0; i != digits.size(); i += 2) {
    int high = getDigit(digits[i]), low = getDigit(digits[i + 1]);
    if (high < 0 || low < 0)
      return Error(node.where + ": expected " + what + ", got " +
                   quoteForMessage(digits.substr(i, 2)));
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return Error::success();
}

static Error readField(const JsonNode &node, const LaunchExpr &workspace,
                       LaunchField &field) {
  if (Error error = checkFields(node, {"at", "param"}))
    return error;
  if (Error error =
          readInteger(node.getField("at"), 0, maxParamBytes - 1, field.offset))
    return error;
  JsonNode param = node.getField("param");
  if (param.has("struct"))
    return Error(param.where + ": expected no struct in a struct");
  return readParam(param, workspace, field.param);
}

static Error readStruct(const JsonNode &node, const LaunchExpr &workspace,
                        LaunchParam &param) {
  param.kind = LaunchParam::Kind::Struct;
  if (Error error = checkFields(node, {}, {"bytes", "size", "fields"}))
    return error;
  if (node.has("bytes") == node.has("size"))
    return Error(node.where +
                 ": expected one of the fields bytes and size, got " +
                 (node.has("size") ? "both" : "none"));
  if (node.has("bytes")) {
    if (Error error = readBytes(node.getField("bytes"), param.bytes))
      return error;
  } else {
    uint32_t size;
    if (Error error =
            readInteger(node.getField("size"), 1, maxParamBytes, size))
      return error;
    param.bytes.resize(size);
  }
  if (!node.has("fields"))
    return Error::success();
  return readArray(node.getField("fields"), param.fields,
                   [&](const JsonNode &each, LaunchField &field) {
                     return readField(each, workspace, field);
                   });
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

static Error readMap(const JsonNode &node, const LaunchExpr &workspace,
                     LaunchParam &param) {
  LaunchTensorMap map;
  if (Error error = readTensorMap(node, map))
    return error;
  JsonNode of = node.getField("of");
  if (Error error = readParam(of, workspace, param))
    return error;
  if (param.tensorMap || (param.kind != LaunchParam::Kind::Argument &&
                          param.kind != LaunchParam::Kind::Result &&
                          param.kind != LaunchParam::Kind::Workspace))
    return Error(of.where + ": expected memory, got " +
                 quoteForMessage(of.value.begin().key()));
  param.tensorMap = std::move(map);
  return Error::success();
}

static constexpr struct {
  std::string_view name;
  Error (*read)(const JsonNode &node, const LaunchExpr &workspace,
                LaunchParam &param);
  /// Whether it may have an "offset".
  bool hasOffset = false;
} paramKinds[] = {
    {"arg", readIndex<LaunchParam::Kind::Argument>, /*hasOffset=*/true},
    {"result", readIndex<LaunchParam::Kind::Result>, /*hasOffset=*/true},
    {"size", readSize},
    {"workspace", readWorkspace},
    {"tensor_map", readMap},
    {"i32", readIntegerOf<LaunchNumber::Type::I32, INT32_MIN, UINT32_MAX>},
    {"i64", readIntegerOf<LaunchNumber::Type::I64, INT64_MIN, INT64_MAX>},
    {"f32", readF32},
    {"struct", readStruct},
};

Error blockscale::readParam(const JsonNode &node, const LaunchExpr &workspace,
                            LaunchParam &param) {
  bool hasOffset = node.has("offset") && node.value.size() == 2;
  if (!node.value.is_object() || node.value.size() != (hasOffset ? 2 : 1))
    return expected(node, "an object of one field");
  std::string names;
  for (const auto &kind : paramKinds) {
    std::string name(kind.name);
    names.append(names.empty() ? "" : " ").append(name);
    if (!node.has(name))
      continue;
    if (hasOffset && !kind.hasOffset)
      return Error(node.where + ": expected no offset with " + name);
    if (name == "workspace" && workspace == 0)
      return Error(node.where + ": expected a workspace, got one of 0 bytes");
    if (Error error = kind.read(node.getField(name), workspace, param))
      return error;
    return hasOffset
               ? readExpr(node.getField("offset"), 0, INT64_MAX, param.offset)
               : Error::success();
  }
  return Error(node.where + ": expected one of " + names + ", got " +
               quoteForMessage(node.value.begin().key()));
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The innermost dimension last.
template <typename Range>
static ordered_json makeReversed(const Range &numbers) {
  ordered_json array = ordered_json::array();
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number)
    array.push_back(makeExpr(*number));
  return array;
}

/// Adds the offset, if there is one.
static ordered_json makePosition(const char *name, const LaunchParam &param) {
  ordered_json object = makeObject(2);
  object[name] = param.index;
  if (!(param.offset == 0))
    object["offset"] = makeExpr(param.offset);
  return object;
}

static ordered_json makeNumber(const LaunchNumber &number) {
  switch (number.type) {
  case LaunchNumber::Type::I32:
    return {{"i32", makeExpr(number.integer)}};
  case LaunchNumber::Type::I64:
    return {{"i64", makeExpr(number.integer)}};
  case LaunchNumber::Type::F32:
    return {{"f32", number.real}};
  }
  return {};
}

static ordered_json makeStruct(const LaunchParam &param) {
  ordered_json object = makeObject(2);
  bool isZero = std::all_of(param.bytes.begin(), param.bytes.end(),
                            [](uint8_t byte) { return byte == 0; });
  if (isZero) {
    object["size"] = param.bytes.size();
  } else {
    std::string digits;
    for (uint8_t byte : param.bytes)
      for (unsigned digit : {byte >> 4, byte & 15})
        digits += "0123456789abcdef"[digit];
    object["bytes"] = digits;
  }
  ordered_json fields = ordered_json::array();
  for (const LaunchField &field : param.fields)
    fields.push_back({{"at", field.offset}, {"param", makeParam(field.param)}});
  object["fields"] = std::move(fields);
  return {{"struct", std::move(object)}};
}

static ordered_json makeMemory(const LaunchParam &param) {
  switch (param.kind) {
  case LaunchParam::Kind::Argument:
    return makePosition("arg", param);
  case LaunchParam::Kind::Result:
    return makePosition("result", param);
  case LaunchParam::Kind::Size:
    return {{"size", makeSize(param.size)}};
  case LaunchParam::Kind::Workspace:
    return {{"workspace", makeExpr(param.offset)}};
  case LaunchParam::Kind::Number:
    return makeNumber(param.number);
  case LaunchParam::Kind::Struct:
    return makeStruct(param);
  }
  return {};
}

ordered_json blockscale::makeParam(const LaunchParam &param) {
  if (!param.tensorMap)
    return makeMemory(param);
  const TensorMap &form = param.tensorMap->form;
  const TensorMapFillName *fill =
      std::find_if(std::begin(tensorMapFills), std::end(tensorMapFills),
                   [&](const auto &row) { return row.fill == form.fill; });
  ordered_json map = makeObject(9);
  map["of"] = makeMemory(param);
  map["dtype"] = form.type->name;
  map["sizes"] = makeReversed(param.tensorMap->sizes);
  map["strides"] = makeReversed(param.tensorMap->strides);
  map["box"] = makeReversed(form.box);
  map["element_strides"] = makeReversed(form.elementStrides);
  map["swizzle"] = form.swizzle->name;
  map["fill"] = fill->name;
  map["l2"] =
      form.promotion ? form.promotion->name : tensorMapPromotions[0].name;
  return {{"tensor_map", std::move(map)}};
}
