//===- PassRunning.h - Passes with explained failures -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_PASSRUNNING_H
#define BLOCKSCALE_DRIVER_PASSRUNNING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::blockscale {

/// Runs the passes that `build` adds on `module`. Every failure emits an error.
LogicalResult runPasses(ModuleOp module,
                        function_ref<void(OpPassManager &)> build,
                        bool verifies = true);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_PASSRUNNING_H
