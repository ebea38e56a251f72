//===- SparseShapes.h - Checks of compressed shapes -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that verifiers of several sparse ops share, and the checks at run time
// that correspond to them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_SPARSE_SPARSESHAPES_H
#define BLOCKSCALE_LIB_DIALECT_IR_SPARSE_SPARSESHAPES_H

#include "NamedShape.h"
#include "blockscale/Dialect/IR/Sparse.h"

namespace mlir::blockscale {

/// (X7), (Z2), (K4), (R4), (N3), (V3): no size of 0.
LogicalResult verifyNoZeroSize(Operation *op, ArrayRef<NamedShape> values);

/// A value whose last size times `factor` is K, and whose other sizes are those
/// of the dense matrix.
struct AlongK {
  NamedShape shape;
  int64_t factor;
};

/// (K3), (R3): all of `values` describe one dense matrix, the first of them.
LogicalResult verifyAlongK(Operation *op, ArrayRef<AlongK> values);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_SPARSE_SPARSESHAPES_H
