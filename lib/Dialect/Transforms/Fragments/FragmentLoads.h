//===- FragmentLoads.h - Fragments from shared memory -----------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_FRAGMENTLOADS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_FRAGMENTLOADS_H

#include "Fragments/FragmentEmitter.h"

namespace mlir::blockscale {

/// Loads one lane's fragments of A or B of a `tile_mma`, a step at a time.
class FragmentLoader {
public:
  /// `first` is the first row of the warp's share, which has `rows` of them.
  FragmentLoader(OpBuilder &builder, TileMmaOp op, Operand operand, Value lane,
                 Value first, int64_t rows);

  FragmentLoader(OpBuilder &builder, LoadFragmentsOp op, Operand operand,
                 Value lane, Value first, int64_t rows);

  /// Returns one value for each tile of the warp's share. If the instruction is
  /// not block-scaled, padded elements are returned as they are in memory. Of a
  /// B for a sparse instruction whose rows are not contiguous along K, it is a
  /// step of half of K.
  SmallVector<Value> loadStep(int64_t step);
  /// The same for a step that is not constant; elements are contiguous along K.
  SmallVector<Value> loadStep(Value step);

  /// The 32-bit word `word` of scales along K for each group of tiles; with
  /// atoms, for each tile (see MmaEmitter).
  SmallVector<Value> loadWords(int64_t word);

private:
  struct Address {
    Value offset;
    int64_t plus;
  };
  void prepare();
  void prepareRows();
  void prepareTransposed();
  Address getChunk(int64_t index);
  Address getAddress(int64_t load, int64_t step);
  /// The bytes of a row of a tile, or of one of its columns.
  int64_t getRowBytes() const;
  SmallVector<Value> loadTiles(function_ref<Address(int64_t load)> getAddress);
  SmallVector<Value> loadRegisters(const Address &address, int64_t count);
  Value loadWord(int64_t group, int64_t word);
  SmallVector<Value> loadAtomWords(int64_t word);
  Value getOuter();

  OpBuilder &b;
  Location loc;
  Operand operand;
  Value lane, first;
  Value elements, scales;
  TileLayout layout;
  ScaleOrder order;
  Slot slot;
  unsigned codeBits;
  /// Whether a transposed matrix fills two registers of a lane.
  bool hasWideMatrices;
  const FragmentLayout &fragment;
  int64_t rows, tiles, tilesPerLoad;
  /// The part of a lane's ldmatrix address that all loads share: the row, and
  /// the chunk in it, which the swizzle permutes by `xor` with `swizzle` (null
  /// for 0).
  Value laneRow, laneChunk, swizzle, laneOffset;
  bool hasDisjointChunks;
  /// Offsets, by the amounts that are added to the lane's chunk.
  DenseMap<int64_t, Value> offsets;
  Value outer;
  DenseMap<std::pair<int64_t, int64_t>, SmallVector<Value>> loads;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_FRAGMENTLOADS_H
