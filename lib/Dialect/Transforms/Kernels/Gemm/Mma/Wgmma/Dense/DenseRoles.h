//===- DenseRoles.h - Warp roles of the dense wgmma kernel ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dense wgmma: both operands are read from shared memory (SS), and accumulators
// are in registers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_DENSE_DENSEROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_DENSE_DENSEROLES_H

#include "Kernels/Gemm/Mma/Wgmma/WarpgroupRoles.h"

namespace mlir::blockscale {

class DenseRoles final : public WarpgroupRoles {
public:
  using WarpgroupRoles::WarpgroupRoles;

  /// The accumulator of one instruction of all warpgroups.
  static AccType getAccType(WarpSpecializedScheduleAttr schedule);

private:
  void emitConsumer(OpBuilder &b) override;
  /// The mainloop and the epilogue of a tile; `values` are the pipeline state.
  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  ValueRange values);
  /// The accumulators plus the products of the stage of `state`.
  SmallVector<Value> emitStep(OpBuilder &b, const PipelineState &state,
                              ValueRange sums);
  void emitTileEpilogue(OpBuilder &b, const WorkTile &tile, ValueRange sums);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_DENSE_DENSEROLES_H
