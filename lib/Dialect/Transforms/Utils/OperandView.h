//===- OperandView.h - Reading operands where they are ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand as a tensor and a map into it. Transposes and unswizzles become
// part of the map, so that nothing is copied.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_OPERANDVIEW_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_OPERANDVIEW_H

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

/// The view of `operand` after all possible folds. Its `tensor` may be a
/// vector.
OperandView traceOperand(Value operand);

/// The tensor that `tensor` is a reshape of; both are the same memory.
Value getReshaped(Value tensor);

/// The view of `operand` after all possible folds. A vector is written to a
/// tensor first.
OperandView getOperandView(OpBuilder &builder, Location loc, Value operand);

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

/// Whether `value` is zero everywhere: a constant, or a fill with one.
bool isZeroSplat(Value value);

/// `value` if it is a tensor, else a tensor that the vector is written to.
Value convertToTensor(OpBuilder &builder, Location loc, Value value);

/// Computes the elements of a tensor like `init`: `body` gets those of `inputs`
/// at `maps`.
Value computeElements(
    OpBuilder &builder, Location loc, ValueRange inputs,
    ArrayRef<AffineMap> maps, Value init,
    function_ref<Value(OpBuilder &, Location, ValueRange)> body);

/// The indices of the `rank` loops of such a body.
SmallVector<Value> getLoopIndices(OpBuilder &builder, Location loc,
                                  unsigned rank);

/// `tensor` in the form of `type`: read into a vector if that is one, cast if
/// only the static sizes differ.
Value convertFromTensor(OpBuilder &builder, Location loc, Value tensor,
                        Type type);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_OPERANDVIEW_H
