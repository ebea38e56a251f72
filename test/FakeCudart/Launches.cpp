//===- Launches.cpp - Launches of kernels in the simulator ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs launches with blockscale-sim: parameters and buffers become ARGs, and
// buffers are written to files and read back.
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

#include "Card.h"
#include "DeviceMemory.h"
#include "LaunchChecks.h"
#include "TensorMaps.h"
#include "blockscale/Runtime/Npy.h"
#include "blockscale/Runtime/OutputFile.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
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

/// The ARGs of a launch: parameters, what is in place of variables that the
/// module does not have, all buffers by their numbers, tensor maps.
class Arguments {
public:
  Arguments(const Launch &launch, const KernelFacts &facts, std::string folder);

  blockscale::Error write(const Launch &launch, const KernelFacts &facts);
  /// Reads the buffers back after a kernel.
  blockscale::Error take(const Launch &launch, const KernelFacts &facts) const;

  struct Argument {
    std::string text, path;
    /// Null for what is no buffer.
    Buffer *buffer = nullptr;
  };
  std::vector<Argument> all;
  const std::string folder;

private:
  blockscale::Error writeParam(size_t index, const uint8_t *bytes,
                               uint64_t size);
  /// Where the tensor of a map is, for its ARG. A map whose tensor its buffer
  /// does not hold, or that is in none, is one that kernels make others of.
  std::string placeTensor(TensorMapWords &map);
  /// Its ARG.
  std::string print(const Buffer &buffer, uint64_t address) const {
    return std::to_string(firstBuffer + buffer.number) + "+" +
           std::to_string(address - buffer.address);
  }

  size_t firstBuffer;
};

} // namespace

/// A file of no bytes.
static std::string getEmptyPath() { return Folder::get().path + "/empty.npy"; }

Arguments::Arguments(const Launch &launch, const KernelFacts &facts,
                     std::string inFolder)
    : all(facts.paramSizes.size()), folder(std::move(inFolder)) {
  const std::string empty = "none:in:" + getEmptyPath();
  all.resize(all.size() + kVariableRegions -
                 countRegions(getCode(*launch.kernel->module)),
             {empty, ""});
  firstBuffer = all.size();
  for (Buffer *buffer : DeviceMemory::get().getBuffers()) {
    std::string path = folder + "/b" + std::to_string(all.size()) + ".npy";
    all.push_back(buffer ? Argument{"none:inout:" + path, path, buffer}
                         : Argument{empty, ""});
  }
  // What a kernel allocates is behind all, where no buffer will ever be.
  if (facts.uses.hasHeap)
    all.resize(firstBuffer + kMaxBuffers, {empty, ""});
}

std::string Arguments::placeTensor(TensorMapWords &map) {
  if (Buffer *buffer = DeviceMemory::get().lookup(map.address)) {
    uint64_t left = buffer->address + buffer->size - map.address;
    if (blockscale::checkTensor(map.map, left))
      map.text += ":TEMPLATE=1";
    return print(*buffer, map.address);
  }
  map.text += ":TEMPLATE=1";
  all.push_back({"none:in:" + getEmptyPath(), ""});
  return std::to_string(all.size() - 1);
}

blockscale::Error Arguments::writeParam(size_t index, const uint8_t *bytes,
                                        uint64_t size) {
  DeviceMemory &memory = DeviceMemory::get();
  std::string path = folder + "/p" + std::to_string(index) + ".npy";
  std::string text = "struct:" + path;
  for (uint64_t at = 0; at + 8 <= size; at += 8) {
    std::optional<TensorMapWords> map;
    if (at % kTensorMapAlignment == 0 && at + kTensorMapBytes <= size)
      map = readTensorMap(bytes + at);
    if (map) {
      std::string tensor = placeTensor(*map);
      text += ":tmap@" + std::to_string(at) + "=" + std::to_string(all.size());
      all.push_back({"none:tmap:@" + tensor + map->text, ""});
      at += kTensorMapBytes - 8;
      continue;
    }
    uint64_t word;
    std::memcpy(&word, bytes + at, sizeof word);
    if (Buffer *buffer = memory.lookup(word); buffer && buffer->isHost)
      text += ":ptr@" + std::to_string(at) + "=" + print(*buffer, word);
  }
  all[index].text = text;
  return writeBytes(path, bytes, size);
}

blockscale::Error Arguments::write(const Launch &launch,
                                   const KernelFacts &facts) {
  for (size_t i = 0; i != facts.paramSizes.size(); ++i)
    if (blockscale::Error error =
            writeParam(i, static_cast<const uint8_t *>(launch.params[i]),
                       facts.paramSizes[i]))
      return error;
  for (const Argument &argument : all)
    if (argument.buffer)
      if (blockscale::Error error =
              writeBytes(argument.path, argument.buffer->bytes.get(),
                         argument.buffer->size))
        return error;
  return writeBytes(getEmptyPath(), nullptr, 0);
}

/// Looks for addresses of variables in what a kernel has changed.
static void findPointers(const Buffer &buffer,
                         const std::vector<uint8_t> &after,
                         const std::vector<AddressRange> &ranges) {
  if (ranges.empty())
    return;
  for (uint64_t at = 0; at + 8 <= buffer.size; at += 8) {
    uint64_t before, word;
    std::memcpy(&before, buffer.bytes.get() + at, sizeof before);
    std::memcpy(&word, after.data() + at, sizeof word);
    if (word == before)
      continue;
    for (const AddressRange &range : ranges)
      if (word >= range.begin && word < range.end)
        rememberPointer(range.name);
  }
}

