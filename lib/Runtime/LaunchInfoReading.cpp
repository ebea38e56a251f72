//===- LaunchInfoReading.cpp - Launch infos from files --------------------===//
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

#include "JsonNode.h"
#include "JsonText.h"
#include "LaunchExprJson.h"
#include "TensorMapTables.h"
#include "blockscale/Runtime/LaunchInfo.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;

static constexpr uint64_t formatVersion = 1;

static Error readDim3(const JsonNode &node, Dim3 &extents) {
  if (Error error = checkArray(node, extents.size()))
    return error;
  for (size_t i = 0; i < extents.size(); ++i)
    if (Error error =
            readInteger(node.getElement(i), 1, maxLaunchNumber, extents[i]))
      return error;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// Reads the name of a row of a table.
template <typename Row, size_t size>
static Error readRow(const JsonNode &node, const Row (&table)[size],
                     const Row *&row) {
  row = node.value.is_string()
            ? lookupName(table, node.value.get_ref<const std::string &>())
            : nullptr;
  return row ? Error::success() : expected(node, "one of " + listNames(table));
}

/// Reads an array of `rank` numbers, the innermost last.
static Error readNumbers(const JsonNode &node, size_t rank, uint32_t most,
                         std::vector<uint32_t> &numbers) {
  if (Error error = checkArray(node, rank))
    return error;
  for (size_t i = rank; i-- != 0;)
    if (Error error =
            readInteger(node.getElement(i), 1, most, numbers.emplace_back()))
      return error;
  return Error::success();
}

static Error readExprs(const JsonNode &node, size_t rank, int64_t min,
                       std::vector<LaunchExpr> &exprs) {
  if (Error error = checkArray(node, rank))
    return error;
  for (size_t i = rank; i-- != 0;)
    if (Error error =
            readExpr(node.getElement(i), min, INT64_MAX, exprs.emplace_back()))
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
  if (Error error = readNumbers(box, rank, maxTensorBox, form.box))
    return error;
  form.elementStrides.assign(rank, 1);
  if (node.has("element_strides")) {
    form.elementStrides.clear();
    if (Error error = readNumbers(node.getField("element_strides"), rank,
                                  maxElementStride, form.elementStrides))
      return error;
  }
  if (Error error = readExprs(node.getField("sizes"), rank, 1, map.sizes))
    return error;
  if (Error error =
          readExprs(node.getField("strides"), rank - 1, 0, map.strides))
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
// Kernels
//===----------------------------------------------------------------------===//

static Error readParam(const JsonNode &node, const LaunchExpr &workspace,
                       LaunchParam &param) {
  if (!node.value.is_object() || node.value.size() != 1)
    return expected(node, "an object of one field");
  const std::string &kind = node.value.begin().key();
  JsonNode value = node.getField(kind);
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
    int64_t most = workspace.isNumber() ? workspace.number - 1 : INT64_MAX;
    return readExpr(value, 0, most, param.offset);
  }
  if (kind == "tensor_map" && !param.tensorMap) {
    param.tensorMap.emplace();
    if (Error error = readTensorMap(value, *param.tensorMap))
      return error;
    JsonNode of = value.getField("of");
    if (Error error = readParam(of, workspace, param))
      return error;
    if (param.kind == LaunchParam::Kind::Size)
      return Error(of.where + ": expected memory, got a size");
    return Error::success();
  }
  return Error(node.where +
               ": expected one of arg result size workspace tensor_map, got " +
               quoteForMessage(kind));
}

static Error readKernel(const JsonNode &node, const LaunchExpr &workspace,
                        KernelLaunch &kernel) {
  if (Error error = checkFields(
          node, {"name", "grid", "block", "cluster", "shared", "params"},
          {"programmatic"}))
    return error;
  if (Error error = readName(node.getField("name"), kernel.name))
    return error;
  JsonNode grid = node.getField("grid");
  if (Error error = checkArray(grid, kernel.grid.size()))
    return error;
  for (size_t i = 0; i < kernel.grid.size(); ++i)
    if (Error error =
            readExpr(grid.getElement(i), 1, maxLaunchNumber, kernel.grid[i]))
      return error;
  if (Error error = readDim3(node.getField("block"), kernel.block))
    return error;
  if (Error error = readDim3(node.getField("cluster"), kernel.cluster))
    return error;
  if (Error error = readInteger(node.getField("shared"), 0, maxLaunchNumber,
                                kernel.shared))
    return error;
  if (node.has("programmatic")) {
    JsonNode programmatic = node.getField("programmatic");
    if (!programmatic.value.is_boolean())
      return expected(programmatic, "true or false");
    kernel.isProgrammatic = programmatic.value.get<bool>();
  }
  JsonNode params = node.getField("params");
  if (!params.value.is_array())
    return expected(params, "an array");
  for (size_t i = 0; i < params.value.size(); ++i) {
    LaunchParam param = LaunchParam::argument(0);
    if (Error error = readParam(params.getElement(i), workspace, param))
      return error;
    kernel.params.push_back(std::move(param));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The whole file
//===----------------------------------------------------------------------===//

static Error readOperand(const JsonNode &node, LaunchOperand &operand) {
  if (Error error = checkFields(node, {"dtype", "shape"}, {"packed"}))
    return error;
  JsonNode dtype = node.getField("dtype");
  const DTypeInfo *row =
      dtype.value.is_string()
          ? lookupDType(dtype.value.get_ref<const std::string &>())
          : nullptr;
  if (!row)
    return expected(dtype, "one of " + listDTypeCodes());
  operand.dtype = row->dtype;
  JsonNode shape = node.getField("shape");
  if (!shape.value.is_array())
    return expected(shape, "an array");
  for (size_t i = 0; i < shape.value.size(); ++i)
    if (Error error = readExpr(shape.getElement(i), 0, INT64_MAX,
                               operand.shape.emplace_back()))
      return error;
  if (!node.has("packed"))
    return Error::success();
  if (operand.shape.empty())
    return expected(shape, "an array of at least 1 for what is packed");
  return readPackedUnit(node.getField("packed"), operand.codes, operand.bytes);
}

static Error readOperands(const JsonNode &node, LaunchInfo &info) {
  // What the kernels alone say, as there are no operands yet.
  size_t least = info.numArguments() + size_t(info.numResults());
  if (!node.value.is_array() || node.value.size() < least)
    return expected(node, "an array of at least " + std::to_string(least) +
                              ", as kernels have arguments and results");
  std::vector<LaunchOperand> operands(node.value.size());
  for (size_t i = 0; i < operands.size(); ++i)
    if (Error error = readOperand(node.getElement(i), operands[i]))
      return error;
  info.operands = std::move(operands);
  size_t numArguments = info.operands.size() - info.numResults();
  for (size_t i = 0; i < info.operands.size(); ++i)
    for (const LaunchExpr &size : info.operands[i].shape)
      if (size.numArguments() > numArguments)
        return Error(node.getElement(i).where + ": expected sizes of the " +
                     std::to_string(numArguments) +
                     " arguments, got one of argument #" +
                     std::to_string(size.numArguments() - 1));
  return Error::success();
}

Result<LaunchInfo> blockscale::parseLaunchInfo(std::string_view text) {
  if (Error error = checkJsonText(text))
    return error;
  json document = json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                              /*allow_exceptions=*/false);
  JsonNode root = {document, "$"};
  LaunchInfo info;
  if (Error error = checkFields(
          root, {"version", "target", "kernels", "workspace"}, {"operands"}))
    return error;
  uint64_t version;
  if (Error error = readInteger(root.getField("version"), formatVersion,
                                formatVersion, version))
    return error;
  if (Error error = readName(root.getField("target"), info.target))
    return error;
  if (Error error =
          readExpr(root.getField("workspace"), 0, INT64_MAX, info.workspace))
    return error;
  JsonNode kernels = root.getField("kernels");
  if (!kernels.value.is_array() || kernels.value.empty())
    return expected(kernels, "an array of at least 1");
  for (size_t i = 0; i < kernels.value.size(); ++i) {
    info.kernels.emplace_back();
    if (Error error = readKernel(kernels.getElement(i), info.workspace,
                                 info.kernels.back()))
      return error;
  }
  if (info.kernels.front().isProgrammatic)
    return expected(kernels.getElement(0).getField("programmatic"),
                    "false, as no kernel is in front");
  if (root.has("operands"))
    if (Error error = readOperands(root.getField("operands"), info))
      return error;
  return info;
}
