//===- WarpgroupGemv.cpp - Products of codes and one row of them ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Codes of fp4 become bytes of fp8, which two shifts do for four of them: no
// factor is multiplied to any of them. The tensor core adds the products of a
// block without an error: of 32 codes there are 13 bits. Each lane has the sums
// of two blocks for each of its rows, and multiplies those by scales.
//
// Source: PTX ISA 9.0, "wgmma.mma_async", fragments of A of 8 bits and of D.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/WordEmitter.h"
#include "Fragments/LanePatterns.h"
#include "Fragments/WarpgroupProducts.h"
#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Blocks of each row of a lane that a group of sums has: one for each column.
static constexpr int64_t kBlocksOfSums = kColumnsOfLane;
/// Instructions of a box, and sums of a lane.
static constexpr int64_t kInstructions = 4,
                         kSums = kRowsOfLane * kColumnsOfLane;

namespace {
class RowEmitter {
public:
  RowEmitter(OpBuilder &b, WarpgroupMmaGemvOp op, Value lane)
      : b(b), op(op), loc(op.getLoc()), emit(b, loc), lane(lane),
        quarter(emit.bitAnd(emit.toWord(lane), kLanesOfRow - 1)),
        isPower(getFormatInfo(op.getTypes().getScale()).mantissaBits == 0),
        blocksOfLane(op.getChunkBlocks() / kLanesOfRow), nan(emit.integer(0)),
        furthest(emit.integer(0)) {}

  /// The sums `acc` with all products added.
  SmallVector<Value> emitProducts(ValueRange acc);
  /// Bits of `before`, and more if any sum is not what it should be.
  Value emitInexact(Value before) const;

private:
  /// The registers of A of instruction `i` of a box.
  SmallVector<Value> makeRegisters(const BoxWords &box, int64_t i) const;
  /// The sums of blocks of boxes from `first` to `end`, not complete yet.
  SmallVector<Value> emitGroup(ArrayRef<BoxWords> boxes, int64_t first,
                               int64_t end);
  /// For a box, words of the factors of the row for the lane's blocks.
  SmallVector<Value> loadFactors(int64_t box);
  /// The word of scales in which a row's blocks of `box` are for the lane.
  Value getScales(int64_t box, int64_t row);
  /// `acc` with `sum` added, of a block whose scale is the `i`-th that a lane
  /// has in `scales`.
  Value addBlock(Value acc, Value sum, Value scales, int64_t i, Value factor);

  OpBuilder &b;
  WarpgroupMmaGemvOp op;
  Location loc;
  WordEmitter emit;
  Value lane, quarter;
  bool isPower;
  /// Of a row of a box.
  int64_t blocksOfLane;
  /// The largest scale; or bits where one is NaN, of those with a mantissa. The
  /// largest exponent of a factor.
  Value nan, furthest;
};
} // namespace

SmallVector<Value> RowEmitter::makeRegisters(const BoxWords &box,
                                             int64_t i) const {
  // The sign stays where it is; exponent and mantissa are two bits lower.
  constexpr uint32_t kSigns = 0x80808080, kMagnitudes = 0x1C1C1C1C;
  constexpr unsigned kNibble = 4, kLower = 2;
  auto place = [&](Value signs, Value magnitudes) {
    return emit.bitOr(emit.bitAnd(signs, kSigns),
                      emit.bitAnd(magnitudes, kMagnitudes));
  };
  SmallVector<Value> even, odd;
  for (ArrayRef<Value> words : box) {
    Value word = words[static_cast<size_t>(i)];
    even.push_back(place(emit.shiftLeft(word, kNibble),
                         emit.shiftLeft(word, kNibble - kLower)));
    odd.push_back(place(word, emit.shiftRight(word, kLower)));
  }
  llvm::append_range(even, odd);
  return even;
}

/// An instruction that adds to sums, or starts them.
static std::string getText(bool isFirst) {
  return "{.reg .pred p; setp." + std::string(isFirst ? "ne" : "eq") +
         ".u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 "
         "{$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, p, 1, 1;}";
}

