//===- CudaRun.cpp - Compile for a CUDA card and run ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/CudaRun.h"

#include "GpuBuffers.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Runtime/CudaExecution.h"
#include "blockscale/Runtime/PtxSummary.h"

using namespace mlir;
using namespace mlir::blockscale;

static LogicalResult fail(const std::string &message) {
  llvm::errs() << "error: " << message << "\n";
  return failure();
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// 90 -> "9.0".
static std::string formatCapability(unsigned capability) {
  return std::to_string(capability / 10) + "." +
         std::to_string(capability % 10);
}

Result<const Chip *> blockscale::getChipOfCard(unsigned capability) {
  const Chip *best = nullptr;
  std::string known;
  unsigned last = 0;
  for (const Chip &chip : getChips()) {
    if (chip.isCpu())
      continue;
    // Code for the letter 'a' may use all that this one card has.
    if (chip.capability == capability &&
        (!best || (chip.name.back() == 'a' && best->name.back() != 'a')))
      best = &chip;
    if (chip.capability != last)
      known += " " + formatCapability(chip.capability);
    last = chip.capability;
  }
  if (!best)
    return Error("expected --target, or a card of one of the compute "
                 "capabilities" +
                 known + ", got one of " + formatCapability(capability));
  return best;
}

/// The chip to compile for: `wanted` if the card runs that, or the card's.
static Result<const Chip *> chooseTarget(const CudaDevice &device,
                                         const Chip *wanted) {
  unsigned capability = device.getCapability();
  if (!wanted)
    return getChipOfCard(capability);
  if (!isTargetOfCard(wanted->name, capability))
    return Error("expected a target that runs on the card's sm_" +
                 std::to_string(capability) + ", got " +
                 std::string(wanted->name));
  return wanted;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// The operations of all `mma_scaled` that a run of `entry` computes. Loops and
/// calls run theirs any number of times.
static std::optional<double> countFlops(ModuleOp module, func::FuncOp entry) {
  double flops = 0;
  WalkResult result = module.walk([&](MmaScaledOp op) -> WalkResult {
    auto x = cast<ShapedType>(op.getX().getType());
    auto acc = cast<ShapedType>(op.getAcc().getType());
    if (op->getParentOp() != entry || !hasStaticShapes(op))
      return WalkResult::interrupt();
    flops += 2.0 * static_cast<double>(acc.getNumElements()) *
             static_cast<double>(x.getShape().back());
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || flops == 0)
    return std::nullopt;
  return flops;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// What the launches take: the arguments, then the results.
static Result<std::vector<LaunchArgument>>
makeLaunchArguments(const GpuSignature &signature, const LaunchInfo &info,
                    std::vector<NpyArray> arrays) {
  std::vector<LaunchArgument> arguments;
  for (auto [value, array] : llvm::zip_equal(signature.arguments, arrays))
    arguments.push_back(makeLaunchArgument(value, std::move(array)));
  // The launch info ends with the last argument that a kernel takes.
  arguments.resize(std::min<size_t>(arguments.size(), info.numArguments()));
  for (const GpuValue &value : signature.results) {
    Result<LaunchArgument> result = makeLaunchResult(value);
    if (!result)
      return result.error();
    arguments.push_back(std::move(*result));
  }
  return arguments;
}

/// Carries out the launches of `code` and leaves the results in `arguments`.
static Error launch(const CudaDevice &device, const GpuCode &code,
                    std::vector<LaunchArgument> &arguments,
                    double *milliseconds) {
  Result<LaunchPlan> plan = planLaunch(*code.launchInfo, arguments);
  if (!plan)
    return plan.error();
  PtxSummary ptx = summarizePtx(code.text);
  for (const PlannedKernel &kernel : plan->kernels)
    if (Error error = checkParams(ptx, kernel))
      return error;
  Result<CudaModule> module = device.load(code.text);
  if (!module)
    return module.error();
  return runOnCuda(device, *module, *plan, arguments, milliseconds);
}

FailureOr<CudaRun>
blockscale::compileAndRunOnCuda(Program &program, func::FuncOp entry,
                                std::vector<NpyArray> arguments,
                                const CudaRunOptions &options) {
  FailureOr<GpuSignature> signature = getGpuSignature(entry);
  if (failed(signature))
    return failure();
  Result<CudaDevice> device = CudaDevice::open();
  if (!device)
    return fail(device.message());
  Result<const Chip *> target = chooseTarget(*device, options.target);
  if (!target)
    return fail(target.message());

  program.dropSchedules();
  if (failed(program.keepOnly(entry)))
    return failure();
  CudaRun run;
  run.flops = countFlops(program.getModule(), entry);
  GpuCompileOptions compile;
  compile.target = *target;
  compile.ptxVersion = options.ptxVersion;
  compile.nativeOnly = options.nativeOnly;
  FailureOr<GpuCode> code = compileForGpu(program, GpuStage::PTX, compile);
  if (failed(code))
    return failure();
  if (!code->launchInfo)
    return fail("expected a function that kernels can be launched for");

  Result<std::vector<LaunchArgument>> launchArguments =
      makeLaunchArguments(*signature, *code->launchInfo, std::move(arguments));
  if (!launchArguments)
    return fail(launchArguments.message());
  if (Error error = launch(*device, *code, *launchArguments,
                           options.wantsTime ? &run.milliseconds : nullptr))
    return fail(error.message());
  auto result = launchArguments->end() - signature->results.size();
  for (const GpuValue &value : signature->results)
    run.results.push_back(takeLaunchResult(value, std::move(*result++)));
  return run;
}
