//===- TunedRows.cpp - Measured tuning tables -----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one file with measurements that choose schedules. `blockscale-run
// --tune` prints rows of the first table.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/TunedRows.h"

#include <limits>
#include <utility>

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Tables, by compute capability
//===----------------------------------------------------------------------===//

static constexpr int64_t kMany = std::numeric_limits<int64_t>::max();

// clang-format off
// capability, path, most M, least bits, rows of y, rows of x, K, warps, stages, splitK, blocks
static constexpr TunedTile kTiles[] = {
    {90, Path::DequantMma,  16, 4, 128, 16, 128, 2, 2, 1, 4, "H200", "benchmarks/gpu.py, 8192 x 8192 weights"},
    {90, Path::DequantMma,  32, 4, 128, 32, 128, 4, 2, 1, 4, "H200", "benchmarks/gpu.py, 8192 x 8192 weights"},
    {90, Path::DequantMma,  64, 4, 128, 64, 128, 4, 2, 1, 2, "H200", "benchmarks/gpu.py, 8192 x 8192 weights"},
    // Of one row, more rows of y where all of K does not fit.
    {90, Path::Wgmma,     1, 4,  64,  1, 256, 0, 2, 1, 0, "H200", "benchmarks/gpu.py tune"},
    {90, Path::Wgmma,     1, 4, 128,  1, 256, 0, 2, 2, 0, "H200", "benchmarks/gpu.py tune"},
    {90, Path::Wgmma,     1, 4, 128,  1, 256, 0, 2, 4, 0, "H200", "benchmarks/gpu.py tune"},
    {90, Path::Wgmma,    16, 8,  64,  0, 128, 0, 4, 1, 0, "H200", "benchmarks/gpu.py tune"},
    {90, Path::Wgmma,    16, 4,  64,  0, 256, 0, 3, 1, 0, "H200", "benchmarks/gpu.py tune"},
    {90, Path::Wgmma,    64, 4,  64,  0, 128, 0, 4, 1, 0, "H200", "benchmarks/gpu.py tune"},
    {90, Path::Wgmma,   128, 4,  64,  0, 128, 0, 3, 1, 0, "H200", "benchmarks/gpu.py tune"},
    {90, Path::Wgmma,   192, 4,  64,  0, 128, 0, 3, 1, 0, "H100", "benchmarks/tune_rows.py"},
    {90, Path::Wgmma,   256, 8,  64,  0,  64, 0, 3, 1, 0, "H200", "benchmarks/gpu.py tune"},
};

// capability, bits, rows of y, rows of x, K, stages, cost
static constexpr TunedWideTile kWideTiles[] = {
    {90, 8, 128, 256, 128, 3, 1.14, "H200", "benchmarks/tune_rows.py"},
    {90, 8,  64, 256,  64, 3, 1.23, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 128, 192, 128, 3, 1.20, "H200", "benchmarks/tune_rows.py"},
    {90, 8,  64, 192, 128, 2, 1.29, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 128, 128, 128, 4, 1.39, "H200", "benchmarks/tune_rows.py"},
    {90, 8,  64, 128, 128, 3, 1.47, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 128, 256, 128, 3, 1.12, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 128, 192, 128, 4, 1.16, "H200", "benchmarks/tune_rows.py"},
    {90, 4,  64, 192, 128, 2, 1.27, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 128, 128, 128, 4, 1.29, "H200", "benchmarks/tune_rows.py"},
    {90, 4,  64, 128, 128, 3, 1.43, "H200", "benchmarks/tune_rows.py"},
};