SmallVector<Value> RowEmitter::emitGroup(ArrayRef<BoxWords> boxes,
                                         int64_t first, int64_t end) {
  constexpr int64_t kInstructionBytes = 256;
  MLIRContext *context = b.getContext();
  auto layout = TileLayoutAttr::get(
      context, TileLayout{Major::K, Storage::Slots, /*isSwizzled=*/false});
  SmallVector<Value> sums(kSums, emit.number(0));
  for (int64_t box = first; box != end; ++box) {
    SmallVector<SmallVector<Value>> numbers;
    for (int64_t i = 0; i != kInstructions; ++i)
      numbers.push_back(makeRegisters(boxes[static_cast<size_t>(box)], i));
    // What is in registers is there before instructions read it.
    sums = emitOnSums(b, loc, "wgmma.fence.sync.aligned;", sums, {});
    for (auto [i, others] : llvm::enumerate(numbers)) {
      int64_t number = box * kInstructions + static_cast<int64_t>(i);
      others.push_back(MatrixDescriptorOp::create(
          b, loc, op.getB(), emit.index(number * kInstructionBytes), layout,
          /*wgmma=*/true));
      sums = emitOnSums(b, loc, getText(box == first && i == 0), sums, others);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  }
  return sums;
}

SmallVector<Value> RowEmitter::loadFactors(int64_t box) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value from = applyExprs(
      b, loc, {d0 % kLanesOfRow * blocksOfLane + box * op.getChunkBlocks()},
      lane)[0];
  constexpr int64_t kBytes = 4;
  Value loaded = vector::LoadOp::create(
      b, loc, VectorType::get(blocksOfLane, b.getI32Type()), op.getFactors(),
      from, /*nontemporal=*/false, llvm::MaybeAlign(kBytes * blocksOfLane));
  SmallVector<Value> words;
  for (int64_t i = 0; i != blocksOfLane; ++i)
    words.push_back(vector::ExtractOp::create(b, loc, loaded, i));
  return words;
}

Value RowEmitter::getScales(int64_t box, int64_t row) {
  auto scales = op.getScales();
  auto ofRow = static_cast<int64_t>(scales.size()) / kRowsOfLane;
  auto getWord = [&](int64_t block) -> Value {
    return scales[static_cast<size_t>(row * ofRow + block / kBlocksOfWord)];
  };
  int64_t block = box * op.getChunkBlocks();
  Value word = getWord(block);
  if (op.getChunkBlocks() > kBlocksOfWord)
    word = emit.select(emit.isAtLeast(quarter, kLanesOfRow / 2),
                       getWord(block + kBlocksOfWord), word);
  if (isPower)
    return word;
  // The sign does not count.
  constexpr uint32_t kMagnitudes = 0x7F7F7F7F, kOnes = 0x01010101;
  word = emit.bitAnd(word, kMagnitudes);
  nan = emit.bitOr(nan, emit.add(word, kOnes));
  return word;
}

Value RowEmitter::addBlock(Value acc, Value sum, Value scales, int64_t i,
                           Value factor) {
  constexpr uint32_t kZeros = 0x4440;
  Value byte = quarter;
  if (blocksOfLane != 1)
    byte = emit.add(emit.shiftLeft(emit.bitAnd(quarter, 1), 1),
                    static_cast<uint32_t>(i));
  Value code = emit.permute(scales, {}, emit.add(byte, kZeros));
  if (isPower) {
    constexpr unsigned kMantissaBits = 23;
    nan = emit.maxU(nan, code);
    // Any factor will do for zero.
    Value isZero = emit.is(ArithEmitter::FP::OEQ, sum, 0);
    Value exponent =
        emit.select(isZero, emit.integer(0), emit.add(code, factor));
    furthest = emit.maxU(furthest, exponent);
    factor = emit.fromBits(
        emit.add(emit.shiftLeft(exponent, kMantissaBits), 1u << kMantissaBits));
  } else {
    // Bits that are placed are 2^-120 of the scale.
    constexpr unsigned kPlace = 20;
    factor = emit.mul(emit.fromBits(emit.shiftLeft(code, kPlace)),
                      emit.fromBits(factor));
  }
  // An instruction already: ops of math are expanded before.
  return LLVM::FMAOp::create(b, loc, sum, factor, acc);
}

