//===- GpuCompilation.cpp - Compile for a GPU -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuCompilation.h"

#include "LaunchInfoExport.h"
#include "PtxEmission.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Instructions that kernels of others ask for themselves. (Without this, the
/// code generator would end the process.)
static LogicalResult checkInstructions(ModuleOp module, const Chip &chip) {
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (!isa<NVVM::MmaBlockScaleOp, NVVM::MmaSpBlockScaleOp>(op) ||
        hasOpcode(chip, "mma.sync"))
      return WalkResult::advance();
    return op->emitError("no block-scaled instruction on ")
           << StringRef(chip.name) << " for '" << op->getName() << "'";
  });
  return failure(result.wasInterrupted());
}

/// The lowest PTX version that has the chip and the instructions.
static unsigned getLowestPtx(ModuleOp module, const Chip &chip) {
  unsigned lowest = chip.lowestPtx;
  module.walk([&](InstructionOpInterface op) {
    lowest = std::max(lowest, op.getLowestPtxVersion());
  });
  return lowest;
}

/// `wanted`, or the lowest version where that is 0. 0 after an error.
static unsigned choosePtxVersion(ModuleOp module, const Chip &chip,
                                 unsigned wanted) {
  unsigned lowest = getLowestPtx(module, chip);
  if (wanted == 0 || wanted >= lowest)
    return std::max(wanted, lowest);
  llvm::errs() << "error: PTX " << formatPtxVersion(wanted)
               << " is too old for " << StringRef(chip.name)
               << " and the instructions of this program, expected at least "
               << formatPtxVersion(lowest) << "\n";
  return 0;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {
/// What is known of the public function before it becomes launches.
struct Signature {
  std::string name;
  FunctionType type;
};

struct Level {
  GpuStage stage;
  void (*build)(OpPassManager &, const GpuPipelineOptions &);
};
} // namespace

static constexpr Level levels[] = {
    {GpuStage::Tile, buildGpuTilePipeline},
    {GpuStage::Kernel, buildGpuKernelPipeline},
    {GpuStage::Instruction, buildGpuInstructionPipeline},
    {GpuStage::NVVM, buildGpuNVVMPipeline},
};

/// The only public function with a body; nullopt if there is not one.
static std::optional<Signature> getSignature(ModuleOp module) {
  std::optional<Signature> signature;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (signature)
      return std::nullopt;
    signature = {function.getSymName().str(), function.getFunctionType()};
  }
  return signature;
}

/// LLVM IR, PTX or cubin of a module at the level NVVM.
static FailureOr<std::string> generateCode(ModuleOp module, GpuStage stage,
                                           const Chip &chip, unsigned ptx) {
  auto fail = [](const std::string &message) -> LogicalResult {
    llvm::errs() << "error: " << message << "\n";
    return failure();
  };
  auto machine = makePtxTargetMachine(chip, ptx);
  if (!machine)
    return fail(machine.message());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateKernels(module, context, **machine);
  if (!llvmModule)
    return failure();
  if (stage == GpuStage::LLVM) {
    std::string text;
    llvm::raw_string_ostream(text) << *llvmModule;
    return text;
  }
  Result<std::string> text = emitPtx(*llvmModule, **machine);
  if (text && stage == GpuStage::Cubin)
    text = assemblePtx(*text, chip);
  if (!text)
    return fail(text.message());
  return *text;
}

FailureOr<GpuCode> blockscale::compileForGpu(Program &program, GpuStage stage,
                                             const GpuCompileOptions &options) {
  ModuleOp module = program.getModule();
  const Chip &chip = options.getFinalChip();
  if (failed(checkGpuInput(module)))
    return failure();
  std::optional<Signature> signature = getSignature(module);

  GpuPipelineOptions pipeline;
  pipeline.target = std::string(options.target->name);
  if (options.emulateOn)
    pipeline.emulateOn = std::string(options.emulateOn->name);
  pipeline.nativeOnly = options.nativeOnly;
  pipeline.schedule = options.schedule;
  unsigned ptx = choosePtxVersion(module, chip, options.ptxVersion);
  GpuCode code;
  for (const Level &level : levels) {
    if (ptx == 0)
      return failure();
    if (level.stage > stage)
      break;
    pipeline.ptxVersion = ptx;
    if (failed(
            program.run([&](OpPassManager &pm) { level.build(pm, pipeline); })))
      return failure();
    if (level.stage == GpuStage::Kernel && signature) {
      auto function = module.lookupSymbol<func::FuncOp>(signature->name);
      FailureOr<LaunchInfo> info =
          exportLaunchInfo(function, signature->type, chip.name);
      if (failed(info))
        return failure();
      code.launchInfo = std::move(*info);
    }
    if (level.stage == GpuStage::Instruction)
      ptx = choosePtxVersion(module, chip, options.ptxVersion);
  }

  if (stage <= GpuStage::NVVM) {
    llvm::raw_string_ostream(code.text) << module << "\n";
    return code;
  }
  if (failed(checkInstructions(module, chip)) ||
      failed(checkLoweredKernels(module)))
    return failure();
  FailureOr<std::string> text = generateCode(module, stage, chip, ptx);
  if (failed(text))
    return failure();
  code.text = std::move(*text);
  return code;
}