// capability, least bits, most bits, most rows, rows of y, rows of x, K, stages, most ranges, cost
static constexpr TunedRowRange kRowRanges[] = {
    {90, 8, 8,    8,  64,   8, 128, 4, 16,    0, "H100", "benchmarks/tune_rows.py"},
    {90, 8, 8,   16,  64,  16, 128, 4, 16,    0, "H100", "benchmarks/tune_rows.py"},
    {90, 4, 4,    8,  64,   8, 256, 3, 16,    0, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 4,   16,  64,  16, 256, 3, 16,    0, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 8,   32,  64,  32, 128, 4, 16,    0, "H100", "benchmarks/tune_rows.py"},
    {90, 4, 8,   48,  64,  48, 128, 3, 16,    0, "H100", "benchmarks/tune_rows.py"},
    {90, 4, 8,   64,  64,  64, 128, 4, 16, 3300, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 8,   64,  64,  32, 128, 4,  1, 5500, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 8,   96,  64,  96, 128, 3, 16,    0, "H200", "benchmarks/torch_linear.py"},
    {90, 4, 8,  128,  64, 128, 128, 3, 16, 2550, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 8,  128,  64,  64, 128, 2,  1, 3300, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 8,  160,  64, 160, 128, 2, 16, 2270, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 8,  160,  64,  80, 128, 4,  1, 3500, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 8,  192,  64, 192, 128, 2, 16, 2150, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 8,  192,  64,  96, 128, 4,  1, 3340, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 8,  256,  64, 256,  64, 3,  1, 2310, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 8,  256,  64, 128, 128, 2,  1, 2760, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 8,  256, 128, 256, 128, 2,  1, 2140, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 4,  256, 128, 128, 128, 4,  4, 2300, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 4,  256,  64, 128, 128, 3,  1, 2550, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 4,  256, 128, 256, 128, 3,  1, 1990, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 8, 4096, 128, 256, 128, 2,  1, 2140, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 8, 4096,  64, 256,  64, 3,  1, 2310, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 8, 4096, 128, 192, 128, 3,  1, 2260, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 8, 4096,  64, 192, 128, 2,  1, 2430, "H200", "benchmarks/tune_rows.py"},
    {90, 8, 8, 4096, 128, 128, 128, 4,  1, 2620, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 4, 4096, 128, 256, 128, 3,  1, 1990, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 4, 4096, 128, 192, 128, 4,  1, 2070, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 4, 4096,  64, 192, 128, 2,  1, 2260, "H200", "benchmarks/tune_rows.py"},
    {90, 4, 4, 4096, 128, 128, 128, 4,  1, 2300, "H200", "benchmarks/tune_rows.py"},
};

// capability, least bits, most bits, most rows of a group, rows of y, rows of x, K, stages, blocks of an SM
static constexpr TunedGroupTile kGroupTiles[] = {
    {90, 4, 4,     4,  64,   8, 256, 3, 2, "H200", "benchmarks/moe.py"},
    {90, 8, 8,     4,  64,   8, 128, 4, 2, "H200", "benchmarks/moe.py"},
    {90, 4, 4,    10, 128,  16, 256, 3, 2, "H200", "benchmarks/moe.py"},
    {90, 8, 8,    10, 128,  16, 128, 3, 2, "H200", "benchmarks/moe.py"},
    {90, 4, 4,    16, 128,  32, 128, 5, 2, "H200", "benchmarks/moe.py"},
    {90, 8, 8,    16, 128,  32, 128, 3, 2, "H200", "benchmarks/moe.py"},
    {90, 4, 4,    40, 128,  64, 128, 4, 2, "H200", "benchmarks/moe.py"},
    {90, 8, 8,    40, 128,  64, 128, 3, 2, "H200", "benchmarks/moe.py"},
    {90, 4, 8,   256, 128, 128, 128, 4, 1, "H200", "benchmarks/moe.py"},
    {90, 4, 4, kMany, 128, 192, 128, 4, 1, "H200", "benchmarks/moe.py"},
    {90, 8, 8, kMany, 128, 192, 128, 3, 1, "H200", "benchmarks/moe.py"},
};

// capability, mixed input, most rows of a group, rows of x, rows of y, warps along both
static constexpr TunedGroupRows kGroupRows[] = {
    {90, true,     10,  16, 128, 1, 4, "H200", "benchmarks/moe.py --target=sm_80"},
    {90, true,     40,  32, 128, 1, 4, "H200", "benchmarks/moe.py --target=sm_80"},
    {90, true,    256,  64, 128, 1, 4, "H200", "benchmarks/moe.py --target=sm_80"},
    {90, true,  kMany, 128, 128, 1, 4, "H200", "benchmarks/moe.py --target=sm_80"},
    // Not measured: with few rows, those of mixed input.
    {90, false,    10,  16, 128, 1, 4, "H200", "benchmarks/moe.py --target=sm_80"},
    {90, false,    40,  32, 128, 1, 4, "H200", "benchmarks/moe.py --target=sm_80"},
    {90, false, kMany, 128, 128, 2, 2, "H200", "benchmarks/moe.py --target=sm_80"},
};

// capability, bits, most columns, rows of x, rows of y, cost
static constexpr TunedSparseTile kSparseTiles[] = {
    {90, 8,    64,  64,  64, 1.00, "H200", "benchmarks/sparse_fallback.py"},
    {90, 4,    64,  64,  64, 1.00, "H200", "benchmarks/sparse_fallback.py"},
    {90, 8, kMany, 128, 256, 1.00, "H200", "benchmarks/sparse_fallback.py"},
    {90, 8, kMany, 128, 192, 1.08, "H200", "benchmarks/sparse_fallback.py"},
    {90, 8, kMany, 128, 128, 1.32, "H200", "benchmarks/sparse_fallback.py"},
    {90, 8, kMany,  64, 256, 1.42, "H200", "benchmarks/sparse_fallback.py"},
    {90, 8, kMany,  64, 128, 1.75, "H200", "benchmarks/sparse_fallback.py"},
    {90, 4, kMany, 128, 192, 0.98, "H200", "benchmarks/sparse_fallback.py"},
    {90, 4, kMany, 128, 128, 1.00, "H200", "benchmarks/sparse_fallback.py"},
    {90, 4, kMany,  64, 192, 1.34, "H200", "benchmarks/sparse_fallback.py"},
    {90, 4, kMany,  64, 128, 1.44, "H200", "benchmarks/sparse_fallback.py"},
};

