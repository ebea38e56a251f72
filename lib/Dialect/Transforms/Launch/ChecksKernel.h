//===- ChecksKernel.h - A kernel for checks alone ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_CHECKSKERNEL_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_CHECKSKERNEL_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::blockscale {

/// Whether `kernel` has instructions that a call, such as that of a check that
/// fails, keeps from running one behind the other without a wait.
bool isSlowedByCalls(gpu::GPUFuncOp kernel);

/// A launch, in front of `first`, of a kernel of one thread in `kernels`, which
/// has room for checks and does nothing else.
gpu::LaunchFuncOp createChecksLaunch(gpu::LaunchFuncOp first,
                                     gpu::GPUModuleOp kernels);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_CHECKSKERNEL_H
