//===- LaunchPlan.cpp - Launches with all numbers computed ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchPlan.h"

#include "blockscale/Runtime/LaunchNumbers.h"

#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

static constexpr unsigned pointerSize = 8;

static PlannedParam planArgument(const std::vector<LaunchArgument> &arguments,
                                 size_t index);

/// The bytes of a struct, and its patches.
static PlannedParam planStruct(const std::vector<LaunchArgument> &arguments,
                               const LaunchArgument &argument) {
  PlannedParam planned = {PlannedParam::Kind::Struct, 0,
                          unsigned(argument.array.data.size())};
  planned.bytes = argument.array.data;
  for (const StructPatch &patch : argument.patches) {
    PlannedParam param = {PlannedParam::Kind::Scalar, patch.bits, patch.size};
    if (patch.kind != StructPatch::Kind::Number)
      param = planArgument(arguments, patch.argument);
    if (patch.kind == StructPatch::Kind::Pointer)
      param = {PlannedParam::Kind::Buffer, patch.argument, pointerSize,
               std::nullopt, patch.bits};
    planned.fields.push_back({patch.offset, std::move(param)});
  }
  return planned;
}

static PlannedParam planArgument(const std::vector<LaunchArgument> &arguments,
                                 size_t index) {
  const LaunchArgument &argument = arguments[index];
  if (argument.kind == LaunchArgument::Kind::Struct)
    return planStruct(arguments, argument);
  if (argument.kind == LaunchArgument::Kind::TensorView)
    return {PlannedParam::Kind::Buffer, argument.viewed.argument,
            tensorMapBytes, argument.tensorMap, argument.viewed.offset};
  if (argument.isBuffer())
    return {PlannedParam::Kind::Buffer, index,
            argument.tensorMap ? tensorMapBytes : pointerSize,
            argument.tensorMap};
  return {PlannedParam::Kind::Scalar, argument.bits, argument.size};
}

std::vector<PlannedParam>
blockscale::planParams(const std::vector<LaunchArgument> &arguments) {
  std::vector<PlannedParam> params;
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].isParameter)
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
  for (const LaunchArgument &argument : arguments)
    if (!argument.isParameter)
      return Error("expected no none: with a launch info, whose arguments and "
                   "results have numbers, got " +
                   quoteForMessage(argument.text));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// The number of blocks in a dimension, which may be 0.
