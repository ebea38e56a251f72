//===- AccFragment.h - Accumulator elements of a lane -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accumulator fragment (C) of mma.sync, from Support/FragmentLayout.h. The
// D of wgmma, and the result of tcgen05.ld.16x256b, consist of such fragments
// side by side, so these functions give the lane and register of an
// accumulator's element for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ACCFRAGMENT_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ACCFRAGMENT_H

#include "blockscale/Support/FragmentLayout.h"
#include "mlir/IR/AffineExpr.h"

namespace mlir::blockscale {

/// The neighbouring lanes that share a row: a quad.
inline constexpr int64_t kLanesOfRow = kWarpLanes / kGroupRows;

/// Rows of a fragment that each lane has; they are `kGroupRows` apart.
inline constexpr int64_t kRowsOfLane = 2;

/// The consecutive elements of a row in a lane.
inline constexpr int64_t kColumnsOfLane = 2;

/// The extents of a fragment, and its registers in a lane.
inline const FragmentLayout &getAccFragment() {
  return getFragmentLayout(Operand::C, kSumBits);
}

/// The position in the fragment of register `reg` of `lane`.
struct AccPosition {
  AffineExpr row, column;
};
AccPosition getAccPosition(AffineExpr lane, unsigned reg);

/// The distance of register `reg` from register 0 of the same lane, as (row,
/// column). Registers after the last one are those of the next fragment, which
/// has the next columns.
std::array<int64_t, 2> getAccOffset(int64_t reg);

/// The register of the lane's column `column` in the lane's row `row`.
int64_t getAccRegister(int64_t row, int64_t column);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_ACCFRAGMENT_H
