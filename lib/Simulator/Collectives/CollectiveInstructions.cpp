//===- CollectiveInstructions.cpp - Opcodes of warp collectives -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The opcodes of collectives; each family is implemented in its own file.
//
//===----------------------------------------------------------------------===//

#include "Collectives/CollectiveInstructions.h"

#include "Translation/OpcodeTable.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

void sim::gather(Translator &t, Step &step, uint8_t predicates, uint8_t results,
                 bool isNegated) {
  // The registers that lanes exchange do not say whether a predicate is
  // negated, so the name does.
  std::string name = isNegated ? "!" : "";
  name += t.current->opcode;
  for (llvm::StringRef modifier : t.current->modifiers)
    name += ("." + modifier).str();
  llvm::ArrayRef<char> text =
      t.keepArray(llvm::ArrayRef(name.data(), name.size()));
  step.gathering =
      t.keep(Gathering{{text.data(), text.size()}, predicates, results});
}

void sim::addWarpInstructions(OpcodeTable &table) {
  table["activemask"] = translateActiveMask;
  table["elect"] = translateElect;
  table["ldmatrix"] = translateLoadMatrix;
  table["match"] = translateMatch;
  table["movmatrix"] = translateMoveMatrix;
  table["redux"] = translateRedux;
  table["setmaxnreg"] = translateSetMaxRegisters;
  table["shfl"] = translateShuffle;
  table["stmatrix"] = translateStoreMatrix;
  table["vote"] = translateVote;
}