blockscale::Error Arguments::take(const Launch &launch,
                                  const KernelFacts &facts) const {
  const std::vector<AddressRange> ranges =
      findRanges(facts.uses, getCode(*launch.kernel->module));
  for (const Argument &argument : all) {
    if (!argument.buffer)
      continue;
    blockscale::Result<blockscale::NpyArray> array =
        blockscale::readNpy(argument.path);
    if (!array)
      return array.error();
    Buffer &buffer = *argument.buffer;
    if (array->data.size() != buffer.size)
      return blockscale::pathError(argument.path,
                                   "expected " + std::to_string(buffer.size) +
                                       " bytes, got " +
                                       std::to_string(array->data.size()));
    findPointers(buffer, array->data, ranges);
    std::memcpy(buffer.bytes.get(), array->data.data(), buffer.size);
  }
  return blockscale::Error::success();
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::vector<std::string> makeCommand(const Launch &launch,
                                            const Arguments &arguments) {
  std::string simulator = getSetting("BLOCKSCALE_CAPTURE_SIMULATOR");
  std::vector<std::string> command = {
      simulator.empty() ? "blockscale-sim" : simulator,
      launch.kernel->module->path,
      "--entry=" + launch.kernel->name,
      "--grid=" + printExtents(launch.grid),
      "--block=" + printExtents(launch.block),
      "--cluster=" + printExtents(launch.cluster),
      "--shared=" + std::to_string(launch.shared)};
  std::istringstream flags(getSetting("BLOCKSCALE_CAPTURE_FLAGS"));
  for (std::string flag; flags >> flag;)
    command.push_back(flag == "--stats"
                          ? "--stats=" + arguments.folder + "/stats.json"
                          : flag);
  for (const Arguments::Argument &argument : arguments.all)
    command.push_back(argument.text);
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

/// A string of JSON.
static std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += uint8_t(c) < ' ' ? ' ' : c;
  }
  return quoted + '"';
}

/// The line of a launch but for what is behind the grid.
static void writeLine(const Launch &launch, const std::string &rest) {
  std::ofstream file(Folder::get().path + "/launches.jsonl", std::ios::app);
  file << "{\"kernel\": "
       << (launch.kernel ? quote(launch.kernel->name) : "null")
       << ", \"grid\": [" << printExtents(launch.grid) << "], " << rest
       << "}\n";
}

static cudaError_t refuse(const Launch &launch, const Refusal &refusal) {
  std::fprintf(stderr, "error: %s\n", refusal.text.c_str());
  writeLine(launch, "\"exit_code\": null, \"error\": " + quote(refusal.text));
  return refusal.status;
}

static std::string readStatistics(const std::string &folder) {
  std::ifstream statistics(folder + "/stats.json");
  std::string text;
  for (std::string line; std::getline(statistics, line);)
    text += line;
  return text.empty() ? "null" : text;
}

/// What a kernel gets is kept beside what it leaves.
static void writeScript(const Arguments &arguments,
                        const std::vector<std::string> &command) {
  std::error_code ignored;
  std::ofstream file(arguments.folder + "/repeat");
  file << "#!/bin/sh\n";
  for (const Arguments::Argument &argument : arguments.all) {
    if (!argument.buffer)
      continue;
    std::filesystem::copy_file(argument.path, argument.path + ".in", ignored);
    file << "cp '" << argument.path << ".in' '" << argument.path << "'\n";
  }
  file << "exec";
  // What is in place of variables is one file, many times.
  std::string before;
  for (const std::string &word : command) {
    file << (word == before ? " '" : " \\\n  '") << word << "'";
    before = word;
  }
  file << " \"$@\"\n";
}

static cudaError_t simulate(const Launch &launch, const KernelFacts &facts,
                            const std::string &folder) {
  auto fail = [&](const blockscale::Error &error) {
    return refuse(launch, {cudaErrorLaunchFailure, error.message()});
  };
  Arguments arguments(launch, facts, folder);
  if (blockscale::Error error = writeModule(*launch.kernel->module))
    return fail(error);
  if (blockscale::Error error = arguments.write(launch, facts))
    return fail(error);
  std::vector<std::string> command = makeCommand(launch, arguments);
  if (!getSetting("BLOCKSCALE_CAPTURE_KEEP").empty())
    writeScript(arguments, command);
  auto start = std::chrono::steady_clock::now();
  int code = execute(command);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  blockscale::Error error = blockscale::Error::success();
  if (code == 0)
    error = arguments.take(launch, facts);
  if (error)
    return fail(error);
  writeLine(launch, "\"exit_code\": " + std::to_string(code) +
                        ", \"seconds\": " + std::to_string(seconds.count()) +
                        ", \"statistics\": " + readStatistics(folder));
  return code == 0 ? cudaSuccess : cudaErrorLaunchFailure;
}

cudaError_t capture::run(const Launch &launch) {
  if (std::optional<Refusal> refusal = checkLaunch(launch))
    return refuse(launch, *refusal);
  const KernelFacts &facts = *getFacts(*launch.kernel);
  static unsigned number = 0;
  std::string folder =
      Folder::get().path + "/launch" + std::to_string(number++);
  std::filesystem::create_directories(folder);
  cudaError_t status = simulate(launch, facts, folder);
  rememberUses(facts.uses);
  std::error_code ignored;
  if (getSetting("BLOCKSCALE_CAPTURE_KEEP").empty())
    std::filesystem::remove_all(folder, ignored);
  return status;
}
