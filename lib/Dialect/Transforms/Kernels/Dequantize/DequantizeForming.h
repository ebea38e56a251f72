//===- DequantizeForming.h - Launches of dequantize kernels -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `dequantize` op that no GEMM fuses gets a kernel of its own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEFORMING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEFORMING_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::blockscale {

/// Gives `op`, on tensors in a function for a GPU, a kernel, if its quantized
/// elements are contiguous along K. Returns what replaced the results: nothing
/// if `op` stays and becomes loops. Fails after an error.
FailureOr<SmallVector<Value>> formDequantize(RewriterBase &rewriter,
                                             SymbolTableCollection &symbols,
                                             DequantizeOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_DEQUANTIZE_DEQUANTIZEFORMING_H
