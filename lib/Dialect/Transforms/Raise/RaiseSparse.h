//===- RaiseSparse.h - Products of decompressed operands --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISESPARSE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISESPARSE_H

#include "Raise/RaiseVerdict.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Whether the pattern below raises `op`; nullopt if it is no product of a
/// decompressed operand.
std::optional<Verdict> judgeSparse(Operation *op, const RaiseOptions &options);

/// Adds a pattern that makes `sparse_mma_scaled` of a `mma_scaled` whose x is a
/// `decompress`, or whose y is the transpose of one.
void populateRaiseSparsePatterns(RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISESPARSE_H
