//===- blockscale-launch.cpp - Run kernels on a CUDA card -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs the driver of the card and nothing else: neither MLIR nor LLVM nor CUDA
// is linked, so that the program can be carried to a machine without them.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/CudaExecution.h"
#include "blockscale/Runtime/Flags.h"
#include "blockscale/Runtime/InputFile.h"
#include "blockscale/Runtime/PtxSummary.h"

#include <csignal>
#include <cstdio>

using namespace mlir::blockscale;

namespace {
enum ExitCode : int {
  ExitSuccess = 0,
  /// Something is wrong with files, their contents, or the card.
  ExitFailure = 1,
  /// The command line itself is wrong.
  ExitUsage = 2,
};
} // namespace

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static std::vector<Flag> getFlagTable() {
  return {
      {"entry", "NAME", "The kernel; needed where the file has several"},
      {"grid", "X[,Y,Z]", "How many blocks (clusters divide them)"},
      {"block", "X[,Y,Z]", "How many threads a block has"},
      {"cluster", "X[,Y,Z]", "How many blocks a cluster has; the default is 1"},
      {"shared", "BYTES", "Dynamic shared memory; the default is 0"},
      {"launch-info", "FILE", "Run all kernels of a function as FILE says"},
      {"time", "", "Print the median time of some repetitions"},
      {"help", "", "Print this"},
      {"version", "", "Print the version"},
  };
}

static constexpr const char *usage =
    "usage: blockscale-launch K.ptx [--entry=NAME] --grid=X[,Y,Z] "
    "--block=X[,Y,Z]\n"
    "                         [--cluster=X[,Y,Z]] [--shared=BYTES] [--time] "
    "ARG...\n"
    "       blockscale-launch K.ptx --launch-info=FILE [--time] ARG...\n"
    "\n"
    "Runs kernels on the first CUDA card. ARG, in parameter order (with\n"
    "--launch-info, one for each argument and then each result):\n"
    "  i32:N  i64:N  f32:X     a scalar\n"
    "  in:FILE  inout:FILE     the data of a .npy file; inout: is stored "
    "again\n"
    "  out:FILE:DTYPE:DIM[xDIM]...\n"
    "                          zeros, stored afterwards; DTYPE as in numpy: "
    "f4\n"
    "\n";

static int reportFailure(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return ExitFailure;
}

static int reportUsage(const std::string &message) {
  reportFailure(message);
  return ExitUsage;
}

/// Flags that describe one kernel, and so have no place beside --launch-info.
static constexpr const char *kernelFlags[] = {"entry", "grid", "block",
                                              "cluster", "shared"};

