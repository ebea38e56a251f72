//===- ScalarSlice.h - Scalars that kernels compute -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scalar that a function computes from elements of tensors in device memory
// (a tensor scale, for instance). Each kernel that needs it computes it again.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_SCALARSLICE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_SCALARSLICE_H

#include "Kernels/Gemm/Problem/HostProblem.h"

namespace mlir::blockscale {

/// `scalar` as a kernel computes it, whose `inputs` get those of `scalar`:
/// tensors and scalars that are no constants. A value that is not made by pure
/// arithmetic on elements is an input itself.
FusedScalar fuseScalar(KernelInputs &inputs, Value scalar);

/// Emits `scalar` again at `b`, in `kernel`; null for null.
Value emitScalar(OpBuilder &b, gpu::GPUFuncOp kernel,
                 const FusedScalar &scalar);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_SCALARSLICE_H
