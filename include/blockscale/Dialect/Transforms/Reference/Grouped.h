//===- Grouped.h - Mixtures of experts as loops -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_GROUPED_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_GROUPED_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// `grouped_mma_scaled` and `grouped_matmul` to a loop over groups, of
/// `mma_scaled` and `linalg.matmul` on slices. Offsets and rows are clamped.
/// Apply before the patterns for these.
void populateDecomposeGroupedPatterns(RewritePatternSet &patterns);

/// `combine_rows` to `linalg.generic`, in which each element adds up its slots.
/// Positions are clamped.
void populateDecomposeCombineRowsPatterns(RewritePatternSet &patterns);

/// `route` to `linalg.generic`, in which each slot searches its row, and
/// `sort_routes` to loops of a counting sort.
void populateDecomposeRoutingPatterns(RewritePatternSet &patterns);

/// `swizzle_group_scales` to `linalg.generic`, in which each byte searches its
/// group. Offsets and rows are clamped.
void populateDecomposeGroupScalesPatterns(RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_GROUPED_H
