//===- LaunchedKernel.cpp - A kernel with its extents ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the extents of a launch to clusters, and to groups of clusters that run
// at the same time.
//
//===----------------------------------------------------------------------===//

#include "Machine/LaunchedKernel.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::string sim::print(const Extents &extents) {
  return "(" + std::to_string(extents[0]) + "," + std::to_string(extents[1]) +
         "," + std::to_string(extents[2]) + ")";
}

uint64_t sim::getVolume(const Extents &extents) {
  return uint64_t(extents[0]) * extents[1] * extents[2];
}

Extents sim::getPlace(uint64_t number, const Extents &extents) {
  return {static_cast<uint32_t>(number % extents[0]),
          static_cast<uint32_t>(number / extents[0] % extents[1]),
          static_cast<uint32_t>(number / extents[0] / extents[1])};
}

Extents LaunchedKernel::getNumClusters() const {
  Extents clusters;
  for (unsigned i = 0; i != 3; ++i)
    clusters[i] = grid[i] / cluster[i];
  return clusters;
}

unsigned LaunchedKernel::getClusterSize() const { return getVolume(cluster); }

/// Blocks of one multiprocessor compete for its tensor memory: two clusters
/// run side by side where there is room for both.
unsigned LaunchedKernel::getClustersOfGroup() const {
  constexpr uint64_t sharedOfSm = 228 << 10, reserved = 1 << 10;
  constexpr unsigned threadsOfSm = 2048;
  uint64_t bytes = kernel->sharedVariableBytes() + dynamicShared;
  bool hasRoom = 2 * (bytes + reserved) <= sharedOfSm &&
                 2 * getNumThreads() <= threadsOfSm;
  return uses(UsesTensorMemory) && hasRoom ? 2 : 1;
}
