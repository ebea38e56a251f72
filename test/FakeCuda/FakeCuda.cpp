//===- FakeCuda.cpp - A CUDA driver without a card ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fake CUDA driver: tests run a program through all its driver calls without
// a card. The memory of the card is memory of the process. A kernel adds n + 1
// to every byte from where its parameter #n points to the end of that buffer.
// The sizes of its parameters, which a driver gets by compiling, stand in a
// comment of the PTX: `// fake NAME: 8 8 4`. Without that comment they are read
// from the
// `.entry`, which must be written as LLVM does.
//
// Environment:
//   FAKE_CUDA_FAIL=cuInit=100    this function fails with this status
//   FAKE_CUDA_JIT_LOG=FILE       holds what the compiler of PTX says
//   FAKE_CUDA_TRACE=FILE         gets a line for each call that matters
//   FAKE_CUDA_TRACE_COPIES=1     the bytes that go to the card matter, too
//   FAKE_CUDA_CAPABILITY=120     the card is not of compute capability 9.0
//   FAKE_CUDA_WRITE=N            a kernel changes N bytes of each buffer, from
//                                where its parameter points; if N is negative,
//                                in front of that
//   FAKE_CUDA_TIME=shared        time goes by the dynamic shared memory of the
//                                last kernel: 1 ms, and one for each KiB
//   FAKE_CUDA_MOST_SHARED=BYTES  a kernel cannot be given more of it
//   FAKE_CUDA_STREAMS=any        streams of the caller's own are taken, and
//                                traced; so are copies on them
//   FAKE_CUDA_CAPTURE=ID         they are captured, with this number
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

namespace {

struct Module {
  std::string text;
};

struct Function {
  std::string name;
  std::string paramSizes;
};

struct State {
  std::map<uint64_t, size_t> buffers;
  int numModules = 0;
  int numEvents = 0;
  int numStreams = 0;
  int numTimes = 0;
  unsigned lastShared = 0;
  /// The stack of contexts, the current one last.
  std::vector<void *> contexts;
};

} // namespace

static State state;

