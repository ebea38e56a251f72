//===- RebaseProblem.h - What a rebase kernel computes ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_REBASE_REBASEPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_REBASE_REBASEPROBLEM_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// A `rebase` of a matrix, or of a batch of them, as a kernel computes it.
/// Sizes may be dynamic.
struct RebaseProblem {
  Format format;
  /// Of rank 2 or 3.
  unsigned rank;
  int64_t m, k;
  int64_t blockSize;
  /// The parameters that hold elements, with contiguous rows, and scales:
  /// memrefs of bytes.
  KernelOperand elements, scales;
  /// K is known to be a multiple of so many elements.
  int64_t knownMultiple;
  /// The parameters for the results.
  unsigned rebased, rowScales;
};

/// The shape of its launch: rows are M, and a block of threads has whole rows.
KernelShape getRebaseShape(const RebaseProblem &problem);
void buildRebase(gpu::GPUFuncOp kernel, const RebaseProblem &problem);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_REBASE_REBASEPROBLEM_H
