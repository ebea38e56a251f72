//===- HostProblem.h - A GEMM as the host sees it ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A KernelProblem with the values that the launch passes.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_HOSTPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_HOSTPROBLEM_H

#include "Kernels/Gemm/Problem/HostSizes.h"
#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// A kernel for one product, as the host sees it.
struct HostProblem {
  KernelProblem problem;
  HostSizes sizes;
  /// The arguments of the kernel, but for the result: tensors and scalars.
  SetVector<Value> inputs;

  /// The sizes of the result.
  SmallVector<OpFoldResult> getResultSizes() const;

  /// The index of the parameter that holds `value`; adds one if there is none.
  unsigned addInput(Value value);
  /// Adds the parameters that `from`, which this problem is a copy of, has
  /// beside its operands, and the result behind them.
  void addSurroundings(const HostProblem &from);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_HOSTPROBLEM_H
