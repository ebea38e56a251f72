//===- ThreadRounds.h - Work that threads take in turn ----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile has more pieces than a block has threads: each thread takes one, then
// the one that is as many further as there are threads.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_THREADROUNDS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_THREADROUNDS_H

#include "Kernels/Gemm/Mainloop/Multistage/TileLoader.h"

namespace mlir::blockscale {

/// One round: number `number`, unrolled, or the one that `counter` counts, of
/// which `number` is the last.
struct Round {
  int64_t number;
  /// Null where rounds are unrolled.
  Value counter;
};

/// Rounds of asynchronous copies that are unrolled: they are short.
inline constexpr int64_t kMostAsyncRounds = 16;

/// Lets `emitPiece` emit a piece for each thread until all `numPieces` are
/// taken. Up to `mostUnrolled` rounds are unrolled: then addresses are in the
/// instructions.
void forEachRound(OpBuilder &b, const FillContext &context, int64_t numPieces,
                  int64_t mostUnrolled,
                  function_ref<void(OpBuilder &, Round)> emitPiece);

/// The number of the piece that a thread takes.
Value getPieceNumber(OpBuilder &b, const FillContext &context, Round round);

/// Pieces of a tile: `perLine` of them in each of `numLines` lines.
struct PieceGrid {
  int64_t numLines;
  int64_t perLine;
  /// Whether threads that are neighbours take pieces of neighbouring lines, not
  /// of one line.
  bool isAcross;
};

/// A place in the grid.
struct Piece {
  Value line;
  Value index;
  /// To be added to `line`; a multiple of the period of swizzles.
  int64_t lineOffset = 0;
};

/// The piece that a thread takes.
Piece getPiece(OpBuilder &b, const FillContext &context, Round round,
               const PieceGrid &grid);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_THREADROUNDS_H