static Result<uint32_t> planExtent(const LaunchExpr &expr, size_t dimension,
                                   const LaunchFacts &facts) {
  Result<int64_t> extent = evaluate(expr, facts);
  if (!extent)
    return extent.error();
  if (*extent >= 0 && *extent <= int64_t(maxLaunchNumber))
    return static_cast<uint32_t>(*extent);
  return Error("expected 0 to " + std::to_string(maxLaunchNumber) +
               " blocks in dimension " + std::to_string(dimension) +
               " of the grid, got " + std::to_string(*extent));
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// The alignment of a field in a struct. Numbers need none.
static uint64_t getAlignment(const PlannedParam &param) {
  if (param.tensorMap)
    return tensorMapAlignment;
  return param.kind == PlannedParam::Kind::Scalar ? 1 : pointerSize;
}

namespace {
/// Parameters of the kernels of one launch info.
class ParamPlanner {
public:
  ParamPlanner(size_t numArguments, uint64_t workspace,
               const LaunchFacts &facts)
      : numArguments(numArguments), workspace(workspace), facts(facts) {}

  Result<PlannedParam> plan(const LaunchParam &param) const {
    Result<PlannedParam> planned = planPosition(param);
    if (!planned || !param.tensorMap)
      return planned;
    return planTensorMap(*param.tensorMap, std::move(*planned));
  }

private:
  Result<PlannedParam> planPosition(const LaunchParam &param) const {
    switch (param.kind) {
    case LaunchParam::Kind::Argument:
      return planBuffer(param.index, param.offset);
    case LaunchParam::Kind::Result:
      return planBuffer(numArguments + param.index, param.offset);
    case LaunchParam::Kind::Size: {
      Result<uint32_t> size = evaluate(param.size, facts);
      if (!size)
        return size.error();
      return PlannedParam{PlannedParam::Kind::Scalar, *size, sizeof(uint32_t)};
    }
    case LaunchParam::Kind::Workspace:
      return planWorkspace(param.offset);
    case LaunchParam::Kind::Number:
      return planNumber(param.number);
    case LaunchParam::Kind::Struct:
      break;
    }
    return planFields(param);
  }

  /// An argument, which must be a buffer if there is an offset.
  Result<PlannedParam> planBuffer(size_t index, const LaunchExpr &expr) const {
    PlannedParam planned = planArgument(facts.arguments, index);
    if (expr == 0)
      return planned;
    Result<int64_t> offset = evaluate(expr, facts);
    if (!offset)
      return offset.error();
    const LaunchArgument &argument = facts.arguments[index];
    if (!argument.isBuffer() || argument.tensorMap)
      return Error("expected a buffer for an offset, got " +
                   quoteForMessage(argument.text));
    uint64_t bytes = argument.array.data.size();
    if (*offset < 0 || static_cast<uint64_t>(*offset) > bytes)
      return Error("expected an offset from 0 to " + std::to_string(bytes) +
                   " into argument #" + std::to_string(index) + ", got " +
                   std::to_string(*offset));
    planned.offset = static_cast<uint64_t>(*offset);
    return planned;
  }

  Result<PlannedParam> planWorkspace(const LaunchExpr &expr) const {
    Result<int64_t> offset = evaluate(expr, facts);
    if (!offset)
      return offset.error();
    // A buffer without elements comes after the others.
    if (*offset < 0 || static_cast<uint64_t>(*offset) > workspace)
      return Error("expected an offset into the workspace of " +
                   std::to_string(workspace) + " bytes, got " +
                   std::to_string(*offset));
    return PlannedParam{PlannedParam::Kind::Workspace,
                        static_cast<uint64_t>(*offset), pointerSize};
  }

  Result<PlannedParam> planNumber(const LaunchNumber &number) const {
    PlannedParam planned = {PlannedParam::Kind::Scalar, 0, sizeof(uint32_t)};
    if (number.type == LaunchNumber::Type::F32) {
      uint32_t bits;
      std::memcpy(&bits, &number.real, sizeof(bits));
      planned.value = bits;
      return planned;
    }
    Result<int64_t> integer = evaluate(number.integer, facts);
    if (!integer)
      return integer.error();
    planned.value = static_cast<uint64_t>(*integer);
    if (number.type == LaunchNumber::Type::I64)
      planned.size = sizeof(uint64_t);
    else if (*integer < INT32_MIN || *integer > int64_t(UINT32_MAX))
      return Error("expected an integer of 32 bits, got " +
                   std::to_string(*integer));
    return planned;
  }

  /// A struct with its fields. Pointers and tensor maps are aligned in it.
  Result<PlannedParam> planFields(const LaunchParam &param) const {
    PlannedParam planned = {PlannedParam::Kind::Struct, 0,
                            unsigned(param.bytes.size())};
    planned.bytes = param.bytes;
    std::vector<StructField> fields;
    for (size_t i = 0; i < param.fields.size(); ++i) {
      const LaunchField &field = param.fields[i];
      std::string name = "field #" + std::to_string(i);
      Result<PlannedParam> value = plan(field.param);
      if (!value)
        return Error(name + ": " + value.message());
      if (value->kind == PlannedParam::Kind::Struct)
        return Error(name + ": expected no struct in a struct");
      fields.push_back({field.offset, value->size, getAlignment(*value), name});
      planned.fields.push_back({field.offset, std::move(*value)});
    }
    if (Error error = checkStructFields(std::move(fields), param.bytes.size()))
      return error;
    return planned;
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
        // Negative values become too large.
        numbers->push_back(static_cast<uint64_t>(*number));
      }
    uint64_t offset = isWorkspace ? planned.value : planned.offset;
    uint64_t bytes = isWorkspace
                         ? workspace
                         : facts.arguments[planned.value].array.data.size();
    if (Error error = checkTensor(tensor, bytes - offset))
      return error;
    if (Error error = checkTensorOffset(tensor, offset))
      return error;
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

/// Whether the condition of a kernel holds.
static Result<bool> isChosen(const KernelLaunch &launch,
                             const LaunchFacts &facts) {
  Result<int64_t> condition = evaluate(launch.condition, facts);
  if (!condition)
    return Error("condition of kernel " + quoteForMessage(launch.name) + ": " +
                 condition.message());
  return *condition != 0;
}

/// A kernel without parameters if its grid is empty.
static Result<PlannedKernel> planKernel(const KernelLaunch &launch,
                                        const ParamPlanner &params,
                                        const LaunchFacts &facts) {
  PlannedKernel kernel;
  static_cast<LaunchShape &>(kernel) = launch;
  kernel.name = launch.name;
  for (size_t i = 0; i < kernel.grid.size(); ++i) {
    Result<uint32_t> extent = planExtent(launch.grid[i], i, facts);
    if (!extent)
      return extent.error();
    kernel.grid[i] = *extent;
  }
  if (kernel.isEmpty())
    return kernel;
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
                       uint32_t sms) {
  LaunchFacts facts = {arguments, sms};
  if (Error error = runChecks(info, facts))
    return error;
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
    Result<bool> chosen = isChosen(launch, facts);
    if (!chosen)
      return chosen.error();
    // The sizes of an alternative that is not chosen need not fit.
    if (!*chosen)
      continue;
    Result<PlannedKernel> kernel = planKernel(launch, params, facts);
    if (!kernel)
      return kernel.error();
    // The driver refuses empty grids.
    if (!kernel->isEmpty())
      plan.kernels.push_back(std::move(*kernel));
  }
  return plan;
}
