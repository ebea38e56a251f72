//===- Launcher.h - Programs that launch kernels ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common part of blockscale-launch and blockscale-sim: everything but the
// device.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_LAUNCHER_H
#define BLOCKSCALE_RUNTIME_LAUNCHER_H

#include "blockscale/Runtime/Fatbin.h"
#include "blockscale/Runtime/Flags.h"
#include "blockscale/Runtime/LaunchPlan.h"

#include <functional>

namespace mlir::blockscale {

/// A launch that is ready to execute: buffers are loaded.
struct PreparedLaunch {
  /// The PTX text, and its file.
  std::string path, image;
  LaunchPlan plan;
  std::vector<LaunchArgument> arguments;
};

/// A program that launches kernels.
struct Launcher {
  /// For the help: the name of the program, its own flags, and the device.
  std::string name, ownFlags, device;
  std::vector<Flag> flags;
  /// Whether it runs cubins as well as PTX.
  bool takesCubins = false;
  /// Checks the values of its own flags; failures are usage errors.
  std::function<Error(const CommandLine &)> checkFlags;
  /// The number of SMs of the device; called only if a launch depends on it.
  std::function<Result<uint32_t>()> countSms;
  /// The compute capability of the device (90 is 9.0), to choose code from a
  /// bundle; null if the device runs code for all chips.
  std::function<Result<unsigned>()> getCapability;
  /// Decompresses PTX of fatbins that nvcc has compressed; null if not
  /// supported.
  Decompress decompressZstd;
  /// Executes the launch; buffers are stored afterwards.
  std::function<Error(PreparedLaunch &)> execute;
};

/// The whole program; returns its exit code: 0 for success, 1 for errors of
/// files, their contents or the device, 2 for usage errors.
int runLauncher(const Launcher &launcher,
                const std::vector<std::string> &arguments);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_LAUNCHER_H
