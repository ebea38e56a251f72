//===- TunedRows.h - What was measured of our kernels -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measured facts that the choice of schedules goes by. Rates.h has the speed of
// chips; here is how fast the kernels of this project are on them. Each row has
// the compute capability and the name of the card, and the benchmark that gave
// it. A chip without rows of its own takes those of the next older chip that
// has some or, where there is none, those of the oldest.
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

/// The best tile for results of few rows. Of the path dequant_mma, rows and
/// columns may have changed places.
struct TunedTile {
  unsigned capability;
  Path path;
  /// For results of up to so many rows, and elements of y of so many bits or
  /// more.
  int64_t mostM;
  unsigned leastBits;
  /// What a tile has of y, and of x. On the path wgmma, 0 stands for all rows
  /// of x, and 1 for the kernel of one row, for which all of K has to fit.
  int64_t rowsOfY, rowsOfX;
  /// Elements along K of a tile; on the path wgmma, of each part of one that
  /// warpgroups take, or fewer where K asks for that.
  int64_t k;
  /// The warps of a block, along y; 0 on the path wgmma, where the tile says
  /// it.
  int64_t warps;
  /// As many as there is room for, up to so many.
  int64_t stages;
  /// Into how many parts K is divided at least; and for how many blocks on each
  /// SM it is divided further, which on the path wgmma is decided
  /// by those that are idle.
  int64_t splitK, blocks;
  std::string_view card, benchmark;
};

/// The tiles of `path` for the chip, in the order in which they are tried.
std::vector<TunedTile> getTunedTiles(unsigned capability, Path path);

/// `tile` as it stands in the table.
std::string printTunedTile(const TunedTile &tile);

/// A tile of the path wgmma for more rows than those, with codes of y of so
/// many bits: rows of y and of x, elements of K in each part of a stage, and
/// how much longer it takes than torch.mm of bf16.
struct TunedWideTile {
  unsigned capability;
  unsigned bits;
  int64_t rowsOfY, rowsOfX, k, stages;
  double cost;
  std::string_view card, benchmark;
};

std::vector<TunedWideTile> getTunedWideTiles(unsigned capability);

/// Where one way of computing a product becomes better than another.
struct TunedLimits {
  unsigned capability;

  /// With codes of y converted in registers: at most so many rows, from where
  /// on it is better to write numbers of y to memory first; at least so many
  /// columns; and with a TunedWideTile at least so many products.
  int64_t mostRows, leastColumns, leastProducts;
  /// Of up to so many rows of numbers, products with codes of y that do not go
  /// to wgmma go to mma.sync: y is read once, and not written.
  int64_t mostSyncRows;

  /// For products with scales: multiply-adds in a nanosecond of mma.sync, whose
  /// operands are converted in registers, and of wgmma, whose operands are
  /// written to memory first; bytes in a nanosecond of the kernels that write
  /// them; launches and the end of a kernel, in nanoseconds.
  uint64_t syncProducts, wgmmaProducts, writtenBytes, launches;

  /// Bytes of operands that a block of wgmma gets in a clock.
  uint64_t blockBytes;

  /// From the end of a kernel to the work of the next one, in nanoseconds.
  uint64_t nextKernel;
  std::string_view card, benchmark;
};

TunedLimits getTunedLimits(unsigned capability);

/// One of several functions for the same product, of sizes that are not known:
/// what is compiled for a function with the attribute `blockscale.rows`.
struct TunedRows {
  unsigned capability;
  /// The value of the attribute.
  std::string_view name;
  /// It is the best of them for up to so many rows.
  int64_t mostM;
  /// On the path dequant_mma, into how many parts K is divided, with the
  /// TunedTile for so many rows; 0 for what is chosen without the attribute.
  int64_t splitK;
  std::string_view card, benchmark;
};

std::vector<TunedRows> getTunedRows(unsigned capability);

/// The row of that name; nullopt if there is none.
std::optional<TunedRows> lookupTunedRows(unsigned capability,
                                         std::string_view name);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_TUNEDROWS_H
