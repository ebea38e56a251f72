//===- CudaDriver.cpp - CUDA cards through their driver -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RAII owners of contexts, modules and memory, and error messages that say
// which call failed.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/CudaDriver.h"
#include "CudaApi.h"
#include "blockscale/Runtime/PtxSummary.h"

#include <algorithm>
#include <elf.h>

using namespace mlir;
using namespace mlir::blockscale;

/// A card's primary context, as long as somebody uses it.
struct blockscale::CudaContext {
  CudaContext(const cuda::Api &api, cuda::Device device)
      : api(api), device(device) {}
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;
  ~CudaContext() {
    if (stream)
      api.streamDestroy(stream);
    if (isRetained)
      api.primaryCtxRelease(device);
  }

  /// The error of a call that failed.
  Error check(const std::string &what, cuda::Status status) const {
    if (status == cuda::success)
      return Error::success();
    return cuda::driverError(api, what, status);
  }

  cuda::Api api;
  cuda::Device device;
  bool isRetained = false;
  /// The stream of all launches. It and the copies, which are in the default
  /// stream, wait for each other; but its events measure launches only.
  cuda::Stream stream = nullptr;
  unsigned capability = 0;
  int driverVersion = 0;
};

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

struct CudaBuffer::Memory {
  Memory(std::shared_ptr<CudaContext> context, uint64_t size)
      : context(std::move(context)), size(size) {}
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() {
    // Ignore errors: after a fault of a kernel, which was reported, every later
    // call fails.
    if (address)
      context->api.memFree(address);
  }

  std::shared_ptr<CudaContext> context;
  uint64_t size;
  cuda::Address address = 0;
};

uint64_t CudaBuffer::getAddress() const { return memory->address; }

Error CudaBuffer::copyFrom(const void *host) {
  if (memory->size == 0)
    return Error::success();
  const CudaContext &context = *memory->context;
  return context.check(
      "cannot copy to the card",
      context.api.memcpyHtoD(memory->address, host, memory->size));
}

Error CudaBuffer::copyTo(void *host) const {
  if (memory->size == 0)
    return Error::success();
  const CudaContext &context = *memory->context;
  return context.check(
      "cannot copy from the card",
      context.api.memcpyDtoH(host, memory->address, memory->size));
}

Result<CudaBuffer> CudaDevice::allocate(uint64_t size) const {
  auto memory = std::make_shared<CudaBuffer::Memory>(context, size);
  const cuda::Api &api = context->api;
  // The driver has no empty allocations, but a kernel may need an address.
  cuda::Status status =
      api.memAlloc(&memory->address, std::max<uint64_t>(size, 1));
  std::string what =
      "cannot allocate " + std::to_string(size) + " bytes on the card";
  size_t freeBytes = 0, totalBytes = 0;
  if (status == cuda::errorOutOfMemory &&
      api.memGetInfo(&freeBytes, &totalBytes) == cuda::success)
    what += ", which has " + std::to_string(freeBytes) + " free of " +
            std::to_string(totalBytes);
  if (Error error = context->check(what, status))
    return error;
  return CudaBuffer(std::move(memory));
}

//===----------------------------------------------------------------------===//
// Loading code
//===----------------------------------------------------------------------===//

struct blockscale::CudaCode {
  explicit CudaCode(std::shared_ptr<CudaContext> context)
      : context(std::move(context)) {}
  CudaCode(const CudaCode &) = delete;
  CudaCode &operator=(const CudaCode &) = delete;
  ~CudaCode() {
    if (module)
      context->api.moduleUnload(module);
  }

  std::shared_ptr<CudaContext> context;
  cuda::Module module = nullptr;
};

