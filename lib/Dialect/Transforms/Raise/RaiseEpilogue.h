//===- RaiseEpilogue.h - Scales of whole tensors ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEEPILOGUE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEEPILOGUE_H

#include "Raise/RaiseAccess.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::blockscale {

/// An f32: `splat`, or if that is null, a scalar, or the element of a tensor or
/// vector at a constant index.
struct TensorScale {
  Access access;
  FloatAttr splat;
};

/// Creates `scale` as an f32 scalar.
Value createScalar(OpBuilder &builder, Location loc, const TensorScale &scale);

/// Whether all of `acc` is +0: a fill or a constant.
bool isZeros(Value acc);

/// Creates a zero accumulator with the sizes of `acc`, and its elements or
/// those of type `element`.
Value createZeros(OpBuilder &builder, Location loc, Value acc,
                  FloatType element = {});

/// `product` times all `scales`, one after the other, plus `acc`.
Value scaleAndAdd(OpBuilder &builder, Location loc, Value product,
                  ArrayRef<TensorScale> scales, Value acc);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEEPILOGUE_H
