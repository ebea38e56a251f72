//===- Launcher.cpp - Programs that launch kernels ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Launcher.h"

#include "blockscale/Runtime/Bundle.h"
#include "blockscale/Runtime/CodeDigest.h"
#include "blockscale/Runtime/InputFile.h"
#include "blockscale/Runtime/PtxSummary.h"

#include <algorithm>
#include <csignal>
#include <cstdio>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
enum ExitCode : int { ExitSuccess = 0, ExitFailure = 1, ExitUsage = 2 };
} // namespace

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

static std::vector<Flag> getFlagTable(const Launcher &launcher) {
  std::vector<Flag> table = {
      {"entry", "NAME",
       "The kernel, or the function of a bundle; needed if the file has "
       "several"},
      {"grid", "X[,Y,Z]", "Number of blocks, a multiple of the cluster size"},
      {"block", "X[,Y,Z]", "Threads per block"},
      {"cluster", "X[,Y,Z]", "Blocks per cluster; the default is 1"},
      {"shared", "BYTES", "Dynamic shared memory per block; the default is 0"},
      {"launch-info", "FILE",
       "Launch all kernels of a function as FILE describes"},
      {"allow-edited-ptx", "",
       "Accept code that was changed after FILE was written, with a warning"},
      {"target", "CHIP",
       "Use the code for this chip of a bundle or fatbin; the default is the "
       "best code that runs (for a fatbin, the newest)"},
  };
  table.insert(table.end(), launcher.flags.begin(), launcher.flags.end());
  table.push_back({"help", "", "Print this"});
  table.push_back({"version", "", "Print the version"});
  return table;
}

static void printHelp(const Launcher &launcher) {
  std::printf(
      "usage: %s K.ptx [--entry=NAME] --grid=X[,Y,Z] --block=X[,Y,Z]\n"
      "           [--cluster=X[,Y,Z]] [--shared=BYTES] %s ARG...\n"
      "       %s K.ptx --launch-info=FILE [--allow-edited-ptx] %s ARG...\n"
      "       %s FILE.bundle [--entry=NAME] [--target=CHIP] %s ARG...\n"
      "\n"
      "Runs kernels %s. ARG, in parameter order (with\n"
      "--launch-info or a bundle, one for each argument and then each "
      "result):\n"
      "  i32:N  i64:N  f32:X     a scalar\n"
      "  in:FILE  inout:FILE     the data of a .npy file; inout: also stores "
      "it again\n"
      "  out:FILE:DTYPE:DIM[xDIM]...\n"
      "                          zeros, stored afterwards; DTYPE as in numpy: "
      "f4\n"
      "  undef:FILE:DTYPE:DIM[xDIM]...\n"
      "                          the same, but undefined before a kernel "
      "writes\n"
      "  tmap:FILE:DTYPE:BOX=AxB..:SWIZZLE=..[:STRIDES=AxB..][:FILL=..]"
      "[:STORE=1]\n"
      "                          a tensor map of the data of a .npy file\n"
      "  tmap:@N[+BYTES]:DTYPE:SIZES=AxB..:PITCH=BYTESx..:BOX=AxB.."
      ":SWIZZLE=..\n"
      "                          a tensor map of the buffer of ARG N (from 0)\n"
      "  struct:FILE[:ptr@OFF=N[+BYTES]][:tmap@OFF=N][:i32@OFF=V]...\n"
      "                          the bytes of a .npy file; the address of ARG "
      "N's\n"
      "                          buffer, the tensor map of ARG N, or a number "
      "(i32\n"
      "                          i64 f32) is written at a byte offset\n"
      "  none:ARG                a buffer or a tensor map that is not passed "
      "itself,\n"
      "                          but that other ARGs refer to\n"
      "\n%s",
      launcher.name.c_str(), launcher.ownFlags.c_str(), launcher.name.c_str(),
      launcher.ownFlags.c_str(), launcher.name.c_str(),
      launcher.ownFlags.c_str(), launcher.device.c_str(),
      printFlags(getFlagTable(launcher)).c_str());
}

static int reportFailure(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return ExitFailure;
}

static int reportUsage(const std::string &message) {
  reportFailure(message);
  return ExitUsage;
}

/// Flags that describe one kernel, which a launch info does already.
static constexpr const char *extentFlags[] = {"grid", "block", "cluster",
                                              "shared"};

