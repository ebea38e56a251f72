//===- CollectiveInstructions.h - Warp collectives --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The translators of instructions that exchange values between lanes.
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
void translateLoadMatrix(Translator &t, Modifiers &modifiers);
void translateStoreMatrix(Translator &t, Modifiers &modifiers);
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
  if (!modifiers.take("sync"))
    t.fail("expected .sync behind " + llvm::Twine(t.current->opcode));
  return !t.hasFailed();
}

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COLLECTIVES_COLLECTIVEINSTRUCTIONS_H
