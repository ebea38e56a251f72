//===- FragmentEmitter.h - One lane's registers -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Emits the positions of a lane's fragments of an operand, and the instructions
// that multiply fragments. FragmentLayout.h says where an element is.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_FRAGMENTEMITTER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_FRAGMENTEMITTER_H

#include "Utils/AccFragment.h"
#include "blockscale/Dialect/IR/BlockScale.h"
#include "mlir/IR/Builders.h"

namespace mlir::blockscale {

/// Position in one tile of an operand, (row, column), of the lane's element in
/// slot `slot` of register `reg`.
std::pair<Value, Value> emitElementPosition(OpBuilder &builder, Location loc,
                                            const FragmentLayout &layout,
                                            Value lane, unsigned reg,
                                            unsigned slot);

/// The row, in one tile of A or B, of the lane's register `reg`, and the index
/// of its run along K. A run has `slots` consecutive elements, and starts at a
/// multiple of `slots`.
std::pair<Value, Value> emitRegisterPosition(OpBuilder &builder, Location loc,
                                             const FragmentLayout &layout,
                                             Value lane, unsigned reg);

/// Position in one tile of A or B of the 16 bytes whose address `lane` passes
/// to `ldmatrix`. There are as many matrices as the tile has registers, and
/// further lanes repeat the positions of the first ones.
std::pair<Value, Value> emitMatrixRow(OpBuilder &builder, Location loc,
                                      const FragmentLayout &layout, Value lane);

/// The row, in a group of tiles, whose words of scales the lane holds.
Value emitScaleRow(OpBuilder &builder, Location loc, Operand operand,
                   Value lane);

/// All that the lane holds of A or B.
struct OperandFragments {
  /// [tile along M or N][step along K]: vector<4xi32> or vector<2xi32>.
  SmallVector<SmallVector<Value>> registers;
  /// [group of tiles][word along K]: i32.
  SmallVector<SmallVector<Value>> scaleWords;

  int64_t getNumSteps() const { return registers.front().size(); }
  SmallVector<Value> getTiles(int64_t step) const {
    return getColumn(registers, step);
  }
  SmallVector<Value> getWords(int64_t word) const {
    return getColumn(scaleWords, word);
  }

private:
  static SmallVector<Value> getColumn(ArrayRef<SmallVector<Value>> rows,
                                      int64_t column) {
    return llvm::map_to_vector(
        rows, [&](const SmallVector<Value> &row) { return row[column]; });
  }
};

/// The counts of tiles, steps, groups and words for `rows` x `k` elements.
struct FragmentCounts {
  FragmentCounts(const TypeCombination &types, const Instruction &instruction,
                 Operand operand, int64_t rows, int64_t k);
  int64_t tiles, steps, groups, words;
};

/// The number of elements of an accumulator of `m` x `n` that one lane holds.
/// Their order: tiles of the instruction row-major, then registers; with tiles
/// interleaved along N, the elements of a run are consecutive.
int64_t getNumAccElements(int64_t m, int64_t n);

/// The extents of a value that is distributed like C of mma.sync, and where
/// they start for this warp.
struct WarpTile {
  int64_t m;
  int64_t n;
  /// The first row and column of the warp's share; null for 0.
  Value firstRow;
  Value firstColumn;
  /// How many groups of 8 rows, and of columns, are interleaved (WarpsAttr).
  int64_t interleaveM = 1;
  int64_t interleaveN = 1;

  /// The consecutive elements of a row that a lane holds.
  int64_t getRunLength() const { return kColumnsOfLane * interleaveN; }
};

/// Calls `body` for each run (consecutive elements of a row) of an accumulator
/// that the lane holds: with the index of its first element, among the lane's
/// elements, and the position of that element in the tile.
void forEachAccRun(
    OpBuilder &builder, Location loc, Value lane, const WarpTile &tile,
    function_ref<void(int64_t index, Value row, Value column)> body);

/// The indices, among the lane's elements, of those in the registers of the
/// instruction's tile (`m`, `n`) of `tile`.
SmallVector<int64_t, 4> getTileElements(const WarpTile &tile, int64_t m,
                                        int64_t n);

/// The instructions of one product.
class MmaEmitter {
public:
  /// `instruction` computes `types`, by a rewrite if the instruction is made
  /// for another type combination.
  MmaEmitter(OpBuilder &builder, Location loc, const TypeCombination &types,
             InstructionAttr instruction, Value lane);

  /// The elements of an accumulator as one vector for each tile, and the
  /// reverse.
  SmallVector<Value> join(ValueRange elements);
  SmallVector<Value> split(ValueRange tiles);

  /// Adds the product of one step along K to the tiles `acc`. There is one
  /// value for each tile of A and of B. Scales are one word for each group of
  /// tiles, of which a tile selects lanes; or one word for each tile, in the
  /// first lanes. A sparse A has a word of `metadata` for each tile.
  void emitStep(int64_t step, ArrayRef<Value> aTiles, ArrayRef<Value> aWords,
                ArrayRef<Value> bTiles, ArrayRef<Value> bWords,
                MutableArrayRef<Value> acc, ArrayRef<Value> metadata = {});

  /// The index, along K, of the word with the scales of step `step`.
  int64_t getWord(int64_t step) const {
    return step * scalesPerStep / kScalesPerWord;
  }

private:
  /// One of the instructions that compute one step along K of the op.
  struct Part {
    /// For the rewrite into half blocks: which 16-element halves of A's blocks
    /// are kept; nullopt for all of A.
    std::optional<unsigned> half;
    /// The byte selector of both scales.
    unsigned byte;
  };

  SmallVector<Part> getParts(int64_t step) const;
  Value arrangeScales(Value word);
  Value evenBytesFirst(Value word);
  Value keepHalf(Value registers, std::optional<unsigned> half);

  OpBuilder &b;
  Location loc;
  TypeCombination types;
  Value lane;
  InstructionAttr instruction;
  int64_t scalesPerStep;
  bool isHalved;
  DenseMap<Value, Value> reorderedWords;
  DenseMap<std::pair<Value, unsigned>, Value> keptHalves;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_FRAGMENTEMITTER_H