/// The driver gets the start of an image, but not its end, so images that would
/// make it read too far are refused.
static Error checkImage(const std::string &image) {
  if (!isCubin(image)) {
    if (image.empty() || image.find('\0') != image.npos)
      return Error(std::string("expected PTX text or a cubin, got ") +
                   (image.empty() ? "nothing" : "binary data"));
    return Error::success();
  }
  Elf64_Ehdr header;
  uint64_t end = sizeof(header);
  if (image.size() >= end) {
    std::copy_n(image.data(), sizeof(header),
                reinterpret_cast<char *>(&header));
    // The linker puts one of these two tables at the end.
    auto addTable = [&](uint64_t offset, uint64_t entrySize, uint64_t count) {
      end = std::max(end,
                     std::min<uint64_t>(offset, INT64_MAX) + entrySize * count);
    };
    addTable(header.e_shoff, header.e_shentsize, header.e_shnum);
    addTable(header.e_phoff, header.e_phentsize, header.e_phnum);
  }
  if (image.size() < end)
    return Error("truncated cubin: expected " + std::to_string(end) +
                 " bytes, got " + std::to_string(image.size()));
  return Error::success();
}

/// The first few lines with errors of the compiler's log, on one line.
static std::string summarizeLog(std::string_view log) {
  constexpr unsigned maxLines = 3;
  std::string summary;
  unsigned numLines = 0;
  while (!log.empty() && numLines < maxLines) {
    std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (line.find("error") == line.npos && line.find("fatal") == line.npos)
      continue;
    summary += numLines++ == 0 ? "" : "; ";
    // Names in the log come from the file, which may hold anything.
    for (char c : line)
      summary += c >= ' ' && c <= '~' ? c : '?';
  }
  return summary;
}

