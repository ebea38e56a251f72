//===- WarpgroupGemv.cpp - GEMV with wgmma --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GEMV of fp4 with wgmma. Two shifts turn four fp4 elements into fp8, without a
// multiplication for each element. The tensor core adds the products of a block
// without an error, because sums of 32 elements need 13 bits. Each lane gets
// the sums of two blocks for each of its rows, and multiplies them by scales.
//
// Source: PTX ISA 9.0, "wgmma.mma_async", fragments of A of 8 bits and of D.
//
//===----------------------------------------------------------------------===//

#include "Fragments/Dequantize/WordEmitter.h"
#include "Fragments/LanePatterns.h"
#include "Fragments/WarpgroupProducts.h"
#include "Utils/AccFragment.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The blocks of a row whose sums one group of accumulator registers of a lane
/// holds: one for each column.
static constexpr int64_t kBlocksOfSums = kColumnsOfLane;
/// The instructions of a chunk, and the accumulator registers of a lane.
static constexpr int64_t kInstructions = 4,
                         kSums = kRowsOfLane * kColumnsOfLane;

namespace {
class GemvEmitter {
public:
  GemvEmitter(OpBuilder &b, WarpgroupMmaGemvOp op, Value lane)
      : b(b), op(op), loc(op.getLoc()), emit(b, loc), lane(lane),
        quarter(emit.bitAnd(emit.toWord(lane), kLanesOfRow - 1)),
        isPower(getFormatInfo(op.getTypes().getScale()).mantissaBits == 0),
        blocksOfLane(op.getChunkBlocks() / kLanesOfRow), nan(emit.integer(0)),
        furthest(emit.integer(0)) {}

  /// Returns the sums `acc` plus all products.
  SmallVector<Value> emitProducts(ValueRange acc);
  /// Returns `before`, with one bit more set if any sum is inexact.
  Value emitInexact(Value before) const;

private:
  /// The registers of A of instruction `i` of a chunk.
  SmallVector<Value> makeRegisters(const ChunkWords &chunk, int64_t i) const;
  /// Starts the products of the chunks from `first` to `end`. The sums that it
  /// returns are not complete yet.
  SmallVector<Value> emitGroup(ArrayRef<ChunkWords> chunks, int64_t first,
                               int64_t end);
  /// Loads the factors of the vector for the lane's blocks of a chunk.
  SmallVector<Value> loadFactors(int64_t chunk);
  /// The word with the scales of the lane's blocks of `chunk` of a row.
  Value getScales(int64_t chunk, int64_t row);
  /// Returns `acc` plus the scaled `sum` of a block. Its scale is the lane's
  /// `i`-th one in `scales`.
  Value addBlock(Value acc, Value sum, Value scales, int64_t i, Value factor);

  OpBuilder &b;
  WarpgroupMmaGemvOp op;
  Location loc;
  WordEmitter emit;
  Value lane, quarter;
  bool isPower;
  /// The blocks of a lane in a row of a chunk.
  int64_t blocksOfLane;
  /// To find NaN: the largest code of a scale; for scales with a mantissa, bits
  /// that are set if one is NaN.
  Value nan;
  /// The largest exponent of a factor.
  Value furthest;
};
} // namespace

SmallVector<Value> GemvEmitter::makeRegisters(const ChunkWords &chunk,
                                              int64_t i) const {
  // The sign stays in its position; exponent and mantissa move two bits down.
  constexpr uint32_t kSigns = 0x80808080, kMagnitudes = 0x1C1C1C1C;
  constexpr unsigned kNibble = 4, kLower = 2;
  auto join = [&](Value signs, Value magnitudes) {
    return emit.bitOr(emit.bitAnd(signs, kSigns),
                      emit.bitAnd(magnitudes, kMagnitudes));
  };
  SmallVector<Value> even, odd;
  for (ArrayRef<Value> words : chunk) {
    Value word = words[static_cast<size_t>(i)];
    even.push_back(join(emit.shiftLeft(word, kNibble),
                        emit.shiftLeft(word, kNibble - kLower)));
    odd.push_back(join(word, emit.shiftRight(word, kLower)));
  }
  llvm::append_range(even, odd);
  return even;
}

/// The text of an instruction that adds to its sums, or (the first one)
/// overwrites them.
static std::string getText(bool isFirst) {
  return "{.reg .pred p; setp." + std::string(isFirst ? "ne" : "eq") +
         ".u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 "
         "{$0, $1, $2, $3}, {$4, $5, $6, $7}, $8, p, 1, 1;}";
}

SmallVector<Value> GemvEmitter::emitGroup(ArrayRef<ChunkWords> chunks,
                                          int64_t first, int64_t end) {
  constexpr int64_t kInstructionBytes = 256;
  MLIRContext *context = b.getContext();
  auto layout = TileLayoutAttr::get(
      context, TileLayout{Major::K, Storage::Slots, /*isSwizzled=*/false});
  SmallVector<Value> sums(kSums, emit.number(0));
  for (int64_t chunk = first; chunk != end; ++chunk) {
    SmallVector<SmallVector<Value>> fragments;
    for (int64_t i = 0; i != kInstructions; ++i)
      fragments.push_back(makeRegisters(chunks[static_cast<size_t>(chunk)], i));
    // Registers must be written before wgmma reads them.
    sums = emitOnSums(b, loc, "wgmma.fence.sync.aligned;", sums, {});
    for (auto [i, others] : llvm::enumerate(fragments)) {
      int64_t index = chunk * kInstructions + static_cast<int64_t>(i);
      others.push_back(MatrixDescriptorOp::create(
          b, loc, op.getB(), emit.index(index * kInstructionBytes), layout,
          /*wgmma=*/true));
      sums =
          emitOnSums(b, loc, getText(chunk == first && i == 0), sums, others);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(b, loc);
  }
  return sums;
}

SmallVector<Value> GemvEmitter::loadFactors(int64_t chunk) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  Value from = applyExpr(
      b, loc, d0 % kLanesOfRow * blocksOfLane + chunk * op.getChunkBlocks(),
      lane);
  constexpr int64_t kBytes = 4;
  Value loaded = vector::LoadOp::create(
      b, loc, VectorType::get(blocksOfLane, b.getI32Type()), op.getFactors(),
      from, /*nontemporal=*/false, llvm::MaybeAlign(kBytes * blocksOfLane));
  return extractElements(b, loc, loaded);
}

