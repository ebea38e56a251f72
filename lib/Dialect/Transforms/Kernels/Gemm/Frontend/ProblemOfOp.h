//===- ProblemOfOp.h - From an op to a problem ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_PROBLEMOFOP_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_PROBLEMOFOP_H

#include "Kernels/Gemm/GemmKernel.h"
#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// What a kernel of `gemm` has to compute for `op` with `instruction` and
/// `schedule` (null on a path without them), with what it takes over of the
/// elementwise ops around it. Sizes, and assertions about those of these ops,
/// are created at `builder`.
HostProblem makeHostProblem(OpBuilder &builder, ProductOpInterface op,
                            const GemmKernel &gemm, InstructionAttr instruction,
                            ScheduleInterface schedule);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_FRONTEND_PROBLEMOFOP_H
