//===- SharedReads.cpp - Asynchronous reads -------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks bytes that tensor cores read asynchronously: they must be written
// before the read begins, and must not change until it ends.
//
//===----------------------------------------------------------------------===//

#include "SharedDescriptors/SharedReads.h"

#include "Machine/BlockGroup.h"
#include "SharedDescriptors/SharedTile.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

uint64_t SharedReads::getNumBytes() const {
  uint64_t bytes = 0;
  for (const SharedChunks &each : chunks)
    bytes += each.offsets.size() * kChunkBytes;
  return bytes;
}

/// Checks that a chunk may be read from now on.
static bool beginChunk(Warp &warp, unsigned lane, Block &block, uint32_t offset,
                       llvm::StringRef name,
                       const std::optional<AgentTime> &time) {
  auto reject = [&](llvm::StringRef text) {
    return warp.error(lane, name + " reads shared memory at " +
                                printHex(block.getSharedBase() + offset) +
                                (&block == &warp.block
                                     ? std::string()
                                     : " of block " + print(block.index)) +
                                ", " + text);
  };
  if (uint64_t(offset) + kChunkBytes > block.shared.size())
    return reject("which is out of bounds");
  uint8_t state = 0;
  for (unsigned i = 0; i != kChunkBytes; ++i)
    state |= block.shared.states()[offset + i];
  if (state & ByteUnmapped)
    return reject("which is outside of its variables");
  if (state & ByteMBarrier)
    return reject("where there is an mbarrier object");
  if (state & BytePending)
    return reject("which an asynchronous copy has still to write: expected a "
                  "wait for it before");
  BlockGroup &group = block.group;
  uint64_t byte = block.getByteNumber(offset);
  if (std::optional<ProxyTracker::Store> store = group.proxies->findUnfenced(
          warp.number * kLanes + lane, byte, kChunkBytes))
    block.reportProxy(warp, lane,
                      "the async proxy reads the byte at " +
                          printHex(block.getAddress(store->address)) +
                          " in shared memory, which lane " +
                          llvm::Twine(store->thread % kLanes) + " of " +
                          group.describeWarp(store->thread / kLanes) +
                          " has stored: expected fence.proxy.async between");
  if (group.races) {
    RaceDetector::Access access = {};
    access.warp = warp.number;
    access.lane = lane;
    access.line = warp.current->line;
    access.address = byte;
    access.size = kChunkBytes;
    access.kind = AccessKind::Load;
    access.isAsync = true;
    access.time = time;
    group.checkRace(warp, access);
  }
  return warp.state != WarpState::Failed;
}

bool SharedReads::begin(Warp &warp, unsigned lane,
                        llvm::SmallVector<SharedChunks, 4> read,
                        llvm::StringRef name, std::optional<AgentTime> time) {
  chunks = std::move(read);
  numWritesBefore = warp.block.group.proxies->getNumWrites();
  for (const SharedChunks &each : chunks)
    for (uint32_t offset : each.offsets)
      if (!beginChunk(warp, lane, *each.block, offset, name, time))
        return false;
  return true;
}

bool SharedReads::checkUnchanged(Warp &warp, unsigned lane,
                                 llvm::StringRef reader,
                                 llvm::StringRef expected) const {
  for (const SharedChunks &each : chunks)
    for (uint32_t offset : each.offsets) {
      Block &block = *each.block;
      std::optional<uint64_t> changed = block.group.proxies->findWrite(
          block.getByteNumber(offset), kChunkBytes, numWritesBefore);
      if (!changed)
        continue;
      return warp.error(lane,
                        "the byte at " + printHex(block.getAddress(*changed)) +
                            " in shared memory is written, or about to be, "
                            "while " +
                            reader + " may still have to read it: expected " +
                            expected + " before");
    }
  return true;
}
