//===- Launches.cpp - Launches of kernels in the simulator ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From parameters to ARGs, and buffers to files and back.
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

#include "Card.h"
#include "DeviceMemory.h"
#include "TensorMaps.h"
#include "blockscale/Runtime/Npy.h"
#include "blockscale/Runtime/OutputFile.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace capture;
using namespace mlir;

static std::string getSetting(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

static cudaError_t fail(cudaError_t status, const std::string &text) {
  std::fprintf(stderr, "error: %s\n", text.c_str());
  return status;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {

/// Where files go: a folder that the user names, or one that goes away.
class Folder {
public:
  static Folder &get() {
    static Folder folder;
    return folder;
  }

  const std::string path = getSetting("BLOCKSCALE_CAPTURE_FOLDER").empty()
                               ? makeTemporary()
                               : getSetting("BLOCKSCALE_CAPTURE_FOLDER");

private:
  Folder() = default;
  ~Folder() {
    std::error_code ignored;
    if (getSetting("BLOCKSCALE_CAPTURE_FOLDER").empty())
      std::filesystem::remove_all(path, ignored);
  }

  static std::string makeTemporary() {
    std::string name = std::filesystem::temp_directory_path() / "captureXXXXXX";
    if (!mkdtemp(name.data())) {
      std::perror("error: cannot make a folder");
      std::exit(1);
    }
    return name;
  }
};

} // namespace

static blockscale::Error writeBytes(const std::string &path,
                                    const uint8_t *bytes, uint64_t size) {
  blockscale::NpyArray array;
  array.shape = {int64_t(size)};
  array.data.assign(bytes, bytes + size);
  return blockscale::writeOutput(path, blockscale::serializeNpy(array));
}

static blockscale::Error writeModule(Module &module) {
  static unsigned number = 0;
  if (!module.path.empty())
    return blockscale::Error::success();
  module.path =
      Folder::get().path + "/module" + std::to_string(number++) + ".ptx";
  return blockscale::writeOutput(module.path, module.text);
}

//===----------------------------------------------------------------------===//
// From parameters to ARGs
//===----------------------------------------------------------------------===//

namespace {

/// Collects the ARGs of a launch. Those of parameters come first.
struct Arguments {
  Arguments(std::string folder, size_t numParams)
      : folder(std::move(folder)), params(numParams) {}

  /// The number of the ARG that is a buffer.
  size_t add(Buffer &buffer) {
    for (size_t i = 0; i != others.size(); ++i)
      if (others[i].buffer == &buffer)
        return params.size() + i;
    size_t number = params.size() + others.size();
    std::string path = folder + "/b" + std::to_string(number) + ".npy";
    others.push_back({"none:inout:" + path, path, &buffer});
    return number;
  }

  /// The number of the ARG that is a tensor map of an address; nothing if there
  /// is no buffer.
  std::optional<size_t> add(const TensorMapWords &map) {
    Buffer *buffer = DeviceMemory::get().lookup(map.address);
    if (!buffer)
      return std::nullopt;
    std::string place = std::to_string(add(*buffer)) + "+" +
                        std::to_string(map.address - buffer->address);
    others.push_back({"none:tmap:@" + place + map.text, "", nullptr});
    return params.size() + others.size() - 1;
  }

  blockscale::Error setParam(size_t index, const uint8_t *bytes, uint64_t size);

  struct Other {
    std::string text, path;
    /// Null for a tensor map.
    Buffer *buffer;
  };
  std::string folder;
  std::vector<std::string> params;
  std::vector<Other> others;
};

} // namespace

blockscale::Error Arguments::setParam(size_t index, const uint8_t *bytes,
                                      uint64_t size) {
  std::string path = folder + "/p" + std::to_string(index) + ".npy";
  std::string text = "struct:" + path;
  for (uint64_t at = 0; at + 8 <= size; at += 8) {
    std::optional<TensorMapWords> map;
    if (at % kTensorMapAlignment == 0 && at + kTensorMapBytes <= size)
      map = readTensorMap(bytes + at);
    if (map) {
      if (std::optional<size_t> number = add(*map))
        text += ":tmap@" + std::to_string(at) + "=" + std::to_string(*number);
      at += kTensorMapBytes - 8;
      continue;
    }
    uint64_t word;
    std::memcpy(&word, bytes + at, sizeof word);
    if (Buffer *buffer = DeviceMemory::get().lookup(word))
      text += ":ptr@" + std::to_string(at) + "=" +
              std::to_string(add(*buffer)) + "+" +
              std::to_string(word - buffer->address);
  }
  params[index] = text;
  return writeBytes(path, bytes, size);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::string print(const std::array<uint32_t, 3> &extents) {
  return std::to_string(extents[0]) + "," + std::to_string(extents[1]) + "," +
         std::to_string(extents[2]);
}

static std::vector<std::string> makeCommand(const Launch &launch,
                                            const Arguments &arguments) {
  std::string simulator = getSetting("BLOCKSCALE_CAPTURE_SIMULATOR");
  std::vector<std::string> command = {
      simulator.empty() ? "blockscale-sim" : simulator,
      launch.kernel->module->path,
      "--entry=" + launch.kernel->name,
      "--grid=" + print(launch.grid),
      "--block=" + print(launch.block),
      "--cluster=" + print(launch.cluster),
      "--shared=" + std::to_string(launch.shared)};
  std::istringstream flags(getSetting("BLOCKSCALE_CAPTURE_FLAGS"));
  for (std::string flag; flags >> flag;)
    command.push_back(flag == "--stats"
                          ? "--stats=" + arguments.folder + "/stats.json"
                          : flag);
  command.insert(command.end(), arguments.params.begin(),
                 arguments.params.end());
  for (const Arguments::Other &other : arguments.others)
    command.push_back(other.text);
  return command;
}

/// The exit code; 127 for a program that did not start or was killed.
static int execute(const std::vector<std::string> &command) {
  std::vector<char *> words;
  words.reserve(command.size() + 1);
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  pid_t process;
  if (int code = posix_spawnp(&process, words[0], nullptr, nullptr,
                              words.data(), environ)) {
    std::fprintf(stderr, "error: cannot start '%s': %s\n", words[0],
                 std::strerror(code));
    return 127;
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

static void writeLine(const Launch &launch, const std::string &folder, int code,
                      double seconds) {
  std::ofstream file(Folder::get().path + "/launches.jsonl", std::ios::app);
  file << "{\"kernel\": \"" << launch.kernel->name << "\", \"grid\": ["
       << print(launch.grid) << "], \"exit_code\": " << code
       << ", \"seconds\": " << seconds << ", \"statistics\": ";
  std::ifstream statistics(folder + "/stats.json");
  std::string text;
  for (std::string line; std::getline(statistics, line);)
    text += line;
  file << (text.empty() ? "null" : text) << "}\n";
}

/// What a kernel gets is kept beside what it leaves.
static void writeScript(const std::string &folder, const Arguments &arguments,
                        const std::vector<std::string> &command) {
  std::error_code ignored;
  std::ofstream file(folder + "/repeat");
  file << "#!/bin/sh\n";
  for (const Arguments::Other &other : arguments.others) {
    if (!other.buffer)
      continue;
    std::filesystem::copy_file(other.path, other.path + ".in", ignored);
    file << "cp '" << other.path << ".in' '" << other.path << "'\n";
  }
  file << "exec";
  for (const std::string &word : command)
    file << " \\\n  '" << word << "'";
  file << " \"$@\"\n";
}

/// Reads what a kernel left.
static blockscale::Error takeBuffers(const Arguments &arguments) {
  for (const Arguments::Other &other : arguments.others) {
    if (!other.buffer)
      continue;
    blockscale::Result<blockscale::NpyArray> array =
        blockscale::readNpy(other.path);
    if (!array)
      return array.error();
    std::memcpy(other.buffer->bytes.get(), array->data.data(),
                other.buffer->size);
  }
  return blockscale::Error::success();
}

static cudaError_t simulate(const Launch &launch, const KernelFacts &facts,
                            const std::string &folder) {
  Arguments arguments(folder, facts.paramSizes.size());
  for (size_t i = 0; i != facts.paramSizes.size(); ++i)
    if (blockscale::Error error = arguments.setParam(
            i, static_cast<uint8_t *>(launch.params[i]), facts.paramSizes[i]))
      return fail(cudaErrorLaunchFailure, error.message());
  for (const Arguments::Other &other : arguments.others)
    if (other.buffer)
      if (blockscale::Error error = writeBytes(
              other.path, other.buffer->bytes.get(), other.buffer->size))
        return fail(cudaErrorLaunchFailure, error.message());
  std::vector<std::string> command = makeCommand(launch, arguments);
  if (!getSetting("BLOCKSCALE_CAPTURE_KEEP").empty())
    writeScript(folder, arguments, command);
  auto start = std::chrono::steady_clock::now();
  int code = execute(command);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  writeLine(launch, folder, code, seconds.count());
  if (code)
    return cudaErrorLaunchFailure;
  if (blockscale::Error error = takeBuffers(arguments))
    return fail(cudaErrorLaunchFailure, error.message());
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Variables of modules start anew with each run: the second kernel that names
/// one might miss what the first one left there. Those with initial values are
/// taken for tables, unless the kernel stores to them by name.
static bool isTable(const Module &module, const KernelFacts &facts,
                    const std::string &name) {
  size_t declared = module.text.find(" " + name);
  std::string_view line(module.text);
  line = line.substr(std::min(declared, line.size()));
  if (line.substr(0, line.find(';')).find('=') == line.npos)
    return false;
  for (const char *store : {"st.", "atom.", "red."})
    for (size_t at = 0; (at = facts.text.find(store, at)) != facts.text.npos;
         ++at) {
      std::string_view rest = facts.text.substr(at);
      if (rest.substr(0, rest.find(';')).find("[" + name) != rest.npos)
        return false;
    }
  return true;
}

static std::string findUsedVariable(const Module &module,
                                    const KernelFacts &facts) {
  static std::set<std::pair<const Module *, std::string>> used;
  for (const Variable &variable : module.variables) {
    if (variable.isConstant ||
        facts.text.find(variable.name) == facts.text.npos ||
        isTable(module, facts, variable.name))
      continue;
    if (!used.insert({&module, variable.name}).second)
      return variable.name;
  }
  return "";
}

cudaError_t capture::run(const Launch &launch) {
  Kernel &kernel = *launch.kernel;
  if (kernel.module->text.empty())
    return fail(cudaErrorNoKernelImageForDevice, kernel.module->error);
  const KernelFacts *facts = getFacts(kernel);
  if (!facts)
    return fail(cudaErrorInvalidDeviceFunction,
                "expected kernel '" + kernel.name + "' in the PTX, got none");
  if (launch.shared > kernel.dynamicSharedBytes)
    return fail(cudaErrorInvalidValue,
                "kernel '" + kernel.name + "': expected at most " +
                    std::to_string(kernel.dynamicSharedBytes) +
                    " bytes of dynamic shared memory, which "
                    "cudaFuncSetAttribute may raise, got " +
                    std::to_string(launch.shared));
  std::string variable = findUsedVariable(*kernel.module, *facts);
  if (!variable.empty())
    return fail(cudaErrorNotSupported, "kernel '" + kernel.name +
                                           "': not supported in this version: "
                                           "variable '" +
                                           variable +
                                           "' is used by several launches");
  if (blockscale::Error error = writeModule(*kernel.module))
    return fail(cudaErrorLaunchFailure, error.message());
  static unsigned number = 0;
  std::string folder =
      Folder::get().path + "/launch" + std::to_string(number++);
  std::filesystem::create_directories(folder);
  cudaError_t status = simulate(launch, *facts, folder);
  std::error_code ignored;
  if (getSetting("BLOCKSCALE_CAPTURE_KEEP").empty())
    std::filesystem::remove_all(folder, ignored);
  return status;
}
