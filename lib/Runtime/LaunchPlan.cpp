//===- LaunchPlan.cpp - Kernels with all numbers worked out ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes of a launch that depend on arguments are computed once, for cards and
// for the simulator.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchPlan.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr unsigned pointerSize = 8;

static PlannedParam planArgument(const std::vector<LaunchArgument> &arguments,
                                 size_t index) {
  const LaunchArgument &argument = arguments[index];
  if (argument.tensorMap)
    return {PlannedParam::Kind::TensorMap, index, tensorMapBytes};
  if (argument.isBuffer())
    return {PlannedParam::Kind::Buffer, index, pointerSize};
  return {PlannedParam::Kind::Scalar, argument.bits, argument.size};
}

std::vector<PlannedParam>
blockscale::planParams(const std::vector<LaunchArgument> &arguments) {
  std::vector<PlannedParam> params;
  params.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    params.push_back(planArgument(arguments, i));
  return params;
}

Error blockscale::checkArguments(const LaunchInfo &info,
                                 const std::vector<LaunchArgument> &arguments) {
  size_t numArguments = info.numArguments();
  size_t numResults = info.numResults();
  if (arguments.size() != numArguments + numResults)
    return Error("expected " + std::to_string(numArguments) +
                 " arguments and then " + std::to_string(numResults) +
                 " results, got " + std::to_string(arguments.size()) +
                 " in all");
  for (size_t i = numArguments; i < arguments.size(); ++i)
    if (!arguments[i].isStored() || arguments[i].tensorMap)
      return Error("expected out: or inout: for result #" +
                   std::to_string(i - numArguments) + ", got " +
                   quoteForMessage(arguments[i].text));
  return Error::success();
}

/// The size of an argument in a dimension.
static Result<uint32_t> getSize(const std::vector<LaunchArgument> &arguments,
                                const ArgumentSize &size) {
  const LaunchArgument &argument = arguments[size.argument];
  std::string where = "argument #" + std::to_string(size.argument) + ": ";
  if (!argument.isBuffer())
    return Error(where + "expected an array, whose size is asked for, got " +
                 quoteForMessage(argument.text));
  const std::vector<int64_t> &shape = argument.array.shape;
  if (size.dimension >= shape.size())
    return Error(where + "expected an array of at least " +
                 std::to_string(size.dimension + 1) + " dimensions, got " +
                 std::to_string(shape.size()));
  int64_t inArray = shape[size.dimension];
  std::string inDimension =
      " in dimension " + std::to_string(size.dimension) + ", got ";
  if (inArray > maxLaunchNumber / size.codes)
    return Error(where + "expected a size of at most " +
                 std::to_string(maxLaunchNumber / size.codes) + inDimension +
                 std::to_string(inArray));
  if (inArray % size.bytes != 0)
    return Error(where + "expected a multiple of " +
                 std::to_string(size.bytes) + " bytes" + inDimension +
                 std::to_string(inArray));
  return static_cast<uint32_t>(inArray / size.bytes * size.codes);
}

Result<uint32_t>
blockscale::planExtent(const LaunchExtent &extent,
                       const std::vector<LaunchArgument> &arguments) {
  if (const auto *number = std::get_if<uint32_t>(&extent))
    return *number;
  const auto &quotient = *std::get_if<CeilDiv>(&extent);
  Result<uint32_t> size = getSize(arguments, quotient.size);
  if (!size)
    return size;
  // Cards have no empty grids.
  if (*size == 0)
    return Error("argument #" + std::to_string(quotient.size.argument) +
                 ": expected a size of at least 1 in dimension " +
                 std::to_string(quotient.size.dimension) + ", got 0");
  return (*size - 1) / quotient.divisor + 1;
}

static Result<PlannedParam>
planParam(const LaunchParam &param, size_t numArguments,
          const std::vector<LaunchArgument> &arguments) {
  switch (param.kind) {
  case LaunchParam::Kind::Argument:
    return planArgument(arguments, param.index);
  case LaunchParam::Kind::Result:
    return planArgument(arguments, numArguments + param.index);
  case LaunchParam::Kind::Size: {
    Result<uint32_t> size = getSize(arguments, param.size);
    if (!size)
      return size.error();
    return PlannedParam{PlannedParam::Kind::Scalar, *size, sizeof(uint32_t)};
  }
  case LaunchParam::Kind::Workspace:
    break;
  }
  return PlannedParam{PlannedParam::Kind::Workspace, param.offset, pointerSize};
}

Result<LaunchPlan>
blockscale::planLaunch(const LaunchInfo &info,
                       const std::vector<LaunchArgument> &arguments) {
  size_t numArguments = info.numArguments();
  LaunchPlan plan;
  plan.workspace = info.workspace;
  for (const KernelLaunch &launch : info.kernels) {
    PlannedKernel kernel;
    kernel.name = launch.name;
    kernel.block = launch.block;
    kernel.cluster = launch.cluster;
    kernel.shared = launch.shared;
    for (size_t i = 0; i < kernel.grid.size(); ++i) {
      Result<uint32_t> extent = planExtent(launch.grid[i], arguments);
      if (!extent)
        return extent.error();
      kernel.grid[i] = *extent;
    }
    for (const LaunchParam &param : launch.params) {
      Result<PlannedParam> planned = planParam(param, numArguments, arguments);
      if (!planned)
        return planned.error();
      kernel.params.push_back(*planned);
    }
    plan.kernels.push_back(std::move(kernel));
  }
  return plan;
}
