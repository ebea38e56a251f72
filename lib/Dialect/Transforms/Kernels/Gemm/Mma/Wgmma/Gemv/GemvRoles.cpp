//===- GemvRoles.cpp - Warp roles of the GEMV kernel ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/Gemv/GemvRoles.h"

#include "Utils/PackedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// How many u32 of elements a quarter of a K chunk has, and how many quarters.
static constexpr int64_t kWordElements = GemvPlan::kWordElements,
                         kQuarterWords = 4, kQuarters = 4,
                         kChunkWords = kQuarters * kQuarterWords;
static constexpr int64_t kFactorBytes = GemvPlan::kFactorBytes;

/// For the u32 number `number` of a K slice: its quarter of a K chunk, and the
/// instruction that takes it. Four neighbouring lanes have all quarters.
static AffineExpr getQuarter(AffineExpr number) { return number % kQuarters; }
static AffineExpr getInstructionOf(AffineExpr number) {
  return number.floorDiv(kQuarters) % kQuarterWords;
}

//===----------------------------------------------------------------------===//
// The row x as a block-diagonal B
//===----------------------------------------------------------------------===//

Value GemvRoles::emitFirstChunk(OpBuilder &at, const WorkTile &tile,
                                Value step) const {
  AffineExpr d0, d1, d2;
  bindDims(at.getContext(), d0, d1, d2);
  return applyExprs(at, loc, {(d0 * d1 + d2) * getSliceChunks()},
                    {slice, tile.steps, step})[0];
}

Value GemvRoles::loadElements(OpBuilder &at, GemmOperand id,
                              const WorkTile &tile, Value row, Value column) {
  constexpr int64_t kBytes = kWordElements / 2;
  const KernelOperand &quantized = problem[id];
  Value batch = getOperandBatch(at, kernel, quantized, tile.matrix);
  SmallVector<Value> position =
      applyMap(at, loc, quantized.map, {batch, row, column});
  position.back() = applyExprs(at, loc, {at.getAffineDimExpr(0).floorDiv(2)},
                               position.back())[0];
  Value bytes =
      vector::LoadOp::create(at, loc, VectorType::get(kBytes, at.getI8Type()),
                             kernel.getArgument(quantized.argument), position,
                             /*nontemporal=*/false, llvm::MaybeAlign(kBytes));
  bytes = vector::BitCastOp::create(at, loc,
                                    VectorType::get(1, at.getI32Type()), bytes);
  return vector::ExtractOp::create(at, loc, bytes, int64_t(0));
}

Value GemvRoles::loadScale(OpBuilder &at, GemmOperand id, const WorkTile &tile,
                           Value row, Value block) {
  const KernelOperand &scales = problem[id];
  if (scales.splat)
    return word(at, *scales.splat);
  Value batch = getOperandBatch(at, kernel, scales, tile.matrix);
  Value scale = memref::LoadOp::create(
      at, loc, kernel.getArgument(scales.argument),
      applyMap(at, loc, scales.map, {batch, row, block}));
  return arith::ExtUIOp::create(at, loc, at.getI32Type(), scale);
}

GemvRoles::Word GemvRoles::loadWord(OpBuilder &at, const WorkTile &tile,
                                    Value number, Value count) {
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  Value first = emitSliceStep(at, tile, slice, index(at, 0));
  AffineExpr inChunk = getQuarter(d1) * kQuarterWords + getInstructionOf(d1);
  Value column =
      applyExprs(at, loc,
                 {d0 * plan.getSliceK() +
                  d1.floorDiv(kChunkWords) * GemvPlan::kChunkElements +
                  inChunk * kWordElements},
                 {first, number})[0];
  // Lanes outside read the last elements, so that no load waits for a branch.
  // Elements of y are zeros there.
  column = arith::MinUIOp::create(at, loc, column,
                                  index(at, problem.k - kWordElements));
  Value block =
      applyExprs(at, loc, {d0.floorDiv(int64_t(problem.quantizedB->blockSize))},
                 column)[0];
  Word of;
  of.number = number;
  of.isInside = isBelow(at, loc, number, count);
  of.quantized = loadElements(at, GemmOperand::B, tile, tile.column, column);
  of.scale = loadScale(at, GemmOperand::SFB, tile, tile.column, block);
  return of;
}

