//===- blockscale-run.cpp - Run one function of a program -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs one function on a device and prints or compares the results: the command
// line and the order of its checks.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Driver/CommandLine.h"
#include "blockscale/Driver/Comparison.h"
#include "blockscale/Driver/CpuExecution.h"
#include "blockscale/Driver/Destinations.h"
#include "blockscale/Driver/ElementStorage.h"
#include "blockscale/Driver/GpuRun.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Driver/LevelPrinting.h"
#include "blockscale/Driver/ScaleArguments.h"
#include "blockscale/Driver/Tuning.h"
#include "blockscale/Runtime/ArrayPrinter.h"
#include "blockscale/Runtime/OutputFile.h"
#include "blockscale/Simulator/SimulatorFlags.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

/// The devices that some flags need.
static constexpr std::string_view gpuDevices = "--device=sim or --device=cuda",
                                  simulator = "--device=sim",
                                  card = "--device=cuda";

static std::vector<Flag> getFlags() {
  std::vector<Flag> flags = {
      {"entry", "NAME", "The function to run; needed if several are public"},
      {"device", "DEVICE", "Where to run: cpu (the default), sim or cuda"},
      getRaiseFlag(),
      {"native-only", "",
       "Refuse ops for which the chip has no block-scaled instruction"},
      getAccumulateFlag(),
      getRebaseFlag(),
      {"seed", "N", "Draw random arguments from this seed"},
      {"o", "OUT.npy",
       "Store a result in a .npy file instead of printing it; give it once for "
       "each result, in order",
       /*isValueOptional=*/false, /*isRepeatable=*/true},
      {"target", "CHIP",
       "The chip to compile for; the default is sm_120a for sim and the card's "
       "chip for cuda"},
  };
  auto add = [&](Flag flag, std::string_view needs) {
    flag.needs = needs;
    flags.push_back(flag);
  };
  add({"ptx-version", "N", "The PTX version, such as 8.7 or 87"}, gpuDevices);
  add({"emulate-on", "CHIP",
       "Run on this chip, with the target's instructions emulated in software"},
      gpuDevices);
  add({"no-workspace", "",
       "Choose kernels that need no workspace (memory besides arguments and "
       "results), and refuse functions that cannot do without"},
      gpuDevices);
  add({"schedule", "S",
       "The schedule of matrix multiplications, such as "
       "tile=128x256x128,stages=4,accumulators=2,persistent=1 on tcgen05 or "
       "tile=128x128x128,warps=2x2,stages=3 on mma.sync"},
      gpuDevices);
  add({"compare", "",
       "Compare the results with the reference; fail if an error exceeds its "
       "bound"},
      gpuDevices);
  for (const Flag &flag : sim::getSimulatorFlags())
    add(flag, simulator);
  add({"sim-seed", "N", "The seed of the simulator; the default is 0"},
      simulator);
  add({"time", "", "Print the median time of several runs"}, card);
  add({"tune", "",
       "Measure the schedules of each matrix multiplication and print the "
       "fastest one"},
      card);
  add({"check-memory", "",
       "Report a write just outside of a buffer as an error"},
      card);
  return flags;
}

static constexpr StringRef usage =
    "blockscale-run IN.mlir [IN.npy]... [FLAG]...\n"
    "\n"
    "Runs one function of a program on the CPU, in the simulator or on a CUDA "
    "card.";

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

/// One array per argument, from the files or drawn; nullopt after an error has
/// been printed.
static std::optional<std::vector<NpyArray>>
makeArguments(func::FuncOp function, ArrayRef<RankedTensorType> types,
              ArrayRef<std::string> paths, uint64_t seedNumber) {
  std::vector<NpyArray> arguments;
  std::mt19937_64 engine(seedNumber);
  for (auto [i, type] : llvm::enumerate(types)) {
    Result<NpyArray> array =
        paths.empty()
            ? drawArgument(type, becomesScales(function.getArgument(i)), engine)
            : readNpy(paths[i]);
    if (!array) {
      reportFailure(array.message());
      return std::nullopt;
    }
    if (paths.empty() && becomesMetadata(function.getArgument(i)))
      makeLegalMetadata(*array);
    if (Error error = checkArgument(*array, type)) {
      reportFailure("'" + paths[i] + "': argument #" + Twine(i) + ": " +
                    error.message());
      return std::nullopt;
    }
    arguments.push_back(std::move(*array));
  }
  return arguments;
}

