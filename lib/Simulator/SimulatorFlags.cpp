//===- SimulatorFlags.cpp - The simulator's flags -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses and checks the flags that blockscale-sim and blockscale-run share.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Simulator/SimulatorFlags.h"

#include "blockscale/Runtime/OutputFile.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Threading.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::vector<Flag> sim::getSimulatorFlags() {
  return {
      {"jobs", "N",
       "How many blocks run at the same time; the default is one for "
       "each core"},
      {"max-steps", "N",
       "How many instructions all warps may execute together; the default is "
       "2^34"},
      {"check", "LIST",
       "Make errors of: race (the default), proxy (missing proxy fences), "
       "strict (what shipped kernels rely on but the ISA does not promise), "
       "all, or "
       "none; in a list, none removes the checks before it"},
      {"allow-undefined-output", "",
       "Undefined bytes in outputs are a warning and not an error"},
      {"numerics", "KIND",
       "How matrix instructions round: exact (the default: once) or hardware "
       "(a model of the tensor core)"},
      {"multiprocessors", "N",
       "The number of SMs that kernels see (the default is 4) and that times "
       "are estimated for (the default is the whole chip)"},
      {"trace", "FILE",
       "Write a timeline of warps and asynchronous units, with times estimated "
       "from published rates, for chrome://tracing and Perfetto"},
      {"stats", "FILE",
       "Write statistics of the kernels as JSON; the default is standard "
       "output, or "
       "standard error where results are printed",
       /*isValueOptional=*/true},
  };
}

/// More than any card has.
static constexpr uint64_t kMaxSms = 1024;

/// Parses an integer from `minimum` to `maximum`.
static Error parseNumber(const CommandLine &line, std::string_view flag,
                         uint64_t minimum, uint64_t maximum, uint64_t &value) {
  if (!line.has(flag))
    return Error::success();
  std::string text = line.get(flag);
  if (!llvm::StringRef(text).getAsInteger(10, value) && value >= minimum &&
      value <= maximum)
    return Error::success();
  return Error("--" + std::string(flag) + ": expected a number from " +
               std::to_string(minimum) + " to " + std::to_string(maximum) +
               ", got " + quoteForMessage(text));
}

Error sim::parseSimulatorFlags(const CommandLine &line,
                               std::string_view seedFlag, Options &options) {
  uint64_t jobs = llvm::hardware_concurrency().compute_thread_count();
  if (Error error = parseNumber(line, seedFlag, 0, UINT64_MAX, options.seed))
    return error;
  if (Error error = parseNumber(line, "jobs", 1, 1024, jobs))
    return error;
  options.jobs = static_cast<unsigned>(jobs);
  uint64_t sms = 0;
  if (Error error = parseNumber(line, "multiprocessors", 1, kMaxSms, sms))
    return error;
  if (sms)
    options.sms = static_cast<uint32_t>(sms);
  if (Error error = parseNumber(line, "max-steps", 1, uint64_t(1) << 62,
                                options.maxSteps))
    return error;
  if (line.has("check")) {
    std::string text = line.get("check");
    llvm::SmallVector<llvm::StringRef> checks;
    llvm::StringRef(text).split(checks, ',');
    static constexpr struct {
      llvm::StringRef name;
      bool Options::*flag;
    } kChecks[] = {{"race", &Options::checkRace},
                   {"proxy", &Options::checkProxy},
                   {"strict", &Options::checkStrict}};
    for (llvm::StringRef check : checks) {
      bool isAll = check == "all", isNone = check == "none", isKnown = false;
      for (const auto &row : kChecks) {
        bool isNamed = row.name == check;
        isKnown |= isNamed;
        if (isNamed || isAll || isNone)
          options.*(row.flag) = !isNone;
      }
      if (!isKnown && !isAll && !isNone)
        return Error("--check: expected race, proxy, strict, all or none, "
                     "got " +
                     quoteForMessage(check));
    }
  }
  options.showsProgress = llvm::sys::Process::StandardErrIsDisplayed();
  options.wantsStatistics |= line.has("stats");
  options.wantsTrace |= line.has("trace");
  options.allowUndefinedOutput |= line.has("allow-undefined-output");
  if (line.has("numerics")) {
    std::string text = line.get("numerics");
    if (text == "exact")
      options.numerics = Numerics::Exact;
    else if (text == "hardware")
      options.numerics = Numerics::Hardware;
    else
      return Error("--numerics: expected exact or hardware, got " +
                   quoteForMessage(text));
  }
  return Error::success();
}

Result<ReportPaths>
sim::getReportPaths(const CommandLine &line, std::string_view standard,
                    const std::vector<NamedOutput> &others) {
  ReportPaths paths = {line.get("stats"), line.get("trace")};
  if (paths.statistics.empty())
    paths.statistics = standard;
  std::vector<NamedOutput> outputs = others;
  for (const auto &[flag, path] : {std::pair("trace", paths.trace),
                                   std::pair("stats", paths.statistics)}) {
    if (!line.has(flag))
      continue;
    std::string name = std::string("--") + flag;
    for (const auto &[otherName, otherPath] : outputs)
      if (isSameOutput(otherPath, path))
        return Error(
            otherName + " and " + name +
            ": expected outputs of their own, got " +
            quoteForMessage(otherPath) +
            (path == otherPath ? "" : " and " + quoteForMessage(path)));
    outputs.push_back({name, path});
  }
  return paths;
}

Error sim::writeReport(const Report &report, const Options &options,
                       const ReportPaths &paths) {
  if (options.wantsTrace)
    if (Error error = writeOutput(paths.trace, report.trace))
      return error;
  if (options.wantsStatistics)
    return writeOutput(paths.statistics, report.statistics);
  return Error::success();
}
