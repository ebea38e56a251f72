//===- Simulator.cpp - PTX on a CPU ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of the library: loads a PTX text, and runs the kernels of a
// plan one after another.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Simulator/Simulator.h"

#include "Launch/GridRun.h"
#include "Launch/LaunchChecks.h"
#include "Launch/RunMemory.h"
#include "Launch/RunStatistics.h"
#include "Launch/SourceLines.h"
#include "Ptx/Parser.h"
#include "Trace/KernelTrace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

SimulatedProgram::SimulatedProgram(std::unique_ptr<TranslatedModule> program)
    : program(std::move(program)) {}
SimulatedProgram::SimulatedProgram(SimulatedProgram &&) = default;
SimulatedProgram &SimulatedProgram::operator=(SimulatedProgram &&) = default;
SimulatedProgram::~SimulatedProgram() = default;

Result<SimulatedProgram> SimulatedProgram::load(std::string ptx) {
  Result<Module> module = parsePtx(std::move(ptx));
  if (!module)
    return module.error();
  Result<std::unique_ptr<TranslatedModule>> program =
      translate(std::move(*module));
  if (!program)
    return program.error();
  return SimulatedProgram(std::move(*program));
}

/// Describes the launches: incomplete results are often due to too few threads.
static std::string describeLaunches(const LaunchPlan &plan) {
  auto print = [](const Dim3 &extents) {
    return std::to_string(extents[0]) + "," + std::to_string(extents[1]) + "," +
           std::to_string(extents[2]);
  };
  std::string text;
  for (const PlannedKernel &kernel : plan.kernels)
    text += (text.empty() ? ", after kernel " : ", kernel ") +
            quoteForMessage(kernel.name) + " ran with grid " +
            print(kernel.grid) + " and block " + print(kernel.block);
  return text;
}

static Result<Report> execute(const TranslatedModule &program,
                              const LaunchPlan &plan,
                              std::vector<LaunchArgument> &arguments,
                              const Options &options) {
  RunMemory memory;
  fillMemory(program, plan, arguments, memory);
  uint64_t stepsLeft = options.maxSteps;
  Report report;
  uint64_t number = 0;
  uint32_t settled = 0;
  std::vector<CountedKernel> counted;
  std::vector<KernelTrace> traces;
  for (PlannedKernel planned : plan.kernels) {
    const Kernel *kernel = program.lookup(planned.name);
    if (!kernel)
      return Error("expected a kernel named " + quoteForMessage(planned.name) +
                   ", got none");
    if (kernel->error)
      return *kernel->error;
    if (Error error = checkLaunch(*kernel, program.module, planned))
      return error;
    Storage parameters(kernel->parameterBytes);
    fillParameters(*kernel, planned, memory, parameters);
    GridAccesses gridAccesses;
    LaunchedKernel launch = {kernel,
                             program.module.target,
                             planned.grid,
                             planned.block,
                             planned.cluster,
                             planned.shared,
                             planned.isProgrammatic,
                             settled,
                             static_cast<uint32_t>(number + 1),
                             &memory.memory,
                             &parameters,
                             &options,
                             options.seed + (number++ << 32),
                             memory.gridWorkspace->address,
                             &memory.heap,
                             options.checkRace ? &gridAccesses : nullptr};
    unsigned jobs = launch.uses(UsesGlobalSynchronization) ? 1 : options.jobs;
    GridRun grid(launch, stepsLeft);
    if (Error error = grid.run(jobs, report.warnings))
      return error;
    stepsLeft -= grid.getNumSteps();
    // The next one starts when the blocks of this one have ended, which have
    // waited for those before; or earlier.
    if (!memory.memory.startsNextEarly.exchange(false))
      settled = launch.number - 1;
    report.order += grid.takeOrder();
    std::string output = grid.takeOutput();
    report.output.append(output, 0, kMaxOutputBytes + 1 - report.output.size());
    if (options.wantsRecording())
      traces.push_back(traceKernel(launch, grid.takeRecordings()));
    if (grid.statistics)
      counted.push_back({kernel, planned, std::move(grid.statistics)});
  }
  if (report.output.size() > kMaxOutputBytes) {
    report.output.resize(kMaxOutputBytes);
    report.warnings.push_back("kernels print more than " +
                              std::to_string(kMaxOutputBytes) +
                              " bytes: the rest is left out");
  }
  if (options.wantsStatistics)
    report.statistics = printStatistics(counted, traces);
  if (options.wantsTrace)
    report.trace = printTrace(traces);
  for (auto [argument, allocation] :
       llvm::zip_equal(arguments, memory.arguments))
    if (argument.isStored())
      if (Error error = checkOutput(*allocation, options, report.warnings))
        return Error(error.message() + describeLaunches(plan));
  return report;
}

Result<Report> SimulatedProgram::run(const LaunchPlan &plan,
                                     std::vector<LaunchArgument> &arguments,
                                     const Options &options) const {
  Result<Report> report = execute(*program, plan, arguments, options);
  if (!report)
    return Error(addSourceLines(report.message(), program->module));
  for (std::string &warning : report->warnings)
    warning = addSourceLines(warning, program->module);
  return report;
}
