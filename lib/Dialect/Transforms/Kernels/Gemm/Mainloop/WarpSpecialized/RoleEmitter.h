//===- RoleEmitter.h - What each role does ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The three roles of a kernel of the path tcgen05. All of them go through the
// same tiles in the same order: a producer brings tiles along K to stages, one
// thread multiplies them, and four warps store sums, or make something of them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_ROLEEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_ROLEEMITTER_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/Pipeline.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/StagedOperand.h"
#include "Kernels/Gemm/TileScheduler/TileScheduler.h"

namespace mlir::blockscale {

class RoleEmitter {
public:
  /// `problem` is that of getInstructionProblem: rows and columns of tiles are
  /// rows of A and of B, but where sums are added and stored. There are
  /// `barriers` mbarriers, those of the stages first.
  RoleEmitter(OpBuilder &b, gpu::GPUFuncOp kernel, const KernelProblem &problem,
              const SharedMemoryPlan &plan, const StagedOperands &operands,
              int64_t barriers);

protected:
  using EmitTile = function_ref<SmallVector<Value>(
      OpBuilder &, const WorkTile &, ValueRange)>;

  /// The roles that fill stages. Threads of the loader start with number
  /// `first`.
  void emitProducer(OpBuilder &b);
  void emitSoftwareProducer(OpBuilder &b, int64_t first);
  /// Makes the mbarriers of stages: one is full when all its bytes are there,
  /// and each thread that fills it has arrived; it is empty after `emptyCount`
  /// arrivals of each block that shares it.
  void emitStageBarriers(OpBuilder &b, int64_t emptyCount);
  /// A barrier of all threads that use mbarriers of this block.
  void emitAllBarrier(OpBuilder &b);
  /// One of the arrivals that say that the stage is empty; all blocks that load
  /// to it wait for that.
  void emitEmptied(OpBuilder &b, const PipelineState &place);
  /// The body of role `number`.
  static OpBuilder getRole(RolesOp roles, unsigned number);

  /// Calls `body` for each tile of the block; `values` go from tile to tile.
  void forEachTile(OpBuilder &b, SmallVector<Value> values, EmitTile body);
  /// Calls `body` for `count` (i32) steps along K with the stage that each has,
  /// from `place` in the pipeline of stages on; where the pipeline is then.
  /// `values` go from step to step, and are those of the last one then.
  /// `isUnrolled` makes whole rounds one step of a loop, in which stages are
  /// constants.
  using EmitStep = function_ref<SmallVector<Value>(
      OpBuilder &, Value step, const PipelineState &, ValueRange)>;
  PipelineState emitSteps(OpBuilder &b, PipelineState place, Value count,
                          bool isUnrolled, SmallVector<Value> &values,
                          EmitStep body);
  /// The type of the tile of A or B in a stage, see matrix_descriptor.
  MemRefType getTileType(bool isA) const;
  /// That tile of the stage at `place`.
  Value emitTile(OpBuilder &b, const PipelineState &place, bool isA) const;

  /// Stores the sums `acc` of `tile`, with what they start from added, or what
  /// the problem makes of them. `ofResult` are the sizes of the result.
  void emitStore(OpBuilder &b, const ProblemSizes &ofResult,
                 const BlockTile &tile, Value acc);
  /// Calls `body` for tiles that are inside of the result and, guarded, for
  /// those that may not be: for these alone without `isAligned`.
  void emitByBounds(OpBuilder &b, const BlockTile &tile, bool isAligned,
                    function_ref<void(OpBuilder &, bool isGuarded)> body);

  /// Whether warps bring an operand.
  bool hasSoftwareProducer() const;
  Value index(OpBuilder &b, int64_t value) const;
  Value toWord(OpBuilder &b, Value value) const;
  Value word(OpBuilder &b, int64_t value) const;
  /// The first row of `operand` that this block needs for
  /// `tile`.
  Value emitRow(OpBuilder &b, const BlockTile &tile, GemmOperand operand) const;
  /// Code for one thread of the warp.
  void emitElected(OpBuilder &b, function_ref<void(OpBuilder &)> body) const;
  /// The same where it takes several: whether the thread is the one, and code
  /// for that.
  Value emitElection(OpBuilder &b) const;
  void emitElected(OpBuilder &b, Value isElected,
                   function_ref<void(OpBuilder &)> body) const;
  /// Byte `plus` of the stage of `pipeline` at `place`.
  Value emitStageOffset(OpBuilder &b, const Pipeline &pipeline,
                        const PipelineState &place, int64_t plus) const;
  Value emitStageOffset(OpBuilder &b, const PipelineState &place,
                        int64_t plus) const {
    return emitStageOffset(b, stages, place, plus);
  }
  /// Says how many bytes copies bring to the stage of `pipeline` at `place`.
  void emitExpected(OpBuilder &b, const Pipeline &pipeline,
                    const PipelineState &place);
  /// Starts the copies of step `step` along K, an index, to that stage: those
  /// of A and its scales, of B and its scales.
  enum class Sides { A, B, Both };
  void emitCopies(OpBuilder &b, const WorkTile &tile, Value step,
                  const Pipeline &pipeline, const PipelineState &place,
                  Sides sides = Sides::Both);
  const StagedOperand &getElements(bool isA) const {
    return operands[getElementsOf(isA)];
  }

  OpBuilder &b;
  gpu::GPUFuncOp kernel;
  const KernelProblem &problem;
  const SharedMemoryPlan &plan;
  const StagedOperands &operands;
  Location loc;
  ProblemSizes sizes;
  /// All stages, as bytes; the mbarriers.
  Value shared, barriers;
  BlockCluster cluster;
  Pipeline stages;

private:
  /// Steps that each tile has at most, and whether all have as many; nullopt if
  /// nothing is known.
  struct StepCount {
    int64_t most;
    bool isSame;
  };
  std::optional<StepCount> getStepCount() const;
  /// Calls `body` for the tiles that a block takes one below the other.
  SmallVector<Value> forEachMSubTile(OpBuilder &b, WorkTile tile,
                                     ValueRange values, EmitTile body);
  /// Calls `body` for all steps of all tiles, with stages that were empty.
  using EmitTileStep = function_ref<void(OpBuilder &, const WorkTile &,
                                         Value step, const PipelineState &)>;
  void fillStages(OpBuilder &b, bool isUnrolled, EmitTileStep body);
  void emitFill(OpBuilder &b, const WorkTile &tile, Value thread, Value step,
                const PipelineState &place);
};

/// Workgroup memory of its own for `count` numbers.
Value addSharedNumbers(gpu::GPUFuncOp kernel, Type element, int64_t count);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_ROLEEMITTER_H
