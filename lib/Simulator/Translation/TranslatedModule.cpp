//===- TranslatedModule.cpp - A translated PTX module ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lays out variables, translates all functions, and collects for each kernel
// what it needs for the functions that it calls.
//
//===----------------------------------------------------------------------===//

#include "Translation/TranslatedModule.h"

#include "Translation/Translator.h"
#include "Translation/Uses.h"
#include "blockscale/Runtime/StructText.h"

#include "blockscale/Runtime/StructText.h"
#include "llvm/ADT/STLExtras.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The most bytes of variables in global and constant memory.
static constexpr uint64_t kMaxModuleBytes = uint64_t(4) << 30;
/// Shared memory with the gaps between variables, which also cost host memory.
static constexpr uint64_t kMaxSharedSpan =
    (uint64_t(1) << kSharedOffsetBits) - kMaxSharedBytes;
/// The least alignment of dynamic shared memory.
static constexpr uint64_t kDynamicAlignment = 16;
/// The most bytes of parameters of a kernel before PTX 8.1, as in ptxas.
static constexpr uint64_t kMaxOldParameterBytes = 4352;

const Kernel *TranslatedModule::lookup(std::string_view name) const {
  for (const Kernel &kernel : kernels)
    if (kernel.function->name == llvm::StringRef(name))
      return &kernel;
  return nullptr;
}

static Error failAt(Location location, const llvm::Twine &text) {
  return Error("line " + std::to_string(location.line) + ":" +
               std::to_string(location.column) + ": " + text.str());
}

/// Dynamic shared memory has different addresses in different kernels.
static Error checkRelocations(const Module &module, const Variable &variable) {
  for (const Relocation &relocation : variable.relocations) {
    if (relocation.isFunction)
      continue;
    const Variable &target = module.variables[relocation.target];
    if (target.space == Space::Shared && target.isUnsized)
      return failAt(variable.location,
                    "not supported in this version: the address of dynamic "
                    "shared memory in an initializer");
  }
  return Error::success();
}

/// Gives addresses to variables in global and constant memory, and checks the
/// sizes of others.
static Error layOutVariables(TranslatedModule &program) {
  const Module &module = program.module;
  program.addresses.resize(module.variables.size());
  uint64_t total = 0;
  for (auto [i, variable] : llvm::enumerate(module.variables)) {
    switch (variable.space) {
    case Space::Global:
    case Space::Const:
      total += std::min(variable.size, kMaxModuleBytes + 1);
      if (total > kMaxModuleBytes)
        return failAt(variable.location,
                      "expected at most " + llvm::Twine(kMaxModuleBytes) +
                          " bytes of variables in global memory");
      if (Error error = checkRelocations(module, variable))
        return error;
      program.addresses[i] = GlobalMemory::getAddress(
          program.allocations.size(), variable.alignment);
      program.allocations.push_back(i);
      break;
    case Space::Shared:
      if (variable.size > kMaxSharedBytes)
        return failAt(variable.location, "expected at most " +
                                             llvm::Twine(kMaxSharedBytes) +
                                             " bytes of shared memory");
      break;
    case Space::Local:
    case Space::Param:
      if (variable.size > kMaxLocalBytes)
        return failAt(variable.location,
                      "expected at most " + llvm::Twine(kMaxLocalBytes) +
                          " bytes of a variable in local memory");
      break;
    }
  }
  return Error::success();
}

/// Refuses a kernel that needs more shared memory than there is.
static void checkSharedSpan(Kernel &kernel, Location location) {
  if (kernel.staticShared > kMaxSharedSpan && !kernel.error)
    kernel.error =
        failAt(location, "expected at most " + llvm::Twine(kMaxSharedSpan) +
                             " bytes of shared memory and of gaps "
                             "for alignment");
}

/// Gives addresses to shared variables that have a size: each variable comes
/// after the earlier ones in all kernels that use it.
static void layOutShared(TranslatedModule &program, llvm::ArrayRef<Uses> uses) {
  for (Kernel &kernel : program.kernels)
    kernel.staticShared = kSharedStart;
  for (auto [i, variable] : llvm::enumerate(program.module.variables)) {
    if (variable.space != Space::Shared || variable.isUnsized)
      continue;
    uint64_t address = kSharedStart;
    for (auto [kernel, used] : llvm::zip_equal(program.kernels, uses))
      if (used.sharedVariables.test(i))
        address = std::max(address, kernel.staticShared);
    address = llvm::alignTo(address, variable.alignment);
    program.addresses[i] = address;
    for (auto [kernel, used] : llvm::zip_equal(program.kernels, uses)) {
      if (!used.sharedVariables.test(i))
        continue;
      kernel.sharedVariables.push_back({address, address + variable.size});
      kernel.sharedNames.push_back(variable.name);
      kernel.staticShared = address + variable.size + kVariableGap;
      checkSharedSpan(kernel, variable.location);
    }
  }
}

