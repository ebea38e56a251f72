//===- BundleCompilation.h - Functions for several chips --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_BUNDLECOMPILATION_H
#define BLOCKSCALE_DRIVER_BUNDLECOMPILATION_H

#include "blockscale/Driver/GpuCompilation.h"
#include "blockscale/Driver/Program.h"
#include "blockscale/Runtime/Bundle.h"

namespace mlir::blockscale {

struct BundleOptions {
  /// GPUs; one only where `compile` emulates.
  std::vector<const Chip *> targets;
  /// Cubins beside the PTX, for which ptxas is needed.
  bool makesCubins = false;
  /// All but the target and the stage.
  GpuCompileOptions compile;
};

/// Compiles every public function of `program`, or `entry` alone where it is
/// not empty, for every target. `program` stays as it is. Fails after an error
/// has been printed.
FailureOr<Bundle> compileBundle(Program &program, StringRef entry,
                                const BundleOptions &options);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_BUNDLECOMPILATION_H
