//===- ExpandSparse.h - Sparse products as dense ones --------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_EXPANDSPARSE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_EXPANDSPARSE_H

#include "blockscale/Dialect/IR/Sparse.h"

namespace mlir::blockscale {

/// The types of the dense product that `op` becomes, and how many of them there
/// are.
TypeCombination getDenseTypes(SparseMmaScaledOp op);
unsigned getNumDenseProducts(SparseMmaScaledOp op);

/// Replaces `op`, on tensors, by `decompress` and `mma_scaled`, which gets the
/// path that is requested for `op`, and by what keeps its meaning at NaN and
/// infinity of y. Says so in `remark`.
void expandSparse(SparseMmaScaledOp op, InFlightDiagnostic &remark);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_EXPANDSPARSE_H
