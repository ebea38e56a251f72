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

static constexpr int64_t kWordBytes = 4;
/// Groups of 8 rows of an instruction.
static constexpr unsigned kGroupsOfTile = 2;

SparseWords::SparseWords(OpBuilder &b, TileMmaOp op, const WarpTile &tile,
                         Value lane)
    : emit{b, op.getLoc()}, memory(op.getMetadata()),
      isPairs(op.getInstruction().getSparsity() == Granularity::Pairs),
      groups(tile.m / kGroupRows), interleave(tile.interleaveM) {
  AffineExpr l, first;
  bindDims(b.getContext(), l, first);
  // The bytes of an even lane, and of an odd one.
  int64_t even = isPairs ? 0x5410 : 0x6420, odd = isPairs ? 0x7632 : 0x7531;
  SmallVector<Value> values =
      applyExprs(b, emit.loc,
                 {first + l.floorDiv(kLanesOfRow) * interleave,
                  l.floorDiv(2) % kMetadataSelectors * kWordBytes,
                  l % 2 * (odd - even) + even},
                 {lane, tile.firstRow ? tile.firstRow : emit.index(0)});
  row = values[0];
  byte = isPairs ? emit.index(0) : values[1];
  selector = emit.toWord(values[2]);
}

/// The word of the lane's row of `group` for `step`. In shared memory, the
/// halves of 16 bytes are swapped in rows whose number has the bit 8.
Value SparseWords::load(unsigned group, const Step &step) const {
  auto type = cast<MemRefType>(memory.getType());
  int64_t width = type.getDimSize(2);
  int64_t stepBytes = isPairs ? kWordBytes : kMetadataStepBytes;
  int64_t turn = group % interleave;
  AffineExpr inStep, s, r;
  bindDims(emit.b.getContext(), inStep, s, r);
  // Without interleaving, the bit is that of the group.
  AffineExpr bit = interleave == 1
                       ? getAffineConstantExpr(group % 2, r.getContext())
                       : r.floorDiv(kGroupRows) % 2;
  // No bytes of a step are in two chunks.
  AffineExpr start = s * stepBytes;
  Value ofGroup =
      addIndex(emit.b, emit.loc, row, (group - turn) * kGroupRows + turn);
  SmallVector<Value> at = applyExprs(
      emit.b, emit.loc,
      {start.floorDiv(width),
       (start + inStep + bit * kMetadataStepBytes) % width},
      {byte, step.value ? step.value : emit.index(step.number), ofGroup});
  return loadWords(emit.b, emit.loc, memory, {at[0], ofGroup, at[1]},
                   kWordBytes)
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
  for (int64_t group = 0; group != groups; group += kGroupsOfTile) {
    std::array<Value, kGroupsOfTile> ofGroups;
    for (auto [i, word] : llvm::enumerate(ofGroups)) {
      word = load(group + i, step);
      if (!isPairs)
        word = splitNibbles(word);
    }
    words.push_back(emit.permute(ofGroups[0], ofGroups[1], selector));
  }
  return words;
}
