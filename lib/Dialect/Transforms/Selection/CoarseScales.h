//===- CoarseScales.h - Coarse scales on GPUs -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H

#include "Selection/PathChoice.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Rewrites the products in `root` with coarse scales into products that paths
/// of the chip have, with a remark. Exact, but for sums that have a licence: a
/// device may differ from the definition by no more than its sums may.
void rewriteCoarseScales(Operation *root, const PathChooser &chooser);

/// Whether instructions of the chip may multiply the elements of `op` as they
/// are: fp8 with a licence for their sums.
bool mayMultiplyFP8(MmaScaledOp op, const PathChooser &chooser);

/// A `promoted_matmul` of the elements of `op`, with a remark: scales are
/// factors of its sums.
Value promoteSums(IRRewriter &rewriter, MmaScaledOp op,
                  const PathChooser &chooser);

/// A tensor of one number: a constant if its sizes are known.
Value createSplat(IRRewriter &rewriter, Location loc,
                  ArrayRef<OpFoldResult> sizes, FloatAttr number);

/// Emits an error at the ops in `root` that have coarse scales, which no kernel
/// takes. Passes that lead to kernels call it before anything else, so that
/// none of them has to know such scales.
LogicalResult refuseCoarseScales(Operation *root);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H
