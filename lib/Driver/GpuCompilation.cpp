//===- GpuCompilation.cpp - Compile for a GPU -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers a module level by level, with checks in between, since modules may
// come from any compiler.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuCompilation.h"

#include "LaunchInfoExport.h"
#include "PrintedLevels.h"
#include "PtxEmission.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Dialect/IR/PrintedLevel.h"
#include "blockscale/Dialect/IR/SoftwareTensorCore.h"
#include "blockscale/Dialect/Transforms/Passes.h"
#include "blockscale/Dialect/Transforms/Selection/Schedule.h"
#include "blockscale/Driver/Destinations.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Driver/LevelPrinting.h"
#include "blockscale/Driver/PassRunning.h"
#include "blockscale/Driver/ProgramOps.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Runtime/CodeDigest.h"
#include "blockscale/Support/SparseFragments.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Refuses instructions in handwritten kernels that the chip does not have.
/// (Otherwise, the code generator would end the process.)
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
    // Instructions that the chip lacks are emulated or are errors. The
    // emulation of tensor cores uses a fence of the copies.
    if (op.isSupportedOn(chip))
      lowest = std::max(lowest, op.getLowestPtxVersion());
    else if (needsTensorMemory(op))
      lowest = std::max(lowest, kBulkCopyPtx);
  });
  module.walk([&](NVVM::MmaSpOp op) {
    lowest = std::max(lowest, op.getOrderedMetadata() ? kOrderedMetadataPtx
                                                      : kSparseValuesPtx);
  });
  // Those of warpgroups are text by now.
  SmallVector<std::pair<std::string, unsigned>> sparse;
  for (const Instruction &row : getInstructions())
    if (row.isSparse() && !row.isNative())
      sparse.emplace_back(getOpcode(row), row.lowestPtx);
  module.walk([&](LLVM::InlineAsmOp op) {
    for (const auto &[opcode, ptx] : sparse)
      if (op.getAsmString().contains(opcode))
        lowest = std::max(lowest, ptx);
  });
  // Every PTX version with these chips has conversions to fp6 and fp4.
  auto addConversion = [&](Type element) {
    std::optional<Format> format = getElementFormat(element);
    std::optional<unsigned> version =
        format ? getConversionPtx(chip, *format) : std::nullopt;
    lowest = std::max(lowest, version.value_or(0));
  };
  module.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case<NVVM::ConvertF32x2ToF8x2Op, NVVM::ConvertF16x2ToF8x2Op>(
            [&](auto cvt) { addConversion(cvt.getDstTy()); })
        .Case([&](NVVM::ConvertF8x2ToF16x2Op cvt) {
          addConversion(cvt.getSrcType());
        })
        .Default([](Operation *) {});
  });
  return lowest;
}

/// Uses mma.sp without its qualifier, which means the same for legal metadata,
/// if the PTX version `wanted` has only that.
static void useOlderMetadata(ModuleOp module, unsigned wanted) {
  if (wanted == 0 || wanted >= kOrderedMetadataPtx)
    return;
  module.walk([](NVVM::MmaSpOp op) { op.setOrderedMetadata(false); });
}

/// `wanted`, or if that is 0 the lowest version that works, at least
/// `attached`. 0 after an error.
static unsigned choosePtxVersion(ModuleOp module, const Chip &chip,
                                 unsigned wanted, unsigned attached = 0) {
  unsigned lowest = std::max(getLowestPtx(module, chip), attached);
  if (wanted == 0 || wanted >= lowest)
    return std::max(wanted, lowest);
  emitOptionError(module)
      << "PTX " << formatPtxVersion(wanted) << " is too old for "
      << StringRef(chip.name)
      << " and the instructions of this program, expected at least "
      << formatPtxVersion(lowest);
  return 0;
}

