//===- GemvRoles.cpp - Codes and one row of codes -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How each block spreads x in shared memory, and what warps do with it.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/Gemv/GemvRoles.h"

#include "Utils/IndexValues.h"
#include "Utils/PackedElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Words of a quarter of a box, and quarters.
static constexpr int64_t kWordCodes = GemvPlan::kWordCodes, kQuarterWords = 4,
                         kQuarters = 4, kBoxWords = kQuarters * kQuarterWords;
static constexpr int64_t kFactorBytes = GemvPlan::kFactorBytes;

/// Of word `number` of a part: its quarter of a box, and the instruction that
/// takes it. Neighbouring lanes have all quarters.
static AffineExpr getQuarter(AffineExpr number) { return number % kQuarters; }
static AffineExpr getInstructionOf(AffineExpr number) {
  return number.floorDiv(kQuarters) % kQuarterWords;
}

//===----------------------------------------------------------------------===//
// The row
//===----------------------------------------------------------------------===//

Value GemvRoles::emitFirstBox(OpBuilder &at, const WorkTile &tile,
                              Value step) const {
  AffineExpr d0, d1, d2;
  bindDims(at.getContext(), d0, d1, d2);
  return applyExprs(at, loc, {(d0 * d1 + d2) * getPartBoxes()},
                    {part, tile.steps, step})[0];
}

Value GemvRoles::loadCodes(OpBuilder &at, const KernelOperand &codes,
                           ValueRange place) {
  constexpr int64_t kBytes = kWordCodes / 2;
  SmallVector<Value> position = applyMap(at, loc, codes.map, place);
  position.back() = applyExprs(at, loc, {at.getAffineDimExpr(0).floorDiv(2)},
                               position.back())[0];
  Value bytes =
      vector::LoadOp::create(at, loc, VectorType::get(kBytes, at.getI8Type()),
                             kernel.getArgument(codes.argument), position,
                             /*nontemporal=*/false, llvm::MaybeAlign(kBytes));
  bytes = vector::BitCastOp::create(at, loc,
                                    VectorType::get(1, at.getI32Type()), bytes);
  return vector::ExtractOp::create(at, loc, bytes, int64_t(0));
}

Value GemvRoles::loadScale(OpBuilder &at, const KernelOperand &scales,
                           ValueRange place) {
  if (scales.splat)
    return word(at, *scales.splat);
  Value scale =
      memref::LoadOp::create(at, loc, kernel.getArgument(scales.argument),
                             applyMap(at, loc, scales.map, place));
  return arith::ExtUIOp::create(at, loc, at.getI32Type(), scale);
}

GemvRoles::Word GemvRoles::loadWord(OpBuilder &at, const WorkTile &tile,
                                    Value number, Value count) {
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  Value first = emitPartStep(at, tile, part, index(at, 0));
  AffineExpr inBox = getQuarter(d1) * kQuarterWords + getInstructionOf(d1);
  Value column = applyExprs(at, loc,
                            {d0 * plan.getPartK() +
                             d1.floorDiv(kBoxWords) * GemvPlan::kBoxElements +
                             inBox * kWordCodes},
                            {first, number})[0];
  // What is outside reads what is last, so that all loads start at once. Codes
  // of y are zeros there.
  column = arith::MinUIOp::create(at, loc, column,
                                  index(at, problem.k - kWordCodes));
  Value block =
      applyExprs(at, loc, {d0.floorDiv(int64_t(problem.quantizedB->blockSize))},
                 column)[0];
  auto getPlace = [&](const KernelOperand &of, Value last) {
    return SmallVector<Value>{getOperandBatch(at, kernel, of, tile.matrix),
                              tile.column, last};
  };
  Word of;
  of.number = number;
  of.isInside =
      arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult, number, count);
  of.codes = loadCodes(at, problem[GemmOperand::B],
                       getPlace(problem[GemmOperand::B], column));
  of.scale = loadScale(at, problem[GemmOperand::SFB],
                       getPlace(problem[GemmOperand::SFB], block));
  return of;
}

