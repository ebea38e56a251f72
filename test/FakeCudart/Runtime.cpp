//===- Runtime.cpp - CUDA's runtime without a card ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, streams, events, errors and the card. Everything is over when a call
// returns. What is not here is missing when the program calls it: the loader
// names it.
//
//===----------------------------------------------------------------------===//

#include "Runtime.h"

#include "Card.h"
#include "DeviceMemory.h"
#include "TensorMaps.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime_api.h>

using namespace capture;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static thread_local cudaError_t lastError = cudaSuccess;
/// Behind a kernel that failed, nothing works any more.
static bool isInexact = false;

std::recursive_mutex &Lock::getMutex() {
  // Programs use the runtime until the very end.
  static std::recursive_mutex &mutex = *new std::recursive_mutex;
  return mutex;
}

cudaError_t capture::finish(cudaError_t status) {
  Lock lock;
  isInexact = isInexact || status == cudaErrorLaunchFailure;
  if (isInexact)
    status = cudaErrorLaunchFailure;
  if (status != cudaSuccess)
    lastError = status;
  return status;
}

static constexpr struct {
  cudaError_t status;
  const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize",
     "cluster misconfiguration"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
     "invalid device function"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice",
     "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure",
     "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

extern "C" {

cudaError_t cudaGetLastError() {
  finish(cudaSuccess);
  cudaError_t status = lastError;
  lastError = cudaSuccess;
  return status;
}
cudaError_t cudaPeekAtLastError() {
  finish(cudaSuccess);
  return lastError;
}

const char *cudaGetErrorString(cudaError_t status) {
  for (const auto &row : errors)
    if (row.status == status)
      return row.text;
  return "unrecognized error code";
}
const char *cudaGetErrorName(cudaError_t status) {
  for (const auto &row : errors)
    if (row.status == status)
      return row.name;
  return "unrecognized error code";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static cudaError_t allocate(void **pointer, size_t size, bool isHost) {
  Lock lock;
  *pointer = nullptr;
  if (size == 0)
    return finish(cudaSuccess);
  Buffer *buffer = DeviceMemory::get().allocate(size, isHost);
  if (!buffer)
    return finish(cudaErrorMemoryAllocation);
  *pointer = reinterpret_cast<void *>(buffer->address);
  return finish(cudaSuccess);
}

static cudaError_t release(void *pointer) {
  Lock lock;
  if (pointer && !DeviceMemory::get().free(reinterpret_cast<uint64_t>(pointer)))
    return finish(cudaErrorInvalidValue);
  return finish(cudaSuccess);
}

cudaError_t cudaMalloc(void **pointer, size_t size) {
  return allocate(pointer, size, /*isHost=*/false);
}
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t) {
  return allocate(pointer, size, /*isHost=*/false);
}
cudaError_t cudaMallocHost(void **pointer, size_t size) {
  return allocate(pointer, size, /*isHost=*/true);
}
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned) {
  return allocate(pointer, size, /*isHost=*/true);
}
cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned) {
  return allocate(pointer, size, /*isHost=*/true);
}
cudaError_t cudaFree(void *pointer) { return release(pointer); }
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) {
  return release(pointer);
}
cudaError_t cudaFreeHost(void *pointer) { return release(pointer); }

cudaError_t cudaMemcpy(void *to, const void *from, size_t size,
                       cudaMemcpyKind) {
  Lock lock;
  if (size == 0)
    return finish(cudaSuccess);
  uint8_t *target = DeviceMemory::get().translate(to, size);
  uint8_t *source = DeviceMemory::get().translate(from, size);
  if (!target || !source)
    return finish(cudaErrorInvalidValue);
  std::memmove(target, source, size);
  return finish(cudaSuccess);
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
                            cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, size, kind);
}

cudaError_t cudaMemcpy2D(void *to, size_t toPitch, const void *from,
                         size_t fromPitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  for (size_t row = 0; row != height; ++row)
    if (cudaError_t status = cudaMemcpy(
            static_cast<uint8_t *>(to) + row * toPitch,
            static_cast<const uint8_t *>(from) + row * fromPitch, width, kind))
      return status;
  return finish(cudaSuccess);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from,
                              size_t fromPitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy2D(to, toPitch, from, fromPitch, width, height, kind);
}

