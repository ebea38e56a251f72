//===- Simulator.h - PTX on a CPU -------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes PTX kernels, whoever made them, as the PTX ISA says: grid, blocks,
// warps and lanes, with memory, barriers, asynchronous copies and matrix
// instructions. What the ISA leaves undefined and can be seen is an error.
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

/// How many SMs grids are limited by that ask for it, unless
/// options say so. Few, so that blocks of small problems have several tiles
/// each; even, for pairs of blocks.
inline constexpr uint32_t kSms = 4;

struct Options {
  /// Draws the order in which warps run.
  uint64_t seed = 0;
  /// Sms that kernels see, and that estimates are for; without a
  /// number these are kSms and all that the target's chip has.
  std::optional<uint32_t> sms;
  /// Blocks that run at the same time; results do not depend on it. Kernels
  /// with atomics on global memory run their blocks one after another.
  unsigned jobs = 1;
  /// The most steps (instructions of warps) that a run may take.
  uint64_t maxSteps = uint64_t(1) << 34;
  /// Two lanes that touch a byte of shared or global memory, one of them
  /// writing, with nothing between that orders them, are an error.
  bool checkRace = true;
  /// Missing proxy fences are errors and not warnings.
  bool checkProxy = false;
  /// What the ISA leaves undefined or does not order, but shipped kernels count
  /// on, is an error and not a warning.
  bool checkStrict = false;
  /// Undefined bytes in a buffer that is stored are a warning and not an error.
  bool allowUndefinedOutput = false;
  Numerics numerics = Numerics::Exact;
  /// Also count what the kernels do.
  bool wantsStatistics = false;
  /// Tell on standard error how far a kernel is that takes more than two
  /// seconds.
  bool showsProgress = false;
  /// Also write down what runs when.
  bool wantsOrder = false;
  /// Also estimate what would run when on a chip.
  bool wantsTrace = false;

  uint32_t countSms() const { return sms.value_or(kSms); }
  /// Whether it matters what waits for what.
  bool wantsRecording() const { return wantsStatistics || wantsTrace; }
};

/// What a run has to say when it went well.
struct Report {
  /// What kernels printed (`printf`), in the order of blocks: at most 1 MiB.
  std::string output;
  /// Each starts with the place, as errors do.
  std::vector<std::string> warnings;
  /// JSON, ends in a newline; empty where nobody asked. See docs/Simulator.md.
  std::string statistics;
  /// A line for each step; empty where nobody asked. See docs/Simulator.md.
  std::string order;
  /// JSON of Trace Event Format; empty where nobody asked.
  std::string trace;
};

/// A PTX module, translated. Cheap to move.
class SimulatedProgram {
public:
  /// Parses and translates a PTX text. A failure starts with the place:
  /// `line 12:5: expected ...`.
  static Result<SimulatedProgram> load(std::string ptx);

  SimulatedProgram(SimulatedProgram &&);
  SimulatedProgram &operator=(SimulatedProgram &&);
  ~SimulatedProgram();

  /// Runs the kernels of a plan in order. Buffers of `arguments` are read and
  /// written in place; they are loaded, and hold what the plan takes them for.
  /// A failure says where: `line 12, block (0,0,0), warp 1, lane 5: ...`.
  Result<Report> run(const LaunchPlan &plan,
                     std::vector<LaunchArgument> &arguments,
                     const Options &options) const;

private:
  explicit SimulatedProgram(std::unique_ptr<TranslatedModule> program);

  std::unique_ptr<TranslatedModule> program;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_SIMULATOR_H
