//===- Sparse.h - Sparse ops as loops ---------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_SPARSE_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_SPARSE_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// `sparse_mma_scaled` to `linalg.generic` on operands dequantized to f64, in
/// which each kept element finds its row of y. Apply before the patterns below.
void populateDecomposeSparseMmaPatterns(RewritePatternSet &patterns);

/// `tile_metadata` and `untile_metadata` to `linalg.generic`.
void populateDecomposeMetadataPatterns(RewritePatternSet &patterns);

/// `sparsify`, `compress` and `decompress` to `linalg.generic`. Fields that are
/// not legal, and chunks with too many non-zero units, fail assertions in the
/// loops.
void populateDecomposeSparsePatterns(RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_SPARSE_H
