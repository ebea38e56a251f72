//===- ProductTerms.h - Products as one sum of terms ------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The form of products whose error is bounded term by term.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_PRODUCTTERMS_H
#define BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_PRODUCTTERMS_H

#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace mlir::blockscale {

/// Patterns that replace `mma_scaled` with coarse scales, or with a licence, by
/// one sum of terms, as `populateDecomposeMmaScaledPatterns` does for others:
/// each term is an element of x times its scale, times one of y times its
/// scale, in f64. With coarse scales, the sum differs from the definition by
/// rounding errors of f64, which error bounds cover, and with an infinite
/// scale: terms of both signs are NaN then.
///
/// With a licence (`#blockscale.accumulate`), the sum has two more inputs,
/// which are in no term: for each element of x and of y the smallest normal
/// number of the tensor core's format times the scale of the element or, with
/// `rebase`, times the largest scale of its row or column. Signs are those of
/// scales.
void populateDecomposeProductTermsPatterns(RewritePatternSet &patterns);

/// What else is known of such a sum.
struct LicensedSum {
  /// The terms along K that tensor cores may add up.
  int64_t piece;
  /// How far an element may move, over its smallest normal number; 0 without
  /// `rebase`.
  double xMove, yMove;
};

/// Nullopt for other ops.
std::optional<LicensedSum> getLicensedSum(Operation *op);
void unmarkLicensedSum(Operation *op);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_DIALECT_TRANSFORMS_REFERENCE_PRODUCTTERMS_H