void GemvRoles::storeB(const WordEmitter &emit, const Word &of, Value chunk) {
  OpBuilder &at = emit.b;
  // e5m2 bytes: 128 times the fp4 values of the codes 0 to 7.
  constexpr uint32_t kLow = 0x5A585400, kHigh = 0x62605E5C,
                     kMagnitudes = 0x77777777, kSigns = 0x80808080;
  constexpr uint32_t kEven = 0x6420, kOdd = 0x7531;
  constexpr unsigned kNibble = 4, kFour = 16;
  Value selectors = emit.bitAnd(of.quantized, kMagnitudes);
  auto lookUp = [&](Value four) {
    return emit.permute(emit.integer(kLow), emit.integer(kHigh), four);
  };
  Value low = lookUp(selectors);
  Value high = lookUp(emit.shiftRight(selectors, kFour));
  auto half = [&](uint32_t bytes, Value signs) {
    return emit.bitOr(emit.permute(low, high, emit.integer(bytes)),
                      emit.bitAnd(signs, kSigns));
  };
  Value halves[] = {half(kEven, emit.shiftLeft(of.quantized, kNibble)),
                    half(kOdd, of.quantized)};

  AffineExpr number, chunkOf;
  bindDims(at.getContext(), number, chunkOf);
  AffineExpr quarter = getQuarter(number),
             instruction = getInstructionOf(number);
  // Which of the two columns of B of a quarter has the scale block.
  int64_t blocksOfQuarter = gemv.blocksOfChunk / kQuarters;
  AffineExpr second =
      blocksOfQuarter == 1
          ? number.floorDiv(kChunkWords) %
                std::min<int64_t>(2, getSliceChunks())
          : instruction.floorDiv(kQuarterWords / blocksOfQuarter);
  constexpr int64_t kRowBytes = 16, kColumn = 128, kInstruction = 256;
  Value zero = emit.integer(0);
  Value ofQuarter = applyExprs(at, loc, {quarter}, of.number)[0];
  SmallVector<Value> areOwn;
  for (int64_t word = 0; word != kQuarters; ++word)
    areOwn.push_back(isEqual(at, loc, ofQuarter, index(at, word)));
  // Lanes of every other instruction begin with the other column, so that eight
  // lanes store to different banks.
  for (int64_t pass : {0, 1}) {
    AffineExpr parity = (instruction + pass) % 2;
    SmallVector<Value> values = applyExprs(
        at, loc,
        {chunkOf * GemvPlan::kChunkBytes + instruction * kInstruction +
             (quarter * 2 + parity) * kRowBytes + plan.getStagesBytes(),
         quarter * 2 + second, quarter * 2 + parity},
        {of.number, chunk});
    Value isColumn = isEqual(at, loc, values[1], values[2]);
    for (auto [i, half] : llvm::enumerate(halves)) {
      Value own = emit.select(isColumn, half, zero);
      SmallVector<Value> words;
      for (Value isOwn : areOwn)
        words.push_back(emit.select(isOwn, own, zero));
      Value bytes = vector::FromElementsOp::create(
          at, loc, VectorType::get(kQuarters, at.getI32Type()), words);
      bytes = vector::BitCastOp::create(
          at, loc, VectorType::get(kRowBytes, at.getI8Type()), bytes);
      vector::StoreOp::create(
          at, loc, bytes, shared,
          addIndex(at, loc, values[0], static_cast<int64_t>(i) * kColumn),
          /*nontemporal=*/false, llvm::MaybeAlign(kRowBytes));
    }
  }
}

Value GemvRoles::emitIsNaN(const WordEmitter &emit, Value scale) const {
  constexpr uint32_t kPowerNaN = 0xFF, kNaN = 0x7F;
  return isPower() ? emit.isEqual(scale, kPowerNaN)
                   : emit.isEqual(emit.bitAnd(scale, kNaN), kNaN);
}

Value GemvRoles::emitScaleValue(const WordEmitter &emit, Value scale) {
  // Shifted into position of an f32, the bits are 2^-120 times the scale.
  constexpr uint32_t kMagnitude = 0x7F;
  constexpr unsigned kShift = 20;
  constexpr float kShifted = 0x1p120F;
  Value number =
      emit.fromBits(emit.shiftLeft(emit.bitAnd(scale, kMagnitude), kShift));
  return emit.mul(number, kShifted);
}

void GemvRoles::storeFactor(const WordEmitter &emit, Value scale,
                            Value offset) {
  OpBuilder &at = emit.b;
  Value factor;
  if (isPower()) {
    constexpr uint32_t kBias = 129;
    factor = emit.sub(scale, emit.integer(kBias));
  } else {
    constexpr float kFactor = 0x1p119F;
    factor = emit.mul(emitScaleValue(emit, scale), kFactor);
    factor = emit.toBits(factor);
  }
  Value bytes = vector::BroadcastOp::create(
      at, loc, VectorType::get(1, at.getI32Type()), factor);
  bytes = vector::BitCastOp::create(
      at, loc, VectorType::get(kFactorBytes, at.getI8Type()), bytes);
  vector::StoreOp::create(at, loc, bytes, shared, offset, /*nontemporal=*/false,
                          llvm::MaybeAlign(kFactorBytes));
}

