//===- TileElements.cpp - Elements in shared memory -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of operands in shared memory, with one class for each layout:
// contiguous along K (as fragments of mma.sync, or packed if the other operand
// is in bytes), contiguous along rows, and high-precision elements.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/ElementPairs.h"
#include "Fragments/FragmentLoads.h"
#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The thread of a lane in the quad that has its row.
static AffineExpr getThread(AffineExpr lane) { return lane % kLanesOfRow; }

/// The elements of a step along K.
static unsigned getStepElements(TileMmaOp op, Operand operand) {
  bool isSparseB = op.getInstruction().isSparse() && operand == Operand::B;
  return isSparseB ? 2 * kStepElements : kStepElements;
}

/// The index of `step` as a value.
static Value getStepValue(const WordEmitter &emit, const Step &step) {
  return step.value ? step.value : emit.index(step.number);
}

//===----------------------------------------------------------------------===//
// Contiguous along K
//===----------------------------------------------------------------------===//

namespace {
/// Elements in the slots of the instruction, or padded.
class FragmentTile : public ElementPairs {
public:
  FragmentTile(OpBuilder &b, TileMmaOp op, Operand operand, Format format,
               PairOrder order, Value lane, Value first, int64_t rows)
      : emit{b, op.getLoc()}, shifter(emit, format, order, lane),
        operand(operand), order(order), lane(lane),
        isPadded(op.getLayout(operand).storage == Storage::Padded),
        loader(b, op, operand, lane, first, rows) {}

  void load(const Step &step) override {
    if (!order.isPacked) {
      tiles = loadTiles(step);
      return;
    }
    // A fragment of nibbles has two steps.
    if (step.value) {
      AffineExpr d0 = getAffineDimExpr(0, emit.b.getContext());
      SmallVector<Value> halves =
          applyExprs(emit.b, emit.loc, {d0.floorDiv(2), d0 % 2}, step.value);
      tiles = loader.loadStep(halves[0]);
      isSecond = emit.isDifferent(emit.toWord(halves[1]), 0);
      return;
    }
    if (step.number % 2 == 0 || tiles.empty())
      tiles = loader.loadStep(step.number / 2);
    part = step.number % 2;
  }

  Pairs getPairs(unsigned group, unsigned i) override {
    if (order.isPacked) {
      Value word = getRegister(group, part);
      if (isSecond) {
        Value second = getRegister(group, 1);
        word = emit.select(isSecond, second, word);
      }
      return shifter.shiftNibbles(word, i);
    }
    return shifter.shiftBytes(getBytes(group, i));
  }

protected:
  SmallVector<Value> loadTiles(const Step &step) {
    return step.value ? loader.loadStep(step.value)
                      : loader.loadStep(step.number);
  }

  /// A register with an element in each byte.
  Value getBytes(unsigned group, unsigned number) {
    Value word = getRegister(group, number);
    return isPadded ? spreadElements(word) : word;
  }

private:
  Value getRegister(unsigned group, unsigned number) {
    return getGroupRegister(emit.b, emit.loc, operand, tiles, group, number);
  }

  /// Of 16 elements of 6 bits, lane t has bytes 4 t to 4 t + 3. Returns
  /// elements 4 t to 4 t + 3, each in a byte.
  Value spreadElements(Value word) {
    AffineExpr l = getAffineDimExpr(0, emit.b.getContext());
    // They are bytes 3 t to 3 t + 2, which start at byte 4 - t of the previous
    // lane's word. (The fourth byte repeats the first one, because the byte
    // after the third may be padding.)
    SmallVector<Value> at =
        applyExprs(emit.b, emit.loc,
                   {(l + 31) % 32, -getThread(l) * 0x1111 + 0x4654}, lane);
    Value before = emit.shuffle(word, emit.toWord(at[0]));
    Value codes = emit.permute(before, word, emit.toWord(at[1]));
    // Two elements in each half, then one in each byte.
    auto spread = [&](Value x, uint32_t low, unsigned by, uint32_t high) {
      Value kept = emit.bitAnd(x, low);
      return emit.bitOr(kept, emit.bitAnd(emit.shiftLeft(x, by), high));
    };
    Value halves = spread(codes, 0x00000FFF, 4, 0x0FFF0000);
    return spread(halves, 0x003F003F, 2, 0x3F003F00);
  }

protected:
  WordEmitter emit;
  ElementShifter shifter;
  SmallVector<Value> tiles;

private:
  Operand operand;
  PairOrder order;
  Value lane;
  bool isPadded;
  FragmentLoader loader;
  /// The half of the fragments that belongs to the step: a constant, or a
  /// value.
  unsigned part = 0;
  Value isSecond;
};

/// B of a sparse instruction: the fragments of two steps of 32 elements.
class SparseFragmentTile final : public FragmentTile {
public:
  SparseFragmentTile(OpBuilder &b, TileMmaOp op, Format format, PairOrder order,
                     Value lane, Value first, int64_t rows)
      : FragmentTile(b, op, Operand::B, format, order, lane, first, rows),
        isCrossed(order.shape == PairShape::Crossed) {}

