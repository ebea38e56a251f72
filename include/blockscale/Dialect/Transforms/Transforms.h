//===- Transforms.h - Patterns of the passes --------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_TRANSFORMS_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_TRANSFORMS_H

#include "blockscale/Support/Formats.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// `mma_scaled` to `linalg.generic` on decoded f64 operands; reads through
/// transposes and `unswizzle_scales`. Apply before the patterns below.
void populateDecomposeMmaScaledPatterns(RewritePatternSet &patterns);

/// `swizzle_scales` and `unswizzle_scales` to `linalg.generic`.
void populateDecomposeSwizzlePatterns(RewritePatternSet &patterns);

/// Emits the exact value, in f64, of `code`: an integer of 8 bits, or a vector
/// or tensor of them, with the code of `format` in its low bits. Its shape must
/// be static: the arithmetic needs constants of it.
Value emitDecode(OpBuilder &builder, Location loc, Value code, Format format);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_TRANSFORMS_H
