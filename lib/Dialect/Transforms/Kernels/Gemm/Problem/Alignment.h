//===- Alignment.h - Branches for aligned sizes -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel with dynamic sizes has two branches. The one for sizes that are
// multiples of its tile checks no bounds and loads whole vectors.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_ALIGNMENT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_ALIGNMENT_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// The extents of a tile of the result, and of a step along K.
struct TileShape {
  int64_t m, n, k;
};

/// A branch of a kernel: its problem, with the multiples that the branch
/// assumes.
struct AlignedProblem {
  KernelProblem problem;
  /// Whether tiles may reach beyond the operands.
  bool isGuarded;
};

/// The branches of a kernel, the best first: all dynamic sizes are multiples of
/// those of the tile; only N and K are, and there are few rows; any sizes.
SmallVector<AlignedProblem, 3> getAlignedProblems(const KernelProblem &problem,
                                                  const TileShape &shape);

/// Emits `build` for each branch. If sizes are dynamic, all blocks take the
/// same branch.
void forEachAlignment(
    OpBuilder &b, Location loc, const KernelProblem &problem,
    const ProblemSizes &sizes, const TileShape &shape,
    function_ref<void(OpBuilder &, const KernelProblem &, bool isGuarded)>
        build);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_ALIGNMENT_H
