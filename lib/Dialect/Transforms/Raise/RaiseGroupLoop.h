//===- RaiseGroupLoop.h - Loops over groups of rows ----------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixtures of experts as a loop: each step multiplies the rows of one group, a
// slice of x, by the matrix of the group, a slice of y.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEGROUPLOOP_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEGROUPLOOP_H

#include "Raise/RaiseVerdict.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Whether the pattern below raises `op`; nullopt if it is no loop over groups.
std::optional<Verdict> judgeGroupLoop(Operation *op,
                                      const RaiseOptions &options);

/// Adds a pattern that makes `grouped_matmul` or `grouped_mma_scaled` of a loop
/// over groups.
void populateRaiseGroupLoopPatterns(RewritePatternSet &patterns);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEGROUPLOOP_H
