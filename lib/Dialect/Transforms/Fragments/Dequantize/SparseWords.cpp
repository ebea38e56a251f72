//===- SparseWords.cpp - Metadata of dequantized products -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where elements are kept, an instruction has 32 of the 64 elements of a step:
// its first four chunks are the even ones of the eight that these have, as
// lanes hold pairs. Lanes whose thread is 0 or 1 have the word of the first
// instruction, those whose thread is 2 or 3 that of the second one.
//
// Where pairs are kept, both instructions of a step have its eight chunks, in
// their order, and the same word: one multiplies the even elements, the other
// the odd ones.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/SparseWords.h"

#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "blockscale/Support/SparseFragments.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Fields of a word.
static constexpr int64_t kWordBytes = 4;

SparseWords::SparseWords(OpBuilder &b, TileMmaOp op, const WarpTile &tile,
                         Value lane)
    : emit{b, op.getLoc()}, memory(op.getMetadata()),
      isPairs(op.getInstruction().getSparsity() == Granularity::Pairs),
      tiles(tile.m / getAccFragment().rows) {
  AffineExpr l, first;
  bindDims(b.getContext(), l, first);
  // The bytes of an even lane, and of an odd one.
  int64_t even = isPairs ? 0x5410 : 0x6420, odd = isPairs ? 0x7632 : 0x7531;
  SmallVector<Value> values =
      applyExprs(b, emit.loc,
                 {first + l.floorDiv(kLanesOfRow),
                  l.floorDiv(2) % kMetadataSelectors * kWordBytes,
                  l % 2 * (odd - even) + even},
                 {lane, tile.firstRow ? tile.firstRow : emit.index(0)});
  row = values[0];
  byte = isPairs ? emit.index(0) : values[1];
  selector = emit.toWord(values[2]);
}

/// The word of `row` for `step`. The halves of 16 bytes are swapped in
/// `isLower` ones, whose number has the bit 8.
Value SparseWords::load(Value row, const Step &step, bool isLower) const {
  auto type = cast<MemRefType>(memory.getType());
  int64_t width = type.getDimSize(2);
  int64_t stepBytes = isPairs ? kWordBytes : kMetadataStepBytes;
  int64_t turn =
      isLower && width != kMetadataStepBytes ? kMetadataStepBytes : 0;
  AffineExpr inStep, s;
  bindDims(emit.b.getContext(), inStep, s);
  // No bytes of a step are in two chunks.
  AffineExpr start = s * stepBytes;
  SmallVector<Value> at =
      applyExprs(emit.b, emit.loc,
                 {start.floorDiv(width), (start + inStep + turn) % width},
                 {byte, step.value ? step.value : emit.index(step.number)});
  return loadWords(emit.b, emit.loc, memory, {at[0], row, at[1]}, kWordBytes)
      .front();
}

/// The even nibbles of each half of `word` in its low byte, and the odd ones in
/// its high byte.
Value SparseWords::splitNibbles(Value word) const {
  constexpr unsigned kNibble = 4;
  // Exchanges nibbles 1 and 2 of each half.
  Value changed = emit.bitAnd(emit.bitXor(word, emit.shiftRight(word, kNibble)),
                              0x00F000F0);
  return emit.bitXor(emit.bitXor(word, changed),
                     emit.shiftLeft(changed, kNibble));
}

SmallVector<Value> SparseWords::loadStep(const Step &step) const {
  SmallVector<Value> words;
  for (int64_t i = 0; i != tiles; ++i) {
    std::array<Value, 2> ofRows;
    for (bool isLower : {false, true}) {
      int64_t offset = i * getAccFragment().rows + isLower * kGroupRows;
      Value word = load(addIndex(emit.b, emit.loc, row, offset), step, isLower);
      ofRows[isLower] = isPairs ? word : splitNibbles(word);
    }
    words.push_back(emit.permute(ofRows[0], ofRows[1], selector));
  }
  return words;
}
