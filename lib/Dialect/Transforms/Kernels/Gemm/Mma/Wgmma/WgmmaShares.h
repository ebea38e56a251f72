//===- WgmmaShares.h - What warpgroups share --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warpgroups of a block, by its schedule.
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
  explicit WgmmaShares(WarpSpecializedScheduleAttr schedule);

  /// Warpgroups that multiply, instructions along M of each, and parts of K.
  int64_t groups, parts, partsOfK;

  /// Rows that all warpgroups of a part of K take at once.
  int64_t getRows() const { return groups / partsOfK * kWarpgroupRows; }
  int64_t getWarpsOfPart() const { return getWarps() / partsOfK; }
  int64_t getWarps() const { return groups * kWarpgroupWarps; }
  /// Those of the block: with a warpgroup that fills stages.
  int64_t getAllWarps() const { return getWarps() + kWarpgroupWarps; }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_WGMMA_WGMMASHARES_H
