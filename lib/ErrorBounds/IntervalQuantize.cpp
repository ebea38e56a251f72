//===- IntervalQuantize.cpp - Quantised intervals -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scales come from the op itself, on blocks of the least and of the largest
// magnitudes; codes from arithmetic in f64, in which a number over a power of
// two is exact, or in f32, where the rule divides so.
//
//===----------------------------------------------------------------------===//

#include "IntervalQuantize.h"

#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;
using arith::CmpFPredicate;
using utils::IteratorType;

/// Tensors with the sizes of `like` of these elements, which `body` makes of
/// those of `inputs`.
static ValueRange
generate(OpBuilder &b, Value like, TypeRange elements, ValueRange inputs,
         ArrayRef<AffineMap> maps,
         function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> body) {
  Location loc = like.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, like);
  SmallVector<Value> empty;
  for (Type element : elements)
    empty.push_back(tensor::EmptyOp::create(b, loc, sizes, element));
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<AffineMap> allMaps(maps);
  allMaps.append(empty.size(), b.getMultiDimIdentityMap(rank));
  return linalg::GenericOp::create(
             b, loc, ValueRange(empty).getTypes(), inputs, empty, allMaps,
             SmallVector<IteratorType>(rank, IteratorType::parallel),
             [&](OpBuilder &inner, Location bodyLoc, ValueRange args) {
               linalg::YieldOp::create(inner, bodyLoc, body(inner, args));
             })
      .getResults();
}

/// (.., k) -> (.., k / blockSize)
static AffineMap getBlockMap(Builder &b, unsigned rank, int64_t blockSize) {
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineExpr> exprs(identity.getResults());
  exprs.back() = exprs.back().floorDiv(blockSize);
  return AffineMap::get(rank, 0, exprs, b.getContext());
}

namespace {
/// What `op` makes of an interval of its input.
class QuantizeBuilder {
public:
  QuantizeBuilder(OpBuilder &b, QuantizeOp op, Interval x)
      : b(b), loc(op.getLoc()), op(op), x(x),
        rank(cast<RankedTensorType>(op.getX().getType()).getRank()) {}

  void build(IntervalMap &intervals);

private:
  using Body = function_ref<SmallVector<Value>(OpBuilder &, ValueRange)>;

  /// Tensors of f64, shaped as `like`, of the elements of two of that shape.
  Interval combine(Value like, Value low, Value high, Body body) {
    AffineMap identity = b.getMultiDimIdentityMap(
        cast<RankedTensorType>(like.getType()).getRank());
    Type f64 = b.getF64Type();
    ValueRange ends =
        generate(b, like, {f64, f64}, {low, high}, {identity, identity}, body);
    return {ends[0], ends[1]};
  }
  /// The op on blocks of other numbers.
  QuantizeOp quantize(Value numbers) {
    IRMapping mapping;
    mapping.map(op.getX(), numbers);
    return cast<QuantizeOp>(b.clone(*op, mapping));
  }
  Value number(OpBuilder &at, double value) {
    return arith::ConstantOp::create(at, loc, at.getF64FloatAttr(value));
  }
  Value compare(OpBuilder &at, CmpFPredicate predicate, Value one,
                Value other) {
    return arith::CmpFOp::create(at, loc, predicate, one, other);
  }
  /// An end, rounded to a number of x as the device rounds.
  Value narrow(OpBuilder &at, Value end) {
    Type type = getElementTypeOrSelf(op.getX().getType());
    end = arith::TruncFOp::create(at, loc, at.getF32Type(), end);
    return type.isF32() ? end : arith::TruncFOp::create(at, loc, type, end);
  }
  Value widen(OpBuilder &at, Value value) {
    return emitWidened(at, loc, value);
  }
  Value decodeScale(OpBuilder &at, Value scale) {
    Value code = arith::BitcastOp::create(at, loc, at.getI8Type(), scale);
    return emitDecode(at, loc, code, op.getScaleFormat());
  }

