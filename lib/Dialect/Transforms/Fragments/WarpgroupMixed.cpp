//===- WarpgroupMixed.cpp - Products of codes in registers ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A of wgmma in registers, made of codes: a lane loads 16 bytes of a row, which
// are its share of all instructions of a box, and multiplies each pair that it
// places by the scale.
//
//===----------------------------------------------------------------------===//

#include "Fragments/AccLowering.h"
#include "Fragments/Dequantize/CodePairs.h"
#include "Fragments/Dequantize/SpecialTest.h"
#include "Fragments/LanePatterns.h"
#include "Fragments/WarpgroupProducts.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kRows = kRowsOfLane;
/// What a lane loads of a row.
static constexpr int64_t kLoadBytes = 16, kLoadWords = 4;

namespace {
/// Factors of bf16, in pairs, for the codes that a lane has of a row of a box:
/// each for as many as the other.
using Factors = SmallVector<Value, 2>;

class CodesEmitter {
public:
  CodesEmitter(OpBuilder &b, WarpgroupMmaMixedOp op, Value lane)
      : b(b), op(op), loc(op.getLoc()), emit(b, loc),
        format(op.getTypes().getB()), scale(op.getTypes().getScale()),
        lane(emit.toWord(lane)),
        quarter(emit.bitAnd(this->lane, kLanesOfRow - 1)),
        isNibbles(getFormatInfo(format).bits == 4),
        placer(emit, format, {isNibbles, /*swapsAb=*/false}, lane),
        test(emit, format), furthest(emit.integer(0)) {}

  /// Loads the codes of all boxes.
  void load(Value lane);
  /// The registers of A for each instruction of `box`.
  SmallVector<SmallVector<Value>> makeNumbers(int64_t box);
  /// Bits of `before`, and more if any number is not what it should be.
  Value emitInexact(Value before) const;

private:
  Factors makeFactors(int64_t box, int64_t row);
  Value makePower(Value word, Value byte, Value areZero);
  Value areZero(ArrayRef<Value> codes) const;
  Value makeNumber(Value word, Value byte);
  Pairs place(int64_t box, int64_t row, unsigned instruction) const;

  OpBuilder &b;
  WarpgroupMmaMixedOp op;
  Location loc;
  WordEmitter emit;
  Format format, scale;
  Value lane, quarter;
  bool isNibbles;
  RowPlacer placer;
  SpecialTest test;
  /// The largest distance of a scale from the lowest one that is exact; or the
  /// largest scale, of those with a mantissa.
  Value furthest;
  /// Words of codes, by box and row.
  SmallVector<BoxWords> words;
};
} // namespace

SmallVector<BoxWords> blockscale::loadBoxes(OpBuilder &b, Location loc,
                                            TypedValue<MemRefType> codes,
                                            AccType acc, Value lane) {
  int64_t warps = cast<WarpColumnsAttr>(Attribute(acc.getLayout())).getWarps();
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  AffineExpr firstRow =
      d0.floorDiv(int64_t(kWarpLanes)) % warps * getAccFragment().rows;
  auto type = VectorType::get(kLoadBytes, b.getI8Type());
  SmallVector<BoxWords> words;
  for (int64_t box = 0; box != codes.getType().getDimSize(0); ++box) {
    words.emplace_back();
    for (auto [i, ofRow] : llvm::enumerate(words.back())) {
      auto reg = static_cast<unsigned>(getAccRegister(i, /*column=*/0));
      SmallVector<Value> position = applyExprs(
          b, loc,
          {b.getAffineConstantExpr(box), firstRow + getAccPosition(d1, reg).row,
           d1 % kLanesOfRow * kLoadBytes},
          {thread, lane});
      Value bytes = vector::LoadOp::create(b, loc, type, codes, position,
                                           /*nontemporal=*/false,
                                           llvm::MaybeAlign(kLoadBytes));
      Value all = vector::BitCastOp::create(
          b, loc, VectorType::get(kLoadWords, b.getI32Type()), bytes);
      for (int64_t word = 0; word != kLoadWords; ++word)
        ofRow.push_back(vector::ExtractOp::create(b, loc, all, word));
    }
  }
  return words;
}

