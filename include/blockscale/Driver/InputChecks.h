//===- InputChecks.h - What programs may contain ----------------*- C++ -*-===//
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

/// Checks that `module` holds functions on tensors and no more than the CPU
/// lowering takes, so that what it does not take is refused by name: ops of
/// the LLVM dialect (they could do anything), other top-level ops, argument
/// and result types without a lowering, function names that lowered code needs
/// for itself, tensors larger than the address space and vectors larger than
/// code can be. Fails after an error at the place.
LogicalResult checkInput(ModuleOp module);

/// The same for the lowering to GPUs: functions on tensors, with names that
/// PTX can have, and `gpu.module`s.
LogicalResult checkGpuInput(ModuleOp module);

/// (`--native-only`) Refuses the first `mma_scaled` of `module`: the CPU has no
/// block-scaled instruction.
LogicalResult checkNativeOnCpu(ModuleOp module);

/// Checks that the lowering of `module` has left nothing but the LLVM dialect.
/// Fails after an error that names what it could not lower.
LogicalResult checkLowered(ModuleOp module);

/// The same for the `gpu.module`s of `module`.
LogicalResult checkLoweredKernels(ModuleOp module);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_INPUTCHECKS_H