  SmallVector<Value> emitMagnitudes(OpBuilder &at, ValueRange ends);
  Value emitCode(OpBuilder &at, Value end, Value scale);
  SmallVector<Value> emitCodes(OpBuilder &at, ValueRange args);

  OpBuilder &b;
  Location loc;
  QuantizeOp op;
  Interval x;
  unsigned rank;
};
} // namespace

/// The least and the largest magnitude, as numbers of x. That of anything may
/// be infinity, which makes a scale of NaN.
SmallVector<Value> QuantizeBuilder::emitMagnitudes(OpBuilder &at,
                                                   ValueRange ends) {
  Interval interval = {ends[0], ends[1]};
  Value isAnything = emitIsAnything(at, loc, interval);
  Interval magnitude = emitMagnitude(at, loc, interval);
  Value least = arith::SelectOp::create(at, loc, isAnything, number(at, 0),
                                        magnitude.low);
  return {narrow(at, least), narrow(at, magnitude.high)};
}

/// The number that the code of `end`, a number of x in f64, stands for beside a
/// scale that is one.
Value QuantizeBuilder::emitCode(OpBuilder &at, Value end, Value scale) {
  Value quotient;
  if (op.getScaleRule()) {
    quotient = arith::DivFOp::create(at, loc, end, scale);
  } else {
    Type f32 = at.getF32Type();
    Value divisor = arith::TruncFOp::create(at, loc, f32, scale);
    if (op.getTensorScale())
      divisor = arith::MulFOp::create(at, loc, divisor, op.getTensorScale());
    Value dividend = arith::TruncFOp::create(at, loc, f32, end);
    quotient = widen(at, arith::DivFOp::create(at, loc, dividend, divisor));
    Value isZero = compare(at, CmpFPredicate::OEQ, scale, number(at, 0));
    quotient =
        arith::SelectOp::create(at, loc, isZero, number(at, 0), quotient);
  }
  Format format = op.getElementFormat();
  Value code = emitEncode(at, loc, quotient, format, Overflow::Saturate);
  return emitDecode(at, loc, code, format);
}

/// Both ends of x, and both ends of the scale of its block, to those of the
/// code.
SmallVector<Value> QuantizeBuilder::emitCodes(OpBuilder &at, ValueRange args) {
  Interval scale = {args[2], args[3]};
  SmallVector<Value> scales = {scale.low, scale.high};
  if (!op.getScaleRule()) {
    // At a scale of 0 codes are 0; beside it they are the largest.
    constexpr unsigned kLeastCode = 1;
    Value isZero = compare(at, CmpFPredicate::OEQ, scale.low, number(at, 0));
    Value hasOthers =
        compare(at, CmpFPredicate::OGT, scale.high, number(at, 0));
    Value isBoth = arith::AndIOp::create(at, loc, isZero, hasOthers);
    scales.push_back(arith::SelectOp::create(
        at, loc, isBoth, number(at, decode(op.getScaleFormat(), kLeastCode)),
        scale.low));
  }
  SmallVector<Value> codes;
  for (Value end : args.take_front(2))
    for (Value of : scales)
      codes.push_back(emitCode(at, widen(at, narrow(at, end)), of));
  Interval hull = emitHull(at, loc, codes);
  // Elements of a block with NaN are 0.
  Value isNaN = compare(at, CmpFPredicate::UNO, scale.low, scale.low);
  auto zeroIfNaN = [&](Value end) -> Value {
    return arith::SelectOp::create(at, loc, isNaN, number(at, 0), end);
  };
  hull = {zeroIfNaN(hull.low), zeroIfNaN(hull.high)};
  hull = emitAnythingIf(at, loc, emitIsAnything(at, loc, scale), hull);
  return {hull.low, hull.high};
}

