//===- ScaleTrace.h - Scales through transposes and slices ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces row-major scales to their source, and converts slices and transposes
// to the 32x4x4 layout: a slice that keeps atoms whole is a slice of atoms, and
// a transpose only determines which of two dimensions holds the rows.
//
// "Rows last" are scales of K_s x N, like those of y of `mma_scaled`. Swizzled
// scales always have their rows first.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SCALETRACE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SCALETRACE_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::blockscale {

/// A slice of row-major scales.
struct ScaleSlice {
  tensor::ExtractSliceOp op;
  bool rowsLast;
};

/// Scales that are obtained from `source` by `slices`, in their order, and
/// transposes.
struct ScaleTrace {
  Value source;
  bool rowsLast;
  SmallVector<ScaleSlice> slices;
};

/// The effect of a transpose on scales: none, swap rows and blocks, or also
/// move the batch.
enum class TransposeKind { Identity, SwapsMatrix, Other };
TransposeKind classifyTranspose(linalg::TransposeOp op);

/// Whether `slice` can be a slice of scales, and drops at most the batch.
bool isMatrixSlice(tensor::ExtractSliceOp slice);

/// Follows the tensor `scales` through transposes of the matrix and through
/// slices, as far as `mayPass` lets it.
ScaleTrace traceScales(Value scales, bool rowsLast,
                       function_ref<bool(Operation *)> mayPass);
ScaleTrace traceScales(Value scales, bool rowsLast);

/// Why `slice` cannot be taken from swizzled scales, and what it would need;
/// empty if it can. A slice may end inside an atom, whose rest is padding then;
/// with `toItsEnd`, only if its source ends there, too.
std::string describeCutAtom(const ScaleSlice &slice, bool toItsEnd = false);

/// `type`, row-major scales, with the last two sizes swapped if `rowsLast`:
/// from or to the order with rows first.
RankedTensorType getRowsFirstType(RankedTensorType type, bool rowsLast);

/// The type of rows-first scales of `type` in the 32x4x4 layout.
RankedTensorType getSwizzledType(RankedTensorType type);

/// Creates a `swizzle_scales` of `source`, row-major scales.
Value emitSwizzle(OpBuilder &builder, Location loc, Value source,
                  bool rowsLast);

/// The constant `source`, row-major scales, in the 32x4x4 layout; null if it is
/// not a constant or is too large. Its padding is any byte.
Value getSwizzledConstant(OpBuilder &builder, Location loc, Value source,
                          bool rowsLast);

/// `source`, row-major scales, in the 32x4x4 layout: as a constant, or the
/// value that it was unswizzled from, or by `swizzle_scales`. Its padding is
/// any byte, so it is for readers that ignore padding.
Value getSwizzled(OpBuilder &builder, Location loc, Value source,
                  bool rowsLast);

/// The slice of `swizzled` that corresponds to `slice`, for which
/// `describeCutAtom` is empty.
Value sliceSwizzled(OpBuilder &builder, Location loc, ScaleSlice slice,
                    Value swizzled);

/// `swizzled` as row-major scales of `type`, of which `sizes` are the sizes.
Value getUnswizzled(OpBuilder &builder, Location loc, Value swizzled,
                    RankedTensorType type, bool rowsLast,
                    ArrayRef<OpFoldResult> sizes);

/// The sizes of the result of `slice`: without the dimension that it drops.
SmallVector<OpFoldResult> getResultSizes(tensor::ExtractSliceOp slice);

/// The outermost loop around `user` in which `source` is not defined: the point
/// for values that depend on `source` only. `user` if there is no such loop.
Operation *getHoistPoint(Operation *user, Value source);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SCALETRACE_H
