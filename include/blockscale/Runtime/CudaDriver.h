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
// are made by one thread. Messages are one line; what the driver reports late,
// such as a fault of an earlier kernel, is the error of the call that hears of
// it first.
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

/// Memory on a card, aligned to 256 bytes; freed with its owner.
class CudaBuffer {
public:
  CudaBuffer(CudaBuffer &&) noexcept;
  CudaBuffer &operator=(CudaBuffer &&) noexcept;
  ~CudaBuffer();

  uint64_t getAddress() const;
  /// Exactly `size` bytes of the buffer's own.
  Error copyFrom(const void *host);
  Error copyTo(void *host) const;

private:
  friend class CudaDevice;
  struct Memory;
  explicit CudaBuffer(std::unique_ptr<Memory> memory);
  std::unique_ptr<Memory> memory;
};

/// A tensor map in the form that the card's instructions take.
struct alignas(tensorMapAlignment) CudaTensorMap {
  std::array<uint8_t, tensorMapBytes> bytes = {};
};

/// How a kernel is launched.
struct CudaLaunch {
  Dim3 grid = {1, 1, 1};
  Dim3 block = {1, 1, 1};
  Dim3 cluster = {1, 1, 1};
  /// Dynamic shared memory in bytes, at most what the kernel was got with.
  uint32_t shared = 0;
  /// Whether it may start before the kernel in front has ended; drivers before
  /// CUDA 11.8 start it behind that.
  bool isProgrammatic = false;
  /// The bytes of each parameter, at least as many as the kernel has of it.
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

/// Code on a card; unloaded when nobody uses it any more.
class CudaModule {
public:
  /// The kernel `name`, ready for that much dynamic shared memory.
  Result<CudaKernel> getKernel(const std::string &name, uint32_t shared) const;

private:
  friend class CudaDevice;
  explicit CudaModule(std::shared_ptr<CudaCode> code) : code(std::move(code)) {}

  std::shared_ptr<CudaCode> code;
};

/// The first card that the driver shows (it heeds CUDA_VISIBLE_DEVICES), with
/// its primary context and a stream for all launches. Buffers and modules keep
/// them alive.
class CudaDevice {
public:
  static Result<CudaDevice> open();

  /// 90 for compute capability 9.0, of which code is for sm_90.
  unsigned getCapability() const;

  Result<uint32_t> countSms() const;

  /// Loads PTX text or a cubin.
  Result<CudaModule> load(const std::string &image) const;

  Result<CudaBuffer> allocate(uint64_t size) const;

  /// The form of a tensor map that the card's instructions take; the tensor is
  /// at `address`.
  Result<CudaTensorMap> encode(const TensorMap &map, uint64_t address) const;

  /// Waits for all that was launched.
  Error synchronize() const;

  /// Calls `work` again and again without waiting in between, and gives the
  /// milliseconds that the card takes for what each call launches.
  Result<std::vector<double>> measure(unsigned repetitions,
                                      const std::function<Error()> &work) const;

private:
  explicit CudaDevice(std::shared_ptr<CudaContext> context);
  std::shared_ptr<CudaContext> context;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_RUNTIME_CUDADRIVER_H
