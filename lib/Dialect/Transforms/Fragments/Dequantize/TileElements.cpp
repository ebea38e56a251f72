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

/// The index of `step` as a value.
static Value getStepValue(const WordEmitter &emit, const Step &step) {
  return step.value ? step.value : emit.index(step.number);
}

//===----------------------------------------------------------------------===//
// Contiguous along K
//===----------------------------------------------------------------------===//

namespace {
/// Elements in the slots of the instruction, or padded.
class FragmentTile final : public ElementPairs {
public:
  FragmentTile(OpBuilder &b, TileMmaOp op, Operand operand, Format format,
               PairOrder order, Value lane, Value first, int64_t rows)
      : emit{b, op.getLoc()}, operand(operand), order(order), lane(lane),
        isPadded(op.getLayout(operand).storage == Storage::Padded),
        loader(b, op, operand, lane, first, rows),
        shifter(emit, format, order, lane) {}

  void load(const Step &step) override {
    if (!order.isPacked) {
      tiles = step.value ? loader.loadStep(step.value)
                         : loader.loadStep(step.number);
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
    Value word = getRegister(group, i);
    return shifter.shiftBytes(isPadded ? spreadElements(word) : word);
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

  WordEmitter emit;
  Operand operand;
  PairOrder order;
  Value lane;
  bool isPadded;
  FragmentLoader loader;
  ElementShifter shifter;
  SmallVector<Value> tiles;
  /// The half of the fragments that belongs to the step: a constant, or a
  /// value.
  unsigned part = 0;
  Value isSecond;
};

/// Packed elements, with the other operand in bytes. Of each 16 elements, a
/// lane has those at the same positions along K as of the other operand: two
/// bytes.
class PackedTile final : public ElementPairs {
public:
  PackedTile(OpBuilder &b, TileMmaOp op, Operand operand, Format format,
             PairOrder order, Value lane, Value first)
      : emit{b, op.getLoc()},
        memory(operand == Operand::A ? op.getA() : op.getB()),
        shifter(emit, format, order, lane) {
    ChunkSwizzle chunks =
        getChunkSwizzle(cast<MemRefType>(memory.getType()).getDimSize(1));
    AffineExpr l, f;
    bindDims(b.getContext(), l, f);
    AffineExpr group = l.floorDiv(kLanesOfRow);
    SmallVector<Value> values =
        applyExprs(b, emit.loc,
                   {f + group, getThread(l) * 2,
                    group.floorDiv(chunks.rowsPerStep) % chunks.modulus},
                   {lane, first});
    row = values[0];
    byte = values[1];
    if (op.getLayout(operand).isSwizzled)
      swizzle = values[2];
  }

  void load(const Step &step) override { current = step; }

  /// The elements of a step are one chunk, those of an instruction half of it.
  Pairs getPairs(unsigned group, unsigned i) override {
    Value chunk = getStepValue(emit, current);
    if (swizzle)
      chunk = arith::XOrIOp::create(emit.b, emit.loc, chunk, swizzle);
    Value at = addIndex(emit.b, emit.loc, row, group * kGroupRows);
    AffineExpr c, d;
    bindDims(emit.b.getContext(), c, d);
    Value first =
        applyExpr(emit.b, emit.loc, c * kChunkBytes + d + i * (kChunkBytes / 2),
                  {chunk, byte});
    return shifter.shiftNibbles(loadHalf(at, first), i);
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

  WordEmitter emit;
  Value memory;
  ElementShifter shifter;
  Value row, byte, swizzle;
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
        format(getCodeFormat(format)), shifter(emit, format, order, lane) {
    TileLayout layout = op.getLayout(operand);
    turns = getInterleave(op.getInstruction().getKind(), layout,
                          op.getSlot(operand));
    rowBytes = cast<MemRefType>(memory.getType()).getDimSize(1);
    ChunkSwizzle chunks = getChunkSwizzle(rowBytes);
    AffineExpr d0, d1;
    bindDims(b.getContext(), d0, d1);
    memoryRow = applyExpr(b, emit.loc, getMemoryRow(d0, order.isPacked), lane);
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
    const Words &words = loadChunk(group / turns);
    Pairs pairs;
    for (unsigned q : {0, 1})
      pairs[q] = turns == 2 ? shiftBytes(words[2 * i + q], group % turns)
                            : shiftNibbles(words[2 * i + q], group % turns);
    return pairs;
  }

private:
  /// A lane's elements of a step, in the order of pairs.
  static constexpr unsigned kWords = 2 * kInstructionsPerStep;
  using Words = std::array<Value, kWords>;

  /// The row of memory, one of the 32 elements along K of a step, that `lane`
  /// passes to ldmatrix. It is row lane mod 8 of matrix lane div 8, and becomes
  /// the pair of that index in the lanes whose thread is (lane mod 8) div 2.
  /// See PairOrder.
  static AffineExpr getMemoryRow(AffineExpr lane, bool isPacked) {
    AffineExpr pair = lane.floorDiv(8), row = lane % 8;
    auto exclusiveOr = [](AffineExpr x, AffineExpr y) { return (x + y) % 2; };
    if (isPacked)
      return row.floorDiv(2) * 8 +
             exclusiveOr(pair.floorDiv(2), row.floorDiv(4)) * 4 +
             exclusiveOr(pair, row.floorDiv(2)) * 2 + row % 2;
    return pair.floorDiv(2) * 16 + row.floorDiv(2) * 4 +
           exclusiveOr(pair, row.floorDiv(4)) * 2 + row % 2;
  }

  const Words &loadChunk(unsigned number) {
    auto [it, isNew] = loaded.try_emplace(number);
    if (!isNew)
      return it->second;
    OpBuilder &b = emit.b;
    AffineExpr c, l, s;
    bindDims(b.getContext(), c, l, s);
    Value at = addIndex(b, emit.loc, chunk, number);
    if (swizzle)
      at = arith::XOrIOp::create(b, emit.loc, at, swizzle);
    int64_t stepBytes = kStepElements * rowBytes;
    Value offset =
        applyExpr(b, emit.loc, c * kChunkBytes + l * rowBytes, {at, memoryRow});
    if (current.value)
      offset = applyExpr(b, emit.loc, c + s * stepBytes,
                         {offset, memoryRow, current.value});
    auto type = VectorType::get(kWords, b.getI32Type());
    constexpr unsigned kTransposedBits = 16;
    Value matrices = LoadMatrixOp::create(
        b, emit.loc, type, memory, offset,
        current.value ? 0 : current.number * stepBytes, kTransposedBits,
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
  ElementShifter shifter;
  unsigned turns;
  int64_t rowBytes;
  Value memoryRow, swizzle, chunk;
  Step current = {};
  llvm::SmallDenseMap<unsigned, Words> loaded;
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

/// The order of the pairs of both operands of `op`.
static PairOrder getOrderOf(TileMmaOp op) {
  bool isTransposed = op.getLayout(Operand::A).major == Major::MN ||
                      op.getLayout(Operand::B).major == Major::MN;
  return getPairOrder(op.getInstruction().getKind(), isTransposed);
}

ElementPairsPtr blockscale::makeHighPrecisionTile(OpBuilder &b, TileMmaOp op,
                                                  Value lane, Value first) {
  return std::make_unique<HighPrecisionTile>(b, op, getOrderOf(op), lane,
                                             first);
}

ElementPairsPtr blockscale::makeTileElements(OpBuilder &b, TileMmaOp op,
                                             Operand operand, Value lane,
                                             Value first, int64_t rows) {
  PairOrder order = getOrderOf(op);
  TypeCombinationAttr types = op.getTypes();
  Format format = operand == Operand::A ? types.getA() : types.getB();
  TileLayout layout = op.getLayout(operand);
  if (layout.major == Major::MN)
    return std::make_unique<TransposedTile>(b, op, operand, format, order, lane,
                                            first);
  if (layout.storage == Storage::Packed)
    return std::make_unique<PackedTile>(b, op, operand, format, order, lane,
                                        first);
  return std::make_unique<FragmentTile>(b, op, operand, format, order, lane,
                                        first, rows);
}
