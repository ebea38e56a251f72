//===- Pipeline.h - Full and empty barriers ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What two roles hand to each other, in a circle: the one fills a stage and the
// other one empties it, and there are two mbarriers for that. Each of them
// keeps its own count of where it is.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_PIPELINE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_PIPELINE_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// Where a role is in a pipeline: the stage, and the parity of the round, 0 in
/// the first one. Both are i32, which GPUs count best in.
struct PipelineState {
  Value stage, parity;
};

class Pipeline {
public:
  /// `full` and `empty` are numbers among `barriers` where those of the
  /// pipeline start.
  Pipeline(Location loc, Value barriers, int64_t full, int64_t empty,
           int64_t stages, int64_t parts = 1)
      : loc(loc), barriers(barriers), full(full), empty(empty), stages(stages),
        parts(parts) {}

  /// The pipeline of one part of stages that have more: an index.
  Pipeline getPart(Value number) const {
    Pipeline pipeline = *this;
    pipeline.part = number;
    return pipeline;
  }

  int64_t getNumStages() const { return stages; }
  Value getBarriers() const { return barriers; }

  /// Makes the mbarriers. A round of a stage is full after so many arrivals,
  /// and empty after so many.
  void emitInit(OpBuilder &b, int64_t fullCount, int64_t emptyCount) const;

  PipelineState emitFirst(OpBuilder &b) const;
  /// The place `count` stages further, a divisor of their number that `place`
  /// is a multiple of.
  PipelineState emitNext(OpBuilder &b, const PipelineState &place,
                         int64_t count = 1) const;

  /// The number of the stage among all, those of its parts too, as an index.
  Value emitStage(OpBuilder &b, const PipelineState &place) const;
  /// The number of the mbarrier of a stage.
  Value emitFull(OpBuilder &b, const PipelineState &place) const;
  Value emitEmpty(OpBuilder &b, const PipelineState &place) const;

  /// Waits until the stage is full, or until it is empty: those of the first
  /// round are.
  /// With `isCluster`, for arrivals of other blocks that order what they did.
  void emitWaitFull(OpBuilder &b, const PipelineState &place,
                    bool isCluster = false) const;
  void emitWaitEmpty(OpBuilder &b, const PipelineState &place,
                     bool isCluster = false) const;
  /// Waits until what was done `count` stages before is complete: until that
  /// stage is empty again.
  void emitWaitDone(OpBuilder &b, const PipelineState &place,
                    int64_t count) const;

private:
  Location loc;
  Value barriers;
  int64_t full, empty, stages, parts;
  /// Null for the first one.
  Value part;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_PIPELINE_H
