//===- blockscale-compile.cpp - Lower a program ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Driver/CommandLine.h"
#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Driver/Program.h"
#include "blockscale/Driver/SupportMatrix.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Runtime/OutputFile.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace mlir::blockscale;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static cl::OptionCategory category("blockscale-compile options");

static cl::opt<std::string> input(cl::Positional, cl::desc("IN.mlir"),
                                  cl::cat(category));
static cl::opt<std::string>
    entryName("entry", cl::desc("Compile this function and what it calls"),
              cl::value_desc("NAME"), cl::cat(category));
static cl::opt<std::string> target("target",
                                   cl::desc("The chip to compile for, or cpu"),
                                   cl::value_desc("CHIP"), cl::cat(category));
static cl::opt<std::string>
    emit("emit",
         cl::desc("tile, kernel, instr, nvvm, llvm, ptx or cubin; the default "
                  "is ptx, for cpu llvm"),
         cl::value_desc("STAGE"), cl::cat(category));
static cl::opt<std::string> ptxVersion("ptx-version",
                                       cl::desc("PTX version, 87 for 8.7"),
                                       cl::value_desc("N"), cl::cat(category));
static cl::opt<bool> nativeOnly(
    "native-only",
    cl::desc("Refuse an op that no block-scaled instruction computes"),
    cl::cat(category));
static cl::opt<std::string>
    schedule("schedule",
             cl::desc("Tile sizes, warps and stages: tile="
                      "128x128x128,warps=2x2,stages=3"),
             cl::value_desc("S"), cl::cat(category));
static cl::opt<std::string>
    emulateOn("emulate-on", cl::desc("Emulate the target's instructions there"),
              cl::value_desc("CHIP"), cl::cat(category));
static cl::opt<std::string> launchInfo("launch-info",
                                       cl::desc("Write how to launch, as JSON"),
                                       cl::value_desc("FILE"),
                                       cl::cat(category));
static cl::opt<std::string>
    output("o", cl::desc("Where to write; - is standard output, the default"),
           cl::value_desc("OUT"), cl::init("-"), cl::cat(category));
static cl::opt<std::string>
    supportMatrix("print-support-matrix",
                  cl::desc("Print what is supported, for one chip or for all"),
                  cl::value_desc("CHIP"), cl::ValueOptional, cl::cat(category));

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

namespace {
/// A level at which the lowering can stop. For the CPU, the passes that lead
/// to it from the stage before; null if the CPU has no such level.
struct Stage {
  StringRef name;
  void (*buildForCpu)(OpPassManager &);
  GpuStage gpuStage;
};
} // namespace

static const Stage stages[] = {
    {"tile", buildTilePipeline, GpuStage::Tile},
    {"kernel", buildCpuLoopsPipeline, GpuStage::Kernel},
    {"instr", nullptr, GpuStage::Instruction},
    {"nvvm", nullptr, GpuStage::NVVM},
    {"llvm", buildCpuLLVMPipeline, GpuStage::LLVM},
    {"ptx", nullptr, GpuStage::PTX},
    {"cubin", nullptr, GpuStage::Cubin},
};

static const Stage *findStage(StringRef name) {
  const Stage *stage =
      llvm::find_if(stages, [&](const Stage &s) { return s.name == name; });
  return stage == std::end(stages) ? nullptr : stage;
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

/// The module as LLVM IR text; empty after an error has been printed.
static std::string translateToLLVMIR(ModuleOp module) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << *llvmModule;
  return text;
}

