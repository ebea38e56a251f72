//===- MixedInputPlan.h - Shared memory of mixed input ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the mixed-input and the GEMV kernel have in shared memory: stages for
// each warpgroup slice of K, partial sums in the same bytes later on, and, for
// GEMV, what is behind the stages.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUTPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUTPLAN_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "Kernels/Gemm/Mma/Wgmma/WgmmaShares.h"

namespace mlir::blockscale {

/// Bytes of a row of codes in a box.
inline constexpr int64_t kCodeBoxBytes = 64;

/// Shared memory for the sums of all parts of K but the first.
int64_t getSumBytes(WarpSpecializedScheduleAttr schedule);

/// The plan of a product of `row` with such a schedule.
SharedMemoryPlan makeMixedInputPlan(const Instruction &instruction,
                                    WarpSpecializedScheduleAttr schedule,
                                    const TypeCombination &types, int64_t k);

/// Rows of accumulators, and the values from one row of them in shared memory
/// to the next one.
int64_t getSumRows(WarpSpecializedScheduleAttr schedule);
int64_t getPitch(WarpSpecializedScheduleAttr schedule);

inline constexpr int64_t kSumBytes = 4;

/// What a GEMV block has behind its stages: B of all its instructions, and a
/// factor for each scale of x (see warpgroup_mma_gemv).
struct GemvPlan {
  /// Codes of a box, the bytes that B has for it, and codes of a word.
  static constexpr int64_t kBoxElements = 128, kBoxBytes = 1024, kWordCodes = 8,
                           kFactorBytes = 4;

  GemvPlan(WarpSpecializedScheduleAttr schedule, const TypeCombination &types,
           int64_t k);

  /// Boxes along K of a block of threads.
  int64_t boxes;
  /// Scales of a box.
  int64_t blocksOfBox;

  int64_t getNumberBytes() const { return boxes * kBoxBytes; }
  int64_t getFactorBytes() const;
  int64_t getBytes() const { return getNumberBytes() + getFactorBytes(); }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_MIXEDINPUTPLAN_H
