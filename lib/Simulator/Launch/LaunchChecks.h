//===- LaunchChecks.h - Checks of a launch ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks extents, shared memory and parameters of a launch against what the
// kernel declares and GPUs allow.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_LAUNCH_LAUNCHCHECKS_H
#define BLOCKSCALE_LIB_SIMULATOR_LAUNCH_LAUNCHCHECKS_H

#include "Translation/TranslatedModule.h"
#include "blockscale/Runtime/LaunchPlan.h"

namespace mlir::blockscale::sim {

/// Fails if a launch is not possible. If the kernel declares a cluster, the
/// launch gets it.
Error checkLaunch(const Kernel &kernel, const Module &module,
                  PlannedKernel &planned);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_LAUNCH_LAUNCHCHECKS_H
