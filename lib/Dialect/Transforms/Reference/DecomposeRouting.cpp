//===- DecomposeRouting.cpp - Rows to groups, as loops --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of route and sort_routes. GPUs have kernels for them.
//
//===----------------------------------------------------------------------===//

#include "Utils/ArithEmitter.h"
#include "Utils/IndexValues.h"
#include "Utils/OperandView.h"
#include "Utils/RouteOrder.h"
#include "blockscale/Dialect/IR/Routing.h"
#include "blockscale/Dialect/Transforms/Reference/Grouped.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// route
//===----------------------------------------------------------------------===//

namespace {
class RouteLoops {
public:
  RouteLoops(RewriterBase &b, RouteOp op) : b(b), loc(op.getLoc()), op(op) {
    zero = makeIndex(b, loc, 0);
    one = makeIndex(b, loc, 1);
    groups = getValueOrCreateConstantIndexOp(
        b, loc, tensor::getMixedSize(b, loc, op.getLogits(), 1));
    chosen = makeIndex(b, loc, static_cast<int64_t>(op.getTopK()));
  }

  /// Each slot is searched for by itself.
  Value makeIds(Value init) {
    return computeElements(
        b, loc, {}, ArrayRef<AffineMap>(), init,
        [&](OpBuilder &at, Location, ValueRange) -> Value {
          SmallVector<Value> slot = getLoopIndices(at, loc, 2);
          Value end = arith::AddIOp::create(at, loc, slot[1], one);
          auto loop = scf::ForOp::create(
              at, loc, zero, end, one, emitFirstKey(at, loc),
              [&](OpBuilder &inner, Location, Value, ValueRange previous) {
                Value next =
                    emitNextKey(inner, loc, previous[0], zero, groups, one,
                                [&](OpBuilder &body, Value column) {
                                  return load(body, slot[0], column);
                                });
                scf::YieldOp::create(inner, loc, next);
              });
          return emitColumnOfKey(at, loc, loop.getResult(0));
        });
  }

  Value makeWeights(Value ids, Value init) {
    return computeElements(
        b, loc, {}, ArrayRef<AffineMap>(), init,
        [&](OpBuilder &at, Location, ValueRange) -> Value {
          SmallVector<Value> slot = getLoopIndices(at, loc, 2);
          auto loadChosen = [&](OpBuilder &body, Value j) {
            Value id = tensor::ExtractOp::create(body, loc, ids,
                                                 ValueRange{slot[0], j});
            id = arith::IndexCastOp::create(body, loc, body.getIndexType(), id);
            return load(body, slot[0], id);
          };
          Value own = loadChosen(at, slot[1]);
          if (op.getScoring() == Scoring::Logits)
            return own;
          Value most = loadChosen(at, zero);
          bool isOfAll = op.getScoring() == Scoring::Softmax;
          Value none =
              arith::ConstantOp::create(at, loc, at.getF32FloatAttr(0.0f));
          auto sum = scf::ForOp::create(
              at, loc, zero, isOfAll ? groups : chosen, one, none,
              [&](OpBuilder &inner, Location, Value i, ValueRange before) {
                Value logit =
                    isOfAll ? load(inner, slot[0], i) : loadChosen(inner, i);
                scf::YieldOp::create(
                    inner, loc,
                    Value(arith::AddFOp::create(inner, loc, before[0],
                                                emitExp(inner, logit, most))));
              });
          return arith::DivFOp::create(at, loc, emitExp(at, own, most),
                                       sum.getResult(0));
        });
  }

private:
  Value load(OpBuilder &at, Value row, Value column) {
    return extendLogit(at, loc,
                       tensor::ExtractOp::create(at, loc, op.getLogits(),
                                                 ValueRange{row, column}));
  }
  Value emitExp(OpBuilder &at, Value logit, Value most) {
    return math::ExpOp::create(at, loc,
                               arith::SubFOp::create(at, loc, logit, most));
  }

  RewriterBase &b;
  Location loc;
  RouteOp op;
  Value zero, one, groups, chosen;
};
} // namespace

/// Empty tensors for the results of `op`.
template <typename Op>
static SmallVector<Value> makeResults(RewriterBase &b, Op op) {
  ReifiedRankedShapedTypeDims shapes;
  (void)op.reifyResultShapes(b, shapes);
  SmallVector<Value> results;
  for (auto [shape, result] : llvm::zip_equal(shapes, op->getResults()))
    results.push_back(tensor::EmptyOp::create(
        b, op.getLoc(), shape, getElementTypeOrSelf(result.getType())));
  return results;
}

/// The same in the form of the results.
template <typename Op>
static void replaceResults(RewriterBase &b, Op op, ValueRange values) {
  SmallVector<Value> results;
  for (auto [value, result] : llvm::zip_equal(values, op->getResults()))
    results.push_back(
        convertFromTensor(b, op.getLoc(), value, result.getType()));
  b.replaceOp(op, results);
}

static LogicalResult decomposeRoute(RouteOp op, PatternRewriter &rewriter) {
  SmallVector<Value> results = makeResults(rewriter, op);
  RouteLoops loops(rewriter, op);
  Value ids = loops.makeIds(results[0]);
  replaceResults(rewriter, op, {ids, loops.makeWeights(ids, results[1])});
  return success();
}

//===----------------------------------------------------------------------===//
// sort_routes
//===----------------------------------------------------------------------===//

