//===- MBarrierLocations.h - Addresses of mbarrier objects ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_MBARRIERLOCATIONS_H
#define BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_MBARRIERLOCATIONS_H

#include "Memory/MemoryOperands.h"

namespace mlir::blockscale::sim {

/// Resolves the address of an mbarrier object; fails if none can be there.
std::optional<SharedLocation> findMBarrierLocation(Warp &warp, unsigned lane,
                                                   AddressSpace space,
                                                   uint64_t address);

/// Fails if an mbarrier object is in the memory of another block.
bool requireOwn(Warp &warp, unsigned lane, const SharedLocation &location);

/// Calls `body(lane, address)` with the address of each lane's mbarrier object,
/// until one fails.
template <typename Body>
void forEachMBarrier(Warp &warp, AddressSpace space, Slot base, int64_t offset,
                     Body body) {
  WarpAccess access;
  if (!getAddresses(warp, space, base, offset, access))
    return;
  forEachLane(warp.active, [&](unsigned lane) {
    if (warp.state == WarpState::Failed)
      return;
    if (std::optional<SharedLocation> location =
            findMBarrierLocation(warp, lane, space, access.addresses[lane]))
      body(lane, *location);
  });
}

/// The blocks of the cluster whose ranks are bits of the mask of a multicast;
/// fails if one does not exist.
bool findBlocks(Warp &warp, unsigned lane, uint64_t mask,
                llvm::SmallVectorImpl<Block *> &blocks);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SYNCHRONIZATION_MBARRIERLOCATIONS_H
