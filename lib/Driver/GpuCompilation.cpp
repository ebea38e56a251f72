//===- GpuCompilation.cpp - Compile for a GPU -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The levels in order, with the checks between them, for modules that any
// compiler may have made.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuCompilation.h"

#include "LaunchInfoExport.h"
#include "PtxEmission.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/SoftwareTensorCore.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Driver/PassRunning.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// An error that is about no place in the module.
static InFlightDiagnostic emitOptionError(ModuleOp module) {
  return emitError(UnknownLoc::get(module.getContext()));
}

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
    // What the chip lacks becomes software, or is an error. Software of a
    // tensor core has a fence of those who copy.
    if (op.isSupportedOn(chip))
      lowest = std::max(lowest, op.getLowestPtxVersion());
    else if (needsTensorMemory(op))
      lowest = std::max(lowest, kBulkCopyPtx);
  });
  // Conversions to fp6 and fp4 are as old as the chips that have them.
  module.walk([&](NVVM::ConvertF32x2ToF8x2Op op) {
    std::optional<Format> format = getElementFormat(op.getDstTy());
    std::optional<unsigned> version =
        format ? getConversionPtx(chip, *format) : std::nullopt;
    lowest = std::max(lowest, version.value_or(0));
  });
  return lowest;
}

/// `wanted`, or the lowest version where that is 0. 0 after an error.
static unsigned choosePtxVersion(ModuleOp module, const Chip &chip,
                                 unsigned wanted) {
  unsigned lowest = getLowestPtx(module, chip);
  if (wanted == 0 || wanted >= lowest)
    return std::max(wanted, lowest);
  emitOptionError(module)
      << "PTX " << formatPtxVersion(wanted) << " is too old for "
      << StringRef(chip.name)
      << " and the instructions of this program, expected at least "
      << formatPtxVersion(lowest);
  return 0;
}

/// What the programs check on their command lines.
static LogicalResult checkOptions(ModuleOp module,
                                  const GpuCompileOptions &options) {
  if (!options.target)
    return emitOptionError(module) << describeUnknownChip("");
  for (const Chip *chip : {options.target, options.emulateOn})
    if (chip && chip->isCpu())
      return emitOptionError(module) << "expected a GPU as target, got cpu";
  if (options.ptxVersion != 0 && !isKnownPtxVersion(options.ptxVersion))
    return emitOptionError(module)
           << "unknown PTX version " << options.ptxVersion
           << ", expected one of 70 to 78, 80 to 88, 90";
  return success();
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
  auto fail = [&](const std::string &message) -> LogicalResult {
    return emitOptionError(module) << message;
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

/// That no function allocates memory: what is left of that is the workspace.
static LogicalResult checkNoWorkspace(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.getOps<memref::AllocOp>().empty())
      return function.emitError("expected a function that needs no memory "
                                "beside arguments and results, got one that "
                                "needs a workspace");
  return success();
}

static void buildRaising(OpPassManager &pm, Raising raising) {
  if (raising == Raising::None)
    return;
  RaisePassOptions options;
  options.reportOnly = raising == Raising::Report;
  options.assumePositiveScales = raising == Raising::RaisePositiveScales;
  pm.addPass(createRaisePass(options));
}

/// Everything but the collection of remarks.
static FailureOr<GpuCode> compile(ModuleOp module,
                                  const GpuCompileOptions &options) {
  const Chip &chip = options.getFinalChip();
  if (failed(checkGpuInput(module)) ||
      failed(runPasses(module, [&](OpPassManager &pm) {
        buildRaising(pm, options.raising);
      })))
    return failure();
  std::optional<Signature> signature = getSignature(module);

  GpuPipelineOptions pipeline;
  pipeline.target = std::string(options.target->name);
  if (options.emulateOn)
    pipeline.emulateOn = std::string(options.emulateOn->name);
  pipeline.nativeOnly = options.nativeOnly;
  pipeline.noWorkspace = options.noWorkspace;
  pipeline.explain = options.explain;
  pipeline.schedule = options.schedule;
  unsigned ptx = choosePtxVersion(module, chip, options.ptxVersion);
  GpuCode code;
  for (const Level &level : levels) {
    if (ptx == 0)
      return failure();
    if (level.stage > options.stage)
      break;
    pipeline.ptxVersion = ptx;
    // The largest one is checked by what comes out of it.
    bool verifies =
        level.stage != GpuStage::Instruction || level.stage == options.stage;
    if (failed(runPasses(
            module, [&](OpPassManager &pm) { level.build(pm, pipeline); },
            verifies)))
      return failure();
    if (level.stage == GpuStage::Kernel && options.noWorkspace &&
        failed(checkNoWorkspace(module)))
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

  if (options.stage <= GpuStage::NVVM) {
    llvm::raw_string_ostream(code.text) << module << "\n";
    return code;
  }
  if (failed(checkInstructions(module, chip)) ||
      failed(checkLoweredKernels(module)))
    return failure();
  FailureOr<std::string> text = generateCode(module, options.stage, chip, ptx);
  if (failed(text))
    return failure();
  code.text = std::move(*text);
  return code;
}

FailureOr<GpuCode> blockscale::compileForGpu(ModuleOp module,
                                             const GpuCompileOptions &options) {
  if (failed(checkOptions(module, options)))
    return failure();
  MLIRContext *context = module.getContext();
  DialectRegistry registry;
  registerPipelineDialects(registry);
  context->appendDialectRegistry(registry);

  std::vector<GpuRemark> remarks;
  ScopedDiagnosticHandler collector(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Remark)
      remarks.push_back({diagnostic.getLocation(), diagnostic.str()});
    return failure(); // Other handlers get it, too.
  });
  FailureOr<GpuCode> code = compile(module, options);
  if (succeeded(code))
    code->remarks = std::move(remarks);
  return code;
}
