//===- LaunchArguments.cpp - Arguments of kernels as text -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ARGs of a command line become typed values before any file is read, so
// that a typing error costs nothing.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchArguments.h"
#include "blockscale/Runtime/OutputFile.h"

#include <charconv>
#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

static Error malformed(std::string_view text, const std::string &expected,
                       std::string_view got) {
  return Error("malformed argument " + quoteForMessage(text) + ": expected " +
               expected + ", got " + quoteForMessage(got));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Parses all of a text as a decimal number of type `T`.
template <typename T>
static bool parseNumber(std::string_view text, T &number) {
  const char *end = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && rest == end;
}

/// Parses an integer that is in the range of the signed or of the unsigned type
/// of the size, and gives its bits.
template <typename Signed, typename Unsigned>
static Error parseInteger(LaunchArgument &argument, std::string_view value) {
  Signed negative;
  Unsigned positive;
  argument.size = sizeof(Signed);
  if (parseNumber(value, positive))
    argument.bits = positive;
  else if (parseNumber(value, negative))
    argument.bits = static_cast<Unsigned>(negative);
  else
    return malformed(
        argument.text,
        "an integer of " + std::to_string(8 * sizeof(Signed)) + " bits", value);
  return Error::success();
}

static Error parseI32(LaunchArgument &argument, std::string_view value) {
  return parseInteger<int32_t, uint32_t>(argument, value);
}

static Error parseI64(LaunchArgument &argument, std::string_view value) {
  return parseInteger<int64_t, uint64_t>(argument, value);
}

static Error parseF32(LaunchArgument &argument, std::string_view value) {
  float number;
  if (!parseNumber(value, number))
    return malformed(argument.text, "a number that f32 can hold", value);
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  argument.size = sizeof(bits);
  argument.bits = bits;
  return Error::success();
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

/// FILE:DTYPE:DIM[xDIM]..., from its end, because a file's name may have any
/// characters.
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
    return Error("malformed argument " + quoteForMessage(argument.text) + ": " +
                 size.message());
  return Error::success();
}

static Error parseTensorMap(LaunchArgument &argument, std::string_view value) {
  argument.kind = LaunchArgument::Kind::TensorMap;
  Result<TensorMapText> parsed = parseTensorMap(value);
  if (!parsed)
    return Error("malformed argument " + quoteForMessage(argument.text) + ": " +
                 parsed.message());
  argument.path = std::move(parsed->path);
  argument.tensorMap = std::move(parsed->map);
  argument.isTensorStored = parsed->isStored;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All kinds
//===----------------------------------------------------------------------===//

static constexpr struct {
  std::string_view prefix;
  Error (*parse)(LaunchArgument &argument, std::string_view value);
} argumentKinds[] = {
    {"i32:", parseI32},        {"i64:", parseI64},     {"f32:", parseF32},
    {"in:", parseIn},          {"inout:", parseInOut}, {"out:", parseOut},
    {"tmap:", parseTensorMap},
};

Result<LaunchArgument> blockscale::parseLaunchArgument(std::string_view text) {
  LaunchArgument argument;
  argument.text = text;
  for (const auto &kind : argumentKinds) {
    if (text.substr(0, kind.prefix.size()) != kind.prefix)
      continue;
    if (Error error = kind.parse(argument, text.substr(kind.prefix.size())))
      return error;
    return argument;
  }
  return Error("malformed argument: expected i32:, i64:, f32:, in:, inout:, "
               "out: or tmap: at its start, got " +
               quoteForMessage(text));
}

Error blockscale::loadBuffers(std::vector<LaunchArgument> &arguments) {
  for (LaunchArgument &argument : arguments) {
    if (!argument.isBuffer())
      continue;
    Result<NpyArray> array =
        argument.kind == LaunchArgument::Kind::Out
            ? makeZeros(argument.array.dtype, argument.array.shape)
            : readNpy(argument.path);
    if (!array && argument.kind == LaunchArgument::Kind::Out)
      return pathError(argument.path, array.message());
    if (!array)
      return array.error();
    argument.array = std::move(*array);
    if (argument.tensorMap)
      if (Error error = setTensor(*argument.tensorMap, argument.array))
        return pathError(argument.path, error.message());
  }
  return Error::success();
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
