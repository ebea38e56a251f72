//===- SimulatorRun.cpp - The simulator as a device -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The simulator as a device of blockscale-run. It runs any target, and writes
// statistics besides results.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Driver/GpuRun.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The default target.
static constexpr std::string_view kDefaultTarget = "sm_120a";

namespace {
class SimulatedDevice : public GpuDevice {
public:
  SimulatedDevice(const sim::Options &options, sim::ReportPaths paths)
      : options(options), paths(std::move(paths)) {}

  Result<const Chip *> chooseTarget(const Chip *wanted) override {
    return wanted ? wanted : lookupChip(kDefaultTarget);
  }

  Result<uint32_t> countSms() override { return options.countSms(); }

  Error execute(const std::string &ptx, const LaunchPlan &plan,
                std::vector<LaunchArgument> &arguments) override {
    Result<sim::SimulatedProgram> program = sim::SimulatedProgram::load(ptx);
    if (!program)
      return program.error();
    Result<sim::Report> report = program->run(plan, arguments, options);
    if (!report)
      return report.error();
    llvm::errs() << report->output;
    for (const std::string &warning : report->warnings)
      llvm::errs() << "warning: " << warning << "\n";
    return sim::writeReport(*report, options, paths);
  }

private:
  sim::Options options;
  sim::ReportPaths paths;
};
} // namespace

std::unique_ptr<GpuDevice>
blockscale::makeSimulatedDevice(const sim::Options &options,
                                sim::ReportPaths paths) {
  return std::make_unique<SimulatedDevice>(options, std::move(paths));
}
