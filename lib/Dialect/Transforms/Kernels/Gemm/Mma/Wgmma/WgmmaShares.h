//===- WgmmaShares.h - How warpgroups divide a tile -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMASHARES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMASHARES_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Rows of an instruction, and the warps of a warpgroup.
inline constexpr int64_t kWarpgroupRows = 64, kWarpgroupWarps = 4;

/// How the MMA warpgroups of a block share its tile: they divide M, and with a
/// mixed-input mainloop, whose dequantization takes the time of more of them,
/// the K of a stage (sliced K).
struct WgmmaShares {
  explicit WgmmaShares(WarpSpecializedScheduleAttr schedule) {
    // Accumulators of 64 x 256, or of 128 x 128, take 128 registers of each
    // thread. Few columns leave registers for more warpgroups.
    constexpr int64_t kMostGroups = 3, kFewColumns = 64;
    int64_t rows = schedule.getM() / kWarpgroupRows;
    if (schedule.getKernel() != KernelKind::Dense) {
      bool areMany =
          schedule.getN() <= kFewColumns && schedule.getBlocksPerSm() == 1;
      groups = std::max<int64_t>(areMany ? 4 : 2, rows);
      mInstructions = 1;
      slicesOfK = groups / rows;
      return;
    }
    slicesOfK = 1;
    groups = rows <= kMostGroups ? rows : rows / 2;
    mInstructions = rows / groups;
  }

  /// MMA warpgroups, instructions along M of each, and K slices.
  int64_t groups, mInstructions, slicesOfK;

  /// Rows that all warpgroups of a K slice multiply at once.
  int64_t getRows() const { return groups / slicesOfK * kWarpgroupRows; }
  int64_t getWarpsOfSlice() const { return getWarps() / slicesOfK; }
  int64_t getWarps() const { return groups * kWarpgroupWarps; }
  /// Including the producer warpgroup.
  int64_t getAllWarps() const { return getWarps() + kWarpgroupWarps; }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMASHARES_H
