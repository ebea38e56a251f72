//===- GpuRun.h - Compile for a GPU and run ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a function and launches its kernels, on any device that executes
// PTX: a CUDA card, or the simulator.
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

/// A device that executes PTX.
class GpuDevice {
public:
  virtual ~GpuDevice() = default;

  /// The chip to compile for: `wanted`, if the device supports it; the device's
  /// choice if `wanted` is null.
  virtual Result<const Chip *> chooseTarget(const Chip *wanted) = 0;
  /// The number of SMs, which may limit grids.
  virtual Result<uint32_t> countSms() = 0;
  /// Executes the launches and stores results in `arguments`.
  virtual Error execute(const std::string &ptx, const LaunchPlan &plan,
                        std::vector<LaunchArgument> &arguments) = 0;
};

/// The first CUDA card.
Result<std::unique_ptr<GpuDevice>>
openCudaDevice(const CudaRunOptions &options);

/// The simulator, which prints its warnings, and writes statistics and a trace
/// to `paths` if the options request them.
std::unique_ptr<GpuDevice> makeSimulatedDevice(const sim::Options &options,
                                               sim::ReportPaths paths);

/// The target to compile for on a card of this compute capability (90 is 9.0),
/// with all instructions that the card has.
Result<const Chip *> getChipOfCard(unsigned capability);

/// The target may be null for the choice of the device, if nothing is emulated.
struct GpuRunOptions : GpuCompileOptions {
  /// The files of the arguments, for messages; empty for random arguments.
  std::vector<std::string> files;
};

struct GpuRun {
  std::vector<NpyArray> results;
  /// The operations of one run in all `mma_scaled`, 2 * M * N * K each and for
  /// each batch; nullopt if there are none, or if it is not known how often
  /// they run.
  std::optional<double> flops;
};

/// Runs `entry` of `program`, which is consumed, on `device`, with `arguments`
/// that have been checked against `getArgumentTypes`. Arguments and results are
/// as for `runOnCpu`; fp4, and fp6 if the function requests that, is packed and
/// unpacked here. Prints an error on failure.
FailureOr<GpuRun> compileAndRun(Program &program, func::FuncOp entry,
                                std::vector<NpyArray> arguments,
                                const GpuRunOptions &options,
                                GpuDevice &device);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_GPURUN_H
