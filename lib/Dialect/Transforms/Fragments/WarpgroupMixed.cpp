//===- WarpgroupMixed.cpp - Mixed input with wgmma ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mixed-input mainloop with dequantization in registers, for wgmma. A lane
// loads 16 bytes of a row, its share of all instructions of a chunk. It shifts
// each pair of elements into position in a register of A and multiplies it by
// the scale. With a scale of the whole tensor, these bf16 values are exact
// steps on the way to the one rounding that `dequantize` promises; or for fp4
// that becomes bf16, the scale is a sum of two bf16 values (SplitScale.h).
//
// A sparse A differs in its metadata. A field is that of a chunk of one lane,
// and a word of an instruction has fields of the four lanes of a row. So lanes
// put nibbles of the words of all four together. Of four instructions, two
// lanes of a row make the words of two, and the other two lanes those of the
// others: the sparsity selector says whose an instruction reads.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"
#include "Fragments/Dequantize/ElementPairs.h"
#include "Fragments/Dequantize/SpecialTest.h"
#include "Fragments/Dequantize/SplitScale.h"
#include "Fragments/LanePatterns.h"
#include "Fragments/WarpgroupProducts.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kRows = kRowsOfLane;
/// The part of a row of a chunk that a lane loads.
static constexpr int64_t kLoadBytes = 16, kLoadWords = 4;

namespace {
/// bf16 or f16 factors, in pairs, for a lane's elements of a row of a chunk:
/// one for all of them, or one for each half.
using Factors = SmallVector<PairFactor, 2>;

/// The values of the eight magnitudes of e2m1: their low and their high bytes,
/// as prmt looks them up.
struct MagnitudeTable {
  std::array<Value, 2> lowBytes, highBytes;
};

class MixedInputEmitter {
public:
  MixedInputEmitter(OpBuilder &b, WarpgroupMmaMixedOp op, Value lane)
      : b(b), op(op), loc(op.getLoc()), emit(b, loc),
        format(op.getTypes().getB()), scale(op.getTypes().getScale()),
        result(op.getInstruction().getA()),
        value(op.getTensorScale() ? Format::BF16 : result),
        bits(getCodeFormat(format, value)), lane(emit.toWord(lane)),
        quarter(emit.bitAnd(this->lane, kLanesOfRow - 1)),
        isNibbles(getFormatInfo(format).bits == 4),
        isPairs(op.getTypes().getSparsity() == Granularity::Pairs),
        shifter(emit, format, getOrder(isNibbles, isPairs), lane, value),
        test(emit, format), furthest(emit.integer(0)) {
    Value given = op.getTensorScale();
    if (given && isScaleSplit(format, result)) {
      auto shift = static_cast<int>(
          getScaleShift(format, scale, value, /*isSplit=*/true));
      split.emplace(emit, given, scale, static_cast<int>(bits.exponent) - shift,
                    this->lane);
      isOutOfRange = split->isOutOfRange();
    } else if (given) {
      constexpr uint32_t kMagnitude = 0x7FFFFFFF, kInfinity = 0x7F800000;
      auto shift = static_cast<int>(getScaleShift(format, scale));
      Value scaled = emit.mul(given, emit.number(std::ldexp(1.0f, shift)));
      isOutOfRange = emit.isAtLeast(
          emit.bitAnd(emit.toBits(scaled), kMagnitude), kInfinity);
      // LLVM would fold products with a NaN to constants, which it moves to
      // registers behind the fence.
      tensorScale = emit.select(isOutOfRange, emit.number(1), scaled);
    }
  }

