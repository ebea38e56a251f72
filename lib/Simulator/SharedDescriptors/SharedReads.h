//===- SharedReads.h - Asynchronous reads -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor cores read shared memory through the async proxy, at any time between
// the instruction and the end of the wait for it. So the bytes must be written
// before it begins, and must not change until it ends.
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

/// The chunks that one instruction reads.
class SharedReads {
public:
  /// An instruction of a lane, called `name`, begins to read; false after a
  /// failure. `time` is when the read ends, for race detection, if another
  /// agent than the warp reads.
  bool begin(Warp &warp, unsigned lane,
             llvm::SmallVector<SharedChunks, 4> chunks, llvm::StringRef name,
             std::optional<AgentTime> time = std::nullopt);
  /// Fails if bytes have been written since: `reader` names what may still be
  /// reading them, `expected` what makes sure that the read has ended.
  bool checkUnchanged(Warp &warp, unsigned lane, llvm::StringRef reader,
                      llvm::StringRef expected) const;

  uint64_t getNumBytes() const;

private:
  llvm::SmallVector<SharedChunks, 4> chunks;
  uint64_t numWritesBefore = 0;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_SHAREDDESCRIPTORS_SHAREDREADS_H
