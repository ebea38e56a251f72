//===- DynamicSizes.h - Sizes that are arguments of kernels -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function for a GPU has memrefs as arguments: first those of the program,
// then one for each result. All sizes at a launch are computed from the dynamic
// sizes of the arguments of the program.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_DYNAMICSIZES_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_DYNAMICSIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace mlir::blockscale {

/// The attribute of an argument with packed rows of a dynamic size: the bits of
/// an element.
inline constexpr StringLiteral kCodeBitsAttrName = "blockscale.code_bits";

/// A dynamic size of an argument, in elements of its memref: bytes for a packed
/// row.
struct DynamicSize {
  unsigned argument;
  unsigned dim;
};

/// The dynamic sizes of a function: those of its arguments, except memory for
/// results, by argument, then by dimension.
SmallVector<DynamicSize> getDynamicSizes(func::FuncOp function);

/// The sizes of an argument of `function` that is memory for a result, whose
/// dynamic sizes a `result_sizes` states; nullopt for other arguments.
std::optional<SmallVector<OpFoldResult>> getResultSizes(func::FuncOp function,
                                                        Value buffer);

/// The sizes of a subview or a reinterpreting cast, without dropped dimensions;
/// nullopt for other memory.
std::optional<SmallVector<OpFoldResult>> getViewSizes(Value view);

/// `size`, which is computed in `function`, as an expression of its dynamic
/// sizes: dimension i is dynamic size i. Null if that is impossible, for
/// example for a product of two of them.
AffineExpr getSizeExpr(func::FuncOp function, Value size);

/// Whether `size` is computed in `function` from sizes of its arguments and
/// from integer arguments, by operations that a launch can compute: + - * min
/// max, quotients and remainders.
bool isMadeOfSizes(func::FuncOp function, Value size);

/// How many elements of an argument are in how many bytes of a packed row; 1
/// and 1 if rows are not packed or have a static size. See `PackedUnit`.
std::pair<int64_t, int64_t> getElementsAndBytes(func::FuncOp function,
                                                DynamicSize size);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_DYNAMICSIZES_H
