//===- MmaWarps.h - MMA warps of a mma.sync kernel --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::blockscale {

/// MMA warps in rows along M and columns along N; they share the tile evenly.
struct MmaWarps {
  explicit MmaWarps(WarpSpecializedScheduleAttr schedule) {
    // Accumulators of 64 x 64 take 128 registers of each lane, and read the
    // fewest bytes of a stage for each instruction. But each of the four SM
    // sub-partitions gets a warp.
    constexpr int64_t kMost = 64, kLeastWarps = 4, kSide = 2;
    rows = llvm::divideCeilSigned(schedule.getM(), kMost);
    columns = llvm::divideCeilSigned(schedule.getN(), kMost);
    if (getCount() < kLeastWarps)
      rows = columns = kSide;
    m = schedule.getM() / rows;
    n = schedule.getN() / columns;
  }

  int64_t rows, columns;
  /// M and N of the tile of one warp.
  int64_t m, n;

  int64_t getCount() const { return rows * columns; }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H
