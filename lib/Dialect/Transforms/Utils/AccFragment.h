//===- AccFragment.h - Which lane has which sum -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fragment of C of mma.sync, from Support/FragmentLayout.h. The D of a
// wgmma, and what a tcgen05.ld.16x256b loads, are such fragments side by side,
// so all who ask which lane and register hold an accumulator's element ask
// here.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ACCFRAGMENT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ACCFRAGMENT_H

#include "blockscale/Support/FragmentLayout.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::blockscale {

/// Lanes that share a row: neighbors, which are a quad.
inline constexpr int64_t kLanesOfRow = kWarpLanes / kGroupRows;

/// Rows of a fragment that each lane has; they are `kGroupRows` apart.
inline constexpr int64_t kRowsOfLane = 2;

/// Neighbors in a row that a lane has.
inline constexpr int64_t kColumnsOfLane = 2;

/// The extents of a fragment, and the registers that a lane has of it.
inline const FragmentLayout &getAccFragment() {
  return getFragmentLayout(Operand::C, kSumBits);
}

/// The place in the fragment of register `reg` of `lane`.
struct AccPosition {
  AffineExpr row, column;
};
AccPosition getAccPosition(AffineExpr lane, unsigned reg);

/// How much further than register 0 of the same lane register `reg` is, as
/// (row, column). Registers behind the last one are those of the fragment
/// beside it, which has the next columns.
std::array<int64_t, 2> getAccOffset(int64_t reg);

/// The register with column number `column` of row number `row`, of those that
/// a lane has.
int64_t getAccRegister(int64_t row, int64_t column);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ACCFRAGMENT_H
