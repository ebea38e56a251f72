//===- blockscale-run.cpp - Run one function of a program -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"
#include "blockscale/Driver/CommandLine.h"
#include "blockscale/Driver/Comparison.h"
#include "blockscale/Driver/CpuExecution.h"
#include "blockscale/Driver/ElementStorage.h"
#include "blockscale/Driver/GpuRun.h"
#include "blockscale/Driver/InputChecks.h"
#include "blockscale/Runtime/ArrayPrinter.h"
#include "blockscale/Runtime/OutputFile.h"
#include "blockscale/Simulator/SimulatorFlags.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"

#include <deque>

using namespace mlir;
using namespace mlir::blockscale;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static cl::OptionCategory category("blockscale-run options");

static cl::list<std::string>
    files(cl::Positional, cl::desc("IN.mlir [IN.npy]..."), cl::cat(category));
static cl::opt<std::string>
    entryName("entry",
              cl::desc("The function; needed where several are public"),
              cl::value_desc("NAME"), cl::cat(category));
static cl::opt<std::string> device("device",
                                   cl::desc("cpu (the default), sim or cuda"),
                                   cl::value_desc("DEVICE"), cl::init("cpu"),
                                   cl::cat(category));
static cl::opt<std::string> target(
    "target",
    cl::desc(
        "The chip to compile for; the default is sm_120a for sim, for cuda the "
        "card's"),
    cl::value_desc("CHIP"), cl::cat(category));
static cl::opt<std::string> ptxVersion("ptx-version",
                                       cl::desc("PTX version, 87 for 8.7"),
                                       cl::value_desc("N"), cl::cat(category));
static cl::opt<bool> nativeOnly(
    "native-only",
    cl::desc("Refuse an op that no block-scaled instruction computes"),
    cl::cat(category));
static cl::opt<std::string>
    schedule("schedule",
             cl::desc("Tile sizes, warps and stages: tile=128x128x128,"
                      "warps=2x2,stages=3"),
             cl::value_desc("S"), cl::cat(category));
static cl::opt<bool>
    wantsTime("time",
              cl::desc("Print the median time of some repetitions, for cuda"),
              cl::cat(category));
static cl::opt<bool>
    wantsComparison("compare",
                    cl::desc("Compare with the reference; fail where an error "
                             "is over its bound"),
                    cl::cat(category));
static cl::opt<std::string>
    seed("seed", cl::desc("Draw the arguments at random, from this seed"),
         cl::value_desc("N"), cl::cat(category));
static cl::list<std::string>
    outputs("o",
            cl::desc("Store a result in a .npy file instead of printing; once "
                     "for each result, in order"),
            cl::value_desc("OUT.npy"), cl::cat(category));

/// Flags that are known by a table, which the command line library sees as
/// strings.
class TableFlags {
public:
  explicit TableFlags(const std::vector<Flag> &table) {
    for (const Flag &flag : table) {
      names.emplace_back(flag.name);
      texts.emplace_back(flag.help);
      options.push_back(std::make_unique<cl::opt<std::string>>(
          StringRef(names.back()), cl::desc(texts.back()),
          cl::value_desc(flag.value), cl::cat(category),
          flag.isValueOptional ? cl::ValueOptional
          : flag.value.empty() ? cl::ValueDisallowed
                               : cl::ValueRequired));
    }
  }

  /// Those that were given, with their values.
  CommandLine get() const {
    CommandLine line;
    for (const auto &option : options)
      if (option->getNumOccurrences())
        line.flags[option->ArgStr.str()] = option->getValue();
    return line;
  }

private:
  // The options keep views of these.
  std::deque<std::string> names, texts;
  std::vector<std::unique_ptr<cl::opt<std::string>>> options;
};

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

/// One array per argument, from the files or drawn; nullopt after an error has
/// been printed.
static std::optional<std::vector<NpyArray>>
makeArguments(ArrayRef<RankedTensorType> types, ArrayRef<std::string> paths,
              uint64_t seedNumber) {
  std::vector<NpyArray> arguments;
  std::mt19937_64 engine(seedNumber);
  for (auto [i, type] : llvm::enumerate(types)) {
    Result<NpyArray> array =
        paths.empty() ? drawArgument(type, engine) : readNpy(paths[i]);
    if (!array) {
      reportFailure(array.message());
      return std::nullopt;
    }
    if (Error error = checkArgument(*array, type)) {
      reportFailure("'" + paths[i] + "': argument #" + Twine(i) + ": " +
                    error.message());
      return std::nullopt;
    }
    arguments.push_back(std::move(*array));
  }
  return arguments;
}

