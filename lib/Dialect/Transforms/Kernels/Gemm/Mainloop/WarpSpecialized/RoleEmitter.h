//===- RoleEmitter.h - What all roles share ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warp roles of a warp-specialized kernel. Every role asks the tile scheduler
// for the same tiles in the same order: a producer fills stages along K (TMA,
// or software), the MMA role multiplies them, and an epilogue stores the
// accumulators. The subclasses in Mma/ add the roles of their instructions.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_ROLEEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_ROLEEMITTER_H

#include "Kernels/Gemm/Mainloop/Multistage/Stages.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/Pipeline.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/StagedOperand.h"
#include "Kernels/Gemm/TileScheduler/TileScheduler.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::blockscale {

/// What the roles of a kernel are emitted from.
struct RoleContext {
  OpBuilder &b;
  gpu::GPUFuncOp kernel;
  /// From getInstructionProblem: rows and columns of tiles are rows of A and of
  /// B, except in the epilogue.
  const KernelProblem &problem;
  const SharedMemoryPlan &plan;
  const StagedOperands &operands;
};

class RoleEmitter : protected RoleContext {
public:
  /// There are `barriers` mbarriers; those of the stages come first.
  RoleEmitter(const RoleContext &context, int64_t barriers);

protected:
  using EmitTile = function_ref<SmallVector<Value>(
      OpBuilder &, const WorkTile &, ValueRange)>;

  /// The producer roles. The threads of the software producer start at `first`.
  void emitProducer(OpBuilder b);
  void emitSoftwareProducer(OpBuilder b, int64_t first);
  /// Makes the mbarriers of stages. A stage is full when all its bytes have
  /// arrived, and each thread of the software producer has. It is empty after
  /// `emptyCount` arrivals from each block that shares it.
  void emitStageBarriers(OpBuilder &b, int64_t emptyCount);
  /// A barrier of all threads that use mbarriers of this block.
  void emitAllBarrier(OpBuilder &b);
  /// One arrival at the empty mbarrier of the stage, in all blocks that load to
  /// it.
  void emitEmptied(OpBuilder &b, const PipelineState &state);
  /// The body of role `number`.
  static OpBuilder getRole(RolesOp roles, unsigned number);
  /// A role of the first warp alone.
  OpBuilder makeFirstWarp() {
    return getRole(RolesOp::create(b, loc, ArrayRef<int64_t>{1}, 1), 0);
  }

  /// Calls `body` for each tile of the block; `values` are carried from tile to
  /// tile.
  void forEachTile(OpBuilder &b, SmallVector<Value> values, EmitTile body);
  /// The loop along K: calls `body` for `count` (i32) steps, each with its
  /// pipeline state, starting at `state`; returns the state behind the last
  /// step. `values` are carried from step to step. `isUnrolled` unrolls whole
  /// rounds, in which stages are constants.
  using EmitStep = function_ref<SmallVector<Value>(
      OpBuilder &, Value step, const PipelineState &, ValueRange)>;
  PipelineState emitSteps(OpBuilder &b, PipelineState state, Value count,
                          bool isUnrolled, SmallVector<Value> &values,
                          EmitStep body);
  /// The type of the tile of A or B in a stage, see matrix_descriptor.
  MemRefType getTileType(bool isA) const;
  /// The tile of A or B in the stage of `state`.
  Value emitTile(OpBuilder &b, const PipelineState &state, bool isA) const;
  /// The memory of stages from byte `offset` on.
  Value emitView(OpBuilder &b, MemRefType type, Value offset) const;
  Value emitView(OpBuilder &b, ArrayRef<int64_t> shape, Type element,
                 Value offset) const;

  /// The epilogue of `tile`, or of a part of it, whose accumulator is `acc`:
  /// adds C and stores D. `ofResult` are the sizes of the result.
  void emitStore(OpBuilder &b, const ProblemSizes &ofResult,
                 const BlockTile &tile, Value acc);
  /// Emits `body` twice: unguarded for tiles inside of the result, and guarded
  /// for others. Without `isAligned`, emits only the guarded one.
  void emitByBounds(OpBuilder &b, const BlockTile &tile, bool isAligned,
                    function_ref<void(OpBuilder &, bool isGuarded)> body);

