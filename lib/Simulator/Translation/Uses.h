//===- Uses.h - What kernels use --------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module may have many kernels; a launch needs one of them, with the
// functions that it may call and the shared variables that those name.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_USES_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_USES_H

#include "Ptx/Ast.h"

#include "llvm/ADT/BitVector.h"

namespace mlir::blockscale::sim {

struct Uses {
  /// By numbers in the module.
  llvm::BitVector functions, sharedVariables;
  /// Whether %reserved_smem_offset_1 is read.
  bool groupScratch = false;
};

/// What a function uses, itself among the functions.
Uses findUses(const Module &module, Index function);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_USES_H
