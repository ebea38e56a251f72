//===- CudaExecution.cpp - A launch plan on a CUDA card -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/CudaExecution.h"
#include "GuardedBuffer.h"

#include <algorithm>
#include <chrono>
#include <cstring>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {

/// The memory on the card: the buffers of arguments in order, then the
/// workspace.
struct CardMemory {
  std::vector<GuardedBuffer> buffers;
  /// Their names in messages.
  std::vector<std::string> names;
  /// The address of each argument's buffer; 0 for scalars.
  std::vector<uint64_t> addresses;
  uint64_t workspace = 0;
};

} // namespace

static Result<CardMemory>
makeMemory(const CudaDevice &device, const LaunchPlan &plan,
           const std::vector<LaunchArgument> &arguments, bool hasGuards) {
  CardMemory memory;
  for (const LaunchArgument &argument : arguments) {
    memory.addresses.push_back(0);
    if (!argument.isBuffer())
      continue;
    Result<GuardedBuffer> buffer =
        GuardedBuffer::make(device, argument.array.data.size(), hasGuards);
    memory.names.push_back("argument #" +
                           std::to_string(memory.addresses.size() - 1));
    if (!buffer)
      return buffer.error();
    if (Error error = buffer->copyFrom(argument.array.data.data()))
      return error;
    memory.addresses.back() = buffer->getAddress();
    memory.buffers.push_back(std::move(*buffer));
  }
  if (plan.workspace != 0) {
    Result<GuardedBuffer> buffer =
        GuardedBuffer::make(device, plan.workspace, hasGuards);
    memory.names.push_back("the workspace");
    if (!buffer)
      return buffer.error();
    memory.workspace = buffer->getAddress();
    memory.buffers.push_back(std::move(*buffer));
  }
  return memory;
}

/// Whether `kernel` wrote next to a buffer.
static Error checkGuards(const CardMemory &memory, const std::string &kernel) {
  for (size_t i = 0; i != memory.buffers.size(); ++i) {
    const GuardedBuffer &buffer = memory.buffers[i];
    Result<std::optional<int64_t>> byte = buffer.findWrite();
    if (!byte)
      return byte.error();
    if (*byte)
      return Error("kernel " + quoteForMessage(kernel) + " wrote outside of " +
                   memory.names[i] + ": expected writes to its " +
                   std::to_string(buffer.getSize()) +
                   " bytes, got one to byte " + std::to_string(**byte));
  }
  return Error::success();
}

static Error copyBack(const CardMemory &memory,
                      std::vector<LaunchArgument> &arguments) {
  auto buffer = memory.buffers.begin();
  for (LaunchArgument &argument : arguments) {
    if (!argument.isBuffer())
      continue;
    if (argument.isStored())
      if (Error error = buffer->copyTo(argument.array.data.data()))
        return error;
    ++buffer;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Writes the value of a parameter or of its field, with addresses on the card.
static Error writeParam(const CudaDevice &device, const PlannedParam &param,
                        const CardMemory &memory, uint8_t *to) {
  uint64_t bits = param.value;
  switch (param.kind) {
  case PlannedParam::Kind::Scalar:
    break;
  case PlannedParam::Kind::Buffer:
    bits = memory.addresses[param.value] + param.offset;
    break;
  case PlannedParam::Kind::Workspace:
    bits += memory.workspace;
    break;
  case PlannedParam::Kind::Struct:
    std::copy(param.bytes.begin(), param.bytes.end(), to);
    for (const PlannedField &field : param.fields)
      if (Error error =
              writeParam(device, field.param, memory, to + field.offset))
        return error;
    return Error::success();
  }
  if (!param.tensorMap) {
    std::memcpy(to, &bits, param.size);
    return Error::success();
  }
  Result<CudaTensorMap> map = device.encode(*param.tensorMap, bits);
  if (!map)
    return map.error();
  std::copy(map->bytes.begin(), map->bytes.end(), to);
  return Error::success();
}

namespace {

/// A kernel with everything that its launch needs.
struct ReadyKernel {
  CudaKernel kernel;
  CudaLaunch launch;
};

} // namespace

static Result<ReadyKernel> makeReady(const CudaDevice &device,
                                     const CudaModule &code,
                                     const PlannedKernel &planned,
                                     const CardMemory &memory) {
  Result<CudaKernel> kernel = code.getKernel(planned.name, planned.shared);
  if (!kernel)
    return kernel.error();
  ReadyKernel ready = {*kernel, {}};
  static_cast<LaunchShape &>(ready.launch) = planned;
  ready.launch.grid = planned.grid;
  for (size_t i = 0; i < planned.params.size(); ++i) {
    // The parameter sizes of a cubin are not known, so provide as many bytes as
    // a parameter can have.
    std::vector<uint8_t> &value =
        ready.launch.params.emplace_back(maxParamBytes);
    if (Error error =
            writeParam(device, planned.params[i], memory, value.data()))
      return Error("parameter #" + std::to_string(i) + " of kernel " +
                   quoteForMessage(planned.name) + ": " + error.message());
  }
  return ready;
}

/// The median time of one launch of all kernels; `duration` is the time of the
/// first one.
static Result<double> measure(const CudaDevice &device,
                              const std::vector<ReadyKernel> &kernels,
                              std::chrono::duration<double> duration) {
  constexpr double maxRepetitions = 21;
  constexpr unsigned warmUps = 3;
  constexpr double maxSeconds = 2;
  double repetitions = std::clamp(maxSeconds / std::max(duration.count(), 1e-6),
                                  1.0, maxRepetitions);
  // If a launch takes seconds, no warm-up is needed.
  unsigned leftOut = repetitions > 1 ? warmUps : 0;
  Result<std::vector<double>> times =
      device.measure(leftOut + static_cast<unsigned>(repetitions), [&] {
        for (const ReadyKernel &ready : kernels)
          if (Error error = ready.kernel.launch(ready.launch))
            return error;
        return Error::success();
      });
  if (!times)
    return times.error();
  times->erase(times->begin(), times->begin() + leftOut);
  auto median = times->begin() + times->size() / 2;
  std::nth_element(times->begin(), median, times->end());
  return *median;
}

Error blockscale::runOnCuda(const CudaDevice &device, const CudaModule &code,
                            const LaunchPlan &plan,
                            std::vector<LaunchArgument> &arguments,
                            const CudaRunOptions &options) {
  Result<CardMemory> memory =
      makeMemory(device, plan, arguments, options.checksMemory);
  if (!memory)
    return memory.error();
  std::vector<ReadyKernel> kernels;
  for (const PlannedKernel &planned : plan.kernels) {
    Result<ReadyKernel> ready = makeReady(device, code, planned, *memory);
    if (!ready)
      return ready.error();
    kernels.push_back(std::move(*ready));
  }
  auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (Error error = kernels[i].kernel.launch(kernels[i].launch))
      return error;
    // Wait for each kernel, so that a fault is reported with the right name.
    if (Error error = device.synchronize())
      return Error("kernel " + quoteForMessage(plan.kernels[i].name) + ": " +
                   error.message());
    if (Error error = checkGuards(*memory, plan.kernels[i].name))
      return error;
  }
  auto end = std::chrono::steady_clock::now();
  if (Error error = copyBack(*memory, arguments))
    return error;
  if (!options.milliseconds)
    return Error::success();
  Result<double> time = measure(device, kernels, end - start);
  if (!time)
    return time.error();
  *options.milliseconds = *time;
  return Error::success();
}
