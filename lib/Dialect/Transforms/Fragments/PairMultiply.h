//===- PairMultiply.h - mma.sync of 16-bit elements -------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_PAIRMULTIPLY_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_PAIRMULTIPLY_H

#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Returns the four sums `c` plus the product of one m16n8k16 instruction.
/// Registers of `a` and `b` are i32, each with two elements of `element`, bf16
/// or f16.
SmallVector<Value> multiplyPairs(OpBuilder &b, Location loc, Type element,
                                 ValueRange a, ValueRange other, ValueRange c);

/// `c` plus one sparse instruction on bf16 values, the kept ones of A. The
/// lanes that `selector` names have `metadata`.
SmallVector<Value> multiplySparsePairs(OpBuilder &b, Location loc, ValueRange a,
                                       ValueRange other, ValueRange c,
                                       Value metadata, unsigned selector);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_PAIRMULTIPLY_H
