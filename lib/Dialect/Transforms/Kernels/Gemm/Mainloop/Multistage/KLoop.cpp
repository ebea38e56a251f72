//===- KLoop.cpp - The multistage loop along K ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mainloop/Multistage/KLoop.h"

#include "Utils/IndexValues.h"
#include "blockscale/Dialect/IR/PrintedLevel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

Value blockscale::createCopyGroup(OpBuilder &b, Location loc) {
  auto group = nvgpu::DeviceAsyncCreateGroupOp::create(
      b, loc, nvgpu::DeviceAsyncTokenType::get(b.getContext()), ValueRange());
  group->setAttr(kNoTokensAttrName, b.getUnitAttr());
  return group;
}

void StageSync::commit(OpBuilder &b) {
  if (hasAsyncCopies)
    token = createCopyGroup(b, loc);
}

void StageSync::wait(OpBuilder &b, int64_t left) {
  if (token)
    nvgpu::DeviceAsyncWaitOp::create(
        b, loc, token, b.getI32IntegerAttr(static_cast<int32_t>(left)));
  gpu::BarrierOp::create(b, loc);
}

/// Emits `body` if `step` is below `steps`. No branch is needed if both are
/// known, nor for the first step, which always exists.
static void emitIfBelow(OpBuilder &b, Location loc, Value step, Value steps,
                        function_ref<void(OpBuilder &)> body) {
  std::optional<int64_t> known = getConstantIntValue(step);
  std::optional<int64_t> limit = getConstantIntValue(steps);
  if (known == 0 || (known && limit && *known < *limit))
    return body(b);
  if (known && limit)
    return;
  Value isStep = isBelow(b, loc, step, steps);
  auto guard = scf::IfOp::create(b, loc, isStep);
  OpBuilder then = guard.getThenBodyBuilder();
  body(then);
}

/// Fills the stages of the first `ahead` steps.
void KLoop::emitFirstFills(OpBuilder &b, Value steps, int64_t ahead) {
  int64_t stageBytes = stages.getStageBytes();
  for (int64_t i = 0; i != ahead; ++i) {
    Value step = makeIndex(b, loc, i);
    emitIfBelow(b, loc, step, steps, [&](OpBuilder &then) {
      fill(then, makeIndex(then, loc, i * stageBytes), step);
    });
    sync.commit(b);
  }
}

/// In step `step`, fills the stage at `offset` with the step that is `ahead`
/// steps later.
void KLoop::emitFill(OpBuilder &b, Value step, Value steps, Value offset,
                     int64_t ahead) {
  Value aheadStep =
      arith::AddIOp::create(b, loc, step, makeIndex(b, loc, ahead));
  emitIfBelow(b, loc, aheadStep, steps,
              [&](OpBuilder &then) { fill(then, offset, aheadStep); });
  sync.commit(b);
}

Value KLoop::emit(OpBuilder &b, Value steps, Value acc) {
  // Steps in flight while one is multiplied.
  int64_t ahead = stages.getNumStages() - 1;
  if (parts && ahead != 0)
    return emitInParts(b, steps, acc, ahead);
  Value zero = makeIndex(b, loc, 0), one = makeIndex(b, loc, 1);
  int64_t stageBytes = stages.getStageBytes();
  emitFirstFills(b, steps, ahead);
  // The stages that are multiplied and filled next. The stage to fill is the
  // one that was multiplied in the step before.
  Value first = zero, next = makeIndex(b, loc, ahead * stageBytes);
  auto loop = scf::ForOp::create(b, loc, zero, steps, one,
                                 ValueRange{acc, first, next});
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  Value step = loop.getInductionVar();
  Value current = loop.getRegionIterArg(1), filled = loop.getRegionIterArg(2);
  if (ahead == 0) {
    fill(inner, current, step);
    sync.commit(inner);
    sync.wait(inner, 0);
  } else {
    // All threads are done with the stage that is filled now: they multiplied
    // it in the step before.
    sync.wait(inner, ahead - 1);
    emitFill(inner, step, steps, filled, ahead);
  }
  Value sum = multiply(inner, current, loop.getRegionIterArg(0));
  if (ahead == 0 && getConstantIntValue(steps) != 1)
    sync.release(inner);
  scf::YieldOp::create(
      inner, loc,
      ValueRange{sum, stages.advance(inner, loc, current), current});
  return loop.getResult(0);
}

/// The barrier is in front of the last instructions of a stage, which hide it,
/// and the first fragments of the next stage are loaded right behind it.
Value KLoop::emitInParts(OpBuilder &b, Value steps, Value acc, int64_t ahead) {
  Value zero = makeIndex(b, loc, 0), one = makeIndex(b, loc, 1);
  emitFirstFills(b, steps, ahead);
  sync.wait(b, ahead - 1);
  Value fragments = parts->load(b, zero, 0);
  Value filled = makeIndex(b, loc, ahead * stages.getStageBytes());
  auto loop = scf::ForOp::create(b, loc, zero, steps, one,
                                 ValueRange{acc, zero, filled, fragments});
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  Value step = loop.getInductionVar();
  Value sum = loop.getRegionIterArg(0), current = loop.getRegionIterArg(1);
  filled = loop.getRegionIterArg(2);
  fragments = loop.getRegionIterArg(3);
  Value next = stages.advance(inner, loc, current);
  // Behind the last step, there may be no such stage.
  Value following = arith::AddIOp::create(inner, loc, step, one);
  Value isStep = isBelow(inner, loc, following, steps);
  Value read = arith::SelectOp::create(inner, loc, isStep, next, current);
  SmallVector<FactorLoader::Factors> factors;
  int64_t ofInterval = promotion ? promotion->stepsOfInterval : 0;
  for (int64_t i = 0; promotion && i != parts->numSteps / ofInterval; ++i)
    factors.push_back(promotion->load(inner, step, i));
  Value partial;
  for (int64_t i = 0; i != parts->numSteps; ++i) {
    bool isLast = i + 1 == parts->numSteps;
    if (isLast)
      // All threads have loaded all fragments of this stage.
      sync.wait(inner, ahead - 1);
    Value ofNext =
        parts->load(inner, isLast ? read : current, isLast ? 0 : i + 1);
    // All threads are done with the stage that is filled now: they have passed
    // the barrier behind it.
    if (i == 0)
      emitFill(inner, step, steps, filled, ahead);
    if (!promotion) {
      sum = parts->multiply(inner, fragments, sum);
    } else {
      if (i % ofInterval == 0)
        partial = promotion->start(inner);
      partial = parts->multiply(inner, fragments, partial);
      if ((i + 1) % ofInterval == 0)
        sum = promotion->promote(inner, sum, partial, factors[i / ofInterval]);
    }
    fragments = ofNext;
  }
  scf::YieldOp::create(inner, loc, ValueRange{sum, next, current, fragments});
  return loop.getResult(0);
}
