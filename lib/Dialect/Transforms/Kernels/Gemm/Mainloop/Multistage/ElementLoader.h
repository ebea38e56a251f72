//===- ElementLoader.h - Tiles of elements ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads a tile of elements from global to shared memory: by cp.async where
// whole pieces can be copied, else element by element through registers.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_ELEMENTLOADER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_ELEMENTLOADER_H

#include "Kernels/Gemm/Mainloop/Multistage/OperandAccess.h"
#include "Kernels/Gemm/Mainloop/Multistage/ThreadRounds.h"

namespace mlir::blockscale {

class ElementLoader final : public TileLoader {
public:
  /// Bytes as they are, by cp.async.
  struct Pieces {
    /// Of one copy.
    int64_t bytes;
    /// Bytes of elements in 16 bytes of shared memory; the rest is padding.
    int64_t chunkBytes;
  };

  /// Without `pieces`, elements are read one by one, and stored four bytes at
  /// once; those of `narrow`, if it is given, widened to e4m3.
  ElementLoader(SharedTile tile, const KernelOperand &operand,
                const TileExtent &extent, std::optional<Pieces> pieces,
                std::optional<Format> narrow = std::nullopt);

  bool isAsync() const override { return hasPieces; }
  Type getElementType(const FillContext &context) const override;
  void emit(OpBuilder &builder, const FillContext &context, Value memory,
            const FillSource &source) const override;

private:
  void emitPiece(OpBuilder &b, const FillContext &context, Value memory,
                 const FillSource &source, const Piece &piece) const;

  bool hasPieces;
  std::optional<Format> narrow;
  /// The bytes of shared memory that are filled at once.
  int64_t pieceBytes = kWordBytes;
  int64_t piecesPerChunk = kChunkBytes / kWordBytes;
  /// Elements of the operand in a piece, 0 if it ends inside of one.
  int64_t pieceElements = 0;
  /// Elements in 16 bytes of shared memory.
  int64_t chunkElements;
  /// Whether lines of the tile are columns, and copies go along rows.
  bool isAlongRows = false;
  /// Columns of the tile; its lines, and pieces of a line.
  int64_t columns, numLines, perLine;
};

/// The byte, in its line, that is `inChunk` bytes behind the start of chunk
/// number `chunk` of the elements of `tile`.
Value emitByteOfLine(OpBuilder &b, Location loc, const SharedTile &tile,
                     Value line, Value chunk, Value inChunk);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MAINLOOP_MULTISTAGE_ELEMENTLOADER_H
