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

#include "blockscale/Runtime/LaunchNumbers.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr unsigned pointerSize = 8;

static PlannedParam planArgument(const std::vector<LaunchArgument> &arguments,
                                 size_t index) {
  const LaunchArgument &argument = arguments[index];
  if (argument.isBuffer())
    return {PlannedParam::Kind::Buffer, index,
            argument.tensorMap ? tensorMapBytes : pointerSize,
            argument.tensorMap};
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

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// A size that is 0 and in `expr`; null if there is none.
static const ArgumentSize *findEmptySize(const LaunchExpr &expr,
                                         const LaunchFacts &facts) {
  if (expr.kind == LaunchExpr::Kind::Size) {
    Result<uint32_t> size = evaluate(expr.size, facts);
    return size && *size == 0 ? &expr.size : nullptr;
  }
  for (const LaunchExpr &operand : expr.operands)
    if (const ArgumentSize *size = findEmptySize(operand, facts))
      return size;
  return nullptr;
}

/// Cards have no empty grids.
static Result<uint32_t> planExtent(const LaunchExpr &expr, size_t dimension,
                                   const LaunchFacts &facts) {
  Result<int64_t> extent = evaluate(expr, facts);
  if (!extent)
    return extent.error();
  if (*extent >= 1 && *extent <= int64_t(maxLaunchNumber))
    return static_cast<uint32_t>(*extent);
  if (const ArgumentSize *empty = findEmptySize(expr, facts))
    return Error("argument #" + std::to_string(empty->argument) +
                 ": expected a size of at least 1 in dimension " +
                 std::to_string(empty->dimension) + ", got 0");
  return Error("expected 1 to " + std::to_string(maxLaunchNumber) +
               " blocks in dimension " + std::to_string(dimension) +
               " of the grid, got " + std::to_string(*extent));
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
/// Parameters of the kernels of one launch info.
class ParamPlanner {
public:
  ParamPlanner(size_t numArguments, uint64_t workspace,
               const LaunchFacts &facts)
      : numArguments(numArguments), workspace(workspace), facts(facts) {}

  Result<PlannedParam> plan(const LaunchParam &param) const {
    Result<PlannedParam> planned = planPlace(param);
    if (!planned || !param.tensorMap)
      return planned;
    return planTensorMap(*param.tensorMap, std::move(*planned));
  }

private:
  Result<PlannedParam> planPlace(const LaunchParam &param) const {
    switch (param.kind) {
    case LaunchParam::Kind::Argument:
      return planArgument(facts.arguments, param.index);
    case LaunchParam::Kind::Result:
      return planArgument(facts.arguments, numArguments + param.index);
    case LaunchParam::Kind::Size: {
      Result<uint32_t> size = evaluate(param.size, facts);
      if (!size)
        return size.error();
      return PlannedParam{PlannedParam::Kind::Scalar, *size, sizeof(uint32_t)};
    }
    case LaunchParam::Kind::Workspace:
      break;
    }
    Result<int64_t> offset = evaluate(param.offset, facts);
    if (!offset)
      return offset.error();
    if (*offset < 0 || static_cast<uint64_t>(*offset) >= workspace)
      return Error("expected an offset into the workspace of " +
                   std::to_string(workspace) + " bytes, got " +
                   std::to_string(*offset));
    return PlannedParam{PlannedParam::Kind::Workspace,
                        static_cast<uint64_t>(*offset), pointerSize};
  }

  /// `planned` is the memory of the map.
  Result<PlannedParam> planTensorMap(const LaunchTensorMap &map,
                                     PlannedParam planned) const {
    bool isWorkspace = planned.kind == PlannedParam::Kind::Workspace;
    if (planned.tensorMap ||
        (planned.kind != PlannedParam::Kind::Buffer && !isWorkspace))
      return Error("expected a buffer for a tensor map, got a scalar or a "
                   "tensor map");
    TensorMap tensor = map.form;
    tensor.strides.assign(1, tensor.type->bits / 8);
    for (auto [exprs, numbers] : {std::pair(&map.sizes, &tensor.sizes),
                                  std::pair(&map.strides, &tensor.strides)})
      for (const LaunchExpr &expr : *exprs) {
        Result<int64_t> number = evaluate(expr, facts);
        if (!number)
          return number.error();
        // What is negative is too large.
        numbers->push_back(static_cast<uint64_t>(*number));
      }
    uint64_t bytes = isWorkspace
                         ? workspace - planned.value
                         : facts.arguments[planned.value].array.data.size();
    if (Error error = checkTensor(tensor, bytes))
      return error;
    if (isWorkspace && planned.value % tensor.type->strideAlignment != 0)
      return Error("expected an offset of a tensor that is a multiple of " +
                   std::to_string(tensor.type->strideAlignment) + ", got " +
                   std::to_string(planned.value));
    planned.tensorMap = std::move(tensor);
    planned.size = tensorMapBytes;
    return planned;
  }

  size_t numArguments;
  uint64_t workspace;
  const LaunchFacts &facts;
};
} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static Result<PlannedKernel> planKernel(const KernelLaunch &launch,
                                        const ParamPlanner &params,
                                        const LaunchFacts &facts) {
  PlannedKernel kernel;
  kernel.name = launch.name;
  kernel.block = launch.block;
  kernel.cluster = launch.cluster;
  kernel.shared = launch.shared;
  kernel.isProgrammatic = launch.isProgrammatic;
  for (size_t i = 0; i < kernel.grid.size(); ++i) {
    Result<uint32_t> extent = planExtent(launch.grid[i], i, facts);
    if (!extent)
      return extent.error();
    kernel.grid[i] = *extent;
  }
  for (size_t i = 0; i < launch.params.size(); ++i) {
    Result<PlannedParam> planned = params.plan(launch.params[i]);
    if (!planned)
      return Error("parameter #" + std::to_string(i) + " of kernel " +
                   quoteForMessage(launch.name) + ": " + planned.message());
    kernel.params.push_back(std::move(*planned));
  }
  return kernel;
}

Result<LaunchPlan>
blockscale::planLaunch(const LaunchInfo &info,
                       const std::vector<LaunchArgument> &arguments,
                       uint32_t multiprocessors) {
  LaunchFacts facts = {arguments, multiprocessors};
  if (Error error = checkOperands(info, facts))
    return error;
  Result<int64_t> workspace = evaluate(info.workspace, facts);
  if (!workspace)
    return Error("workspace: " + workspace.message());
  if (*workspace < 0)
    return Error("expected a workspace of at least 0 bytes, got " +
                 std::to_string(*workspace));
  LaunchPlan plan;
  plan.workspace = static_cast<uint64_t>(*workspace);
  ParamPlanner params(info.numArguments(), plan.workspace, facts);
  for (const KernelLaunch &launch : info.kernels) {
    Result<PlannedKernel> kernel = planKernel(launch, params, facts);
    if (!kernel)
      return kernel.error();
    plan.kernels.push_back(std::move(*kernel));
  }
  return plan;
}
