//===- ThreadRounds.h - Pieces by thread ------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block-strided loop: a tile has more pieces than the block has threads, so
// each thread takes every n-th piece, where n is the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_THREADROUNDS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_THREADROUNDS_H

#include "Kernels/Gemm/Mainloop/Multistage/TileLoader.h"

namespace mlir::blockscale {

/// One round: number `number` if unrolled, else the one that `counter` counts,
/// where `number` is the last one.
struct Round {
  int64_t number;
  /// Null if rounds are unrolled.
  Value counter;
};

/// Rounds of cp.async that are unrolled: they are short.
inline constexpr int64_t kMostAsyncRounds = 16;

/// Emits rounds in which each thread takes a piece, by `emitPiece`, until all
/// `numPieces` are done. Up to `mostUnrolled` rounds are unrolled: then
/// addresses are immediates.
void forEachRound(OpBuilder &b, const FillContext &context, int64_t numPieces,
                  int64_t mostUnrolled,
                  function_ref<void(OpBuilder &, Round)> emitPiece);

/// The index of the piece that a thread takes.
Value getPieceNumber(OpBuilder &b, const FillContext &context, Round round);

/// Pieces of a tile: `perRow` of them in each of `numRows` rows.
struct PieceGrid {
  int64_t numRows;
  int64_t perRow;
  /// Whether neighbouring threads take pieces of neighbouring rows, not of one
  /// row.
  bool isAcross;
};

/// A piece in this grid of rows and pieces.
struct Piece {
  Value row;
  Value index;
  /// To be added to `row`; a multiple of the period of swizzles.
  int64_t rowOffset = 0;
};

/// The same rounds, whose pieces are those of `grid`.
void forEachPiece(OpBuilder &b, const FillContext &context,
                  const PieceGrid &grid, int64_t mostUnrolled,
                  function_ref<void(OpBuilder &, const Piece &)> emitPiece);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_THREADROUNDS_H
