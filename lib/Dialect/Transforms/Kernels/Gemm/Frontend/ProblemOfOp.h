//===- ProblemOfOp.h - From an op to a problem ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a product on tensors to a HostProblem, the description that kernels are
// emitted from.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_PROBLEMOFOP_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_PROBLEMOFOP_H

#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// The problem of a kernel of `gemm` for `op` with `instruction` and `schedule`
/// (null on a path without them), with the elementwise ops around it that the
/// kernel fuses: behind it, `ofPairs`, a findPairConsumer, if that is not null.
/// Sizes, and assertions about the sizes of these ops, are created at
/// `builder`.
HostProblem makeHostProblem(OpBuilder &builder, ProductOpInterface op,
                            const GemmKernel &gemm, InstructionAttr instruction,
                            ScheduleInterface schedule,
                            linalg::GenericOp ofPairs = {});

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_PROBLEMOFOP_H