SmallVector<Value> RowEmitter::emitProducts(ValueRange acc) {
  SmallVector<BoxWords> boxes =
      loadBoxes(b, loc, op.getCodes(), op.getAcc().getType(), lane);
  auto count = static_cast<int64_t>(boxes.size());
  int64_t boxesOfGroup = kBlocksOfSums / blocksOfLane;
  SmallVector<Value> all;
  for (int64_t box = 0; box < count; box += boxesOfGroup)
    llvm::append_range(
        all, emitGroup(boxes, box, std::min(box + boxesOfGroup, count)));
  all = emitOnSums(b, loc, "wgmma.wait_group.sync.aligned 0;", all, {});
  SmallVector<Value> results(acc);
  for (int64_t box = 0; box != count; ++box) {
    SmallVector<Value> factors = loadFactors(box);
    for (int64_t row = 0; row != kRowsOfLane; ++row) {
      Value scales = getScales(box, row);
      for (int64_t i = 0; i != blocksOfLane; ++i) {
        int64_t inGroup = box % boxesOfGroup * blocksOfLane + i;
        auto at = static_cast<size_t>(getAccRegister(row, inGroup));
        auto group = static_cast<size_t>(box / boxesOfGroup * kSums);
        results[at] = addBlock(results[at], all[group + at], scales, i,
                               factors[static_cast<size_t>(i)]);
      }
    }
  }
  return results;
}

Value RowEmitter::emitInexact(Value before) const {
  constexpr uint32_t kNaN = 0xFF, kOverflows = 0x80808080, kExponents = 254;
  auto toBit = [&](Value isInexact) {
    return emit.select(isInexact, emit.integer(1), emit.integer(0));
  };
  if (!isPower)
    return emit.bitOr(before, emit.bitAnd(nan, kOverflows));
  Value inexact = emit.bitOr(before, toBit(emit.isEqual(nan, kNaN)));
  return emit.bitOr(inexact, toBit(emit.isAtLeast(furthest, kExponents)));
}

namespace {
struct LowerWarpgroupMmaGemv final : LanePattern<WarpgroupMmaGemvOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(WarpgroupMmaGemvOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RowEmitter row(rewriter, op, lane);
    SmallVector<Value> sums = row.emitProducts(adaptor.getAcc());
    Value inexact = row.emitInexact(adaptor.getInexact().front());
    SmallVector<SmallVector<Value>> results = {sums, {inexact}};
    rewriter.replaceOpWithMultiple(op, results);
    return success();
  }
};

/// The sum of each column, which is a row of the fragment.
struct LowerAccTotal final : LanePattern<AccTotalOp> {
  using LanePattern::LanePattern;

  LogicalResult
  matchAndRewrite(AccTotalOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    WordEmitter emit(rewriter, loc);
    ValueRange elements = adaptor.getAcc();
    Value word = emit.toWord(lane);
    SmallVector<Value> results(elements.size());
    for (int64_t column = 0; column != kRowsOfLane; ++column) {
      Value total;
      auto add = [&](Value other) {
        total = total ? emit.add(total, other) : other;
      };
      auto forEach = [&](function_ref<void(size_t)> body) {
        for (size_t first = 0; first != elements.size(); first += kSums)
          for (int64_t row = 0; row != kColumnsOfLane; ++row)
            body(first + static_cast<size_t>(getAccRegister(column, row)));
      };
      forEach([&](size_t i) { add(elements[i]); });
      for (int64_t distance = 1; distance != kLanesOfRow; distance *= 2) {
        Value bits = emit.toBits(total);
        Value from = emit.bitXor(word, static_cast<uint32_t>(distance));
        add(emit.fromBits(emit.shuffle(bits, from)));
      }
      forEach([&](size_t i) { results[i] = total; });
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};
} // namespace

void blockscale::populateWarpgroupGemvPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               Value lane) {
  patterns.add<LowerWarpgroupMmaGemv, LowerAccTotal>(
      converter, patterns.getContext(), lane);
}
