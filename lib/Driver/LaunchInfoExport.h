//===- LaunchInfoExport.h - How kernels are launched ---------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DRIVER_LAUNCHINFOEXPORT_H
#define BLOCKSCALE_LIB_DRIVER_LAUNCHINFOEXPORT_H

#include "blockscale/Runtime/LaunchInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {

/// Reads the launches of `function`, which is at the kernel level and had
/// `type` in the program: its first parameters are the arguments, the others
/// the results. Fails after an error.
FailureOr<LaunchInfo> exportLaunchInfo(func::FuncOp function, FunctionType type,
                                       std::string_view target);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DRIVER_LAUNCHINFOEXPORT_H