cudaError_t cudaMemset(void *pointer, int value, size_t size) {
  Lock lock;
  if (size == 0)
    return finish(cudaSuccess);
  uint8_t *bytes = DeviceMemory::get().translate(pointer, size);
  if (!bytes)
    return finish(cudaErrorInvalidValue);
  std::memset(bytes, value, size);
  return finish(cudaSuccess);
}
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t size,
                            cudaStream_t) {
  return cudaMemset(pointer, value, size);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  *free = *total = kMemoryBytes;
  return finish(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes,
                                     const void *pointer) {
  Lock lock;
  *attributes = {};
  void *address = const_cast<void *>(pointer);
  Buffer *buffer =
      DeviceMemory::get().lookup(reinterpret_cast<uint64_t>(pointer));
  if (!buffer) {
    attributes->device = -2;
    attributes->hostPointer = address;
    return finish(cudaSuccess);
  }
  attributes->type =
      buffer->isHost ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
  attributes->devicePointer = address;
  attributes->hostPointer = buffer->isHost ? address : nullptr;
  return finish(cudaSuccess);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

static cudaError_t makeStream(cudaStream_t *stream) {
  Lock lock;
  static uintptr_t number = 0x1000;
  *stream = reinterpret_cast<cudaStream_t>(number += 0x10);
  return finish(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return makeStream(stream);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  return makeStream(stream);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned, int) {
  return makeStream(stream);
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return finish(cudaSuccess); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return finish(cudaSuccess); }
cudaError_t cudaStreamQuery(cudaStream_t) { return finish(cudaSuccess); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return finish(cudaSuccess);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t,
                                  cudaStreamCaptureStatus *status) {
  *status = cudaStreamCaptureStatusNone;
  return finish(cudaSuccess);
}

using Time = std::chrono::steady_clock::time_point;

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Time());
  return finish(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Time *>(event);
  return finish(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  *reinterpret_cast<Time *>(event) = std::chrono::steady_clock::now();
  return finish(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return finish(cudaSuccess); }
cudaError_t cudaEventQuery(cudaEvent_t) { return finish(cudaSuccess); }

/// The simulator's time, not a card's.
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
  *milliseconds =
      std::chrono::duration<float, std::milli>(*reinterpret_cast<Time *>(end) -
                                               *reinterpret_cast<Time *>(start))
          .count();
  return finish(cudaSuccess);
}

//===----------------------------------------------------------------------===//
// The card
//===----------------------------------------------------------------------===//

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return finish(cudaSuccess);
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return finish(cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  return finish(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceSynchronize() { return finish(cudaSuccess); }
cudaError_t cudaDeviceReset() { return finish(cudaSuccess); }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) {
  return finish(cudaSuccess);
}
cudaError_t cudaProfilerStart() { return finish(cudaSuccess); }
cudaError_t cudaProfilerStop() { return finish(cudaSuccess); }
cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDART_VERSION;
  return finish(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return finish(cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  *least = *greatest = 0;
  return finish(cudaSuccess);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  const Card &card = getCard();
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name,
                "blockscale simulator, %s", getChip().c_str());
  properties->major = card.capability / 10;
  properties->minor = card.capability % 10;
  properties->multiProcessorCount = countSms();
  properties->totalGlobalMem = kMemoryBytes;
  properties->sharedMemPerBlock = kDefaultSharedBytes;
  properties->sharedMemPerBlockOptin = card.getBlockSharedBytes();
  properties->sharedMemPerMultiprocessor = card.sharedKiB * 1024;
  properties->reservedSharedMemPerBlock = 1024;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = kWarpSize;
  properties->maxThreadsPerBlock = kMaxThreadsPerBlock;
  properties->maxThreadsPerMultiProcessor = card.threads;
  properties->maxBlocksPerMultiProcessor = card.blocks;
  std::copy(kMaxBlock, kMaxBlock + 3, properties->maxThreadsDim);
  std::copy(kMaxGrid, kMaxGrid + 3, properties->maxGridSize);
  properties->totalConstMem = 65536;
  properties->l2CacheSize = 50 << 20;
  properties->concurrentKernels = 1;
  properties->unifiedAddressing = properties->managedMemory = 1;
  properties->cooperativeLaunch = 1;
  properties->clusterLaunch = card.capability >= 90;
  return finish(cudaSuccess);
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
  const Card &card = getCard();
  const struct {
    cudaDeviceAttr attribute;
    unsigned value;
  } rows[] = {
      {cudaDevAttrComputeCapabilityMajor, card.capability / 10},
      {cudaDevAttrComputeCapabilityMinor, card.capability % 10},
      {cudaDevAttrMultiProcessorCount, countSms()},
      {cudaDevAttrWarpSize, kWarpSize},
      {cudaDevAttrMaxThreadsPerBlock, kMaxThreadsPerBlock},
      {cudaDevAttrMaxBlockDimX, kMaxBlock[0]},
      {cudaDevAttrMaxBlockDimY, kMaxBlock[1]},
      {cudaDevAttrMaxBlockDimZ, kMaxBlock[2]},
      {cudaDevAttrMaxGridDimX, kMaxGrid[0]},
      {cudaDevAttrMaxGridDimY, kMaxGrid[1]},
      {cudaDevAttrMaxGridDimZ, kMaxGrid[2]},
      {cudaDevAttrMaxThreadsPerMultiProcessor, card.threads},
      {cudaDevAttrMaxBlocksPerMultiprocessor, card.blocks},
      {cudaDevAttrMaxRegistersPerBlock, 65536},
      {cudaDevAttrMaxRegistersPerMultiprocessor, 65536},
      {cudaDevAttrMaxSharedMemoryPerBlock, kDefaultSharedBytes},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, card.getBlockSharedBytes()},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, card.sharedKiB * 1024},
      {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrClusterLaunch, card.capability >= 90},
      {cudaDevAttrUnifiedAddressing, 1},
      {cudaDevAttrManagedMemory, 1},
      {cudaDevAttrConcurrentKernels, 1},
      {cudaDevAttrL2CacheSize, 50 << 20},
      {cudaDevAttrMemoryPoolsSupported, 1},
  };
  for (const auto &row : rows) {
    if (row.attribute != attribute)
      continue;
    *value = row.value;
    return finish(cudaSuccess);
  }
  std::fprintf(stderr,
               "error: cudaDeviceGetAttribute: attribute %d is not known\n",
               attribute);
  return finish(cudaErrorInvalidValue);
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

cudaError_t
cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned,
                                 unsigned long long,
                                 cudaDriverEntryPointQueryResult *found) {
  bool isKnown = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  *function = isKnown ? getTensorMapEncoder() : nullptr;
  if (found)
    *found = isKnown ? cudaDriverEntryPointSuccess
                     : cudaDriverEntryPointSymbolNotFound;
  if (!isKnown)
    std::fprintf(stderr,
                 "error: the program asks for %s of the driver, which "
                 "is not known here\n",
                 symbol);
  return finish(cudaSuccess);
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                    unsigned long long flags,
                                    cudaDriverEntryPointQueryResult *found) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, found);
}

static CUresult fill(CUdeviceptr address, size_t count, const void *value,
                     size_t size) {
  Lock lock;
  uint8_t *bytes = DeviceMemory::get().translate(
      reinterpret_cast<const void *>(address), count * size);
  for (size_t i = 0; bytes && i != count; ++i)
    std::memcpy(bytes + i * size, value, size);
  return bytes || count == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count,
                         CUstream) {
  return fill(address, count, &value, sizeof value);
}
CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value,
                          size_t count, CUstream) {
  return fill(address, count, &value, sizeof value);
}
CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count,
                          CUstream) {
  return fill(address, count, &value, sizeof value);
}
CUresult cuGetErrorString(CUresult status, const char **text) {
  *text = status == CUDA_SUCCESS ? "no error" : "invalid argument";
  return CUDA_SUCCESS;
}

} // extern "C"
