//===- Pipeline.h - Full and empty mbarriers --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline of shared-memory stages (or of accumulator stages in tensor
// memory) between a producer and a consumer, with a full and an empty mbarrier
// for each stage. Each role carries its own pipeline state: stage and phase
// parity.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_PIPELINE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_PIPELINE_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// The state of a role in a pipeline: the stage, and the phase parity of the
/// round, 0 in the first one. Both are i32, which GPUs compute with fastest.
struct PipelineState {
  Value stage, parity;
};

class Pipeline {
public:
  /// `full` and `empty` are the indices in `barriers` of the first full and the
  /// first empty mbarrier of the pipeline. Each of the `stages` may have
  /// several K slices.
  Pipeline(Location loc, Value barriers, int64_t full, int64_t empty,
           int64_t stages, int64_t slices = 1)
      : loc(loc), barriers(barriers), full(full), empty(empty), stages(stages),
        slices(slices) {}

  /// The pipeline of one K slice of all stages; `number` is an index.
  Pipeline getSlice(Value number) const {
    Pipeline pipeline = *this;
    pipeline.slice = number;
    return pipeline;
  }

  int64_t getNumStages() const { return stages; }
  Value getBarriers() const { return barriers; }

  /// Makes the mbarriers. A stage is full after `fullCount` arrivals, and empty
  /// after `emptyCount`.
  void emitInit(OpBuilder &b, int64_t fullCount, int64_t emptyCount) const;

  PipelineState emitFirst(OpBuilder &b) const;
  /// The state `count` stages further. `count` divides the number of stages,
  /// and the stage of `state` is a multiple of it.
  PipelineState emitNext(OpBuilder &b, const PipelineState &state,
                         int64_t count = 1) const;

  /// The index of the stage, counting each K slice of a stage.
  Value emitStage(OpBuilder &b, const PipelineState &state) const;
  /// The index of the mbarrier of a stage.
  Value emitFull(OpBuilder &b, const PipelineState &state) const;
  Value emitEmpty(OpBuilder &b, const PipelineState &state) const;

  /// Waits until the stage is full, or until it is empty; in the first round it
  /// is empty. With `isCluster`, acquires what other blocks of the cluster
  /// released.
  void emitWaitFull(OpBuilder &b, const PipelineState &state,
                    bool isCluster = false) const;
  void emitWaitEmpty(OpBuilder &b, const PipelineState &state,
                     bool isCluster = false) const;
  /// Waits until the work on the stage `count` stages before is complete: until
  /// that stage is empty again.
  void emitWaitDone(OpBuilder &b, const PipelineState &state,
                    int64_t count) const;

private:
  Location loc;
  Value barriers;
  int64_t full, empty, stages, slices;
  /// Null for the first slice.
  Value slice;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_PIPELINE_H
