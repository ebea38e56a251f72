//===- UnscaledProducts.h - Products of linalg that paths -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_UNSCALEDPRODUCTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_UNSCALEDPRODUCTS_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {

/// Whether `op` is a matmul of linalg on tensors, in a function, whose form a
/// path may support: each dimension is in two operands, accumulators are f32,
/// and no size is 0. `getTypes` has its element types.
bool isUnscaledProduct(ProductOpInterface op);

/// Replaces `op`, such a matmul, by its canonical form if `isAccepted` returns
/// true for it, and returns it; else keeps `op` and returns null. The canonical
/// form has the dimensions in the order of `mma_scaled`; operands with another
/// order are transposed.
ProductOpInterface
replaceByCanonical(ProductOpInterface op,
                   function_ref<bool(ProductOpInterface)> isAccepted);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_UNSCALEDPRODUCTS_H
