//===- UnscaledProducts.h - Products of linalg that paths -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of elements as they are.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_UNSCALEDPRODUCTS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_UNSCALEDPRODUCTS_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::blockscale {

/// Whether `op` is a product of linalg on tensors, in a function, whose form a
/// path may take: each dimension once in two operands, sums of f32, nothing
/// empty. What its elements are is in its row.
bool isUnscaledProduct(ProductOpInterface op);

/// Replaces `op`, such a product, by its plain form if `isTaken` says of it
/// that it is wanted, and returns that; else leaves `op` as it is, and returns
/// null. In the plain form dimensions are in the order of `mma_scaled`: where
/// they are in another one, operands are transposed.
ProductOpInterface
replaceByPlain(ProductOpInterface op,
               function_ref<bool(ProductOpInterface)> isTaken);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_SELECTION_UNSCALEDPRODUCTS_H
