//===- LaunchedKernel.h - A kernel with its extents -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_LAUNCHEDKERNEL_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_LAUNCHEDKERNEL_H

#include "Machine/Lanes.h"
#include "Memory/GlobalRaces.h"
#include "Memory/Heap.h"
#include "Memory/Storage.h"
#include "Translation/TranslatedModule.h"

#include <array>
#include <string>

namespace mlir::blockscale::sim {

/// The x, y and z of a grid, a block or a cluster, or of an index in one.
using Extents = std::array<uint32_t, 3>;
std::string print(const Extents &extents);

/// A kernel with its extents and parameters.
struct LaunchedKernel {
  const Kernel *kernel;
  /// The target of the module, such as sm_90a.
  llvm::StringRef target;
  Extents grid, block, cluster;
  uint32_t dynamicShared;
  /// Whether it may start before the previous kernel has ended.
  bool isProgrammatic;
  /// Kernels of the run with numbers up to this one, counted from 1, have ended
  /// for sure when this one starts.
  uint32_t settled;
  /// Its own number.
  uint32_t number;
  GlobalMemory *memory;
  /// The bytes of the parameters; read-only.
  Storage *parameters;
  const Options *options;
  uint64_t seed;
  /// The address of the memory with which all blocks of a grid synchronize.
  uint64_t gridWorkspace = 0;
  Heap *heap = nullptr;
  /// The accesses of blocks to global memory; null without race detection.
  GridAccesses *gridAccesses = nullptr;

  unsigned getNumThreads() const { return block[0] * block[1] * block[2]; }
  unsigned getNumWarps() const {
    return (getNumThreads() + kLanes - 1) / kLanes;
  }
  bool uses(Facility facility) const {
    return (kernel->facilities & facility) != 0;
  }
  /// Whether the launch or the kernel names the extents of a cluster.
  bool hasExplicitCluster() const {
    return cluster != Extents{1, 1, 1} || kernel->function->requiredCluster;
  }
  uint64_t getSharedBytes() const {
    return kernel->staticShared + dynamicShared;
  }

  /// Names an offset in shared memory at the end of a message: ` (byte 4 of
  /// 'tile')`; empty if no variable is there.
  std::string nameSharedByte(uint64_t offset) const;
  /// The same if an offset is beyond shared memory and the kernel has dynamic
  /// shared memory: suggests a value of `--shared`.
  std::string suggestShared(uint64_t end) const;

  /// The number of clusters in the three dimensions.
  Extents getNumClusters() const;
  /// The number of blocks of a cluster.
  unsigned getClusterSize() const;
  /// How many clusters run side by side on the same SMs, and compete for their
  /// tensor memory.
  unsigned getClustersOfGroup() const;
  /// How many groups so many SMs, or a whole chip, can hold at the same time.
  uint64_t getGroupsOn(uint64_t sms) const;
  uint64_t getResidentGroups() const;
  /// How many blocks an SM can hold.
  uint64_t getBlocksOfSm() const;
};

uint64_t getVolume(const Extents &extents);
/// The index with a linear number, x fastest.
Extents getIndexOf(uint64_t number, const Extents &extents);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_LAUNCHEDKERNEL_H
