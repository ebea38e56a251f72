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

struct CudaRunOptions {
  /// If not null, the kernels are launched again after the run with the
  /// results, and this gets the median of the times on the card, in
  /// milliseconds. The first few launches warm the card up and do not count.
  /// The results of these launches are dropped.
  double *milliseconds = nullptr;
  /// A write just outside of a buffer is an error that names the kernel and the
  /// argument. Needs a second copy of the buffers on the host.
  bool checksMemory = false;
};

/// Executes a plan once: copies the buffers of `arguments` to the card,
/// launches the kernels in order, and copies the outputs back.
Error runOnCuda(const CudaDevice &device, const CudaModule &code,
                const LaunchPlan &plan, std::vector<LaunchArgument> &arguments,
                const CudaRunOptions &options = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_CUDAEXECUTION_H
