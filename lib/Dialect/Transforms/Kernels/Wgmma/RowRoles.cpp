//===- RowRoles.cpp - Codes and one row of codes --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums are exact up to the scales of blocks. A block that finds factors that an
// f32 does not hold, or a NaN, adds its sums up again in f64.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Wgmma/RowRoles.h"

#include "Utils/IndexValues.h"
#include "Utils/StoredCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Codes of a word, words of a quarter of a box, and quarters.
static constexpr int64_t kWordCodes = 8, kQuarterWords = 4, kQuarters = 4,
                         kBoxWords = kQuarters * kQuarterWords;
static constexpr int64_t kFactorBytes = 4;

/// Of word `number` of a part: its quarter of a box, and the instruction that
/// takes it. Neighbouring lanes have all quarters.
static AffineExpr getQuarter(AffineExpr number) { return number % kQuarters; }
static AffineExpr getInstructionOf(AffineExpr number) {
  return number.floorDiv(kQuarters) % kQuarterWords;
}

RowPlan::RowPlan(RingScheduleAttr schedule, const OpRow &row, int64_t k)
    : blocksOfBox(kBoxElements / row.blockSize) {
  int64_t steps = llvm::divideCeilSigned(k, schedule.getK());
  boxes = llvm::divideCeilSigned(steps, schedule.getSplits()) *
          schedule.getK() / kBoxElements;
}

int64_t RowPlan::getFactorBytes() const {
  return boxes * blocksOfBox * kFactorBytes;
}

//===----------------------------------------------------------------------===//
// The row
//===----------------------------------------------------------------------===//

Value RowRoles::emitFirstBox(OpBuilder &at, const RingTile &tile,
                             Value step) const {
  AffineExpr d0, d1, d2;
  bindDims(at.getContext(), d0, d1, d2);
  return applyExprs(at, loc, {(d0 * d1 + d2) * getPartBoxes()},
                    {part, tile.steps, step})[0];
}

Value RowRoles::loadCodes(OpBuilder &at, const KernelOperand &codes,
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

Value RowRoles::loadScale(OpBuilder &at, const KernelOperand &scales,
                          ValueRange place) {
  if (scales.splat)
    return word(at, *scales.splat);
  Value scale =
      memref::LoadOp::create(at, loc, kernel.getArgument(scales.argument),
                             applyMap(at, loc, scales.map, place));
  return arith::ExtUIOp::create(at, loc, at.getI32Type(), scale);
}

RowRoles::Word RowRoles::loadWord(OpBuilder &at, const RingTile &tile,
                                  Value number, Value count) {
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  Value first = emitPartStep(at, tile, part, index(at, 0));
  AffineExpr inBox = getQuarter(d1) * kQuarterWords + getInstructionOf(d1);
  Value column = applyExprs(at, loc,
                            {d0 * plan.getPartK() +
                             d1.floorDiv(kBoxWords) * RowPlan::kBoxElements +
                             inBox * kWordCodes},
                            {first, number})[0];
  // What is outside reads what is last, so that all loads start at once. Codes
  // of y are zeros there.
  column = arith::MinUIOp::create(at, loc, column,
                                  index(at, problem.k - kWordCodes));
  Value block = applyExprs(
      at, loc, {d0.floorDiv(int64_t(problem.codesOfY->blockSize))}, column)[0];
  auto getPlace = [&](const KernelOperand &of, Value at2) {
    return SmallVector<Value>{getOperandBatch(at, kernel, of, tile.matrix),
                              tile.column, at2};
  };
  Word of;
  of.number = number;
  of.isInside =
      arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult, number, count);
  of.codes = loadCodes(at, problem.y, getPlace(problem.y, column));
  of.scale = loadScale(at, problem.yScale, getPlace(problem.yScale, block));
  return of;
}