  void load(const Step &step) override {
    current = step;
    half.reset();
  }

  Pairs getPairs(unsigned group, unsigned i) override {
    if (half != i / 2) {
      half = i / 2;
      crossed.clear();
      tiles = loadTiles(current.getPart(emit, i / 2, 2));
    }
    if (!isCrossed)
      return shifter.shiftBytes(getBytes(group, i % 2));
    auto [it, isNew] = crossed.try_emplace(group);
    if (isNew)
      it->second = shifter.shiftCrossed(getBytes(group, 0), getBytes(group, 1));
    return it->second[i % 2];
  }

private:
  bool isCrossed;
  Step current = {};
  std::optional<unsigned> half;
  llvm::SmallDenseMap<unsigned, std::array<Pairs, 2>> crossed;
};

/// Packed elements, with the other operand in bytes, or for a sparse
/// instruction. Of each 16 elements, a lane has those at the same positions
/// along K as of the other operand: two bytes, or two of four where pairs are
/// crossed.
class PackedTile final : public ElementPairs {
public:
  PackedTile(OpBuilder &b, TileMmaOp op, Operand operand, Format format,
             PairOrder order, Value lane, Value first)
      : emit{b, op.getLoc()},
        memory(operand == Operand::A ? op.getA() : op.getB()),
        stepChunks(getStepElements(op, operand) / kStepElements),
        isCrossed(order.shape == PairShape::Crossed),
        shifter(emit, format, order, lane) {
    ChunkSwizzle chunks =
        getChunkSwizzle(cast<MemRefType>(memory.getType()).getDimSize(1));
    AffineExpr l, f;
    bindDims(b.getContext(), l, f);
    AffineExpr group = l.floorDiv(kLanesOfRow);
    SmallVector<Value> values = applyExprs(
        b, emit.loc,
        {f + group, isCrossed ? getThread(l).floorDiv(2) * 4 : getThread(l) * 2,
         group.floorDiv(chunks.rowsPerStep) % chunks.modulus,
         getThread(l) % 2 * 0x11 + 0x4420},
        {lane, first});
    row = values[0];
    byte = values[1];
    if (isCrossed)
      selector = emit.toWord(values[3]);
    if (op.getLayout(operand).isSwizzled)
      swizzle = values[2];
  }

  void load(const Step &step) override { current = step; }

  /// Each 32 elements are one chunk, those of an instruction half of it.
  Pairs getPairs(unsigned group, unsigned i) override {
    Step part =
        stepChunks == 1 ? current : current.getPart(emit, i / 2, stepChunks);
    Value chunk = getStepValue(emit, part);
    if (swizzle)
      chunk = arith::XOrIOp::create(emit.b, emit.loc, chunk, swizzle);
    Value at = addIndex(emit.b, emit.loc, row, group * kGroupRows);
    AffineExpr c, d;
    bindDims(emit.b.getContext(), c, d);
    Value first = applyExpr(emit.b, emit.loc,
                            c * kChunkBytes + d + i % 2 * (kChunkBytes / 2),
                            {chunk, byte});
    if (!isCrossed)
      return shifter.shiftNibbles(loadHalf(at, first), i);
    // Bytes 0 and 2, or 1 and 3.
    Value word =
        loadWords(emit.b, emit.loc, memory, {at, first}, kWordBytes).front();
    return shifter.shiftNibbles(emit.permute(word, {}, selector), i);
  }

private:
  Value loadHalf(Value at, Value first) {
    OpBuilder &b = emit.b;
    Value bytes = vector::LoadOp::create(
        b, emit.loc, VectorType::get(2, b.getI8Type()), memory,
        ValueRange{at, first}, /*nontemporal=*/false, llvm::MaybeAlign(2));
    Value half = vector::ExtractOp::create(
        b, emit.loc,
        vector::BitCastOp::create(b, emit.loc,
                                  VectorType::get(1, b.getI16Type()), bytes),
        0);
    return arith::ExtUIOp::create(b, emit.loc, b.getI32Type(), half);
  }