  /// Loads the quantized elements of all chunks.
  void load(Value lane);
  /// The registers of A for each instruction of `chunk`.
  SmallVector<SmallVector<Value>> makeFragments(int64_t chunk);
  /// The registers of metadata for the instructions of `chunk`, and the
  /// selectors; none if A is dense.
  SmallVector<std::pair<Value, unsigned>> makeMetadata(int64_t chunk);
  /// Returns `before`, with one bit more set if any bf16 value is inexact.
  Value emitInexact(Value before) const;

private:
  static PairOrder getOrder(bool isNibbles, bool isPairs) {
    if (isPairs)
      return {/*isPacked=*/false, /*isSwapped=*/false, PairShape::Alternate};
    return {isNibbles, /*isSwapped=*/false};
  }
  std::array<Value, 2> makeMetadataWords(int64_t chunk, int64_t part);
  /// The exponent that the values lack.
  unsigned getShift() const {
    return getScaleShift(format, scale, value, split.has_value());
  }
  unsigned getLowestScale() const;
  Factors makeFactors(int64_t chunk, int64_t row);
  PairFactor makePower(Value word, Value byte, Value areZero);
  Value areZero(ArrayRef<Value> elements) const;
  PairFactor makeFactor(Value word, Value byte);
  Value multiply(Value element, const PairFactor &factor) const;
  Pairs getPairs(int64_t chunk, int64_t row, unsigned instruction) const;
  Value emitElement(Value pair) const;
  Value round(Value pair) const;
  MagnitudeTable makeTable(Value factor) const;
  Pairs lookUp(const MagnitudeTable &table, Value word, unsigned i) const;

  OpBuilder &b;
  WarpgroupMmaMixedOp op;
  Location loc;
  WordEmitter emit;
  Format format, scale;
  /// Of the values that the instruction multiplies, bf16 or f16, and of those
  /// before the tensor scale.
  Format result, value;
  CodeFormat bits;
  Value lane, quarter;
  bool isNibbles;
  /// Whether A keeps pairs.
  bool isPairs;
  ElementShifter shifter;
  SpecialTest test;
  /// A tensor scale that is split.
  std::optional<SplitScale> split;
  /// One that is not, times what the values lack, see getScaleShift.
  Value tensorScale;
  /// Whether values with the tensor scale are inexact; null without one.
  Value isOutOfRange;
  /// The largest distance of a scale from the lowest exact one; for scales with
  /// a mantissa, the largest code of a scale.
  Value furthest;
  /// The registers with quantized elements, by chunk and row.
  SmallVector<ChunkWords> words;
};
} // namespace

SmallVector<ChunkWords> blockscale::loadChunks(OpBuilder &b, Location loc,
                                               TypedValue<MemRefType> elements,
                                               AccType acc, Value lane) {
  int64_t warps = cast<WarpColumnsAttr>(Attribute(acc.getLayout())).getWarps();
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  AffineExpr firstRow =
      d0.floorDiv(int64_t(kWarpLanes)) % warps * getAccFragment().rows;
  SmallVector<ChunkWords> words;
  for (int64_t chunk = 0; chunk != elements.getType().getDimSize(0); ++chunk) {
    words.emplace_back();
    for (auto [i, ofRow] : llvm::enumerate(words.back())) {
      auto reg = static_cast<unsigned>(getAccRegister(i, /*column=*/0));
      SmallVector<Value> position =
          applyExprs(b, loc,
                     {b.getAffineConstantExpr(chunk),
                      firstRow + getAccPosition(d1, reg).row,
                      d1 % kLanesOfRow * kLoadBytes},
                     {thread, lane});
      ofRow = loadWords(b, loc, elements, position, kLoadBytes);
    }
  }
  return words;
}

void MixedInputEmitter::load(Value laneIndex) {
  words =
      loadChunks(b, loc, op.getElements(), op.getAcc().getType(), laneIndex);
  if (!test.isNeeded())
    return;
  for (const ChunkWords &chunk : words)
    for (ArrayRef<Value> row : chunk)
      for (Value word : row)
        test.add(word);
}

/// Whether all of these quantized elements are zero.
Value MixedInputEmitter::areZero(ArrayRef<Value> elements) const {
  uint32_t magnitudes = getFormatInfo(format).magnitudeMask() *
                        (isNibbles ? 0x11111111u : 0x01010101u);
  Value any = elements.front();
  for (Value word : elements.drop_front())
    any = emit.bitOr(any, word);
  return emit.isEqual(emit.bitAnd(any, magnitudes), 0);
}

/// The lowest code of a scale that is a power of two with which values are
/// exact. The low part of a split tensor scale has 10 bits, bf16 has 7.
unsigned MixedInputEmitter::getLowestScale() const {
  constexpr unsigned kBitsBelow = 10 - 7;
  return bits.lowestScale + getShift() + (split ? kBitsBelow : 0);
}