void GemvRoles::storeNumbers(const WordEmitter &emit, const Word &of,
                             Value box) {
  OpBuilder &at = emit.b;
  // Bytes of e5m2, 128 times what codes from 0 to 7 stand for.
  constexpr uint32_t kLow = 0x5A585400, kHigh = 0x62605E5C,
                     kMagnitudes = 0x77777777, kSigns = 0x80808080;
  constexpr uint32_t kEven = 0x6420, kOdd = 0x7531;
  constexpr unsigned kNibble = 4, kFour = 16;
  Value selectors = emit.bitAnd(of.codes, kMagnitudes);
  auto lookUp = [&](Value four) {
    return emit.permute(emit.integer(kLow), emit.integer(kHigh), four);
  };
  Value low = lookUp(selectors);
  Value high = lookUp(emit.shiftRight(selectors, kFour));
  auto half = [&](uint32_t bytes, Value signs) {
    return emit.bitOr(emit.permute(low, high, emit.integer(bytes)),
                      emit.bitAnd(signs, kSigns));
  };
  Value halves[] = {half(kEven, emit.shiftLeft(of.codes, kNibble)),
                    half(kOdd, of.codes)};

  AffineExpr number, boxOf;
  bindDims(at.getContext(), number, boxOf);
  AffineExpr quarter = getQuarter(number),
             instruction = getInstructionOf(number);
  // Which of both lines of a quarter the block is in.
  int64_t blocksOfQuarter = row.blocksOfBox / kQuarters;
  AffineExpr second =
      blocksOfQuarter == 1
          ? number.floorDiv(kBoxWords) % std::min<int64_t>(2, getPartBoxes())
          : instruction.floorDiv(kQuarterWords / blocksOfQuarter);
  constexpr int64_t kLine = 16, kColumn = 128, kInstruction = 256;
  Value zero = emit.integer(0);
  Value ofQuarter = applyExprs(at, loc, {quarter}, of.number)[0];
  SmallVector<Value> areOwn;
  for (int64_t word = 0; word != kQuarters; ++word)
    areOwn.push_back(arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq,
                                           ofQuarter, index(at, word)));
  // Lanes of every other instruction begin with the other line, so that eight
  // of them are in different banks.
  for (int64_t pass : {0, 1}) {
    AffineExpr line = (instruction + pass) % 2;
    SmallVector<Value> values =
        applyExprs(at, loc,
                   {boxOf * GemvPlan::kBoxBytes + instruction * kInstruction +
                        (quarter * 2 + line) * kLine + plan.getStagesBytes(),
                    quarter * 2 + second, quarter * 2 + line},
                   {of.number, box});
    Value isLine = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq,
                                         values[1], values[2]);
    for (auto [i, half] : llvm::enumerate(halves)) {
      Value own = emit.select(isLine, half, zero);
      SmallVector<Value> words;
      for (Value isOwn : areOwn)
        words.push_back(emit.select(isOwn, own, zero));
      Value bytes = vector::FromElementsOp::create(
          at, loc, VectorType::get(kQuarters, at.getI32Type()), words);
      bytes = vector::BitCastOp::create(
          at, loc, VectorType::get(kLine, at.getI8Type()), bytes);
      vector::StoreOp::create(
          at, loc, bytes, shared,
          addIndex(at, loc, values[0], static_cast<int64_t>(i) * kColumn),
          /*nontemporal=*/false, llvm::MaybeAlign(kLine));
    }
  }
}

Value GemvRoles::emitIsNaN(const WordEmitter &emit, Value scale) const {
  constexpr uint32_t kPowerNaN = 0xFF, kNaN = 0x7F;
  return isPower() ? emit.isEqual(scale, kPowerNaN)
                   : emit.isEqual(emit.bitAnd(scale, kNaN), kNaN);
}

Value GemvRoles::emitNumber(const WordEmitter &emit, Value scale) {
  // Bits that are placed are 2^-120 of the scale.
  constexpr uint32_t kMagnitude = 0x7F;
  constexpr unsigned kPlace = 20;
  constexpr float kPlaced = 0x1p120F;
  Value number =
      emit.fromBits(emit.shiftLeft(emit.bitAnd(scale, kMagnitude), kPlace));
  return emit.mul(number, kPlaced);
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
    factor = emit.mul(emitNumber(emit, scale), kFactor);
    factor = emit.toBits(factor);
  }
  Value line = vector::BroadcastOp::create(
      at, loc, VectorType::get(1, at.getI32Type()), factor);
  line = vector::BitCastOp::create(
      at, loc, VectorType::get(kFactorBytes, at.getI8Type()), line);
  vector::StoreOp::create(at, loc, line, shared, offset, /*nontemporal=*/false,
                          llvm::MaybeAlign(kFactorBytes));
}

