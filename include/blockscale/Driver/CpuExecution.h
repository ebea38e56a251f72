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

/// The types of the arguments or results of a function in programs: tensors,
/// with scalars as tensors of rank 0. Emit an error at the first type that no
/// .npy file can hold.
FailureOr<std::vector<RankedTensorType>>
getArgumentTypes(func::FuncOp function);
FailureOr<std::vector<RankedTensorType>> getResultTypes(func::FuncOp function);

/// Runs `entry` of `program`, which is consumed, on `arguments`, which have
/// been checked against `getArgumentTypes`. Compiles with the
/// `blockscale-to-cpu` pipeline and a JIT. Prints an error on failure. Failures
/// while the program runs (of a check of sizes, of an allocation, or by a
/// signal) print a message and end the process with exit code 1.
FailureOr<std::vector<NpyArray>> runOnCpu(Program &program, func::FuncOp entry,
                                          std::vector<NpyArray> arguments);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DRIVER_CPUEXECUTION_H
