//===- Accumulate.h - A licence for all products ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_ACCUMULATE_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_ACCUMULATE_H

#include "blockscale/Support/Accumulation.h"
#include "mlir/IR/Operation.h"

namespace mlir::blockscale {

/// Gives each `mma_scaled` and `grouped_mma_scaled` in `root` that has no
/// attribute `accumulate` the one of `licence`, if there is one. Emits an error
/// for a chunk that the attribute does not have.
LogicalResult attachAccumulation(Operation *root, const Accumulation &licence);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_SELECTION_ACCUMULATE_H
