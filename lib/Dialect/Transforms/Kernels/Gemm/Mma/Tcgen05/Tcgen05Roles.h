//===- Tcgen05Roles.h - Roles of the path tcgen05 ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp multiplies the stages that others fill, and four warps store the
// sums that it leaves in tensor memory.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05ROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05ROLES_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"
#include "Kernels/Gemm/Mma/Tcgen05/TmemPlan.h"

namespace mlir::blockscale {

/// Four warps store, one loads and one multiplies.
inline constexpr int64_t kTcgen05Warps = 6;

class Tcgen05Roles : RoleEmitter {
public:
  Tcgen05Roles(OpBuilder &b, gpu::GPUFuncOp kernel,
               const KernelProblem &problem, const TmemPlan &plan,
               const StagedOperands &operands);

  /// Everything: what is made before the roles, and freed behind them.
  void emit();

private:
  void emitInit();
  void emitFree();
  void emitMmaWarp(OpBuilder &b);
  void emitEpilogueWarps(OpBuilder &b);

  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  ValueRange values);
  /// The product of the stage at `place`; with `steps`, of those alone.
  void emitProduct(OpBuilder &b, const BlockTile &tile,
                   const PipelineState &place, Value acc, Value step,
                   Value steps);
  void emitScaleCopies(OpBuilder &b, const PipelineState &place);
  void emitMask(OpBuilder &b, const PipelineState &place);
  Value emitPeerMemory(OpBuilder &b) const;
  Value emitScales(OpBuilder &b, const PipelineState &place, bool isA,
                   Value shift);
  Value emitShift(OpBuilder &b, const BlockTile &tile, bool isA) const;
  void emitSums(OpBuilder &b, const BlockTile &tile, const PipelineState &place,
                Value accStage);
  void emitPart(OpBuilder &b, const BlockTile &tile, Value acc, Value column,
                bool isGuarded);
  /// Blocks that multiply together.
  int64_t getGroup() const { return tmemPlan.getGroup(); }
  /// Whether K may end inside of an instruction.
  bool hasMask() const;
  Value emitAccumulatorStage(OpBuilder &b, Value count) const;
  Value emitAcc(OpBuilder &b, Value accStage) const;

  const TmemPlan &tmemPlan;
  /// Where the address of tensor memory is, and that.
  Value slot, tmem;
  Pipeline sums;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05ROLES_H