/// Prints a CUDA version of the driver, such as 12040.
static std::string printVersion(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// Why the driver refused the code.
static Error loadError(const CudaContext &context, cuda::Status status,
                       const std::string &image, std::string_view log) {
  bool isBadImage = status == cuda::errorInvalidImage ||
                    status == cuda::errorNoBinaryForGpu ||
                    status == cuda::errorInvalidPtx;
  std::string card = "the card's sm_" + std::to_string(context.capability);
  if (isCubin(image) && isBadImage)
    return Error("expected a cubin for " + card + ", got one that does not " +
                 "run there");
  PtxSummary ptx = summarizePtx(image);
  if (status == cuda::errorUnsupportedPtxVersion)
    return Error("expected a PTX version that the driver's CUDA " +
                 printVersion(context.driverVersion) + " knows, got .version " +
                 ptx.version);
  if (status == cuda::errorNoBinaryForGpu ||
      (isBadImage && !isTargetOfCard(ptx.target, context.capability)))
    return Error("expected a .target that runs on " + card + ", got .target " +
                 ptx.target);
  std::string reasons = summarizeLog(log);
  if (!reasons.empty())
    return Error("cannot compile the PTX: " + reasons);
  return cuda::driverError(context.api, "cannot load the code", status);
}

Result<CudaModule> CudaDevice::load(const std::string &image) const {
  if (Error error = checkImage(image))
    return error;
  auto code = std::make_shared<CudaCode>(context);
  char log[8192] = {};
  cuda::JitOption options[] = {cuda::jitErrorLogBuffer,
                               cuda::jitErrorLogBufferSizeBytes};
  // The driver takes numbers as pointers.
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  cuda::Status status = context->api.moduleLoadDataEx(
      &code->module, image.c_str(), std::size(options), options, values);
  if (status != cuda::success)
    return loadError(*context, status, image, log);
  return CudaModule(std::move(code));
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static std::string printDim3(const Dim3 &extents) {
  return std::to_string(extents[0]) + "," + std::to_string(extents[1]) + "," +
         std::to_string(extents[2]);
}

static bool hasCluster(const CudaLaunch &config) {
  return config.cluster != Dim3{1, 1, 1};
}

/// A launch with attributes.
static cuda::Status launchWithAttributes(const cuda::Api &api,
                                         cuda::Stream stream,
                                         cuda::Function function,
                                         const CudaLaunch &config,
                                         void **params) {
  std::vector<cuda::LaunchAttribute> attributes;
  const Dim3 &cluster = config.cluster;
  if (hasCluster(config)) {
    // Every card with clusters supports this size; larger ones must be allowed.
    constexpr uint64_t maxPortableSize = 8;
    if (uint64_t(cluster[0]) * cluster[1] * cluster[2] > maxPortableSize)
      if (cuda::Status status = api.funcSetAttribute(
              function, cuda::nonPortableClusterSizeAllowed, 1))
        return status;
    cuda::LaunchAttribute &attribute = attributes.emplace_back();
    attribute.id = cuda::LaunchAttribute::clusterDimension;
    std::copy(cluster.begin(), cluster.end(), attribute.value);
  }
  if (config.isProgrammatic) {
    cuda::LaunchAttribute &attribute = attributes.emplace_back();
    attribute.id = cuda::LaunchAttribute::programmaticStreamSerialization;
    attribute.value[0] = 1;
  }
  cuda::LaunchConfig launch = {};
  std::copy(config.grid.begin(), config.grid.end(), launch.grid);
  std::copy(config.block.begin(), config.block.end(), launch.block);
  launch.sharedBytes = config.shared;
  launch.stream = stream;
  launch.attributes = attributes.data();
  launch.numAttributes = static_cast<unsigned>(attributes.size());
  return api.launchKernelEx(&launch, function, params, nullptr);
}

Result<CudaKernel> CudaModule::getKernel(const std::string &name,
                                         uint32_t shared) const {
  const CudaContext &context = *code->context;
  std::string title = "kernel " + quoteForMessage(name);
  CudaKernel kernel(code, name);
  cuda::Function function = nullptr;
  cuda::Status status =
      context.api.moduleGetFunction(&function, code->module, name.c_str());
  if (status == cuda::errorNotFound)
    return Error("expected a " + title + " in the code, got none");
  if (Error error = context.check("cannot find " + title, status))
    return error;
  // By default, static and dynamic shared memory are at most 48 KiB.
  if (shared != 0)
    if (Error error = context.check(
            "cannot give " + title + " " + std::to_string(shared) +
                " bytes of dynamic shared memory",
            context.api.funcSetAttribute(function,
                                         cuda::maxDynamicSharedSizeBytes,
                                         static_cast<int>(shared))))
      return error;
  kernel.function = function;
  return kernel;
}

Error CudaKernel::launch(const CudaLaunch &config) const {
  const CudaContext &context = *code->context;
  const cuda::Api &api = context.api;
  std::string title = "kernel " + quoteForMessage(name);
  if (hasCluster(config) && !api.launchKernelEx)
    return Error("cannot launch " + title +
                 " with a cluster: expected a driver of CUDA 11.8 or later, "
                 "got CUDA " +
                 printVersion(context.driverVersion));
  auto handle = static_cast<cuda::Function>(function);
  std::vector<void *> params;
  params.reserve(config.params.size());
  // The driver does not write them.
  for (const std::vector<uint8_t> &value : config.params)
    params.push_back(const_cast<uint8_t *>(value.data()));
  const Dim3 &grid = config.grid, &block = config.block;
  cuda::Status status =
      api.launchKernelEx && (hasCluster(config) || config.isProgrammatic)
          ? launchWithAttributes(api, context.stream, handle, config,
                                 params.data())
          : api.launchKernel(handle, grid[0], grid[1], grid[2], block[0],
                             block[1], block[2], config.shared, context.stream,
                             params.data(),
                             /*extra=*/nullptr);
  return context.check("cannot launch " + title + " with grid " +
                           printDim3(grid) + ", block " + printDim3(block) +
                           ", cluster " + printDim3(config.cluster),
                       status);
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

Result<CudaTensorMap> CudaDevice::encode(const TensorMap &map,
                                         uint64_t address) const {
  if (!context->api.tensorMapEncodeTiled)
    return Error("cannot make a tensor map: expected a driver of CUDA 12.0 or "
                 "later, got CUDA " +
                 printVersion(context->driverVersion));
  CudaTensorMap encoded;
  // The driver takes the strides of all but the innermost dimension.
  cuda::Status status = context->api.tensorMapEncodeTiled(
      encoded.bytes.data(), static_cast<int>(map.type->number),
      static_cast<uint32_t>(map.getRank()), address, map.sizes.data(),
      map.strides.data() + 1, map.box.data(), map.elementStrides.data(),
      /*interleave=*/0, static_cast<int>(map.swizzle->number),
      map.promotion ? static_cast<int>(map.promotion->number) : 0,
      map.fill == TensorMapFill::Nan);
  if (Error error = context->check("cannot make a tensor map", status))
    return error;
  return encoded;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

CudaDevice::CudaDevice(std::shared_ptr<CudaContext> context)
    : context(std::move(context)) {}

Result<CudaDevice> CudaDevice::open() {
  Result<cuda::Api> api = cuda::openApi();
  if (!api)
    return api.error();
  cuda::Status status = api->init(/*flags=*/0);
  cuda::Device device = 0;
  if (status == cuda::success)
    status = api->deviceGet(&device, /*ordinal=*/0);
  if (status != cuda::success)
    return cuda::driverError(*api, "cannot find a CUDA device", status);

  auto context = std::make_shared<CudaContext>(*api, device);
  int major = 0, minor = 0;
  cuda::Context handle = nullptr;
  status = api->driverGetVersion(&context->driverVersion);
  if (status == cuda::success)
    status =
        api->deviceGetAttribute(&major, cuda::computeCapabilityMajor, device);
  if (status == cuda::success)
    status =
        api->deviceGetAttribute(&minor, cuda::computeCapabilityMinor, device);
  if (status == cuda::success)
    status = api->primaryCtxRetain(&handle, device);
  context->isRetained = handle != nullptr;
  if (status == cuda::success)
    status = api->ctxSetCurrent(handle);
  if (status == cuda::success)
    status = api->streamCreate(&context->stream, /*flags=*/0);
  if (Error error = context->check("cannot use the CUDA device", status))
    return error;
  context->capability = major * 10 + minor;
  return CudaDevice(std::move(context));
}

unsigned CudaDevice::getCapability() const { return context->capability; }

Result<uint32_t> CudaDevice::countSms() const {
  int count = 0;
  cuda::Status status =
      context->api.deviceGetAttribute(&count, cuda::smCount, context->device);
  if (Error error =
          context->check("cannot count the card's multiprocessors", status))
    return error;
  return static_cast<uint32_t>(count);
}

Error CudaDevice::synchronize() const {
  return context->check("execution failed", context->api.ctxSynchronize());
}

namespace {

/// Events, as long as they are needed.
struct Events {
  Events(const cuda::Api &api, cuda::Stream stream)
      : api(api), stream(stream) {}
  Events(const Events &) = delete;
  Events &operator=(const Events &) = delete;
  ~Events() {
    for (cuda::Event event : events)
      api.eventDestroy(event);
  }

  /// Makes an event and has the card note its time.
  cuda::Status record() {
    cuda::Event event = nullptr;
    if (cuda::Status status = api.eventCreate(&event, /*flags=*/0))
      return status;
    events.push_back(event);
    return api.eventRecord(event, stream);
  }

  const cuda::Api &api;
  cuda::Stream stream;
  std::vector<cuda::Event> events;
};

} // namespace

Result<std::vector<double>>
CudaDevice::measure(unsigned repetitions,
                    const std::function<Error()> &work) const {
  const cuda::Api &api = context->api;
  Events events(api, context->stream);
  cuda::Status status = events.record();
  for (unsigned i = 0; i < repetitions && status == cuda::success; ++i) {
    if (Error error = work())
      return error;
    status = events.record();
  }
  if (status == cuda::success)
    status = api.eventSynchronize(events.events.back());
  std::vector<double> times;
  for (unsigned i = 0; i < repetitions && status == cuda::success; ++i) {
    float milliseconds = 0;
    status = api.eventElapsedTime(&milliseconds, events.events[i],
                                  events.events[i + 1]);
    times.push_back(milliseconds);
  }
  if (Error error = context->check("cannot measure time", status))
    return error;
  return times;
}
