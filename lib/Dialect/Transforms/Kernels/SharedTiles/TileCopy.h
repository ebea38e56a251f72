//===- TileCopy.h - From global to shared memory ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile of an operand, in the layout in shared memory that suits how the
// operand is stored, and the code by which the threads of a block bring it
// there.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_SHAREDTILES_TILECOPY_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_SHAREDTILES_TILECOPY_H

#include "Kernels/KernelProblem.h"

namespace mlir::blockscale {

/// What a register holds.
inline constexpr int64_t kWordBytes = 4;

/// What all copies of a kernel share.
struct CopyContext {
  Location loc;
  /// The parameters of the kernel, as memrefs.
  function_ref<Value(unsigned)> getArgument;
  int64_t numThreads;
  Value thread;
  /// Whether tiles may reach beyond the operands.
  bool isGuarded;
};

/// The operand that a tile is a part of.
struct CopySource {
  /// The number of its matrix in a batch.
  Value batch;
  Value rows, columns;
  /// The row, and the step along K, where the tile starts.
  Value origin, step;
};

class TileCopy {
public:
  /// The tile of x (A) or y (B), and that of its scales.
  static TileCopy getElements(const KernelProblem &problem, Operand operand);
  static TileCopy getScales(const KernelProblem &problem, Operand operand);

  /// The shape in shared memory, in bytes; empty where no memory is needed.
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumBytes() const;
  const TileLayout &getLayout() const { return layout; }
  bool isAsync() const {
    return method == Method::Pieces || method == Method::Atoms;
  }

  /// Copies a tile of `source` to `memory`. What lies outside of the operand
  /// becomes 0.
  void emit(OpBuilder &builder, const CopyContext &context, Value memory,
            const CopySource &source) const;

private:
  /// How threads bring a tile to shared memory.
  enum class Method {
    /// Bytes as they are, in asynchronous copies.
    Pieces,
    /// The same, of words of scales in the 32x4x4 layout.
    Atoms,
    /// Codes read one by one, and stored four bytes at once.
    Codes,
    /// Blocks of 8 x 8 codes of 4 bits, read along rows, transposed in
    /// registers, and stored along K.
    Blocks,
  };

  TileCopy(const KernelOperand &operand, int64_t tileRows, int64_t tileColumns)
      : operand(&operand), tileRows(tileRows), tileColumns(tileColumns) {}

  /// A place in the tile, counted in pieces: `line` is the index that is not
  /// contiguous in the operand's memory.
  struct Piece {
    Value line;
    Value index;
  };
  struct Place {
    Value row;
    Value column;
  };
  class Emitter;

  const KernelOperand *operand;
  int64_t tileRows, tileColumns;
  /// Of elements; scales have a shape of rank 3 or 4 instead.
  TileLayout layout;
  Slot slot = {8, 0};
  SmallVector<int64_t> shape;
  Method method = Method::Codes;
  /// The bytes of shared memory that are filled at once.
  int64_t pieceBytes = kWordBytes;
  /// Codes of the operand in a piece, 0 if it ends inside of one.
  int64_t pieceCodes = 0;
  /// Pieces of elements in 16 bytes of shared memory.
  int64_t piecesPerChunk = 0;
  /// Whether lines are columns, and asynchronous copies go along rows.
  bool isAlongRows = false;
};

/// The memory of all stages of a kernel: the tiles of x, its scales, y and its
/// scales, one after the other.
class SharedStages {
public:
  explicit SharedStages(const KernelProblem &problem);

  const TileCopy &getTile(unsigned i) const { return tiles[i]; }
  /// The first byte of a tile in its stage.
  int64_t getOffset(unsigned i) const { return offsets[i]; }
  int64_t getStageBytes() const { return stageBytes; }
  int64_t getNumBytes() const { return numStages * stageBytes; }
  bool hasAsyncCopies() const;

private:
  SmallVector<TileCopy, 4> tiles;
  SmallVector<int64_t, 4> offsets;
  int64_t stageBytes = 0, numStages;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_SHAREDTILES_TILECOPY_H
