//===- RunMemory.h - Memory of a run ----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prepares global memory before the first kernel of a plan runs.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_LAUNCH_RUNMEMORY_H
#define BLOCKSCALE_LIB_SIMULATOR_LAUNCH_RUNMEMORY_H

#include "Memory/Heap.h"
#include "Memory/Storage.h"
#include "Translation/TranslatedModule.h"
#include "blockscale/Runtime/LaunchPlan.h"
#include "blockscale/Simulator/Simulator.h"

namespace mlir::blockscale::sim {

/// Global memory, and the allocations of the arguments in it.
struct RunMemory {
  GlobalMemory memory;
  Heap heap{memory};
  std::vector<GlobalMemory::Allocation *> arguments;
  /// Null if there is none.
  GlobalMemory::Allocation *workspace = nullptr;
  /// The memory to which %envreg1 and %envreg2 point; zeros when a kernel
  /// starts.
  GlobalMemory::Allocation *gridWorkspace = nullptr;
};

/// Allocates the variables of the module and the workspace, and maps the
/// buffers of the arguments, which are not copied.
void fillMemory(const TranslatedModule &program, const LaunchPlan &plan,
                std::vector<LaunchArgument> &arguments, RunMemory &run);

/// Writes the parameters of a kernel, makes the tensor maps among them, and
/// clears the workspace of the grid.
void fillParameters(const Kernel &kernel, const PlannedKernel &planned,
                    RunMemory &run, Storage &parameters);

/// Checks that the bytes of an output are defined, and those of `out:` written;
/// else an error or a warning, as the options say.
Error checkOutput(const GlobalMemory::Allocation &allocation,
                  const Options &options, std::vector<std::string> &warnings);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_LAUNCH_RUNMEMORY_H
