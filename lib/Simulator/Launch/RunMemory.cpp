//===- RunMemory.cpp - Memory of a run ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assigns addresses to variables, buffers and tensor maps, and checks output
// buffers at the end.
//
//===----------------------------------------------------------------------===//

#include "Launch/RunMemory.h"

#include "Copies/TensorMaps.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// cudaMalloc's alignment.
static constexpr uint64_t kBufferAlignment = 256;
/// Two 32-bit values, as in cooperative_groups.
static constexpr uint64_t kGridWorkspaceBytes = 8;

static void initialize(const TranslatedModule &program,
                       const Variable &variable, Storage &storage) {
  llvm::copy(variable.initializer, storage.data());
  for (const Relocation &relocation : variable.relocations) {
    uint64_t address = relocation.addend;
    if (relocation.isFunction) {
      address += getFunctionAddress(relocation.target);
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

void sim::fillMemory(const TranslatedModule &program, const LaunchPlan &plan,
                     std::vector<LaunchArgument> &arguments, RunMemory &run) {
  for (Index number : program.allocations) {
    const Variable &variable = program.module.variables[number];
    GlobalMemory::Allocation &allocation = run.memory.allocate(
        shortenForMessage(variable.name), variable.size, variable.alignment);
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
    if (argument.kind == LaunchArgument::Kind::Out &&
        !argument.array.data.empty())
      std::memset(run.arguments.back()->storage.ensureStates(),
                  argument.isUndefined ? ByteUndefined : ByteUnwritten,
                  argument.array.data.size());
  }
  if (plan.workspace) {
    GlobalMemory::Allocation &workspace =
        run.memory.allocate("the workspace", plan.workspace, kBufferAlignment);
    std::memset(workspace.storage.ensureStates(), ByteUndefined,
                plan.workspace);
    run.workspace = &workspace;
  }
  run.gridWorkspace = &run.memory.allocate(
      "the workspace of the grid", kGridWorkspaceBytes, kBufferAlignment);
}

/// Writes the value of a parameter, or of a field of one.
static void writeParam(const PlannedParam &param, RunMemory &run, uint8_t *to) {
  GlobalMemory::Allocation *memory = nullptr;
  uint64_t offset = 0, value = param.value;
  switch (param.kind) {
  case PlannedParam::Kind::Scalar:
    break;
  case PlannedParam::Kind::Buffer:
    memory = run.arguments[param.value];
    offset = param.offset;
    value = memory->address + offset;
    break;
  case PlannedParam::Kind::Workspace:
    memory = run.workspace;
    offset = param.value;
    value = memory->address + offset;
    break;
  case PlannedParam::Kind::Struct:
    llvm::copy(param.bytes, to);
    for (const PlannedField &field : param.fields)
      writeParam(field.param, run, to + field.offset);
    return;
  }
  if (param.tensorMap)
    TensorMapFields(*param.tensorMap, memory->address + offset).write(to);
  else
    std::memcpy(to, &value, param.size);
}

void sim::fillParameters(const Kernel &kernel, const PlannedKernel &planned,
                         RunMemory &run, Storage &parameters) {
  std::memset(run.gridWorkspace->storage.data(), 0, kGridWorkspaceBytes);
  for (auto [location, param] :
       llvm::zip_equal(kernel.parameters, planned.params))
    writeParam(param, run, parameters.data() + location.offset);
}

/// How many bytes have a state, and the offset of the first one.
static std::pair<uint64_t, uint64_t>
countBytes(const GlobalMemory::Allocation &allocation, ByteState wanted) {
  const uint8_t *states = allocation.storage.states();
  const uint8_t *end = states + allocation.storage.size();
  auto has = [&](uint8_t state) { return (state & wanted) != 0; };
  const uint8_t *first = std::find_if(states, end, has);
  return {std::count_if(first, end, has), first - states};
}

/// Which instruction has stored an undefined byte, if that was noted.
static std::string describeStore(const GlobalMemory::Allocation &allocation,
                                 uint64_t offset) {
  auto next = allocation.undefinedStores.upper_bound(offset);
  if (next == allocation.undefinedStores.begin())
    return "";
  const auto &[begin, store] = *std::prev(next);
  return offset < begin + store.size ? ", " + store.text : "";
}

Error sim::checkOutput(const GlobalMemory::Allocation &allocation,
                       const Options &options,
                       std::vector<std::string> &warnings) {
  if (!allocation.storage.states())
    return Error::success();
  auto report = [&](uint64_t number, uint64_t first, llvm::StringRef what,
                    bool isAllowed) {
    std::string text = allocation.name + ": " + std::to_string(number) +
                       " bytes " + what.str() + ", the first is number " +
                       std::to_string(first);
    if (!isAllowed)
      return Error(text + describeStore(allocation, first));
    warnings.push_back(text + describeStore(allocation, first));
    return Error::success();
  };
  if (auto [number, first] = countBytes(allocation, ByteUndefined); number)
    if (Error error = report(number, first, "are undefined at the end",
                             options.allowUndefinedOutput))
      return error;
  if (auto [number, first] = countBytes(allocation, ByteUnwritten); number)
    return report(number, first, "are never written, and stay 0",
                  !options.checkStrict);
  return Error::success();
}
