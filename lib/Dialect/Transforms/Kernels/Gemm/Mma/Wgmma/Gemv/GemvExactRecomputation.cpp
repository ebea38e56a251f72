//===- GemvExactRecomputation.cpp - Exact recomputation of a GEMV ---------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The wgmma sums are exact up to the scale factors of blocks. A block of
// threads recomputes its rows in f64 if it finds a factor that f32 does not
// hold, or a NaN: f64 holds all products of two elements and two scales.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Wgmma/Gemv/GemvRoles.h"

#include "Utils/LaneOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

static constexpr int64_t kWordElements = GemvPlan::kWordElements;

Value GemvRoles::emitDot(OpBuilder &at, Value x, Value y) {
  constexpr unsigned kNibble = 4;
  auto loop = scf::ForOp::create(at, loc, word(at, 0),
                                 word(at, kWordElements * kNibble),
                                 word(at, kNibble), word(at, 0));
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  WordEmitter emit(inner, loc);
  // Twice the fp4 magnitudes of the codes 0 to 7.
  constexpr uint32_t kLow = 0x03020100, kHigh = 0x0C080604, kByte = 0xFF,
                     kMagnitude = 0x7, kSign = 0x8;
  Value nibbles[2], product;
  for (auto [of, quantized] : llvm::zip_equal(nibbles, std::array{x, y})) {
    of = emit.shiftRight(quantized, loop.getInductionVar());
    Value magnitude =
        emit.bitAnd(emit.permute(emit.integer(kLow), emit.integer(kHigh),
                                 emit.bitAnd(of, kMagnitude)),
                    kByte);
    product = product ? emit.mul(product, magnitude) : magnitude;
  }
  Value signs = emit.bitXor(nibbles[0], nibbles[1]);
  Value isNegative = emit.isDifferent(emit.bitAnd(signs, kSign), 0);
  Value sum = emit.add(
      loop.getRegionIterArg(0),
      emit.select(isNegative, emit.sub(emit.integer(0), product), product));
  scf::YieldOp::create(inner, loc, sum);
  return loop.getResult(0);
}

Value GemvRoles::emitScale(OpBuilder &at, Value x, Value y) {
  WordEmitter emit(at, loc);
  Type f64 = at.getF64Type();
  Value scale;
  if (isPower()) {
    constexpr uint32_t kBias = 1023 - 254;
    constexpr int64_t kMantissaBits = 52;
    Value exponent = arith::ExtUIOp::create(at, loc, at.getI64Type(),
                                            emit.add(emit.add(x, y), kBias));
    Value shift =
        arith::ConstantOp::create(at, loc, at.getI64IntegerAttr(kMantissaBits));
    scale =
        LLVM::BitcastOp::create(at, loc, f64, emit.shiftLeft(exponent, shift));
  } else {
    Value product = emit.mul(emitScaleValue(emit, x), emitScaleValue(emit, y));
    scale = arith::ExtFOp::create(at, loc, f64, product);
  }
  Value nan = arith::ConstantOp::create(
      at, loc, at.getFloatAttr(f64, APFloat::getQNaN(APFloat::IEEEdouble())));
  for (Value of : {x, y})
    scale = emit.select(emitIsNaN(emit, of), nan, scale);
  return scale;
}

Value GemvRoles::emitExactDot(OpBuilder &at, const WorkTile &tile, Value rowOfY,
                              Value first, Value end, int64_t step) {
  Type f64 = at.getF64Type();
  Value zero = arith::ConstantOp::create(at, loc, at.getFloatAttr(f64, 0));
  auto blocks = scf::ForOp::create(at, loc, first, end, index(at, step), zero);
  OpBuilder b1 = OpBuilder::atBlockBegin(blocks.getBody());
  Value block = blocks.getInductionVar();
  int64_t blockSize = problem.quantizedB->blockSize;
  auto words = scf::ForOp::create(b1, loc, index(b1, 0), index(b1, blockSize),
                                  index(b1, kWordElements), word(b1, 0));
  OpBuilder b2 = OpBuilder::atBlockBegin(words.getBody());
  AffineExpr d0, d1;
  bindDims(at.getContext(), d0, d1);
  Value column = applyExprs(b2, loc, {d0 * blockSize + d1},
                            {block, words.getInductionVar()})[0];
  Value y = loadElements(b2, GemmOperand::A, tile, rowOfY, column);
  Value x = loadElements(b2, GemmOperand::B, tile, tile.column, column);
  Value dot = arith::AddIOp::create(b2, loc, words.getRegionIterArg(0),
                                    emitDot(b2, x, y));
  scf::YieldOp::create(b2, loc, dot);

  Value scaleY = loadScale(b1, GemmOperand::SFA, tile, rowOfY, block);
  Value scaleX = loadScale(b1, GemmOperand::SFB, tile, tile.column, block);
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

/// The sum of `value` over `count` neighbouring lanes, a power of two.
static Value addLanes(OpBuilder &at, Location loc, Value value, int64_t lanes) {
  for (int64_t distance = 1; distance != lanes; distance *= 2)
    value = arith::AddFOp::create(at, loc, value,
                                  emitShuffle(at, loc, value, distance));
  return value;
}

Value GemvRoles::viewExactResults(OpBuilder &at) {
  return emitView(at, {accType.getM(), accType.getN()}, at.getF32Type(),
                  index(at, plan.getStagesBytes()));
}

void GemvRoles::emitFlagEpilogue(OpBuilder &at, const WorkTile &tile) {
  Value found = memref::LoadOp::create(at, loc, flag, index(at, 0));
  isFlagSet = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne, found,
                                    word(at, 0));
  OpBuilder then = scf::IfOp::create(at, loc, isFlagSet).getThenBodyBuilder();
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  // The lanes that share a row of y.
  int64_t lanes = shares.getWarps() * int64_t(kWarpLanes) / schedule.getM();
  int64_t blocksOfStep = schedule.getK() / problem.quantizedB->blockSize;
  int64_t blocks = problem.k / problem.quantizedB->blockSize;
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
      then, loc, emitExactDot(then, tile, rowOfY, first, end, lanes), lanes);
  sum = arith::TruncFOp::create(then, loc, then.getF32Type(), sum);
  // All lanes that store have the same value.
  memref::StoreOp::create(then, loc, sum, viewExactResults(then),
                          ValueRange{index(then, 0), inTile});
  // Otherwise warps synchronize again before the sums of all K slices are read.
  if (shares.slicesOfK == 1)
    emitMmaBarrier(then);
}

Value GemvRoles::emitFinal(OpBuilder &at, Value sums) {
  auto choice = scf::IfOp::create(at, loc, TypeRange(accType), isFlagSet,
                                  /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  Value exact = AccLoadOp::create(then, loc, accType, viewExactResults(then),
                                  ValueRange{index(then, 0), index(then, 0)},
                                  /*in_bounds=*/true);
  scf::YieldOp::create(then, loc, exact);
  OpBuilder other = choice.getElseBodyBuilder();
  scf::YieldOp::create(other, loc, sums);
  return choice.getResult(0);
}
