//===- TunedRows.h - Measured tuning tables ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measurements on which the choice of schedules is based. Rates.h has the speed
// of chips; this file has the speed of this project's kernels on them. Each row
// has the compute capability and the name of the card, and the benchmark that
// measured it. A chip without rows uses those of the next older chip that has
// some or, if there is none, those of the oldest.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_TUNEDROWS_H
#define BLOCKSCALE_SUPPORT_TUNEDROWS_H

#include "blockscale/Support/Paths.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

/// The best tile for results of few rows. On the path dequant_mma, rows and
/// columns may be swapped.
struct TunedTile {
  unsigned capability;
  Path path;
  /// For results of at most `mostM` rows, and elements of y of at least this
  /// many bits.
  int64_t mostM;
  unsigned leastBits;
  /// The rows of y and of x in a tile. On the path wgmma, 0 for rowsOfX means
  /// all rows of x, and 1 the GEMV kernel, for which all of K has to fit.
  int64_t rowsOfY, rowsOfX;
  /// The elements along K of a tile; on the path wgmma, of the share of each
  /// warpgroup, or fewer if K is small.
  int64_t k;
  /// The warps of a block, along y; 0 on the path wgmma, where the tile
  /// determines them.
  int64_t warps;
  /// The largest number of stages; there are as many as fit.
  int64_t stages;
  /// The smallest number of split-K ranges; and the number of blocks on each SM
  /// up to which K is split further. On the path wgmma, the number of idle SMs
  /// decides instead.
  int64_t splitK, blocks;
  std::string_view card, benchmark;
};

/// The tiles of `path` for the chip, in the order in which they are tried.
std::vector<TunedTile> getTunedTiles(unsigned capability, Path path);

/// `tile` as it is written in the table.
std::string printTunedTile(const TunedTile &tile);

/// A tile of the path wgmma for more rows, with elements of y of `bits` bits:
/// rows of y and of x, elements along K in each warpgroup's share of a stage,
/// and the time relative to torch.mm of bf16.
struct TunedWideTile {
  unsigned capability;
  unsigned bits;
  int64_t rowsOfY, rowsOfX, k, stages;
  double cost;
  std::string_view card, benchmark;
};

std::vector<TunedWideTile> getTunedWideTiles(unsigned capability);

/// A tile of mixed input for results of a number of rows that is known only at
/// the launch; see AlternativeAttr for its fields, and TunedTile for K.
struct TunedRowRange {
  unsigned capability;
  /// The bits of elements of y that it is for.
  unsigned leastBits, mostBits;
  int64_t mostRows, rowsOfY, rowsOfX, k, stages, mostRanges, cost;
  std::string_view card, benchmark;
};

std::vector<TunedRowRange> getTunedRowRanges(unsigned capability);

/// A tile of mixed input for groups of rows, which have at most `mostRows` rows
/// on average; see TunedRowRange.
struct TunedGroupTile {
  unsigned capability;
  unsigned leastBits, mostBits;
  int64_t mostRows, rowsOfY, rowsOfX, k, stages, blocksPerSm;
  std::string_view card, benchmark;
};

std::vector<TunedGroupTile> getTunedGroupTiles(unsigned capability);

/// A multistage tile and its warps for groups of rows, which have at most
/// `mostRows` rows on average.
struct TunedGroupRows {
  unsigned capability;
  /// Whether y is dequantized beside an x that is not.
  bool isMixedInput;
  int64_t mostRows, rowsOfX, rowsOfY, warpsOfX, warpsOfY;
  std::string_view card, benchmark;
};

/// By ascending rows; the last one is for any number.
std::vector<TunedGroupRows> getTunedGroupRows(unsigned capability,
                                              bool isMixedInput);

/// So many rows behind the last of x belong to its tile, at most: no tile is
/// larger, and those for few rows have at most 8, or twice as many.
inline constexpr int64_t kMostRowsBehind = 255, kFewRowsBehind = 7;

/// A tile of the path wgmma for a sparse x, whose elements have `bits` bits:
/// for at most `mostColumns` of the result, rows of x and of y (fewer where the
/// result has fewer columns), and the time relative to the best tile.
struct TunedSparseTile {
  unsigned capability;
  unsigned bits;
  int64_t mostColumns, rowsOfX, rowsOfY;
  double cost;
  std::string_view card, benchmark;
};

std::vector<TunedSparseTile> getTunedSparseTiles(unsigned capability);

/// The limits at which one way of computing a matmul becomes better than
/// another.
struct TunedLimits {
  unsigned capability;

  /// For y dequantized in registers: the most rows (beyond them it is better to
  /// dequantize y to memory first), the fewest columns, and with a
  /// TunedWideTile the fewest products.
  int64_t mostRows, leastColumns, leastProducts;
  /// Up to this many rows of x, mixed-input matmuls that do not use wgmma use
  /// mma.sync: y is read once, and not written.
  int64_t mostSyncRows;

  /// For matmuls of two quantized operands: multiply-adds per nanosecond of
  /// mma.sync, whose operands are dequantized in registers, and of wgmma, whose
  /// operands are dequantized to memory first; bytes per nanosecond of the
  /// kernels that dequantize; launches and the end of a kernel, in nanoseconds.
  uint64_t syncProducts, wgmmaProducts, writtenBytes, launches;
  /// The multiply-adds per nanosecond, those of what is not kept included, of
  /// mma.sp for a sparse operand that is dequantized in registers. (A dense
  /// product reads what a kernel in front decompresses.)
  uint64_t sparseProducts;
  /// The most columns of a tile of mma.sp with an x of fp8 or fp6: with
  /// more, ptxas spills what the dequantization of y needs.
  int64_t sparseColumns;

  /// The bytes of operands that a block with wgmma reads per clock.
  uint64_t blockBytes;

  /// From the end of a kernel to the work of the next one, in nanoseconds.
  uint64_t nextKernel;
  std::string_view card, benchmark;
};

TunedLimits getTunedLimits(unsigned capability);

/// One of several functions for the same matmul of dynamic sizes: how a
/// function with the attribute `blockscale.rows` is compiled.
struct TunedRows {
  unsigned capability;
  /// The value of the attribute.
  std::string_view name;
  /// It is the best of them for at most `mostM` rows.
  int64_t mostM;
  /// On the path dequant_mma, the number of split-K ranges, with the TunedTile
  /// for `mostM` rows; 0 for the choice without the attribute.
  int64_t splitK;
  std::string_view card, benchmark;
};

std::vector<TunedRows> getTunedRows(unsigned capability);

/// The row of that name; nullopt if there is none.
std::optional<TunedRows> lookupTunedRows(unsigned capability,
                                         std::string_view name);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_TUNEDROWS_H
