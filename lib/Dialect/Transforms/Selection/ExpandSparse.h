//===- ExpandSparse.h - Sparse products as dense ones -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_EXPANDSPARSE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_EXPANDSPARSE_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::blockscale {

/// Prepares ops on sparse operands in functions of `root` for a GPU: checks of
/// dynamic sizes become assertions, and each `sparse_mma_scaled` becomes
/// `decompress` and `mma_scaled`, with a remark. With `nativeOnly`, that is an
/// error, and sparse ops in kernels always are.
LogicalResult expandSparse(Operation *root, bool nativeOnly);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_EXPANDSPARSE_H
