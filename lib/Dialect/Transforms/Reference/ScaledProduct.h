//===- ScaledProduct.h - Parts of decomposed products -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the decompositions of mma_scaled and of sparse_mma_scaled share: sums in
// f64, which are rounded once, of operands that are dequantized to f64.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SCALEDPRODUCT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SCALEDPRODUCT_H

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Dequantizes `operand` to f64, in its shape. `block` elements along `kDim`
/// share a scale. Every product is exact: it has at most 6 bits of significand,
/// and an exponent well inside f64's range.
Value decodeScaled(OpBuilder &builder, Location loc, Value operand, Value scale,
                   unsigned kDim, int64_t block);

/// Broadcasts the batch of `source`, which is 1 or `batch`, to `batch`, if it
/// is known only at run time which of them it is.
Value broadcastBatch(OpBuilder &builder, Location loc, Value source,
                     OpFoldResult batch);

/// The sizes of the accumulator.
SmallVector<OpFoldResult> getSumSizes(OpBuilder &builder, Location loc,
                                      Value acc);

/// The accumulator as a tensor of f64.
Value extendAcc(OpBuilder &builder, Location loc, Value acc,
                ArrayRef<OpFoldResult> sizes);

/// The sum, a tensor of f64, rounded to the elements of `type`.
Value roundSum(OpBuilder &builder, Location loc, Value sum,
               ArrayRef<OpFoldResult> sizes, Type type);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_REFERENCE_SCALEDPRODUCT_H
