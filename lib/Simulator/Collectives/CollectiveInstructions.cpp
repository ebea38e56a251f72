//===- CollectiveInstructions.cpp - Opcodes of warp collectives -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The opcodes of collectives; each family is implemented in its own file.
// Checks the member masks of all of them: behavior is undefined if the lanes
// that a mask names do not execute the collective together.
//
//===----------------------------------------------------------------------===//

#include "Collectives/CollectiveInstructions.h"

#include "Translation/OpcodeTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

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

/// Checks that the mask of each active lane names the lane itself, and that all
/// active lanes of a mask pass the same one. `what` names the instruction.
static bool checkMasks(Warp &warp, const Lanes &masks, llvm::StringRef what) {
  for (LaneMask rest = warp.active; rest;) {
    unsigned lane = __builtin_ctz(rest);
    LaneMask members = masks.value[lane];
    if (!(members >> lane & 1))
      return warp.error(lane, "the member mask " + printHex(members) + " of " +
                                  what + " does not name the lane itself");
    members &= warp.active;
    for (LaneMask others = members; others; others &= others - 1) {
      unsigned other = __builtin_ctz(others);
      if (masks.value[other] != masks.value[lane])
        return warp.error(other, "expected one member mask of " + what +
                                     ", got " + printHex(masks.value[lane]) +
                                     " in lane " + llvm::Twine(lane) + " and " +
                                     printHex(masks.value[other]) +
                                     " in lane " + llvm::Twine(other));
    }
    rest &= ~members;
  }
  return true;
}

bool sim::requireMembers(Warp &warp, Slot slot, llvm::StringRef what) {
  const Lanes &masks = warp.reg(slot);
  // The second pass includes the lanes that have arrived since.
  for (bool isAgain : {false, true}) {
    if (!warp.requireDefined(slot, warp.active, "the member mask") ||
        !checkMasks(warp, masks, what))
      return false;
    LaneMask named = 0;
    forEachLane(warp.active,
                [&](unsigned lane) { named |= masks.value[lane]; });
    LaneMask missing = named & getPresent(warp) & ~warp.active;
    if (!missing)
      return true;
    Meeting meeting = isAgain ? Meeting::Never : warp.meet(missing);
    if (meeting == Meeting::Later)
      return false;
    if (meeting == Meeting::Complete)
      continue;
    unsigned other = __builtin_ctz(missing);
    auto names = [&](unsigned lane) {
      return (warp.active >> lane & 1) && (masks.value[lane] >> other & 1);
    };
    unsigned lane = *llvm::find_if(llvm::seq<unsigned>(0, kLanes), names);
    return warp.error(other, "the member mask " + printHex(masks.value[lane]) +
                                 " of " + what + " names lane " +
                                 llvm::Twine(other) +
                                 ", which does not take part");
  }
  return false;
}

void sim::addWarpInstructions(OpcodeTable &table) {
  table["activemask"] = translateActiveMask;
  table["elect"] = translateElect;
  table["ldmatrix"] = translateMatrix;
  table["match"] = translateMatch;
  table["movmatrix"] = translateMoveMatrix;
  table["redux"] = translateRedux;
  table["setmaxnreg"] = translateSetMaxRegisters;
  table["shfl"] = translateShuffle;
  table["stmatrix"] = translateMatrix;
  table["vote"] = translateVote;
}
