//===- blockscale-compile.cpp - Lower a program ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One program from MLIR to any stage, for the CPU and all chips: the command
// line and the order of its checks.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Driver/BundleCompilation.h"
#include "blockscale/Driver/CommandLine.h"
#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Driver/KernelLayouts.h"
#include "blockscale/Driver/Program.h"
#include "blockscale/Driver/SupportMatrix.h"
#include "blockscale/Pipelines/Pipelines.h"
#include "blockscale/Runtime/OutputFile.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

/// What only kernels have.
static constexpr std::string_view gpuTarget = "a GPU as --target";

static const std::vector<Flag> flags = {
    {"target", "CHIP",
     "The chip to compile for, or cpu; with --bundle several, with commas "
     "between"},
    {"entry", "NAME", "Compile this function and what it calls"},
    {"emit", "STAGE",
     "tile, kernel, instr, nvvm, llvm, ptx or cubin; the default is ptx, for "
     "cpu llvm"},
    getRaiseFlag(),
    {"native-only", "",
     "Refuse an op that no block-scaled instruction computes"},
    {"no-workspace", "",
     "Refuse what needs memory beside arguments and results, and take ways "
     "that "
     "need none",
     false, false, gpuTarget},
    {"ptx-version", "N", "PTX version, 8.7 or 87", false, false, gpuTarget},
    {"schedule", "S",
     "Tile sizes, warps and stages: tile=128x128x128,warps=2x2,stages=3", false,
     false, gpuTarget},
    {"explain", "",
     "Print the schedule, the bound of each hardware unit and the estimate of "
     "each product, on standard error",
     false, false, gpuTarget},
    {"emulate-on", "CHIP", "Emulate the target's instructions there", false,
     false, gpuTarget},
    {"launch-info", "FILE", "Write how to launch, as JSON", false, false,
     gpuTarget},
    {"bundle", "FILE",
     "Write the code of all functions for all targets, and how to launch it, "
     "to "
     "one file; --emit=cubin adds machine code",
     false, false, gpuTarget},
    {"print-layout", "NAME",
     "Print where the kernels have their operands, for one layout or for all",
     /*isValueOptional=*/true, false, gpuTarget},
    {"layout-format", "FORMAT", "text (the default) or json", false, false,
     gpuTarget},
    {"o", "OUT", "Where to write; - is standard output, the default"},
    {"print-support-matrix", "CHIP",
     "Print what is supported, for one chip or for all",
     /*isValueOptional=*/true},
};

static constexpr StringRef usage =
    "blockscale-compile IN.mlir --target=CHIP [FLAG]...\n"
    "       blockscale-compile IN.mlir --target=CHIP --print-layout[=NAME]\n"
    "       blockscale-compile --print-support-matrix[=CHIP]\n"
    "\n"
    "Lowers block-scaled matrix multiplication to PTX or LLVM IR.";

namespace {
/// What the command line asks for.
struct Job {
  std::string input, output;
  /// Null: all functions.
  std::optional<std::string> entry;
  std::optional<std::string> launchInfo;
  std::optional<std::string> bundle;
  /// One, or with a bundle several.
  std::vector<const Chip *> targets;
  bool wantsRaise = false, assumesPositiveScales = false;
  /// Instead of code: layouts, all with an empty name.
  bool wantsLayouts = false, wantsJson = false;
  std::string layout;
  GpuCompileOptions options;
};
} // namespace

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

static int compileForCpu(Program &program, const Stage &lastStage,
                         const Job &job) {
  if (failed(checkInput(program.getModule())) ||
      (job.options.nativeOnly && failed(checkNativeOnCpu(program.getModule()))))
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
  if (Error error = writeOutput(job.output, text))
    return reportFailure(error.message());
  return ExitSuccess;
}

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

static int compileForGpu(Program &program, const Job &job) {
  bool hasFunctions = !program.getModule().getOps<func::FuncOp>().empty();
  FailureOr<GpuCode> code = compileForGpu(program.getModule(), job.options);
  if (failed(code))
    return ExitFailure;

  OutputSet set;
  if (job.launchInfo) {
    if (!code->launchInfo)
      return reportFailure(
          Twine("--launch-info describes one public function: expected ") +
          (hasFunctions ? "--entry" : "one in the program"));
    if (Error error =
            set.add(*job.launchInfo, serializeLaunchInfo(*code->launchInfo)))
      return reportFailure(error.message());
  }
  if (Error error = set.add(job.output, code->text))
    return reportFailure(error.message());
  if (Error error = set.commit())
    return reportFailure(error.message());
  return ExitSuccess;
}