Value GemvEmitter::getScales(int64_t chunk, int64_t row) {
  auto scales = op.getScales();
  auto ofRow = static_cast<int64_t>(scales.size()) / kRowsOfLane;
  auto getWord = [&](int64_t block) -> Value {
    return scales[static_cast<size_t>(row * ofRow + block / kBlocksOfWord)];
  };
  int64_t block = chunk * op.getChunkBlocks();
  Value word = getWord(block);
  if (op.getChunkBlocks() > kBlocksOfWord)
    word = emit.select(emit.isAtLeast(quarter, kLanesOfRow / 2),
                       getWord(block + kBlocksOfWord), word);
  if (isPower)
    return word;
  // The sign is ignored.
  constexpr uint32_t kMagnitudes = 0x7F7F7F7F, kOnes = 0x01010101;
  word = emit.bitAnd(word, kMagnitudes);
  nan = emit.bitOr(nan, emit.add(word, kOnes));
  return word;
}

Value GemvEmitter::addBlock(Value acc, Value sum, Value scales, int64_t i,
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
    // The factor of a zero sum does not matter.
    Value isZero = emit.is(ArithEmitter::FP::OEQ, sum, 0);
    Value exponent =
        emit.select(isZero, emit.integer(0), emit.add(code, factor));
    furthest = emit.maxU(furthest, exponent);
    factor = emit.fromBits(
        emit.add(emit.shiftLeft(exponent, kMantissaBits), 1u << kMantissaBits));
  } else {
    // The shifted code, as an f32, is 2^-120 times the scale.
    constexpr unsigned kShift = 20;
    factor = emit.mul(emit.fromBits(emit.shiftLeft(code, kShift)),
                      emit.fromBits(factor));
  }
  // Not math.fma: ops of math have been expanded before this pass.
  return LLVM::FMAOp::create(b, loc, sum, factor, acc);
}

SmallVector<Value> GemvEmitter::emitProducts(ValueRange acc) {
  SmallVector<ChunkWords> chunks =
      loadChunks(b, loc, op.getElements(), op.getAcc().getType(), lane);
  auto count = static_cast<int64_t>(chunks.size());
  int64_t chunksOfGroup = kBlocksOfSums / blocksOfLane;
  SmallVector<Value> all;
  for (int64_t chunk = 0; chunk < count; chunk += chunksOfGroup)
    llvm::append_range(
        all, emitGroup(chunks, chunk, std::min(chunk + chunksOfGroup, count)));
  all = emitOnSums(b, loc, "wgmma.wait_group.sync.aligned 0;", all, {});
  SmallVector<Value> results(acc);
  for (int64_t chunk = 0; chunk != count; ++chunk) {
    SmallVector<Value> factors = loadFactors(chunk);
    for (int64_t row = 0; row != kRowsOfLane; ++row) {
      Value scales = getScales(chunk, row);
      for (int64_t i = 0; i != blocksOfLane; ++i) {
        int64_t inGroup = chunk % chunksOfGroup * blocksOfLane + i;
        auto at = static_cast<size_t>(getAccRegister(row, inGroup));
        auto group = static_cast<size_t>(chunk / chunksOfGroup * kSums);
        results[at] = addBlock(results[at], all[group + at], scales, i,
                               factors[static_cast<size_t>(i)]);
      }
    }
  }
  return results;
}

Value GemvEmitter::emitInexact(Value before) const {
  constexpr uint32_t kNaN = 0xFF, kOverflows = 0x80808080, kExponents = 254;
  auto toBit = [&](Value isInexact) {
    return emit.select(isInexact, emit.integer(1), emit.integer(0));
  };
  if (!isPower)
    return emit.bitOr(before, emit.bitAnd(nan, kOverflows));
  Value inexact = emit.bitOr(before, toBit(emit.isEqual(nan, kNaN)));
  return emit.bitOr(inexact, toBit(emit.isAtLeast(furthest, kExponents)));
}

static FailureOr<LaneResults>
lowerWarpgroupMmaGemv(WarpgroupMmaGemvOp op,
                      LaneOperands<WarpgroupMmaGemvOp> operands, Value lane,
                      ConversionPatternRewriter &b) {
  GemvEmitter row(b, op, lane);
  SmallVector<Value> sums = row.emitProducts(operands.getAcc());
  Value inexact = row.emitInexact(operands.getInexact().front());
  return LaneResults{sums, {inexact}};
}

/// Adds the elements of each column, which is a row of the fragment.
static FailureOr<LaneResults> lowerAccTotal(AccTotalOp op,
                                            LaneOperands<AccTotalOp> operands,
                                            Value lane,
                                            ConversionPatternRewriter &b) {
  WordEmitter emit(b, op.getLoc());
  ValueRange elements = operands.getAcc();
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
  return LaneResults{results};
}

void blockscale::populateWarpgroupGemvPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               Value lane) {
  addLanePatterns(converter, patterns, lane, lowerWarpgroupMmaGemv,
                  lowerAccTotal);
}