static std::string getSetting(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The status that the test wants of a function, 0 if it shall succeed.
static int getStatus(const std::string &function) {
  std::string setting = getSetting("FAKE_CUDA_FAIL");
  std::string start = function + "=";
  return setting.compare(0, start.size(), start) == 0
             ? std::stoi(setting.substr(start.size()))
             : 0;
}

static void trace(const std::string &line) {
  std::string path = getSetting("FAKE_CUDA_TRACE");
  if (path.empty())
    return;
  std::FILE *file = std::fopen(path.c_str(), "a");
  std::fprintf(file, "%s\n", line.c_str());
  std::fclose(file);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Adds to the bytes behind an address, if that is one of a buffer. Returns
/// what it points to, for the trace.
static std::string addToBuffer(uint64_t address, uint8_t number) {
  auto next = state.buffers.upper_bound(address);
  if (next == state.buffers.begin())
    return "";
  auto [start, size] = *std::prev(next);
  if (address >= start + size)
    return "";
  std::string setting = getSetting("FAKE_CUDA_WRITE");
  uint64_t end = setting.empty() ? start + size : address + std::stoi(setting);
  for (uint64_t i = std::min(address, end); i < std::max(address, end); ++i)
    *reinterpret_cast<uint8_t *>(i) += number;
  return " buffer of " + std::to_string(size) + " at " +
         std::to_string(address - start);
}

/// A tensor map holds the text that cuTensorMapEncodeTiled wrote, which starts
/// so.
static constexpr unsigned kTensorMapBytes = 128;
static constexpr char kTensorMapStart[] = "type ";

/// What a parameter of up to 8 bytes is.
static std::string describe(const uint8_t *param, unsigned size,
                            uint8_t number) {
  uint64_t bits = 0;
  std::memcpy(&bits, param, size);
  std::string target = size == 8 ? addToBuffer(bits, number) : "";
  if (!target.empty())
    return target;
  std::ostringstream text;
  text << " 0x" << std::hex << bits;
  return text.str();
}

/// The maps in a struct, and those of its other words that are not zero.
static std::string describeStruct(const uint8_t *param, unsigned size,
                                  uint8_t number) {
  std::ostringstream text;
  text << " struct of " << size;
  for (unsigned i = 0; i < size;) {
    unsigned bytes = std::min(size - i, 8u);
    std::string start(param + i, param + i + bytes);
    bool isMap = start.rfind(kTensorMapStart, 0) == 0;
    if (isMap)
      text << ", " << i << ": map of "
           << reinterpret_cast<const char *>(param + i);
    else if (start != std::string(bytes, '\0'))
      text << ", " << i << ":" << describe(param + i, bytes, number);
    i += isMap ? kTensorMapBytes : bytes;
  }
  return text.str();
}

/// Of the caller's own, where the test allows that.
static bool isStream(const void *stream) {
  return stream == &state.numStreams ||
         getSetting("FAKE_CUDA_STREAMS") == "any";
}

/// " on STREAM", nothing for the one that this driver makes.
static std::string describeStream(const void *stream) {
  if (stream == &state.numStreams)
    return "";
  return " on " + std::to_string(reinterpret_cast<uintptr_t>(stream));
}

static int launch(const unsigned *grid, const unsigned *block,
                  const unsigned *cluster, bool isProgrammatic,
                  unsigned sharedBytes, const void *stream,
                  const Function *function, void **params) {
  state.lastShared = sharedBytes;
  std::ostringstream line;
  line << "launch " << function->name << describeStream(stream);
  for (const unsigned *extents : {grid, block, cluster})
    line << " " << extents[0] << "," << extents[1] << "," << extents[2];
  line << (isProgrammatic ? " programmatic" : "");
  line << " shared " << sharedBytes << ":";
  std::istringstream sizes(function->paramSizes);
  unsigned size;
  for (unsigned i = 0; sizes >> size; ++i) {
    const auto *param = static_cast<const uint8_t *>(params[i]);
    if (size == kTensorMapBytes)
      line << " map of " << reinterpret_cast<const char *>(param) << ";";
    else if (size > 8)
      line << describeStruct(param, size, i + 1) << ";";
    else
      line << describe(param, size, i + 1) << ";";
  }
  trace(line.str());
  return 0;
}

/// The sizes in a list such as `.param .u64 .ptr .align 1 a, .param .u8 b,
/// .param .align 64 .b8 c[128]`.
static std::string getParamSizes(const std::string &list) {
  std::istringstream words(list);
  std::string sizes;
  for (std::string word; words >> word;) {
    if (word != ".param" || !(words >> word))
      continue;
    if (word == ".align" && words >> word && words >> word && words >> word) {
      sizes += std::to_string(std::stoi(word.substr(word.find('[') + 1))) + " ";
      continue;
    }
    // The digits of a type are its bits.
    int bits = std::stoi(word.substr(word.find_first_of("0123456789")));
    sizes += std::to_string(bits / 8) + " ";
  }
  return sizes;
}

/// The sizes of the parameters of a kernel; false if there is no such kernel.
static bool findParamSizes(const std::string &text, const std::string &name,
                           std::string &sizes) {
  for (auto [start, end] : {std::pair("// fake " + name + ":", '\n'),
                            std::pair(".entry " + name + "(", ')')}) {
    size_t position = text.find(start);
    if (position == std::string::npos)
      continue;
    position += start.size();
    sizes = text.substr(position, text.find(end, position) - position);
    if (end == ')')
      sizes = getParamSizes(sizes);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The driver's functions
//===----------------------------------------------------------------------===//

extern "C" {

int cuInit(unsigned) { return getStatus("cuInit"); }

int cuDriverGetVersion(int *version) {
  *version = 12040;
  return 0;
}

int cuGetErrorName(int status, const char **name) {
  *name = status == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : nullptr;
  return *name ? 0 : 1;
}

int cuGetErrorString(int status, const char **text) {
  *text = status == 700 ? "an illegal memory access was encountered" : nullptr;
  return *text ? 0 : 1;
}

int cuDeviceGet(int *device, int ordinal) {
  *device = 7 + ordinal;
  return getStatus("cuDeviceGet");
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  std::string setting = getSetting("FAKE_CUDA_CAPABILITY");
  int capability = setting.empty() ? 90 : std::stoi(setting);
  *value = device != 7       ? 0
           : attribute == 16 ? 132
           : attribute == 75 ? capability / 10
           : attribute == 76 ? capability % 10
                             : -1;
  return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int) {
  *context = &state;
  return getStatus("cuDevicePrimaryCtxRetain");
}

int cuDevicePrimaryCtxRelease_v2(int) {
  trace("release with " + std::to_string(state.buffers.size()) + " buffers, " +
        std::to_string(state.numModules) + " modules, " +
        std::to_string(state.numEvents) + " events");
  if (state.numStreams != 0)
    trace("streams are left");
  return 0;
}

int cuCtxSetCurrent(void *context) {
  if (context != &state)
    return 201;
  if (state.contexts.empty())
    state.contexts.push_back(nullptr);
  state.contexts.back() = context;
  return 0;
}

int cuCtxGetCurrent(void **context) {
  *context = state.contexts.empty() ? nullptr : state.contexts.back();
  return 0;
}

int cuCtxGetDevice(int *device) {
  *device = 7;
  return 0;
}

int cuCtxPushCurrent_v2(void *context) {
  state.contexts.push_back(context);
  trace("push context");
  return 0;
}

int cuCtxPopCurrent_v2(void **context) {
  if (state.contexts.empty())
    return 201;
  *context = state.contexts.back();
  state.contexts.pop_back();
  trace("pop context");
  return 0;
}

int cuDeviceGetCount(int *count) {
  *count = 1;
  return 0;
}

int cuPointerGetAttribute(int *value, int attribute, uint64_t address) {
  auto behind = state.buffers.upper_bound(address);
  constexpr int deviceOrdinal = 9;
  *value = 0;
  return attribute == deviceOrdinal && behind != state.buffers.begin() ? 0 : 1;
}

int cuCtxSynchronize() { return getStatus("cuCtxSynchronize"); }

int cuModuleLoadDataEx(Module **module, const char *image, unsigned numOptions,
                       int *options, void **values) {
  constexpr int errorLog = 5, errorLogSize = 6;
  char *log = nullptr;
  size_t logSize = 0;
  for (unsigned i = 0; i < numOptions; ++i) {
    if (options[i] == errorLog)
      log = static_cast<char *>(values[i]);
    if (options[i] == errorLogSize)
      logSize = reinterpret_cast<size_t>(values[i]);
  }
  std::ifstream file(getSetting("FAKE_CUDA_JIT_LOG"));
  if (log && file)
    file.get(log, static_cast<std::streamsize>(logSize), '\0');
  if (int status = getStatus("cuModuleLoadDataEx"))
    return status;
  *module = new Module{image};
  ++state.numModules;
  return 0;
}

int cuModuleUnload(Module *module) {
  delete module;
  --state.numModules;
  return 0;
}

int cuModuleGetFunction(Function **function, Module *module, const char *name) {
  // Functions live as long as the process, as the driver's do with a module.
  static std::vector<std::unique_ptr<Function>> functions;
  std::string sizes;
  if (!findParamSizes(module->text, name, sizes))
    return 500;
  functions.emplace_back(new Function{name, sizes});
  *function = functions.back().get();
  return 0;
}

int cuFuncGetParamInfo(const Function *function, size_t index, size_t *offset,
                       size_t *size) {
  std::istringstream sizes(function->paramSizes);
  *offset = 0;
  for (size_t i = 0; sizes >> *size; ++i)
    if (i == index)
      return 0;
  return 1;
}

int cuFuncLoad(const Function *function) {
  trace("load " + function->name);
  return 0;
}

int cuFuncSetAttribute(Function *function, int attribute, int value) {
  trace("attribute " + std::to_string(attribute) + " of " + function->name +
        " is " + std::to_string(value));
  constexpr int maxDynamicSharedSizeBytes = 8, invalidValue = 1;
  std::string most = getSetting("FAKE_CUDA_MOST_SHARED");
  if (!most.empty() && attribute == maxDynamicSharedSizeBytes &&
      value > std::stoi(most))
    return invalidValue;
  return getStatus("cuFuncSetAttribute");
}

int cuMemAlloc_v2(uint64_t *address, size_t size) {
  if (int status = size == 0 ? 1 : getStatus("cuMemAlloc"))
    return status;
  // Not zeros, which a program might take for granted.
  void *memory = std::aligned_alloc(256, (size + 255) / 256 * 256);
  if (!memory)
    return 2;
  std::memset(memory, 0x55, size);
  *address = reinterpret_cast<uint64_t>(memory);
  state.buffers[*address] = size;
  return 0;
}

int cuMemGetInfo_v2(size_t *freeBytes, size_t *totalBytes) {
  *freeBytes = 3000;
  *totalBytes = 5000;
  return 0;
}

int cuMemFree_v2(uint64_t address) {
  state.buffers.erase(address);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) {
  if (!getSetting("FAKE_CUDA_TRACE_COPIES").empty()) {
    std::string line = "copy of " + std::to_string(size) + ":";
    for (size_t i = 0; i < size; ++i)
      line += " " + std::to_string(static_cast<const uint8_t *>(from)[i]);
    trace(line);
  }
  std::memcpy(reinterpret_cast<void *>(to), from, size);
  return getStatus("cuMemcpyHtoD");
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) {
  std::memcpy(to, reinterpret_cast<void *>(from), size);
  return getStatus("cuMemcpyDtoH");
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size,
                         const void *stream) {
  trace("copy in of " + std::to_string(size) + describeStream(stream));
  std::memcpy(reinterpret_cast<void *>(to), from, size);
  return getStatus("cuMemcpyHtoD");
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size,
                         const void *stream) {
  trace("copy out of " + std::to_string(size) + describeStream(stream));
  std::memcpy(to, reinterpret_cast<void *>(from), size);
  return getStatus("cuMemcpyDtoH");
}

int cuLaunchKernel(Function *function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void *stream,
                   void **params, void **) {
  unsigned grid[] = {gridX, gridY, gridZ};
  unsigned block[] = {blockX, blockY, blockZ};
  unsigned cluster[] = {1, 1, 1};
  if (int status = getStatus("cuLaunchKernel"))
    return status;
  if (!isStream(stream))
    return 400;
  return launch(grid, block, cluster, /*isProgrammatic=*/false, sharedBytes,
                stream, function, params);
}

/// Laid out as in cuda.h.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    unsigned cluster[3];
    int isProgrammatic;
  };
};
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

int cuLaunchKernelEx(const LaunchConfig *config, Function *function,
                     void **params, void **) {
  constexpr int clusterDimension = 4, programmaticStreamSerialization = 6;
  const unsigned single[] = {1, 1, 1};
  const unsigned *cluster = single;
  bool isProgrammatic = false;
  for (unsigned i = 0; i != config->numAttributes; ++i) {
    const LaunchAttribute &attribute = config->attributes[i];
    if (attribute.id == clusterDimension)
      cluster = attribute.cluster;
    else if (attribute.id == programmaticStreamSerialization)
      isProgrammatic = attribute.isProgrammatic == 1;
    else
      return 1;
  }
  if (int status = getStatus("cuLaunchKernelEx"))
    return status;
  if (!isStream(config->stream))
    return 1;
  return launch(config->grid, config->block, cluster, isProgrammatic,
                config->sharedBytes, config->stream, function, params);
}

int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address,
                           const uint64_t *dims, const uint64_t *strides,
                           const unsigned *box, const unsigned *elementStrides,
                           int, int swizzle, int promotion, int fill) {
  std::ostringstream text;
  text << kTensorMapStart << type << ", swizzle " << swizzle << ", fill "
       << fill << ", dims";
  for (unsigned i = 0; i != rank; ++i)
    text << " " << dims[i] << "/" << (i ? strides[i - 1] : 0) << "/" << box[i]
         << "/" << elementStrides[i];
  if (promotion != 0)
    text << ", l2 " << promotion;
  // Callers may have addresses of their own.
  uint64_t at = reinterpret_cast<uint64_t>(address);
  auto behind = state.buffers.upper_bound(at);
  if (behind != state.buffers.begin() && at != std::prev(behind)->first)
    text << ", at " << at - std::prev(behind)->first;
  if (reinterpret_cast<uint64_t>(map) % 64 != 0)
    return 1;
  std::snprintf(static_cast<char *>(map), kTensorMapBytes, "%s",
                text.str().c_str());
  return getStatus("cuTensorMapEncodeTiled");
}

int cuStreamCreate(void **stream, unsigned flags) {
  ++state.numStreams;
  *stream = &state.numStreams;
  return flags == 0 ? getStatus("cuStreamCreate") : 1;
}

int cuStreamDestroy_v2(void *stream) {
  state.numStreams -= stream == &state.numStreams;
  return 0;
}

int cuStreamSynchronize(const void *stream) {
  trace("wait for" + describeStream(stream));
  return getStatus("cuStreamSynchronize");
}

int cuStreamWaitEvent(const void *stream, void *, unsigned) {
  trace("stream waits" + describeStream(stream));
  return 0;
}

int cuStreamGetCaptureInfo_v2(const void *, int *status, uint64_t *id, void *,
                              void *, void *) {
  std::string setting = getSetting("FAKE_CUDA_CAPTURE");
  *status = setting.empty() ? 0 : 1;
  *id = setting.empty() ? 0 : std::stoull(setting);
  return 0;
}

int cuEventCreate(void **event, unsigned) {
  ++state.numEvents;
  *event = &state;
  return getStatus("cuEventCreate");
}

int cuEventRecord(void *, void *stream) {
  if (stream != &state.numStreams)
    trace("event" + describeStream(stream));
  return isStream(stream) ? 0 : 400;
}

int cuEventSynchronize(void *) { return getStatus("cuEventSynchronize"); }

int cuEventElapsedTime(float *milliseconds, void *, void *) {
  if (getSetting("FAKE_CUDA_TIME") == "shared") {
    *milliseconds = 1.0f + static_cast<float>(state.lastShared) / 1024;
    return 0;
  }
  // 1, 2, 100, 1, 2, 100, ...: the median is neither the mean nor the last.
  int i = state.numTimes++ % 3;
  *milliseconds = i == 2 ? 100.0f : static_cast<float>(i + 1);
  return 0;
}

int cuEventDestroy_v2(void *) {
  --state.numEvents;
  return 0;
}
}
