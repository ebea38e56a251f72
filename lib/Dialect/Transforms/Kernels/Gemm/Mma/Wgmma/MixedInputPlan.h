//===- MixedInputPlan.h - Shared memory of mixed input and GEMV -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages for each K slice (one or more warpgroups); partial accumulators, which
// reuse the bytes of the stages at the end; and, for GEMV, B and the scale
// factors of x behind the stages.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUTPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUTPLAN_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaShares.h"
#include "Kernels/Gemm/Problem/OperandInRegisters.h"

namespace mlir::blockscale {

/// Shared memory for the partial accumulators of all K slices but the first.
int64_t getSlicePartialBytes(WarpSpecializedScheduleAttr schedule);

/// The plan of a product of `types` with such a schedule.
SharedMemoryPlan makeMixedInputPlan(const Instruction &instruction,
                                    WarpSpecializedScheduleAttr schedule,
                                    const TypeCombination &types, int64_t k);

/// Rows of an accumulator, and the pitch of its rows in shared memory, in
/// values.
int64_t getAccumulatorRows(WarpSpecializedScheduleAttr schedule);
int64_t getPitch(WarpSpecializedScheduleAttr schedule);

inline constexpr int64_t kAccumulatorBytes = 4;

/// The shared memory of a GEMV block behind its stages: B of all its
/// instructions, and a factor for each scale of x (see warpgroup_mma_gemv).
struct GemvPlan {
  /// Elements of a K chunk, the bytes of B for it, and elements in a u32.
  static constexpr int64_t kChunkElements = 128, kChunkBytes = 1024,
                           kWordElements = 8, kFactorBytes = 4;

  GemvPlan(WarpSpecializedScheduleAttr schedule, const TypeCombination &types,
           int64_t k);

  /// K chunks of a block of threads.
  int64_t chunks;
  /// Scale blocks of a K chunk.
  int64_t blocksOfChunk;

  int64_t getBBytes() const { return chunks * kChunkBytes; }
  int64_t getFactorBytes() const;
  int64_t getBytes() const { return getBBytes() + getFactorBytes(); }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUTPLAN_H
