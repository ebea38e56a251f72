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

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// The sizes of the problem of one kernel, as constants or values.
struct HostSizes {
  OpFoldResult m, n, batch;
  OpFoldResult k = {};
  /// How many groups of rows a grouped product has; null for others.
  OpFoldResult groups = {};
};

/// The sizes of a problem whose result, a matrix or a batch of them, has
/// `sizes`.
HostSizes getHostSizes(OpBuilder &builder, ArrayRef<OpFoldResult> sizes);

/// The arguments of a kernel, but for the results: tensors and scalars.
struct KernelInputs : SetVector<Value> {
  /// The index of the parameter that holds `value`; adds one if there is none.
  unsigned add(Value value);
};

/// A kernel for one product, as the host sees it.
struct HostProblem {
  KernelProblem problem;
  HostSizes sizes;
  KernelInputs inputs;

  /// The sizes of the product; and of the result, which may have half of its
  /// columns.
  SmallVector<OpFoldResult> getProductSizes() const;
  SmallVector<OpFoldResult> getResultSizes(OpBuilder &builder,
                                           Location loc) const;

  /// Adds the parameters that `from`, which this problem is a copy of, has
  /// beside its operands, and the result behind them.
  void addSurroundings(const HostProblem &from);
  /// Adds the parameters of `from` that `arguments` name, which name those of
  /// this problem then.
  void renumber(FusedArguments &arguments, const HostProblem &from);
  /// The same for the factors of promoted sums.
  void renumberFactors(const HostProblem &from);
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_HOSTPROBLEM_H
