//===- FormProduct.h - Kernels for one product ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_FORMPRODUCT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_FORMPRODUCT_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::blockscale {

/// Gives `op`, on tensors in a function, the kernels of its path, which take
/// over, as far as they can:
/// * the elementwise op that makes nothing but the accumulator,
/// * the elementwise op that is all that uses the result,
/// * the `quantize` that is all that uses the result of both, with what packs
///   its codes and swizzles its scales.
/// What is behind `op` of these is erased. Returns what replaced the last
/// results: nothing where `op` lacks attributes and is left as it is. Fails
/// after an error.
FailureOr<SmallVector<Value>> formProduct(RewriterBase &rewriter,
                                          SymbolTableCollection &symbols,
                                          ProductOpInterface op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_FORMKERNELS_FORMPRODUCT_H
