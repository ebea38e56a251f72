//===- IntervalQuantize.cpp - Quantised intervals -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals of scales come from `quantize` itself, applied to blocks of the
// least and of the largest magnitudes. Intervals of quantized elements come
// from arithmetic in f64, where division by a power of two is exact, or in f32,
// if the rule divides in f32.
//
//===----------------------------------------------------------------------===//

#include "IntervalQuantize.h"

#include "Emitter.h"
#include "blockscale/Dialect/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;
using arith::CmpFPredicate;

/// (.., k) -> (.., k / blockSize)
static AffineMap getBlockMap(Builder &b, unsigned rank, int64_t blockSize) {
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineExpr> exprs(identity.getResults());
  exprs.back() = exprs.back().floorDiv(blockSize);
  return AffineMap::get(rank, 0, exprs, b.getContext());
}

namespace {
/// Builds the intervals of the results of `op` for an interval of its input.
class QuantizeBuilder {
public:
  QuantizeBuilder(OpBuilder &b, QuantizeOp op, Interval x)
      : b(b), op(op), x(x), type(getElementTypeOrSelf(op.getX().getType())) {}

  void build(IntervalMap &intervals) {
    auto rank = static_cast<unsigned>(
        cast<RankedTensorType>(op.getX().getType()).getRank());
    ValueRange extremes =
        mapElements(b, op.getX(), {type, type}, {x.low, x.high},
                    [&](Emitter emit, ValueRange args) {
                      return emitMagnitudes(emit, {args[0], args[1]});
                    });
    QuantizeOp least = quantize(extremes[0]), most = quantize(extremes[1]);
    Interval scales =
        mapToEnds(b, op.getScales(), {least.getScales(), most.getScales()},
                  [&](Emitter emit, ValueRange args) {
                    Value low = decodeScale(emit, args[0]);
                    Value high = decodeScale(emit, args[1]);
                    return emit.hull({low, high});
                  });
    AffineMap identity = b.getMultiDimIdentityMap(rank);
    AffineMap blocks = getBlockMap(b, rank, op.getBlock());
    intervals[op.getElements()] = mapToEnds(
        b, op.getElements(), {x.low, x.high, scales.low, scales.high},
        [&](Emitter emit, ValueRange args) {
          return emitCodes(emit, {args[0], args[1]}, {args[2], args[3]});
        },
        {identity, identity, blocks, blocks});
    intervals[op.getScales()] = scales;
    if (!op.getAmax())
      return;
    intervals[op.getAmax()] = mapToEnds(
        b, op.getAmax(), {least.getAmax(), most.getAmax()},
        [&](Emitter emit, ValueRange args) {
          Interval hull = emit.hull({emit.widen(args[0]), emit.widen(args[1])});
          // Infinity, which may become NaN.
          Value isInfinite = emit.compare(CmpFPredicate::OEQ, hull.high,
                                          emit.number(HUGE_VAL));
          Value isOpen = emit.compare(CmpFPredicate::ONE, hull.low, hull.high);
          return emit.anythingIf(emit.both(isInfinite, isOpen), hull);
        });
  }

private:
  /// The op on blocks of other values.
  QuantizeOp quantize(Value values) {
    IRMapping mapping;
    mapping.map(op.getX(), values);
    return cast<QuantizeOp>(b.clone(*op, mapping));
  }
  Value decodeScale(Emitter emit, Value scale) {
    Value code = arith::BitcastOp::create(emit.builder, emit.loc,
                                          emit.builder.getI8Type(), scale);
    return emitDecode(emit.builder, emit.loc, code, op.getScaleFormat());
  }

  /// The least and the largest magnitude, in the type of x. An unbounded
  /// interval has infinity, which makes the scale NaN.
  SmallVector<Value> emitMagnitudes(Emitter emit, Interval ends) {
    Value isAnything = emit.isAnything(ends);
    Interval magnitude = emit.magnitude(ends);
    Value least = emit.select(isAnything, emit.number(0), magnitude.low);
    return {emit.narrow(least, type), emit.narrow(magnitude.high, type)};
  }

