//===- GatherRows.h - Rows of a matrix in another order ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_GATHERROWS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_GATHERROWS_H

#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// A copy of `matrix` (R x C) whose row i is row `rows[i]` of it; `rows` is a
/// tensor of i32. A row that the matrix does not have is another one of it, or,
/// with `mayBeEmpty`, zeros if it has none.
Value gatherRows(OpBuilder &b, Location loc, Value matrix, Value rows,
                 bool mayBeEmpty = false);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_GATHERROWS_H