static constexpr TunedLimits kLimits[] = {
    {90,
     4096,          // rows up to which elements are dequantized in registers
     1024,          // columns from which on they are
     1 << 30,       // products from which on they are, with a wide tile
     64,            // rows up to which mma.sync takes what wgmma does not
     120'000, 325'000, 4'000, 6'000, // 2048- to 8192-cubed
     120'000,       // benchmarks/sparse_fallback.py, 2048-cubed
     64,            // the same, 543 us instead of 563 at 4096-cubed
     48,            // bytes for a block in a clock
     2000,          // assumed: 900 for each of many kernels that add 32768 sums,
                    // in a CUDA graph, and more in a stream
     "H200", "benchmarks/gpu.py"},
};

// The names, and which rows are better in one way than in another.
static constexpr TunedRows kRows[] = {
    {90, "few",    16, 8, "H200", "benchmarks/torch_linear.py --variants"},
    {90, "some",   64, 4, "H200", "benchmarks/torch_linear.py --variants"},
    {90, "tile",  256, 0, "H200", "benchmarks/torch_linear.py --variants"},
};
// clang-format on

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

/// The capability whose rows count for a chip: of those that `hasRow` has, the
/// newest that is not newer than the chip, else the oldest.
template <typename Row, size_t size, typename Predicate>
static std::vector<Row> findRows(const Row (&rows)[size], unsigned capability,
                                 Predicate isAsked) {
  std::optional<unsigned> best;
  for (const Row &row : rows) {
    if (!isAsked(row))
      continue;
    bool isOld = row.capability <= capability;
    if (!best || (isOld && (*best > capability || row.capability > *best)) ||
        (!isOld && *best > capability && row.capability < *best))
      best = row.capability;
  }
  std::vector<Row> found;
  for (const Row &row : rows)
    if (isAsked(row) && row.capability == best)
      found.push_back(row);
  return found;
}

template <typename Row, size_t size>
static std::vector<Row> findRows(const Row (&rows)[size], unsigned capability) {
  return findRows(rows, capability, [](const Row &) { return true; });
}

std::vector<TunedTile> blockscale::getTunedTiles(unsigned capability,
                                                 Path path) {
  return findRows(kTiles, capability,
                  [&](const TunedTile &row) { return row.path == path; });
}

std::vector<TunedWideTile> blockscale::getTunedWideTiles(unsigned capability) {
  return findRows(kWideTiles, capability);
}

std::vector<TunedRowRange> blockscale::getTunedRowRanges(unsigned capability) {
  return findRows(kRowRanges, capability);
}

std::vector<TunedGroupTile>
blockscale::getTunedGroupTiles(unsigned capability) {
  return findRows(kGroupTiles, capability);
}

std::vector<TunedGroupRows> blockscale::getTunedGroupRows(unsigned capability,
                                                          bool isMixedInput) {
  return findRows(kGroupRows, capability, [&](const TunedGroupRows &row) {
    return row.isMixedInput == isMixedInput;
  });
}

std::vector<TunedSparseTile>
blockscale::getTunedSparseTiles(unsigned capability) {
  return findRows(kSparseTiles, capability);
}

TunedLimits blockscale::getTunedLimits(unsigned capability) {
  return findRows(kLimits, capability).front();
}

std::vector<TunedRows> blockscale::getTunedRows(unsigned capability) {
  return findRows(kRows, capability);
}

std::optional<TunedRows> blockscale::lookupTunedRows(unsigned capability,
                                                     std::string_view name) {
  for (const TunedRows &row : getTunedRows(capability))
    if (row.name == name)
      return row;
  return std::nullopt;
}

std::string blockscale::printTunedTile(const TunedTile &tile) {
  constexpr std::pair<Path, const char *> names[] = {
      {Path::DequantMma, "Path::DequantMma"}, {Path::Wgmma, "Path::Wgmma"}};
  std::string text = "{" + std::to_string(tile.capability);
  for (auto [path, name] : names)
    if (path == tile.path)
      text += std::string(", ") + name;
  for (int64_t number :
       {tile.mostM, int64_t(tile.leastBits), tile.rowsOfY, tile.rowsOfX, tile.k,
        tile.warps, tile.stages, tile.splitK, tile.blocks})
    text += ", " + std::to_string(number);
  return text + ", \"" + std::string(tile.card) + "\", \"" +
         std::string(tile.benchmark) + "\"},";
}
