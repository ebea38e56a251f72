//===- QuantizeForming.h - Launches of quantising kernels -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEFORMING_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEFORMING_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Has codes of fp4 that ops of `function` quantise packed, and unpacked for
/// their users, who read through that.
void packQuantizedCodes(Operation *function);

/// `quantize` on tensors to `launch`, with what packs its codes and swizzles
/// its scales. Its users come first: then what they ask of it is there.
void populateFormQuantizePatterns(RewritePatternSet &patterns);

/// `dequantize` on tensors to `launch`, of codes that follow each other.
void populateFormDequantizePatterns(RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_QUANTIZE_QUANTIZEFORMING_H
