//===- StagedOperand.h - TMA or software producer ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which producer brings an operand to its stages: TMA where a tensor map can
// describe it, else the software producer (layout, alignment or types forbid
// TMA).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_STAGEDOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_STAGEDOPERAND_H

#include "Kernels/Gemm/Mainloop/Multistage/TileLoader.h"
#include "Kernels/Gemm/Mainloop/WarpSpecialized/TensorOperand.h"

namespace mlir::blockscale {

/// The warps of a software producer, if there is one.
inline constexpr int64_t kSoftwareProducerWarps = 4;

struct StagedOperand {
  /// TMA or the loader of the software producer; neither for scales of a
  /// product without scales.
  std::optional<TensorOperand> tensor;
  LoaderPtr loader;
  /// The layout of elements in a stage, and their format in the instruction.
  TileLayout layout;
  Format format = Format::E4M3;
  /// Why TMA cannot bring it.
  std::string reason;
};

using StagedOperands = PerOperand<StagedOperand>;

/// A remark about the operands that a software producer fills, and why; empty
/// for none.
std::string describeSoftwareOperands(const StagedOperands &operands,
                                     bool swapsAb = false);

/// `problem` as the instructions see it: with swap-AB, the transposed product.
/// It says what rows of operands are; the epilogue uses the original problem.
KernelProblem getInstructionProblem(const KernelProblem &problem);

/// The operands of such a problem. Scales are in the 32x4x4 layout, see
/// GemmKernel::wantsAtoms. The result points into the problem.
StagedOperands planStagedOperands(const KernelProblem &problem,
                                  const SharedMemoryPlan &pipeline);
StagedOperands planStagedOperands(KernelProblem &&,
                                  const SharedMemoryPlan &) = delete;

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_WARPSPECIALIZED_STAGEDOPERAND_H
