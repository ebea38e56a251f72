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

/// Whether `kernel` has instructions (wgmma) that would wait for each other if
/// the kernel had a call, such as that of a check that fails.
bool isSlowedByCalls(gpu::GPUFuncOp kernel);

/// Creates, in front of `first`, the launch of a new kernel of one thread in
/// `kernels`, for checks only.
gpu::LaunchFuncOp createChecksLaunch(gpu::LaunchFuncOp first,
                                     gpu::GPUModuleOp kernels);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_LAUNCH_CHECKSKERNEL_H
