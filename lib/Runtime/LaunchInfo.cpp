//===- LaunchInfo.cpp - How kernels are launched --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launch infos may be written by other compilers: every field is checked, and a
// message names the path to it.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchInfo.h"
#include "JsonText.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;
using nlohmann::ordered_json;

static constexpr uint64_t formatVersion = 1;
/// As many dimensions as an array can have.
static constexpr uint32_t maxDimension = 63;

//===----------------------------------------------------------------------===//
// Values with their place
//===----------------------------------------------------------------------===//

namespace {

/// A value and where it stands, as JSONPath: "$.kernels[0].grid[1]".
struct Node {
  const json &value;
  std::string where;
};

} // namespace

static std::string describe(const json &value) {
  if (value.is_string())
    return quoteForMessage(value.get_ref<const std::string &>());
  if (value.is_object() || value.is_array())
    return std::string("an ") + value.type_name() + " of " +
           std::to_string(value.size());
  return value.dump();
}

static Error expected(const Node &node, const std::string &what) {
  return Error(node.where + ": expected " + what + ", got " +
               describe(node.value));
}

/// The field of an object that is known to have it.
static Node getField(const Node &node, const std::string &name) {
  return {*node.value.find(name), node.where + "." + name};
}

static Node getElement(const Node &node, size_t i) {
  return {node.value[i], node.where + "[" + std::to_string(i) + "]"};
}

/// Checks that a value is an object with exactly these fields.
static Error checkFields(const Node &node,
                         const std::vector<std::string> &names) {
  if (!node.value.is_object())
    return expected(node, "an object");
  for (const std::string &name : names)
    if (!node.value.contains(name))
      return Error(node.where + ": expected a field '" + name + "', got none");
  for (const auto &field : node.value.items())
    if (std::find(names.begin(), names.end(), field.key()) == names.end()) {
      std::string list;
      for (const std::string &name : names)
        list += " " + name;
      return Error(node.where + ": expected the fields" + list + ", got " +
                   quoteForMessage(field.key()));
    }
  return Error::success();
}

static Error checkArray(const Node &node, size_t size) {
  if (!node.value.is_array() || node.value.size() != size)
    return expected(node, "an array of " + std::to_string(size));
  return Error::success();
}

template <typename Integer>
static Error readInteger(const Node &node, uint64_t min, uint64_t max,
                         Integer &number) {
  // What is negative, or too large for 64 bits, is of another type.
  if (!node.value.is_number_unsigned() || node.value.get<uint64_t>() < min ||
      node.value.get<uint64_t>() > max)
    return expected(node, "an integer from " + std::to_string(min) + " to " +
                              std::to_string(max));
  number = static_cast<Integer>(node.value.get<uint64_t>());
  return Error::success();
}

