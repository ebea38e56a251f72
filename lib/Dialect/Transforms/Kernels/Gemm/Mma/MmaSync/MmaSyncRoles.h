//===- MmaSyncRoles.h - Roles of the path mma_sync --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel for mma.sync whose operands come by bulk tensor copies: a warp
// loads, and others read fragments of the same stages, multiply and store.
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
  /// The sums of a tile.
  static AccType getAccType(WarpSpecializedScheduleAttr schedule);

private:
  /// Stages begin where swizzles do.
  void alignStages();
  void emitInit();
  void emitConsumer(OpBuilder &role);
  /// The products of a tile; the place in the pipeline is all of `values`.
  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  ValueRange values);
  /// Steps of `tile` whose scales all count, and those that K ends in.
  struct Steps {
    Value whole, cut;
    /// Blocks that the latter has.
    Value blocks;
  };
  Steps emitStepCounts(OpBuilder &b, const WorkTile &tile);
  /// `sum` with the product of the stage at `place` added, of which `blocks`
  /// count (null for all).
  Value emitStep(OpBuilder &b, const WorkTile &tile, const PipelineState &place,
                 Value sum, Value blocks);
  Value emitElements(OpBuilder &b, const PipelineState &place, bool isA);
  Value emitScales(OpBuilder &b, const WorkTile &tile,
                   const PipelineState &place, bool isA);
  /// Whether K may end in a word of scales.
  bool hasCut() const;

  MmaWarps warps;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_MMASYNC_MMASYNCROLES_H
