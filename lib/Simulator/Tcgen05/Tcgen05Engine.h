//===- Tcgen05Engine.h - What tensor cores have under way -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.mma, cp and shift are carried out when they are issued, and are under
// way until a thread waits for the mbarrier object that a commit behind them
// arrives at. Until then nobody may read what they write, or change what they
// read, and so nobody can tell when they were carried out. tcgen05.ld and st
// are under way until tcgen05.wait; shipped kernels leave it out, so that this
// alone is reported and no more, but barriers and fences must be there.
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

/// Cells of one SM that an instruction reads or writes.
struct Tcgen05Use {
  Block *block;
  TensorRegion region;
  bool isWrite;
  /// The accumulator of an mma.
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
  /// For recordings, see Operation.
  unsigned numBlocks = 1;
  uint64_t flops = 0;
  RateFigure rate = nullptr;
};

/// What a block has done with tcgen05.alloc.
struct BlockAllocation {
  /// The columns that the last one got, and whether another one may come.
  std::optional<unsigned> last;
  bool isAllowed = true;
  /// Of a pair of blocks: how many columns which warp asks for, and the first
  /// one that it gets.
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

  /// A warp waits for columns: it tries again when some are given back.
  void awaitColumns(Warp &warp, std::string reason);
  void wakeAllocations();

  /// The block of a warp and, with .cta_group::2, the other one of its pair;
  /// fails where that is not there. `what` is the instruction.
  bool findBlocks(Warp &warp, unsigned lane, unsigned numBlocks,
                  llvm::StringRef what, llvm::SmallVectorImpl<Block *> &blocks);

  /// Checks that an instruction may do what it is about to do, and notes that
  /// it does; false after a failure. Missing fences are reported only.
  bool begin(Warp &warp, Tcgen05Operation operation);
  /// The same for the ld or st of a whole warp.
  bool begin(Warp &warp, Tcgen05AccessKind kind,
             llvm::ArrayRef<TensorRegion> regions);
  /// tcgen05.wait::ld or ::st.
  void wait(Warp &warp, Tcgen05AccessKind kind);
  /// tcgen05.commit: arrives at the mbarrier objects as soon as what the thread
  /// has issued is complete.
  void commit(Warp &warp, unsigned lane, llvm::ArrayRef<SharedPlace> mbarriers);
  void fence(Warp &warp, bool isBefore);

  /// Completes what a commit at an mbarrier object tells of.
  bool completeNext(SharedPlace mbarrier) override;

  /// Whether all columns of a use belong to the block; fails otherwise.
  bool checkAllocated(Warp &warp, unsigned lane, const Tcgen05Use &use);
  /// Fails where columns that are given back may be in use.
  bool checkUnused(Warp &warp, unsigned lane, unsigned column,
                   unsigned numColumns);
  /// Fails where a block that ends has columns.
  bool endBlock(Block &block) override;
  void endGroup() override;

private:
  /// What one thread has issued and nobody has waited for.
  struct Entry {
    /// Number of the access; 0 for a commit.
    uint32_t access;
    SharedReads shared;
    llvm::SmallVector<SharedPlace, 2> mbarriers;
    unsigned lane;
    uint32_t line;
    /// Of a commit: what recordings call it.
    uint32_t operationId;
  };
  /// The number of the warp, and the lane.
  using Thread = std::pair<unsigned, unsigned>;

  bool checkOrder(Warp &warp, unsigned lane, const Tcgen05Access &next,
                  const Tcgen05Use &use);
  bool checkOverlap(Warp &warp, unsigned lane, llvm::ArrayRef<Tcgen05Use> uses);
  bool arrive(Warp &warp, const Entry &entry, SharedPlace place);
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
  /// What is missing before the current instruction is reported once.
  bool hasReported = false;
  /// By number; the first one is nobody's.
  std::deque<Tcgen05Access> accesses;
  std::map<Thread, std::deque<Entry>> queues;
  /// By number of the warp: its ld and st under way.
  std::vector<std::vector<uint32_t>> waiting;
};

/// That of the group of a warp.
Tcgen05Engine &getTensorEngine(const Warp &warp);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TCGEN05ENGINE_H
