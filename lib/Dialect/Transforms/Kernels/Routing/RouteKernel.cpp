//===- RouteKernel.cpp - Kernel of route ----------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warp goes through its row once for each slot, and takes the best logit
// behind the one before. Rows are short, so that all but the first of these
// reads are of the cache. Lane j keeps the key of slot j, and writes it.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Routing/RoutingKernels.h"

#include "Utils/ArithEmitter.h"
#include "Utils/IndexValues.h"
#include "Utils/RouteOrder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
class RouteKernel {
public:
  RouteKernel(OpBuilder &b, gpu::GPUFuncOp kernel, RouteOp op,
              const RowWisePlan &plan)
      : b(b), loc(kernel.getLoc()), op(op), logits(kernel.getArgument(0)),
        ids(kernel.getArgument(1)), weights(kernel.getArgument(2)),
        lanes(b, kernel, plan), step(makeIndex(b, loc, plan.lanes)) {}

  void build() {
    lanes.emitIfRow(b, memref::DimOp::create(b, loc, logits, 0),
                    [&](OpBuilder &at) { emitRow(at); });
    gpu::ReturnOp::create(b, loc);
  }

private:
  Value load(OpBuilder &at, Value column) {
    return extendLogit(
        at, loc,
        memref::LoadOp::create(at, loc, logits,
                               ValueRange{lanes.getRow(), column}));
  }
  static Value add(OpBuilder &at, Value one, Value other) {
    return arith::AddFOp::create(at, one.getLoc(), one, other);
  }
  Value emitExp(OpBuilder &at, Value logit, Value most) {
    return math::ExpOp::create(at, loc,
                               arith::SubFOp::create(at, loc, logit, most));
  }

  void emitRow(OpBuilder &at) {
    groups = memref::DimOp::create(at, loc, logits, 1);
    auto count = static_cast<int64_t>(op.getTopK());
    SmallVector<Value> keys = {emitFirstKey(at, loc)};
    Value own;
    for (int64_t slot = 0; slot != count; ++slot) {
      Value best = emitNextKey(
          at, loc, keys.back(), lanes.getLane(), groups, step,
          [&](OpBuilder &inner, Value column) { return load(inner, column); });
      best = lanes.join(at, best, [](OpBuilder &inner, Value x, Value y) {
        return arith::MaxUIOp::create(inner, x.getLoc(), x, y).getResult();
      });
      keys.push_back(best);
      Value isOwn = isEqual(at, loc, lanes.getLane(), makeIndex(at, loc, slot));
      own = own ? arith::SelectOp::create(at, loc, isOwn, best, own) : best;
    }
    Value weight;
    if (op.getScoring() != Scoring::Logits) {
      weight = emitLogitOfKey(at, loc, own);
      Value most = emitLogitOfKey(at, loc, keys[1]);
      Value sum = op.getScoring() == Scoring::Softmax
                      ? emitSumOfAll(at, most)
                      : emitSum(at, ArrayRef(keys).drop_front(), most);
      weight = arith::DivFOp::create(at, loc, emitExp(at, weight, most), sum);
    }
    Value isSlot = isBelow(at, loc, lanes.getLane(), makeIndex(at, loc, count));
    OpBuilder then = scf::IfOp::create(at, loc, isSlot).getThenBodyBuilder();
    Value position[] = {lanes.getRow(), lanes.getLane()};
    Value column = emitColumnOfKey(then, loc, own);
    memref::StoreOp::create(then, loc, column, ids, position);
    // A key does not have the sign of 0, nor the bits of NaN.
    if (!weight)
      weight = load(then, arith::IndexCastOp::create(
                              then, loc, then.getIndexType(), column));
    memref::StoreOp::create(then, loc, weight, weights, position);
  }

  Value emitSum(OpBuilder &at, ArrayRef<Value> keys, Value most) {
    Value sum;
    for (Value key : keys) {
      Value value = emitExp(at, emitLogitOfKey(at, loc, key), most);
      sum = sum ? add(at, sum, value) : value;
    }
    return sum;
  }

  Value emitSumOfAll(OpBuilder &at, Value most) {
    Value none = arith::ConstantOp::create(at, loc, at.getF32FloatAttr(0.0f));
    auto loop = scf::ForOp::create(
        at, loc, lanes.getLane(), groups, step, none,
        [&](OpBuilder &inner, Location, Value column, ValueRange before) {
          Value value = emitExp(inner, load(inner, column), most);
          scf::YieldOp::create(inner, loc, add(inner, before[0], value));
        });
    return lanes.join(at, loop.getResult(0), add);
  }

  OpBuilder &b;
  Location loc;
  RouteOp op;
  Value logits, ids, weights;
  RowWiseLanes lanes;
  Value step, groups;
};
} // namespace

void blockscale::buildRoute(gpu::GPUFuncOp kernel, RouteOp op,
                            const RowWisePlan &plan) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  RouteKernel(b, kernel, op, plan).build();
}
