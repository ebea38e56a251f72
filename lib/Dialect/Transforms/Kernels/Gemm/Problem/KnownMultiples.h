//===- KnownMultiples.h - What divides dynamic sizes ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA needs rows of whole 16 bytes, which a size `?` does not promise. The
// caller of a function can: with `blockscale.multiples` on an argument.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_KNOWNMULTIPLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_KNOWNMULTIPLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {

/// A known divisor of dimension `dim` of the ranked `tensor`: a static size
/// itself.
int64_t getKnownMultiple(Value tensor, unsigned dim);

/// Checks the attributes of the arguments of `function`, and asserts at its
/// start that dynamic sizes are such multiples.
LogicalResult checkMultiples(func::FuncOp function);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_PROBLEM_KNOWNMULTIPLES_H
