//===- BulkCopyUnit.h - Bulk copies of a group ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bulk copies, tensor copies and asynchronous stores of a group: this file
// reports them to race detection and to the proxy tracker. What they do to
// memory is in BulkCopies.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_COPIES_BULKCOPYUNIT_H
#define BLOCKSCALE_LIB_SIMULATOR_COPIES_BULKCOPYUNIT_H

#include "Copies/BulkCopies.h"
#include "Machine/AsyncUnit.h"

namespace mlir::blockscale::sim {

class BulkCopyUnit final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::BulkCopies;

  explicit BulkCopyUnit(BlockGroup &group) : group(group) {}

  /// Begins a copy of the current step; fails if it races with an earlier
  /// access.
  void begin(Warp &warp, BulkCopy copy);
  /// Closes the current group of a thread.
  void commit(const Warp &warp, unsigned lane) { copies.commit(warp, lane); }
  /// See BulkCopies::waitGroups.
  void wait(Warp &warp, unsigned lane, uint64_t keep, bool onlyReads);

  bool completeNext(SharedLocation mbarrier) override;
  /// Copies must not need the shared memory of the block any more. Those to
  /// global memory complete when all blocks have ended.
  bool endBlock(Block &block) override;
  void endGroup() override { copies.completeAll(); }

private:
  void record(const Warp &warp, BulkCopy &copy, const Block *from,
              const Block *to);
  void checkSource(const BulkCopy &copy, const Block &from);
  void checkProxy(const BulkCopy &copy, const Span &span, const Block &block,
                  llvm::StringRef what);
  void checkProxies(const BulkCopy &copy, Block *from, Block *to);
  void noteComplete(const BulkCopy &copy);

  BlockGroup &group;
  BulkCopies copies;
};

/// The unit of a warp's group.
BulkCopyUnit &getBulkCopies(const Warp &warp);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_COPIES_BULKCOPYUNIT_H