static Error readName(const Node &node, std::string &name) {
  if (!node.value.is_string() ||
      node.value.get_ref<const std::string &>() == "")
    return expected(node, "a string that is not empty");
  name = node.value.get<std::string>();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// {"arg": i, "dim": d}, and for a packed dimension {..., "packed": [codes,
/// bytes]}.
static Error readSize(const Node &node, ArgumentSize &size) {
  std::vector<std::string> fields = {"arg", "dim"};
  bool isPacked = node.value.is_object() && node.value.contains("packed");
  if (isPacked)
    fields.push_back("packed");
  if (Error error = checkFields(node, fields))
    return error;
  if (Error error =
          readInteger(getField(node, "arg"), 0, maxLaunchNumber, size.argument))
    return error;
  if (Error error =
          readInteger(getField(node, "dim"), 0, maxDimension, size.dimension))
    return error;
  if (!isPacked)
    return Error::success();
  Node unit = getField(node, "packed");
  if (Error error = checkArray(unit, 2))
    return error;
  constexpr uint32_t maxUnit = 8;
  if (Error error = readInteger(getElement(unit, 0), 1, maxUnit, size.codes))
    return error;
  return readInteger(getElement(unit, 1), 1, maxUnit, size.bytes);
}

static Error readExtent(const Node &node, LaunchExtent &extent) {
  if (node.value.is_number()) {
    uint32_t number;
    if (Error error = readInteger(node, 1, maxLaunchNumber, number))
      return error;
    extent = number;
    return Error::success();
  }
  if (!node.value.is_object())
    return expected(node, "an integer or {\"ceildiv\": ...}");
  if (Error error = checkFields(node, {"ceildiv"}))
    return error;
  Node operands = getField(node, "ceildiv");
  if (Error error = checkArray(operands, 2))
    return error;
  CeilDiv quotient;
  if (Error error = readSize(getElement(operands, 0), quotient.size))
    return error;
  if (Error error = readInteger(getElement(operands, 1), 1, maxLaunchNumber,
                                quotient.divisor))
    return error;
  extent = quotient;
  return Error::success();
}

static Error readDim3(const Node &node, Dim3 &extents) {
  if (Error error = checkArray(node, extents.size()))
    return error;
  for (size_t i = 0; i < extents.size(); ++i)
    if (Error error =
            readInteger(getElement(node, i), 1, maxLaunchNumber, extents[i]))
      return error;
  return Error::success();
}

static Error readParam(const Node &node, uint64_t workspace,
                       LaunchParam &param) {
  if (!node.value.is_object() || node.value.size() != 1)
    return expected(node, "an object of one field");
  const std::string &kind = node.value.begin().key();
  Node value = getField(node, kind);
  if (kind == "tensor_map")
    return Error("not supported in this version: tensor_map parameters");
  if (kind == "arg") {
    param.kind = LaunchParam::Kind::Argument;
    return readInteger(value, 0, maxLaunchNumber, param.index);
  }
  if (kind == "result") {
    param.kind = LaunchParam::Kind::Result;
    return readInteger(value, 0, maxLaunchNumber, param.index);
  }
  if (kind == "size") {
    param.kind = LaunchParam::Kind::Size;
    return readSize(value, param.size);
  }
  if (kind == "workspace") {
    param.kind = LaunchParam::Kind::Workspace;
    if (workspace == 0)
      return Error(node.where + ": expected a workspace, got one of 0 bytes");
    return readInteger(value, 0, workspace - 1, param.offset);
  }
  return Error(node.where +
               ": expected one of arg result size workspace tensor_map, got " +
               quoteForMessage(kind));
}

static Error readKernel(const Node &node, uint64_t workspace,
                        KernelLaunch &kernel) {
  if (Error error = checkFields(
          node, {"name", "grid", "block", "cluster", "shared", "params"}))
    return error;
  if (Error error = readName(getField(node, "name"), kernel.name))
    return error;
  Node grid = getField(node, "grid");
  if (Error error = checkArray(grid, kernel.grid.size()))
    return error;
  for (size_t i = 0; i < kernel.grid.size(); ++i)
    if (Error error = readExtent(getElement(grid, i), kernel.grid[i]))
      return error;
  if (Error error = readDim3(getField(node, "block"), kernel.block))
    return error;
  if (Error error = readDim3(getField(node, "cluster"), kernel.cluster))
    return error;
  if (Error error = readInteger(getField(node, "shared"), 0, maxLaunchNumber,
                                kernel.shared))
    return error;
  Node params = getField(node, "params");
  if (!params.value.is_array())
    return expected(params, "an array");
  for (size_t i = 0; i < params.value.size(); ++i) {
    LaunchParam param = LaunchParam::argument(0);
    if (Error error = readParam(getElement(params, i), workspace, param))
      return error;
    kernel.params.push_back(param);
  }
  return Error::success();
}

Result<LaunchInfo> blockscale::parseLaunchInfo(std::string_view text) {
  if (Error error = checkJsonText(text))
    return error;
  json document = json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                              /*allow_exceptions=*/false);
  Node root = {document, "$"};
  LaunchInfo info;
  if (Error error =
          checkFields(root, {"version", "target", "kernels", "workspace"}))
    return error;
  uint64_t version;
  if (Error error = readInteger(getField(root, "version"), formatVersion,
                                formatVersion, version))
    return error;
  if (Error error = readName(getField(root, "target"), info.target))
    return error;
  if (Error error = readInteger(getField(root, "workspace"), 0, INT64_MAX,
                                info.workspace))
    return error;
  Node kernels = getField(root, "kernels");
  if (!kernels.value.is_array() || kernels.value.empty())
    return expected(kernels, "an array of at least 1");
  for (size_t i = 0; i < kernels.value.size(); ++i) {
    info.kernels.emplace_back();
    if (Error error = readKernel(getElement(kernels, i), info.workspace,
                                 info.kernels.back()))
      return error;
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static ordered_json makeSize(const ArgumentSize &size) {
  ordered_json object = {{"arg", size.argument}, {"dim", size.dimension}};
  if (size.codes != 1)
    object["packed"] = ordered_json::array({size.codes, size.bytes});
  return object;
}

static ordered_json makeExtent(const LaunchExtent &extent) {
  if (const auto *number = std::get_if<uint32_t>(&extent))
    return *number;
  const auto &quotient = *std::get_if<CeilDiv>(&extent);
  return {{"ceildiv",
           ordered_json::array({makeSize(quotient.size), quotient.divisor})}};
}

static ordered_json makeParam(const LaunchParam &param) {
  switch (param.kind) {
  case LaunchParam::Kind::Argument:
    return {{"arg", param.index}};
  case LaunchParam::Kind::Result:
    return {{"result", param.index}};
  case LaunchParam::Kind::Size:
    return {{"size", makeSize(param.size)}};
  case LaunchParam::Kind::Workspace:
    return {{"workspace", param.offset}};
  }
  return {};
}

std::string blockscale::serializeLaunchInfo(const LaunchInfo &info) {
  ordered_json kernels = ordered_json::array();
  for (const KernelLaunch &kernel : info.kernels) {
    ordered_json grid = ordered_json::array();
    for (const LaunchExtent &extent : kernel.grid)
      grid.push_back(makeExtent(extent));
    ordered_json params = ordered_json::array();
    for (const LaunchParam &param : kernel.params)
      params.push_back(makeParam(param));
    ordered_json object;
    object["name"] = kernel.name;
    object["grid"] = grid;
    object["block"] = kernel.block;
    object["cluster"] = kernel.cluster;
    object["shared"] = kernel.shared;
    object["params"] = params;
    kernels.push_back(object);
  }
  ordered_json root;
  root["version"] = formatVersion;
  root["target"] = info.target;
  root["kernels"] = kernels;
  root["workspace"] = info.workspace;
  // A name that is no UTF-8 cannot be written; no PTX has such names.
  return root.dump(/*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
                   json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

uint32_t LaunchInfo::numArguments() const {
  uint32_t number = 0;
  auto use = [&](uint32_t index) { number = std::max(number, index + 1); };
  for (const KernelLaunch &kernel : kernels) {
    for (const LaunchExtent &extent : kernel.grid)
      if (const auto *quotient = std::get_if<CeilDiv>(&extent))
        use(quotient->size.argument);
    for (const LaunchParam &param : kernel.params)
      if (param.kind == LaunchParam::Kind::Argument)
        use(param.index);
      else if (param.kind == LaunchParam::Kind::Size)
        use(param.size.argument);
  }
  return number;
}

uint32_t LaunchInfo::numResults() const {
  uint32_t number = 0;
  for (const KernelLaunch &kernel : kernels)
    for (const LaunchParam &param : kernel.params)
      if (param.kind == LaunchParam::Kind::Result)
        number = std::max(number, param.index + 1);
  return number;
}
