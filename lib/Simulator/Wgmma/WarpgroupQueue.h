//===- WarpgroupQueue.h - wgmma in flight in a warp -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wgmma.mma_async is executed when it is issued, but counts as in flight
// until a wgmma.wait_group covers it. Until then no other instruction may use
// the registers of D, A and metadata, and the shared memory that it reads must
// not change. A wgmma.fence is required between earlier accesses of these
// registers and the wgmma.mma_async. (The ISA does not name metadata there; it
// is an input as A is.)
//
// Source: PTX ISA, sections 9.7.15.7 "Asynchronous wgmma operations" and
// "wgmma.fence".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPQUEUE_H
#define BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPQUEUE_H

#include "SharedDescriptors/SharedReads.h"
#include "Translation/Code.h"

#include <deque>

namespace mlir::blockscale::sim {

class Warp;
struct WarpgroupForm;

/// The registers of a wgmma.mma_async; A may have none, and metadata has one if
/// A is sparse.
struct WarpgroupRegisters {
  llvm::ArrayRef<Slot> d, a, metadata;
};

/// The queue of one warp, in kernels with wgmma.
class WarpgroupQueue {
public:
  /// Another instruction is about to use registers; false after a failure.
  bool access(Warp &warp, const Step &step);
  /// A wgmma.mma_async may use its registers; false after a failure.
  bool checkRegisters(Warp &warp, const WarpgroupForm &form,
                      const WarpgroupRegisters &registers);
  /// Adds it to the operations in flight.
  void issue(Warp &warp, const WarpgroupForm &form,
             const WarpgroupRegisters &registers, uint64_t number,
             SharedReads reads);
  void fence() { lastFence = ++now; }
  void commit() { groups.push_back(numIssued); }
  /// The number, among the instructions of the warpgroup, of the last one that
  /// is covered by a wait for all groups but the `keep` most recent ones;
  /// nothing if there is none.
  std::optional<uint64_t> getLastAwaited(uint64_t keep) const;
  /// Ends the reads of the warpgroup's instructions up to a number; fails if
  /// the bytes of one of this warp's reads have changed since it began.
  void endReads(Warp &warp, uint64_t last);
  /// Completes all groups but the `keep` most recent ones.
  void wait(uint64_t keep);
  /// Called before the warp leaves its innermost function; false after a
  /// failure.
  bool leave(Warp &warp);

private:
  enum class Role : uint8_t { Thread, Accumulator, Input, Metadata };
  static llvm::StringRef getName(Role role);
  /// The last use of a register.
  struct RegisterUse {
    Role role = Role::Thread;
    uint32_t line = 0;
    uint64_t time = 0;
    /// The number of the wgmma.mma_async; 0 for another instruction.
    uint64_t operation = 0;
    const WarpgroupForm *form = nullptr;
  };
  struct Operation {
    uint32_t line;
    size_t depth;
    /// Its number among the instructions of the warpgroup.
    uint64_t number;
    /// Empty once the reads have ended for one of the four warps.
    std::optional<SharedReads> reads;
  };

  RegisterUse &getUse(Warp &warp, Slot slot);
  bool isInFlight(const RegisterUse &use) const {
    return use.operation > numCompleted;
  }
  bool checkRegister(Warp &warp, const WarpgroupForm &form, Slot slot,
                     Role role, unsigned index);

  /// Counts accesses and fences.
  uint64_t now = 0, lastFence = 0;
  uint64_t numIssued = 0, numCompleted = 0;
  /// The operations in flight; the first one has number `numCompleted` + 1.
  std::deque<Operation> operations;
  /// How many of them have completed their reads.
  size_t numRead = 0;
  /// For each group, the number of its last operation.
  std::deque<uint64_t> groups;
  /// By depth of the frame and slot.
  std::vector<std::vector<RegisterUse>> uses;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WGMMA_WARPGROUPQUEUE_H
