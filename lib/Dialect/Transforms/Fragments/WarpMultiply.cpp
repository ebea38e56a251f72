//===- WarpMultiply.cpp - Products in registers of warps ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of the paths whose instructions a warp executes, with scales or
// without, and the path mma_sync, whose instructions take quantized elements
// and scales directly.
//
//===----------------------------------------------------------------------===//

#include "Fragments/WarpMultiply.h"

#include "Fragments/FragmentLoads.h"
#include "Utils/IndexValues.h"
#include "Utils/LaneOps.h"
#include "Utils/OperandView.h"
#include "blockscale/Support/SparseFragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct Row {
  Path path;
  bool hasScales;
  const WarpMultiply &(*get)();
};
} // namespace

static constexpr Row kMultiplies[] = {
    {Path::MmaSync, true, getMmaSyncMultiply},
    {Path::DequantMma, true, getDequantizeMultiply},
    {Path::DequantMma, false, getUnscaledMultiply},
};

const WarpMultiply &blockscale::getWarpMultiply(InstructionAttr instruction) {
  return llvm::find_if(kMultiplies,
                       [&](const Row &row) {
                         return row.path == instruction.getPath() &&
                                row.hasScales == instruction.hasScales();
                       })
      ->get();
}

/// The fragments of a dense B for the two halves of K, as one of a sparse
/// instruction.
static SmallVector<Value> joinHalves(OpBuilder &b, Location loc,
                                     ArrayRef<Value> first,
                                     ArrayRef<Value> second) {
  SmallVector<Value> tiles;
  for (auto [low, high] : llvm::zip_equal(first, second)) {
    SmallVector<Value> registers = extractElements(b, loc, low);
    llvm::append_range(registers, extractElements(b, loc, high));
    tiles.push_back(vector::FromElementsOp::create(
        b, loc,
        VectorType::get(static_cast<int64_t>(registers.size()), b.getI32Type()),
        registers));
  }
  return tiles;
}

/// In the words `word` along K, sets the scales after the first `blocks` of
/// `op` to 0x00.
static void maskWords(OpBuilder &b, TileMmaOp op, int64_t word,
                      MutableArrayRef<Value> aWords,
                      MutableArrayRef<Value> bWords) {
  Location loc = op.getLoc();
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  // The word has 0 to 4 valid scales: the mask has up to 32 bits, so the shift
  // needs one bit more.
  constexpr int64_t kByteBits = 8;
  Value scales = arith::IndexCastOp::create(b, loc, i64, op.getBlocks());
  scales = arith::SubIOp::create(b, loc, scales, number(word * kScalesPerWord));
  scales = arith::MaxSIOp::create(b, loc, scales, number(0));
  scales = arith::MinSIOp::create(b, loc, scales, number(kScalesPerWord));
  Value bits = arith::MulIOp::create(b, loc, scales, number(kByteBits));
  Value one = number(1);
  Value mask = arith::ShLIOp::create(b, loc, one, bits);
  mask = arith::SubIOp::create(b, loc, mask, one);
  mask = arith::TruncIOp::create(b, loc, i32, mask);
  for (MutableArrayRef<Value> words : {aWords, bWords})
    for (Value &value : words)
      value = arith::AndIOp::create(b, loc, value, mask);
}

namespace {
/// Loads one lane's metadata of a sparse A, a step at a time (T8).
class MetadataLoads {
public:
  MetadataLoads(OpBuilder &b, TileMmaOp op, const WarpTile &tile, Value lane)
      : b(b), loc(op.getLoc()), memory(op.getMetadata()),
        tiles(tile.m / getAccFragment().rows) {
    MLIRContext *context = b.getContext();
    AffineMap ofLane =
        getLayoutMap(context, getMetadataFragment().toRow, /*numLayoutDims=*/1,
                     /*numLayoutResults=*/2, /*numDims=*/1);
    SmallVector<Value> at = applyMap(b, loc, ofLane, lane);
    AffineExpr inTile, half, first;
    bindDims(context, inTile, half, first);
    SmallVector<Value> values =
        applyExprs(b, loc,
                   {first + inTile, half * kWordBytes,
                    inTile.floorDiv(kGroupRows) % 2 * kMetadataStepBytes},
                   {at[0], at[1], tile.firstRow});
    row = values[0], byte = values[1], turn = values[2];
    if (!op.getMetadataAtoms())
      return;
    Value none = makeIndex(b, loc, 0);
    isTurned =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, turn, none);
  }

