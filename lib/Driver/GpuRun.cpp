//===- GpuRun.cpp - Compile for a GPU and run -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuRun.h"

#include "GpuFunction.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Runtime/LaunchNumbers.h"
#include "blockscale/Runtime/PtxSummary.h"

using namespace mlir;
using namespace mlir::blockscale;

/// An error without a location in the module.
static LogicalResult fail(ModuleOp module, const std::string &message) {
  return emitError(UnknownLoc::get(module.getContext())) << message;
}

/// The floating-point operations of all products with scales in a run of
/// `entry`, of sparse ones those of the logical K; nullopt with loops and
/// calls, which may run any number of times.
static std::optional<double> countFlops(ModuleOp module, func::FuncOp entry) {
  double flops = 0;
  WalkResult result = module.walk([&](ProductOpInterface op) -> WalkResult {
    if (!op.getXScale())
      return WalkResult::advance();
    auto y = cast<ShapedType>(op.getY().getType());
    auto acc = cast<ShapedType>(op.getAcc().getType());
    if (op->getParentOp() != entry || !hasStaticShapes(op))
      return WalkResult::interrupt();
    flops += 2.0 * static_cast<double>(acc.getNumElements()) *
             static_cast<double>(y.getDimSize(y.getRank() - 2));
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || flops == 0)
    return std::nullopt;
  return flops;
}

/// The arguments in the form of GPU buffers. Errors name the location in the
/// program, and the file.
static FailureOr<std::vector<LaunchArgument>>
packArguments(const GpuSignature &signature, std::vector<NpyArray> arrays,
              ArrayRef<Location> locations, ArrayRef<std::string> files) {
  std::vector<LaunchArgument> arguments;
  for (auto [i, array] : llvm::enumerate(arrays)) {
    Result<LaunchArgument> argument =
        makeLaunchArgument(signature.arguments[i], std::move(array));
    if (!argument)
      return emitError(locations[i])
             << (files.empty() ? "" : "'" + files[i] + "': ") << "argument #"
             << i << ": " << argument.message();
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

/// The operands of the launches: the arguments, then the results.
static Result<std::vector<LaunchArgument>>
makeLaunchArguments(const GpuSignature &signature, const GpuCode &code,
                    std::vector<LaunchArgument> arguments) {
  std::vector<LaunchArgument> results;
  auto operand = code.launchInfo->operands.begin() + arguments.size();
  for (const GpuValue &value : signature.results) {
    Result<std::vector<int64_t>> shape =
        evaluateShape(*operand++, {arguments, /*multiprocessors=*/0});
    if (!shape)
      return Error("result #" + std::to_string(results.size()) + ": " +
                   shape.message());
    Result<LaunchArgument> result = makeLaunchResult(value, std::move(*shape));
    if (!result)
      return result.error();
    results.push_back(std::move(*result));
  }
  std::move(results.begin(), results.end(), std::back_inserter(arguments));
  return arguments;
}

/// Runs the launches of `code`, which write the results to `arguments`.
static Error launch(GpuDevice &device, const GpuCode &code,
                    std::vector<LaunchArgument> &arguments) {
  Result<uint32_t> sms =
      code.launchInfo->usesSms() ? device.countSms() : Result<uint32_t>(0u);
  if (!sms)
    return sms.error();
  Result<LaunchPlan> plan = planLaunch(*code.launchInfo, arguments, *sms);
  if (!plan)
    return plan.error();
  PtxSummary ptx = summarizePtx(code.text);
  for (const PlannedKernel &kernel : plan->kernels)
    if (Error error = checkParams(ptx, kernel))
      return error;
  return device.execute(code.text, *plan, arguments);
}

FailureOr<GpuFunction> blockscale::prepareForGpu(Program &program,
                                                 func::FuncOp entry,
                                                 const GpuRunOptions &options,
                                                 GpuDevice &device) {
  GpuFunction function;
  FailureOr<GpuSignature> signature = getGpuSignature(entry);
  if (failed(signature))
    return failure();
  Result<const Chip *> target = device.chooseTarget(
      options.emulateOn ? options.emulateOn : options.target);
  if (!target)
    return fail(program.getModule(), target.message());
  function.signature = std::move(*signature);
  for (BlockArgument argument : entry.getArguments())
    function.locations.push_back(argument.getLoc());
  function.files = options.files;
  function.compile = options;
  if (!options.emulateOn)
    function.compile.target = *target;
  program.dropSchedules();
  if (failed(program.keepOnly(entry)))
    return failure();
  return function;
}

FailureOr<GpuCode> blockscale::compileFunction(ModuleOp module,
                                               const GpuFunction &function) {
  FailureOr<GpuCode> code = compileForGpu(module, function.compile);
  if (succeeded(code) && !code->launchInfo)
    return fail(module, "expected a function that kernels can be launched for");
  return code;
}

FailureOr<std::vector<NpyArray>>
blockscale::runFunction(ModuleOp module, const GpuCode &code,
                        const GpuFunction &function,
                        std::vector<NpyArray> arguments, GpuDevice &device) {
  FailureOr<std::vector<LaunchArgument>> packed =
      packArguments(function.signature, std::move(arguments),
                    function.locations, function.files);
  if (failed(packed))
    return failure();
  Result<std::vector<LaunchArgument>> launchArguments =
      makeLaunchArguments(function.signature, code, std::move(*packed));
  if (!launchArguments)
    return fail(module, launchArguments.message());
  if (Error error = launch(device, code, *launchArguments))
    return fail(module, error.message());
  std::vector<NpyArray> results;
  auto result = launchArguments->end() - function.signature.results.size();
  for (const GpuValue &value : function.signature.results)
    results.push_back(takeLaunchResult(value, std::move(*result++)));
  return results;
}

FailureOr<GpuRun> blockscale::compileAndRun(Program &program,
                                            func::FuncOp entry,
                                            std::vector<NpyArray> arguments,
                                            const GpuRunOptions &options,
                                            GpuDevice &device) {
  FailureOr<GpuFunction> function =
      prepareForGpu(program, entry, options, device);
  if (failed(function))
    return failure();
  ModuleOp module = program.getModule();
  GpuRun run;
  run.flops = countFlops(module, entry);
  FailureOr<GpuCode> code = compileFunction(module, *function);
  if (failed(code))
    return failure();
  FailureOr<std::vector<NpyArray>> results =
      runFunction(module, *code, *function, std::move(arguments), device);
  if (failed(results))
    return failure();
  run.results = std::move(*results);
  return run;
}
