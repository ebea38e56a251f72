//===- RaiseSparse.h - Products of decompressed operands --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISESPARSE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISESPARSE_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Whether `op` is a product that the pattern below raises; nullopt if no
/// operand of it is decompressed. Sets the reason why it is not raised.
std::optional<bool> canRaiseSparse(Operation *op, std::string &reason);

/// Adds a pattern that makes `sparse_mma_scaled` of a `mma_scaled` whose x is a
/// `decompress`, or whose y is the transpose of one.
void populateRaiseSparsePatterns(RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISESPARSE_H
