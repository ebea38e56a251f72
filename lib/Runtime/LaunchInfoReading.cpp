//===- LaunchInfoReading.cpp - Launch infos from files --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks every field, since other compilers may write launch infos; messages
// name the JSON path.
//
//===----------------------------------------------------------------------===//

#include "JsonNode.h"
#include "LaunchJson.h"
#include "blockscale/Runtime/LaunchInfo.h"

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;

static Error readDim3(const JsonNode &node, Dim3 &extents) {
  return readArray(node, extents, [](const JsonNode &each, uint32_t &extent) {
    return readInteger(each, 1, maxLaunchNumber, extent);
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static Error readKernel(const JsonNode &node, const LaunchExpr &workspace,
                        KernelLaunch &kernel) {
  if (Error error = checkFields(
          node, {"name", "grid", "block", "cluster", "shared", "params"},
          {"programmatic", "condition"}))
    return error;
  if (Error error = readName(node.getField("name"), kernel.name))
    return error;
  if (node.has("condition"))
    if (Error error = readExpr(node.getField("condition"), INT64_MIN, INT64_MAX,
                               kernel.condition))
      return error;
  if (Error error = readArray(node.getField("grid"), kernel.grid,
                              [](const JsonNode &each, LaunchExpr &extent) {
                                return readExpr(each, 1, maxLaunchNumber,
                                                extent);
                              }))
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
  return readArray(node.getField("params"), kernel.params,
                   [&](const JsonNode &each, LaunchParam &param) {
                     return readParam(each, workspace, param);
                   });
}

//===----------------------------------------------------------------------===//
// The whole file
//===----------------------------------------------------------------------===//

static Error readOperand(const JsonNode &node, LaunchOperand &operand) {
  if (Error error = checkFields(node, {"dtype", "shape"}, {"packed"}))
    return error;
  JsonNode dtype = node.getField("dtype");
  const DTypeInfo *row = lookupDType(dtype.getText());
  if (!row)
    return expected(dtype, "one of " + listDTypeCodes());
  operand.dtype = row->dtype;
  JsonNode shape = node.getField("shape");
  if (Error error = readArray(shape, operand.shape,
                              [](const JsonNode &each, LaunchExpr &size) {
                                return readExpr(each, 0, INT64_MAX, size);
                              }))
    return error;
  if (!node.has("packed"))
    return Error::success();
  if (operand.shape.empty())
    return expected(shape, "an array of at least 1 for a packed operand");
  return readPackedUnit(node.getField("packed"), operand.elements,
                        operand.bytes);
}

static Error readOperands(const JsonNode &node, LaunchInfo &info) {
  // The number that the kernels need, as there are no operands yet.
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

static Error readCheck(const JsonNode &node, uint32_t numArguments,
                       LaunchCheck &check) {
  if (Error error = checkFields(node, {"condition", "message"}))
    return error;
  JsonNode condition = node.getField("condition");
  if (Error error = readExpr(condition, 0, 1, check.condition))
    return error;
  if (check.condition.numArguments() > numArguments)
    return expected(condition, "sizes of the " + std::to_string(numArguments) +
                                   " arguments");
  JsonNode message = node.getField("message");
  if (!message.value.is_string())
    return expected(message, "a string");
  check.message = message.value.get<std::string>();
  return Error::success();
}

static Error readDigests(const JsonNode &node, LaunchInfo &info) {
  if (Error error = checkFields(node, {}, {"ptx", "cubin"}))
    return error;
  for (const auto &[name, digest] : {std::pair("ptx", &info.ptxDigest),
                                     std::pair("cubin", &info.cubinDigest)}) {
    if (!node.has(name))
      continue;
    JsonNode field = node.getField(name);
    if (Error error = readName(field, *digest))
      return error;
    constexpr size_t numDigits = 64;
    if (digest->size() != numDigits ||
        digest->find_first_not_of("0123456789abcdef") != digest->npos)
      return expected(field, std::to_string(numDigits) +
                                 " hexadecimal digits in lower case");
  }
  if (info.ptxDigest.empty() && info.cubinDigest.empty())
    return Error(node.where + ": expected a field 'ptx' or 'cubin', got none");
  return Error::success();
}

/// The version, before anything else: little is known about other ones.
static Error readVersion(const JsonNode &root, uint64_t &version) {
  version = firstLaunchInfoVersion;
  if (!root.has("version"))
    return Error::success();
  JsonNode field = root.getField("version");
  Error error = readInteger(field, firstLaunchInfoVersion,
                            newestLaunchInfoVersion, version);
  return error ? expected(field, "1 or 2") : Error::success();
}

/// Checks that no expression below `node` is a select.
static Error refuseSelects(const JsonNode &node) {
  if (node.has("select"))
    return Error(node.where + ".select: expected version 2 for select, got 1");
  if (node.value.is_object())
    for (const auto &field : node.value.items())
      if (Error error = refuseSelects(node.getField(field.key())))
        return error;
  if (node.value.is_array())
    for (size_t i = 0; i < node.value.size(); ++i)
      if (Error error = refuseSelects(node.getElement(i)))
        return error;
  return Error::success();
}

/// Checks that a launch info of version 1 has nothing that only version 2 has.
static Error refuseNewer(const JsonNode &root) {
  JsonNode kernels = root.getField("kernels");
  for (size_t i = 0; i < kernels.value.size(); ++i) {
    JsonNode kernel = kernels.getElement(i);
    if (kernel.has("condition"))
      return Error(kernel.where +
                   ".condition: expected version 2 for condition, got 1");
  }
  return refuseSelects(root);
}

static Error readFields(const JsonNode &root, LaunchInfo &info) {
  if (Error error =
          checkFields(root, {"version", "target", "kernels", "workspace"},
                      {"operands", "checks", "schedule", "digest"}))
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
  if (root.has("operands"))
    if (Error error = readOperands(root.getField("operands"), info))
      return error;
  if (root.has("checks"))
    if (Error error = readArray(root.getField("checks"), info.checks,
                                [number = info.numArguments()](
                                    const JsonNode &each, LaunchCheck &check) {
                                  return readCheck(each, number, check);
                                }))
      return error;
  if (root.has("schedule"))
    if (Error error = readName(root.getField("schedule"), info.schedule))
      return error;
  if (root.has("digest"))
    return readDigests(root.getField("digest"), info);
  return Error::success();
}

Error blockscale::readLaunchInfo(const JsonNode &root, LaunchInfo &info) {
  uint64_t version;
  if (Error error = readVersion(root, version))
    return error;
  if (Error error = readFields(root, info))
    return error;
  return version == firstLaunchInfoVersion ? refuseNewer(root)
                                           : Error::success();
}

Result<LaunchInfo> blockscale::parseLaunchInfo(std::string_view text) {
  if (Error error = checkJsonText(text))
    return error;
  json document = json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                              /*allow_exceptions=*/false);
  LaunchInfo info;
  if (Error error = readLaunchInfo({document, "$"}, info))
    return error;
  return info;
}
