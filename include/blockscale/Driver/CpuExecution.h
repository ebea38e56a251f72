//===- CpuExecution.h - Compile for this machine and run --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DRIVER_CPUEXECUTION_H
#define BLOCKSCALE_DRIVER_CPUEXECUTION_H

#include "blockscale/Driver/Program.h"
#include "blockscale/Runtime/Npy.h"

#include <vector>

namespace mlir::blockscale {

/// The types of the arguments or results of a function as programs take and
/// give them: tensors, with scalars as tensors of rank 0. Fail after an error
/// that names the first type that no .npy file can hold.
FailureOr<std::vector<RankedTensorType>>
getArgumentTypes(func::FuncOp function);
FailureOr<std::vector<RankedTensorType>> getResultTypes(func::FuncOp function);

/// Runs `entry` of `program`, which is consumed, on `arguments`, which have
/// been checked against `getArgumentTypes`. Compiles with the
/// `blockscale-to-cpu` pipeline and a JIT. Fails after an error has been
/// printed. What goes wrong while the program runs (a failed check of sizes,
/// no memory, a signal) prints its message and ends the process with exit code
/// 1.
FailureOr<std::vector<NpyArray>> runOnCpu(Program &program, func::FuncOp entry,
                                          std::vector<NpyArray> arguments);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_CPUEXECUTION_H