/// The factor of a scale that is a power of two: 2^(code - 127), times the
/// powers that the shifted elements and getScaleShift lack. A scale that is too
/// small does not matter if all elements are zero, as in a block of zeros.
PairFactor MixedInputEmitter::makePower(Value word, Value byte, Value areZero) {
  constexpr uint32_t kZeros = 0x4440, kLowestBits = 0x00800080,
                     kLowestOfHalf = 0x04000400;
  Value code = emit.permute(word, {}, emit.add(byte, kZeros));
  if (split)
    code = emit.add(code, split->getExponent());
  Value distance = emit.sub(code, emit.integer(getLowestScale()));
  Value notBelow = emit.maxS(distance, 0);
  distance = emit.select(areZero, notBelow, distance);
  furthest = emit.maxU(furthest, distance);
  if (value == Format::F16) {
    constexpr uint32_t kDifferenceOfBiases = 127 - 15;
    Value exponent =
        emit.maxS(emit.add(code, bits.scaleExponent - kDifferenceOfBiases), 0);
    return {emit.toPair(emit.mul(exponent, kLowestOfHalf), value), {}};
  }
  Value power = emit.toPair(emit.add(
      emit.mul(code, kLowestBits), (bits.exponent - getShift()) * kLowestBits));
  return split ? split->scale(power) : PairFactor{power, {}};
}

/// The factor of a scale with a mantissa.
PairFactor MixedInputEmitter::makeFactor(Value word, Value byte) {
  constexpr uint32_t kZeros = 0x4040, kBothHalves = 0x0101,
                     kMagnitudes = 0x007F007F;
  if (split) {
    constexpr uint32_t kZerosAbove = 0x4440, kMagnitudesOfWord = 0x7F7F7F7F;
    Value code = emit.permute(emit.bitAnd(word, kMagnitudesOfWord), {},
                              emit.add(byte, kZerosAbove));
    furthest = emit.maxU(furthest, code);
    return split->scaleByCode(code);
  }
  constexpr unsigned kShift = 4;
  // The shifted code, as a bf16, is 2^-120 times the scale; as an f16, 2^-8.
  constexpr int kShifted = 120, kLargest = 127, kShiftedHalf = 8;
  int exponent =
      kShifted + static_cast<int>(bits.exponent) - static_cast<int>(getShift());
  Value selector = emit.add(emit.mul(byte, kBothHalves), kZeros);
  Value scales = emit.bitAnd(emit.permute(word, {}, selector), kMagnitudes);
  furthest = emit.maxU(furthest, scales);
  if (value == Format::F16)
    return {
        emit.mul(emit.toPair(emit.shiftLeft(scales, kShift + 3), value),
                 emit.toPair(emit.integer(getPowerPair(kShiftedHalf, value)),
                             value)),
        {}};
  Value factor = emit.toPair(emit.shiftLeft(scales, kShift));
  for (int power : {kLargest, exponent - kLargest})
    factor = emit.mul(factor, emit.toPair(emit.integer(getPowerPair(power))));
  return {factor, {}};
}

/// A shifted pair times the factor of its scale.
Value MixedInputEmitter::multiply(Value element,
                                  const PairFactor &factor) const {
  Value pair = emitElement(element);
  if (!factor.low)
    return emit.fromPair(emit.mul(pair, factor.high));
  return emit.fromPair(LLVM::FMAOp::create(b, loc, pair, factor.high,
                                           emit.mul(pair, factor.low)));
}

Factors MixedInputEmitter::makeFactors(int64_t chunk, int64_t row) {
  int64_t blocks = op.getChunkBlocks(), first = chunk * blocks;
  auto scales = op.getScales();
  auto getWord = [&](int64_t block) -> Value {
    return scales[static_cast<size_t>(
        row * static_cast<int64_t>(scales.size()) / kRows +
        block / kBlocksOfWord)];
  };
  bool isPower = getFormatInfo(scale).mantissaBits == 0;
  auto make = [&](Value word, Value byte, ArrayRef<Value> elements) {
    return isPower ? makePower(word, byte, areZero(elements))
                   : makeFactor(word, byte);
  };
  ArrayRef<Value> elements = words[chunk][row];
  if (blocks <= kBlocksOfWord) {
    // Each lane of a row has one block, or two lanes share one.
    Value byte = emit.shiftRight(
        quarter, llvm::Log2_64(static_cast<uint64_t>(kLanesOfRow / blocks)));
    if (first % kBlocksOfWord != 0)
      byte = emit.add(byte, static_cast<uint32_t>(first % kBlocksOfWord));
    return {make(getWord(first), byte, elements)};
  }
  // Each lane has two blocks, whose scales are in one of two words.
  Value isSecond = emit.isAtLeast(quarter, kLanesOfRow / 2);
  Value word =
      emit.select(isSecond, getWord(first + kBlocksOfWord), getWord(first));
  Value byte = emit.shiftLeft(emit.bitAnd(quarter, 1), 1);
  return {make(word, byte, elements.take_front(kLoadWords / 2)),
          make(word, emit.add(byte, 1), elements.drop_front(kLoadWords / 2))};
}

