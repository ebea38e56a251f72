//===- Simulator.h - PTX on a CPU -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes PTX kernels of any compiler, as the PTX ISA defines them: grid,
// blocks, warps and lanes, with memory, barriers, asynchronous copies and
// matrix instructions. A kernel that does something that the ISA leaves
// undefined gets an error, if the simulator sees it.
//
// A program is loaded once and run any number of times; runs share nothing.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SIMULATOR_SIMULATOR_H
#define BLOCKSCALE_SIMULATOR_SIMULATOR_H

#include "blockscale/Runtime/LaunchPlan.h"
#include "blockscale/Runtime/PtxSummary.h"
#include "blockscale/Simulator/Numerics.h"

#include <memory>
#include <optional>

namespace mlir::blockscale::sim {

struct TranslatedModule;

/// The default number of SMs, on which the grids of persistent kernels depend.
/// Few, so that blocks of small problems have several tiles each; even, for CTA
/// pairs.
inline constexpr uint32_t kSms = 4;

struct Options {
  /// Draws the order in which warps run.
  uint64_t seed = 0;
  /// The SMs that kernels see, and those that estimates are for. The defaults
  /// are kSms and all SMs of the target's chip.
  std::optional<uint32_t> sms;
  /// How many blocks run at the same time; results do not depend on it. Kernels
  /// with atomics on global memory run their blocks one after another.
  unsigned jobs = 1;
  /// The most steps (instructions of warps) that a run may take.
  uint64_t maxSteps = uint64_t(1) << 34;
  /// Data races are errors: unordered accesses of two lanes to a byte of shared
  /// or global memory, one of them a write.
  bool checkRace = true;
  /// Missing proxy fences are errors and not warnings.
  bool checkProxy = false;
  /// Behavior that the ISA leaves undefined or does not order, but on which
  /// shipped kernels rely, is an error and not a warning.
  bool checkStrict = false;
  /// Undefined bytes in an output are a warning and not an error.
  bool allowUndefinedOutput = false;
  Numerics numerics = Numerics::Exact;
  /// Also make statistics.
  bool wantsStatistics = false;
  /// Show the progress of a kernel that takes more than two seconds on standard
  /// error.
  bool showsProgress = false;
  /// Also record the order of steps.
  bool wantsOrder = false;
  /// Also make a trace with estimated times.
  bool wantsTrace = false;

  uint32_t countSms() const { return sms.value_or(kSms); }
  /// Whether dependences have to be recorded.
  bool wantsRecording() const { return wantsStatistics || wantsTrace; }
};

/// The results of a successful run.
struct Report {
  /// What kernels printed (`printf`), in the order of blocks: at most 1 MiB.
  std::string output;
  /// Each starts with the location, as errors do.
  std::vector<std::string> warnings;
  /// JSON that ends in a newline; empty if not requested. See
  /// docs/Simulator.md.
  std::string statistics;
  /// A line for each step; empty if not requested. See docs/Simulator.md.
  std::string order;
  /// JSON in Trace Event Format; empty if not requested.
  std::string trace;
};

/// A PTX module, translated. Cheap to move.
class SimulatedProgram {
public:
  /// Parses and translates a PTX text. A failure starts with the location:
  /// `line 12:5: expected ...`.
  static Result<SimulatedProgram> load(std::string ptx);

  SimulatedProgram(SimulatedProgram &&);
  SimulatedProgram &operator=(SimulatedProgram &&);
  ~SimulatedProgram();

  /// Runs the kernels of a plan in order. Buffers of `arguments` are read and
  /// written in place; they must be loaded, and match the plan. A failure
  /// starts with the location: `line 12, block (0,0,0), warp 1, lane 5: ...`.
  Result<Report> run(const LaunchPlan &plan,
                     std::vector<LaunchArgument> &arguments,
                     const Options &options) const;

private:
  explicit SimulatedProgram(std::unique_ptr<TranslatedModule> program);

  std::unique_ptr<TranslatedModule> program;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_SIMULATOR_H
