//===- RunMemory.cpp - Memory of a run ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where variables, buffers and tensor maps get their addresses, and what is
// checked of buffers at the end.
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
/// Two words, as cooperative_groups has it.
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
  for (auto [place, param] : llvm::zip_equal(kernel.parameters, planned.params))
    writeParam(param, run, parameters.data() + place.offset);
}

Error sim::checkOutput(const GlobalMemory::Allocation &allocation,
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
