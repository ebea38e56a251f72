//===- ErrorProbes.cpp - Measured errors of sums --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Probes move values within their intervals for exact operands, that is by the
// error of one op alone.
//
//===----------------------------------------------------------------------===//

#include "ErrorProbes.h"

#include "Emitter.h"
#include "IntervalGeneric.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Chooses the direction in which a probe moves values.
enum class Side { Low, High, Drawn, Opposite };

static Side getSide(unsigned probe) { return static_cast<Side>(probe); }

/// Whether an element moves to its upper end: a bit of a hash of its indices
/// and the op.
static Value drawSide(OpBuilder &b, Location loc, ValueRange indices,
                      uint64_t salt) {
  auto number = [&](uint64_t bits) -> Value {
    return arith::ConstantOp::create(
        b, loc, b.getI64IntegerAttr(static_cast<int64_t>(bits)));
  };
  // The finalizer of SplitMix64 between indices.
  Value hash = number(salt * 0x9E3779B97F4A7C15u + 1);
  for (Value index : indices) {
    Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    hash = arith::AddIOp::create(b, loc, hash, wide);
    hash = arith::MulIOp::create(b, loc, hash, number(0xBF58476D1CE4E5B9u));
    Value shifted = arith::ShRUIOp::create(b, loc, hash, number(29));
    hash = arith::XOrIOp::create(b, loc, hash, shifted);
    hash = arith::MulIOp::create(b, loc, hash, number(0x94D049BB133111EBu));
  }
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, hash,
                               number(0));
}

/// `value`, a float, moved a fraction `share` of the way to an end of its
/// interval.
static Value moveFloat(Emitter emit, Value value, Interval ends,
                       ValueRange indices, Side side, double share,
                       uint64_t salt) {
  Value end = side == Side::Low ? ends.low : ends.high;
  if (side == Side::Drawn || side == Side::Opposite) {
    if (side == Side::Opposite)
      std::swap(ends.low, ends.high);
    end = emit.select(drawSide(emit.builder, emit.loc, indices, salt),
                      ends.high, ends.low);
  }
  Value exact = emit.widen(value);
  Value step = emit.multiply(emit.subtract(end, exact), emit.number(share));
  Value moved = emit.add(exact, step);
  // Values with unbounded intervals, and NaN, do not move.
  Value isFinite = emit.isFinite(moved);
  if (value.getType() != moved.getType())
    moved =
        arith::TruncFOp::create(emit.builder, emit.loc, value.getType(), moved);
  return emit.select(isFinite, moved, value);
}

static Value moveTensor(OpBuilder &builder, Value tensor, Interval ends,
                        Side side, double share, uint64_t salt) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return mapElements(builder, tensor, type.getElementType(),
                     {tensor, ends.low, ends.high},
                     [&](Emitter emit, ValueRange args) {
                       SmallVector<Value> indices;
                       for (int64_t i = 0; i != type.getRank(); ++i)
                         indices.push_back(linalg::IndexOp::create(
                             emit.builder, emit.loc, i));
                       return SmallVector<Value>{
                           moveFloat(emit, args[0], {args[1], args[2]}, indices,
                                     side, share, salt)};
                     })
      .front();
}

/// The intervals of the results of an op whose operands are exact.
static void findIntervals(OpBuilder &builder, Operation &op,
                          IntervalMap &intervals) {
  std::string culprit;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    buildOnIntervals(builder, generic, intervals, culprit);
    return;
  }
  buildScalarOnIntervals(builder, op, intervals);
}

/// A possible result of an op on a device.
static Value moveResult(OpBuilder &builder, Value result, Interval ends,
                        Side side, uint64_t salt) {
  Type type = result.getType();
  if (!ends || !isa<FloatType>(getElementTypeOrSelf(type)))
    return result;
  // The documented bound of products is four times the bound of f32 sums.
  double share = isTensorCoreSum(result.getDefiningOp()) ? 0.25 : 1.0;
  if (isa<RankedTensorType>(type))
    return moveTensor(builder, result, ends, side, share, salt);
  return moveFloat({builder, result.getLoc()}, result, ends, {}, side, share,
                   salt);
}

SmallVector<Value>
blockscale::buildErrorProbe(OpBuilder &builder, ArrayRef<Operation *> ops,
                            ValueRange values, unsigned probe,
                            function_ref<bool(Operation &)> isSource) {
  IRMapping mapping;
  for (auto [salt, op] : llvm::enumerate(ops)) {
    Operation *copy = builder.clone(*op, mapping);
    if (!isSource(*copy))
      continue;
    IntervalMap intervals;
    findIntervals(builder, *copy, intervals);
    for (auto [old, result] : llvm::zip(op->getResults(), copy->getResults()))
      mapping.map(old, moveResult(builder, result, intervals.lookup(result),
                                  getSide(probe), salt));
  }
  return llvm::map_to_vector(
      values, [&](Value value) { return mapping.lookupOrDefault(value); });
}