Pairs MixedInputEmitter::getPairs(int64_t chunk, int64_t row,
                                  unsigned instruction) const {
  const SmallVector<Value> &of = words[chunk][row];
  if (isPairs) {
    // Of a pair, one instruction has the first elements, the next one the
    // second ones.
    constexpr unsigned kHalf = 16;
    Value word = of[instruction / 2];
    Pairs first = shifter.shiftNibbles(word, 0),
          second = shifter.shiftNibbles(emit.shiftRight(word, kHalf), 0);
    return {first[instruction % 2], second[instruction % 2]};
  }
  if (isNibbles)
    return shifter.shiftNibbles(of[instruction / 2], instruction % 2);
  return shifter.shiftBytes(of[instruction]);
}

/// A shifted pair as a factor beside that of its scale. In f16, no single
/// factor has the exponents of both.
Value MixedInputEmitter::emitElement(Value pair) const {
  Value element = emit.toPair(pair, value);
  bool isPower = getFormatInfo(scale).mantissaBits == 0;
  auto exponent =
      static_cast<int>(bits.exponent - (isPower ? bits.scaleExponent : 0));
  if (value != Format::F16 || exponent == 0)
    return element;
  return emit.mul(
      element, emit.toPair(emit.integer(getPowerPair(exponent, value)), value));
}

/// A pair of dequantized elements times the tensor scale, if there is one:
/// rounded to f32, and then to the values of the instruction.
Value MixedInputEmitter::round(Value pair) const {
  if (!tensorScale)
    return pair;
  // The bits of a bf16 are the upper half of an f32.
  Value halves[] = {emit.shiftLeft(pair, 16), emit.bitAnd(pair, 0xFFFF0000)};
  for (Value &half : halves)
    half = emit.mul(emit.fromBits(half), tensorScale);
  Type type =
      result == Format::F16 ? Type(b.getF16Type()) : Type(b.getBF16Type());
  Value both = vector::FromElementsOp::create(
      b, loc, VectorType::get(2, b.getF32Type()), halves);
  return emit.fromPair(
      arith::TruncFOp::create(b, loc, VectorType::get(2, type), both));
}

/// The dequantized magnitudes for `factor`. Rounding eight of them costs less
/// than rounding all elements of a block.
MagnitudeTable MixedInputEmitter::makeTable(Value factor) const {
  constexpr uint32_t kEven = 0x6420, kOdd = 0x7531, kNibble = 4, kHalf = 16;
  std::array<Value, 4> pairs;
  for (auto [i, pair] : llvm::enumerate(pairs)) {
    auto first = static_cast<uint32_t>(2 * i);
    Value codes =
        emit.integer(first << kNibble | (first + 1) << (kHalf + kNibble));
    pair = round(
        emit.fromPair(emit.mul(emit.toPair(shifter.shift(codes)), factor)));
  }
  auto select = [&](size_t i, uint32_t bytes) {
    return emit.permute(pairs[i], pairs[i + 1], emit.integer(bytes));
  };
  return {{select(0, kEven), select(2, kEven)},
          {select(0, kOdd), select(2, kOdd)}};
}

/// The elements of half `i` of a register with an element in each nibble.
Pairs MixedInputEmitter::lookUp(const MagnitudeTable &table, Value word,
                                unsigned i) const {
  constexpr uint32_t kMagnitudes = 0x7777, kSigns = 0x80808080, kHalf = 16,
                     kFirst = 0x5140, kSecond = 0x7362;
  if (i != 0)
    word = emit.shiftRight(word, kHalf);
  Value magnitudes = emit.bitAnd(word, kMagnitudes);
  Value low = emit.permute(table.lowBytes[0], table.lowBytes[1], magnitudes);
  Value high = emit.permute(table.highBytes[0], table.highBytes[1], magnitudes);
  // Where bit 3 of a nibble is set, prmt copies the top bit of the byte to all
  // of its bits.
  Value signs = emit.permute(emit.integer(kSigns), emit.integer(kSigns), word);
  high = emit.bitXor(high, emit.bitAnd(emit.shiftLeft(signs, 1), kSigns));
  return {emit.permute(low, high, emit.integer(kFirst)),
          emit.permute(low, high, emit.integer(kSecond))};
}