static int compileForCpu(Program &program, const Stage &lastStage) {
  if (failed(checkInput(program.getModule())) ||
      (nativeOnly && failed(checkNativeOnCpu(program.getModule()))))
    return ExitFailure;
  for (const Stage *stage = stages; stage <= &lastStage; ++stage)
    if (stage->buildForCpu && failed(program.run(stage->buildForCpu)))
      return ExitFailure;

  std::string text;
  if (lastStage.name == "llvm") {
    if (failed(checkLowered(program.getModule())))
      return ExitFailure;
    text = translateToLLVMIR(program.getModule());
    if (text.empty())
      return ExitFailure;
  } else {
    llvm::raw_string_ostream(text) << program.getModule() << "\n";
  }
  if (Error error = writeOutput(output, text))
    return reportFailure(error.message());
  return ExitSuccess;
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

static int compileForGpu(Program &program, const Chip &chip,
                         const Stage &lastStage, const Chip *emulatingChip,
                         unsigned ptx) {
  GpuCompileOptions options;
  options.target = &chip;
  options.emulateOn = emulatingChip;
  options.ptxVersion = ptx;
  options.nativeOnly = nativeOnly;
  options.schedule = schedule;
  bool hasFunctions = !program.getModule().getOps<func::FuncOp>().empty();
  FailureOr<GpuCode> code = compileForGpu(program, lastStage.gpuStage, options);
  if (failed(code))
    return ExitFailure;

  OutputSet set;
  if (launchInfo.getNumOccurrences()) {
    if (!code->launchInfo)
      return reportFailure(
          Twine("--launch-info describes one public function: expected ") +
          (hasFunctions ? "--entry" : "one in the program"));
    if (Error error =
            set.add(launchInfo, serializeLaunchInfo(*code->launchInfo)))
      return reportFailure(error.message());
  }
  if (Error error = set.add(output, code->text))
    return reportFailure(error.message());
  if (Error error = set.commit())
    return reportFailure(error.message());
  return ExitSuccess;
}

static int compile(const Chip &chip, const Stage &lastStage,
                   const Chip *emulatingChip, unsigned ptx) {
  std::unique_ptr<Program> program = Program::parse(input);
  if (!program)
    return ExitFailure;
  program->dropSchedules();
  if (entryName.getNumOccurrences()) {
    bool isAmbiguous;
    Result<func::FuncOp> entry = program->getEntry(entryName, isAmbiguous);
    if (!entry)
      return reportFailure("'" + input + "': " + entry.message());
    if (failed(program->keepOnly(*entry)))
      return ExitFailure;
  }
  if (chip.isCpu())
    return compileForCpu(*program, lastStage);
  return compileForGpu(*program, chip, lastStage, emulatingChip, ptx);
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  dropForeignOptions(category);
  if (!parseCommandLine(argc, argv,
                        "blockscale-compile: lower block-scaled matrix "
                        "multiplication to PTX or LLVM IR\n"))
    return ExitUsage;

  if (supportMatrix.getNumOccurrences()) {
    const Chip *chip = nullptr;
    if (!supportMatrix.empty() && !(chip = parseTarget(supportMatrix)))
      return ExitUsage;
    std::string text;
    llvm::raw_string_ostream stream(text);
    printSupportMatrix(stream, chip);
    if (Error error = writeOutput("-", text))
      return reportFailure(error.message());
    return ExitSuccess;
  }

  if (input.empty())
    return reportUsage("expected an input file");
  if (target.empty())
    return reportUsage("expected --target=CHIP");
  const Chip *chip = parseTarget(target);
  unsigned ptx = 0;
  if (!chip ||
      (ptxVersion.getNumOccurrences() && !parsePtxVersion(ptxVersion, ptx)))
    return ExitUsage;
  const Chip *emulatingChip = nullptr;
  if (emulateOn.getNumOccurrences()) {
    emulatingChip = parseTarget(emulateOn);
    if (!emulatingChip)
      return ExitUsage;
    if (emulatingChip->isCpu())
      return reportUsage("expected a GPU for --emulate-on, got cpu");
  }
  std::string stageName = emit.getNumOccurrences() ? emit.getValue()
                          : chip->isCpu()          ? "llvm"
                                                   : "ptx";
  const Stage *stage = findStage(stageName);
  if (!stage)
    return reportUsage("unknown stage '" + stageName +
                       "', expected one of tile kernel instr nvvm llvm ptx "
                       "cubin");
  if (chip->isCpu() && !stage->buildForCpu)
    return reportUsage("the target cpu has no stage '" + stageName +
                       "', expected one of tile kernel llvm");

  if (schedule.getNumOccurrences() && !checkSchedule(schedule))
    return ExitUsage;
  for (cl::Option *option : std::initializer_list<cl::Option *>{
           &ptxVersion, &emulateOn, &launchInfo, &schedule})
    if (chip->isCpu() && option->getNumOccurrences())
      return reportUnsupported("--" + option->ArgStr + " with --target=cpu");
  if (launchInfo.getNumOccurrences() && stage->gpuStage < GpuStage::Kernel)
    return reportUsage("the stage 'tile' has no launches for --launch-info");
  return compile(*chip, *stage, emulatingChip, ptx);
}