Value GemvRoles::spread(OpBuilder &at, const Word &of, Value firstBox,
                        Value inexact) {
  WordEmitter outside(at, loc);
  Value isNaN = emitIsNaN(outside, of.scale);
  inexact = outside.bitOr(
      inexact, outside.select(isNaN, outside.integer(1), outside.integer(0)));
  OpBuilder then = scf::IfOp::create(at, loc, of.isInside).getThenBodyBuilder();
  WordEmitter emit(then, loc);
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  Value box = applyExprs(then, loc, {d0.floorDiv(kBoxWords) + d1},
                         {of.number, firstBox})[0];
  storeNumbers(emit, of, box);
  int64_t wordsOfBlock = kBoxWords / row.blocksOfBox;
  AffineExpr inBox = getQuarter(d0) * kQuarterWords + getInstructionOf(d0);
  SmallVector<Value> values = applyExprs(
      then, loc,
      {inBox % wordsOfBlock,
       (inBox.floorDiv(wordsOfBlock) + d1 * row.blocksOfBox) * kFactorBytes +
           plan.getStagesBytes() + row.getNumberBytes()},
      {of.number, box});
  Value isFirst = arith::CmpIOp::create(then, loc, arith::CmpIPredicate::eq,
                                        values[0], index(then, 0));
  OpBuilder one = scf::IfOp::create(then, loc, isFirst).getThenBodyBuilder();
  storeFactor(WordEmitter(one, loc), of.scale, values[1]);
  return inexact;
}

Value GemvRoles::emitStart(OpBuilder &at, const WorkTile &tile) {
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  int64_t threads = shares.getWarpsOfPart() * int64_t(kWarpLanes);
  // Loads that are under way at once.
  constexpr int64_t kMostRounds = 4;
  int64_t most = row.boxes / shares.partsOfK * kBoxWords;
  int64_t rounds = std::min(kMostRounds, llvm::divideCeilSigned(most, threads));
  Value count =
      applyExprs(at, loc, {d0 * (getPartBoxes() * kBoxWords)}, tile.steps)[0];
  Value first = applyExprs(at, loc, {d0 % threads}, thread)[0];
  Value firstBox = emitFirstBox(at, tile, index(at, 0));
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
    inexact = spread(inner, of, firstBox, inexact);
  scf::YieldOp::create(inner, loc, inexact);
  // Instructions read it, which are of another proxy.
  NVVM::FenceProxyOp::create(
      at, loc,
      NVVM::ProxyKindAttr::get(at.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(at.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  emitMeet(at);
  return loop.getResult(0);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Stages have codes of y alone, which are an argument's: no copy waits for a
/// kernel in front.
void GemvRoles::emitLoader(OpBuilder &role) {
  PipelineState first = stages.emitFirst(role);
  forEachTile(role, {}, [&](OpBuilder &at, const WorkTile &tile, ValueRange) {
    SmallVector<Value> none;
    emitSteps(at, first, toWord(at, tile.steps), /*isUnrolled=*/false, none,
              [&](OpBuilder &inner, Value step, const PipelineState &place,
                  ValueRange) {
                step = inner.createOrFold<arith::IndexCastUIOp>(
                    loc, inner.getIndexType(), step);
                emitStepCopies(inner, tile, step, place, Sides::Both);
                return SmallVector<Value>();
              });
    return SmallVector<Value>();
  });
}

SmallVector<Value> GemvRoles::emitProducts(OpBuilder &at, const WorkTile &tile,
                                           Value step, const PipelineState &,
                                           Value codes, ValueRange values) {
  constexpr int64_t kColumnsOfBox = 8, kLines = 8, kLine = 16;
  int64_t boxes = getPartBoxes(), first = plan.getStagesBytes();
  Value box = emitFirstBox(at, tile, step);
  AffineExpr d0 = at.getAffineDimExpr(0);
  SmallVector<Value> offsets = applyExprs(
      at, loc,
      {d0 * GemvPlan::kBoxBytes + first,
       d0 * (row.blocksOfBox * kFactorBytes) + first + row.getNumberBytes()},
      box);
  Value numbers = emitView(at, {boxes * kColumnsOfBox, kLines, kLine},
                           at.getI8Type(), offsets[0]);
  Value factors =
      emitView(at, {boxes * row.blocksOfBox}, at.getI32Type(), offsets[1]);
  auto product = WarpgroupMmaGemvOp::create(
      at, loc, accType, at.getI32Type(), codes, numbers, factors, values[0],
      values[1], values.drop_front(2),
      TypeCombinationAttr::get(at.getContext(), *problem.quantizedB));
  return {product.getResult(), product.getAllInexact()};
}

Value GemvRoles::emitEnd(OpBuilder &at, Value sums) {
  return AccTotalOp::create(at, loc, sums);
}