static int giveResults(ArrayRef<NpyArray> results) {
  if (outputs.empty()) {
    std::string text;
    for (const NpyArray &result : results)
      text += printArray(result) + "\n";
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
struct RunOptions {
  /// Of arguments.
  uint64_t seed = 0;
  GpuRunOptions gpu;
  sim::Options simulator;
  std::string statisticsPath;
};
} // namespace

static int executeOnCpu(Program &program, func::FuncOp entry,
                        std::vector<NpyArray> arguments) {
  // What the function does not call is not computed, and may be anything.
  if (nativeOnly && (failed(program.keepOnly(entry)) ||
                     failed(checkNativeOnCpu(program.getModule()))))
    return ExitFailure;
  FailureOr<std::vector<NpyArray>> results =
      runOnCpu(program, entry, std::move(arguments));
  if (failed(results))
    return ExitFailure;
  return giveResults(*results);
}

/// "0.1230 ms, 4.56 TFLOP/s".
static void printTime(double milliseconds, std::optional<double> flops) {
  llvm::errs() << llvm::format("%.4f ms", milliseconds);
  if (flops && milliseconds > 0)
    llvm::errs() << llvm::format(", %.4g TFLOP/s",
                                 *flops / milliseconds * 1e-9);
  llvm::errs() << "\n";
}

/// Prints how far results are from the reference; fails where that is too far.
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

static int executeOnGpu(Program &program, func::FuncOp entry,
                        std::vector<NpyArray> arguments,
                        const RunOptions &options) {
  double milliseconds = 0;
  std::unique_ptr<GpuDevice> gpu;
  if (device == "cuda") {
    Result<std::unique_ptr<GpuDevice>> card =
        openCudaDevice(wantsTime ? &milliseconds : nullptr);
    if (!card)
      return reportFailure(card.message());
    gpu = std::move(*card);
  } else {
    gpu = makeSimulatedDevice(options.simulator, options.statisticsPath);
  }
  std::optional<Reference> reference;
  if (wantsComparison) {
    FailureOr<Reference> computed =
        computeReference(program, entry.getSymName(), arguments);
    if (failed(computed))
      return ExitFailure;
    reference = std::move(*computed);
  }
  FailureOr<GpuRun> run =
      compileAndRun(program, entry, std::move(arguments), options.gpu, *gpu);
  if (failed(run))
    return ExitFailure;
  if (int code = giveResults(run->results))
    return code;
  if (int code = compare(reference, run->results))
    return code;
  if (wantsTime)
    printTime(milliseconds, run->flops);
  return ExitSuccess;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

static int run(const RunOptions &options) {
  std::string source = files.front();
  ArrayRef<std::string> arrays = ArrayRef<std::string>(files).drop_front();
  std::unique_ptr<Program> program = Program::parse(source);
  if (!program)
    return ExitFailure;
  bool isAmbiguous;
  Result<func::FuncOp> entry = program->getEntry(entryName, isAmbiguous);
  if (!entry) {
    reportFailure("'" + source + "': " + entry.message());
    return isAmbiguous ? ExitUsage : ExitFailure;
  }

  FailureOr<std::vector<RankedTensorType>> types = getArgumentTypes(*entry);
  if (failed(types))
    return ExitFailure;
  bool isDrawn = seed.getNumOccurrences();
  if (isDrawn && !arrays.empty())
    return reportUsage("expected no .npy files beside --seed, which draws all "
                       "arguments, got " +
                       Twine(arrays.size()));
  if (arrays.size() != types->size() && !isDrawn)
    return reportUsage("expected " + Twine(types->size()) +
                       " .npy files, one for each argument of '" +
                       entry->getSymName() + "'" +
                       (arrays.empty() ? ", or --seed" : "") + ", got " +
                       Twine(arrays.size()));
  unsigned numResults = entry->getNumResults();
  if (!outputs.empty() && outputs.size() != numResults)
    return reportUsage("expected -o once for each of the " + Twine(numResults) +
                       " results of '" + entry->getSymName() + "', got " +
                       Twine(outputs.size()));

  std::optional<std::vector<NpyArray>> arguments =
      makeArguments(*types, arrays, options.seed);
  if (!arguments)
    return ExitFailure;
  if (device != "cpu")
    return executeOnGpu(*program, *entry, std::move(*arguments), options);
  return executeOnCpu(*program, *entry, std::move(*arguments));
}

int main(int argc, char **argv) {
  llvm::InitLLVM initLLVM(argc, argv);
  dropForeignOptions(category);
  std::vector<Flag> simulatorTable = sim::getSimulatorFlags();
  simulatorTable.push_back(
      {"sim-seed", "N", "The simulator's seed; the default is 0"});
  TableFlags simulatorFlags(simulatorTable);
  if (!parseCommandLine(argc, argv,
                        "blockscale-run: run one function of a program\n"))
    return ExitUsage;
  if (files.empty())
    return reportUsage("expected an input file");
  if (device != "cpu" && device != "sim" && device != "cuda")
    return reportUsage("unknown device '" + device +
                       "', expected one of cpu sim cuda");
  RunOptions options;
  const Chip *&chip = options.gpu.target;
  options.gpu.nativeOnly = nativeOnly;
  options.gpu.schedule = schedule;
  if (schedule.getNumOccurrences() && !checkSchedule(schedule))
    return ExitUsage;
  if (target.getNumOccurrences() && !(chip = parseTarget(target)))
    return ExitUsage;
  if (seed.getNumOccurrences() && !parseNumber("--seed", seed, options.seed))
    return ExitUsage;
  if (ptxVersion.getNumOccurrences() &&
      !parsePtxVersion(ptxVersion, options.gpu.ptxVersion))
    return ExitUsage;
  CommandLine simulatorLine = simulatorFlags.get();
  if (Error error = sim::parseSimulatorFlags(simulatorLine, "sim-seed",
                                             options.simulator))
    return reportUsage(error.message());
  options.statisticsPath = sim::getStatisticsPath(simulatorLine);
  if (device != "cpu" && chip && chip->isCpu())
    return reportUsage("expected a GPU for --device=" + device +
                       ", got --target=cpu");

  if (device == "cpu" && chip && !chip->isCpu())
    return reportUnsupported("--target=" + target + " with --device=cpu");
  for (auto [option, only] :
       std::initializer_list<std::pair<cl::Option *, StringRef>>{
           {&ptxVersion, "cpu"},
           {&schedule, "cpu"},
           {&wantsTime, "cpu"},
           {&wantsTime, "sim"},
           {&wantsComparison, "cpu"}})
    if (device == only && option->getNumOccurrences())
      return reportUnsupported("--" + option->ArgStr +
                               " with --device=" + only);
  if (device != "sim" && !simulatorLine.flags.empty())
    return reportUnsupported("--" + simulatorLine.flags.begin()->first +
                             " with --device=" + device);
  return run(options);
}
