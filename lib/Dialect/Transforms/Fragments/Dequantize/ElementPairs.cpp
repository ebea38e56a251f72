//===- ElementPairs.cpp - Elements as pairs of bf16 -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shifts elements into position in 16 bits, and reads them from fragments. Both
// are the same for operands in shared memory and for vectors.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/ElementPairs.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

Step Step::getPart(const WordEmitter &emit, unsigned i, unsigned count) const {
  if (!value)
    return {number * count + i, {}};
  AffineExpr d0 = getAffineDimExpr(0, emit.b.getContext());
  return {0, applyExpr(emit.b, emit.loc, d0 * count + i, value)};
}

//===----------------------------------------------------------------------===//
// Shifting
//===----------------------------------------------------------------------===//

namespace {
/// Selectors of prmt for pair q: a code in the low byte of each half, and
/// copies of its sign above it. For nibbles, the low half is selected from the
/// word shifted left by 4, and the high half from the word itself.
constexpr std::array<uint32_t, 2> kByteSelectors = {0x9180, 0xB3A2};
constexpr std::array<uint32_t, 4> kNibbleSelectors = {0xC480, 0xD591, 0xE6A2,
                                                      0xF7B3};
/// The same for pairs of every second element.
constexpr std::array<uint32_t, 2> kAlternateBytes = {0xA280, 0xB391};
constexpr std::array<uint32_t, 2> kAlternateNibbles = {0x9180, 0xD5C4};
} // namespace

SmallVector<Value> blockscale::getExchangeBits(const WordEmitter &emit,
                                               PairOrder order, Value lane) {
  Value word = emit.toWord(lane);
  auto getBit = [&](unsigned bit) -> Value {
    return emit.isDifferent(emit.bitAnd(word, 1u << bit), 0);
  };
  if (!order.isSwapped)
    return {};
  if (order.isPacked)
    return {getBit(0), getBit(1)};
  return {getBit(1)};
}

SmallVector<Value> blockscale::exchange(const WordEmitter &emit,
                                        ArrayRef<Value> of,
                                        ArrayRef<Value> bits) {
  SmallVector<Value> values(of);
  for (auto [i, bit] : llvm::enumerate(bits)) {
    SmallVector<Value> next;
    for (size_t q = 0; q != values.size(); ++q)
      next.push_back(emit.select(bit, values[q ^ (size_t(1) << i)], values[q]));
    values = next;
  }
  return values;
}

/// `table`, which has one selector for each q, in the order of `bits`.
static SmallVector<Value> exchangeSelectors(const WordEmitter &emit,
                                            ArrayRef<uint32_t> table,
                                            ArrayRef<Value> bits) {
  SmallVector<Value> values;
  for (uint32_t entry : table)
    values.push_back(emit.integer(entry));
  return exchange(emit, values, bits);
}

HalfExchange::HalfExchange(WordEmitter emit, Value lane) : emit(emit) {
  Value word = emit.toWord(lane);
  Value isOdd = emit.isDifferent(emit.bitAnd(word, 1), 0);
  neighbor = emit.bitXor(word, 1);
  auto choose = [&](uint32_t even, uint32_t odd) {
    return emit.select(isOdd, emit.integer(odd), emit.integer(even));
  };
  // An even lane needs the low halves of both registers of both lanes.
  sent = choose(0x7632, 0x5410);
  constexpr std::array<uint32_t, 2> kReceived = {0xD5C4, 0xF7E6};
  for (unsigned number : {0, 1})
    selectors[number] = {choose(kByteSelectors[0], kReceived[number]),
                         choose(kReceived[number], kByteSelectors[1])};
}

Value HalfExchange::exchange(Value first, Value second) const {
  return emit.shuffle(emit.permute(first, second, sent), neighbor);
}

