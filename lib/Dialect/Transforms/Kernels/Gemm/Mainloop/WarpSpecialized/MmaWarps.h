//===- MmaWarps.h - MMA warps of a mma.sync kernel --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the MMA warps of a warp-specialized mma.sync kernel divide the tile.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// MMA warps in rows along M and columns along N; they share the tile evenly.
struct MmaWarps {
  explicit MmaWarps(WarpSpecializedScheduleAttr schedule);

  int64_t rows, columns;
  /// M and N of the tile of one warp.
  int64_t m, n;

  int64_t getCount() const { return rows * columns; }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H
