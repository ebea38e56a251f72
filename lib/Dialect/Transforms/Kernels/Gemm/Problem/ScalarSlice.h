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

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::blockscale {

/// The inputs of `scalar`: tensors and scalars that are no constants. A value
/// that is not made by pure arithmetic on elements is an input itself.
SetVector<Value> getScalarInputs(Value scalar);

/// Emits `scalar` again at `b`; `getArgument` maps each input to a value of the
/// kernel: a tensor to a memref.
Value emitScalar(OpBuilder &b, Value scalar,
                 function_ref<Value(Value input)> getArgument);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_SCALARSLICE_H
