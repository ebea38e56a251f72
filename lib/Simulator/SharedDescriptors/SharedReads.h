//===- SharedReads.h - What tensor cores read of shared memory --*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor cores read shared memory through the async proxy, at any time between
// the instruction and the end of the wait for it. So bytes must be there at the
// beginning, and must be the same at the end.
//
// Source: PTX ISA, sections 8.6 "Proxies" and 9.7.16.6 "Memory consistency
// model".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDREADS_H
#define BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDREADS_H

#include "Memory/Races.h"
#include "Synchronization/MBarrier.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

class Warp;

/// Chunks of 16 bytes in the shared memory of a block.
struct SharedChunks {
  Block *block;
  std::vector<uint32_t> offsets;
};

/// Those that one instruction reads.
class SharedReads {
public:
  /// An instruction of a lane, called `name`, begins to read; false after a
  /// failure. `time` is when it has read them, for the search for races, where
  /// that is not known of the warp.
  bool begin(Warp &warp, unsigned lane,
             llvm::SmallVector<SharedChunks, 4> chunks, llvm::StringRef name,
             std::optional<AgentTime> time = std::nullopt);
  /// Fails where bytes have been written since: `reader` is what may still have
  /// read them, `expected` what makes sure that it has.
  bool checkUnchanged(Warp &warp, unsigned lane, llvm::StringRef reader,
                      llvm::StringRef expected) const;

  uint64_t getNumBytes() const;

private:
  llvm::SmallVector<SharedChunks, 4> chunks;
  uint64_t numWritesBefore = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDREADS_H