SmallVector<SmallVector<Value>>
MixedInputEmitter::makeFragments(int64_t chunk) {
  auto count =
      static_cast<unsigned>(op.getChunkElements() / op.getInstruction().getK());
  std::array<Factors, kRows> factors = {makeFactors(chunk, 0),
                                        makeFactors(chunk, 1)};
  // With two blocks in a lane, tables cost more than they save where products
  // of few rows of x hide nothing of that.
  constexpr int64_t kManyRows = 64;
  bool hasTables =
      tensorScale && isNibbles &&
      (factors[0].size() == 1 || op.getInstruction().getN() >= kManyRows);
  std::array<SmallVector<MagnitudeTable, 2>, kRows> tables;
  if (hasTables)
    for (auto [table, ofRow] : llvm::zip_equal(tables, factors))
      for (const PairFactor &factor : ofRow)
        table.push_back(makeTable(factor.high));
  SmallVector<SmallVector<Value>> fragments;
  for (unsigned i = 0; i != count; ++i) {
    SmallVector<Value> registers(kRegistersOfA);
    for (int64_t row = 0; row != kRows; ++row) {
      size_t block = i * factors[row].size() / count;
      Pairs pairs;
      if (hasTables)
        pairs = lookUp(tables[row][block], words[chunk][row][i / 2], i % 2);
      else
        for (auto [pair, element] :
             llvm::zip_equal(pairs, getPairs(chunk, row, i)))
          pair = round(multiply(element, factors[row][block]));
      for (auto [half, pair] : llvm::enumerate(pairs))
        registers[half * kRows + row] = pair;
    }
    fragments.push_back(registers);
  }
  return fragments;
}

/// The lane's two registers of metadata for the instructions whose fields are
/// in byte `i` of word `part` of each quarter, i < 4: one for even, one for odd
/// i. Lanes 0 and 1 of a row have those of i < 2.
std::array<Value, 2> MixedInputEmitter::makeMetadataWords(int64_t chunk,
                                                          int64_t part) {
  constexpr uint32_t kLowNibbles = 0x0F0F0F0F, kNibble = 4;
  constexpr uint32_t kFirstBytes = 0x5140, kLastBytes = 0x7362,
                     kLowHalves = 0x5410, kHighHalves = 0x7632;
  // An even lane has the first four chunks of an instruction, in low nibbles.
  Value odd = emit.mul(emit.bitAnd(lane, 1), kNibble);
  Value even = emit.bitXor(odd, kNibble);
  Value bytes =
      emit.select(emit.isAtLeast(quarter, kLanesOfRow / 2),
                  emit.integer(kLastBytes), emit.integer(kFirstBytes));
  auto metadata = op.getMetadata();
  int64_t wordsOfChunk = op.getMetadataWords(),
          wordsOfRow = static_cast<int64_t>(metadata.size()) / kRows,
          parts = wordsOfChunk / kLanesOfRow;
  std::array<Value, kRows> rows;
  for (int64_t row = 0; row != kRows; ++row) {
    auto get = [&](int64_t quarterOfRow) -> Value {
      return metadata[static_cast<size_t>(row * wordsOfRow +
                                          chunk * wordsOfChunk +
                                          quarterOfRow * parts + part)];
    };
    auto join = [&](int64_t first) {
      return emit.bitOr(
          emit.bitAnd(emit.shiftRight(get(first), odd), kLowNibbles),
          emit.bitAnd(emit.shiftLeft(get(first + 1), even), ~kLowNibbles));
    };
    rows[static_cast<size_t>(row)] = emit.permute(join(0), join(2), bytes);
  }
  return {emit.permute(rows[0], rows[1], emit.integer(kLowHalves)),
          emit.permute(rows[0], rows[1], emit.integer(kHighHalves))};
}

