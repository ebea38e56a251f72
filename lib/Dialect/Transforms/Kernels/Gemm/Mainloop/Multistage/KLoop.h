//===- KLoop.h - The multistage loop along K --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The software pipeline of a multistage mainloop (cp.async): stages are filled
// several steps ahead of the one that is multiplied. Callbacks fill, wait and
// multiply.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_KLOOP_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_KLOOP_H

#include "Kernels/Gemm/Mainloop/FactorLoader.h"
#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"

namespace mlir::blockscale {

/// Commits all uncommitted cp.async as a group; returns its token.
Value createCopyGroup(OpBuilder &b, Location loc);

/// When a stage is full or empty: cp.async groups, which each thread waits for,
/// and barriers of the block. Without cp.async, barriers are enough.
class StageSync {
public:
  StageSync(Location loc, bool hasAsyncCopies)
      : loc(loc), hasAsyncCopies(hasAsyncCopies) {}

  /// Emitted behind the copies of one stage.
  void commit(OpBuilder &b);
  /// Waits until all but the last `left` stages that were committed are full,
  /// and all threads are done with what they read before.
  void wait(OpBuilder &b, int64_t left);
  /// Waits until all threads are done with what they read.
  void release(OpBuilder &b) { gpu::BarrierOp::create(b, loc); }

private:
  Location loc;
  bool hasAsyncCopies;
  /// The token of the last group; null if there is none to wait for.
  Value token;
};

/// The parts of the product of a stage, for a loop that loads the fragments of
/// a step of instructions before the instructions of the step before, also from
/// one stage to the next.
struct StageParts {
  int64_t numSteps;
  /// Loads the fragments of step number `step` of the stage at byte `offset`.
  function_ref<Value(OpBuilder &, Value offset, int64_t step)> load;
  /// Adds the product of fragments to `acc`.
  function_ref<Value(OpBuilder &, Value fragments, Value acc)> multiply;
};

/// How the parts of a stage, which is whole intervals, promote their sums.
struct IntervalPromotion {
  int64_t stepsOfInterval;
  /// Loads the factors of interval number `interval` of step `step` of K.
  function_ref<FactorLoader::Factors(OpBuilder &, Value step, int64_t interval)>
      load;
  /// The accumulator that an interval starts with.
  function_ref<Value(OpBuilder &)> start;
  function_ref<Value(OpBuilder &, Value sums, Value partials,
                     const FactorLoader::Factors &)>
      promote;
};

struct KLoop {
  Location loc;
  const Stages &stages;
  StageSync &sync;
  /// Starts to fill the stage at byte `offset` with step number `step`.
  function_ref<void(OpBuilder &, Value offset, Value step)> fill;
  /// Adds the product of the stage at byte `offset` to `acc`.
  function_ref<Value(OpBuilder &, Value offset, Value acc)> multiply;

  /// If there are parts, and more than one stage, these are used instead of
  /// `multiply`.
  std::optional<StageParts> parts;
  /// Only with parts and more than one stage.
  std::optional<IntervalPromotion> promotion = std::nullopt;

  /// Emits the loop over `steps` steps (at least one) with its prologue, which
  /// fills the first stages; returns `acc` plus all products.
  Value emit(OpBuilder &b, Value steps, Value acc);

private:
  void emitFirstFills(OpBuilder &b, Value steps, int64_t ahead);
  void emitFill(OpBuilder &b, Value step, Value steps, Value offset,
                int64_t ahead);
  Value emitInParts(OpBuilder &b, Value steps, Value acc, int64_t ahead);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_KLOOP_H
