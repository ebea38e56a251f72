//===- Simulator.cpp - PTX on a CPU ---------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Simulator/Simulator.h"

#include "Machine/BlockGroup.h"
#include "Ptx/Parser.h"
#include "Ptx/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// cudaMalloc's alignment.
static constexpr uint64_t kBufferAlignment = 256;
static constexpr uint32_t kMaxThreads = 1024;
/// Blocks of a cluster, where the kernel allows more than the portable 8.
static constexpr uint64_t kMaxClusterSize = 16;
/// x, y and z of a block and of a grid, at most.
static constexpr std::array<uint32_t, 3> kMaxBlock = {1024, 1024, 64};
static constexpr std::array<uint32_t, 3> kMaxGrid = {INT32_MAX, 65535, 65535};

SimulatedProgram::SimulatedProgram(std::unique_ptr<TranslatedModule> program)
    : program(std::move(program)) {}
SimulatedProgram::SimulatedProgram(SimulatedProgram &&) = default;
SimulatedProgram &SimulatedProgram::operator=(SimulatedProgram &&) = default;
SimulatedProgram::~SimulatedProgram() = default;

Result<SimulatedProgram> SimulatedProgram::load(std::string ptx) {
  Result<Module> module = parsePtx(std::move(ptx));
  if (!module)
    return module.error();
  Result<std::unique_ptr<TranslatedModule>> program =
      translate(std::move(*module));
  if (!program)
    return program.error();
  return SimulatedProgram(std::move(*program));
}

//===----------------------------------------------------------------------===//
// Checks of a launch
//===----------------------------------------------------------------------===//

/// The cluster of a launch is the one that the kernel asks for, if it does.
static Error checkCluster(const Kernel &kernel, const Module &module,
                          PlannedKernel &planned) {
  const Function &function = *kernel.function;
  auto reject = [&](const std::string &text) {
    return Error("kernel " + function.name.str() + ": " + text);
  };
  bool isGiven = planned.cluster != Dim3{1, 1, 1};
  if (std::optional<Dim3> required = function.requiredCluster) {
    if (isGiven && planned.cluster != *required)
      return reject("expected a cluster of " + print(*required) +
                    " (.reqnctapercluster), got " + print(planned.cluster));
    planned.cluster = *required;
  } else if (function.isExplicitCluster && !isGiven) {
    return reject("expected a launch with a cluster (.explicitcluster)");
  }
  const Dim3 &cluster = planned.cluster;
  uint64_t size = 1;
  for (unsigned i = 0; i != 3; ++i) {
    if (cluster[i] == 0)
      return reject(
          "expected a block in a cluster at least, got a cluster of " +
          print(cluster));
    if (planned.grid[i] % cluster[i] != 0)
      return reject("expected a grid that is a multiple of the cluster " +
                    print(cluster) + ", got " + print(planned.grid));
    size = llvm::SaturatingMultiply<uint64_t>(size, cluster[i]);
  }
  uint64_t most = function.maximumClusterRank.value_or(kMaxClusterSize);
  if (size > std::min<uint64_t>(most, kMaxClusterSize))
    return reject("expected at most " +
                  std::to_string(std::min<uint64_t>(most, kMaxClusterSize)) +
                  " blocks in a cluster" +
                  (most < kMaxClusterSize ? " (.maxclusterrank)" : "") +
                  ", got " + std::to_string(size));
  if (size > 1 && !hasFeature(module.target, Feature::Clusters))
    return reject("expected a target of sm_90 or above for clusters, got " +
                  module.target.str());
  return Error::success();
}

