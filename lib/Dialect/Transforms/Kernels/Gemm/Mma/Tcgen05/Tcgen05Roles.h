//===- Tcgen05Roles.h - Warp roles of tcgen05 -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A producer warp, an MMA warp (MmaWarp.cpp) and four epilogue warps
// (EpilogueWarps.cpp). Accumulators are in tensor memory, in one or two stages
// with full and empty mbarriers of their own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05ROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05ROLES_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/RoleEmitter.h"
#include "Kernels/Gemm/Mma/Tcgen05/TmemPlan.h"

namespace mlir::blockscale {

/// Four epilogue warps, the producer warp and the MMA warp.
inline constexpr int64_t kTcgen05Warps = 6;

class Tcgen05Roles : RoleEmitter {
public:
  /// The plan of `context` is a TmemPlan.
  explicit Tcgen05Roles(const RoleContext &context);

  /// Emits the kernel: set-up, roles, and clean-up.
  void emit();

private:
  void emitInit();
  void emitFree();
  void emitMmaWarp(OpBuilder b);
  void emitEpilogueWarps(OpBuilder b);

  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  ValueRange values);
  /// The MMAs of the stage of `state`; with `steps`, only the first `steps`
  /// instructions.
  void emitProduct(OpBuilder &b, const BlockTile &tile,
                   const PipelineState &state, Value acc, Value step,
                   Value steps);
  void emitScaleCopies(OpBuilder &b, const PipelineState &state);
  void emitMetadataCopies(OpBuilder &b, const PipelineState &state);
  void emitMask(OpBuilder &b, const PipelineState &state);
  Value emitPeerMemory(OpBuilder &b) const;
  Value emitColumnOfStage(OpBuilder &b, const PipelineState &state,
                          int64_t first);
  Value emitMetadata(OpBuilder &b, const PipelineState &state);
  Value emitScales(OpBuilder &b, const PipelineState &state, bool isA,
                   Value shift);
  Value emitShift(OpBuilder &b, const BlockTile &tile, bool isA) const;
  void emitTileEpilogue(OpBuilder &b, const BlockTile &tile,
                        const PipelineState &state, Value accStage);
  /// The sums of columns from `column` on of `acc`.
  Value emitSums(OpBuilder &b, const BlockTile &tile, AccType type, Value acc,
                 Value column);
  void emitEpiloguePart(OpBuilder &b, const BlockTile &tile, Value acc,
                        Value column, bool isGuarded);
  /// The blocks of the cta_group: 1 or 2.
  int64_t getCtaGroup() const { return tmemPlan.getCtaGroup(); }
  /// Whether K may end inside of an instruction, so that scales are masked.
  bool hasMask() const;
  Value emitAccumulatorStage(OpBuilder &b, Value count) const;
  Value emitAcc(OpBuilder &b, Value accStage) const;

  const TmemPlan &tmemPlan;
  /// The shared memory that holds the address of tensor memory, and that
  /// address.
  Value slot, tmem;
  Pipeline accumulators;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TCGEN05ROLES_H