void CodesEmitter::load(Value laneIndex) {
  words = loadBoxes(b, loc, op.getCodes(), op.getAcc().getType(), laneIndex);
  if (!test.isNeeded())
    return;
  for (const BoxWords &box : words)
    for (ArrayRef<Value> row : box)
      for (Value codes : row)
        test.add(codes);
}

/// Whether all of these codes are zero.
Value CodesEmitter::areZero(ArrayRef<Value> codes) const {
  uint32_t magnitudes = getFormatInfo(format).magnitudeMask() *
                        (isNibbles ? 0x11111111u : 0x01010101u);
  Value any = codes.front();
  for (Value word : codes.drop_front())
    any = emit.bitOr(any, word);
  return emit.isEqual(emit.bitAnd(any, magnitudes), 0);
}

/// 2^(code - 127) times what placed codes and the shift leave. A scale that is
/// too small does not matter where codes are zero, as those of blocks of zeros
/// are.
Value CodesEmitter::makePower(Value word, Value byte, Value areZero) {
  constexpr uint32_t kZeros = 0x4440, kLowestBits = 0x00800080;
  CodeFormat codes = getCodeFormat(format);
  unsigned shift = getScaleShift(format, scale);
  Value code = emit.permute(word, {}, emit.add(byte, kZeros));
  Value distance = emit.sub(code, emit.integer(codes.lowestScale + shift));
  Value notBelow = emit.maxS(distance, 0);
  distance = emit.select(areZero, notBelow, distance);
  furthest = emit.maxU(furthest, distance);
  return emit.toPair(emit.add(emit.mul(code, kLowestBits),
                              (codes.exponent - shift) * kLowestBits));
}

/// The same of a scale with a mantissa.
Value CodesEmitter::makeNumber(Value word, Value byte) {
  constexpr uint32_t kZeros = 0x4040, kBothHalves = 0x0101,
                     kMagnitudes = 0x007F007F;
  constexpr unsigned kPlace = 4;
  // Bits that are placed are 2^-120 of the scale.
  constexpr int kPlaced = 120, kLargest = 127;
  int exponent = kPlaced + static_cast<int>(getCodeFormat(format).exponent) -
                 static_cast<int>(getScaleShift(format, scale));
  Value selector = emit.add(emit.mul(byte, kBothHalves), kZeros);
  Value codes = emit.bitAnd(emit.permute(word, {}, selector), kMagnitudes);
  furthest = emit.maxU(furthest, codes);
  Value factor = emit.toPair(emit.shiftLeft(codes, kPlace));
  for (int power : {kLargest, exponent - kLargest})
    factor = emit.mul(factor, emit.toPair(emit.integer(getPowerPair(power))));
  return factor;
}

Factors CodesEmitter::makeFactors(int64_t box, int64_t row) {
  int64_t blocks = op.getChunkBlocks(), first = box * blocks;
  auto scales = op.getScales();
  auto getWord = [&](int64_t block) -> Value {
    return scales[static_cast<size_t>(
        row * static_cast<int64_t>(scales.size()) / kRows +
        block / kBlocksOfWord)];
  };
  bool isPower = getFormatInfo(scale).mantissaBits == 0;
  auto make = [&](Value word, Value byte, ArrayRef<Value> codes) {
    return isPower ? makePower(word, byte, areZero(codes))
                   : makeNumber(word, byte);
  };
  ArrayRef<Value> codes = words[box][row];
  if (blocks <= kBlocksOfWord) {
    // Lanes of a row have a block each, or two of them the same.
    Value byte = emit.shiftRight(
        quarter, llvm::Log2_64(static_cast<uint64_t>(kLanesOfRow / blocks)));
    if (first % kBlocksOfWord != 0)
      byte = emit.add(byte, static_cast<uint32_t>(first % kBlocksOfWord));
    return {make(getWord(first), byte, codes)};
  }
  // Each has two blocks, of one of two words.
  Value isSecond = emit.isAtLeast(quarter, kLanesOfRow / 2);
  Value word =
      emit.select(isSecond, getWord(first + kBlocksOfWord), getWord(first));
  Value byte = emit.shiftLeft(emit.bitAnd(quarter, 1), 1);
  return {make(word, byte, codes.take_front(kLoadWords / 2)),
          make(word, emit.add(byte, 1), codes.drop_front(kLoadWords / 2))};
}

