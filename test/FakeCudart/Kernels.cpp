//===- Kernels.cpp - Kernels in CUDA's runtime ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's functions for kernels: registration, launches, attributes and
// occupancy.
//
//===----------------------------------------------------------------------===//

#include "Card.h"
#include "Launches.h"
#include "Runtime.h"

#include <algorithm>
#include <cstdio>
#include <cuda_runtime_api.h>

using namespace capture;

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {

/// What stands between `<<<` and `>>>`.
struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};

} // namespace

static thread_local std::vector<Configuration> configurations;

extern "C" {

void **__cudaRegisterFatBinary(void *wrapper) {
  return reinterpret_cast<void **>(addFatBinary(wrapper));
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 1; }

void __cudaRegisterFunction(void **module, const char *hostFunction, char *,
                            const char *name, int, uint3 *, uint3 *, dim3 *,
                            dim3 *, int *) {
  addKernel(reinterpret_cast<Module *>(module), hostFunction, name);
}
// The PTX says which variables there are.
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int,
                       int) {}
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int,
                              size_t, int, int) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     CUstream_st *stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       void *stream) {
  Configuration top = configurations.back();
  configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t *>(stream) = top.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
  *kernel = reinterpret_cast<cudaKernel_t>(lookupKernel(function));
  return finish(*kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static cudaError_t launch(const void *function, dim3 grid, dim3 block,
                          dim3 cluster, size_t shared, void **params) {
  Lock lock;
  // After an error, nothing more is run.
  if (cudaError_t status = finish(cudaSuccess))
    return status;
  return finish(run({lookupKernel(function),
                     {grid.x, grid.y, grid.z},
                     {block.x, block.y, block.z},
                     {cluster.x, cluster.y, cluster.z},
                     shared,
                     params}));
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
                             void **params, size_t shared, cudaStream_t) {
  return launch(function, grid, block, {1, 1, 1}, shared, params);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void **params, size_t shared, cudaStream_t) {
  return launch(kernel, grid, block, {1, 1, 1}, shared, params);
}
cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid,
                                        dim3 block, void **params,
                                        size_t shared, cudaStream_t) {
  return launch(function, grid, block, {1, 1, 1}, shared, params);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                const void *function, void **params) {
  dim3 cluster = {1, 1, 1};
  for (unsigned i = 0; i != config->numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y,
                 attribute.val.clusterDim.z};
  }
  return launch(function, config->gridDim, config->blockDim, cluster,
                config->dynamicSmemBytes, params);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

cudaError_t cudaFuncSetAttribute(const void *function,
                                 cudaFuncAttribute attribute, int value) {
  Lock lock;
  Kernel *kernel = lookupKernel(function);
  if (!kernel)
    return finish(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    const KernelFacts *facts = getFacts(*kernel);
    uint64_t used = facts ? facts->sharedBytes : 0;
    if (value < 0 || value + used > getCard().getBlockSharedBytes())
      return finish(cudaErrorInvalidValue);
    kernel->dynamicSharedBytes = value;
  }
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
    kernel->isNonPortableClusterAllowed = value != 0;
  return finish(cudaSuccess);
}
cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) {
  return finish(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                  const void *function) {
  Lock lock;
  Kernel *kernel = lookupKernel(function);
  const KernelFacts *facts = kernel ? getFacts(*kernel) : nullptr;
  if (!facts)
    return finish(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->sharedSizeBytes = facts->sharedBytes;
  attributes->maxThreadsPerBlock = facts->maxThreads;
  attributes->maxDynamicSharedSizeBytes =
      getDynamicSharedLimit(*kernel, *facts);
  // ptxas gives out registers: these are as many as all threads can have.
  attributes->numRegs = std::clamp(65536 / int(facts->maxThreads), 32, 255);
  attributes->ptxVersion = attributes->binaryVersion =
      rankChip(kernel->module->target).value_or(0) / 10;
  return finish(cudaSuccess);
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

/// Blocks that fit on an SM by threads and shared memory:
/// registers are given out by ptxas.
static int countBlocks(const Kernel &kernel, const KernelFacts &facts,
                       uint64_t threads, uint64_t shared) {
  const Card &card = getCard();
  if (threads < 1 || threads > facts.maxThreads ||
      shared > getDynamicSharedLimit(kernel, facts))
    return 0;
  threads = (threads + kWarpSize - 1) / kWarpSize * kWarpSize;
  uint64_t byThreads = card.threads / threads;
  uint64_t byShared =
      card.sharedKiB * 1024 / (facts.sharedBytes + shared + 1024);
  return std::min({uint64_t(card.blocks), byThreads, byShared});
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *number, const void *function, int threads, size_t shared, unsigned) {
  Lock lock;
  Kernel *kernel = lookupKernel(function);
  const KernelFacts *facts = kernel ? getFacts(*kernel) : nullptr;
  if (!facts)
    return finish(cudaErrorInvalidDeviceFunction);
  *number = countBlocks(*kernel, *facts, threads, shared);
  return finish(cudaSuccess);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *number,
                                                          const void *function,
                                                          int threads,
                                                          size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      number, function, threads, shared, 0);
}

cudaError_t cudaOccupancyMaxActiveClusters(int *number, const void *function,
                                           const cudaLaunchConfig_t *config) {
  unsigned blocks = 1;
  for (unsigned i = 0; i != config->numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == cudaLaunchAttributeClusterDimension)
      blocks = attribute.val.clusterDim.x * attribute.val.clusterDim.y *
               attribute.val.clusterDim.z;
  }
  const dim3 &block = config->blockDim;
  int resident = 0;
  cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      &resident, function, block.x * block.y * block.z,
      config->dynamicSmemBytes, 0);
  *number = resident * countSms() / std::max(blocks, 1u);
  return status;
}

} // extern "C"
