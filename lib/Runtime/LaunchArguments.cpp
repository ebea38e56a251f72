//===- LaunchArguments.cpp - Arguments of kernels as text -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses the ARGs of a command line before any file is read, so that typing
// errors are reported at once.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchArguments.h"

#include "NumberText.h"
#include "blockscale/Runtime/OutputFile.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;

static Error malformed(std::string_view text, const std::string &expected,
                       std::string_view got) {
  return Error("malformed argument " + quoteForMessage(text) + ": expected " +
               expected + ", got " + quoteForMessage(got));
}

/// Wraps the error of a part of an argument.
static Error malformed(std::string_view text, const Error &error) {
  return Error("malformed argument " + quoteForMessage(text) + ": " +
               error.message());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

static Error parseFile(LaunchArgument &argument, std::string_view path) {
  if (path.empty())
    return malformed(argument.text, "the name of a file", path);
  argument.path = path;
  return Error::success();
}

static Error parseIn(LaunchArgument &argument, std::string_view value) {
  argument.kind = LaunchArgument::Kind::In;
  return parseFile(argument, value);
}

static Error parseInOut(LaunchArgument &argument, std::string_view value) {
  argument.kind = LaunchArgument::Kind::InOut;
  return parseFile(argument, value);
}

/// Parses FILE:DTYPE:DIM[xDIM]... from its end, because a file name may have
/// any characters.
static Error parseOut(LaunchArgument &argument, std::string_view value) {
  argument.kind = LaunchArgument::Kind::Out;
  size_t shapeColon = value.rfind(':');
  size_t dtypeColon = shapeColon == 0 || shapeColon == value.npos
                          ? value.npos
                          : value.rfind(':', shapeColon - 1);
  if (dtypeColon == value.npos)
    return malformed(argument.text, "FILE:DTYPE:DIM[xDIM]...", value);
  if (Error error = parseFile(argument, value.substr(0, dtypeColon)))
    return error;
  std::string_view code =
      value.substr(dtypeColon + 1, shapeColon - dtypeColon - 1);
  const DTypeInfo *dtype = lookupDType(code);
  if (!dtype)
    return malformed(argument.text, "one of the types " + listDTypeCodes(),
                     code);
  argument.array.dtype = dtype->dtype;
  std::string_view rest = value.substr(shapeColon + 1);
  while (true) {
    std::string_view text = rest.substr(0, rest.find('x'));
    int64_t dimension;
    if (!parseNumber(text, dimension) || dimension < 0)
      return malformed(argument.text, "a dimension of at least 0", text);
    argument.array.shape.push_back(dimension);
    if (text.size() == rest.size())
      break;
    rest.remove_prefix(text.size() + 1);
  }
  Result<int64_t> size =
      computeByteSize(argument.array.dtype, argument.array.shape);
  if (!size)
    return malformed(argument.text, size.error());
  return Error::success();
}

static Error parseUndefined(LaunchArgument &argument, std::string_view value) {
  argument.isUndefined = true;
  return parseOut(argument, value);
}

static Error parseTensorMap(LaunchArgument &argument, std::string_view value) {
  Result<TensorMapText> parsed = parseTensorMap(value);
  if (!parsed)
    return malformed(argument.text, parsed.error());
  argument.kind = parsed->viewed ? LaunchArgument::Kind::TensorView
                                 : LaunchArgument::Kind::TensorMap;
  if (parsed->viewed)
    argument.viewed = *parsed->viewed;
  argument.path = std::move(parsed->path);
  argument.tensorMap = std::move(parsed->map);
  argument.isTensorStored = parsed->isStored;
  argument.isTemplate = parsed->isTemplate;
  return Error::success();
}

static Error parseStruct(LaunchArgument &argument, std::string_view value) {
  argument.kind = LaunchArgument::Kind::Struct;
  Result<StructText> parsed = parseStruct(value);
  if (!parsed)
    return malformed(argument.text, parsed.error());
  argument.path = std::move(parsed->path);
  argument.patches = std::move(parsed->patches);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

static constexpr struct {
  std::string_view prefix;
  Error (*parse)(LaunchArgument &argument, std::string_view value);
} argumentKinds[] = {
    {"in:", parseIn},          {"inout:", parseInOut},
    {"out:", parseOut},        {"undef:", parseUndefined},
    {"tmap:", parseTensorMap}, {"struct:", parseStruct},
};

/// Parses `KIND:VALUE`; false if there is no such kind.
static Result<bool> parseKind(LaunchArgument &argument, std::string_view text) {
  std::string_view prefix = text.substr(0, text.find(':') + 1);
  std::string_view value = text.substr(prefix.size());
  if (prefix.empty())
    return false;
  if (const ScalarType *type =
          lookupScalarType(prefix.substr(0, prefix.size() - 1))) {
    Result<uint64_t> bits = type->parse(value);
    if (!bits)
      return malformed(argument.text, bits.error());
    argument.bits = *bits;
    argument.size = type->size;
    return true;
  }
  for (const auto &kind : argumentKinds) {
    if (kind.prefix != prefix)
      continue;
    if (Error error = kind.parse(argument, value))
      return error;
    return true;
  }
  return false;
}

Result<LaunchArgument> blockscale::parseLaunchArgument(std::string_view text) {
  constexpr std::string_view none = "none:";
  LaunchArgument argument;
  argument.text = text;
  argument.isParameter = text.substr(0, none.size()) != none;
  Result<bool> isKnown = parseKind(
      argument, argument.isParameter ? text : text.substr(none.size()));
  if (!isKnown)
    return isKnown.error();
  if (!argument.isParameter && !argument.isBuffer() && !argument.tensorMap)
    return malformed(text, "in:, inout:, out:, undef: or tmap: after none:",
                     text.substr(none.size()));
  if (!*isKnown)
    return Error("malformed argument: expected i32:, i64:, f32:, in:, inout:, "
                 "out:, undef:, tmap:, struct: or none: at its start, got " +
                 quoteForMessage(text));
  return argument;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static Error loadStruct(LaunchArgument &argument) {
  Result<NpyArray> array = readNpy(argument.path);
  if (!array)
    return array.error();
  argument.array = std::move(*array);
  uint64_t bytes = argument.array.data.size();
  if (bytes < 1 || bytes > maxParamBytes)
    return pathError(argument.path, "expected 1 to " +
                                        std::to_string(maxParamBytes) +
                                        " bytes for a parameter, got " +
                                        std::to_string(bytes));
  for (const StructPatch &patch : argument.patches)
    if (Error error = checkStructFields(
            {{patch.offset, patch.size, /*alignment=*/1, patch.name}}, bytes))
      return pathError(argument.path, error.message());
  return Error::success();
}

static Error loadBuffer(LaunchArgument &argument) {
  bool isOut = argument.kind == LaunchArgument::Kind::Out;
  Result<NpyArray> array =
      isOut ? makeZeros(argument.array.dtype, argument.array.shape)
            : readNpy(argument.path);
  if (!array)
    return isOut ? pathError(argument.path, array.message()) : array.error();
  argument.array = std::move(*array);
  // Memory of a card is not cleared. Use a pattern that shows when it is read.
  if (argument.isUndefined)
    std::fill(argument.array.data.begin(), argument.array.data.end(),
              uint8_t(0xFF));
  if (argument.tensorMap)
    if (Error error = setTensor(*argument.tensorMap, argument.array))
      return pathError(argument.path, error.message());
  return Error::success();
}

Error blockscale::loadBuffers(std::vector<LaunchArgument> &arguments) {
  for (LaunchArgument &argument : arguments) {
    if (argument.isBuffer())
      if (Error error = loadBuffer(argument))
        return error;
    if (argument.kind == LaunchArgument::Kind::Struct)
      if (Error error = loadStruct(argument))
        return error;
  }
  return checkBufferPositions(arguments);
}

Error blockscale::storeBuffers(const std::vector<LaunchArgument> &arguments) {
  OutputSet outputs;
  for (const LaunchArgument &argument : arguments)
    if (argument.isStored())
      if (Error error =
              outputs.add(argument.path, serializeNpy(argument.array)))
        return error;
  return outputs.commit();
}

Result<Dim3> blockscale::parseDim3(std::string_view text) {
  Dim3 extents = {1, 1, 1};
  std::string_view rest = text;
  for (uint32_t &extent : extents) {
    std::string_view part = rest.substr(0, rest.find(','));
    if (!parseNumber(part, extent) || extent < 1 || extent > maxLaunchNumber)
      break;
    if (part.size() == rest.size())
      return extents;
    rest.remove_prefix(part.size() + 1);
  }
  return Error("expected 1 to 3 numbers from 1 to " +
               std::to_string(maxLaunchNumber) + " with commas between, got " +
               quoteForMessage(text));
}

Result<uint32_t> blockscale::parseByteCount(std::string_view text) {
  uint32_t bytes;
  if (!parseNumber(text, bytes) || bytes > maxLaunchNumber)
    return Error("expected a number from 0 to " +
                 std::to_string(maxLaunchNumber) + ", got " +
                 quoteForMessage(text));
  return bytes;
}
