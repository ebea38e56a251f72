//===- PaddedTiles.h - Where tiles of groups start --------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_PADDEDTILES_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_PADDEDTILES_H

#include "mlir/IR/AffineExpr.h"

namespace mlir::blockscale {

/// The first tile, of `tileRows` rows, of a group whose first row is `row` and
/// whose number is `group`. Groups before it have room: each wastes less than a
/// tile. So nobody needs to add up the tiles of all groups.
inline AffineExpr getFirstPaddedTile(AffineExpr row, AffineExpr group,
                                     int64_t tileRows) {
  return (row + group * (tileRows - 1)).floorDiv(tileRows);
}

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_UTILS_PADDEDTILES_H
