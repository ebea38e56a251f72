//===- ElementPairs.h - Elements as pairs of bf16 ---------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_ELEMENTPAIRS_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_ELEMENTPAIRS_H

#include "Fragments/Dequantize/Formats.h"
#include "Fragments/Dequantize/WordEmitter.h"
#include "Fragments/FragmentEmitter.h"
#include "blockscale/Support/PairLayout.h"

namespace mlir::blockscale {

/// The pairs of one instruction, for a group of 8 rows.
using Pairs = std::array<Value, kPairsPerInstruction>;

/// The index of a step: a constant, or a value.
struct Step {
  int64_t number;
  Value value;

  /// Part `i` of `count` that the step has.
  Step getPart(const WordEmitter &emit, unsigned i, unsigned count) const;
};

/// The elements of A or B that a lane holds. Methods emit code at the insertion
/// point of the builder. Code that calls share is emitted by the constructor or
/// by the first call.
class ElementPairs {
public:
  virtual ~ElementPairs() = default;

  /// Loads step `step`; for a sparse instruction, the 32 kept elements of A or
  /// the 64 of B that belong to them.
  virtual void load(const Step &step) = 0;
  /// The pairs of group `group` for instruction `i`, of each 16 elements of the
  /// step: each element times 2^-exponent of its format, or a high-precision
  /// element unchanged.
  virtual Pairs getPairs(unsigned group, unsigned i) = 0;
  /// Whether a step may be a value.
  virtual bool takesValues() const { return true; }
};

using ElementPairsPtr = std::unique_ptr<ElementPairs>;

/// The bits of the lane index that permute pairs in `order`: none, or one for
/// each bit of q.
SmallVector<Value> getExchangeBits(const WordEmitter &emit, PairOrder order,
                                   Value lane);
/// `values`, one for each q, at q exclusive or with `bits`.
SmallVector<Value> exchange(const WordEmitter &emit, ArrayRef<Value> values,
                            ArrayRef<Value> bits);

/// Exchanges halves of registers between neighboring lanes, for pairs that are
/// crossed.
class HalfExchange {
public:
  HalfExchange(WordEmitter emit, Value lane);

  /// Of two registers, the half of each that the neighbor has and this lane
  /// needs.
  Value exchange(Value first, Value second) const;
  /// The selector of prmt for pair `q` of register `number` of two, from it and
  /// what exchange returns: bytes, with copies of their signs above them.
  Value getSelector(unsigned number, unsigned q) const {
    return selectors[number][q];
  }

private:
  WordEmitter emit;
  Value neighbor, sent;
  std::array<std::array<Value, 2>, 2> selectors;
};

/// Shifts elements of `format` into position in 16 bits, from registers in
/// which they are contiguous along K.
class ElementShifter {
public:
  /// For values of bf16 or f16.
  ElementShifter(WordEmitter emit, Format format, PairOrder order, Value lane,
                 Format value = Format::BF16);

  /// The pairs of a 32-bit register with an element in each byte.
  Pairs shiftBytes(Value word) const;
  /// The pairs of two such registers, which are crossed.
  std::array<Pairs, 2> shiftCrossed(Value first, Value second) const;
  /// The pairs of a 32-bit register with an element in each nibble: if the
  /// order is packed, those of instruction `i`, else those of the low half.
  Pairs shiftNibbles(Value word, unsigned i) const;
  /// Shifts two elements into position. Each is in the low byte of a half, with
  /// copies of its sign above it.
  Value shift(Value halves) const;

private:
  WordEmitter emit;
  CodeFormat format;
  PairOrder order;
  SmallVector<Value> byteSelectors, nibbleSelectors;
  std::optional<HalfExchange> halves;
};

/// The quantized elements of an operand of `op` in shared memory, for the
/// `rows` rows from `first` on.
ElementPairsPtr makeTileElements(OpBuilder &b, TileMmaOp op, Operand operand,
                                 Value lane, Value first, int64_t rows);

/// The same for A with bf16 or f16 values, which are contiguous along K.
ElementPairsPtr makeHighPrecisionTile(OpBuilder &b, TileMmaOp op, Value lane,
                                      Value first);

/// The elements that `fragments` hold.
ElementPairsPtr makeFragmentElements(OpBuilder &b, Location loc,
                                     const OperandFragments &fragments,
                                     Operand operand, Format format, Kind kind,
                                     Value lane);

/// Register `part` of the registers of group `group` of 8 rows, from the
/// fragments `tiles` of a step.
Value getGroupRegister(OpBuilder &b, Location loc, Operand operand,
                       ArrayRef<Value> tiles, unsigned group, unsigned part);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_FRAGMENTS_DEQUANTIZE_ELEMENTPAIRS_H
