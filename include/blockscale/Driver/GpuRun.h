//===- GpuRun.h - Compile for a GPU and run ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiling a function and launching its kernels is the same for all devices
// that execute PTX: a CUDA card, or the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_GPURUN_H
#define BLOCKSCALE_DRIVER_GPURUN_H

#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Driver/Program.h"
#include "blockscale/Runtime/CudaExecution.h"
#include "blockscale/Simulator/SimulatorFlags.h"
#include "blockscale/Support/Chips.h"

#include <optional>
#include <vector>

namespace mlir::blockscale {

/// What executes PTX.
class GpuDevice {
public:
  virtual ~GpuDevice() = default;

  /// The chip to compile for: `wanted`, if the device runs that; its own choice
  /// if `wanted` is null.
  virtual Result<const Chip *> chooseTarget(const Chip *wanted) = 0;
  /// What grids may be limited by.
  virtual Result<uint32_t> countSms() = 0;
  /// Carries the launches out and leaves results in `arguments`.
  virtual Error execute(const std::string &ptx, const LaunchPlan &plan,
                        std::vector<LaunchArgument> &arguments) = 0;
};

/// The first CUDA card.
Result<std::unique_ptr<GpuDevice>>
openCudaDevice(const CudaRunOptions &options);

/// The simulator, which prints its warnings, and writes statistics and a trace
/// to `paths` if the options want them.
std::unique_ptr<GpuDevice> makeSimulatedDevice(const sim::Options &options,
                                               sim::ReportPaths paths);

/// The target to compile for on a card of this compute capability (90 is 9.0),
/// with all instructions that the card has.
Result<const Chip *> getChipOfCard(unsigned capability);

struct GpuRunOptions {
  /// The chip to compile for; null for the choice of the device.
  const Chip *target = nullptr;
  /// The chip that emulates the target's instructions, and is run; null for
  /// none. Not without a target.
  const Chip *emulateOn = nullptr;
  /// 0 for the lowest that works.
  unsigned ptxVersion = 0;
  bool nativeOnly = false;
  bool noWorkspace = false;
  std::string schedule;
  Raising raising = Raising::Report;
  /// Where the arguments are from, for messages; empty if they were drawn.
  std::vector<std::string> files;
};

struct GpuRun {
  std::vector<NpyArray> results;
  /// What one run computes in all `mma_scaled`, 2 * M * N * K each and for each
  /// batch; nullopt where there are none, or not known how often they are run.
  std::optional<double> flops;
};

/// Runs `entry` of `program`, which is consumed, on `device`, with `arguments`
/// that have been checked against `getArgumentTypes`. Arguments and results are
/// as for `runOnCpu`; fp4, and fp6 where the function asks for that, is packed
/// and unpacked here. Fails after an error has been printed.
FailureOr<GpuRun> compileAndRun(Program &program, func::FuncOp entry,
                                std::vector<NpyArray> arguments,
                                const GpuRunOptions &options,
                                GpuDevice &device);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_GPURUN_H
