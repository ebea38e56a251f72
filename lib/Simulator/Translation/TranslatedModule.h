//===- TranslatedModule.h - A translated PTX module -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_TRANSLATEDMODULE_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_TRANSLATEDMODULE_H

#include "Memory/Storage.h"
#include "Ptx/Ast.h"
#include "Translation/Code.h"
#include "blockscale/Simulator/Simulator.h"

#include <deque>
#include <optional>

namespace mlir::blockscale::sim {

/// Shared memory that a block may have, of the chips that have most.
inline constexpr uint64_t kMaxSharedBytes = 227 << 10;

/// Where shared variables begin: no variable has address 0, and the driver
/// keeps these bytes for itself on recent chips.
inline constexpr uint64_t kSharedStart = 1024;
/// Of those, the bytes from here on are zeros that kernels may use, to which
/// %reserved_smem_offset_1 points: tiles of several warps in cooperative_groups
/// meet there.
inline constexpr uint64_t kGroupScratch = 512;
/// Local memory that a thread may have.
inline constexpr uint64_t kMaxLocalBytes = 512 << 10;
/// Bytes between variables in shared or local memory that belong to none.
inline constexpr uint64_t kVariableGap = 16;

/// Where a parameter is in the memory of a kernel's parameters.
struct KernelParameter {
  uint64_t offset, size;
};

struct Kernel {
  const Function *function;
  const Code *code;
  /// What is wrong with the kernel, or with a function that it may call. A
  /// module can have kernels beside it that run.
  std::optional<Error> error;
  /// Of the kernel or a function that it may call, see Code.
  uint8_t facilities = 0;
  unsigned tensorBlocks = 0;
  std::vector<KernelParameter> parameters;
  uint64_t parameterBytes = 0;
  /// Where dynamic shared memory begins, behind the shared variables.
  uint64_t staticShared = 0;
  /// Parts of shared memory that belong to a variable of this kernel: [begin,
  /// end).
  std::vector<std::pair<uint64_t, uint64_t>> sharedVariables;
  /// Their names, and that of dynamic shared memory, if it has one.
  std::vector<llvm::StringRef> sharedNames;
  llvm::StringRef dynamicSharedName;
  /// Whether the bytes from kGroupScratch on are there.
  bool hasGroupScratch = false;

  uint64_t sharedVariableBytes() const {
    uint64_t bytes = 0;
    for (auto [begin, end] : sharedVariables)
      bytes += end - begin;
    return bytes;
  }
};

struct TranslatedModule {
  Module module;
  /// By number of the function; empty where it has no body.
  std::deque<Code> codes;
  std::deque<Kernel> kernels;
  /// By number of the variable: its generic address if it is in global or
  /// constant memory, its offset if it is shared or a kernel's parameter. Names
  /// of dynamic shared memory have 0: each kernel has it where its own begins.
  std::vector<uint64_t> addresses;
  /// Variables in global and constant memory; number i is the allocation number
  /// i of each run.
  std::vector<Index> allocations;

  const Kernel *lookup(std::string_view name) const;
};

/// Translates a module that was parsed. What is wrong with the body of a
/// function is the error of the kernels that reach it.
Result<std::unique_ptr<TranslatedModule>> translate(Module module);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_TRANSLATEDMODULE_H
