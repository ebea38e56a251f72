//===- LaunchReferences.cpp - Arguments that name others ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchArguments.h"

using namespace mlir;
using namespace mlir::blockscale;

using Kind = LaunchArgument::Kind;
using Arguments = std::vector<LaunchArgument>;

//===----------------------------------------------------------------------===//
// Before files are read
//===----------------------------------------------------------------------===//

/// Checks that argument `number` exists and has a buffer, or (`isMap`) is a
/// tensor map.
static Error checkNamed(const Arguments &arguments, uint32_t number,
                        bool isMap) {
  if (number >= arguments.size())
    return Error("expected the number of an argument from 0 to " +
                 std::to_string(arguments.size() - 1) + ", got " +
                 std::to_string(number));
  const LaunchArgument &named = arguments[number];
  if (isMap ? named.tensorMap.has_value() : named.isBuffer())
    return Error::success();
  return Error(std::string("expected ") +
               (isMap ? "a tensor map" : "a buffer of its own") +
               " as argument #" + std::to_string(number) + ", got " +
               quoteForMessage(named.text));
}

static Error checkView(const Arguments &arguments, const LaunchArgument &view) {
  if (Error error =
          checkNamed(arguments, view.viewed.argument, /*isMap=*/false))
    return error;
  const LaunchArgument &named = arguments[view.viewed.argument];
  if (view.isTensorStored && !named.isStored())
    return Error("expected an argument that is stored as argument #" +
                 std::to_string(view.viewed.argument) +
                 ", as STORE=1 says, got " + quoteForMessage(named.text));
  return Error::success();
}

static Error checkStruct(const Arguments &arguments,
                         const LaunchArgument &argument) {
  for (const StructPatch &patch : argument.patches) {
    if (patch.kind == StructPatch::Kind::Number)
      continue;
    if (Error error = checkNamed(arguments, patch.argument,
                                 patch.kind == StructPatch::Kind::TensorMap))
      return Error(patch.name + ": " + error.message());
  }
  return Error::success();
}

Error blockscale::checkReferences(const Arguments &arguments) {
  for (const LaunchArgument &argument : arguments) {
    Error error = argument.kind == Kind::TensorView
                      ? checkView(arguments, argument)
                      : checkStruct(arguments, argument);
    if (error)
      return Error("malformed argument " + quoteForMessage(argument.text) +
                   ": " + error.message());
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// After files are read
//===----------------------------------------------------------------------===//

/// An offset into the buffer of an argument.
static Error checkOffset(const Arguments &arguments, uint32_t number,
                         uint64_t offset) {
  uint64_t bytes = arguments[number].array.data.size();
  if (offset <= bytes)
    return Error::success();
  return Error("expected an offset of at most " + std::to_string(bytes) +
               " bytes into argument #" + std::to_string(number) + ", got " +
               std::to_string(offset));
}

static Error checkPositions(const Arguments &arguments,
                            const LaunchArgument &argument) {
  if (argument.kind == Kind::TensorView) {
    if (argument.isTemplate)
      return Error::success();
    const BufferText &viewed = argument.viewed;
    if (Error error = checkOffset(arguments, viewed.argument, viewed.offset))
      return error;
    return checkTensor(*argument.tensorMap,
                       arguments[viewed.argument].array.data.size() -
                           viewed.offset);
  }
  for (const StructPatch &patch : argument.patches)
    if (patch.kind == StructPatch::Kind::Pointer)
      if (Error error = checkOffset(arguments, patch.argument, patch.bits))
        return Error(patch.name + ": " + error.message());
  return Error::success();
}

Error blockscale::checkBufferPositions(const Arguments &arguments) {
  for (size_t i = 0; i != arguments.size(); ++i)
    if (Error error = checkPositions(arguments, arguments[i]))
      return Error("argument #" + std::to_string(i) + ": " + error.message());
  return Error::success();
}
