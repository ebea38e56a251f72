//===- MatchRowGroups.h - Rows that name their groups --------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contraction in which each row of x names the matrix of y that it is
// multiplied by.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_MATCHROWGROUPS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_MATCHROWGROUPS_H

#include "Raise/RaiseBlocks.h"

namespace mlir::blockscale {

/// acc[row, n] += x[row, k] * y[ids[row], k, n]. A row may be a pair of a token
/// and a slot; then x may have one row for all slots of a token.
struct RowGroups {
  Value x, y, ids, acc;
  int64_t numGroups = 0;
  /// Whether y is G x N x K.
  bool isYTransposed = false;
  /// Whether rows are pairs, and x has a row for each of them.
  bool haveSlots = false, hasXSlots = false;
  /// Whether operands are block-scaled; then they are these instead of x and y.
  bool isScaled = false;
  std::optional<RaiseMatch> scaled;

  /// The name of the grouped product.
  StringRef getTarget() const;
};

/// Matches `op`. If it is a contraction whose rows name their groups, but does
/// not match, `reason` says why, and `match` whether it is scaled.
bool matchRowGroups(linalg::GenericOp op, const RaiseOptions &options,
                    RowGroups &match, std::string &reason);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_RAISE_MATCHROWGROUPS_H
