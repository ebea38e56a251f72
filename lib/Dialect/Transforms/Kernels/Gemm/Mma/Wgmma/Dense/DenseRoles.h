//===- DenseRoles.h - Roles of the dense kernel with wgmma ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both operands are read from shared memory; accumulators are in registers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_DENSE_DENSEROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_DENSE_DENSEROLES_H

#include "Kernels/Gemm/Mma/Wgmma/WarpgroupRoles.h"

namespace mlir::blockscale {

class DenseRoles final : public WarpgroupRoles {
public:
  using WarpgroupRoles::WarpgroupRoles;

  /// Sums that all warpgroups have at once.
  static AccType getAccType(WarpSpecializedScheduleAttr schedule);

private:
  void emitConsumer(OpBuilder &b) override;
  /// The products of a tile; the place in the pipeline is the first of
  /// `values`.
  SmallVector<Value> emitProducts(OpBuilder &b, const WorkTile &tile,
                                  ValueRange values);
  /// The sums with those of the stage at `place` added.
  SmallVector<Value> emitStep(OpBuilder &b, const PipelineState &place,
                              ValueRange sums);
  void emitSums(OpBuilder &b, const WorkTile &tile, ValueRange sums);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_DENSE_DENSEROLES_H