  static constexpr int64_t kWordBytes = 4;
  WordEmitter emit;
  Value memory;
  /// Chunks of 16 bytes in a step.
  unsigned stepChunks;
  bool isCrossed;
  ElementShifter shifter;
  Value row, byte, swizzle, selector;
  Step current = {};
};
} // namespace

//===----------------------------------------------------------------------===//
// Contiguous along rows
//===----------------------------------------------------------------------===//

namespace {
/// ldmatrix returns to a lane 16 bits for each of two positions along K:
/// elements of two rows, or of four, which belong to interleaved groups.
class TransposedTile final : public ElementPairs {
public:
  TransposedTile(OpBuilder &b, TileMmaOp op, Operand operand, Format format,
                 PairOrder order, Value lane, Value first)
      : emit{b, op.getLoc()},
        memory(operand == Operand::A ? op.getA() : op.getB()),
        format(getCodeFormat(format)),
        stepParts(getStepElements(op, operand) / kStepElements),
        shifter(emit, format, order, lane) {
    TileLayout layout = op.getLayout(operand);
    turns = getInterleave(op.getInstruction().getKind(), layout,
                          op.getSlot(operand));
    rowBytes = cast<MemRefType>(memory.getType()).getDimSize(1);
    ChunkSwizzle chunks = getChunkSwizzle(rowBytes);
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    memoryRow = applyExpr(b, emit.loc, getMemoryRow(d0, order), lane);
    SmallVector<Value> values =
        applyExprs(b, emit.loc,
                   {d0.floorDiv(chunks.rowsPerStep) % chunks.modulus,
                    d1.floorDiv(kGroupRows * turns)},
                   {memoryRow, first});
    if (layout.isSwizzled)
      swizzle = values[0];
    chunk = values[1];
  }

  void load(const Step &step) override {
    current = step;
    loaded.clear();
  }

  Pairs getPairs(unsigned group, unsigned i) override {
    const Words &words = loadChunk(group / turns, i / kInstructionsPerStep);
    i %= kInstructionsPerStep;
    Pairs pairs;
    for (unsigned q : {0, 1})
      pairs[q] = turns == 2 ? shiftBytes(words[2 * i + q], group % turns)
                            : shiftNibbles(words[2 * i + q], group % turns);
    return pairs;
  }

private:
  /// A lane's elements of 32 along K, in the order of pairs.
  static constexpr unsigned kWords = 2 * kInstructionsPerStep;
  using Words = std::array<Value, kWords>;

  /// The row of memory, one of 32 elements along K, that `lane`
  /// passes to ldmatrix. It is row lane mod 8 of matrix lane div 8, and becomes
  /// the pair of that index in the lanes whose thread is (lane mod 8) div 2.
  /// See PairOrder.
  static AffineExpr getMemoryRow(AffineExpr lane, PairOrder order) {
    AffineExpr pair = lane.floorDiv(8), row = lane % 8;
    AffineExpr first = pair.floorDiv(2) * 16, thread = row.floorDiv(2);
    if (order.shape == PairShape::Crossed)
      return first + thread.floorDiv(2) * 8 + pair % 2 * 4 + row % 4;
    if (!order.isPacked && !order.isSwapped) {
      int64_t distance = getPairDistance(order);
      return first + thread * 4 + pair % 2 * (3 - distance) +
             row % 2 * distance;
    }
    auto exclusiveOr = [](AffineExpr x, AffineExpr y) { return (x + y) % 2; };
    if (order.isPacked)
      return row.floorDiv(2) * 8 +
             exclusiveOr(pair.floorDiv(2), row.floorDiv(4)) * 4 +
             exclusiveOr(pair, row.floorDiv(2)) * 2 + row % 2;
    return pair.floorDiv(2) * 16 + row.floorDiv(2) * 4 +
           exclusiveOr(pair, row.floorDiv(4)) * 2 + row % 2;
  }

