//===- CollectiveInstructions.h - Warp collectives --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The translators of instructions that exchange values between lanes, and their
// member masks.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COLLECTIVES_COLLECTIVEINSTRUCTIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_COLLECTIVES_COLLECTIVEINSTRUCTIONS_H

#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// shfl.sync: Shuffles.cpp.
void translateShuffle(Translator &t, Modifiers &modifiers);

// Votes.cpp.
void translateVote(Translator &t, Modifiers &modifiers);
void translateMatch(Translator &t, Modifiers &modifiers);
void translateActiveMask(Translator &t, Modifiers &modifiers);
void translateElect(Translator &t, Modifiers &modifiers);

/// redux.sync: WarpReductions.cpp.
void translateRedux(Translator &t, Modifiers &modifiers);

// MatrixMoves.cpp.
void translateMatrix(Translator &t, Modifiers &modifiers);
void translateMoveMatrix(Translator &t, Modifiers &modifiers);

/// setmaxnreg: SetMaxRegisters.cpp.
void translateSetMaxRegisters(Translator &t, Modifiers &modifiers);

/// Since sm_70, lanes may reach a collective at different instructions with the
/// same opcode and qualifiers. Bit i of `predicates` and `results` says whether
/// operand i of the step is one.
void gather(Translator &t, Step &step, uint8_t predicates, uint8_t results,
            bool isNegated = false);

/// Takes out `.sync`, which all of them must have.
inline bool takeSync(Translator &t, Modifiers &modifiers) {
  if (modifiers.take("sync"))
    return true;
  return t.error("expected .sync behind " + llvm::Twine(t.current->opcode));
}

/// The lanes that have not exited: a member mask needs those of them that it
/// names.
inline LaneMask getPresent(const Warp &warp) {
  return warp.existing & ~warp.exited;
}

/// Fails unless each active lane's member mask names the lane itself, all lanes
/// that it names are active, and they pass the same mask. Lanes that have
/// exited and those beyond the end of the block may be named. `what` names the
/// instruction. False after a failure, and if other lanes have to run first.
bool requireMembers(Warp &warp, Slot mask, llvm::StringRef what);

/// Calls `body(members)` for each group of active lanes with the same mask.
template <typename Body>
void forEachGroup(Warp &warp, Slot mask, Body body) {
  for (LaneMask rest = warp.active; rest;) {
    LaneMask members =
        warp.reg(mask).value[__builtin_ctz(rest)] & getPresent(warp);
    body(members);
    rest &= ~members;
  }
}

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COLLECTIVES_COLLECTIVEINSTRUCTIONS_H
