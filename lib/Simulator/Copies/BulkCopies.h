//===- BulkCopies.h - Copies of the async proxy -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `cp.async.bulk` and `cp.reduce.async.bulk` read and write at the last moment
// that the PTX ISA allows: when a thread waits for the mbarrier object or the
// bulk group that a copy belongs to. A wait with .read makes it read only.
//
// `st.async` and `red.async` are also such copies, of bytes that are known at
// once.
//
// Source: PTX ISA, section 9.7.9.27 "Data Movement and Conversion Instructions:
// Bulk copy".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_BULKCOPIES_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_BULKCOPIES_H

#include "Copies/TensorMapTransfer.h"
#include "Machine/Lanes.h"
#include "Memory/ElementOperation.h"
#include "Memory/Storage.h"
#include "Synchronization/MBarrier.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <list>
#include <optional>
#include <vector>

namespace mlir::blockscale::sim {

class Warp;

struct BulkCopy {
  Span source, destination;
  uint64_t size = 0;
  /// The mbarrier object at which the copy signals; nothing if a bulk group
  /// completes it.
  std::optional<SharedLocation> mbarrier;
  /// The reduction of old and new elements; null copies the bytes.
  const ElementOperation *operation = nullptr;
  /// Bit i: byte i of each 16 bytes is copied.
  uint16_t byteMask = 0xFFFF;
  /// For a tensor copy: where the bytes belong. The side in shared memory has
  /// `size` bytes, the other one is the tensor.
  std::shared_ptr<const TensorMapTransfer> tensor;
  /// Through the generic proxy, which needs no fences, and not the async one.
  bool isGeneric = false;
  /// The response of clusterlaunchcontrol: some cluster, or none.
  enum class Response : uint8_t { None, Canceled, Refused };
  Response response = Response::None;
  /// The thread that has begun it, and the bulk group.
  Warp *warp = nullptr;
  unsigned lane = 0;
  uint32_t line = 0;
  uint64_t group = 0;
  /// Its id in recordings.
  uint32_t operationId = 0;
  /// For race detection: how many stores came before.
  uint64_t numStoresBefore = 0;

  /// The bytes that the complete-tx operation on the mbarrier object counts.
  uint64_t getTransactionBytes() const {
    return tensor ? tensor->transactionBytes : size;
  }

  /// For a store instead of a copy: the bytes to write.
  void setBytes(llvm::ArrayRef<uint8_t> values,
                llvm::ArrayRef<uint8_t> valueStates);
  /// Marks a destination in shared memory as pending.
  void begin();
  /// Reads the bytes of the source.
  void read();
  /// Reads, if it has not yet, and writes.
  void complete();

  bool isRead = false;

private:
  friend class BulkCopies;
  void reduce();
  bool overlaps(const BulkCopy &other) const;

  std::vector<uint8_t> bytes, states;
};

/// The copies of a group of blocks that are under way.
class BulkCopies {
public:
  /// Adds a copy to the current group of its thread, or to an mbarrier's.
  void begin(BulkCopy copy);

  /// Closes the current group of a thread.
  void commit(const Warp &warp, unsigned lane) { ++getCommitted(warp, lane); }
  /// Completes all groups of a thread but the `keep` most recent ones, or makes
  /// them only read. `onRead` gets each copy whose source is read now.
  void waitGroups(const Warp &warp, unsigned lane, uint64_t keep,
                  bool onlyReads,
                  llvm::function_ref<void(const BulkCopy &)> onRead);

  /// Completes the oldest copy that signals at an mbarrier object, and removes
  /// it.
  std::optional<BulkCopy> completeNext(SharedLocation mbarrier);

  const std::list<BulkCopy> &getCopies() const { return copies; }
  /// Completes everything.
  void completeAll();

private:
  uint64_t &getCommitted(const Warp &warp, unsigned lane);

  std::list<BulkCopy> copies;
  /// How many copies hold the bytes that they have read.
  unsigned numRead = 0;
  std::vector<uint64_t> numCommitted;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_BULKCOPIES_H
