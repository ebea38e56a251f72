//===- MemoryOperands.h - Loads and stores of a warp ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all memory instructions share: state spaces among the modifiers, hints
// without a visible effect, and bytes that move between memory and registers
// with their states.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MEMORY_MEMORYOPERANDS_H
#define BLOCKSCALE_LIB_SIMULATOR_MEMORY_MEMORYOPERANDS_H

#include "Machine/Block.h"
#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

/// Takes out the state space; generic if there is none.
AddressSpace takeSpace(Modifiers &modifiers);

/// Takes out memory semantics, scope, proxy and cache hints. The result says
/// how the access synchronizes threads. `hasCachePolicy`: there is one more
/// operand, which is ignored.
MemoryOrder takeHints(Modifiers &modifiers, bool &hasCachePolicy);

/// The addresses of all active lanes: a base register plus an offset. Fails if
/// the base is undefined.
bool getAddresses(Warp &warp, AddressSpace space, Slot base, int64_t offset,
                  WarpAccess &access);

/// Reports an access with resolved addresses to observers, for the lanes of
/// each resolved space.
void observe(Warp &warp, WarpAccess &access,
             llvm::ArrayRef<LaneMask> lanesOfSpaces);

/// Calls `body(lane, space, span)` with the bytes of each lane of an access,
/// which are aligned to their size, exist and may be read or written.
template <typename Body>
void forEachAccess(Warp &warp, WarpAccess &access, Body body) {
  std::array<LaneMask, kNumAddressSpaces> lanesOfSpaces = {};
  bool isLoad = access.kind == AccessKind::Load;
  forEachLane(access.lanes, [&](unsigned lane) {
    AddressSpace space = access.space;
    Span span;
    if (!warp.resolve(lane, space, access.addresses[lane], access.size,
                      access.size, !isLoad, span,
                      access.kind == AccessKind::Atomic) ||
        (isLoad && !warp.checkReadable(lane, span, access.size)) ||
        (access.kind == AccessKind::Atomic &&
         !warp.checkWritten(lane, span, access.size)))
      return;
    lanesOfSpaces[static_cast<unsigned>(space)] |= LaneMask(1) << lane;
    body(lane, space, span);
  });
  observe(warp, access, lanesOfSpaces);
}

/// `multimem.red`.
void translateReduction(Translator &t, Modifiers &modifiers);

/// Reads `size` bytes (at most 8) with their states.
void readBytes(const Span &span, unsigned size, uint64_t &value,
               uint8_t &undefined);
/// Writes `size` bytes (at most 8) with their states.
void writeBytes(Span &span, unsigned size, uint64_t value, uint8_t undefined);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MEMORY_MEMORYOPERANDS_H