static Error checkLaunch(const Kernel &kernel, const PlannedKernel &planned) {
  const Function &function = *kernel.function;
  auto reject = [&](const std::string &text) {
    return Error("kernel " + function.name.str() + ": " + text);
  };
  if (llvm::is_contained(planned.block, 0u))
    return reject("expected a thread in a block at least, got a block of " +
                  print(planned.block));
  if (llvm::is_contained(planned.grid, 0u))
    return reject("expected a block in a grid at least, got a grid of " +
                  print(planned.grid));
  uint64_t threads =
      uint64_t(planned.block[0]) * planned.block[1] * planned.block[2];
  if (threads > kMaxThreads)
    return reject("expected at most " + std::to_string(kMaxThreads) +
                  " threads in a block, got " + std::to_string(threads));
  for (unsigned i = 0; i != 3; ++i) {
    if (planned.block[i] > kMaxBlock[i])
      return reject("expected a block of at most " + print(kMaxBlock) +
                    ", got " + print(planned.block));
    if (planned.grid[i] > kMaxGrid[i])
      return reject("expected a grid of at most " + print(kMaxGrid) + ", got " +
                    print(planned.grid));
  }
  if (function.requiredBlock && *function.requiredBlock != planned.block)
    return reject("expected a block of " + print(*function.requiredBlock) +
                  " (.reqntid), got " + print(planned.block));
  if (function.maximumBlock) {
    uint64_t most = 1;
    for (uint32_t extent : *function.maximumBlock)
      most = llvm::SaturatingMultiply<uint64_t>(most, extent);
    if (threads > most)
      return reject("expected at most " + std::to_string(most) +
                    " threads in a block (.maxntid), got " +
                    std::to_string(threads));
  }
  uint64_t shared = kernel.sharedVariableBytes() + planned.shared;
  if (shared > kMaxSharedBytes)
    return reject("expected at most " + std::to_string(kMaxSharedBytes) +
                  " bytes of shared memory, got " + std::to_string(shared));
  if (planned.params.size() != kernel.parameters.size())
    return reject("expected " + std::to_string(kernel.parameters.size()) +
                  " parameters, got " + std::to_string(planned.params.size()));
  for (size_t i = 0; i != planned.params.size(); ++i) {
    if (planned.params[i].size != kernel.parameters[i].size)
      return reject("expected parameter " + std::to_string(i) + " of " +
                    std::to_string(kernel.parameters[i].size) + " bytes, got " +
                    std::to_string(planned.params[i].size));
    if (planned.params[i].kind != PlannedParam::Kind::TensorMap &&
        planned.params[i].size > sizeof planned.params[i].value)
      return reject("not supported in this version: parameter " +
                    std::to_string(i) + " of " +
                    std::to_string(planned.params[i].size) + " bytes");
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Memory of a run
//===----------------------------------------------------------------------===//

static void initialize(const TranslatedModule &program,
                       const Variable &variable, Storage &storage) {
  llvm::copy(variable.initializer, storage.data());
  for (const Relocation &relocation : variable.relocations) {
    uint64_t address = relocation.addend;
    if (relocation.isFunction) {
      address += getRegionBase(kFunctionRegion) + relocation.target;
    } else {
      address += program.addresses[relocation.target];
      if (relocation.isGeneric &&
          program.module.variables[relocation.target].space == Space::Shared)
        address += getRegionBase(kSharedRegion);
    }
    address >>= relocation.shift;
    std::memcpy(storage.data() + relocation.offset, &address, relocation.size);
  }
}

namespace {
/// Global memory, and where the arguments are in it.
struct RunMemory {
  GlobalMemory memory;
  std::vector<GlobalMemory::Allocation *> arguments;
  TensorMaps tensorMaps;
  /// By argument: the number of its tensor map, if it is one.
  std::vector<uint32_t> mapNumbers;
  uint64_t workspace = 0;
};
} // namespace

static void fillMemory(const TranslatedModule &program, const LaunchPlan &plan,
                       std::vector<LaunchArgument> &arguments, RunMemory &run) {
  for (Index number : program.allocations) {
    const Variable &variable = program.module.variables[number];
    GlobalMemory::Allocation &allocation = run.memory.allocate(
        variable.name.str(), variable.size, variable.alignment);
    allocation.isConstant = variable.space == Space::Const;
    initialize(program, variable, allocation.storage);
  }
  for (size_t i = 0; i != arguments.size(); ++i) {
    LaunchArgument &argument = arguments[i];
    run.arguments.push_back(
        argument.isBuffer()
            ? &run.memory.map("argument " + std::to_string(i),
                              argument.array.data.data(),
                              argument.array.data.size(), kBufferAlignment)
            : nullptr);
    run.mapNumbers.push_back(
        argument.tensorMap
            ? run.tensorMaps.add({&*argument.tensorMap, run.arguments.back()})
            : 0);
  }
  if (plan.workspace) {
    GlobalMemory::Allocation &workspace =
        run.memory.allocate("the workspace", plan.workspace, kBufferAlignment);
    std::memset(workspace.storage.ensureStates(), ByteUndefined,
                plan.workspace);
    run.workspace = workspace.address;
  }
}

static void fillParameters(const Kernel &kernel, const PlannedKernel &planned,
                           const RunMemory &run, Storage &parameters) {
  for (auto [place, param] :
       llvm::zip_equal(kernel.parameters, planned.params)) {
    uint64_t value = param.value;
    switch (param.kind) {
    case PlannedParam::Kind::Scalar:
      break;
    case PlannedParam::Kind::Buffer:
      value = run.arguments[param.value]->address;
      break;
    case PlannedParam::Kind::Workspace:
      value += run.workspace;
      break;
    case PlannedParam::Kind::TensorMap:
      TensorMaps::write(run.mapNumbers[param.value],
                        parameters.data() + place.offset);
      continue;
    }
    std::memcpy(parameters.data() + place.offset, &value, place.size);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

namespace {
/// Runs the groups of blocks of one kernel. What a block has to say is kept for
/// the group with the lowest number, so that it does not depend on who came
/// first.
class GridRun {
public:
  GridRun(const LaunchedKernel &launch, uint64_t maxSteps)
      : launch(launch), maxSteps(maxSteps),
        firstFailure(BlockGroup::count(launch)) {
    if (launch.options->wantsStatistics)
      statistics = std::make_unique<Statistics>();
  }

  /// What all blocks did; null where nobody asked.
  std::unique_ptr<Statistics> statistics;

  /// How many steps the blocks took.
  uint64_t getNumSteps() const { return numSteps; }

  Error run(unsigned jobs, std::vector<std::string> &warnings) {
    if (jobs <= 1) {
      runGroups(/*isAlone=*/true);
    } else {
      llvm::DefaultThreadPool pool(llvm::hardware_concurrency(jobs));
      for (unsigned i = 0; i != jobs; ++i)
        pool.async([this] { runGroups(/*isAlone=*/false); });
      pool.wait();
      findExcess();
    }
    for (const auto &[line, of] : found) {
      std::string start = "line " + std::to_string(line);
      for (const auto &[text, place] : of.first)
        warnings.push_back(start + ", " + place.second + ": " + text);
      if (of.areMore)
        warnings.push_back(start + ": further warnings are left out");
    }
    return failure ? *failure : Error::success();
  }

private:
  /// Warnings of one line.
  struct Found {
    /// By text: the first group with it, and the place.
    std::map<std::string, std::pair<uint64_t, std::string>> first;
    bool areMore = false;
  };

  /// Adds the warnings of one line in a group. Those of the groups with the
  /// lowest numbers are kept, in whatever order groups come.
  static void add(uint64_t number, const LineWarnings &warnings, Found &found) {
    found.areMore |= warnings.areMore;
    for (const Warning &warning : warnings.first) {
      auto [entry, isNew] =
          found.first.try_emplace(warning.message.text, number, "");
      if (isNew || number < entry->second.first)
        entry->second = {number, describe(*warning.warp, warning.message.lane)};
    }
    while (found.first.size() > kMaxWarningsOfLine) {
      found.areMore = true;
      found.first.erase(
          llvm::max_element(found.first, [](const auto &lhs, const auto &rhs) {
            return std::tie(lhs.second.first, lhs.first) <
                   std::tie(rhs.second.first, rhs.first);
          }));
    }
  }

  static std::string describe(const Warp &warp, unsigned lane) {
    return "block " + print(warp.block.index) + ", warp " +
           std::to_string(warp.index) + ", lane " + std::to_string(lane);
  }

  /// Those who run beside others do not know how many steps are left for them.
  void runGroups(bool isAlone) {
    while (numSteps <= maxSteps) {
      uint64_t number = next.fetch_add(1);
      if (number >= firstFailure)
        return;
      runGroup(number, isAlone ? maxSteps - numSteps : maxSteps);
    }
  }

  void runGroup(uint64_t number, uint64_t stepsLeft) {
    BlockGroup group(launch, number);
    bool isGood = group.run(stepsLeft);
    std::lock_guard<std::mutex> lock(mutex);
    numSteps += group.numSteps;
    if (numStepsOf.size() <= number)
      numStepsOf.resize(number + 1);
    numStepsOf[number] = group.numSteps;
    if (statistics)
      statistics->add(*group.statistics);
    for (const auto &[line, warnings] : group.warnings)
      add(number, warnings, found[line]);
    if (!isGood && number < firstFailure) {
      const LocatedMessage &message = group.failed->failure;
      firstFailure = number;
      failure =
          Error("line " + std::to_string(message.line) + ", " +
                describe(*group.failed, message.lane) + ": " + message.text);
    }
  }

  /// The group that takes the step too many is the one that would do so if the
  /// groups ran one after another. It runs once more, to find the place.
  void findExcess() {
    uint64_t left = maxSteps;
    for (uint64_t number = 0; number != numStepsOf.size(); ++number) {
      if (number > firstFailure)
        return;
      if (numStepsOf[number] <= left) {
        left -= numStepsOf[number];
        continue;
      }
      failure = Error("the run takes more steps than --max-steps allows");
      firstFailure = number + 1;
      return runGroup(number, left);
    }
  }

  const LaunchedKernel &launch;
  const uint64_t maxSteps;
  /// The next group, and the first one that must not run.
  std::atomic<uint64_t> next{0}, firstFailure;
  std::optional<Error> failure;
  std::atomic<uint64_t> numSteps{0};
  /// By number of the group.
  std::vector<uint64_t> numStepsOf;
  /// Warnings by line.
  std::map<uint32_t, Found> found;
  std::mutex mutex;
};
} // namespace

namespace {
/// A kernel of a plan that has run, with what it did.
struct CountedKernel {
  const Kernel *kernel;
  PlannedKernel planned;
  std::unique_ptr<Statistics> statistics;
};
} // namespace

static void writeStatistics(llvm::json::OStream &json,
                            const CountedKernel &counted) {
  const auto &[kernel, planned, statistics] = counted;
  auto writeExtents = [&](llvm::StringRef name, const Dim3 &extents) {
    json.attributeBegin(name);
    json.arrayBegin();
    for (uint32_t extent : extents)
      json.value(extent);
    json.arrayEnd();
    json.attributeEnd();
  };
  json.objectBegin();
  json.attribute("name", kernel->function->name);
  writeExtents("grid", planned.grid);
  writeExtents("block", planned.block);
  json.attribute("registers",
                 static_cast<int64_t>(kernel->function->registers.size()));
  json.attribute(
      "shared_bytes",
      static_cast<int64_t>(kernel->sharedVariableBytes() + planned.shared));
  statistics->write(json);
  json.objectEnd();
}

/// The JSON of a run.
static std::string printStatistics(const std::vector<CountedKernel> &kernels) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("version", 1);
    json.attributeArray("kernels", [&] {
      for (const CountedKernel &kernel : kernels)
        writeStatistics(json, kernel);
    });
  });
  stream << "\n";
  return text;
}

/// Bytes of a buffer that is stored must have been defined.
static Error checkOutput(const GlobalMemory::Allocation &allocation,
                         bool isAllowed, std::vector<std::string> &warnings) {
  const uint8_t *states = allocation.storage.states();
  if (!states)
    return Error::success();
  const uint8_t *end = states + allocation.storage.size();
  const uint8_t *first = std::find_if(
      states, end, [](uint8_t state) { return (state & ByteUndefined) != 0; });
  if (first == end)
    return Error::success();
  uint64_t number = std::count_if(
      first, end, [](uint8_t state) { return (state & ByteUndefined) != 0; });
  std::string text = allocation.name + ": " + std::to_string(number) +
                     " bytes are undefined at the end, the first is number " +
                     std::to_string(first - states);
  if (!isAllowed)
    return Error(text);
  warnings.push_back(text);
  return Error::success();
}

Result<Report> SimulatedProgram::run(const LaunchPlan &plan,
                                     std::vector<LaunchArgument> &arguments,
                                     const Options &options) const {
  RunMemory memory;
  fillMemory(*program, plan, arguments, memory);
  uint64_t stepsLeft = options.maxSteps;
  Report report;
  uint64_t number = 0;
  std::vector<CountedKernel> counted;
  for (PlannedKernel planned : plan.kernels) {
    const Kernel *kernel = program->lookup(planned.name);
    if (!kernel)
      return Error("expected a kernel named " + quoteForMessage(planned.name) +
                   ", got none");
    if (kernel->error)
      return *kernel->error;
    if (Error error = checkLaunch(*kernel, planned))
      return error;
    if (Error error = checkCluster(*kernel, program->module, planned))
      return error;
    Storage parameters(kernel->parameterBytes);
    fillParameters(*kernel, planned, memory, parameters);
    LaunchedKernel launch = {kernel,         planned.grid,
                             planned.block,  planned.cluster,
                             planned.shared, &memory.memory,
                             &parameters,    &memory.tensorMaps,
                             &options,       options.seed + (number++ << 32)};
    unsigned jobs = launch.uses(UsesGlobalSynchronization) ? 1 : options.jobs;
    GridRun grid(launch, stepsLeft);
    if (Error error = grid.run(jobs, report.warnings))
      return error;
    stepsLeft -= grid.getNumSteps();
    if (grid.statistics)
      counted.push_back({kernel, planned, std::move(grid.statistics)});
  }
  if (options.wantsStatistics)
    report.statistics = printStatistics(counted);
  for (auto [argument, allocation] :
       llvm::zip_equal(arguments, memory.arguments))
    if (argument.isStored())
      if (Error error = checkOutput(*allocation, options.allowUndefinedOutput,
                                    report.warnings))
        return error;
  return report;
}
