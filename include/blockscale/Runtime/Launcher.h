//===- Launcher.h - Programs that launch kernels ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What blockscale-launch and blockscale-sim have in common: all but the device.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHER_H
#define BLOCKSCALE_RUNTIME_LAUNCHER_H

#include "blockscale/Runtime/Fatbin.h"
#include "blockscale/Runtime/Flags.h"
#include "blockscale/Runtime/LaunchPlan.h"

#include <functional>

namespace mlir::blockscale {

/// A launch that is ready to be carried out: buffers are loaded.
struct PreparedLaunch {
  /// The PTX text, and where it is from.
  std::string path, image;
  LaunchPlan plan;
  std::vector<LaunchArgument> arguments;
};

/// A program that launches kernels.
struct Launcher {
  /// The first line of the help, behind "usage: ", with the flags of its own,
  /// and what it runs kernels on.
  std::string name, ownFlags, device;
  std::vector<Flag> flags;
  /// Whether it runs machine code as well as PTX.
  bool takesCubins = false;
  /// Checks the values of its own flags; a failure is one of the command line.
  std::function<Error(const CommandLine &)> checkFlags;
  /// How many SMs the device has; asked only where a launch depends
  /// on that.
  std::function<Result<uint32_t>()> countSms;
  /// The compute capability of the device (90 is 9.0), which says what of a
  /// bundle runs there; null if it runs code for all chips.
  std::function<Result<unsigned>()> getCapability;
  /// Reads PTX of fatbins that nvcc has compressed; null if nobody can.
  Decompress decompressZstd;
  /// Carries the launch out; buffers are stored afterwards.
  std::function<Error(PreparedLaunch &)> execute;
};

/// The whole program; returns its exit code: 0 done, 1 something is wrong with
/// files, their contents or the device, 2 the command line is wrong.
int runLauncher(const Launcher &launcher,
                const std::vector<std::string> &arguments);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHER_H
