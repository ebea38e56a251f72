//===- Modules.h - Kernels that nvcc puts into programs ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program tells the runtime, before main, of its fat binaries, and which
// function of the host stands for which kernel. A fat binary holds PTX of one
// chip or several (`-gencode arch=compute_100a,code=compute_100a`). That of the
// highest which the card can run is taken, as it is.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FAKECUDART_MODULES_H
#define BLOCKSCALE_TEST_FAKECUDART_MODULES_H

#include "VariableUses.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace capture {

struct Module {
  /// The PTX; empty where there is none, and `error` says why.
  std::string text, error;
  /// Such as "sm_100a".
  std::string target;
  /// Where the text was written for blockscale-sim; empty before that.
  std::string path;
};

struct Kernel {
  Module *module;
  std::string name;
  /// Set by cudaFuncSetAttribute.
  std::optional<uint64_t> dynamicSharedBytes = std::nullopt;
  bool isNonPortableClusterAllowed = false;
};

/// The properties of a kernel in the PTX.
struct KernelFacts {
  /// Bytes of each parameter.
  std::vector<uint64_t> paramSizes;
  /// Of variables in shared memory, of the functions that it may call, too.
  uint64_t sharedBytes = 0;
  /// `.maxntid` or `.reqntid`, or what a block may have at most.
  uint64_t maxThreads = 0;
  /// `.reqnctapercluster`.
  std::optional<std::array<uint32_t, 3>> cluster;
  VariableUses uses;
};

/// Takes the PTX for the chip out of a fat binary. The module stays.
Module *addFatBinary(const void *wrapper);
Kernel *addKernel(Module *module, const void *hostFunction, const char *name);

/// The kernel that a function of the host, or a handle, stands for; null if
/// there is none.
Kernel *lookupKernel(const void *function);

/// Null if the PTX has no such kernel, or one whose parameters are not
/// understood.
const KernelFacts *getFacts(const Kernel &kernel);
/// The limit of dynamic shared memory of a kernel, in bytes.
uint64_t getDynamicSharedLimit(const Kernel &kernel, const KernelFacts &facts);

const PtxCode &getCode(const Module &module);

} // namespace capture

#endif // BLOCKSCALE_TEST_FAKECUDART_MODULES_H
