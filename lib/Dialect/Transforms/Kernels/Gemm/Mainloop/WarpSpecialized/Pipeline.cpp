//===- Pipeline.cpp - Full and empty mbarriers ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/WarpSpecialized/Pipeline.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::blockscale;

void Pipeline::emitInit(OpBuilder &b, int64_t fullCount,
                        int64_t emptyCount) const {
  for (int64_t i = 0; i != stages * slices; ++i) {
    BarrierInitOp::create(b, loc, barriers, makeIndex(b, loc, full + i),
                          fullCount);
    BarrierInitOp::create(b, loc, barriers, makeIndex(b, loc, empty + i),
                          emptyCount);
  }
}

PipelineState Pipeline::emitFirst(OpBuilder &b) const {
  Value zero = makeWord(b, loc, 0);
  return {zero, zero};
}

PipelineState Pipeline::emitNext(OpBuilder &b, const PipelineState &state,
                                 int64_t count) const {
  Value flipped =
      arith::XOrIOp::create(b, loc, state.parity, makeWord(b, loc, 1));
  if (stages == count)
    return {state.stage, flipped};
  Value next =
      arith::AddIOp::create(b, loc, state.stage, makeWord(b, loc, count));
  Value end = makeWord(b, loc, stages), first = makeWord(b, loc, 0);
  Value isEnd = isEqual(b, loc, next, end);
  Value stage = arith::SelectOp::create(b, loc, isEnd, first, next);
  return {stage, arith::SelectOp::create(b, loc, isEnd, flipped, state.parity)};
}

Value Pipeline::emitStage(OpBuilder &b, const PipelineState &state) const {
  Value stage =
      b.createOrFold<arith::IndexCastUIOp>(loc, b.getIndexType(), state.stage);
  if (slices != 1)
    stage = applyExprs(b, loc, b.getAffineDimExpr(0) * slices, stage)[0];
  return addIndices(b, loc, stage, slice);
}

Value Pipeline::emitFull(OpBuilder &b, const PipelineState &state) const {
  return addIndex(b, loc, emitStage(b, state), full);
}

Value Pipeline::emitEmpty(OpBuilder &b, const PipelineState &state) const {
  return addIndex(b, loc, emitStage(b, state), empty);
}

void Pipeline::emitWaitFull(OpBuilder &b, const PipelineState &state,
                            bool isCluster) const {
  BarrierWaitOp::create(b, loc, barriers, emitFull(b, state), state.parity,
                        isCluster);
}

void Pipeline::emitWaitEmpty(OpBuilder &b, const PipelineState &state,
                             bool isCluster) const {
  Value one = makeWord(b, loc, 1);
  Value parity = arith::XOrIOp::create(b, loc, state.parity, one);
  BarrierWaitOp::create(b, loc, barriers, emitEmpty(b, state), parity,
                        isCluster);
}

void Pipeline::emitWaitDone(OpBuilder &b, const PipelineState &state,
                            int64_t count) const {
  // A stage before the first one belongs to the previous round.
  Value distance = makeWord(b, loc, count);
  Value isBefore = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                                 state.stage, distance);
  Value plus = b.createOrFold<arith::AddIOp>(loc, state.stage,
                                             makeWord(b, loc, stages - count));
  Value minus = b.createOrFold<arith::SubIOp>(loc, state.stage, distance);
  Value stage = b.createOrFold<arith::SelectOp>(loc, isBefore, plus, minus);
  Value flipped =
      arith::XOrIOp::create(b, loc, state.parity, makeWord(b, loc, 1));
  Value parity =
      b.createOrFold<arith::SelectOp>(loc, isBefore, flipped, state.parity);
  BarrierWaitOp::create(b, loc, barriers, emitEmpty(b, {stage, parity}), parity,
                        /*cluster=*/false);
}
