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
  /// GPUs; only one if `compile` emulates.
  std::vector<const Chip *> targets;
  /// Whether to make cubins in addition to PTX, with ptxas.
  bool makesCubins = false;
  /// All options except the target and the stage.
  GpuCompileOptions compile;
};

/// Compiles every public function of `program`, or only `entry` if it is not
/// empty, for every target. `program` does not change. Prints an error on
/// failure.
FailureOr<Bundle> compileBundle(Program &program, StringRef entry,
                                const BundleOptions &options);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_BUNDLECOMPILATION_H