namespace {
/// A counting sort, in three loops: how many slots each group has, where groups
/// start, and where each slot is.
class SortLoops {
public:
  SortLoops(RewriterBase &b, SortRoutesOp op)
      : b(b), loc(op.getLoc()), op(op), emit(b, loc) {
    zero = makeIndex(b, loc, 0);
    one = makeIndex(b, loc, 1);
  }

  SmallVector<Value> emitLoops() {
    SmallVector<Value> results = makeResults(b, op);
    groups = getSize(results[0], 0);
    Value none = emit.integer(0), nobody = emit.integer(~uint64_t(0));
    Value counts = forEachSlot(
        {fill(results[0], none)},
        [&](OpBuilder &at, Value, Value, Value group, ValueRange state) {
          Value count = increment(at, get(at, state[0], group));
          return SmallVector<Value>{set(at, state[0], group, count)};
        })[0];
    SmallVector<Value> ends = emitEnds(counts, results[0]);
    SmallVector<Value> sorted = forEachSlot(
        {ends[1], fill(results[1], nobody), fill(results[2], nobody)},
        [&](OpBuilder &at, Value row, Value slot, Value group,
            ValueRange state) {
          Value place = get(at, state[0], group);
          Value number =
              arith::IndexCastOp::create(at, loc, at.getI32Type(), row);
          return SmallVector<Value>{
              set(at, state[0], group, increment(at, place)),
              set(at, state[1], toIndex(at, place), number),
              tensor::InsertOp::create(at, loc, place, state[2],
                                       ValueRange{row, slot})};
        });
    return {ends[0], sorted[1], sorted[2]};
  }

private:
  Value getSize(Value tensor, int64_t dim) {
    return getValueOrCreateConstantIndexOp(
        b, loc, tensor::getMixedSize(b, loc, tensor, dim));
  }
  Value fill(Value tensor, Value element) {
    return linalg::FillOp::create(b, loc, element, tensor).getResult(0);
  }
  Value add(OpBuilder &at, Value x, Value y) {
    return arith::AddIOp::create(at, loc, x, y);
  }
  Value increment(OpBuilder &at, Value x) {
    return add(at, x, makeWord(at, loc, 1));
  }
  Value toIndex(OpBuilder &at, Value word) {
    return arith::IndexCastOp::create(at, loc, at.getIndexType(), word);
  }
  Value get(OpBuilder &at, Value tensor, Value index) {
    return tensor::ExtractOp::create(at, loc, tensor, index);
  }
  Value set(OpBuilder &at, Value tensor, Value index, Value element) {
    return tensor::InsertOp::create(at, loc, element, tensor, index);
  }

  /// What `body` makes of `init` for each slot of somebody.
  SmallVector<Value> forEachSlot(
      ValueRange init,
      function_ref<SmallVector<Value>(OpBuilder &, Value row, Value slot,
                                      Value group, ValueRange state)>
          body) {
    auto loop = scf::ForOp::create(
        b, loc, zero, getSize(op.getIds(), 0), one, init,
        [&](OpBuilder &at, Location, Value row, ValueRange ofRow) {
          auto slots = scf::ForOp::create(
              at, loc, zero, getSize(op.getIds(), 1), one, ofRow,
              [&](OpBuilder &inner, Location, Value slot, ValueRange state) {
                scf::YieldOp::create(inner, loc,
                                     emitSlot(inner, row, slot, state, body));
              });
          scf::YieldOp::create(at, loc, slots.getResults());
        });
    return loop.getResults();
  }

  SmallVector<Value>
  emitSlot(OpBuilder &at, Value row, Value slot, ValueRange state,
           function_ref<SmallVector<Value>(OpBuilder &, Value, Value, Value,
                                           ValueRange)>
               body) {
    Value id =
        tensor::ExtractOp::create(at, loc, op.getIds(), ValueRange{row, slot});
    // Negative ones are large as indices.
    Value group = toIndex(at, id);
    Value isGroup = isBelow(at, loc, group, groups);
    auto branch = scf::IfOp::create(at, loc, state.getTypes(), isGroup,
                                    /*withElseRegion=*/true);
    OpBuilder then = branch.getThenBodyBuilder(),
              other = branch.getElseBodyBuilder();
    scf::YieldOp::create(then, loc, body(then, row, slot, group, state));
    scf::YieldOp::create(other, loc, state);
    return branch.getResults();
  }

  /// The ends of groups, and their starts.
  SmallVector<Value> emitEnds(Value counts, Value init) {
    auto loop = scf::ForOp::create(
        b, loc, zero, groups, one, ValueRange{init, counts, emit.integer(0)},
        [&](OpBuilder &at, Location, Value group, ValueRange state) {
          Value end = add(at, state[2], get(at, state[1], group));
          scf::YieldOp::create(at, loc,
                               ValueRange{set(at, state[0], group, end),
                                          set(at, state[1], group, state[2]),
                                          end});
        });
    return {loop.getResult(0), loop.getResult(1)};
  }

  RewriterBase &b;
  Location loc;
  SortRoutesOp op;
  ArithEmitter emit;
  Value zero, one, groups;
};
} // namespace

static LogicalResult decomposeSort(SortRoutesOp op, PatternRewriter &rewriter) {
  replaceResults(rewriter, op, SortLoops(rewriter, op).emitLoops());
  return success();
}

void blockscale::populateDecomposeRoutingPatterns(RewritePatternSet &patterns) {
  patterns.add(decomposeRoute);
  patterns.add(decomposeSort);
}
