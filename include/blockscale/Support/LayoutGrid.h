//===- LayoutGrid.h - Layouts as tables -------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The positions of all elements of a matrix, evaluated from the layout tables,
// for people and for other programs. The lowering does not use them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_LAYOUTGRID_H
#define BLOCKSCALE_SUPPORT_LAYOUTGRID_H

#include "blockscale/Support/PairLayout.h"
#include "blockscale/Support/SharedLayout.h"
#include "blockscale/Support/TensorMemory.h"

#include <string>
#include <vector>

namespace mlir::blockscale {

/// The position of one element, such as (lane, register, slot).
using Position = std::vector<int64_t>;

/// A matrix and the positions of its elements. A row is divided into cells of
/// `run` columns, and `cells` has the position of the first column of each, row
/// by row; the last coordinate increases by one for each further column.
/// Invariants: `cells.size() * run == rows * columns`, and each has the size of
/// `coordinates`.
struct LayoutGrid {
  std::string title;
  std::string rowName, columnName;
  int64_t rows, columns;
  /// The elements that a column stands for: those of a chunk of 16 bytes, or 1.
  int64_t unit;
  /// The names of the coordinates.
  std::vector<std::string> coordinates;
  int64_t run;
  std::vector<Position> cells;
};

/// A, B or C of one `mma.sync` with elements in `slot`.
LayoutGrid getFragmentGrid(Operand operand, Slot slot);

/// B of one `mma.sp` with elements in `slot`, and the fields of its metadata
/// for `k` logical elements, a word of each lane for half of them.
LayoutGrid getSparseBGrid(Slot slot);
LayoutGrid getMetadataGrid(int64_t k);

/// A or B of the two `mma.sync` of one step, as 16-bit values in `order`.
LayoutGrid getPairGrid(Operand operand, PairOrder order);

/// The same for the two `mma.sp` of one step, 64 logical elements; and the
/// fields of their metadata, a column for each chunk.
LayoutGrid getSparsePairGrid(Operand operand, Granularity granularity);
LayoutGrid getPairMetadataGrid(Granularity granularity);

/// The scales of one register of A or B, a word for each of 32 rows.
LayoutGrid getScaleFragmentGrid(Operand operand);

/// A tile of shared memory: columns, one after the other, of `rows` rows of
/// `rowBytes` bytes.
struct TileShape {
  int64_t columns, rows, rowBytes;
};

/// A or B in shared memory. A column is a chunk of 16 bytes, and its position
/// is the first byte of it; the tile starts at `firstByte`.
LayoutGrid getTileGrid(Operand operand, const TileLayout &layout, Slot slot,
                       const TileShape &shape, int64_t firstByte);

/// Metadata in shared memory (T8): chunks of the rows of the tile, each of them
/// rows of 8 or 16 bytes, whose halves may be swapped in every other group of 8
/// rows. A column is what one instruction reads of a row.
LayoutGrid getMetadataTileGrid(const TileShape &shape, int64_t k,
                               bool isSwapped, int64_t firstByte);

/// Scales in shared memory in `order`, whose dimensions are the coordinates.
LayoutGrid getScaleTileGrid(Operand operand, ScaleOrder order,
                            const std::vector<int64_t> &shape,
                            int64_t firstByte);

/// Scales in tensor memory, from `firstColumn` on.
LayoutGrid getTensorScaleGrid(Operand operand, int64_t rows, int64_t blocks,
                              int64_t copies, int64_t firstColumn);

/// Metadata in tensor memory, `columns` of them from `firstColumn` on, for
/// instructions with this K.
LayoutGrid getTensorMetadataGrid(int64_t columns, int64_t k,
                                 int64_t firstColumn);

/// Sums in tensor memory, from `firstColumn` on.
LayoutGrid getTensorAccGrid(const AccLayout &layout, int64_t n,
                            int64_t firstColumn);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_LAYOUTGRID_H
