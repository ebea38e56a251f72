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

/// The flags of programs that run the simulator, but that of the seed, whose
/// name differs between them.
std::vector<Flag> getSimulatorFlags();

/// Reads them; what is not there keeps its value in `options`.
Error parseSimulatorFlags(const CommandLine &line, std::string_view seedFlag,
                          Options &options);

/// Where `--stats` and `--trace` write.
struct ReportPaths {
  std::string statistics, trace;
};

/// What is written, such as "--order", and where.
using NamedOutput = std::pair<std::string, std::string>;

/// As the flags say; statistics go to `standard` where the flag has no path. An
/// error where one goes where another one does, or one of `others`.
Result<ReportPaths> getReportPaths(const CommandLine &line,
                                   std::string_view standard,
                                   const std::vector<NamedOutput> &others);

/// Writes what flags have asked for.
Error writeReport(const Report &report, const Options &options,
                  const ReportPaths &paths);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_SIMULATORFLAGS_H
