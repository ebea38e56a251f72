//===- Warp.h - A warp ------------------------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp executes steps in lockstep. When lanes diverge, a stack of lane sets
// keeps the sets that wait; they reconverge at the immediate post-dominator of
// the branch. A set that waits for others or loops without progress lets other
// sets run (LaneSets.cpp), so that lanes make progress independently.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_MACHINE_WARP_H
#define BLOCKSCALE_LIB_SIMULATOR_MACHINE_WARP_H

#include "Machine/LivelockDetector.h"
#include "Memory/Storage.h"
#include "Memory/WarpAccess.h"
#include "Translation/Code.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <optional>

namespace mlir::blockscale::sim {

class AsyncUnit;
class Block;

/// Calls `body(lane)` for each lane of a mask.
template <typename Body>
void forEachLane(LaneMask mask, Body body) {
  if (mask == kAllLanes) {
    for (unsigned lane = 0; lane != kLanes; ++lane)
      body(lane);
    return;
  }
  for (; mask; mask &= mask - 1)
    body(static_cast<unsigned>(__builtin_ctz(mask)));
}

/// A function that is being executed.
struct Frame {
  const Code *code;
  std::vector<Lanes> registers;
  std::vector<Predicate> predicates;
  std::vector<LaneSet> stack;
  /// The offset of the local variables in the lanes' local memory.
  uint64_t localBase = 0;
  /// The call step; null in a kernel.
  const Step *caller = nullptr;
  /// The lanes that entered.
  LaneMask entered = 0;
  /// Bytes of local memory that lanes had when they entered.
  std::array<uint64_t, kLanes> localBefore = {};
  /// How often each step was executed; null without statistics.
  uint64_t *counts = nullptr;
};

enum class WarpState : uint8_t {
  Ready,
  /// Ready, but lets other warps run first, because it has polled without
  /// success or loops without progress.
  Polling,
  /// Waits for others to reach a barrier or to complete a phase.
  Waiting,
  /// All lanes have left the kernel.
  Done,
  Failed,
};

/// An error or a warning.
struct LocatedMessage {
  uint32_t line = 0;
  unsigned lane = 0;
  std::string text;
};

/// What a function returns after it has reported an error: false, nothing or
/// null.
struct Failure {
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
  operator T() const {
    return false;
  }
  template <typename T>
  operator T *() const {
    return nullptr;
  }
  template <typename T>
  operator std::optional<T>() const {
    return std::nullopt;
  }
};

class Warp {
public:
  Warp(Block &block, unsigned index, unsigned numThreads);

  /// Enters a kernel or a function; the lanes are those that execute.
  void enter(const Code &code, LaneMask lanes, const Step *caller);
  /// Executes at most `count` steps; returns how many.
  uint64_t run(uint64_t count);

  //===--------------------------------------------------------------------===//
  // Interface for steps
  //===--------------------------------------------------------------------===//

  /// The lanes that execute the current step.
  LaneMask active = 0;

  Lanes &reg(Slot slot) { return registers[slot]; }
  Predicate &pred(Slot slot) { return predicates[slot]; }

  /// The active lanes go on at `pc`; the other lanes on top of the stack go on
  /// behind the current step, later or first. They meet at `reconverge`.
  void branch(uint32_t pc, uint32_t reconverge, bool othersFirst = false);
  /// Each active lane goes on at its own pc (`brx.idx`).
  void branch(llvm::ArrayRef<uint32_t> pcs, uint32_t reconverge);
  /// The active lanes leave the kernel.
  void exit();
  /// The active lanes leave the function; in a kernel, they exit.
  void leave();
  /// Stops until the block wakes this warp; with `retries` the current step is
  /// executed again then. `phases` are mbarrier objects; the warp waits for a
  /// phase of one of them.
  void wait(std::string reason, bool retries,
            llvm::ArrayRef<uint32_t> phases = {});
  /// A test of the phases of mbarrier objects was false: others run first.
  void poll(llvm::ArrayRef<uint32_t> phases);

  /// Reports the error of a lane; the run ends.
  void fail(unsigned lane, const llvm::Twine &text);
  Failure error(unsigned lane, const llvm::Twine &text) {
    fail(lane, text);
    return {};
  }
  void warn(unsigned lane, const llvm::Twine &text);