void RowRoles::storeNumbers(const WordEmitter &emit, const Word &of,
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
  // Lanes of every other instruction begin with the other line, so that eight
  // of them are in different banks.
  for (int64_t pass : {0, 1}) {
    AffineExpr line = (instruction + pass) % 2;
    SmallVector<Value> values =
        applyExprs(at, loc,
                   {boxOf * RowPlan::kBoxBytes + instruction * kInstruction +
                        (quarter * 2 + line) * kLine + plan.getStagesBytes(),
                    quarter * 2 + second, quarter * 2 + line},
                   {of.number, box});
    Value isLine = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq,
                                         values[1], values[2]);
    for (auto [i, half] : llvm::enumerate(halves)) {
      Value own = emit.select(isLine, half, zero);
      SmallVector<Value> words;
      for (int64_t word = 0; word != kQuarters; ++word) {
        Value isOwn = arith::CmpIOp::create(
            at, loc, arith::CmpIPredicate::eq,
            applyExprs(at, loc, {quarter}, of.number)[0], index(at, word));
        words.push_back(emit.select(isOwn, own, zero));
      }
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

/// Whether a scale is NaN.
static Value emitIsNaN(const WordEmitter &emit, bool isPower, Value scale) {
  constexpr uint32_t kPowerNaN = 0xFF, kNaN = 0x7F;
  return isPower ? emit.isEqual(scale, kPowerNaN)
                 : emit.isEqual(emit.bitAnd(scale, kNaN), kNaN);
}

/// A scale with a mantissa as f32; its sign does not count.
static Value emitNumber(const WordEmitter &emit, Value scale) {
  // Bits that are placed are 2^-120 of the scale.
  constexpr uint32_t kMagnitude = 0x7F;
  constexpr unsigned kPlace = 20;
  constexpr float kPlaced = 0x1p120F;
  Value number = LLVM::BitcastOp::create(
      emit.b, emit.loc, emit.b.getF32Type(),
      emit.shiftLeft(emit.bitAnd(scale, kMagnitude), kPlace));
  return LLVM::FMulOp::create(emit.b, emit.loc, number, emit.real(kPlaced));
}

void RowRoles::storeFactor(const WordEmitter &emit, Value scale, Value offset) {
  OpBuilder &at = emit.b;
  Value factor;
  if (isPower()) {
    constexpr uint32_t kBias = 129;
    factor = emit.subtract(scale, emit.integer(kBias));
  } else {
    constexpr float kFactor = 0x1p119F;
    factor = LLVM::FMulOp::create(at, loc, emitNumber(emit, scale),
                                  emit.real(kFactor));
    factor = LLVM::BitcastOp::create(at, loc, at.getI32Type(), factor);
  }
  Value line = vector::BroadcastOp::create(
      at, loc, VectorType::get(1, at.getI32Type()), factor);
  line = vector::BitCastOp::create(
      at, loc, VectorType::get(kFactorBytes, at.getI8Type()), line);
  vector::StoreOp::create(at, loc, line, shared, offset, /*nontemporal=*/false,
                          llvm::MaybeAlign(kFactorBytes));
}

Value RowRoles::spread(OpBuilder &at, const Word &of, Value firstBox,
                       Value lost) {
  WordEmitter outside(at, loc);
  Value isNaN = emitIsNaN(outside, isPower(), of.scale);
  lost = outside.bitOr(
      lost, outside.select(isNaN, outside.integer(1), outside.integer(0)));
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
  return lost;
}

Value RowRoles::emitStart(OpBuilder &at, const RingTile &tile) {
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
  Value lost = loop.getRegionIterArg(0);
  for (const Word &of : words)
    lost = spread(inner, of, firstBox, lost);
  scf::YieldOp::create(inner, loc, lost);
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
// Sums in f64
//===----------------------------------------------------------------------===//

Value RowRoles::emitDot(OpBuilder &at, Value x, Value y) {
  constexpr unsigned kNibble = 4;
  auto loop =
      scf::ForOp::create(at, loc, word(at, 0), word(at, kWordCodes * kNibble),
                         word(at, kNibble), word(at, 0));
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  WordEmitter emit(inner, loc);
  // Twice the magnitudes of codes from 0 to 7.
  constexpr uint32_t kLow = 0x03020100, kHigh = 0x0C080604, kByte = 0xFF,
                     kMagnitude = 0x7, kSign = 0x8;
  Value nibbles[2], product;
  for (auto [of, codes] : llvm::zip_equal(nibbles, std::array{x, y})) {
    of = LLVM::LShrOp::create(inner, loc, codes, loop.getInductionVar());
    Value magnitude =
        emit.bitAnd(emit.permute(emit.integer(kLow), emit.integer(kHigh),
                                 emit.bitAnd(of, kMagnitude)),
                    kByte);
    product = product
                  ? Value(LLVM::MulOp::create(inner, loc, product, magnitude))
                  : magnitude;
  }
  Value signs = LLVM::XOrOp::create(inner, loc, nibbles[0], nibbles[1]);
  Value isNegative = emit.isDifferent(emit.bitAnd(signs, kSign), 0);
  Value sum =
      emit.add(loop.getRegionIterArg(0),
               emit.select(isNegative, emit.subtract(emit.integer(0), product),
                           product));
  scf::YieldOp::create(inner, loc, sum);
  return loop.getResult(0);
}

Value RowRoles::emitScale(OpBuilder &at, Value x, Value y) {
  WordEmitter emit(at, loc);
  Type f64 = at.getF64Type();
  Value scale;
  if (isPower()) {
    constexpr uint32_t kBias = 1023 - 254;
    constexpr int64_t kMantissaBits = 52;
    Value exponent = arith::ExtUIOp::create(at, loc, at.getI64Type(),
                                            emit.add(emit.add(x, y), kBias));
    Value places =
        arith::ConstantOp::create(at, loc, at.getI64IntegerAttr(kMantissaBits));
    scale = LLVM::BitcastOp::create(
        at, loc, f64, LLVM::ShlOp::create(at, loc, exponent, places));
  } else {
    Value product =
        LLVM::FMulOp::create(at, loc, emitNumber(emit, x), emitNumber(emit, y));
    scale = arith::ExtFOp::create(at, loc, f64, product);
  }
  Value nan = arith::ConstantOp::create(
      at, loc, at.getFloatAttr(f64, APFloat::getQNaN(APFloat::IEEEdouble())));
  for (Value of : {x, y})
    scale = emit.select(emitIsNaN(emit, isPower(), of), nan, scale);
  return scale;
}

Value RowRoles::emitExactSum(OpBuilder &at, const RingTile &tile, Value rowOfY,
                             Value first, Value end, int64_t step) {
  Type f64 = at.getF64Type();
  Value zero = arith::ConstantOp::create(at, loc, at.getFloatAttr(f64, 0));
  auto blocks = scf::ForOp::create(at, loc, first, end, index(at, step), zero);
  OpBuilder b1 = OpBuilder::atBlockBegin(blocks.getBody());
  Value block = blocks.getInductionVar();
  // Of y and of x, which is B.
  auto getPlace = [&](OpBuilder &b, const KernelOperand &of, Value row,
                      Value column) {
    return SmallVector<Value>{getOperandBatch(b, kernel, of, tile.matrix), row,
                              column};
  };
  int64_t blockSize = problem.codesOfY->blockSize;
  auto words = scf::ForOp::create(b1, loc, index(b1, 0), index(b1, blockSize),
                                  index(b1, kWordCodes), word(b1, 0));
  OpBuilder b2 = OpBuilder::atBlockBegin(words.getBody());
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  Value column = applyExprs(b2, loc, {d0 * blockSize + d1},
                            {block, words.getInductionVar()})[0];
  Value y = loadCodes(b2, problem.x, getPlace(b2, problem.x, rowOfY, column));
  Value x =
      loadCodes(b2, problem.y, getPlace(b2, problem.y, tile.column, column));
  Value dot = arith::AddIOp::create(b2, loc, words.getRegionIterArg(0),
                                    emitDot(b2, x, y));
  scf::YieldOp::create(b2, loc, dot);

  Value scaleY = loadScale(b1, problem.xScale,
                           getPlace(b1, problem.xScale, rowOfY, block));
  Value scaleX = loadScale(b1, problem.yScale,
                           getPlace(b1, problem.yScale, tile.column, block));
  constexpr double kDot = 0.25;
  Value product = arith::MulFOp::create(
      b1, loc, arith::SIToFPOp::create(b1, loc, f64, words.getResult(0)),
      arith::ConstantOp::create(b1, loc, b1.getFloatAttr(f64, kDot)));
  product =
      arith::MulFOp::create(b1, loc, product, emitScale(b1, scaleX, scaleY));
  Value sum =
      arith::AddFOp::create(b1, loc, blocks.getRegionIterArg(0), product);
  scf::YieldOp::create(b1, loc, sum);
  return blocks.getResult(0);
}

/// The sum of what so many neighbouring lanes have, a power of two.
static Value addLanes(OpBuilder &at, Location loc, Value value, int64_t lanes) {
  for (int64_t distance = 1; distance != lanes; distance *= 2) {
    Value width = arith::ConstantOp::create(
        at, loc, at.getI32IntegerAttr(int32_t(kWarpLanes)));
    Value by = arith::ConstantOp::create(
        at, loc, at.getI32IntegerAttr(static_cast<int32_t>(distance)));
    auto shuffled = gpu::ShuffleOp::create(at, loc, value, by, width,
                                           gpu::ShuffleMode::XOR);
    value = arith::AddFOp::create(at, loc, value, shuffled.getShuffleResult());
  }
  return value;
}

Value RowRoles::viewExactSums(OpBuilder &at) {
  return emitView(at, {accType.getM(), accType.getN()}, at.getF32Type(),
                  index(at, plan.getStagesBytes()));
}

void RowRoles::emitFound(OpBuilder &at, const RingTile &tile) {
  Value found = memref::LoadOp::create(at, loc, flag, index(at, 0));
  isFound = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne, found,
                                  word(at, 0));
  OpBuilder then = scf::IfOp::create(at, loc, isFound).getThenBodyBuilder();
  RingScheduleAttr schedule = plan.getSchedule();
  // Lanes that add up a row of y.
  int64_t lanes = shares.getWarps() * int64_t(kWarpLanes) / schedule.getM();
  int64_t blocksOfStep = schedule.getK() / problem.codesOfY->blockSize;
  int64_t blocks = problem.k / problem.codesOfY->blockSize;
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  Value inTile = applyExprs(then, loc, {d0.floorDiv(lanes)}, thread)[0];
  Value rowOfY =
      arith::MinUIOp::create(then, loc, addIndices(then, loc, tile.row, inTile),
                             addIndex(then, loc, sizes.m, -1));
  Value from = tile.firstStep ? tile.firstStep : index(then, 0);
  Value end = arith::MinUIOp::create(
      then, loc,
      applyExprs(then, loc, {(d0 + d1) * blocksOfStep}, {from, tile.steps})[0],
      index(then, blocks));
  Value first = applyExprs(then, loc, {d0 * blocksOfStep + d1 % lanes},
                           {from, thread})[0];
  Value sum = addLanes(
      then, loc, emitExactSum(then, tile, rowOfY, first, end, lanes), lanes);
  sum = arith::TruncFOp::create(then, loc, then.getF32Type(), sum);
  // Of lanes that store, all store the same.
  memref::StoreOp::create(then, loc, sum, viewExactSums(then),
                          ValueRange{index(then, 0), inTile});
  // Else warps meet again before sums of all parts are read.
  if (shares.partsOfK == 1)
    emitMeet(then);
}

Value RowRoles::emitFinal(OpBuilder &at, Value sums) {
  auto choice = scf::IfOp::create(at, loc, TypeRange(accType), isFound,
                                  /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  Value exact = AccLoadOp::create(then, loc, accType, viewExactSums(then),
                                  ValueRange{index(then, 0), index(then, 0)},
                                  /*in_bounds=*/true);
  scf::YieldOp::create(then, loc, exact);
  OpBuilder other = choice.getElseBodyBuilder();
  scf::YieldOp::create(other, loc, sums);
  return choice.getResult(0);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Stages have codes of y alone, which are an argument's: no copy waits for a
/// kernel in front.
void RowRoles::emitLoader(OpBuilder &role) {
  RingPlace first = stages.emitFirst(role);
  forEachTile(role, {}, [&](OpBuilder &at, const RingTile &tile, ValueRange) {
    SmallVector<Value> none;
    emitSteps(
        at, first, toWord(at, tile.steps), /*isUnrolled=*/false, none,
        [&](OpBuilder &inner, Value step, const RingPlace &place, ValueRange) {
          step = inner.createOrFold<arith::IndexCastUIOp>(
              loc, inner.getIndexType(), step);
          emitStepCopies(inner, tile, step, place, Sides::Both);
          return SmallVector<Value>();
        });
    return SmallVector<Value>();
  });
}

SmallVector<Value> RowRoles::emitProducts(OpBuilder &at, const RingTile &tile,
                                          Value step, const RingPlace &,
                                          Value codes, ValueRange values) {
  constexpr int64_t kColumnsOfBox = 8, kLines = 8, kLine = 16;
  int64_t boxes = getPartBoxes(), first = plan.getStagesBytes();
  Value box = emitFirstBox(at, tile, step);
  AffineExpr d0 = at.getAffineDimExpr(0);
  SmallVector<Value> offsets = applyExprs(
      at, loc,
      {d0 * RowPlan::kBoxBytes + first,
       d0 * (row.blocksOfBox * kFactorBytes) + first + row.getNumberBytes()},
      box);
  Value numbers = emitView(at, {boxes * kColumnsOfBox, kLines, kLine},
                           at.getI8Type(), offsets[0]);
  Value factors =
      emitView(at, {boxes * row.blocksOfBox}, at.getI32Type(), offsets[1]);
  auto product = WarpgroupMmaRowOp::create(
      at, loc, accType, at.getI32Type(), codes, numbers, factors, values[0],
      values[1], values.drop_front(2),
      RowAttr::get(at.getContext(), *problem.codesOfY));
  return {product.getResult(), product.getAllLost()};
}

Value RowRoles::emitEnd(OpBuilder &at, Value sums) {
  return AccTotalOp::create(at, loc, sums);
}