  /// Whether a software producer fills an operand.
  bool hasSoftwareProducer() const;
  /// Whether all tiles are inside of the result.
  bool areTilesInside() const;

  /// An arrival at the mbarrier `barrier` of this block or, with 2-CTA, of the
  /// leader.
  void emitArriveAtLeader(OpBuilder &b, Value barrier);
  /// Orders writes to shared memory before reads through the async proxy.
  void emitProxyFence(OpBuilder &b,
                      NVVM::SharedSpace space = NVVM::SharedSpace::shared_cta);

  Value index(OpBuilder &b, int64_t value) const {
    return makeIndex(b, loc, value);
  }
  Value word(OpBuilder &b, int64_t value) const {
    return makeWord(b, loc, value);
  }
  Value toWord(OpBuilder &b, Value value) const;
  Value toIndex(OpBuilder &b, Value value) const;
  /// The first row of `operand` that this block needs for
  /// `tile`.
  Value emitRow(OpBuilder &b, const BlockTile &tile, GemmOperand operand) const;
  /// Whether the rows of a side are those of groups; and, in atoms of scales,
  /// of which each group has its own, the row for `row` of `group`.
  bool isOfGroups(bool isA) const;
  Value emitRowInAtoms(OpBuilder &b, const RowGroup &group, Value row) const;
  /// Emits `body` for one elected thread of the warp.
  void emitElected(OpBuilder &b, function_ref<void(OpBuilder &)> body) const;
  /// The same in two steps, for several bodies: whether the thread is elected,
  /// and a body for it.
  Value emitElection(OpBuilder &b) const;
  void emitElected(OpBuilder &b, Value isElected,
                   function_ref<void(OpBuilder &)> body) const;
  /// Byte `plus` of the stage of `state` in `pipeline`.
  Value emitStageOffset(OpBuilder &b, const Pipeline &pipeline,
                        const PipelineState &state, int64_t plus) const;
  Value emitStageOffset(OpBuilder &b, const PipelineState &state,
                        int64_t plus) const {
    return emitStageOffset(b, stages, state, plus);
  }
  /// Tells the full mbarrier of the stage how many bytes to expect.
  void emitExpected(OpBuilder &b, const Pipeline &pipeline,
                    const PipelineState &state);
  /// Starts the TMA copies of step `step` (an index) along K to that stage:
  /// those of A and its scales, of B and its scales.
  enum class Sides { A, B, Both };
  void emitCopies(OpBuilder &b, const WorkTile &tile, Value step,
                  const Pipeline &pipeline, const PipelineState &state,
                  Sides sides = Sides::Both);
  void emitMetadataBounds(OpBuilder &b, TileOrigin &from) const;
  const StagedOperand &getElements(bool isA) const {
    return operands[getElementsOf(isA)];
  }

  Location loc;
  ProblemSizes sizes;
  /// The shared memory of all stages, as bytes; the mbarriers.
  Value shared, barriers;
  BlockCluster cluster;
  Pipeline stages;

private:
  /// The largest number of steps of a tile, and whether all tiles have as many;
  /// nullopt if unknown.
  struct StepCount {
    int64_t most;
    bool isSame;
  };
  std::optional<StepCount> getStepCount() const;
  /// Calls `body` for the M sub-tiles of `tile`.
  SmallVector<Value> forEachMSubTile(OpBuilder &b, WorkTile tile,
                                     ValueRange values, EmitTile body);
  /// Calls `body` for all steps of all tiles, each with an empty stage.
  using EmitTileStep = function_ref<void(OpBuilder &, const WorkTile &,
                                         Value step, const PipelineState &)>;
  void fillStages(OpBuilder &b, bool isUnrolled, EmitTileStep body);
  void emitFill(OpBuilder &b, const WorkTile &tile, Value thread, Value step,
                const PipelineState &state);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_ROLEEMITTER_H
