//===- StagedOperand.h - Who brings an operand ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk tensor copies bring what they can; where the layout of an operand, its
// alignment or its types forbid that, warps fill the same stages.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_STAGEDOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_STAGEDOPERAND_H

#include "Kernels/Gemm/Mainloop/Multistage/TileLoader.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/TensorOperand.h"

namespace mlir::blockscale {

/// The warps that fill stages, where there are any.
inline constexpr int64_t kSoftwareProducerWarps = 4;

struct StagedOperand {
  /// One of both; none for scales that there are not.
  std::optional<TensorOperand> tensor;
  LoaderPtr loader;
  /// How elements lie in a stage, and what the instruction takes them for.
  TileLayout layout;
  Format format = Format::E4M3;
  /// What forbids bulk copies.
  std::string reason;
};

using StagedOperands = PerOperand<StagedOperand>;

/// Which of x and y warps bring, and why; empty for none.
std::string describeFilled(const StagedOperands &operands,
                           bool swapsAb = false);

/// `problem` with x as A of instructions and y as B: where its schedule
/// swaps operands, the transposed product. Who asks for rows of operands
/// asks this one; where sums go is what it was.
KernelProblem getInstructionProblem(const KernelProblem &problem);

/// Of such a problem. Scales are in the 32x4x4 layout, see
/// GemmKernel::wantsScaleAtoms. The result points into the problem.
StagedOperands planStagedOperands(const KernelProblem &problem,
                                  const SharedMemoryPlan &pipeline);
StagedOperands planStagedOperands(KernelProblem &&,
                                  const SharedMemoryPlan &) = delete;

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_STAGEDOPERAND_H
