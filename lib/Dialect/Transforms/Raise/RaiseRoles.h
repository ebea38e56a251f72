//===- RaiseRoles.h - Roles of factors --------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries on a contraction and its factors, for the matchers of both forms:
// `mma_scaled`, and weight-only quantization.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEROLES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEROLES_H

#include "Raise/RaiseContraction.h"
#include "Raise/RaiseFactors.h"

namespace mlir::blockscale {

/// Whether `factor` is a scale, independent of other factors.
bool isScale(const Factor &factor);

bool isReadBy(const Factor &factor, AffineExpr loop);

/// Whether both are indexed by M, or both by N.
bool haveOneRow(const Factor &first, const Factor &second,
                const Contraction &contraction);

/// Whether `factor` is read at one index for several steps along K.
bool isCoarse(const Factor &factor, const Contraction &contraction);

/// Whether `contraction` is a sum of products in f32. `reason` says why not.
bool checkSum(const Contraction &contraction, std::string &reason);

/// Whether the loops of `contraction` are M, N, and K (or blocks and elements
/// of K), and at most one batch.
bool checkLoops(const Contraction &contraction, std::string &reason);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEROLES_H
