//===- ScaleTrace.h - Scales through transposes and slices ------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where row-major scales come from, and how the same is said of them in the
// 32x4x4 layout: a slice that keeps atoms whole is a slice of atoms, and a
// transpose only says which of two dimensions holds the rows.
//
// "Rows last" are scales of K_s x N, as `mma_scaled` takes those of y. Swizzled
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

/// Scales as what is left of `source` after `slices`, in their order, and
/// transposes.
struct ScaleTrace {
  Value source;
  bool rowsLast;
  SmallVector<ScaleSlice> slices;
};

/// What a transpose does to scales: nothing, exchange rows and blocks, or also
/// move the batch.
enum class TransposeKind { Identity, SwapsMatrix, Other };
TransposeKind classifyTranspose(linalg::TransposeOp op);

/// Whether `slice` can be one of scales, and drops nothing but a batch.
bool isMatrixSlice(tensor::ExtractSliceOp slice);

/// Follows the tensor `scales` through transposes of the matrix and through
/// slices, as far as `mayPass` lets it.
ScaleTrace traceScales(Value scales, bool rowsLast,
                       function_ref<bool(Operation *)> mayPass);
ScaleTrace traceScales(Value scales, bool rowsLast);

/// Why `slice` cannot be taken from swizzled scales, what it would need
/// included; empty if it can. A slice may end inside an atom: what follows is
/// padding then. With `toItsEnd`, it may only where its source ends.
std::string describeCutAtom(const ScaleSlice &slice, bool toItsEnd = false);

/// `type`, row-major scales, with the last two sizes exchanged if `rowsLast`:
/// from or to the order with rows first.
RankedTensorType getRowsFirstType(RankedTensorType type, bool rowsLast);

/// The type of rows-first scales of `type` in the 32x4x4 layout.
RankedTensorType getSwizzledType(RankedTensorType type);

/// A `swizzle_scales` of `source`, row-major scales.
Value emitSwizzle(OpBuilder &builder, Location loc, Value source,
                  bool rowsLast);

/// The constant `source`, row-major scales, in the 32x4x4 layout; null if it is
/// no constant or a large one. Its padding is any byte.
Value getSwizzledConstant(OpBuilder &builder, Location loc, Value source,
                          bool rowsLast);

/// `source`, row-major scales, in the 32x4x4 layout: as a constant, or what it
/// was unswizzled from, or by `swizzle_scales`. Its padding is any byte: for
/// readers that do not look at it.
Value getSwizzled(OpBuilder &builder, Location loc, Value source,
                  bool rowsLast);

/// The part of `swizzled` that `slice` takes; `describeCutAtom` has no
/// objection.
Value sliceSwizzled(OpBuilder &builder, Location loc, ScaleSlice slice,
                    Value swizzled);

/// `swizzled` as row-major scales of `type`, of which `sizes` are the sizes.
Value getUnswizzled(OpBuilder &builder, Location loc, Value swizzled,
                    RankedTensorType type, bool rowsLast,
                    ArrayRef<OpFoldResult> sizes);

/// The sizes of the result of `slice`: without the dimension that it drops.
SmallVector<OpFoldResult> getResultSizes(tensor::ExtractSliceOp slice);

/// The outermost loop around `user` in which `source` is not defined: a value
/// made from `source` alone belongs in front of it. `user` if there is none.
Operation *getHoistPoint(Operation *user, Value source);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SCALELAYOUT_SCALETRACE_H
