//===- MmaSyncRoles.h - Warp roles of mma.sync ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A producer warp, and MMA warps that read fragments from stages, multiply, and
// do the epilogue from their registers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_MMASYNC_MMASYNCROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_MMASYNC_MMASYNCROLES_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/MmaWarps.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"

namespace mlir::blockscale {

class MmaSyncRoles final : protected RoleEmitter {
public:
  MmaSyncRoles(OpBuilder &b, gpu::GPUFuncOp kernel,
               const KernelProblem &problem, const SharedMemoryPlan &plan,
               const StagedOperands &operands);

  void emit();

  /// The threads of a block, without those of a software producer.
  static int64_t getThreads(WarpSpecializedScheduleAttr schedule);
  /// The accumulator of a tile.
  static AccType getAccType(WarpSpecializedScheduleAttr schedule);

private:
  /// Aligns stages to the swizzle.
  void alignStages();
  void emitInit();
  void emitConsumer(OpBuilder &role);
  /// The mainloop and the epilogue of a tile; `values` are the pipeline state.
  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  ValueRange values);
  /// The steps of `tile`: whole ones, and one that K ends in.
  struct Steps {
    Value whole, cut;
    /// The scale blocks of the latter.
    Value blocks;
  };
  Steps emitStepCounts(OpBuilder &b, const WorkTile &tile);
  /// `sum` plus the product of the stage of `state`, of which the first
  /// `blocks` scale blocks count (null for all).
  Value emitStep(OpBuilder &b, const WorkTile &tile, const PipelineState &state,
                 Value sum, Value blocks);
  Value emitElements(OpBuilder &b, const PipelineState &state, bool isA);
  Value emitScales(OpBuilder &b, const WorkTile &tile,
                   const PipelineState &state, bool isA);
  /// Whether K may end inside of a u32 of scales.
  bool hasCut() const;

  MmaWarps warps;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_MMASYNC_MMASYNCROLES_H
