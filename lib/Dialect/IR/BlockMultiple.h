//===- BlockMultiple.h - Are sizes along K whole blocks? --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides whether a size or offset along K is known to be a multiple of the
// block size. Tiling refuses others, because a tile that cuts a block would
// read a wrong scale.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_IR_BLOCKMULTIPLE_H
#define BLOCKSCALE_LIB_DIALECT_IR_BLOCKMULTIPLE_H

#include "blockscale/Dialect/IR/BlockScale.h"

namespace mlir::blockscale {

/// Whether `value` is known to be a multiple of the block size of `op`. Follows
/// affine arithmetic, loops (bounds and steps) and constants, and assumes (C9)
/// of `op`: its K is a multiple.
bool isKnownBlockMultiple(OpFoldResult value, MmaScaledOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_IR_BLOCKMULTIPLE_H
