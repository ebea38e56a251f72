//===- CoarseScales.h - Coarse scales on GPUs -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H

#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// Rewrites the products in `root` whose coarse scales are powers of two, or
/// those of whole rows, into products that paths have, with a remark. Others
/// stay. Exact: a device may differ from the definition by no more than its
/// sums may.
void rewriteCoarseScales(Operation *root);

/// Emits an error at the ops in `root` that have coarse scales, which no kernel
/// takes. Passes that lead to kernels call it before anything else, so that
/// none of them has to know such scales.
LogicalResult refuseCoarseScales(Operation *root);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_COARSESCALES_H
