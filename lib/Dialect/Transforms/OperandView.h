//===- OperandView.h - Reading operands where they are ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand as a tensor and a map into it. Transposes and unswizzles become
// part of the map, so that nothing is copied to please the op.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_OPERANDVIEW_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_OPERANDVIEW_H

#include "blockscale/Support/ScaleLayout.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Element `i` of the operand is element `map(i)` of `tensor`.
struct OperandView {
  Value tensor;
  AffineMap map;
};

/// The view of `operand` with everything looked through that can be. A vector
/// is written to a tensor first.
OperandView getOperandView(OpBuilder &builder, Location loc, Value operand);

/// An operand as memory holds it: its codes are those of `tensor` at `map(i)`,
/// one in each byte, or as a bit stream of `packedBits` per code along the last
/// dimension of `tensor` (then `map` counts codes there).
struct StoredView {
  Value tensor;
  AffineMap map;
  /// 8 where a code has a byte of its own.
  unsigned packedBits;
};

/// The view of the tensor `operand` with packed buffers looked through too.
StoredView getStoredView(OpBuilder &builder, Location loc, Value operand);

/// The code, as i8, at `indices` of the operand that is stored in `memory` as
/// `view` says.
Value emitLoadCode(OpBuilder &builder, Location loc, Value memory,
                   AffineMap map, unsigned packedBits, ValueRange indices);

/// The values of `map` at `operands`.
SmallVector<Value> applyMap(OpBuilder &builder, Location loc, AffineMap map,
                            ValueRange operands);

/// The sizes of `operand`, whose view is `view`.
SmallVector<OpFoldResult> getOperandSizes(OpBuilder &builder, Location loc,
                                          Value operand,
                                          const OperandView &view);

/// A layout of Support as an affine map. Leading dimensions that the layout
/// does not name (a batch) are kept: there are `numDims` in all.
AffineMap getLayoutMap(MLIRContext *context, ArrayRef<LayoutTerm> terms,
                       unsigned numLayoutDims, unsigned numLayoutResults,
                       unsigned numDims);

/// (row, block) -> 32x4x4 and its inverse, for row-major scales of `rank`.
AffineMap getSwizzleMap(MLIRContext *context, unsigned rank);
AffineMap getUnswizzleMap(MLIRContext *context, unsigned rank);

/// `value` if it is a tensor, else a tensor that the vector is written to.
Value convertToTensor(OpBuilder &builder, Location loc, Value value);

/// `tensor` in the form of `type`: read into a vector if that is one, cast if
/// only the static sizes differ.
Value convertFromTensor(OpBuilder &builder, Location loc, Value tensor,
                        Type type);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_OPERANDVIEW_H