static bool hasExtents(const CommandLine &line) {
  return std::any_of(std::begin(extentFlags), std::end(extentFlags),
                     [&](const char *flag) { return line.has(flag); });
}

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
// Preparation: functions return an exit code, and have printed an error unless
// it is success
//===----------------------------------------------------------------------===//

/// Finds the name of the kernel if the command line has none, and checks the
/// arguments against its parameters.
static int resolveKernel(const std::string &path, const std::string &image,
                         PlannedKernel &kernel) {
  PtxSummary ptx = summarizePtx(image);
  std::string prefix = "'" + path + "': ";
  if (kernel.name.empty() && isCubin(image))
    return reportUsage(prefix + "expected --entry, because a cubin does not "
                                "list its kernels");
  if (kernel.name.empty() && ptx.entries.size() > 1) {
    std::string names;
    for (const PtxEntry &entry : ptx.entries)
      names += " " + shortenForMessage(entry.name);
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

/// Launches one kernel with the arguments in order.
static int prepareKernel(PlannedKernel kernel, PreparedLaunch &launch) {
  kernel.params = planParams(launch.arguments);
  if (int code = resolveKernel(launch.path, launch.image, kernel))
    return code;
  if (Error error = loadBuffers(launch.arguments))
    return reportFailure(error.message());
  // The sizes of tensor maps and structs are known now.
  kernel.params = planParams(launch.arguments);
  if (Error error = checkParams(summarizePtx(launch.image), kernel))
    return reportFailure("'" + launch.path + "': " + error.message());
  launch.plan = {{kernel}, /*workspace=*/0};
  return ExitSuccess;
}

/// Launches all kernels of a function with the launch info of the image.
static int prepareLaunch(const Launcher &launcher, const LaunchInfo &info,
                         const CodeOrigin &origin, PreparedLaunch &launch) {
  Result<std::string> warning = checkCode(info, launch.image, origin);
  if (!warning)
    return reportFailure(warning.message());
  if (!warning->empty())
    std::fprintf(stderr, "warning: %s\n", warning->c_str());
  std::string prefix = origin.info + ": ";
  if (Error error = checkArguments(info, launch.arguments))
    return reportUsage(prefix + error.message());
  if (Error error = loadBuffers(launch.arguments))
    return reportFailure(error.message());
  Result<uint32_t> sms =
      info.usesSms() ? launcher.countSms() : Result<uint32_t>(0u);
  if (!sms)
    return reportFailure(sms.message());
  Result<LaunchPlan> plan = planLaunch(info, launch.arguments, *sms);
  if (!plan)
    return reportFailure(prefix + plan.message());
  launch.plan = std::move(*plan);
  PtxSummary ptx = summarizePtx(launch.image);
  for (const PlannedKernel &kernel : launch.plan.kernels)
    if (Error error = checkParams(ptx, kernel))
      return reportFailure("'" + launch.path + "': " + error.message());
  return ExitSuccess;
}

/// Uses a launch info from a file.
static int prepareFunction(const Launcher &launcher, const CommandLine &line,
                           PreparedLaunch &launch) {
  std::string path = line.get("launch-info");
  Result<std::string> text = readInput(path);
  if (!text)
    return reportFailure(text.message());
  CodeOrigin origin = {"'" + path + "'", "'" + launch.path + "'",
                       line.has("allow-edited-ptx")};
  Result<LaunchInfo> info = parseLaunchInfo(*text);
  if (!info)
    return reportFailure(origin.info + ": " + info.message());
  return prepareLaunch(launcher, *info, origin, launch);
}

/// Uses the launch info and the image of a function of a bundle.
static int prepareBundle(const Launcher &launcher, const CommandLine &line,
                         PreparedLaunch &launch) {
  std::string prefix = "'" + launch.path + "': ";
  Result<Bundle> bundle = parseBundle(launch.image);
  if (!bundle)
    return reportFailure(prefix + bundle.message());
  BundleQuery query;
  query.function = line.get("entry");
  query.target = line.get("target");
  query.takesCubins = launcher.takesCubins;
  if (launcher.getCapability) {
    Result<unsigned> capability = launcher.getCapability();
    if (!capability)
      return reportFailure(capability.message());
    query.capability = *capability;
  }
  bool isAmbiguous;
  Result<ChosenImage> chosen = chooseImage(*bundle, query, isAmbiguous);
  if (!chosen)
    return isAmbiguous ? reportUsage(prefix + chosen.message())
                       : reportFailure(prefix + chosen.message());
  Result<std::string> image = readImage(*chosen->image);
  if (!image)
    return reportFailure(prefix + image.message());
  launch.image = std::move(*image);
  std::string name = "'" + launch.path + "'";
  return prepareLaunch(launcher, chosen->entry->info, {name, name}, launch);
}

/// Checks the flags against the kind of the file.
static Error checkFlags(const CommandLine &line, bool isBundle, bool isFatbin,
                        PlannedKernel &kernel) {
  if (isBundle || line.has("launch-info")) {
    std::string source = isBundle ? "a bundle" : "--launch-info";
    for (const char *flag : extentFlags)
      if (line.has(flag))
        return Error(std::string("expected no --") + flag + " beside " +
                     source + ", which has it");
    const char *other = isBundle ? "launch-info" : "entry";
    if (line.has(other))
      return Error(std::string("expected no --") + other + " beside " + source +
                   ", which has it");
  } else if (Error error = parseKernel(line, kernel)) {
    return error;
  }
  if (line.has("allow-edited-ptx") && !line.has("launch-info"))
    return Error("expected --launch-info for --allow-edited-ptx, got none");
  if (line.has("target") && !isBundle && !isFatbin)
    return Error("expected a bundle or a fatbin for --target, got another "
                 "file");
  return Error::success();
}

/// Parses the command line.
static Error parseLaunch(const Launcher &launcher, const CommandLine &line,
                         bool isBundle, bool isFatbin, PlannedKernel &kernel,
                         PreparedLaunch &launch) {
  if (Error error = checkFlags(line, isBundle, isFatbin, kernel))
    return error;
  if (Error error = launcher.checkFlags(line))
    return error;
  for (size_t i = 1; i < line.positional.size(); ++i) {
    Result<LaunchArgument> argument = parseLaunchArgument(line.positional[i]);
    if (!argument)
      return argument.error();
    launch.arguments.push_back(std::move(*argument));
  }
  return checkReferences(launch.arguments);
}

int blockscale::runLauncher(const Launcher &launcher,
                            const std::vector<std::string> &arguments) {
  // A closed pipe is an error with a message, like a full disk.
  std::signal(SIGPIPE, SIG_IGN);
  Result<CommandLine> line = parseFlags(getFlagTable(launcher), arguments);
  if (!line)
    return reportUsage(line.message());
  if (line->has("help")) {
    printHelp(launcher);
    return ExitSuccess;
  }
  if (line->has("version")) {
    std::puts("blockscale " BLOCKSCALE_VERSION);
    return ExitSuccess;
  }
  if (line->positional.empty())
    return reportUsage("expected a file with kernels");
  PlannedKernel kernel;
  PreparedLaunch launch;
  launch.path = line->positional[0];
  // The flags depend on the kind of the file. If it cannot be read, report that
  // instead of flags that are missing without a bundle.
  Result<std::string> image = readInput(launch.path);
  bool hasBundle = image ? isBundle(*image)
                         : !hasExtents(*line) && !line->has("launch-info");
  bool isFatbin = image && hasFatbin(*image);
  if (Error error =
          parseLaunch(launcher, *line, hasBundle, isFatbin, kernel, launch))
    return reportUsage(error.message());
  if (!image)
    return reportFailure(image.message());
  launch.image = std::move(*image);
  if (isFatbin) {
    Result<std::string> text =
        readFatbin(launch.image, line->get("target"), line->get("entry"),
                   launcher.decompressZstd);
    if (!text)
      return reportFailure("'" + launch.path + "': " + text.message());
    launch.image = std::move(*text);
  }
  if (!launcher.takesCubins && isCubin(launch.image))
    return reportFailure("'" + launch.path +
                         "': expected PTX text, got a cubin or another ELF "
                         "file without PTX");
  if (int code = hasBundle ? prepareBundle(launcher, *line, launch)
                 : line->has("launch-info")
                     ? prepareFunction(launcher, *line, launch)
                     : prepareKernel(std::move(kernel), launch))
    return code;
  if (Error error = launcher.execute(launch))
    return reportFailure(error.message());
  if (Error error = storeBuffers(launch.arguments))
    return reportFailure(error.message());
  return ExitSuccess;
}
