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

/// The most shared memory that a block may have on any chip.
inline constexpr uint64_t kMaxSharedBytes = 227 << 10;

/// The address of the first shared variable: no variable has address 0, and the
/// driver reserves these bytes on recent chips.
inline constexpr uint64_t kSharedStart = 1024;
/// The reserved bytes from here on are zeros that kernels may use, and
/// %reserved_smem_offset_1 points to them: cooperative_groups synchronizes
/// tiles of several warps with them.
inline constexpr uint64_t kGroupScratch = 512;
/// The most local memory that a thread may have.
inline constexpr uint64_t kMaxLocalBytes = 512 << 10;
/// Unmapped bytes between variables in shared or local memory.
inline constexpr uint64_t kVariableGap = 16;

/// The location of a parameter in the parameter memory of a kernel.
struct KernelParameter {
  uint64_t offset, size;
};

struct Kernel {
  const Function *function;
  const Code *code;
  /// The error of the kernel, or of a function that it may call. Other kernels
  /// of the module may still run.
  std::optional<Error> error;
  /// Facilities of the kernel and the functions that it may call; see Code.
  uint8_t facilities = 0;
  unsigned tensorBlocks = 0;
  std::vector<KernelParameter> parameters;
  uint64_t parameterBytes = 0;
  /// The offset of dynamic shared memory, behind the shared variables.
  uint64_t staticShared = 0;
  /// Ranges of shared memory that belong to a variable of this kernel: [begin,
  /// end).
  std::vector<std::pair<uint64_t, uint64_t>> sharedVariables;
  /// Their names, and that of dynamic shared memory, if it has one.
  std::vector<llvm::StringRef> sharedNames;
  llvm::StringRef dynamicSharedName;
  /// Whether the bytes from kGroupScratch on are mapped.
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
  /// By number of the function; empty for a function without a body.
  std::deque<Code> codes;
  std::deque<Kernel> kernels;
  /// By number of the variable: its generic address if it is in global or
  /// constant memory, its offset if it is shared or a kernel's parameter. Names
  /// of dynamic shared memory have 0, as its offset differs between kernels.
  std::vector<uint64_t> addresses;
  /// Variables in global and constant memory; number i is the allocation number
  /// i of each run.
  std::vector<Index> allocations;

  const Kernel *lookup(std::string_view name) const;
};

/// Translates a parsed module. An error in the body of a function becomes the
/// error of the kernels that may call it.
Result<std::unique_ptr<TranslatedModule>> translate(Module module);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_TRANSLATEDMODULE_H
