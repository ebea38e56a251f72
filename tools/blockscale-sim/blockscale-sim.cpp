//===- blockscale-sim.cpp - Run kernels on a CPU --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launcher with the simulator as its device: PTX of any compiler, without
// MLIR.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/Launcher.h"
#include "blockscale/Runtime/OutputFile.h"
#include "blockscale/Simulator/SimulatorFlags.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Error.h"

#include <cstdio>

using namespace mlir::blockscale;

static Error execute(PreparedLaunch &launch, const sim::Options &options,
                     const sim::ReportPaths &paths,
                     const std::string &orderPath) {
  Result<sim::SimulatedProgram> program =
      sim::SimulatedProgram::load(std::move(launch.image));
  if (!program)
    return pathError(launch.path, program.message());
  Result<sim::Report> report =
      program->run(launch.plan, launch.arguments, options);
  if (!report)
    return pathError(launch.path, report.message());
  std::fwrite(report->output.data(), 1, report->output.size(), stderr);
  for (const std::string &warning : report->warnings)
    std::fprintf(stderr, "warning: '%s': %s\n", launch.path.c_str(),
                 warning.c_str());
  if (options.wantsOrder)
    if (Error error = writeOutput(orderPath, report->order))
      return error;
  return sim::writeReport(*report, options, paths);
}

static Result<std::string> decompressZstd(std::string_view bytes,
                                          uint64_t size) {
  if (!llvm::compression::zstd::isAvailable())
    return Error("expected PTX that is not compressed (zstd), as this LLVM "
                 "cannot read it: nvcc --no-compress writes it");
  std::string text(size, '\0');
  size_t got = size;
  llvm::Error error = llvm::compression::zstd::decompress(
      llvm::arrayRefFromStringRef(bytes),
      reinterpret_cast<uint8_t *>(text.data()), got);
  if (error)
    return Error("expected compressed PTX (zstd): " +
                 llvm::toString(std::move(error)));
  text.resize(got);
  return text;
}

int main(int argc, char **argv) {
  sim::Options options;
  sim::ReportPaths paths;
  std::string orderPath;
  Launcher launcher;
  launcher.name = "blockscale-sim";
  launcher.ownFlags = "[FLAG]...";
  launcher.device = "in the simulator";
  launcher.flags = sim::getSimulatorFlags();
  launcher.flags.insert(
      launcher.flags.begin(),
      {"seed", "N",
       "The seed of the order in which warps run; the default is 0"});
  launcher.flags.push_back(
      {"order", "FILE",
       "Write the block, the warp and the line of the PTX of each memory, "
       "synchronization and matrix instruction, in the order of execution"});
  launcher.checkFlags = [&](const CommandLine &line) {
    orderPath = line.get("order");
    options.wantsOrder = line.has("order");
    if (Error error = sim::parseSimulatorFlags(line, "seed", options))
      return error;
    std::vector<sim::NamedOutput> others;
    if (options.wantsOrder)
      others.push_back({"--order", orderPath});
    Result<sim::ReportPaths> found = sim::getReportPaths(line, "-", others);
    if (!found)
      return Error(found.message());
    paths = *found;
    return Error::success();
  };
  launcher.countSms = [&] { return Result<uint32_t>(options.countSms()); };
  launcher.decompressZstd = decompressZstd;
  launcher.execute = [&](PreparedLaunch &launch) {
    return execute(launch, options, paths, orderPath);
  };
  return runLauncher(launcher, std::vector<std::string>(argv + 1, argv + argc));
}
