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
#include "blockscale/Dialect/IR/PrintedLevel.h"
#include "blockscale/Driver/BundleCompilation.h"
#include "blockscale/Driver/CommandLine.h"
#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Driver/GpuOptions.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Driver/KernelLayouts.h"
#include "blockscale/Driver/LevelPrinting.h"
#include "blockscale/Driver/Program.h"
#include "blockscale/Driver/ProgramOps.h"
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

/// Flags that only GPU targets have need this.
static constexpr std::string_view gpuTarget = "a GPU as --target";

static const std::vector<Flag> flags = {
    {"target", "CHIP",
     "The chip to compile for, or cpu; with --bundle, several chips separated "
     "by commas"},
    {"entry", "NAME", "Compile this function and the functions it calls"},
    {"emit", "STAGE",
     "The stage to stop at: tile, kernel, instr, nvvm, llvm, ptx or cubin; the "
     "default is ptx, or llvm for cpu"},
    getRaiseFlag(),
    {"print-ir-after", "LEVEL",
     "Also print the program at this level to standard error: tile, kernel, "
     "instr or nvvm, or several separated by commas"},
    {"native-only", "",
     "Refuse ops for which the chip has no block-scaled instruction"},
    getAccumulateFlag(),
    getRebaseFlag(),
    {"no-workspace", "",
     "Choose kernels that need no workspace (memory besides arguments and "
     "results), and refuse functions that cannot do without",
     false, false, gpuTarget},
    {"ptx-version", "N", "The PTX version, such as 8.7 or 87", false, false,
     gpuTarget},
    {"schedule", "S",
     "The schedule of matrix multiplications, such as "
     "tile=128x256x128,stages=4,accumulators=2,persistent=1 on tcgen05 or "
     "tile=128x128x128,warps=2x2,stages=3 on mma.sync",
     false, false, gpuTarget},
    {"explain", "",
     "Print for each matrix multiplication the schedule, the time bound of "
     "each hardware unit and the estimated time, to standard error",
     false, false, gpuTarget},
    {"emulate-on", "CHIP",
     "Run on this chip, with the target's instructions emulated in software",
     false, false, gpuTarget},
    {"launch-info", "FILE", "Write to FILE how to launch the kernels, as JSON",
     false, false, gpuTarget},
    {"bundle", "FILE",
     "Write the code of all functions for all targets, and how to launch it, "
     "to one file; --emit=cubin adds machine code",
     false, false, gpuTarget},
    {"print-layout", "NAME",
     "Print how the kernels lay out their operands, for one layout or for all",
     /*isValueOptional=*/true, false, gpuTarget},
    {"layout-format", "FORMAT",
     "The format of --print-layout: text (the default) or json", false, false,
     gpuTarget},
    {"o", "OUT", "The output file; - (the default) is standard output"},
    {"print-support-matrix", "CHIP",
     "Print which type combinations are supported, for one chip or for all",
     /*isValueOptional=*/true},
};

static constexpr StringRef usage =
    "blockscale-compile IN.mlir --target=CHIP [FLAG]...\n"
    "       blockscale-compile LEVEL.mlir --target=CHIP [FLAG]...\n"
    "       blockscale-compile IN.mlir --target=CHIP --print-layout[=NAME]\n"
    "       blockscale-compile --print-support-matrix[=CHIP]\n"
    "\n"
    "Lowers block-scaled matrix multiplication to PTX or LLVM IR. The input is "
    "a program\nor the output of --emit or --print-ir-after.";

