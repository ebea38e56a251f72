//===- CudaDriver.h - CUDA cards through their driver -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver is opened when the program runs (libcuda.so.1, then libcuda.so),
// so that nothing of CUDA is needed to build or to start a program. All calls
// are made by one thread. Messages are one line; errors that the driver reports
// late, such as a fault of an earlier kernel, are errors of the call that
// returns them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_RUNTIME_CUDADRIVER_H
#define BLOCKSCALE_RUNTIME_CUDADRIVER_H

#include "blockscale/Runtime/LaunchInfo.h"
#include "blockscale/Runtime/TensorMap.h"

#include <functional>
#include <memory>

namespace mlir::blockscale {

struct CudaContext;

/// Memory on a card, aligned to 256 bytes; freed with the last copy of this.
class CudaBuffer {
public:
  uint64_t getAddress() const;
  /// Copies exactly the size of the buffer.
  Error copyFrom(const void *host);
  Error copyTo(void *host) const;

private:
  friend class CudaDevice;
  struct Memory;
  explicit CudaBuffer(std::shared_ptr<Memory> memory)
      : memory(std::move(memory)) {}
  std::shared_ptr<Memory> memory;
};

/// An encoded tensor map, as the card's instructions take it.
struct alignas(tensorMapAlignment) CudaTensorMap {
  std::array<uint8_t, tensorMapBytes> bytes = {};
};

/// The configuration of a launch. Shared memory is at most what getKernel was
/// called with.
struct CudaLaunch : LaunchShape {
  Dim3 grid = {1, 1, 1};
  /// The bytes of each parameter, at least as many as the kernel's parameter.
  std::vector<std::vector<uint8_t>> params;
};

struct CudaCode;

/// A kernel on a card; keeps its module loaded.
class CudaKernel {
public:
  /// Launches without waiting for the end.
  Error launch(const CudaLaunch &config) const;

private:
  friend class CudaModule;
  CudaKernel(std::shared_ptr<CudaCode> code, std::string name)
      : code(std::move(code)), name(std::move(name)) {}

  std::shared_ptr<CudaCode> code;
  std::string name;
  void *function = nullptr;
};

/// Code on a card; unloaded when its last user is destroyed.
class CudaModule {
public:
  /// The kernel `name`, set up for that much dynamic shared memory.
  Result<CudaKernel> getKernel(const std::string &name, uint32_t shared) const;

private:
  friend class CudaDevice;
  explicit CudaModule(std::shared_ptr<CudaCode> code) : code(std::move(code)) {}

  std::shared_ptr<CudaCode> code;
};

/// The first card of the driver (which respects CUDA_VISIBLE_DEVICES), with its
/// primary context and a stream for all launches. Buffers and modules keep them
/// alive.
class CudaDevice {
public:
  static Result<CudaDevice> open();

  /// 90 for compute capability 9.0 (sm_90).
  unsigned getCapability() const;

  Result<uint32_t> countSms() const;

  /// Loads PTX text or a cubin.
  Result<CudaModule> load(const std::string &image) const;

  Result<CudaBuffer> allocate(uint64_t size) const;

  /// Encodes a tensor map for a tensor at `address`.
  Result<CudaTensorMap> encode(const TensorMap &map, uint64_t address) const;

  /// Waits for all launches.
  Error synchronize() const;

  /// Calls `work` repeatedly without waiting in between, and returns the
  /// milliseconds on the card for the launches of each call.
  Result<std::vector<double>> measure(unsigned repetitions,
                                      const std::function<Error()> &work) const;

private:
  explicit CudaDevice(std::shared_ptr<CudaContext> context);
  std::shared_ptr<CudaContext> context;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_CUDADRIVER_H
