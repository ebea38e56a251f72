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
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"

#include <optional>

namespace mlir::blockscale {

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

/// The sizes of memory for a result, an argument of `function`, of which a
/// `result_sizes` says those that are dynamic; nullopt for other arguments.
std::optional<SmallVector<OpFoldResult>> getResultSizes(func::FuncOp function,
                                                        Value buffer);

/// The sizes that a subview or a reinterpreting cast says of its result,
/// without dimensions that it drops; nullopt for other memory.
std::optional<SmallVector<OpFoldResult>> getViewSizes(Value view);

/// `size`, which is computed in `function`, as an expression of its dynamic
/// sizes, where dimension i is number i of them; null for anything else, such
/// as a product of two of them.
AffineExpr getSizeExpr(func::FuncOp function, Value size);

/// Whether `size` is computed in `function` from sizes of its arguments and
/// from arguments that are integers, by what a launch can compute: + - * min
/// max and quotients with their remainders.
bool isMadeOfSizes(func::FuncOp function, Value size);

/// How many codes of an argument are in how many bytes of a packed row; 1 and 1
/// where rows are not packed or not of a dynamic size. See `PackedUnit`.
std::pair<int64_t, int64_t> getCodesAndBytes(func::FuncOp function,
                                             DynamicSize size);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_LAUNCH_DYNAMICSIZES_H
