//===- Program.cpp - A translated PTX module ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "Translator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Where shared variables begin: no variable has address 0, and the driver
/// keeps these bytes for itself on recent chips.
static constexpr uint64_t kSharedStart = 1024;
/// Bytes between variables that belong to none.
static constexpr uint64_t kSharedGap = 16;
/// Variables in global and constant memory, together.
static constexpr uint64_t kMaxModuleBytes = uint64_t(4) << 30;
/// What a thread may have, as far as a frame's own variables go.
static constexpr uint64_t kMaxFrameBytes = 512 << 10;

const Kernel *Program::lookup(std::string_view name) const {
  for (const Kernel &kernel : kernels)
    if (kernel.function->name == llvm::StringRef(name))
      return &kernel;
  return nullptr;
}

static Error failAt(Location location, const llvm::Twine &text) {
  return Error("line " + std::to_string(location.line) + ":" +
               std::to_string(location.column) + ": " + text.str());
}

/// Gives addresses to all variables but those of frames.
static Error layOutVariables(Program &program, Kernel &layout) {
  const Module &module = program.module;
  program.addresses.resize(module.variables.size());
  uint64_t shared = kSharedStart, total = 0, dynamicAlignment = kSharedStart;
  for (auto [i, variable] : llvm::enumerate(module.variables)) {
    switch (variable.space) {
    case Space::Global:
    case Space::Const:
      total += std::min(variable.size, kMaxModuleBytes + 1);
      if (total > kMaxModuleBytes)
        return failAt(variable.location,
                      "expected at most " + llvm::Twine(kMaxModuleBytes) +
                          " bytes of variables in global memory");
      program.addresses[i] = GlobalMemory::getAddress(
          program.allocations.size(), variable.alignment);
      program.allocations.push_back(i);
      break;
    case Space::Shared:
      if (variable.isUnsized) {
        dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
        break;
      }
      shared = llvm::alignTo(shared, variable.alignment);
      if (variable.size > kMaxSharedBytes ||
          shared + variable.size > kMaxSharedBytes + kSharedStart)
        return failAt(variable.location, "expected at most " +
                                             llvm::Twine(kMaxSharedBytes) +
                                             " bytes of shared memory");
      program.addresses[i] = shared;
      layout.sharedVariables.push_back({shared, shared + variable.size});
      shared += variable.size + kSharedGap;
      break;
    case Space::Local:
    case Space::Param:
      if (variable.size > kMaxFrameBytes)
        return failAt(variable.location,
                      "expected at most " + llvm::Twine(kMaxFrameBytes) +
                          " bytes of a variable in local memory");
      break;
    }
  }
  layout.staticShared = llvm::alignTo(shared, dynamicAlignment);
  for (auto [i, variable] : llvm::enumerate(module.variables))
    if (variable.space == Space::Shared && variable.isUnsized)
      program.addresses[i] = layout.staticShared;
  return Error::success();
}

static void layOutParameters(Program &program, Kernel &kernel) {
  uint64_t offset = 0;
  for (const Parameter &parameter : kernel.function->parameters) {
    const Variable &variable = program.module.variables[parameter.index];
    offset = llvm::alignTo(offset, variable.alignment);
    program.addresses[parameter.index] = offset;
    kernel.parameters.push_back({offset, variable.size});
    offset += variable.size;
  }
  kernel.parameterBytes = offset;
}

Result<std::unique_ptr<Program>> sim::translate(Module module) {
  auto program = std::make_unique<Program>();
  program->module = std::move(module);
  program->codes.resize(program->module.functions.size());
  Kernel layout = {};
  if (Error error = layOutVariables(*program, layout))
    return error;
  for (auto [function, code] :
       llvm::zip_equal(program->module.functions, program->codes)) {
    if (!function.isEntry || !function.isDefined)
      continue;
    Kernel &kernel = program->kernels.emplace_back(layout);
    kernel.function = &function;
    kernel.code = &code;
    layOutParameters(*program, kernel);
  }
  for (auto [function, code] :
       llvm::zip_equal(program->module.functions, program->codes))
    if (function.isDefined)
      if (Error error = Translator(*program, function, code).run())
        return error;
  return program;
}
