//===- CudaApi.cpp - The CUDA driver's functions --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks up the driver's functions at run time, so that programs start on
// machines without a driver.
//
//===----------------------------------------------------------------------===//

#include "CudaApi.h"

#include <dlfcn.h>
#include <type_traits>

using namespace mlir;
using namespace mlir::blockscale;
using namespace mlir::blockscale::cuda;

Result<Api> cuda::openApi() {
  constexpr const char *names[] = {"libcuda.so.1", "libcuda.so"};
  void *library = nullptr;
  std::string reason;
  for (const char *name : names) {
    library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library)
      break;
    // Report the error for the first name, which is the driver. The second may
    // be a stub of the toolkit.
    if (reason.empty())
      reason = ::dlerror();
  }
  if (!library)
    return Error("cannot open the CUDA driver libcuda.so.1: " + reason);

  Api api = {};
  const char *missing = nullptr;
  auto find = [&](auto *&function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        ::dlsym(library, name));
    if (!function && !missing)
      missing = name;
  };
  // Revised functions have a suffix in the library, which cuda.h adds.
  find(api.init, "cuInit");
  find(api.driverGetVersion, "cuDriverGetVersion");
  find(api.getErrorName, "cuGetErrorName");
  find(api.getErrorString, "cuGetErrorString");
  find(api.deviceGet, "cuDeviceGet");
  find(api.deviceGetAttribute, "cuDeviceGetAttribute");
  find(api.primaryCtxRetain, "cuDevicePrimaryCtxRetain");
  find(api.primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  find(api.ctxSetCurrent, "cuCtxSetCurrent");
  find(api.ctxSynchronize, "cuCtxSynchronize");
  find(api.moduleLoadDataEx, "cuModuleLoadDataEx");
  find(api.moduleUnload, "cuModuleUnload");
  find(api.moduleGetFunction, "cuModuleGetFunction");
  find(api.funcSetAttribute, "cuFuncSetAttribute");
  find(api.memAlloc, "cuMemAlloc_v2");
  find(api.memGetInfo, "cuMemGetInfo_v2");
  find(api.memFree, "cuMemFree_v2");
  find(api.memcpyHtoD, "cuMemcpyHtoD_v2");
  find(api.memcpyDtoH, "cuMemcpyDtoH_v2");
  find(api.launchKernel, "cuLaunchKernel");
  find(api.streamCreate, "cuStreamCreate");
  find(api.streamDestroy, "cuStreamDestroy_v2");
  find(api.eventCreate, "cuEventCreate");
  find(api.eventRecord, "cuEventRecord");
  find(api.eventSynchronize, "cuEventSynchronize");
  find(api.eventElapsedTime, "cuEventElapsedTime");
  find(api.eventDestroy, "cuEventDestroy_v2");
  if (missing)
    return Error(std::string("expected a CUDA driver of CUDA 11 or later, got "
                             "one without ") +
                 missing);
  find(api.launchKernelEx, "cuLaunchKernelEx");
  find(api.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
  return api;
}

Error cuda::driverError(const Api &api, const std::string &what,
                        Status status) {
  const char *name = nullptr, *text = nullptr;
  // A driver may return statuses of later versions than it can explain.
  if (api.getErrorName(status, &name) != success || !name)
    name = "unknown error";
  if (api.getErrorString(status, &text) != success || !text)
    text = "no description";
  return Error(what + ": " + text + " (" + name + ", " +
               std::to_string(status) + ")");
}
