//===- CudaExecution.h - A launch plan on a CUDA card -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_CUDAEXECUTION_H
#define BLOCKSCALE_RUNTIME_CUDAEXECUTION_H

#include "blockscale/Runtime/CudaDriver.h"
#include "blockscale/Runtime/LaunchPlan.h"

namespace mlir::blockscale {

/// Carries out a plan once: copies the buffers of `arguments` to the card,
/// launches the kernels in order, and copies what is to be stored back. With
/// `milliseconds`, launches them again after that, and gives the median of the
/// times on the card; what the repetitions compute is dropped.
Error runOnCuda(const CudaDevice &device, const CudaModule &code,
                const LaunchPlan &plan, std::vector<LaunchArgument> &arguments,
                double *milliseconds = nullptr);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_CUDAEXECUTION_H
