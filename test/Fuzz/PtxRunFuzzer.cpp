//===- PtxRunFuzzer.cpp - Fuzzes the execution of PTX ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target. The input is a PTX text; a comment in front of it, such
// as `// 37`, is a number that says how it is run. Kernels run with a few steps
// and small buffers, and whatever they do, that gives a report or a message
// with a line. Seeds are kernels of tests; run it with -timeout=10.
//
//===----------------------------------------------------------------------===//

#include "Ptx/Parser.h"
#include "PtxMutator.h"

#include "blockscale/Runtime/LaunchArguments.h"
#include "blockscale/Simulator/Simulator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr size_t kMaxKernels = 3;
/// As many as kernels of tests have.
static constexpr size_t kBufferBytes = 4096;
/// Threads are lanes of one warp or of several, the last one not always whole.
static constexpr uint32_t kThreads[] = {32, 64, 33, 48};
static constexpr uint32_t kWarpgroup = 128;

extern "C" size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t maxSize);

static void check(bool condition, const std::string &message) {
  if (condition)
    return;
  std::fprintf(stderr, "unexpected message: %s\n", message.c_str());
  std::abort();
}

static bool startsWith(const std::string &text, const char *prefix) {
  return text.compare(0, std::strlen(prefix), prefix) == 0;
}

/// A message that has to do with the text says where; others are about a kernel
/// or an argument as a whole.
static void checkMessage(const std::string &message, bool isOfRun) {
  check(!message.empty(), message);
  for (char c : message)
    check(c >= ' ' && c <= '~', message);
  bool hasLine = startsWith(message, "line ") &&
                 message.compare(5, 1, "0") != 0 &&
                 message.find(": ") != std::string::npos;
  bool needsNone = isOfRun && (startsWith(message, "kernel ") ||
                               startsWith(message, "argument ") ||
                               startsWith(message, "not supported in this "
                                                   "version: clusters"));
  check(hasLine || needsNone, message);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// The parts of the number in front of the text.
struct Choices {
  explicit Choices(uint64_t number) {
    options.seed = number;
    options.maxSteps = 3000;
    options.checkRace = number & 1;
    options.checkProxy = number & 2;
    options.wantsStatistics = number & 4;
    options.allowUndefinedOutput = number & 8;
    options.jobs = number & 16 ? 2 : 1;
    options.numerics = number & 32 ? Numerics::Hardware : Numerics::Exact;
    kernel.grid[0] = 1 + (number >> 6) % 2;
    kernel.block[0] = kThreads[(number >> 7) % 4];
    kernel.shared = number & 512 ? 4096 : 0;
    options.checkStrict = number & 1024;
    if (number & 2048)
      kernel.cluster[0] = kernel.grid[0] = 2;
    if (number & 4096)
      kernel.block[0] = kWarpgroup;
  }

  Options options;
  PlannedKernel kernel;
};
} // namespace

static uint64_t parseNumber(const std::string &text) {
  return startsWith(text, "// ") ? std::strtoull(text.c_str() + 3, nullptr, 10)
                                 : 0;
}

/// A map of the first buffer: 16 rows of 64 words.
static LaunchArgument makeTensorMap() {
  Result<LaunchArgument> map = parseLaunchArgument(
      "tmap:@0:f4:BOX=8x4:SWIZZLE=none:SIZES=64x16:PITCH=256");
  check(bool(map), "tensor map");
  return *map;
}

/// Parameters of 8 bytes are buffers, those of 128 bytes behind one tensor
/// maps, and others are zeros.
static void addArguments(const Module &module, const Function &function,
                         PlannedKernel &kernel,
                         std::vector<LaunchArgument> &arguments) {
  constexpr uint64_t mapBytes = 128;
  std::vector<uint64_t> sizes;
  for (const Parameter &parameter : function.parameters)
    sizes.push_back(module.variables[parameter.index].size);
  auto isScalar = [&](uint64_t size) {
    return size != sizeof(uint64_t) && (size != mapBytes || arguments.empty());
  };
  std::vector<bool> areScalars;
  for (uint64_t size : sizes) {
    areScalars.push_back(isScalar(size));
    if (areScalars.back())
      continue;
    if (size == mapBytes) {
      arguments.push_back(makeTensorMap());
      continue;
    }
    LaunchArgument &argument = arguments.emplace_back();
    argument.kind = LaunchArgument::Kind::InOut;
    argument.array.shape = {kBufferBytes};
    argument.array.data.resize(kBufferBytes);
  }
  std::vector<PlannedParam> planned = planParams(arguments);
  size_t next = 0;
  for (size_t i = 0; i != sizes.size(); ++i)
    kernel.params.push_back(areScalars[i]
                                ? PlannedParam(PlannedParam::Kind::Scalar, 0,
                                               static_cast<unsigned>(sizes[i]))
                                : planned[next++]);
}

static void run(const SimulatedProgram &program, const Module &module,
                const Function &function, Choices choices) {
  LaunchPlan plan;
  PlannedKernel &kernel = plan.kernels.emplace_back(choices.kernel);
  kernel.name = function.name.str();
  if (function.requiredBlock)
    kernel.block = *function.requiredBlock;
  std::vector<LaunchArgument> arguments;
  addArguments(module, function, kernel, arguments);
  Result<Report> report = program.run(plan, arguments, choices.options);
  if (!report)
    return checkMessage(report.message(), /*isOfRun=*/true);
  check(report->statistics.empty() != choices.options.wantsStatistics,
        "statistics");
  for (const std::string &warning : report->warnings)
    checkMessage(warning, /*isOfRun=*/true);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::string text(bytes, bytes + size);
  Result<SimulatedProgram> program = SimulatedProgram::load(text);
  if (!program) {
    checkMessage(program.message(), /*isOfRun=*/false);
    return 0;
  }
  // Once more, for what a program does not tell of its kernels.
  Result<Module> module = parsePtx(text);
  Choices choices(parseNumber(text));
  size_t numKernels = 0;
  for (const Function &function : module->functions)
    if (function.isEntry && function.isDefined && numKernels++ != kMaxKernels)
      run(*program, *module, function, choices);
  return 0;
}

//===----------------------------------------------------------------------===//
// Mutation
//===----------------------------------------------------------------------===//

static size_t give(const std::string &text, uint8_t *bytes, size_t maxSize) {
  size_t size = std::min(text.size(), maxSize);
  std::memcpy(bytes, text.data(), size);
  return size;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 32 == 0)
    return LLVMFuzzerMutate(bytes, size, maxSize);
  std::string text(bytes, bytes + size);
  for (unsigned count = 1 + random() % 3; count != 0; --count)
    text = mutatePtx(text, random);
  return give(text, bytes, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *first,
                                            size_t firstSize,
                                            const uint8_t *second,
                                            size_t secondSize, uint8_t *bytes,
                                            size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  return give(crossPtx(std::string(first, first + firstSize),
                       std::string(second, second + secondSize), random),
              bytes, maxSize);
}
