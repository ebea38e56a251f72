//===- SimulatorFlags.h - The simulator's flags -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SIMULATOR_SIMULATORFLAGS_H
#define BLOCKSCALE_SIMULATOR_SIMULATORFLAGS_H

#include "blockscale/Runtime/Flags.h"
#include "blockscale/Simulator/Simulator.h"

namespace mlir::blockscale::sim {

/// The flags of programs that run the simulator, without the one for the seed,
/// whose name differs.
std::vector<Flag> getSimulatorFlags();

/// Parses them; options without a flag keep their values.
Error parseSimulatorFlags(const CommandLine &line, std::string_view seedFlag,
                          Options &options);

/// Where `--stats` and `--trace` write.
struct ReportPaths {
  std::string statistics, trace;
};

/// An output such as "--order", and its path.
using NamedOutput = std::pair<std::string, std::string>;

/// The paths that the flags give; statistics go to `standard` if the flag has
/// no path. An error if two outputs, or one of `others`, have the same path.
Result<ReportPaths> getReportPaths(const CommandLine &line,
                                   std::string_view standard,
                                   const std::vector<NamedOutput> &others);

/// Writes the outputs that flags request.
Error writeReport(const Report &report, const Options &options,
                  const ReportPaths &paths);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_SIMULATORFLAGS_H
