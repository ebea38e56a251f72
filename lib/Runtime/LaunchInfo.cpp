//===- LaunchInfo.cpp - How kernels are launched --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchInfo.h"

#include "LaunchJson.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::blockscale;
using nlohmann::json;
using nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

LaunchParam LaunchParam::argument(uint32_t index) {
  LaunchParam param;
  param.index = index;
  return param;
}

LaunchParam LaunchParam::result(uint32_t index) {
  LaunchParam param = argument(index);
  param.kind = Kind::Result;
  return param;
}

LaunchParam LaunchParam::ofSize(const ArgumentSize &size) {
  LaunchParam param;
  param.kind = Kind::Size;
  param.size = size;
  return param;
}

LaunchParam LaunchParam::workspace(LaunchExpr offset) {
  LaunchParam param;
  param.kind = Kind::Workspace;
  param.offset = std::move(offset);
  return param;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static bool isConditional(const KernelLaunch &kernel) {
  return !kernel.condition.isNumber() || kernel.condition.number == 0;
}

static ordered_json makeOperand(const LaunchOperand &operand) {
  ordered_json shape = ordered_json::array();
  for (const LaunchExpr &size : operand.shape)
    shape.push_back(makeExpr(size));
  ordered_json object = makeObject(3);
  object["dtype"] = getDTypeInfo(operand.dtype).code;
  object["shape"] = std::move(shape);
  if (operand.elements != 1 || operand.bytes != 1)
    object["packed"] = ordered_json::array({operand.elements, operand.bytes});
  return object;
}

ordered_json blockscale::makeLaunchInfo(const LaunchInfo &info) {
  ordered_json kernels = ordered_json::array();
  for (const KernelLaunch &kernel : info.kernels) {
    ordered_json grid = ordered_json::array();
    for (const LaunchExpr &extent : kernel.grid)
      grid.push_back(makeExpr(extent));
    ordered_json params = ordered_json::array();
    for (const LaunchParam &param : kernel.params)
      params.push_back(makeParam(param));
    ordered_json object = makeObject(8);
    object["name"] = kernel.name;
    if (isConditional(kernel))
      object["condition"] = makeExpr(kernel.condition);
    object["grid"] = std::move(grid);
    object["block"] = kernel.block;
    object["cluster"] = kernel.cluster;
    object["shared"] = kernel.shared;
    if (kernel.isProgrammatic)
      object["programmatic"] = true;
    object["params"] = std::move(params);
    kernels.push_back(std::move(object));
  }
  ordered_json root = makeObject(8);
  root["version"] = info.version();
  root["target"] = info.target;
  root["kernels"] = std::move(kernels);
  root["workspace"] = makeExpr(info.workspace);
  if (!info.operands.empty()) {
    root["operands"] = ordered_json::array();
    for (const LaunchOperand &operand : info.operands)
      root["operands"].push_back(makeOperand(operand));
  }
  for (const LaunchCheck &check : info.checks)
    root["checks"].push_back(
        {{"condition", makeExpr(check.condition)}, {"message", check.message}});
  if (!info.schedule.empty())
    root["schedule"] = info.schedule;
  for (const auto &[name, digest] : {std::pair("ptx", &info.ptxDigest),
                                     std::pair("cubin", &info.cubinDigest)})
    if (!digest->empty())
      root["digest"][name] = *digest;
  return root;
}

std::string blockscale::serializeLaunchInfo(const LaunchInfo &info) {
  // Names that are not UTF-8 cannot be written; PTX has no such names.
  return makeLaunchInfo(info).dump(/*indent=*/-1, /*indent_char=*/' ',
                                   /*ensure_ascii=*/false,
                                   json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// What all numbers say
//===----------------------------------------------------------------------===//

/// Calls `visit` for each parameter, and for each field of one.
template <typename Visit>
static void visitParams(const std::vector<LaunchParam> &params, Visit visit) {
  for (const LaunchParam &param : params) {
    visit(param);
    for (const LaunchField &field : param.fields)
      visit(field.param);
  }
}

/// Calls `visit` for each number of a launch of `kernel` that may be an
/// expression.
template <typename Visit>
static void visitExprs(const KernelLaunch &kernel, Visit visit) {
  visit(kernel.condition);
  for (const LaunchExpr &extent : kernel.grid)
    visit(extent);
  visitParams(kernel.params, [&](const LaunchParam &param) {
    visit(param.offset);
    visit(param.number.integer);
    if (!param.tensorMap)
      return;
    for (const LaunchExpr &size : param.tensorMap->sizes)
      visit(size);
    for (const LaunchExpr &stride : param.tensorMap->strides)
      visit(stride);
  });
}

uint32_t LaunchInfo::numArguments() const {
  uint32_t number = workspace.numArguments();
  auto use = [&](uint32_t count) { number = std::max(number, count); };
  for (const KernelLaunch &kernel : kernels) {
    visitExprs(kernel,
               [&](const LaunchExpr &expr) { use(expr.numArguments()); });
    visitParams(kernel.params, [&](const LaunchParam &param) {
      if (param.kind == LaunchParam::Kind::Argument)
        use(param.index + 1);
      else if (param.kind == LaunchParam::Kind::Size)
        use(param.size.argument + 1);
    });
  }
  for (const LaunchCheck &check : checks)
    use(check.condition.numArguments());
  if (operands.size() > numResults())
    use(static_cast<uint32_t>(operands.size()) - numResults());
  return number;
}

uint32_t LaunchInfo::numResults() const {
  uint32_t number = 0;
  for (const KernelLaunch &kernel : kernels)
    visitParams(kernel.params, [&](const LaunchParam &param) {
      if (param.kind == LaunchParam::Kind::Result)
        number = std::max(number, param.index + 1);
    });
  return number;
}

bool LaunchInfo::usesSms() const {
  bool isUsed = workspace.usesSms();
  for (const KernelLaunch &kernel : kernels)
    visitExprs(kernel,
               [&](const LaunchExpr &expr) { isUsed |= expr.usesSms(); });
  return isUsed;
}

uint32_t LaunchInfo::version() const {
  bool isNewer = workspace.usesSelect();
  auto visit = [&](const LaunchExpr &expr) { isNewer |= expr.usesSelect(); };
  for (const KernelLaunch &kernel : kernels) {
    isNewer |= isConditional(kernel);
    visitExprs(kernel, visit);
  }
  for (const LaunchOperand &operand : operands)
    std::for_each(operand.shape.begin(), operand.shape.end(), visit);
  for (const LaunchCheck &check : checks)
    visit(check.condition);
  return isNewer ? newestLaunchInfoVersion : firstLaunchInfoVersion;
}
