//===- QuantizeForming.h - Launches of quantize kernels ---------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `quantize` op that no GEMM epilogue fuses gets a kernel of its own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEFORMING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEFORMING_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::blockscale {

/// Gives `op`, on tensors in a function for a GPU, a kernel, which also packs
/// its elements and swizzles its scales; or rewrites it, in front of itself, to
/// a form that has one. Returns what replaced the results: nothing if `op`
/// stays, to become loops or to be fused into the product that makes x. Fails
/// after an error.
FailureOr<SmallVector<Value>> formQuantize(RewriterBase &rewriter,
                                           SymbolTableCollection &symbols,
                                           QuantizeOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEFORMING_H
