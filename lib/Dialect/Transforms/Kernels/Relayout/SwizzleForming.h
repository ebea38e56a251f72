//===- SwizzleForming.h - Launches of scale swizzle kernels -----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `swizzle_scales` op that no quantize kernel fuses gets a kernel of its own.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_SWIZZLEFORMING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_SWIZZLEFORMING_H

#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::blockscale {

/// Gives `op`, on tensors in a function, a kernel. Returns what replaced the
/// result: nothing if `op` stays, to be fused into the kernel of the `quantize`
/// that makes the scales. Fails after an error.
FailureOr<SmallVector<Value>> formSwizzle(RewriterBase &rewriter,
                                          SymbolTableCollection &symbols,
                                          SwizzleScalesOp op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_RELAYOUT_SWIZZLEFORMING_H