  /// The current step also needs the lanes `missing`. If those have diverged,
  /// they run first, until they reach the same step, or one where they may meet
  /// (`Step::gathering`), or exit.
  Meeting meet(LaneMask missing);
  /// Lanes that wait at a point of reconvergence go on without the lanes that
  /// have not reached it; false if there are none.
  bool releaseJoins();
  /// The step has changed something that registers do not show: a loop around
  /// it makes progress.
  void act() { livelock.interrupt(); }
  /// How many loops without progress its lanes have left.
  uint64_t getNumLoopsLeft() const { return livelock.getNumLeft(); }
  /// Fails unless all 32 lanes take part. `what` names the instruction.
  bool requireWholeWarp(llvm::StringRef what);
  /// Fails if the value of a lane of `lanes` is undefined. `use` says what it
  /// is used as (such as "an address").
  bool requireDefined(Slot slot, LaneMask lanes, llvm::StringRef use);
  /// The origin of a lane's undefined value in a register or predicate, for the
  /// end of a message; empty if it is not known.
  std::string describeOrigin(Slot slot, bool isPredicate, unsigned lane) const;
  /// The value of a register that must be the same in all active lanes, and
  /// defined; nothing after a failure.
  std::optional<uint64_t> getUniform(Slot slot, llvm::StringRef use);

  /// Finds the bytes of an access, aligned to `alignment`; fails where it is
  /// out of bounds, misaligned, or not to be written. For a generic address of
  /// shared memory, `space` becomes Shared, or SharedCluster for another block,
  /// and `address` an address in the cluster. `isAtomic`: the access may change
  /// bytes that asynchronous reductions change.
  bool resolve(unsigned lane, AddressSpace &space, uint64_t &address,
               uint64_t size, uint64_t alignment, bool isStore, Span &span,
               bool isAtomic = false);

  /// Whether it waits for something that it can poll again.
  bool polls() const {
    return state == WarpState::Polling ||
           (state == WarpState::Waiting && !awaited.empty());
  }

  /// Fails if a load would read bytes that an asynchronous copy has still to
  /// write.
  bool checkReadable(unsigned lane, const Span &span, uint64_t size);
  /// Reports a read of bytes of `out:` that have not been written: a warning,
  /// or an error with --check=strict.
  bool checkWritten(unsigned lane, const Span &span, uint64_t size);

  Block &block;
  /// Its index in the block, and in the group of blocks.
  const unsigned index, number;
  /// Lanes that hold a thread; those that have exited.
  LaneMask existing, exited = 0;
  WarpState state = WarpState::Ready;
  /// What it waits for; shown in the message of a deadlock.
  std::string waitReason;
  /// The mbarrier objects whose phases it waits or polls for.
  llvm::SmallVector<uint32_t, 2> awaited;
  /// No warp can run: its wait with a time limit returns false.
  bool hasTimedOut = false;
  LocatedMessage failure;
  std::vector<Frame> frames;
  /// Local memory of each lane.
  std::array<std::vector<uint8_t>, kLanes> local, localStates;
  const Step *current = nullptr;

private:
  class Gathered;

  LaneSet &top() { return frames.back().stack.back(); }
  // LaneSets.cpp and ReconvergedCollectives.cpp.
  void beginTurn();
  void pruneSets();
  bool wakePolled();
  bool runAnother();
  void settle();
  bool pollLater(bool releases);
  void joinAt(uint32_t pc);
  bool meetElsewhere(LaneMask missing);
  bool checkUniformGuard(const Step &step);
  bool tellWatchers(const Step &step);
  /// `resolve` for one state space; `reject` reports what is wrong with the
  /// access.
  using Reject = llvm::function_ref<bool(const llvm::Twine &text)>;
  bool resolveShared(AddressSpace &space, uint64_t address, uint64_t size,
                     uint8_t pending, Span &span, Reject reject);
  bool resolveLocal(unsigned lane, uint64_t address, uint64_t size, Span &span,
                    Reject reject);
  bool resolveParameter(uint64_t address, uint64_t size, bool isStore,
                        Span &span, Reject reject);
  bool resolveGlobal(AddressSpace space, uint64_t address, uint64_t size,
                     bool isStore, Span &span, Reject reject);
  void bindFrame();
  void popFrame();
  void fillSlots(Frame &frame);
  void dropLanes(LaneMask lanes);

  /// Units that watch steps.
  const llvm::ArrayRef<AsyncUnit *> watchers;
  Lanes *registers = nullptr;
  Predicate *predicates = nullptr;
  LivelockDetector livelock;
};

/// Copies the results of the innermost frame to the caller's.
void finishCall(Warp &warp, const Step &call);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_MACHINE_WARP_H