namespace {
/// What the command line asks for.
struct Job {
  std::string input, output;
  /// Null for all functions.
  std::optional<std::string> entry;
  std::optional<std::string> launchInfo;
  std::optional<std::string> bundle;
  /// The levels to print to standard error.
  SmallVector<StringRef> printAfter;
  /// One target, or several for a bundle.
  std::vector<const Chip *> targets;
  bool wantsRaise = false, assumesPositiveScales = false;
  /// Print layouts instead of code; an empty name means all layouts.
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

/// The first stage to run for a program, or for one that was printed at
/// `level`; null after an error has been printed.
static const Stage *findFirstStage(ModuleOp module, StringRef level,
                                   const Stage &lastStage) {
  if (level.empty())
    return stages;
  if (auto target = module->getAttrOfType<TargetAttr>(kTargetAttrName)) {
    reportFailure("expected " + Twine(target.getChip()->name) +
                  " as target, for which the input was lowered, got cpu");
    return nullptr;
  }
  const Stage *done = findStage(level);
  if (done > &lastStage) {
    reportFailure("expected the stage " + level +
                  " or a later one for a program at that level, got " +
                  lastStage.name);
    return nullptr;
  }
  return done + 1;
}

static int compileForCpu(Program &program, const Stage &lastStage,
                         const Job &job) {
  ModuleOp module = program.getModule();
  ProgramOps programOps(module);
  FailureOr<StringRef> level = getPrintedLevel(module);
  if (failed(level))
    return ExitFailure;
  const Stage *first = findFirstStage(module, *level, lastStage);
  if (!first || failed(checkInput(module)) ||
      (job.options.nativeOnly && failed(checkNativeOnCpu(module))))
    return ExitFailure;
  module->removeAttr(kLevelAttrName);
  for (const Stage *stage = first; stage <= &lastStage; ++stage) {
    if (stage->buildForCpu && failed(program.run(stage->buildForCpu)))
      return ExitFailure;
    if (llvm::is_contained(job.printAfter, stage->name)) {
      llvm::errs() << "// after " << stage->name << "\n"
                   << printLevel(module, stage->name);
      module->removeAttr(kLevelAttrName);
    }
  }

  std::string text;
  if (lastStage.name == "llvm") {
    if (failed(checkLowered(module)))
      return ExitFailure;
    text = translateToLLVMIR(module);
    if (text.empty())
      return ExitFailure;
  } else {
    text = printLevel(module, lastStage.name);
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

/// Prints the layouts of all kernels of a program, or the one that was asked
/// for in the kernels that have it.
static int printKernelLayouts(Program &program, const Job &job) {
  if (failed(compileForGpu(program.getModule(), job.options)))
    return ExitFailure;
  std::vector<KernelLayouts> kernels = getKernelLayouts(program.getModule());
  if (kernels.empty())
    return reportFailure("not supported in this version: layouts of a program "
                         "without tensor-core kernels");
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

/// Refuses flags that need functions on tensors when the input is at a level
/// with kernels. Success, or an exit code after an error.
static int checkLevel(Program &program, const Job &job) {
  FailureOr<StringRef> level = getPrintedLevel(program.getModule());
  if (failed(level))
    return ExitFailure;
  if (level->empty() || *level == "tile")
    return ExitSuccess;
  const std::pair<bool, StringLiteral> others[] = {
      {job.entry.has_value(), "--entry"},
      {job.bundle.has_value(), "--bundle"},
      {job.wantsRaise, "--raise"},
      {job.options.nativeOnly, "--native-only"},
      {job.options.accumulation.chunk != 0, "--accumulate"},
  };
  for (auto [isGiven, flag] : others)
    if (isGiven)
      return reportFailure("'" + job.input + "': expected no " + flag +
                           " for a program at the level " + *level +
                           ", where this is already decided");
  return ExitSuccess;
}

static int compile(const Stage &lastStage, const Job &job) {
  std::unique_ptr<Program> program = Program::parse(job.input);
  if (!program)
    return ExitFailure;
  program->dropSchedules();
  if (int code = checkLevel(*program, job))
    return code;
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
    return succeeded(program->license(job.options.accumulation))
               ? compileForCpu(*program, lastStage, job)
               : ExitFailure;
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
  if (!line.has("target"))
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
  for (const GpuOption &option : getGpuOptions()) {
    // These are read elsewhere, since the CPU has them too.
    if (llvm::is_contained({"target", "raise", "emit", "accumulate", "rebase"},
                           option.name) ||
        !line.has(option.name.str()))
      continue;
    if (Error error = option.set(options, "--" + option.name.str(),
                                 line.get(option.name.str())))
      return reportUsage(error.message());
  }
  return readAccumulation(line, options.accumulation);
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

/// Reads the levels of --print-ir-after, which may not be later than
/// `lastStage`. Success, or an exit code after an error.
static int readPrintAfter(StringRef text, const Stage &lastStage, Job &job) {
  SmallVector<StringRef> names;
  text.split(names, ',');
  for (StringRef name : names) {
    const Stage *stage = findStage(name);
    bool isCpu = job.options.target->isCpu();
    if (!stage || stage->gpuStage > GpuStage::NVVM ||
        (isCpu && !stage->buildForCpu))
      return reportUsage("unknown level '" + name + "', expected one of " +
                         (isCpu ? "tile kernel" : "tile kernel instr nvvm") +
                         " for --print-ir-after");
    if (stage > &lastStage)
      return reportUsage("expected a level up to that of --emit, " +
                         lastStage.name + ", for --print-ir-after, got " +
                         name);
    job.printAfter.push_back(stage->name);
    job.options.printAfter.push_back(stage->gpuStage);
  }
  return ExitSuccess;
}

/// Refuses flags that --bundle excludes. Success, or an exit code after an
/// error.
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
  for (StringRef flag :
       {"emit", "launch-info", "explain", "bundle", "print-ir-after"})
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
    job.options.raising = Raising::None; // compile() raises before lowering.
  if (int code = readOptions(line, job))
    return code;
  bool isCpu = job.options.target->isCpu();
  const Stage *stage = readStage(line, *job.options.target);
  if (!stage)
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
  std::string levels = line.get("print-ir-after");
  if (line.has("print-ir-after"))
    if (int code = readPrintAfter(levels, *stage, job))
      return code;
  if (job.launchInfo && stage->gpuStage < GpuStage::Kernel)
    return reportUsage("the stage 'tile' has no launches for --launch-info");
  return compile(*stage, job);
}