/// Dynamic shared memory begins behind the variables of a kernel, at an address
/// that equals that of cards modulo kSharedStart. Cards have no gaps between
/// variables, so the alignment depends only on their sizes and on what the
/// kernel declares.
static void layOutDynamicShared(const Module &module, const Uses &used,
                                Kernel &kernel) {
  uint64_t end = kSharedStart, alignment = kDynamicAlignment;
  Location location = kernel.function->location;
  for (unsigned i : used.sharedVariables.set_bits()) {
    const Variable &variable = module.variables[i];
    if (variable.isUnsized) {
      // All names of dynamic shared memory alias the same bytes.
      alignment = std::max(alignment, variable.alignment);
      location = variable.location;
      kernel.dynamicSharedName = variable.name;
    } else {
      end = llvm::alignTo(end, variable.alignment) + variable.size;
    }
  }
  uint64_t modulus = std::max(alignment, kSharedStart);
  kernel.staticShared = llvm::alignTo(kernel.staticShared, modulus,
                                      llvm::alignTo(end, alignment));
  checkSharedSpan(kernel, location);
}

static void layOutParameters(TranslatedModule &program, Kernel &kernel) {
  const Module &module = program.module;
  bool isOld =
      std::pair(module.versionMajor, module.versionMinor) < std::pair(8u, 1u);
  uint64_t most = isOld ? kMaxOldParameterBytes : maxParamBytes;
  uint64_t offset = 0;
  for (const Parameter &parameter : kernel.function->parameters) {
    const Variable &variable = module.variables[parameter.index];
    offset = llvm::alignTo(offset, variable.alignment);
    program.addresses[parameter.index] = offset;
    kernel.parameters.push_back({offset, variable.size});
    offset += variable.size;
    if (offset > most && !kernel.error)
      kernel.error =
          failAt(variable.location, "expected at most " + llvm::Twine(most) +
                                        " bytes of parameters" +
                                        (isOld ? " before PTX 8.1" : "") +
                                        ", got " + llvm::Twine(offset));
  }
  kernel.parameterBytes = offset;
}

Result<std::unique_ptr<TranslatedModule>> sim::translate(Module module) {
  auto program = std::make_unique<TranslatedModule>();
  program->module = std::move(module);
  llvm::ArrayRef<Function> functions = program->module.functions;
  program->codes.resize(functions.size());
  if (Error error = layOutVariables(*program))
    return error;
  std::vector<Uses> uses;
  UseFinder finder(program->module);
  for (auto [i, function] : llvm::enumerate(functions)) {
    if (!function.isEntry || !function.isDefined)
      continue;
    Kernel &kernel = program->kernels.emplace_back();
    kernel.function = &function;
    kernel.code = &program->codes[i];
    layOutParameters(*program, kernel);
    uses.push_back(finder.find(i));
    kernel.hasGroupScratch = uses.back().groupScratch;
  }
  layOutShared(*program, uses);
  for (auto [kernel, used] : llvm::zip_equal(program->kernels, uses))
    layOutDynamicShared(program->module, used, kernel);
  for (auto [i, function] : llvm::enumerate(functions)) {
    if (!function.isDefined)
      continue;
    Error error = Translator(*program, function, program->codes[i]).run();
    if (!error)
      continue;
    for (auto [kernel, used] : llvm::zip_equal(program->kernels, uses))
      if (used.functions.test(i) && !kernel.error)
        kernel.error = error;
  }
  // The facilities of a called function count for its kernel.
  for (auto [kernel, used] : llvm::zip_equal(program->kernels, uses))
    for (unsigned i : used.functions.set_bits()) {
      kernel.facilities |= program->codes[i].facilities;
      unsigned blocks = program->codes[i].tensorBlocks;
      if (blocks && kernel.tensorBlocks && blocks != kernel.tensorBlocks &&
          !kernel.error)
        kernel.error =
            failAt(functions[i].location,
                   "expected .cta_group::" + llvm::Twine(kernel.tensorBlocks) +
                       ", as other functions of the kernel have, "
                       "got .cta_group::" +
                       llvm::Twine(blocks));
      kernel.tensorBlocks = std::max(kernel.tensorBlocks, blocks);
    }
  return program;
}
