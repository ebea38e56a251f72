//===- DynamicSizes.h - Sizes that are arguments of kernels -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function for a GPU has memrefs as arguments: first those of the program,
// then one for each result. The dynamic sizes of the first are what all sizes
// at launch are made of.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_DYNAMICSIZES_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_DYNAMICSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::blockscale {

/// The attribute of an argument that is memory for a result of dynamic sizes:
/// its sizes, as an affine map of the dynamic sizes of the function.
inline constexpr StringLiteral kSizesAttrName = "blockscale.sizes";

/// The attribute of an argument whose rows are packed and of a dynamic size:
/// the bits of a code.
inline constexpr StringLiteral kCodeBitsAttrName = "blockscale.code_bits";

/// A dynamic size of an argument, as its memref counts it: a packed row in
/// bytes.
struct DynamicSize {
  unsigned argument;
  unsigned dim;
};

/// The dynamic sizes of a function: those of its arguments, without the ones
/// that are memory for results, by argument, then by dimension.
SmallVector<DynamicSize> getDynamicSizes(func::FuncOp function);

/// `size`, which is computed in `function`, as an expression of its dynamic
/// sizes, where dimension i is number i of them; null for anything else.
AffineExpr getSizeExpr(func::FuncOp function, Value size);

/// How many codes of an argument are in how many bytes of a packed row; 1 and 1
/// where rows are not packed or not of a dynamic size. See `PackedUnit`.
std::pair<int64_t, int64_t> getCodesAndBytes(func::FuncOp function,
                                             DynamicSize size);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_DYNAMICSIZES_H
