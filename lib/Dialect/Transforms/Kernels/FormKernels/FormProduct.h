//===- FormProduct.h - The kernels of one GEMM ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which launches replace a product, and which ops around it are fused.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_FORMPRODUCT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_FORMPRODUCT_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::blockscale {

/// Gives `op`, on tensors in a function, the kernels of its path. They fuse, as
/// far as they can:
/// * the elementwise op that makes only the accumulator,
/// * the elementwise op that is the only use of the result,
/// * the `quantize` that is the only use of that result, with the ops that pack
///   its elements and swizzle its scales. Fused ops behind `op` are erased.
///   Returns what replaced the last results: nothing if `op` lacks attributes
///   and stays. Fails after an error.
FailureOr<SmallVector<Value>> formProduct(RewriterBase &rewriter,
                                          SymbolTableCollection &symbols,
                                          ProductOpInterface op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_FORMPRODUCT_H