static int compileBundle(Program &program, const Job &job) {
  BundleOptions options;
  options.targets = job.targets;
  options.makesCubins = job.options.stage == GpuStage::Cubin;
  options.compile = job.options;
  FailureOr<Bundle> bundle =
      compileBundle(program, job.entry.value_or(""), options);
  if (failed(bundle))
    return ExitFailure;
  if (Error error = writeOutput(*job.bundle, serializeBundle(*bundle)))
    return reportFailure(error.message());
  return ExitSuccess;
}

/// What the kernels of a module have, without a layout that they lack.
static int printKernelLayouts(Program &program, const Job &job) {
  if (failed(compileForGpu(program.getModule(), job.options)))
    return ExitFailure;
  std::vector<KernelLayouts> kernels = getKernelLayouts(program.getModule());
  if (kernels.empty())
    return reportFailure("not supported in this version: layouts of a program "
                         "without kernels that multiply tiles of codes or of "
                         "numbers");
  bool hasLayout = job.layout.empty();
  std::string others;
  for (const KernelLayouts &kernel : kernels) {
    hasLayout |= kernel.lookup(job.layout) != nullptr;
    others += (others.empty() ? "@" : "; @") + kernel.kernel + ":";
    for (const KernelLayout &layout : kernel.layouts)
      others += " " + layout.name;
  }
  if (!hasLayout)
    return reportFailure("expected a layout that a kernel has, got '" +
                         job.layout + "'; " + others);
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto print = job.wantsJson ? printLayoutsAsJson : printLayouts;
  print(stream, kernels, job.layout);
  if (Error error = writeOutput(job.output, text))
    return reportFailure(error.message());
  return ExitSuccess;
}