/// Checks the options, as the programs check their command lines.
static LogicalResult checkOptions(ModuleOp module,
                                  const GpuCompileOptions &options) {
  if (!options.target)
    return emitOptionError(module)
           << "null, which lookupChip gives for an unknown chip, as target: "
           << describeUnknownChip("");
  for (const Chip *chip : {options.target, options.emulateOn})
    if (chip && chip->isCpu())
      return emitOptionError(module) << "expected a GPU as target, got cpu";
  if (options.ptxVersion != 0 && !isKnownPtxVersion(options.ptxVersion))
    return emitOptionError(module)
           << "unknown PTX version " << options.ptxVersion
           << ", expected one of 70 to 78, 80 to 88, 90";
  if (options.accumulation && !isAccumulateChunk(options.accumulation.chunk))
    return emitOptionError(module)
           << "expected a chunk of " << listAccumulateChunks() << " terms, got "
           << options.accumulation.chunk;
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {
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

/// The LLVM IR, PTX or cubin of a module at the level NVVM. Writes the digests
/// of PTX and cubin to the launch info.
static LogicalResult generateCode(ModuleOp module, GpuStage stage,
                                  const Chip &chip, unsigned ptx,
                                  GpuCode &code) {
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
    llvm::raw_string_ostream(code.text) << *llvmModule;
    return success();
  }
  Result<std::string> text = emitPtx(*llvmModule, **machine);
  if (text && code.launchInfo)
    attachCodeDigest(*code.launchInfo, *text);
  if (text && stage == GpuStage::Cubin) {
    text = assemblePtx(*text, chip);
    if (text && code.launchInfo)
      attachCodeDigest(*code.launchInfo, *text);
  }
  if (!text)
    return fail(text.message());
  code.text = std::move(*text);
  return success();
}

/// The schedules of all matrix multiplications, without duplicates.
static std::string listSchedules(ModuleOp module) {
  SmallVector<std::string> texts;
  module.walk([&](ProductOpInterface op) {
    auto schedule = op->getAttrOfType<ScheduleInterface>(kScheduleAttrName);
    std::string text = schedule ? getScheduleText(schedule) : "";
    if (schedule && !llvm::is_contained(texts, text))
      texts.push_back(std::move(text));
  });
  return llvm::join(texts, "; ");
}

/// Checks that no function allocates memory: remaining allocations are the
/// workspace.
static LogicalResult checkNoWorkspace(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.getOps<memref::AllocOp>().empty())
      return function.emitError("expected a function that needs no memory "
                                "besides arguments and results, got one that "
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

/// The launch info of the function of `signature`, which is at the kernel level
/// or a later one.
static LogicalResult describeLaunch(ModuleOp module, const Signature &signature,
                                    const Chip &chip, GpuCode &code) {
  auto function = module.lookupSymbol<func::FuncOp>(signature.name);
  FailureOr<LaunchInfo> info =
      exportLaunchInfo(function, signature.type, chip.name);
  if (failed(info))
    return failure();
  code.launchInfo = std::move(*info);
  code.launchInfo->schedule = signature.schedules;
  return success();
}

/// Checks that all of `module` is at `level`, at which it was printed.
static LogicalResult checkLevel(ModuleOp module, GpuStage level) {
  return runPasses(module, [&](OpPassManager &pm) {
    VerifyStagePassOptions options;
    options.stage = getLevelName(level).str();
    pm.addPass(createVerifyStagePass(options));
  });
}

/// The pass options among the options.
static void copyOptions(const GpuCompileOptions &options,
                        GpuPipelineOptions &pipeline) {
  pipeline.target = std::string(options.target->name);
  if (options.emulateOn)
    pipeline.emulateOn = std::string(options.emulateOn->name);
  pipeline.nativeOnly = options.nativeOnly;
  pipeline.accumulate = options.accumulation.chunk;
  pipeline.rebase = options.accumulation.rebase;
  pipeline.noWorkspace = options.noWorkspace;
  pipeline.explain = options.explain;
  pipeline.schedule = options.schedule;
}

/// After a level: checks it, and collects what is known from there on.
static LogicalResult finishLevel(ModuleOp module, GpuStage level,
                                 const GpuCompileOptions &options,
                                 std::optional<Signature> &signature,
                                 GpuCode &code) {
  if (level == GpuStage::Tile && signature)
    signature->schedules = listSchedules(module);
  if (level == GpuStage::Kernel && options.noWorkspace &&
      failed(checkNoWorkspace(module)))
    return failure();
  if (level == GpuStage::Kernel && signature) {
    attachSignature(module, *signature);
    if (failed(
            describeLaunch(module, *signature, options.getFinalChip(), code)))
      return failure();
  }
  if (llvm::is_contained(options.printAfter, level)) {
    StringRef name = getLevelName(level);
    llvm::errs() << "// after " << name << "\n" << printLevel(module, name);
    module->removeAttr(kLevelAttrName);
  }
  return success();
}

/// Everything but the collection of remarks.
static FailureOr<GpuCode> compile(ModuleOp module, GpuCompileOptions options) {
  FailureOr<std::optional<GpuStage>> start = readLevel(module, options);
  if (failed(start))
    return failure();
  module->removeAttr(kLevelAttrName);
  // A program at the level tile may have been edited, so it is checked.
  bool hasKernels = *start && **start > GpuStage::Tile;
  GpuCode code;
  const Chip &chip = options.getFinalChip();
  std::optional<Signature> signature;
  if (hasKernels) {
    FailureOr<std::optional<Signature>> read = readSignature(module);
    if (failed(read) || failed(checkLevel(module, **start)))
      return failure();
    signature = *read;
    if (signature && failed(describeLaunch(module, *signature, chip, code)))
      return failure();
  } else {
    if (failed(returnDestinations(module)) || failed(checkGpuInput(module)) ||
        failed(runPasses(module, [&](OpPassManager &pm) {
          buildRaising(pm, options.raising);
        })))
      return failure();
    if (func::FuncOp only = findOnlyFunction(module))
      signature = {only.getSymName().str(), only.getFunctionType(), ""};
  }

  GpuPipelineOptions pipeline;
  copyOptions(options, pipeline);
  // The required PTX version is not known from NVVM ops.
  unsigned attached = *start == GpuStage::NVVM ? getAttachedPtx(module) : 0;
  unsigned ptx = choosePtxVersion(module, chip, options.ptxVersion, attached);
  for (const Level &level : levels) {
    if (ptx == 0)
      return failure();
    if (level.stage > options.stage)
      break;
    if (hasKernels && level.stage <= **start)
      continue;
    // In printed levels, ops stay as they are.
    auto build =
        *start == level.stage ? buildGpuSelectionPipeline : level.build;
    pipeline.ptxVersion = ptx;
    // The last level is checked by its results.
    bool verifies =
        level.stage != GpuStage::Instruction || level.stage == options.stage;
    if (failed(runPasses(
            module, [&](OpPassManager &pm) { build(pm, pipeline); },
            verifies)) ||
        failed(finishLevel(module, level.stage, options, signature, code)))
      return failure();
    if (level.stage == GpuStage::Instruction) {
      useOlderMetadata(module, options.ptxVersion);
      ptx = choosePtxVersion(module, chip, options.ptxVersion);
    }
  }

  if (options.stage <= GpuStage::NVVM) {
    code.text = printLevel(module, getLevelName(options.stage));
    return code;
  }
  if (failed(checkInstructions(module, chip)) ||
      failed(checkLoweredKernels(module)) ||
      failed(generateCode(module, options.stage, chip, ptx, code)))
    return failure();
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
    return failure(); // Other handlers get it as well.
  });
  ProgramOps words(module);
  FailureOr<GpuCode> code = compile(module, options);
  if (succeeded(code))
    code->remarks = std::move(remarks);
  return code;
}
