//===- LaunchChecks.cpp - Checks of a launch ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Refuses launches that no GPU or not this kernel allows, before they run.
//
//===----------------------------------------------------------------------===//

#include "Launch/LaunchChecks.h"

#include "Machine/LaunchedKernel.h"
#include "Ptx/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr uint32_t kMaxThreads = 1024;
/// Blocks of a cluster, where the kernel allows more than the portable 8.
static constexpr uint64_t kMaxClusterSize = 16;
/// The largest x, y and z of a block and of a grid.
static constexpr std::array<uint32_t, 3> kMaxBlock = {1024, 1024, 64};
static constexpr std::array<uint32_t, 3> kMaxGrid = {INT32_MAX, 65535, 65535};

static Error rejectLaunch(const Kernel &kernel, const std::string &text) {
  return Error("kernel " + shortenForMessage(kernel.function->name) + ": " +
               text);
}

/// If the kernel declares a cluster, the launch uses it.
static Error checkCluster(const Kernel &kernel, const Module &module,
                          PlannedKernel &planned) {
  const Function &function = *kernel.function;
  auto reject = [&](const std::string &text) {
    return rejectLaunch(kernel, text);
  };
  bool isGiven = planned.cluster != Dim3{1, 1, 1};
  if (std::optional<Dim3> required = function.requiredCluster) {
    if (isGiven && planned.cluster != *required)
      return reject("expected a cluster of " + print(*required) +
                    " (.reqnctapercluster), got " + print(planned.cluster));
    planned.cluster = *required;
  } else if (function.isExplicitCluster && !isGiven) {
    return reject("expected a launch with a cluster (.explicitcluster)");
  }
  const Dim3 &cluster = planned.cluster;
  uint64_t size = 1;
  for (unsigned i = 0; i != 3; ++i) {
    if (cluster[i] == 0)
      return reject(
          "expected at least one block in a cluster, got a cluster of " +
          print(cluster));
    if (planned.grid[i] % cluster[i] != 0)
      return reject("expected a grid that is a multiple of the cluster " +
                    print(cluster) + ", got " + print(planned.grid));
    size = llvm::SaturatingMultiply<uint64_t>(size, cluster[i]);
  }
  uint64_t most = function.maximumClusterRank.value_or(kMaxClusterSize);
  if (size > std::min<uint64_t>(most, kMaxClusterSize))
    return reject("expected at most " +
                  std::to_string(std::min<uint64_t>(most, kMaxClusterSize)) +
                  " blocks in a cluster" +
                  (most < kMaxClusterSize ? " (.maxclusterrank)" : "") +
                  ", got " + std::to_string(size));
  if (size > 1 && !hasFeature(module.target, Feature::Clusters))
    return reject("expected a target of sm_90 or above for clusters, got " +
                  module.target.str());
  return Error::success();
}

static Error checkExtents(const Kernel &kernel, const PlannedKernel &planned) {
  const Function &function = *kernel.function;
  auto reject = [&](const std::string &text) {
    return rejectLaunch(kernel, text);
  };
  if (llvm::is_contained(planned.block, 0u))
    return reject("expected at least one thread in a block, got a block of " +
                  print(planned.block));
  if (llvm::is_contained(planned.grid, 0u))
    return reject("expected at least one block in a grid, got a grid of " +
                  print(planned.grid));
  uint64_t threads =
      uint64_t(planned.block[0]) * planned.block[1] * planned.block[2];
  if (threads > kMaxThreads)
    return reject("expected at most " + std::to_string(kMaxThreads) +
                  " threads in a block, got " + std::to_string(threads));
  for (unsigned i = 0; i != 3; ++i) {
    if (planned.block[i] > kMaxBlock[i])
      return reject("expected a block of at most " + print(kMaxBlock) +
                    ", got " + print(planned.block));
    if (planned.grid[i] > kMaxGrid[i])
      return reject("expected a grid of at most " + print(kMaxGrid) + ", got " +
                    print(planned.grid));
  }
  if (function.requiredBlock && *function.requiredBlock != planned.block)
    return reject("expected a block of " + print(*function.requiredBlock) +
                  " (.reqntid), got " + print(planned.block));
  if (function.maximumBlock) {
    uint64_t most = 1;
    for (uint32_t extent : *function.maximumBlock)
      most = llvm::SaturatingMultiply<uint64_t>(most, extent);
    if (threads > most)
      return reject("expected at most " + std::to_string(most) +
                    " threads in a block (.maxntid), got " +
                    std::to_string(threads));
  }
  uint64_t shared = kernel.sharedVariableBytes() + planned.shared;
  if (shared > kMaxSharedBytes)
    return reject("expected at most " + std::to_string(kMaxSharedBytes) +
                  " bytes of shared memory, got " + std::to_string(shared));
  return Error::success();
}

/// Whether a planned parameter has the bytes of its size.
static bool holdsBytes(const PlannedParam &param) {
  if (param.tensorMap)
    return param.size == tensorMapBytes;
  return param.kind == PlannedParam::Kind::Struct
             ? param.size == param.bytes.size()
             : param.size <= sizeof param.value;
}

static Error checkParameters(const Kernel &kernel,
                             const PlannedKernel &planned) {
  auto reject = [&](const std::string &text) {
    return rejectLaunch(kernel, text);
  };
  if (planned.params.size() != kernel.parameters.size())
    return reject("expected " + std::to_string(kernel.parameters.size()) +
                  " parameters, got " + std::to_string(planned.params.size()));
  for (size_t i = 0; i != planned.params.size(); ++i) {
    if (planned.params[i].size != kernel.parameters[i].size)
      return reject("expected parameter " + std::to_string(i) + " of " +
                    std::to_string(kernel.parameters[i].size) + " bytes, got " +
                    std::to_string(planned.params[i].size));
    // Users of the library may build an inconsistent plan.
    if (!holdsBytes(planned.params[i]))
      return reject("expected the bytes of parameter " + std::to_string(i) +
                    ", which has " + std::to_string(planned.params[i].size) +
                    ", got a number");
  }
  return Error::success();
}

Error sim::checkLaunch(const Kernel &kernel, const Module &module,
                       PlannedKernel &planned) {
  if (Error error = checkExtents(kernel, planned))
    return error;
  if (Error error = checkParameters(kernel, planned))
    return error;
  return checkCluster(kernel, module, planned);
}