ElementShifter::ElementShifter(WordEmitter emit, Format format, PairOrder order,
                               Value lane, Format value)
    : emit(emit), format(getCodeFormat(format, value)), order(order) {
  SmallVector<Value> bits = getExchangeBits(emit, order, lane);
  bool isNibbles = getFormatInfo(format).bits == 4;
  ArrayRef<uint32_t> bytes = kByteSelectors, nibbles = kNibbleSelectors;
  if (order.shape == PairShape::Alternate) {
    bytes = kAlternateBytes;
    nibbles = kAlternateNibbles;
  } else if (order.shape == PairShape::Crossed) {
    halves.emplace(emit, lane);
  }
  byteSelectors =
      exchangeSelectors(emit, bytes, order.isPacked ? ArrayRef<Value>() : bits);
  if (isNibbles)
    nibbleSelectors = exchangeSelectors(
        emit, order.isPacked ? nibbles : nibbles.take_front(2), bits);
}

Pairs ElementShifter::shiftBytes(Value word) const {
  word = emit.shiftLeft(word, format.signShift);
  Pairs pairs;
  for (unsigned q : {0, 1})
    pairs[q] = shift(emit.permute(word, {}, byteSelectors[q]));
  return pairs;
}

std::array<Pairs, 2> ElementShifter::shiftCrossed(Value first,
                                                  Value second) const {
  Value words[] = {emit.shiftLeft(first, format.signShift),
                   emit.shiftLeft(second, format.signShift)};
  Value received = halves->exchange(words[0], words[1]);
  std::array<Pairs, 2> pairs;
  for (unsigned i : {0, 1})
    for (unsigned q : {0, 1})
      pairs[i][q] =
          shift(emit.permute(words[i], received, halves->getSelector(i, q)));
  return pairs;
}

Pairs ElementShifter::shiftNibbles(Value word, unsigned i) const {
  constexpr unsigned kNibble = 4;
  Value even = emit.shiftLeft(word, kNibble);
  Pairs pairs;
  for (unsigned q : {0, 1})
    pairs[q] = shift(emit.permute(
        even, word, nibbleSelectors[order.isPacked ? 2 * i + q : q]));
  return pairs;
}

Value ElementShifter::shift(Value halves) const {
  return emit.bitAnd(emit.shiftLeft(halves, format.shift),
                     format.mask * 0x00010001u);
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

Value blockscale::getGroupRegister(OpBuilder &b, Location loc, Operand operand,
                                   ArrayRef<Value> tiles, unsigned group,
                                   unsigned part) {
  // A tile of A has two groups of rows, whose registers alternate.
  unsigned groups = operand == Operand::A ? 2 : 1;
  return vector::ExtractOp::create(
      b, loc, tiles[group / groups],
      static_cast<int64_t>(part * groups + group % groups));
}

namespace {
/// Elements in fragments that were loaded from vectors.
class FragmentElements final : public ElementPairs {
public:
  FragmentElements(OpBuilder &b, Location loc,
                   const OperandFragments &fragments, Operand operand,
                   Format format, PairOrder order, Value lane)
      : b(b), loc(loc), fragments(fragments), operand(operand), order(order),
        shifter({b, loc}, format, order, lane) {}

  void load(const Step &step) override { number = step.number; }

  Pairs getPairs(unsigned group, unsigned i) override {
    if (order.isPacked)
      return shifter.shiftNibbles(
          getGroupRegister(b, loc, operand, fragments.getTiles(number / 2),
                           group, number % 2),
          i);
    return shifter.shiftBytes(getGroupRegister(
        b, loc, operand, fragments.getTiles(number), group, i));
  }

  bool takesValues() const override { return false; }

private:
  OpBuilder &b;
  Location loc;
  const OperandFragments &fragments;
  Operand operand;
  PairOrder order;
  ElementShifter shifter;
  int64_t number = 0;
};
} // namespace

ElementPairsPtr blockscale::makeFragmentElements(
    OpBuilder &b, Location loc, const OperandFragments &fragments,
    Operand operand, Format format, Kind kind, Value lane) {
  return std::make_unique<FragmentElements>(
      b, loc, fragments, operand, format,
      getPairOrder(kind, /*anyIsTransposed=*/false), lane);
}
