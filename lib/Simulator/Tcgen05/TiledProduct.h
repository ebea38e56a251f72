//===- TiledProduct.h - The product of one tcgen05.mma ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the operands of a tcgen05.mma that has been checked, multiplies them in
// tiles of 16 x 8, and writes D.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TILEDPRODUCT_H
#define BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TILEDPRODUCT_H

#include "Memory/Storage.h"
#include "SharedDescriptors/SharedTile.h"
#include "Tcgen05/InstructionDescriptor.h"
#include "Tcgen05/ScaleFactors.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir::blockscale::sim {

/// A or B: chunks in shared memory, or columns of tensor memory.
struct ProductOperand {
  ElementPacking packing;
  bool isInTensorMemory = false;
  unsigned column = 0;
  /// See findChunks; the same in each block of a CTA pair.
  bool isTransposed = false;
  unsigned rows = 0;
  /// Rows at the beginning that are not multiplied.
  unsigned firstRow = 0;
  std::vector<uint32_t> offsets;
  std::array<const Storage *, 2> storages = {};
};

struct ProductOutcome {
  std::optional<std::string> error, warning;
  /// A warning that is an error with --check=strict.
  std::optional<std::string> strict;
};

struct TiledProduct {
  InstructionDescriptor descriptor;
  unsigned numBlocks;
  std::array<TensorMemory *, 2> memories = {};
  ProductOperand a, b;
  /// The first column of the metadata of a sparse A.
  unsigned metadataColumn = 0;
  ScaleFactors scaleA, scaleB;
  /// Elements that share a scale, of which a sparse A has kept so many; 0
  /// without scales.
  unsigned blockSize = 0;
  /// The number of the target whose adder is to be used; 0 for exact sums.
  unsigned adderTarget = 0;

  /// The layout of D: rows of each block, parts of the columns, which are in
  /// consecutive lanes, and whether each group of 32 lanes holds 16 rows.
  unsigned rows, numParts;
  bool isSpread;
  unsigned baseLane, column;
  bool addsD;
  unsigned inputShift;
  llvm::ArrayRef<Tcgen05Lanes> disabledLanes;
  /// By column of D: whether the column of B counts as 0. Empty if none does.
  std::vector<bool> zeroColumns;

  ProductOutcome run();

  /// The lane of a row of D (and of A, if it is in tensor memory).
  unsigned getLane(unsigned row, unsigned part) const {
    if (isSpread)
      return row / 16 * kTensorWarpLanes + row % 16 + baseLane;
    return part * rows + row;
  }
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TCGEN05_TILEDPRODUCT_H