  /// `part` is the half of a step of 64 elements, else 0.
  const Words &loadChunk(unsigned number, unsigned part) {
    auto [it, isNew] = loaded.try_emplace({number, part});
    if (!isNew)
      return it->second;
    OpBuilder &b = emit.b;
    AffineExpr c, l, s;
    bindDims(b.getContext(), c, l, s);
    Value at = addIndex(b, emit.loc, chunk, number);
    if (swizzle)
      at = arith::XOrIOp::create(b, emit.loc, at, swizzle);
    int64_t partBytes = kStepElements * rowBytes,
            stepBytes = stepParts * partBytes;
    Value offset =
        applyExpr(b, emit.loc, c * kChunkBytes + l * rowBytes, {at, memoryRow});
    if (current.value)
      offset = applyExpr(b, emit.loc, c + s * stepBytes,
                         {offset, memoryRow, current.value});
    auto type = VectorType::get(kWords, b.getI32Type());
    constexpr unsigned kTransposedBits = 16;
    Value matrices = LoadMatrixOp::create(
        b, emit.loc, type, memory, offset,
        (current.value ? 0 : current.number * stepBytes) + part * partBytes,
        kTransposedBits,
        /*transposed=*/true);
    for (unsigned i = 0; i != kWords; ++i)
      it->second[i] = vector::ExtractOp::create(b, emit.loc, matrices, i);
    return it->second;
  }

  /// Of each half, the element of row `turn` of two.
  Value shiftBytes(Value word, unsigned turn) {
    constexpr std::array<uint32_t, 2> kSelectors = {0xA280, 0xB391};
    word = emit.shiftLeft(word, format.signShift);
    return shifter.shift(
        emit.permute(word, {}, emit.integer(kSelectors[turn])));
  }

  /// Of each half, the element of row `turn` of four. One multiplication copies
  /// it to the sign and to the bits below.
  Value shiftNibbles(Value word, unsigned turn) {
    constexpr std::array<uint32_t, 2> kNibbles = {0x000F000F, 0x00F000F0};
    constexpr std::array<uint32_t, 2> kFactors = {0x1040, 0x0104};
    Value byte = emit.shiftRight(word, turn / 2 * 8);
    Value copies =
        emit.mul(emit.bitAnd(byte, kNibbles[turn % 2]), kFactors[turn % 2]);
    return emit.bitAnd(copies, format.mask * 0x00010001u);
  }

  WordEmitter emit;
  Value memory;
  CodeFormat format;
  unsigned stepParts;
  ElementShifter shifter;
  unsigned turns;
  int64_t rowBytes;
  Value memoryRow, swizzle, chunk;
  Step current = {};
  llvm::SmallDenseMap<std::pair<unsigned, unsigned>, Words> loaded;
};
} // namespace

//===----------------------------------------------------------------------===//
// High precision
//===----------------------------------------------------------------------===//

namespace {
/// bf16 or f16 elements. A lane has 16 bytes of a row for each step, at the
/// positions along K of its elements of the other operand: contiguous if that
/// is packed, else 8 bytes for each instruction.
class HighPrecisionTile final : public ElementPairs {
public:
  HighPrecisionTile(OpBuilder &b, TileMmaOp op, PairOrder order, Value lane,
                    Value first)
      : emit{b, op.getLoc()}, memory(op.getA()), order(order),
        exchangeBits(getExchangeBits(emit, order, lane)) {
    ChunkSwizzle chunks =
        getChunkSwizzle(cast<MemRefType>(memory.getType()).getDimSize(1));
    AffineExpr l, f;
    bindDims(b.getContext(), l, f);
    AffineExpr group = l.floorDiv(kLanesOfRow), thread = getThread(l);
    AffineExpr byte = thread * getBytes();
    SmallVector<Value> values =
        applyExprs(b, emit.loc,
                   {f + group, byte.floorDiv(kChunkBytes), byte % kChunkBytes,
                    group.floorDiv(chunks.rowsPerStep) % chunks.modulus},
                   {lane, first});
    row = values[0];
    chunk = values[1];
    inChunk = values[2];
    if (op.getLayout(Operand::A).isSwizzled)
      chunk = arith::XOrIOp::create(b, emit.loc, chunk, values[3]);
  }

