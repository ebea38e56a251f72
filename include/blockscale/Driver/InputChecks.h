//===- InputChecks.h - Limits of input programs -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_INPUTCHECKS_H
#define BLOCKSCALE_DRIVER_INPUTCHECKS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Checks that `module` has functions on tensors and only what the CPU lowering
/// supports, so that errors name the rest: ops of the LLVM dialect (they could
/// do anything), other top-level ops, argument and result types without a
/// lowering, reserved function names, tensors larger than the address space,
/// and vectors that would make too much code. Emits an error at the location.
LogicalResult checkInput(ModuleOp module);

/// The same for the lowering to GPUs: functions on tensors, with names that are
/// legal in PTX, and `gpu.module`s.
LogicalResult checkGpuInput(ModuleOp module);

/// (`--native-only`) Refuses the first `mma_scaled` of `module`: the CPU has no
/// block-scaled instruction.
LogicalResult checkNativeOnCpu(ModuleOp module);

/// Checks that the lowering of `module` has left only the LLVM dialect. Emits
/// an error that names other ops.
LogicalResult checkLowered(ModuleOp module);

/// The same for the `gpu.module`s of `module`.
LogicalResult checkLoweredKernels(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_INPUTCHECKS_H