/// Takes name, grid, block, cluster and shared memory from the flags.
static Error parseKernel(const CommandLine &line, PlannedKernel &kernel) {
  const struct {
    const char *flag;
    Dim3 &extents;
    bool isRequired;
  } geometry[] = {{"grid", kernel.grid, true},
                  {"block", kernel.block, true},
                  {"cluster", kernel.cluster, false}};
  for (const auto &row : geometry) {
    if (!line.has(row.flag)) {
      if (row.isRequired)
        return Error(std::string("expected --") + row.flag +
                     "=X[,Y,Z] or --launch-info=FILE, got neither");
      continue;
    }
    Result<Dim3> extents = parseDim3(line.get(row.flag));
    if (!extents)
      return Error(std::string("--") + row.flag + ": " + extents.message());
    row.extents = *extents;
  }
  if (line.has("shared")) {
    Result<uint32_t> shared = parseByteCount(line.get("shared"));
    if (!shared)
      return Error("--shared: " + shared.message());
    kernel.shared = *shared;
  }
  kernel.name = line.get("entry");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Finds the name of the kernel where the command line has none, and holds the
/// arguments against its parameters. Returns an exit code, after an error has
/// been printed unless that is success.
static int resolveKernel(const std::string &path, const PtxSummary &ptx,
                         PlannedKernel &kernel) {
  std::string prefix = "'" + path + "': ";
  if (kernel.name.empty() && ptx.entries.size() > 1) {
    std::string names;
    for (const PtxEntry &entry : ptx.entries)
      names += " " + entry.name;
    return reportUsage(prefix + "expected --entry, because there are " +
                       std::to_string(ptx.entries.size()) +
                       " kernels:" + names);
  }
  if (kernel.name.empty() && ptx.entries.empty())
    return reportFailure(prefix + "expected a PTX text with an .entry, got "
                                  "none");
  if (kernel.name.empty())
    kernel.name = ptx.entries.front().name;
  if (Error error = checkParams(ptx, kernel))
    return reportUsage(prefix + error.message());
  return ExitSuccess;
}

static int execute(const std::string &path, const std::string &image,
                   const LaunchPlan &plan,
                   std::vector<LaunchArgument> &arguments, bool wantsTime) {
  Result<CudaDevice> device = CudaDevice::open();
  if (!device)
    return reportFailure(device.message());
  Result<CudaModule> code = device->load(image);
  if (!code)
    return reportFailure("'" + path + "': " + code.message());
  double milliseconds = 0;
  if (Error error = runOnCuda(*device, *code, plan, arguments,
                              wantsTime ? &milliseconds : nullptr))
    return reportFailure("'" + path + "': " + error.message());
  if (Error error = storeBuffers(arguments))
    return reportFailure(error.message());
  if (wantsTime)
    std::printf("%.4f ms\n", milliseconds);
  return ExitSuccess;
}

/// Runs one kernel with the arguments as they come.
static int runKernel(const std::string &path, PlannedKernel kernel,
                     std::vector<LaunchArgument> arguments, bool wantsTime) {
  Result<std::string> image = readInput(path);
  if (!image)
    return reportFailure(image.message());
  kernel.params = planParams(arguments);
  if (int code = resolveKernel(path, summarizePtx(*image), kernel))
    return code;
  if (Error error = loadBuffers(arguments))
    return reportFailure(error.message());
  return execute(path, *image, {{kernel}, /*workspace=*/0}, arguments,
                 wantsTime);
}

/// Runs all kernels of a function, as its launch info says.
static int runFunction(const std::string &path, const std::string &infoPath,
                       std::vector<LaunchArgument> arguments, bool wantsTime) {
  Result<std::string> image = readInput(path);
  if (!image)
    return reportFailure(image.message());
  Result<std::string> text = readInput(infoPath);
  if (!text)
    return reportFailure(text.message());
  std::string prefix = "'" + infoPath + "': ";
  Result<LaunchInfo> info = parseLaunchInfo(*text);
  if (!info)
    return reportFailure(prefix + info.message());
  if (Error error = checkArguments(*info, arguments))
    return reportUsage(prefix + error.message());
  if (Error error = loadBuffers(arguments))
    return reportFailure(error.message());
  Result<LaunchPlan> plan = planLaunch(*info, arguments);
  if (!plan)
    return reportFailure(prefix + plan.message());
  PtxSummary ptx = summarizePtx(*image);
  for (const PlannedKernel &kernel : plan->kernels)
    if (Error error = checkParams(ptx, kernel))
      return reportFailure("'" + path + "': " + error.message());
  return execute(path, *image, *plan, arguments, wantsTime);
}

int main(int argc, char **argv) {
  // A reader that goes away is an error with a message, like a full disk.
  std::signal(SIGPIPE, SIG_IGN);
  Result<CommandLine> line = parseFlags(
      getFlagTable(), std::vector<std::string>(argv + 1, argv + argc));
  if (!line)
    return reportUsage(line.message());
  if (line->has("help")) {
    std::printf("%s%s", usage, printFlags(getFlagTable()).c_str());
    return ExitSuccess;
  }
  if (line->has("version")) {
    std::puts("blockscale " BLOCKSCALE_VERSION);
    return ExitSuccess;
  }
  if (line->positional.empty())
    return reportUsage("expected a file with kernels");

  PlannedKernel kernel;
  if (!line->has("launch-info")) {
    if (Error error = parseKernel(*line, kernel))
      return reportUsage(error.message());
  } else {
    for (const char *flag : kernelFlags)
      if (line->has(flag))
        return reportUsage(std::string("expected no --") + flag +
                           " beside --launch-info, which has it");
  }
  std::vector<LaunchArgument> arguments;
  for (size_t i = 1; i < line->positional.size(); ++i) {
    Result<LaunchArgument> argument = parseLaunchArgument(line->positional[i]);
    if (!argument)
      return reportUsage(argument.message());
    arguments.push_back(std::move(*argument));
  }
  if (Error error = checkSupported(arguments))
    return reportFailure(error.message());
  if (line->has("launch-info"))
    return runFunction(line->positional[0], line->get("launch-info"),
                       std::move(arguments), line->has("time"));
  return runKernel(line->positional[0], std::move(kernel), std::move(arguments),
                   line->has("time"));
}
