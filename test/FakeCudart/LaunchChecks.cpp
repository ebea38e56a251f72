//===- LaunchChecks.cpp - Launches that are not run -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks launches: the status is CUDA's, the text says what was expected.
//
//===----------------------------------------------------------------------===//

#include "LaunchChecks.h"

#include "Card.h"
#include "DeviceMemory.h"
#include "Memory/Storage.h"

#include <algorithm>

using namespace capture;
using mlir::blockscale::sim::GlobalMemory;

using Extents = std::array<uint32_t, 3>;

std::string capture::printExtents(const std::array<uint32_t, 3> &extents) {
  return std::to_string(extents[0]) + "," + std::to_string(extents[1]) + "," +
         std::to_string(extents[2]);
}

static uint64_t multiply(const Extents &extents) {
  return uint64_t(extents[0]) * extents[1] * extents[2];
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// Whether extents are from 1 to the most.
static bool isWithin(const Extents &extents, const uint32_t (&most)[3]) {
  for (unsigned i = 0; i != 3; ++i)
    if (extents[i] < 1 || extents[i] > most[i])
      return false;
  return true;
}

static std::optional<Refusal> checkExtents(const Launch &launch,
                                           const KernelFacts &facts) {
  auto reject = [](const std::string &expected, const Extents &got) {
    return Refusal{cudaErrorInvalidConfiguration,
                   "expected " + expected + ", got " + printExtents(got)};
  };
  if (!isWithin(launch.grid, kMaxGrid))
    return reject("a grid from 1,1,1 to " +
                      printExtents({kMaxGrid[0], kMaxGrid[1], kMaxGrid[2]}),
                  launch.grid);
  if (!isWithin(launch.block, kMaxBlock))
    return reject("a block from 1,1,1 to " +
                      printExtents({kMaxBlock[0], kMaxBlock[1], kMaxBlock[2]}),
                  launch.block);
  uint64_t most = std::min<uint64_t>(facts.maxThreads, kMaxThreadsPerBlock);
  if (multiply(launch.block) > most)
    return reject("at most " + std::to_string(most) + " threads in a block",
                  launch.block);
  return std::nullopt;
}

static std::optional<Refusal> checkCluster(const Launch &launch,
                                           const KernelFacts &facts) {
  auto reject = [](const std::string &text) {
    return Refusal{cudaErrorInvalidClusterSize, text};
  };
  Extents cluster = facts.cluster.value_or(launch.cluster);
  uint64_t most = launch.kernel->isNonPortableClusterAllowed
                      ? kMaxClusterSize
                      : kMaxPortableClusterSize;
  for (unsigned i = 0; i != 3; ++i)
    if (cluster[i] == 0 || launch.grid[i] % cluster[i] != 0)
      return reject("expected a grid that is a multiple of the cluster " +
                    printExtents(cluster) + ", got " +
                    printExtents(launch.grid));
  if (multiply(cluster) > most)
    return reject("expected at most " + std::to_string(most) +
                  " blocks in a cluster, got " + printExtents(cluster));
  return std::nullopt;
}

static std::optional<Refusal> checkShared(const Launch &launch,
                                          const KernelFacts &facts) {
  uint64_t most = getDynamicSharedLimit(*launch.kernel, facts);
  if (launch.shared <= most)
    return std::nullopt;
  return Refusal{cudaErrorInvalidValue,
                 "expected at most " + std::to_string(most) +
                     " bytes of dynamic shared memory beside " +
                     std::to_string(facts.sharedBytes) +
                     " of variables, which cudaFuncSetAttribute may raise, "
                     "got " +
                     std::to_string(launch.shared)};
}

//===----------------------------------------------------------------------===//
// What launches leave
//===----------------------------------------------------------------------===//

namespace {

/// Of launches that have run.
struct Left {
  std::set<const PtxVariable *> changed;
  /// A variable whose address is in a buffer.
  std::string pointedTo;
  bool hasHeap = false;
};

} // namespace

static Left &getLeft() {
  static Left &left = *new Left;
  return left;
}

static bool hasRegion(const PtxVariable &variable) {
  return variable.space != PtxVariable::Space::Shared;
}

unsigned capture::countRegions(const PtxCode &code) {
  return std::count_if(code.variables.begin(), code.variables.end(), hasRegion);
}

void capture::rememberUses(const VariableUses &uses) {
  getLeft().changed.insert(uses.changed.begin(), uses.changed.end());
  getLeft().hasHeap |= uses.hasHeap;
}

void capture::rememberPointer(const std::string &name) {
  getLeft().pointedTo = name;
}

std::vector<AddressRange> capture::findRanges(const VariableUses &uses,
                                              const PtxCode &code) {
  std::vector<AddressRange> ranges;
  unsigned region = 0;
  for (const PtxVariable &variable : code.variables) {
    if (!hasRegion(variable))
      continue;
    uint64_t address = GlobalMemory::getAddress(region++, variable.alignment);
    if (uses.reached.count(&variable))
      ranges.push_back(
          {address, address + variable.bytes, std::string(variable.name)});
  }
  return ranges;
}

static std::optional<Refusal> checkLeft(const VariableUses &uses) {
  auto reject = [](const std::string &text) {
    return Refusal{cudaErrorNotSupported,
                   "not supported in this version: " + text};
  };
  const Left &left = getLeft();
  if (!left.pointedTo.empty())
    return reject("a launch before has left the address of variable '" +
                  left.pointedTo + "' in a buffer, and variables start anew");
  if (left.hasHeap && uses.hasHeap)
    return reject("several launches call malloc or free, and the heap starts "
                  "anew");
  for (const PtxVariable *variable : uses.reached)
    if (left.changed.count(variable))
      return reject("variable '" + std::string(variable->name) +
                    "' is used by several launches, one of which may change "
                    "it, and starts anew");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

static std::optional<Refusal> checkModule(const Kernel &kernel) {
  if (kernel.module->text.empty())
    return Refusal{cudaErrorNoKernelImageForDevice, kernel.module->error};
  if (!getFacts(kernel))
    return Refusal{cudaErrorInvalidDeviceFunction,
                   "expected it in the PTX, got none"};
  if (unsigned regions = countRegions(getCode(*kernel.module));
      regions > kVariableRegions)
    return Refusal{cudaErrorNotSupported,
                   "not supported in this version: expected at most " +
                       std::to_string(kVariableRegions) +
                       " variables in a module, got " +
                       std::to_string(regions)};
  return std::nullopt;
}

std::optional<Refusal> capture::checkLaunch(const Launch &launch) {
  if (!launch.kernel)
    return Refusal{cudaErrorInvalidDeviceFunction,
                   "expected a kernel of the program, got another function"};
  std::optional<Refusal> refusal = checkModule(*launch.kernel);
  if (!refusal) {
    const KernelFacts &facts = *getFacts(*launch.kernel);
    for (auto *check : {checkExtents, checkCluster, checkShared})
      if (!refusal)
        refusal = check(launch, facts);
    if (!refusal)
      refusal = checkLeft(facts.uses);
  }
  if (refusal)
    refusal->text = "kernel '" + launch.kernel->name + "': " + refusal->text;
  return refusal;
}
