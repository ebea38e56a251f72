//===- Members.h - Lanes that do something together -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SIMULATOR_INSTRUCTIONS_MEMBERS_H
#define BLOCKSCALE_SIMULATOR_INSTRUCTIONS_MEMBERS_H

#include "../Warp.h"

namespace mlir::blockscale::sim {

/// Fails unless each active lane's member mask names the lane itself, all lanes
/// that it names are active, and they pass the same mask. Lanes beyond the end
/// of the block may be named. `what` names the instruction.
bool requireMembers(Warp &warp, Slot mask, llvm::StringRef what);

/// Calls `body(members)` for each group of active lanes with the same mask;
/// `members` are those that exist.
template <typename Body>
void forEachGroup(Warp &warp, Slot mask, Body body) {
  for (LaneMask rest = warp.active; rest;) {
    LaneMask members =
        warp.reg(mask).value[__builtin_ctz(rest)] & warp.existing;
    body(members);
    rest &= ~members;
  }
}

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_SIMULATOR_INSTRUCTIONS_MEMBERS_H
