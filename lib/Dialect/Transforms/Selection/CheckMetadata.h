//===- CheckMetadata.h - Fields of metadata for instructions -- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_CHECKMETADATA_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_CHECKMETADATA_H

#include "blockscale/Dialect/IR/Sparse.h"

namespace mlir::blockscale {

/// Lets `op`, which an instruction computes, read a copy of its metadata whose
/// fields are checked, unless they are known to be legal.
void checkMetadata(SparseMmaScaledOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_CHECKMETADATA_H