Pairs CodesEmitter::place(int64_t box, int64_t row,
                          unsigned instruction) const {
  const SmallVector<Value> &of = words[box][row];
  if (isNibbles)
    return placer.placeNibbles(of[instruction / 2], instruction % 2);
  return placer.placeBytes(of[instruction]);
}

SmallVector<SmallVector<Value>> CodesEmitter::makeNumbers(int64_t box) {
  constexpr int64_t kElements = 16;
  auto count = static_cast<unsigned>(op.getChunkElements() / kElements);
  std::array<Factors, kRows> factors = {makeFactors(box, 0),
                                        makeFactors(box, 1)};
  SmallVector<SmallVector<Value>> numbers;
  for (unsigned i = 0; i != count; ++i) {
    SmallVector<Value> registers(kRegistersOfA);
    for (int64_t row = 0; row != kRows; ++row) {
      Value factor = factors[row][i * factors[row].size() / count];
      for (auto [half, pair] : llvm::enumerate(place(box, row, i)))
        registers[half * kRows + row] =
            emit.fromPair(emit.mul(emit.toPair(pair), factor));
    }
    numbers.push_back(registers);
  }
  return numbers;
}

Value CodesEmitter::emitInexact(Value before) const {
  CodeFormat codes = getCodeFormat(format);
  constexpr uint32_t kNaN = 0x007F007F;
  // Those of a fold.
  constexpr unsigned kBiases = 254;
  uint32_t first = getFormatInfo(scale).mantissaBits != 0
                       ? kNaN
                       : kBiases - codes.exponent - codes.lowestScale + 1;
  auto toBit = [&](Value isInexact) {
    return emit.select(isInexact, emit.integer(1), emit.integer(0));
  };
  Value inexact = emit.bitOr(before, toBit(emit.isAtLeast(furthest, first)));
  if (test.isNeeded())
    inexact = emit.bitOr(inexact, toBit(test.isFound()));
  return inexact;
}

namespace {
struct LowerWarpgroupMmaMixed final : LanePattern<WarpgroupMmaMixedOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(WarpgroupMmaMixedOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    CodesEmitter codes(rewriter, op, lane);
    codes.load(lane);
    SmallVector<Value> sums(adaptor.getAcc());
    InstructionAttr instruction = op.getInstruction();
    std::string text = getProductText(instruction, sums.size(),
                                      /*isAInRegisters=*/true, ", 0");
    int64_t step = 0;
    for (int64_t box = 0; box != op.getCodes().getType().getDimSize(0); ++box) {
      SmallVector<SmallVector<Value>> numbers = codes.makeNumbers(box);
      // What is in registers is there before instructions read it.
      sums = emitOnSums(rewriter, loc, "wgmma.fence.sync.aligned;", sums, {});
      for (SmallVector<Value> &others : numbers) {
        int64_t byte = getStepOffset(op.getB().getType(), op.getLayout(),
                                     step++, instruction.getK());
        Value offset = arith::ConstantIndexOp::create(rewriter, loc, byte);
        others.push_back(MatrixDescriptorOp::create(
            rewriter, loc, op.getB(), offset, op.getLayout(), /*wgmma=*/true));
        sums = emitOnSums(rewriter, loc, text, sums, others);
      }
      NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, loc);
    }
    Value inexact = codes.emitInexact(adaptor.getInexact().front());
    SmallVector<SmallVector<Value>> results = {sums, {inexact}};
    rewriter.replaceOpWithMultiple(op, results);
    return success();
  }
};
} // namespace

void blockscale::populateWarpgroupMixedPatterns(const TypeConverter &converter,
                                                RewritePatternSet &patterns,
                                                Value lane) {
  patterns.add<LowerWarpgroupMmaMixed>(converter, patterns.getContext(), lane);
}
