//===- Reconvergence.h - Where parted lanes meet ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_RECONVERGENCE_H
#define BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_RECONVERGENCE_H

#include "Ptx/Ast.h"

namespace mlir::blockscale::sim {

/// The place behind the last instruction.
inline constexpr Index kFunctionEnd = ~Index(0);

/// For each instruction of a function: the first instruction that is on all
/// paths from it to the function's end, itself left out (its immediate
/// post-dominator). Lanes that part at a branch meet there. An instruction from
/// which no path leads to the end has the end, and so have those that would
/// meet only to leave the kernel.
std::vector<Index> computeReconvergence(const Function &function);

/// Whether lanes leave the kernel that come to an instruction, without a choice
/// or a call on the way.
bool leadsToExit(const Function &function, Index instruction);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_RECONVERGENCE_H
