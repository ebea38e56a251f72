//===- CudaApi.h - The CUDA driver's functions ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the driver's binary interface that this project uses, declared
// here because a machine that builds it need not have CUDA's headers. Names and
// values are those of cuda.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_RUNTIME_CUDAAPI_H
#define BLOCKSCALE_LIB_RUNTIME_CUDAAPI_H

#include "blockscale/Runtime/Error.h"

#include <cstddef>
#include <cstdint>

namespace mlir::blockscale::cuda {

using Status = int;
inline constexpr Status success = 0;
inline constexpr Status errorOutOfMemory = 2;
inline constexpr Status errorInvalidImage = 200;
inline constexpr Status errorNoBinaryForGpu = 209;
inline constexpr Status errorInvalidPtx = 218;
inline constexpr Status errorUnsupportedPtxVersion = 222;
inline constexpr Status errorNotFound = 500;

using Device = int;
using Context = struct ContextTag *;
using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using Address = uint64_t;

enum DeviceAttribute : int {
  smCount = 16,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
};

enum FunctionAttribute : int {
  maxDynamicSharedSizeBytes = 8,
  nonPortableClusterSizeAllowed = 14,
};

enum JitOption : int {
  jitErrorLogBuffer = 5,
  jitErrorLogBufferSizeBytes = 6,
};

struct LaunchAttribute {
  static constexpr unsigned clusterDimension = 4;
  static constexpr unsigned programmaticStreamSerialization = 6;
  unsigned id;
  unsigned padding;
  /// A union of 64 bytes: a cluster's dimensions use three numbers, a flag one.
  unsigned value[16];
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
static_assert(offsetof(LaunchConfig, stream) == 32 &&
              sizeof(LaunchConfig) == 56);

/// The functions, as the opened library has them.
struct Api {
  Status (*init)(unsigned flags);
  Status (*driverGetVersion)(int *version);
  Status (*getErrorName)(Status status, const char **name);
  Status (*getErrorString)(Status status, const char **text);
  Status (*deviceGet)(Device *device, int ordinal);
  Status (*deviceGetAttribute)(int *value, DeviceAttribute attribute,
                               Device device);
  Status (*primaryCtxRetain)(Context *context, Device device);
  Status (*primaryCtxRelease)(Device device);
  Status (*ctxSetCurrent)(Context context);
  Status (*ctxSynchronize)();
  Status (*moduleLoadDataEx)(Module *module, const void *image,
                             unsigned numOptions, JitOption *options,
                             void **values);
  Status (*moduleUnload)(Module module);
  Status (*moduleGetFunction)(Function *function, Module module,
                              const char *name);
  Status (*funcSetAttribute)(Function function, FunctionAttribute attribute,
                             int value);
  Status (*memAlloc)(Address *address, size_t size);
  Status (*memGetInfo)(size_t *freeBytes, size_t *totalBytes);
  Status (*memFree)(Address address);
  Status (*memcpyHtoD)(Address to, const void *from, size_t size);
  Status (*memcpyDtoH)(void *to, Address from, size_t size);
  Status (*launchKernel)(Function function, unsigned gridX, unsigned gridY,
                         unsigned gridZ, unsigned blockX, unsigned blockY,
                         unsigned blockZ, unsigned sharedBytes, Stream stream,
                         void **params, void **extra);
  Status (*streamCreate)(Stream *stream, unsigned flags);
  Status (*streamDestroy)(Stream stream);
  Status (*eventCreate)(Event *event, unsigned flags);
  Status (*eventRecord)(Event event, Stream stream);
  Status (*eventSynchronize)(Event event);
  Status (*eventElapsedTime)(float *milliseconds, Event start, Event end);
  Status (*eventDestroy)(Event event);
  /// Null before CUDA 12.0; only tensor maps need it.
  Status (*tensorMapEncodeTiled)(void *tensorMap, int type, uint32_t rank,
                                 Address address, const uint64_t *sizes,
                                 const uint64_t *strides, const uint32_t *box,
                                 const uint32_t *elementStrides, int interleave,
                                 int swizzle, int promotion, int fill);
  /// Null before CUDA 11.8; only attributes need it.
  Status (*launchKernelEx)(const LaunchConfig *config, Function function,
                           void **params, void **extra);
};

/// Opens the driver's library, which stays open, since it cannot be shut down.
Result<Api> openApi();

/// "WHAT: the driver's text (NAME)".
Error driverError(const Api &api, const std::string &what, Status status);

} // namespace mlir::blockscale::cuda

#endif // BLOCKSCALE_LIB_RUNTIME_CUDAAPI_H
