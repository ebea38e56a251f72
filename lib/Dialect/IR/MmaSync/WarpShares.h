//===- WarpShares.h - The share of a warp in a tile -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_MMASYNC_WARPSHARES_H
#define BLOCKSCALE_LIB_DIALECT_IR_MMASYNC_WARPSHARES_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Whether `rows` x `columns` warps can share `m` x `n` sums evenly, in whole
/// tiles of the instruction and in registers. Emits an error if not.
LogicalResult verifyWarpShares(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rows, int64_t columns, int64_t m,
                               int64_t n);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_MMASYNC_WARPSHARES_H
