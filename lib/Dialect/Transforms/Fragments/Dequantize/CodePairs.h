//===- CodePairs.h - Codes as pairs of bf16 ---------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes of A or B in the order of PairLayout.h.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_CODEPAIRS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_CODEPAIRS_H

#include "Fragments/Dequantize/Formats.h"
#include "Fragments/Dequantize/WordEmitter.h"
#include "Fragments/FragmentEmitter.h"
#include "blockscale/Support/PairLayout.h"

namespace mlir::blockscale {

/// Those of one instruction, for a group of 8 rows.
using Pairs = std::array<Value, kPairsPerInstruction>;

/// The number of a step: a constant, or a value.
struct Step {
  int64_t number;
  Value value;
};

/// The codes of A or B that a lane holds. Code is emitted where `b` stands when
/// a method is called, and what it needs, where it stood at the first call.
class CodePairs {
public:
  virtual ~CodePairs() = default;

  /// Loads step `step`.
  virtual void load(const Step &step) = 0;
  /// The pairs of group number `group` for instruction `i`, each code times
  /// 2^-exponent of its format; numbers as they are.
  virtual Pairs place(unsigned group, unsigned i) = 0;
  /// Whether a step may be a value.
  virtual bool takesValues() const { return true; }
};

using CodePairsPtr = std::unique_ptr<CodePairs>;

/// The bits of the lane's number that exchange pairs in `order`: none, or one
/// for each bit of q.
SmallVector<Value> getExchangeBits(const WordEmitter &emit, PairOrder order,
                                   Value lane);
/// `values`, one for each q, at q exclusive or with `bits`.
SmallVector<Value> exchange(const WordEmitter &emit, ArrayRef<Value> values,
                            ArrayRef<Value> bits);

/// What places codes of `format`, from registers in which they are contiguous
/// along K.
class RowPlacer {
public:
  RowPlacer(WordEmitter emit, Format format, PairOrder order, Value lane);

  /// The pairs of a word with a code in each byte.
  Pairs placeBytes(Value word) const;
  /// The pairs of a word with a code in each nibble: if codes are packed, those
  /// of instruction `i`, else those of its low half.
  Pairs placeNibbles(Value word, unsigned i) const;
  /// Puts two codes to their places: each is the low byte of a half, with
  /// copies of its sign above it.
  Value place(Value halves) const;

private:
  WordEmitter emit;
  CodeFormat format;
  PairOrder order;
  SmallVector<Value> byteSelectors, nibbleSelectors;
};

/// The codes of an operand of `op` in shared memory, whose first row is `first`
/// and which has `rows` of them.
CodePairsPtr makeTileCodes(OpBuilder &b, TileMmaOp op, Operand operand,
                           Value lane, Value first, int64_t rows);

/// The same for numbers of A of 16 bits, which are contiguous along K.
CodePairsPtr makeTileNumbers(OpBuilder &b, TileMmaOp op, Value lane,
                             Value first);

/// Those that `fragments` hold.
CodePairsPtr makeFragmentCodes(OpBuilder &b, Location loc,
                               const OperandFragments &fragments,
                               Operand operand, Format format, Kind kind,
                               Value lane);

/// Fragments of a step, for groups of 8 rows: register number `part` of those
/// that a group has.
Value getGroupRegister(OpBuilder &b, Location loc, Operand operand,
                       ArrayRef<Value> tiles, unsigned group, unsigned part);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_CODEPAIRS_H