  /// The quantized value of `end`, a value of x in f64, for a scale of one.
  Value emitCode(Emitter emit, Value end, Value scale) {
    Value quotient;
    if (op.getScaleRule()) {
      quotient = emit.divide(end, scale);
    } else {
      Type f32 = emit.builder.getF32Type();
      Value divisor = emit.narrow(scale, f32);
      if (op.getTensorScale())
        divisor = emit.multiply(divisor, op.getTensorScale());
      quotient = emit.widen(emit.divide(emit.narrow(end, f32), divisor));
      Value zero = emit.number(0);
      Value isZero = emit.compare(CmpFPredicate::OEQ, scale, zero);
      quotient = emit.select(isZero, zero, quotient);
    }
    Format format = op.getElementFormat();
    Value code = emitEncode(emit.builder, emit.loc, quotient, format,
                            Overflow::Saturate);
    return emitDecode(emit.builder, emit.loc, code, format);
  }

  /// The ends of a quantized element, from both ends of x and both ends of the
  /// scale of its block.
  Interval emitCodes(Emitter emit, Interval ends, Interval scale) {
    SmallVector<Value> scales = {scale.low, scale.high};
    Value zero = emit.number(0);
    if (!op.getScaleRule()) {
      // With a scale of 0, elements are 0; with the smallest other scale they
      // are the largest.
      constexpr unsigned kLeastCode = 1;
      Value isZero = emit.compare(CmpFPredicate::OEQ, scale.low, zero);
      Value hasOthers = emit.compare(CmpFPredicate::OGT, scale.high, zero);
      scales.push_back(emit.select(
          emit.both(isZero, hasOthers),
          emit.number(decode(op.getScaleFormat(), kLeastCode)), scale.low));
    }
    SmallVector<Value> codes;
    for (Value end : {ends.low, ends.high})
      for (Value of : scales)
        codes.push_back(emitCode(emit, emit.widen(emit.narrow(end, type)), of));
    Interval hull = emit.hull(codes);
    // Elements of a block with NaN are 0.
    Value isNaN = emit.isNaN(scale.low);
    hull.low = emit.select(isNaN, zero, hull.low);
    hull.high = emit.select(isNaN, zero, hull.high);
    return emit.anythingIf(emit.isAnything(scale), hull);
  }

  OpBuilder &b;
  QuantizeOp op;
  Interval x;
  /// The type of the values of x.
  Type type;
};
} // namespace

bool blockscale::quantizeOnIntervals(OpBuilder &builder, QuantizeOp op,
                                     IntervalMap &intervals) {
  Interval x = intervals.lookup(op.getX());
  bool isScaleExact =
      !op.getTensorScale() || !intervals.contains(op.getTensorScale());
  if (!x || !isScaleExact || !op.hasTensorSemantics() || op.hasCoarseScales())
    return false;
  QuantizeBuilder(builder, op, x).build(intervals);
  return true;
}

bool blockscale::dequantizeOnIntervals(OpBuilder &builder, DequantizeOp op,
                                       IntervalMap &intervals,
                                       std::string &culprit) {
  if (!op.hasTensorSemantics() || op.hasCoarseScales())
    return false;
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Type element = type.getElementType();
  Type f32 = builder.getF32Type();
  Value values =
      mapElements(builder, op.getElements(), element,
                  {op.getElements(), op.getScales()},
                  [&](Emitter emit, ValueRange args) {
                    auto extend = [&](Value code) -> Value {
                      return arith::ExtFOp::create(emit.builder, emit.loc, f32,
                                                   code);
                    };
                    Value number = extend(args[0]), scale = extend(args[1]);
                    if (op.getScaleFormat() == Format::UE4M3)
                      scale = emit.magnitude(scale);
                    number = emit.multiply(number, scale);
                    if (op.getTensorScale())
                      number = emit.multiply(number, op.getTensorScale());
                    if (!element.isF32())
                      number = arith::TruncFOp::create(emit.builder, emit.loc,
                                                       element, number);
                    return SmallVector<Value>{number};
                  },
                  {builder.getMultiDimIdentityMap(type.getRank()),
                   getBlockMap(builder, type.getRank(), op.getBlock())})
          .front();
  auto loops = values.getDefiningOp<linalg::GenericOp>();
  bool isKnown = buildOnIntervals(builder, loops, intervals, culprit);
  if (isKnown)
    intervals[op.getResult()] = intervals.lookup(values);
  intervals.erase(values);
  loops.erase();
  return isKnown;
}