Value GemvRoles::spread(OpBuilder &at, const Word &of, Value firstChunk,
                        Value inexact) {
  WordEmitter outside(at, loc);
  Value isNaN = emitIsNaN(outside, of.scale);
  inexact = outside.bitOr(
      inexact, outside.select(isNaN, outside.integer(1), outside.integer(0)));
  OpBuilder then = scf::IfOp::create(at, loc, of.isInside).getThenBodyBuilder();
  WordEmitter emit(then, loc);
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  Value chunk = applyExprs(then, loc, {d0.floorDiv(kChunkWords) + d1},
                           {of.number, firstChunk})[0];
  storeB(emit, of, chunk);
  int64_t wordsOfBlock = kChunkWords / gemv.blocksOfChunk;
  AffineExpr inChunk = getQuarter(d0) * kQuarterWords + getInstructionOf(d0);
  SmallVector<Value> values =
      applyExprs(then, loc,
                 {inChunk % wordsOfBlock,
                  (inChunk.floorDiv(wordsOfBlock) + d1 * gemv.blocksOfChunk) *
                          kFactorBytes +
                      plan.getStagesBytes() + gemv.getBBytes()},
                 {of.number, chunk});
  Value isFirst = isEqual(then, loc, values[0], index(then, 0));
  OpBuilder one = scf::IfOp::create(then, loc, isFirst).getThenBodyBuilder();
  storeFactor(WordEmitter(one, loc), of.scale, values[1]);
  return inexact;
}

Value GemvRoles::emitStart(OpBuilder &at, const WorkTile &tile) {
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  int64_t threads = shares.getWarpsOfSlice() * int64_t(kWarpLanes);
  // Loads in flight at once.
  constexpr int64_t kMostRounds = 4;
  int64_t most = gemv.chunks / shares.slicesOfK * kChunkWords;
  int64_t rounds = std::min(kMostRounds, llvm::divideCeilSigned(most, threads));
  Value count = applyExprs(at, loc, {d0 * (getSliceChunks() * kChunkWords)},
                           tile.steps)[0];
  Value first = applyExprs(at, loc, {d0 % threads}, thread)[0];
  Value firstChunk = emitFirstChunk(at, tile, index(at, 0));
  auto loop = scf::ForOp::create(at, loc, first, count,
                                 index(at, rounds * threads), word(at, 0));
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  SmallVector<Word> words;
  for (int64_t i = 0; i != rounds; ++i)
    words.push_back(loadWord(
        inner, tile, addIndex(inner, loc, loop.getInductionVar(), i * threads),
        count));
  Value inexact = loop.getRegionIterArg(0);
  for (const Word &of : words)
    inexact = spread(inner, of, firstChunk, inexact);
  scf::YieldOp::create(inner, loc, inexact);
  // wgmma reads B through the async proxy.
  emitProxyFence(at);
  emitMmaBarrier(at);
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Stages have only y, which is an argument of the function: no copy waits for
/// a kernel in front.
void GemvRoles::emitLoader(OpBuilder role) {
  PipelineState first = stages.emitFirst(role);
  forEachTile(role, {}, [&](OpBuilder &at, const WorkTile &tile, ValueRange) {
    SmallVector<Value> none;
    emitSteps(at, first, toWord(at, tile.steps), /*isUnrolled=*/false, none,
              [&](OpBuilder &inner, Value step, const PipelineState &state,
                  ValueRange) {
                emitStepCopies(inner, tile, toIndex(inner, step), state,
                               Sides::Both);
                return SmallVector<Value>();
              });
    return SmallVector<Value>();
  });
}

SmallVector<Value> GemvRoles::emitProducts(OpBuilder &at, const WorkTile &tile,
                                           Value step, const PipelineState &,
                                           Value quantized, ValueRange values) {
  constexpr int64_t kColumnsOfChunk = 8, kRows = 8, kRowBytes = 16;
  int64_t chunks = getSliceChunks(), first = plan.getStagesBytes();
  Value chunk = emitFirstChunk(at, tile, step);
  AffineExpr d0 = at.getAffineDimExpr(0);
  SmallVector<Value> offsets = applyExprs(
      at, loc,
      {d0 * GemvPlan::kChunkBytes + first,
       d0 * (gemv.blocksOfChunk * kFactorBytes) + first + gemv.getBBytes()},
      chunk);
  Value bTile = emitView(at, {chunks * kColumnsOfChunk, kRows, kRowBytes},
                         at.getI8Type(), offsets[0]);
  Value factors =
      emitView(at, {chunks * gemv.blocksOfChunk}, at.getI32Type(), offsets[1]);
  auto product = WarpgroupMmaGemvOp::create(
      at, loc, accType, at.getI32Type(), quantized, bTile, factors, values[0],
      values[1], values.drop_front(2),
      TypeCombinationAttr::get(at.getContext(), *problem.quantizedB));
  return {product.getResult(), product.getAllInexact()};
}

Value GemvRoles::emitEnd(OpBuilder &at, Value sums) {
  return AccTotalOp::create(at, loc, sums);
}