SmallVector<std::pair<Value, unsigned>>
MixedInputEmitter::makeMetadata(int64_t chunk) {
  SmallVector<std::pair<Value, unsigned>> result;
  for (int64_t part = 0; part != op.getMetadataWords() / kLanesOfRow; ++part) {
    std::array<Value, 2> registers = makeMetadataWords(chunk, part);
    for (unsigned i = 0; i != 4; ++i)
      // With pairs, two instructions have the same fields.
      result.append(isPairs ? 2 : 1, {registers[i % 2], i / 2});
  }
  return result;
}

Value MixedInputEmitter::emitInexact(Value before) const {
  constexpr uint32_t kNaN = 0x7F, kNaNs = 0x007F007F;
  // The largest exponent field of a finite factor. A split tensor scale is at
  // most 2.
  unsigned largestExponent = split ? 253 : 254;
  unsigned highest = value == Format::F16
                         ? bits.highestScale
                         : largestExponent - bits.exponent + getShift();
  uint32_t first = highest - getLowestScale() + 1;
  if (getFormatInfo(scale).mantissaBits != 0)
    first = split ? kNaN : kNaNs;
  auto toBit = [&](Value isInexact) {
    return emit.select(isInexact, emit.integer(1), emit.integer(0));
  };
  Value inexact = emit.bitOr(before, toBit(emit.isAtLeast(furthest, first)));
  if (test.isNeeded())
    inexact = emit.bitOr(inexact, toBit(test.isFound()));
  if (isOutOfRange)
    inexact = emit.bitOr(inexact, toBit(isOutOfRange));
  return inexact;
}

static FailureOr<LaneResults>
lowerWarpgroupMmaMixed(WarpgroupMmaMixedOp op,
                       LaneOperands<WarpgroupMmaMixedOp> operands, Value lane,
                       ConversionPatternRewriter &b) {
  Location loc = op.getLoc();
  MixedInputEmitter emitter(b, op, lane);
  emitter.load(lane);
  SmallVector<Value> sums(operands.getAcc());
  InstructionAttr instruction = op.getInstruction();
  auto getText = [&](unsigned selector) {
    return getProductText(instruction, sums.size(), /*isAInRegisters=*/true,
                          ", 0", selector);
  };
  int64_t step = 0;
  for (int64_t chunk = 0; chunk != op.getElements().getType().getDimSize(0);
       ++chunk) {
    SmallVector<SmallVector<Value>> fragments = emitter.makeFragments(chunk);
    SmallVector<std::pair<Value, unsigned>> metadata =
        emitter.makeMetadata(chunk);
    // Registers must be written before wgmma reads them.
    sums = emitOnSums(b, loc, "wgmma.fence.sync.aligned;", sums, {});
    for (auto [i, others] : llvm::enumerate(fragments)) {
      constexpr int64_t kValueBytes = 2;
      int64_t byte = getStepOffset(op.getB().getType(), op.getLayout(), step++,
                                   instruction.getK(), kValueBytes);
      Value offset = arith::ConstantIndexOp::create(b, loc, byte);
      others.push_back(MatrixDescriptorOp::create(
          b, loc, op.getB(), offset, op.getLayout(), /*wgmma=*/true));
      unsigned selector = 0;
      if (instruction.isSparse()) {
        others.push_back(metadata[i].first);
        selector = metadata[i].second;
      }
      sums = emitOnSums(b, loc, getText(selector), sums, others);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  }
  Value inexact = emitter.emitInexact(operands.getInexact().front());
  return LaneResults{sums, {inexact}};
}

static FailureOr<LaneResults>
lowerAccTranspose(AccTransposeOp op, LaneOperands<AccTransposeOp> operands,
                  Value, ConversionPatternRewriter &) {
  // An accumulator in warp_columns has the registers in their order.
  const FragmentLayout &fragment = getAccFragment();
  AccType type = op.getResult().getType();
  WarpTile tile = {fragment.rows, type.getN(), {}, {}, 1, 1};
  ValueRange elements = operands.getAcc();
  SmallVector<Value> results(elements.size());
  size_t next = 0;
  for (int64_t n = 0; n != type.getN() / fragment.columns; ++n)
    for (int64_t at : getTileElements(tile, 0, n))
      results[static_cast<size_t>(at)] = elements[next++];
  return LaneResults{results};
}

void blockscale::populateWarpgroupMixedPatterns(const TypeConverter &converter,
                                                RewritePatternSet &patterns,
                                                Value lane) {
  addLanePatterns(converter, patterns, lane, lowerWarpgroupMmaMixed,
                  lowerAccTranspose);
}
