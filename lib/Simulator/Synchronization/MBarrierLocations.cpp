//===- MBarrierLocations.cpp - Addresses of mbarrier objects --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves addresses of mbarrier objects to a block of the cluster and an
// offset in its shared memory.
//
//===----------------------------------------------------------------------===//

#include "Synchronization/MBarrierLocations.h"

#include "Machine/BlockGroup.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

std::optional<SharedLocation> sim::findMBarrierLocation(Warp &warp,
                                                        unsigned lane,
                                                        AddressSpace space,
                                                        uint64_t address) {
  if (address % kMBarrierBytes != 0)
    return warp.error(lane,
                      "expected the address of an mbarrier object to be a "
                      "multiple of 8, got " +
                          printHex(address));
  uint64_t generic = address;
  if (space == AddressSpace::Generic && getRegion(address) == kSharedRegion) {
    address = getRegionOffset(address);
    space = AddressSpace::SharedCluster;
  }
  bool isShared =
      space == AddressSpace::Shared || space == AddressSpace::SharedCluster;
  Block *owner = isShared ? warp.block.findOwner(address) : nullptr;
  if (!owner || getSharedOffset(address) >= owner->shared.size())
    return warp.error(
        lane, "expected an mbarrier object in shared memory, got address " +
                  printHex(generic));
  if (space == AddressSpace::Shared && owner != &warp.block)
    return warp.error(
        lane, "expected an mbarrier object of this block (.shared::cta), "
              "got one of block " +
                  print(owner->index));
  if (owner->isDone())
    return warp.error(lane, "expected an mbarrier object, got one of block " +
                                print(owner->index) + ", which has ended");
  return SharedLocation{owner, static_cast<uint32_t>(getSharedOffset(address))};
}

bool sim::findBlocks(Warp &warp, unsigned lane, uint64_t mask,
                     llvm::SmallVectorImpl<Block *> &blocks) {
  blocks.clear();
  for (unsigned rank = 0; mask >> rank; ++rank) {
    if (!(mask >> rank & 1))
      continue;
    Block *block = warp.block.findOwner(uint64_t(rank) << kSharedOffsetBits);
    if (!block || block->isDone())
      return warp.error(
          lane, block ? "expected a mask of blocks that run, but block " +
                            print(block->index) + " has ended"
                      : "expected a mask of blocks of the cluster, which has " +
                            std::to_string(warp.block.group.clusterSize) +
                            ", got " + printHex(mask));
    blocks.push_back(block);
  }
  return true;
}

bool sim::requireOwn(Warp &warp, unsigned lane,
                     const SharedLocation &location) {
  if (location.block == &warp.block)
    return true;
  return warp.error(lane,
                    "expected an mbarrier object of this block, got one of "
                    "block " +
                        print(location.block->index));
}
