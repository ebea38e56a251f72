//===- HostProblem.h - What a kernel is asked to compute --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_HOSTPROBLEM_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_HOSTPROBLEM_H

#include "Kernels/Backend.h"
#include "Kernels/HostSizes.h"

namespace mlir::blockscale {

/// A kernel for one product, seen from the host.
struct HostProblem {
  KernelProblem problem;
  HostSizes sizes;
  /// The arguments of the kernel, but for the result: tensors and scalars.
  SetVector<Value> inputs;

  /// The sizes of the result.
  SmallVector<OpFoldResult> getResultSizes() const;

  /// The number of the parameter that holds `value`, a new one if there is
  /// none.
  unsigned addInput(Value value);
  /// Makes parameters of what the kernel of `from`, which this problem is a
  /// copy of, takes beside its operands, and of the result behind them.
  void addSurroundings(const HostProblem &from);
};

/// What a kernel of `backend` has to compute for `op` with `instruction` and
/// `schedule` (null on a path without them), with what it takes over of the
/// elementwise ops around it. Sizes, and assertions about those of these ops,
/// are created at `builder`.
HostProblem makeHostProblem(OpBuilder &builder, ProductOpInterface op,
                            const KernelBackend &backend,
                            InstructionAttr instruction,
                            ScheduleInterface schedule);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_HOSTPROBLEM_H
