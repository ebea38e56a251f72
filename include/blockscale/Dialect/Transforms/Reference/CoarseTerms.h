//===- CoarseTerms.h - Products with coarse scales, by terms ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_COARSETERMS_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_COARSETERMS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Patterns that replace `mma_scaled` with coarse scales by one sum of terms,
/// as `populateDecomposeMmaScaledPatterns` does for others: each term is an
/// element of x times its scale, times one of y times its scale, in f64. The
/// sum differs from the definition by rounding errors of f64, which error
/// bounds cover, and with an infinite scale: terms of both signs are NaN then.
void populateDecomposeCoarseTermsPatterns(RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_COARSETERMS_H