void QuantizeBuilder::build(IntervalMap &intervals) {
  Type element = getElementTypeOrSelf(op.getX().getType());
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  ValueRange extremes = generate(
      b, op.getX(), {element, element}, {x.low, x.high}, {identity, identity},
      [&](OpBuilder &at, ValueRange args) { return emitMagnitudes(at, args); });
  QuantizeOp least = quantize(extremes[0]), most = quantize(extremes[1]);
  Interval scales =
      combine(op.getScales(), least.getScales(), most.getScales(),
              [&](OpBuilder &at, ValueRange args) -> SmallVector<Value> {
                Value low = decodeScale(at, args[0]);
                Value high = decodeScale(at, args[1]);
                Interval hull = emitHull(at, loc, {low, high});
                return {hull.low, hull.high};
              });
  AffineMap blocks =
      getBlockMap(b, rank, static_cast<int64_t>(op.getBlockSize()));
  Type f64 = b.getF64Type();
  ValueRange codes = generate(
      b, op.getCodes(), {f64, f64}, {x.low, x.high, scales.low, scales.high},
      {identity, identity, blocks, blocks},
      [&](OpBuilder &at, ValueRange args) { return emitCodes(at, args); });
  intervals[op.getScales()] = scales;
  intervals[op.getCodes()] = {codes[0], codes[1]};
  if (!op.getAmax())
    return;
  intervals[op.getAmax()] = combine(
      op.getAmax(), least.getAmax(), most.getAmax(),
      [&](OpBuilder &at, ValueRange args) -> SmallVector<Value> {
        Interval hull =
            emitHull(at, loc, {widen(at, args[0]), widen(at, args[1])});
        // Infinity that may be NaN.
        Value isInfinite =
            compare(at, CmpFPredicate::OEQ, hull.high, number(at, HUGE_VAL));
        Value isOpen = compare(at, CmpFPredicate::ONE, hull.low, hull.high);
        hull = emitAnythingIf(
            at, loc, arith::AndIOp::create(at, loc, isInfinite, isOpen), hull);
        return {hull.low, hull.high};
      });
}

bool blockscale::quantizeOnIntervals(OpBuilder &builder, QuantizeOp op,
                                     IntervalMap &intervals) {
  Interval x = intervals.lookup(op.getX());
  bool isScaleExact =
      !op.getTensorScale() || !intervals.contains(op.getTensorScale());
  if (!x || !isScaleExact || !op.hasTensorSemantics())
    return false;
  QuantizeBuilder(builder, op, x).build(intervals);
  return true;
}

bool blockscale::dequantizeOnIntervals(OpBuilder &builder, DequantizeOp op,
                                       IntervalMap &intervals,
                                       std::string &culprit) {
  if (!op.hasTensorSemantics())
    return false;
  auto type = cast<RankedTensorType>(op.getResult().getType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  Type f32 = builder.getF32Type();
  Location loc = op.getLoc();
  Value numbers =
      generate(builder, op.getCodes(), type.getElementType(),
               {op.getCodes(), op.getScales()},
               {identity, getBlockMap(builder, type.getRank(), op.getBlock())},
               [&](OpBuilder &b, ValueRange args) -> SmallVector<Value> {
                 Value number = arith::ExtFOp::create(b, loc, f32, args[0]);
                 Value scale = arith::ExtFOp::create(b, loc, f32, args[1]);
                 if (op.getScaleFormat() == Format::UE4M3)
                   scale = math::AbsFOp::create(b, loc, scale);
                 number = arith::MulFOp::create(b, loc, number, scale);
                 if (op.getTensorScale())
                   number = arith::MulFOp::create(b, loc, number,
                                                  op.getTensorScale());
                 if (!type.getElementType().isF32())
                   number = arith::TruncFOp::create(
                       b, loc, type.getElementType(), number);
                 return {number};
               })
          .front();
  auto loops = numbers.getDefiningOp<linalg::GenericOp>();
  bool isKnown = buildOnIntervals(builder, loops, intervals, culprit);
  if (isKnown)
    intervals[op.getResult()] = intervals.lookup(numbers);
  intervals.erase(numbers);
  loops.erase();
  return isKnown;
}
