//===- Reconvergence.h - Points of reconvergence ----------------*- C++ -*-===//
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

/// The position behind the last instruction.
inline constexpr Index kFunctionEnd = ~Index(0);

/// For each instruction of a function: the first instruction that is on all
/// paths from it to the function's end, excluding itself (its immediate
/// post-dominator). Lanes that diverge at a branch reconverge there. It is the
/// end if no path leads from the instruction to the end, or if lanes would
/// reconverge only to leave the kernel.
std::vector<Index> computeReconvergence(const Function &function);

/// Whether lanes that reach an instruction leave the kernel, without a branch
/// or a call on the way.
bool leadsToExit(const Function &function, Index instruction);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRANSLATION_RECONVERGENCE_H
