//===- Members.h - Member masks of collectives ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COLLECTIVES_MEMBERS_H
#define BLOCKSCALE_LIB_SIMULATOR_COLLECTIVES_MEMBERS_H

#include "Machine/Warp.h"

namespace mlir::blockscale::sim {

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

#endif // BLOCKSCALE_LIB_SIMULATOR_COLLECTIVES_MEMBERS_H