/// How to print the elements of each result of a function.
static SmallVector<Elements> getResultElements(func::FuncOp function) {
  return llvm::map_to_vector(function.getResultTypes(), [](Type type) {
    return getElementTypeOrSelf(type).isBF16() ? Elements::BFloat16
                                               : Elements::Plain;
  });
}

static int giveResults(ArrayRef<NpyArray> results, ArrayRef<Elements> elements,
                       ArrayRef<std::string> outputs) {
  if (outputs.empty()) {
    std::string text;
    for (auto [result, kind] : llvm::zip_equal(results, elements))
      text += printArray(result, kind) + "\n";
    if (Error error = writeOutput("-", text))
      return reportFailure(error.message());
    return ExitSuccess;
  }
  OutputSet set;
  for (auto [path, result] : llvm::zip_equal(outputs, results))
    if (Error error = set.add(path, serializeNpy(result)))
      return reportFailure(error.message());
  if (Error error = set.commit())
    return reportFailure(error.message());
  return ExitSuccess;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

namespace {
/// What the command line asks for.
struct RunOptions {
  std::string source, entry, device = "cpu";
  /// The files of the arguments, or the seed to draw them from.
  std::vector<std::string> files;
  std::optional<uint64_t> seed;
  std::vector<std::string> outputs;
  bool wantsTime = false, wantsTuning = false, checksMemory = false;
  bool wantsComparison = false;
  bool wantsRaise = false, assumesPositiveScales = false;
  GpuRunOptions gpu;
  sim::Options simulator;
  sim::ReportPaths reportPaths;
};
} // namespace

static int executeOnCpu(Program &program, func::FuncOp entry,
                        std::vector<NpyArray> arguments,
                        const RunOptions &options) {
  // Functions that `entry` does not call need no native instructions.
  if (options.gpu.nativeOnly && (failed(program.keepOnly(entry)) ||
                                 failed(checkNativeOnCpu(program.getModule()))))
    return ExitFailure;
  SmallVector<Elements> elements = getResultElements(entry);
  FailureOr<std::vector<NpyArray>> results =
      runOnCpu(program, entry, std::move(arguments));
  if (failed(results))
    return ExitFailure;
  return giveResults(*results, elements, options.outputs);
}

/// "0.1230 ms, 4.56 TFLOP/s".
static void printTime(double milliseconds, std::optional<double> flops) {
  llvm::errs() << llvm::format("%.4f ms", milliseconds);
  if (flops && milliseconds > 0)
    llvm::errs() << llvm::format(", %.4g TFLOP/s",
                                 *flops / milliseconds * 1e-9);
  llvm::errs() << "\n";
}

/// Prints the errors of the results; fails if one exceeds its bound.
static int compare(const std::optional<Reference> &reference,
                   const std::vector<NpyArray> &results) {
  if (!reference)
    return ExitSuccess;
  std::string lines;
  if (Error error = compareResults(*reference, results, lines))
    return reportFailure(error.message());
  llvm::errs() << lines;
  return ExitSuccess;
}

/// Measures schedules and prints their times instead of results.
static int tune(Program &program, func::FuncOp entry,
                std::vector<NpyArray> arguments,
                const std::optional<Reference> &reference,
                const RunOptions &options) {
  TuneOptions tuning;
  tuning.gpu = options.gpu;
  tuning.checksMemory = options.checksMemory;
  tuning.reference = reference ? &*reference : nullptr;
  auto print = [](const std::string &text) { return writeOutput("-", text); };
  return succeeded(
             tuneSchedules(program, entry, std::move(arguments), tuning, print))
             ? ExitSuccess
             : ExitFailure;
}

static int executeOnGpu(Program &program, func::FuncOp entry,
                        std::vector<NpyArray> arguments,
                        const RunOptions &options) {
  double milliseconds = 0;
  std::unique_ptr<GpuDevice> gpu;
  if (options.device == "cuda") {
    CudaRunOptions cuda;
    cuda.milliseconds = options.wantsTime ? &milliseconds : nullptr;
    cuda.checksMemory = options.checksMemory;
    Result<std::unique_ptr<GpuDevice>> card = openCudaDevice(cuda);
    if (!card)
      return reportFailure(card.message());
    gpu = std::move(*card);
  } else {
    gpu = makeSimulatedDevice(options.simulator, options.reportPaths);
  }
  std::optional<Reference> reference;
  if (options.wantsComparison) {
    FailureOr<Reference> computed =
        computeReference(program, entry.getSymName(), arguments);
    if (failed(computed))
      return ExitFailure;
    reference = std::move(*computed);
  }
  if (options.wantsTuning) {
    // Each measurement opens the card itself.
    gpu.reset();
    return tune(program, entry, std::move(arguments), reference, options);
  }
  SmallVector<Elements> elements = getResultElements(entry);
  FailureOr<GpuRun> run =
      compileAndRun(program, entry, std::move(arguments), options.gpu, *gpu);
  if (failed(run))
    return ExitFailure;
  if (int code = giveResults(run->results, elements, options.outputs))
    return code;
  if (int code = compare(reference, run->results))
    return code;
  if (options.wantsTime)
    printTime(milliseconds, run->flops);
  return ExitSuccess;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

/// Checks the number of files and outputs against the function. Success, or an
/// exit code after an error.
static int checkCounts(func::FuncOp entry, const RunOptions &options,
                       size_t numArguments) {
  size_t numFiles = options.files.size();
  if (options.seed && numFiles != 0)
    return reportUsage("expected no .npy files with --seed, which draws all "
                       "arguments, got " +
                       Twine(numFiles));
  if (numFiles != numArguments && !options.seed)
    return reportUsage(
        "expected " + Twine(numArguments) +
        " .npy files, one for each argument of '" + entry.getSymName() + "'" +
        (numFiles == 0 ? ", or --seed" : "") + ", got " + Twine(numFiles));
  unsigned numResults = entry.getNumResults();
  if (!options.outputs.empty() && options.outputs.size() != numResults)
    return reportUsage("expected -o once for each of the " + Twine(numResults) +
                       " results of '" + entry.getSymName() + "', got " +
                       Twine(options.outputs.size()));
  return ExitSuccess;
}

static int run(const RunOptions &options) {
  std::unique_ptr<Program> program = Program::parse(options.source);
  if (!program ||
      (options.wantsRaise &&
       failed(program->raise(options.assumesPositiveScales))) ||
      failed(program->license(options.gpu.accumulation)))
    return ExitFailure;
  FailureOr<StringRef> level = getPrintedLevel(program->getModule());
  if (failed(level))
    return ExitFailure;
  if (!level->empty() && *level != "tile")
    return reportFailure(
        "'" + options.source +
        "': expected a program, got one lowered to the level " + *level +
        "; only blockscale-compile takes these");
  bool isAmbiguous;
  Result<func::FuncOp> entry = program->getEntry(options.entry, isAmbiguous);
  if (!entry) {
    reportFailure("'" + options.source + "': " + entry.message());
    return isAmbiguous ? ExitUsage : ExitFailure;
  }
  // Other functions may use memory in any way.
  if (failed(returnDestinations(*entry)))
    return ExitFailure;
  FailureOr<std::vector<RankedTensorType>> types = getArgumentTypes(*entry);
  if (failed(types))
    return ExitFailure;
  if (int code = checkCounts(*entry, options, types->size()))
    return code;
  std::optional<std::vector<NpyArray>> arguments =
      makeArguments(*entry, *types, options.files, options.seed.value_or(0));
  if (!arguments)
    return ExitFailure;
  if (options.device != "cpu")
    return executeOnGpu(*program, *entry, std::move(*arguments), options);
  return executeOnCpu(*program, *entry, std::move(*arguments), options);
}

/// Reads the values of the flags. Success, or an exit code after an error.
static int readOptions(const CommandLine &line, RunOptions &options) {
  if (line.has("device"))
    options.device = line.get("device");
  if (!llvm::is_contained({"cpu", "sim", "cuda"}, options.device))
    return reportUsage("unknown device '" + options.device +
                       "', expected one of cpu sim cuda");
  options.entry = line.get("entry");
  options.outputs = line.getAll("o");
  if (!parseRaise(line, options.wantsRaise, options.assumesPositiveScales))
    return ExitUsage;
  options.gpu.raising = options.wantsRaise ? Raising::None : Raising::Report;
  options.wantsTime = line.has("time");
  options.wantsTuning = line.has("tune");
  options.checksMemory = line.has("check-memory");
  options.wantsComparison = line.has("compare");
  options.gpu.nativeOnly = line.has("native-only");
  options.gpu.schedule = line.get("schedule");
  if (line.has("schedule") && !checkSchedule(options.gpu.schedule))
    return ExitUsage;
  if (line.has("target") &&
      !(options.gpu.target = parseTarget(line.get("target"))))
    return ExitUsage;
  if (line.has("emulate-on") &&
      !(options.gpu.emulateOn = parseTarget(line.get("emulate-on"))))
    return ExitUsage;
  if (int code = readAccumulation(line, options.gpu.accumulation))
    return code;
  options.gpu.noWorkspace = line.has("no-workspace");
  if (line.has("seed") &&
      !parseNumber("--seed", line.get("seed"), options.seed.emplace()))
    return ExitUsage;
  if (line.has("ptx-version") &&
      !parsePtxVersion(line.get("ptx-version"), options.gpu.ptxVersion))
    return ExitUsage;
  if (Error error =
          sim::parseSimulatorFlags(line, "sim-seed", options.simulator))
    return reportUsage(error.message());
  std::vector<sim::NamedOutput> results;
  for (const std::string &path : options.outputs)
    results.push_back({"-o", path});
  if (results.empty())
    results.push_back({"the results", "-"});
  Result<sim::ReportPaths> paths =
      sim::getReportPaths(line, "/dev/stderr", results);
  if (!paths)
    return reportUsage(paths.message());
  options.reportPaths = *paths;
  return ExitSuccess;
}

/// Refuses flags that the device does not have. Success, or an exit code after
/// an error.
static int checkDevice(const CommandLine &line, const RunOptions &options) {
  const Chip *chip = options.gpu.target;
  const std::string &device = options.device;
  if (device != "cpu" && chip && chip->isCpu())
    return reportUsage("expected a GPU for --device=" + device +
                       ", got --target=cpu");
  if (device == "cpu" && chip && !chip->isCpu())
    return reportUsage("expected " + Twine(gpuDevices) + " for --target=" +
                       line.get("target") + ", got --device=cpu");
  if (int code = checkNeeds(line, getFlags(), "--device=" + device))
    return code;
  const Chip *other = options.gpu.emulateOn;
  if (other && other->isCpu())
    return reportUsage("expected a GPU for --emulate-on, got cpu");
  if (other && !chip)
    return reportUsage("expected --target for --emulate-on");
  // --tune prints times, not results, and tries all schedules.
  for (StringRef flag : {"schedule", "time", "o"})
    if (options.wantsTuning && line.has(flag))
      return reportUsage("expected no " + Twine(flag == "o" ? "-" : "--") +
                         flag + " beside --tune");
  return ExitSuccess;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  auto parsed = parseCommandLine(argc, argv, usage, getFlags());
  if (auto *code = std::get_if<ExitCode>(&parsed))
    return *code;
  const auto &line = std::get<CommandLine>(parsed);
  if (line.positional.empty())
    return reportUsage("expected an input file");
  RunOptions options;
  options.source = line.positional.front();
  options.files.assign(line.positional.begin() + 1, line.positional.end());
  options.gpu.files = options.files;
  if (int code = readOptions(line, options))
    return code;
  if (int code = checkDevice(line, options))
    return code;
  return run(options);
}
