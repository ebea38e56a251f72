//===- MmaWarps.h - Warps that share the tile of a pipeline -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// Warps that multiply by instructions of a warp, along M and N of the tile of
/// a pipeline, which they share evenly.
struct MmaWarps {
  explicit MmaWarps(WarpSpecializedScheduleAttr schedule);

  int64_t rows, columns;
  /// What a warp has of the tile.
  int64_t m, n;

  int64_t getCount() const { return rows * columns; }
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_MMAWARPS_H
