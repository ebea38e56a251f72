//===- SharedTile.h - A tile in shared memory -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a stage holds of one operand: the bytes and their layout. TileLoader.h
// says how they get there.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_SHAREDTILE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_SHAREDTILE_H

#include "Kernels/Gemm/Problem/KernelProblem.h"

namespace mlir::blockscale {

/// A tile of elements, or of scales, of A or B.
struct SharedTile {
  /// In bytes; empty where no memory is needed.
  SmallVector<int64_t> shape;
  /// Of elements.
  TileLayout layout;
  Slot slot = {8, 0};
  /// Of scales.
  ScaleOrder order = ScaleOrder::Rows;

  int64_t getNumBytes() const;
};

/// The extent of a tile, and the warps and threads that read and fill it.
struct TileExtent {
  int64_t rows;
  /// Elements along K.
  int64_t k;
  /// The rows that one warp takes.
  int64_t warpRows;
  /// The threads that fill the tile.
  int64_t numThreads;
};

/// Elements in `layout`.
SharedTile getElementTile(const TileExtent &extent, Slot slot,
                          const TileLayout &layout);

/// Scales in the order of lanes; with `words` above 0, in parts of so many u32.
SharedTile getScaleTile(const TileExtent &extent, int64_t blockSize,
                        int64_t words);

/// The metadata of a sparse A, for `bytes` bytes of it in each row (T8).
SharedTile getMetadataTile(const TileExtent &extent, int64_t bytes);

/// The byte, in its row, that is `inChunk` bytes behind the start of chunk
/// number `chunk` of the elements of `tile`.
Value emitByteOfRow(OpBuilder &b, Location loc, const SharedTile &tile,
                    Value row, Value chunk, Value inChunk);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_SHAREDTILE_H