static int compile(const Stage &lastStage, const Job &job) {
  std::unique_ptr<Program> program = Program::parse(job.input);
  if (!program)
    return ExitFailure;
  program->dropSchedules();
  if (job.bundle) {
    if (job.wantsRaise && failed(program->raise(job.assumesPositiveScales)))
      return ExitFailure;
    return compileBundle(*program, job);
  }
  if (job.entry) {
    bool isAmbiguous;
    Result<func::FuncOp> entry = program->getEntry(*job.entry, isAmbiguous);
    if (!entry)
      return reportFailure("'" + job.input + "': " + entry.message());
    if (failed(program->keepOnly(*entry)))
      return ExitFailure;
  }
  if (job.wantsRaise && failed(program->raise(job.assumesPositiveScales)))
    return ExitFailure;
  if (job.options.target->isCpu())
    return compileForCpu(*program, lastStage, job);
  if (job.wantsLayouts)
    return printKernelLayouts(*program, job);
  return compileForGpu(*program, job);
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

static int printMatrix(StringRef chipName) {
  const Chip *chip = nullptr;
  if (!chipName.empty() && !(chip = parseTarget(chipName)))
    return ExitUsage;
  std::string text;
  llvm::raw_string_ostream stream(text);
  printSupportMatrix(stream, chip);
  if (Error error = writeOutput("-", text))
    return reportFailure(error.message());
  return ExitSuccess;
}

/// The chips of --target; success, or an exit code after an error.
static int readTargets(const CommandLine &line,
                       std::vector<const Chip *> &targets) {
  std::string text = line.get("target");
  if (text.empty())
    return reportUsage("expected --target=CHIP");
  SmallVector<StringRef> names = {text};
  if (line.has("bundle")) {
    names.clear();
    StringRef(text).split(names, ',');
  }
  for (StringRef name : names) {
    const Chip *chip = parseTarget(name);
    if (!chip)
      return ExitUsage;
    if (llvm::is_contained(targets, chip))
      return reportUsage("expected each chip once in --target, got " + name +
                         " twice");
    targets.push_back(chip);
  }
  auto isCpu = [](const Chip *chip) { return chip->isCpu(); };
  if (targets.size() > 1 && llvm::any_of(targets, isCpu))
    return reportUsage("expected GPUs as --target for --bundle, got cpu");
  if (targets.size() > 1 && line.has("emulate-on"))
    return reportUsage("expected one chip in --target for --emulate-on, got " +
                       Twine(targets.size()));
  return ExitSuccess;
}

/// Chips and versions; success, or an exit code after an error.
static int readOptions(const CommandLine &line, Job &job) {
  GpuCompileOptions &options = job.options;
  if (int code = readTargets(line, job.targets))
    return code;
  options.target = job.targets.front();
  if (line.has("ptx-version") &&
      !parsePtxVersion(line.get("ptx-version"), options.ptxVersion))
    return ExitUsage;
  if (line.has("emulate-on")) {
    options.emulateOn = parseTarget(line.get("emulate-on"));
    if (!options.emulateOn)
      return ExitUsage;
    if (options.emulateOn->isCpu())
      return reportUsage("expected a GPU for --emulate-on, got cpu");
  }
  options.nativeOnly = line.has("native-only");
  options.noWorkspace = line.has("no-workspace");
  options.explain = line.has("explain");
  options.schedule = line.get("schedule");
  return ExitSuccess;
}

/// The stage to stop at; null after an error.
static const Stage *readStage(const CommandLine &line, const Chip &chip) {
  std::string name = line.has("emit") ? line.get("emit")
                     : chip.isCpu()   ? "llvm"
                                      : "ptx";
  const Stage *stage = findStage(name);
  if (!stage)
    reportUsage("unknown stage '" + name +
                "', expected one of tile kernel instr nvvm llvm ptx cubin");
  else if (chip.isCpu() && !stage->buildForCpu)
    reportUsage("the target cpu has no stage '" + name +
                "', expected one of tile kernel llvm");
  else
    return stage;
  return nullptr;
}

/// What has no place beside --bundle; success, or an exit code after an error.
static int checkBundle(const CommandLine &line, const Stage &stage) {
  for (const char *flag : {"o", "launch-info"})
    if (line.has(flag))
      return reportUsage(Twine("expected no ") +
                         (StringRef(flag).size() == 1 ? "-" : "--") + flag +
                         " beside --bundle, which has it");
  if (stage.gpuStage < GpuStage::PTX)
    return reportUsage("expected ptx or cubin as --emit for --bundle, got " +
                       stage.name);
  return ExitSuccess;
}

/// Layouts instead of code. Success, or an exit code after an error.
static int readLayouts(const CommandLine &line, Job &job) {
  job.wantsLayouts = line.has("print-layout");
  if (!job.wantsLayouts)
    return line.has("layout-format")
               ? reportUsage("expected --print-layout for --layout-format")
               : ExitSuccess;
  for (StringRef flag : {"emit", "launch-info", "explain", "bundle"})
    if (line.has(flag))
      return reportUsage("expected no --" + flag + " beside --print-layout");
  job.layout = line.get("print-layout");
  ArrayRef<StringRef> names = getLayoutNames();
  if (!job.layout.empty() && !llvm::is_contained(names, job.layout))
    return reportUsage("unknown layout '" + Twine(job.layout) +
                       "', expected one of " + llvm::join(names, " "));
  std::string format =
      line.has("layout-format") ? line.get("layout-format") : "text";
  if (!llvm::is_contained({"text", "json"}, format))
    return reportUsage("unknown format '" + Twine(format) +
                       "', expected one of text json");
  job.wantsJson = format == "json";
  job.options.stage = GpuStage::Kernel;
  return ExitSuccess;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  auto parsed = parseCommandLine(argc, argv, usage, flags);
  if (auto *code = std::get_if<ExitCode>(&parsed))
    return *code;
  const auto &line = std::get<CommandLine>(parsed);
  if (line.positional.size() > 1)
    return reportUsage("Too many positional arguments specified! Expected one "
                       "input file, got " +
                       Twine(line.positional.size()));
  if (line.has("print-support-matrix"))
    return printMatrix(line.get("print-support-matrix"));
  if (line.positional.empty())
    return reportUsage("expected an input file");

  Job job;
  job.input = line.positional.front();
  job.output = line.has("o") ? line.get("o") : "-";
  if (line.has("entry"))
    job.entry = line.get("entry");
  if (line.has("launch-info"))
    job.launchInfo = line.get("launch-info");
  if (!parseRaise(line, job.wantsRaise, job.assumesPositiveScales))
    return ExitUsage;
  if (job.wantsRaise)
    job.options.raising = Raising::None; // It is done before.
  if (int code = readOptions(line, job))
    return code;
  bool isCpu = job.options.target->isCpu();
  const Stage *stage = readStage(line, *job.options.target);
  if (!stage || (line.has("schedule") && !checkSchedule(job.options.schedule)))
    return ExitUsage;
  if (isCpu)
    if (int code = checkNeeds(line, flags, "--target=cpu"))
      return code;
  job.options.stage = stage->gpuStage;
  if (line.has("bundle")) {
    job.bundle = line.get("bundle");
    if (int code = checkBundle(line, *stage))
      return code;
  }
  if (int code = readLayouts(line, job))
    return code;
  if (job.launchInfo && stage->gpuStage < GpuStage::Kernel)
    return reportUsage("the stage 'tile' has no launches for --launch-info");
  return compile(*stage, job);
}
