//===- LaunchedKernel.cpp - A kernel with its extents ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes clusters, and groups of clusters that run at the same time, from the
// extents of a launch.
//
//===----------------------------------------------------------------------===//

#include "Machine/LaunchedKernel.h"

#include "Ptx/Targets.h"
#include "blockscale/Support/Rates.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::string sim::print(const Extents &extents) {
  return "(" + std::to_string(extents[0]) + "," + std::to_string(extents[1]) +
         "," + std::to_string(extents[2]) + ")";
}

uint64_t sim::getVolume(const Extents &extents) {
  return uint64_t(extents[0]) * extents[1] * extents[2];
}

Extents sim::getIndexOf(uint64_t number, const Extents &extents) {
  return {static_cast<uint32_t>(number % extents[0]),
          static_cast<uint32_t>(number / extents[0] % extents[1]),
          static_cast<uint32_t>(number / extents[0] / extents[1])};
}

std::string LaunchedKernel::nameSharedByte(uint64_t offset) const {
  auto print = [&](uint64_t begin, llvm::StringRef name) {
    return " (byte " + std::to_string(offset - begin) + " of " +
           shortenForMessage(name.str()) + ")";
  };
  for (auto [range, name] :
       llvm::zip_equal(kernel->sharedVariables, kernel->sharedNames))
    if (offset >= range.first && offset < range.second)
      return print(range.first, name);
  if (offset >= kernel->staticShared && !kernel->dynamicSharedName.empty())
    return print(kernel->staticShared, kernel->dynamicSharedName);
  return "";
}

std::string LaunchedKernel::suggestShared(uint64_t end) const {
  if (kernel->dynamicSharedName.empty() || end <= getSharedBytes())
    return "";
  return ": " + shortenForMessage(kernel->dynamicSharedName.str()) +
         " is dynamic shared memory, of which this launch has " +
         std::to_string(dynamicShared) + " bytes (--shared), expected " +
         std::to_string(end - kernel->staticShared) + " or more";
}

Extents LaunchedKernel::getNumClusters() const {
  Extents clusters;
  for (unsigned i = 0; i != 3; ++i)
    clusters[i] = grid[i] / cluster[i];
  return clusters;
}

unsigned LaunchedKernel::getClusterSize() const { return getVolume(cluster); }

namespace {
/// The limits of an SM, from a compute capability on.
struct SmLimits {
  unsigned capability;
  uint64_t sharedKiB, threads, blocks;
};
} // namespace

/// CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability".
static constexpr SmLimits kLimits[] = {
    {0, 96, 2048, 32},    {75, 64, 1024, 16},   {80, 164, 2048, 32},
    {86, 100, 1536, 16},  {87, 164, 1536, 16},  {89, 100, 1536, 24},
    {90, 228, 2048, 32},  {100, 228, 2048, 32}, {110, 228, 1536, 24},
    {120, 100, 1536, 24},
};

/// Only shared memory and threads count, as ptxas allocates registers.
uint64_t LaunchedKernel::getBlocksOfSm() const {
  unsigned capability = getTargetNumber(target);
  const SmLimits *limits = std::prev(llvm::upper_bound(
      kLimits, capability,
      [](unsigned value, const auto &row) { return value < row.capability; }));
  constexpr uint64_t reserved = 1 << 10;
  uint64_t bytes = kernel->sharedVariableBytes() + dynamicShared + reserved;
  return std::min({limits->blocks, (limits->sharedKiB << 10) / bytes,
                   limits->threads / (getNumWarps() * kLanes)});
}

/// Blocks of one SM compete for its tensor memory: two clusters run side by
/// side if both fit.
unsigned LaunchedKernel::getClustersOfGroup() const {
  return uses(UsesTensorMemory) && getBlocksOfSm() >= 2 ? 2 : 1;
}

uint64_t LaunchedKernel::getResidentGroups() const {
  // Targets without a chip in the table use the oldest one there.
  return getGroupsOn(
      findAnyRate(getTargetNumber(target), &ChipRates::sms)->value);
}

uint64_t LaunchedKernel::getGroupsOn(uint64_t sms) const {
  uint64_t blocks = std::max<uint64_t>(getBlocksOfSm(), 1) * sms;
  return std::max<uint64_t>(blocks / (getClustersOfGroup() * getClusterSize()),
                            1);
}