  void load(const Step &step) override {
    current = step;
    loaded.clear();
  }

  Pairs getPairs(unsigned group, unsigned i) override {
    if (!order.isPacked) {
      SmallVector<Value> words = loadWords(group, i);
      return {words[0], words[1]};
    }
    SmallVector<Value> &words = loaded[group];
    if (words.empty())
      words = loadWords(group, 0);
    return {words[2 * i], words[2 * i + 1]};
  }

private:
  /// The bytes of one load.
  int64_t getBytes() const {
    return order.isPacked ? kChunkBytes : kChunkBytes / 2;
  }

  SmallVector<Value> loadWords(unsigned group, unsigned i) {
    OpBuilder &b = emit.b;
    constexpr int64_t kStepChunks = kStepElements * 2 / kChunkBytes;
    // The index of the step and the lane's chunk have no bit in common.
    AffineExpr s, c, d;
    bindDims(b.getContext(), s, c, d);
    Value step = applyExpr(b, emit.loc, s * kStepChunks + i * (kStepChunks / 2),
                           getStepValue(emit, current));
    Value at = arith::XOrIOp::create(b, emit.loc, chunk, step);
    Value byte =
        applyExpr(b, emit.loc, c * kChunkBytes + d, {step, at, inChunk});
    Value rowAt = addIndex(b, emit.loc, row, group * kGroupRows);
    return exchange(
        emit,
        blockscale::loadWords(b, emit.loc, memory, {rowAt, byte}, getBytes()),
        exchangeBits);
  }

  WordEmitter emit;
  Value memory;
  PairOrder order;
  SmallVector<Value> exchangeBits;
  Value row, chunk, inChunk;
  Step current = {};
  llvm::SmallDenseMap<unsigned, SmallVector<Value>> loaded;
};
} // namespace

/// The order of the pairs of `operand` of `op`.
static PairOrder getOrderOf(TileMmaOp op, Operand operand) {
  if (std::optional<Granularity> sparsity = op.getInstruction().getSparsity())
    return getSparsePairOrder(*sparsity, operand == Operand::A);
  bool isTransposed = op.getLayout(Operand::A).major == Major::MN ||
                      op.getLayout(Operand::B).major == Major::MN;
  return getPairOrder(op.getInstruction().getKind(), isTransposed);
}

ElementPairsPtr blockscale::makeHighPrecisionTile(OpBuilder &b, TileMmaOp op,
                                                  Value lane, Value first) {
  return std::make_unique<HighPrecisionTile>(b, op, getOrderOf(op, Operand::A),
                                             lane, first);
}

ElementPairsPtr blockscale::makeTileElements(OpBuilder &b, TileMmaOp op,
                                             Operand operand, Value lane,
                                             Value first, int64_t rows) {
  PairOrder order = getOrderOf(op, operand);
  bool isSparse = op.getInstruction().isSparse();
  TypeCombinationAttr types = op.getTypes();
  Format format = operand == Operand::A ? types.getA() : types.getB();
  TileLayout layout = op.getLayout(operand);
  if (layout.major == Major::MN)
    return std::make_unique<TransposedTile>(b, op, operand, format, order, lane,
                                            first);
  // Nibbles lie in memory as packed elements do.
  bool isNibbles = op.getSlot(operand).bits == 4;
  if (layout.storage == Storage::Packed || (isSparse && isNibbles))
    return std::make_unique<PackedTile>(b, op, operand, format, order, lane,
                                        first);
  if (isSparse && operand == Operand::B)
    return std::make_unique<SparseFragmentTile>(b, op, format, order, lane,
                                                first, rows);
  return std::make_unique<FragmentTile>(b, op, operand, format, order, lane,
                                        first, rows);
}