  /// One word for each tile of the warp's share.
  SmallVector<Value> loadStep(int64_t step) {
    if (!isTurned)
      return load(step);
    // Rows that are 8 apart have the same banks. So the lanes with the second
    // of them load the words of two steps in the opposite order.
    if (step % kStepsOfChunk != 0)
      return std::move(next);
    SmallVector<Value> words = load(step);
    next = load(step + 1);
    for (auto [first, second] : llvm::zip_equal(words, next)) {
      Value of = arith::SelectOp::create(b, loc, isTurned, second, first);
      second = arith::SelectOp::create(b, loc, isTurned, first, second);
      first = of;
    }
    return words;
  }

private:
  static constexpr int64_t kWordBytes = 4, kStepsOfChunk = kMetadataChunkBytes /
                                                           kMetadataStepBytes;

  SmallVector<Value> load(int64_t step) {
    int64_t chunkBytes = memory.getType().getDimSize(2);
    int64_t at = step * kMetadataStepBytes;
    Value inChunk = byte;
    // The halves of rows whose number has the bit 8 are swapped.
    if (chunkBytes != kMetadataStepBytes)
      inChunk = arith::XOrIOp::create(
          b, loc, addIndex(b, loc, byte, at % chunkBytes), turn);
    SmallVector<Value> words;
    for (int64_t i = 0; i != tiles; ++i)
      words.push_back(
          loadWords(b, loc, memory,
                    {makeIndex(b, loc, at / chunkBytes),
                     addIndex(b, loc, row, i * getAccFragment().rows), inChunk},
                    kWordBytes)[0]);
    return words;
  }

  OpBuilder &b;
  Location loc;
  TypedValue<MemRefType> memory;
  int64_t tiles;
  /// `turn` swaps the halves of 16 bytes.
  Value row, byte, turn;
  /// In atoms, whose halves are not swapped: whether the lane loads them in the
  /// opposite order; the words of the next step.
  Value isTurned;
  SmallVector<Value> next;
};

class MmaSyncMultiply final : public WarpMultiply {
public:
  SmallVector<Value> emitTile(OpBuilder &builder, TileMmaOp op,
                              const WarpTile &tile, ValueRange elements,
                              Value lane) const override {
    Location loc = op.getLoc();
    InstructionAttr instruction = op.getInstruction();
    FragmentLoader a(builder, op, Operand::A, lane, tile.firstRow, tile.m);
    FragmentLoader b(builder, op, Operand::B, lane, tile.firstColumn, tile.n);
    MmaEmitter emitter(builder, loc, op.getTypes().getCombination(),
                       instruction, lane);
    SmallVector<Value> acc = emitter.join(elements);
    // Operands are loaded step by step, so that registers hold only those that
    // the next instructions need.
    int64_t steps = op.getNumK() / instruction.getK();
    SmallVector<Value> aWords, bWords;
    std::optional<MetadataLoads> metadata;
    if (op.getMetadata())
      metadata.emplace(builder, op, tile, lane);
    for (int64_t step = 0, word = -1; step != steps; ++step) {
      if (emitter.getWord(step) != word) {
        word = emitter.getWord(step);
        aWords = a.loadWords(word);
        bWords = b.loadWords(word);
        if (op.getBlocks())
          maskWords(builder, op, word, aWords, bWords);
      }
      SmallVector<Value> aTiles = a.loadStep(step);
      if (!metadata) {
        emitter.emitStep(step, aTiles, aWords, b.loadStep(step), bWords, acc);
        continue;
      }
      bool isWhole = op.getLayout(Operand::B).major == Major::K;
      SmallVector<Value> bTiles =
          isWhole ? b.loadStep(step)
                  : joinHalves(builder, loc, b.loadStep(2 * step),
                               b.loadStep(2 * step + 1));
      emitter.emitStep(step, aTiles, aWords, bTiles, bWords, acc,
                       metadata->loadStep(step));
    }
    return emitter.split(acc);
  }

  SmallVector<Value> emitVectors(OpBuilder &b, const WarpProduct &product,
                                 const OperandFragments &x,
                                 const OperandFragments &y, const WarpTile &,
                                 ValueRange elements) const override {
    MmaEmitter emitter(b, product.loc, product.types, product.instruction,
                       product.lane);
    SmallVector<Value> acc = emitter.join(elements);
    for (int64_t step = 0; step != x.getNumSteps(); ++step) {
      int64_t word = emitter.getWord(step);
      emitter.emitStep(step, x.getTiles(step), x.getWords(word),
                       y.getTiles(step), y.getWords(word), acc);
    }
    return emitter.split(acc);
  }
};
} // namespace

const WarpMultiply &blockscale::getMmaSyncMultiply() {
  static const MmaSyncMultiply multiply;
  return multiply;
}
