//===- RaiseRowGroups.h - Rows that name their groups --------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixtures of experts as a contraction: each row of x names the matrix of y
// that it is multiplied by, which `tensor.extract` reads in the body.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEROWGROUPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEROWGROUPS_H

#include "Raise/RaiseVerdict.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::blockscale {

/// Whether the pattern below raises `op`; nullopt if it is no contraction whose
/// rows name their groups.
std::optional<Verdict> judgeRowGroups(Operation *op,
                                      const RaiseOptions &options);

/// Adds a pattern that makes `sort_routes`, a grouped product and
/// `combine_rows` of a contraction whose rows name their groups.
void populateRaiseRowGroupsPatterns(RewritePatternSet &patterns,
                                    const RaiseOptions &options);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_RAISEROWGROUPS_H
