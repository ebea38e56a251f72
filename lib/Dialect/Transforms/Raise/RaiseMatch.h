//===- RaiseMatch.h - Contractions as mma_scaled ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEMATCH_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEMATCH_H

#include "Raise/RaiseBlocks.h"
#include "blockscale/Dialect/Transforms/Transforms.h"

namespace mlir::blockscale {

/// Matches `op` as an `mma_scaled`. If `op` is a contraction with block scales
/// that does not match, `reason` says why.
std::optional<RaiseMatch>
matchMmaScaled(Operation *op, const RaiseOptions &options, std::string &reason);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEMATCH_H
