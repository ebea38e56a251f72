//===- Tcgen05Engine.h - Tensor core operations in flight -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.mma, cp and shift are executed when they are issued, but count as in
// flight until a thread waits for the mbarrier object at which a later commit
// arrives. Until then no instruction may read what they write or change what
// they read, so programs cannot observe when they were executed. tcgen05.ld and
// st are in flight until tcgen05.wait. Shipped kernels omit that wait, so a
// missing wait is only reported; missing barriers and fences are errors.
//
// Source: PTX ISA, section 9.7.16.6 "Memory consistency model for 5th
// generation of tensor core operations".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05ENGINE_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05ENGINE_H

#include "Machine/AsyncUnit.h"
#include "SharedDescriptors/SharedReads.h"
#include "Tcgen05/CollectedMatrix.h"
#include "Tcgen05/TensorMemory.h"
#include "Trace/Recording.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <map>

namespace mlir::blockscale::sim {

/// Tensor memory cells of one SM that an instruction reads or writes.
struct Tcgen05Use {
  Block *block;
  TensorRegion region;
  bool isWrite;
  /// Whether the cells are the accumulator of an mma.
  bool isAccumulator = false;
};

/// An instruction that tcgen05.commit completes, from its issue on.
struct Tcgen05Operation {
  Tcgen05AccessKind kind;
  unsigned lane;
  llvm::SmallVector<Tcgen05Use, 8> uses;
  llvm::SmallVector<SharedChunks, 4> shared;
  /// See Tcgen05Access.
  uint64_t accumulator = 0;
  /// For recordings; see TraceOperation.
  unsigned numBlocks = 1;
  uint64_t flops = 0;
  RateFigure rate = nullptr;
  bool isSparse = false;
};

/// The state of tcgen05.alloc in a block.
struct BlockAllocation {
  /// The columns of the last allocation, and whether another one is permitted.
  std::optional<unsigned> last;
  bool isAllowed = true;
  /// For a CTA pair: how many columns which warp requests, and the first one
  /// that it gets.
  std::optional<unsigned> wanted, granted;
  unsigned warp = 0;
};

class Tcgen05Engine final : public AsyncUnit {
public:
  static constexpr UnitKind kKind = UnitKind::Tensor;

  explicit Tcgen05Engine(BlockGroup &group);

  TensorMemory &getMemory(const Block &block);
  BlockAllocation &getAllocation(const Block &block);
  CollectorBuffers &getCollectors(const Block &block);

  /// A warp waits for columns, and tries again after a deallocation.
  void awaitColumns(Warp &warp, std::string reason);
  void wakeAllocations();

  /// The block of a warp and, with .cta_group::2, the other one of its CTA
  /// pair; fails if that does not exist. `what` names the instruction.
  bool findBlocks(Warp &warp, unsigned lane, unsigned numBlocks,
                  llvm::StringRef what, llvm::SmallVectorImpl<Block *> &blocks);

  /// Checks that an instruction may make its accesses, and notes them; false
  /// after a failure. Missing fences are only reported.
  bool begin(Warp &warp, Tcgen05Operation operation);
  /// The same for the ld or st of a whole warp.
  bool begin(Warp &warp, Tcgen05AccessKind kind,
             llvm::ArrayRef<TensorRegion> regions);
  /// tcgen05.wait::ld or ::st.
  void wait(Warp &warp, Tcgen05AccessKind kind);
  /// tcgen05.commit: arrives at the mbarrier objects when the operations that
  /// the thread has issued are complete.
  void commit(Warp &warp, unsigned lane,
              llvm::ArrayRef<SharedLocation> mbarriers);
  void fence(Warp &warp, bool isBefore);

  /// Completes the operations before a commit at an mbarrier object.
  bool completeNext(SharedLocation mbarrier) override;

  /// Fails unless all columns of a use belong to the block.
  bool checkAllocated(Warp &warp, unsigned lane, const Tcgen05Use &use);
  /// Fails if columns that are deallocated may be in use.
  bool checkUnused(Warp &warp, unsigned lane, unsigned column,
                   unsigned numColumns);
  /// Fails if a block ends with allocated columns.
  bool endBlock(Block &block) override;
  void endGroup() override;

private:
  /// An operation or commit that a thread has issued, and for which no thread
  /// has waited.
  struct Entry {
    /// Number of the access; 0 for a commit.
    uint32_t access;
    SharedReads shared;
    llvm::SmallVector<SharedLocation, 2> mbarriers;
    unsigned lane;
    uint32_t line;
    /// For a commit: its id in recordings.
    uint32_t operationId;
  };
  /// The number of the warp, and the lane.
  using Thread = std::pair<unsigned, unsigned>;

  Tcgen05Access makeAccess(const Warp &warp, Tcgen05AccessKind kind,
                           LaneMask lanes);
  bool checkOrder(Warp &warp, unsigned lane, const Tcgen05Access &next,
                  const Tcgen05Use &use);
  bool checkOverlap(Warp &warp, unsigned lane, llvm::ArrayRef<Tcgen05Use> uses);
  bool arrive(Warp &warp, const Entry &entry, SharedLocation location);
  bool complete(Warp &warp, const Entry &entry);
  bool report(Warp &warp, unsigned lane,
              llvm::function_ref<std::string()> describe);
  bool checkPair(Warp &warp, unsigned lane, const Tcgen05Access &first,
                 bool firstReads, const Tcgen05Access &next,
                 const Tcgen05Use &use);
  bool checkBehind(Warp &warp, unsigned lane, const Tcgen05Access &access);
  bool isKnown(const Warp &warp, const Tcgen05Access &first, bool isFenced);
  std::string describe(const Tcgen05Access &access);
  uint32_t note(const Tcgen05Access &access, llvm::ArrayRef<Tcgen05Use> uses);

  BlockGroup &group;
  std::deque<TensorMemory> memories;
  /// By number of the block.
  std::vector<BlockAllocation> allocations;
  std::vector<CollectorBuffers> collectors;
  std::vector<Warp *> awaitingColumns;
  Tcgen05Fences fences;
  uint64_t now = 0;
  /// Whether a missing fence before the current instruction has been reported.
  bool hasReported = false;
  /// By number; the first one is unused.
  std::deque<Tcgen05Access> accesses;
  std::map<Thread, std::deque<Entry>> queues;
  /// By number of the warp: its ld and st in flight.
  std::vector<std::vector<uint32_t>> waiting;
};

/// The engine of a warp's group.
Tcgen05Engine &getTensorEngine(const Warp &warp);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05ENGINE_H
