//===- Members.cpp - Lanes that do something together ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collectives are undefined where the lanes that a mask names do not come
// together; that is told here for all of them.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Members.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

bool sim::requireMembers(Warp &warp, Slot slot, llvm::StringRef what) {
  if (!warp.requireDefined(slot, warp.active, "the member mask"))
    return false;
  const Lanes &masks = warp.reg(slot);
  for (LaneMask rest = warp.active; rest;) {
    unsigned lane = __builtin_ctz(rest);
    LaneMask members = masks.value[lane];
    auto describe = [&, members] {
      return ("the member mask " + printHex(members) + " of " + what).str();
    };
    if (!(members >> lane & 1)) {
      warp.fail(lane, describe() + " does not name the lane itself");
      return false;
    }
    members &= getPresent(warp);
    if (LaneMask missing = members & ~warp.active) {
      if (warp.letOthersGoFirst(missing))
        return false;
      unsigned other = __builtin_ctz(missing);
      warp.fail(other, describe() + " names lane " + llvm::Twine(other) +
                           ", which does not take part");
      return false;
    }
    for (LaneMask others = members; others; others &= others - 1) {
      unsigned other = __builtin_ctz(others);
      if (masks.value[other] != masks.value[lane]) {
        warp.fail(other, "expected one member mask of " + what + ", got " +
                             printHex(masks.value[lane]) + " in lane " +
                             llvm::Twine(lane) + " and " +
                             printHex(masks.value[other]) + " in lane " +
                             llvm::Twine(other));
        return false;
      }
    }
    rest &= ~members;
  }
  return true;
}
