//===- ElementIntervals.cpp - Intervals of scalar ops ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interval arithmetic for scalar ops. Most ops are monotonic in each operand if
// the others are fixed. Then the ends of the result are among the results for
// all combinations of the operands' ends, the corners. Other ops have their own
// rules.
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"

#include "blockscale/Support/MathErrors.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::blockscale;

using arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

Type blockscale::getEndType(Type type) {
  if (isa<FloatType>(type))
    return Float64Type::get(type.getContext());
  return type.isInteger(1) ? type : Type();
}

bool blockscale::isApproximated(Operation *op) {
  std::optional<double> error = lookupMathError(op->getName().getStringRef());
  return error && *error != 0;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Emitter::isAnything(Interval interval) {
  return both(compare(CmpFPredicate::OEQ, interval.low, number(-kInfinity)),
              compare(CmpFPredicate::OEQ, interval.high, number(kInfinity)));
}

Interval Emitter::anythingIf(Value condition, Interval interval) {
  if (!condition)
    return interval;
  if (interval.low.getType().isInteger(1))
    return {
        select(condition, boolean(false), interval.low),
        select(condition, boolean(true), interval.high),
    };
  return {
      select(condition, number(-kInfinity), interval.low),
      select(condition, number(kInfinity), interval.high),
  };
}

Interval Emitter::hull(ValueRange ends) {
  Value low = ends.front(), high = ends.front();
  if (low.getType().isInteger(1)) {
    for (Value end : ends.drop_front()) {
      low = both(low, end);
      high = either(high, end);
    }
    return {low, high};
  }
  Value someNaN = isNaN(low);
  for (Value end : ends.drop_front()) {
    low = arith::MinNumFOp::create(builder, loc, low, end);
    high = arith::MaxNumFOp::create(builder, loc, high, end);
    someNaN = either(someNaN, isNaN(end));
  }
  return anythingIf(both(someNaN, isNumber(low)), {low, high});
}

Interval Emitter::magnitude(Interval interval) {
  Value low = magnitude(interval.low), high = magnitude(interval.high);
  Value least = select(hasZero(interval), number(0), low);
  return anythingIf(isAnything(interval), hull({low, high, least}));
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {
/// One application of a rule.
class Application : public Emitter {
public:
  Application(OpBuilder &builder, Operation *op,
              ArrayRef<IntervalOperand> operands)
      : Emitter{builder, op->getLoc()}, op(op), operands(operands) {}

  bool isExact(unsigned i) const { return !operands[i].interval; }
  /// The ends of an operand, which are equal if it is exact.
  Interval getEnds(unsigned i) {
    if (!isExact(i))
      return operands[i].interval;
    Value end = widen(operands[i].value);
    return {end, end};
  }
  /// Whether any of the operands is unbounded; null if all are exact.
  Value mayBeAnything() {
    Value result;
    for (const IntervalOperand &operand : operands) {
      if (!operand.interval || operand.interval.low.getType().isInteger(1))
        continue;
      Value is = isAnything(operand.interval);
      result = result ? either(result, is) : is;
    }
    return result;
  }
  /// The op on these values, converted to an end.
  Value apply(ArrayRef<Value> values) {
    IRMapping mapping;
    Operation *clone = builder.cloneWithoutRegions(*op, mapping);
    for (auto [i, value] : llvm::enumerate(values))
      clone->setOperand(i, value);
    return widen(clone->getResult(0));
  }
  /// The op on all combinations of ends. Operands that are the same value have
  /// the same end.
  SmallVector<Value> applyToCorners() {
    SmallVector<Value> distinct;
    SmallVector<unsigned> bits;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      auto it = llvm::find(distinct, isExact(i) ? Value() : operand);
      bits.push_back(it - distinct.begin());
      if (!isExact(i) && it == distinct.end())
        distinct.push_back(operand);
    }
    SmallVector<Value> corners;
    for (unsigned corner = 0; corner != 1u << distinct.size(); ++corner) {
      SmallVector<Value> values;
      for (unsigned i = 0; i != operands.size(); ++i) {
        const IntervalOperand &operand = operands[i];
        bool isHigh = corner >> bits[i] & 1;
        values.push_back(isExact(i) ? operand.value
                                    : narrow(isHigh ? operand.interval.high
                                                    : operand.interval.low,
                                             op->getOperand(i).getType()));
      }
      corners.push_back(apply(values));
    }
    return corners;
  }

  Operation *op;
  ArrayRef<IntervalOperand> operands;
};

using Rule = FailureOr<Interval> (*)(Application &);
} // namespace

static FailureOr<Interval> monotonic(Application &a) {
  return a.anythingIf(a.mayBeAnything(), a.hull(a.applyToCorners()));
}

/// A square is never negative.
static FailureOr<Interval> product(Application &a) {
  SmallVector<Value> ends = a.applyToCorners();
  if (a.op->getOperand(0) == a.op->getOperand(1) && !a.isExact(0))
    ends.push_back(a.select(a.hasZero(a.getEnds(0)), a.number(0), ends[0]));
  return a.anythingIf(a.mayBeAnything(), a.hull(ends));
}

/// Unbounded if the interval of the divisor contains 0, a pole.
static FailureOr<Interval> quotient(Application &a) {
  Value isInexact = a.mayBeAnything();
  if (!a.isExact(1))
    isInexact = a.either(isInexact, a.hasZero(a.getEnds(1)));
  return a.anythingIf(isInexact, a.hull(a.applyToCorners()));
}

static FailureOr<Interval> magnitude(Application &a) {
  return a.magnitude(a.getEnds(0));
}

/// Every value of the narrower type is a value of the wider type.
static FailureOr<Interval> extension(Application &a) {
  auto from = cast<FloatType>(a.op->getOperand(0).getType());
  auto to = cast<FloatType>(a.op->getResult(0).getType());
  bool holdsAll = APFloat::isRepresentableBy(from.getFloatSemantics(),
                                             to.getFloatSemantics());
  return holdsAll ? a.operands[0].interval : monotonic(a);
}

/// Monotonic, but conversions of zero and negative values to e8m0 are
/// unbounded.
static FailureOr<Interval> truncation(Application &a) {
  FailureOr<Interval> result = monotonic(a);
  if (!isa<Float8E8M0FNUType>(a.op->getResult(0).getType()))
    return result;
  Value hasOthers =
      a.compare(CmpFPredicate::ULE, a.getEnds(0).low, a.number(0));
  return a.anythingIf(hasOthers, *result);
}

/// Whether a comparison is true if the left value is the larger (true) or the
/// smaller (false) one; nullopt for other comparisons.
static std::optional<bool> isForLarger(CmpFPredicate predicate) {
  switch (predicate) {
  case CmpFPredicate::OGT:
  case CmpFPredicate::OGE:
  case CmpFPredicate::UGT:
  case CmpFPredicate::UGE:
    return true;
  case CmpFPredicate::OLT:
  case CmpFPredicate::OLE:
  case CmpFPredicate::ULT:
  case CmpFPredicate::ULE:
    return false;
  default:
    return std::nullopt;
  }
}

/// Whether a select returns the larger (true) or smaller (false) of two values;
/// nullopt for other selects.
static std::optional<bool> selectsLarger(arith::SelectOp op) {
  auto compared = op.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compared)
    return std::nullopt;
  bool isStraight = compared.getLhs() == op.getTrueValue() &&
                    compared.getRhs() == op.getFalseValue();
  bool isCrossed = compared.getLhs() == op.getFalseValue() &&
                   compared.getRhs() == op.getTrueValue();
  std::optional<bool> isLarger = isForLarger(compared.getPredicate());
  if (!isLarger || (!isStraight && !isCrossed))
    return std::nullopt;
  return *isLarger == isStraight;
}

/// The interval of the maximum or minimum of two values, which are not NaN.
static Interval emitExtremum(Application &a, bool isLarger, Interval x,
                             Interval y) {
  auto emit = [&](Value p, Value q) -> Value {
    if (isLarger)
      return arith::MaxNumFOp::create(a.builder, a.loc, p, q);
    return arith::MinNumFOp::create(a.builder, a.loc, p, q);
  };
  return {emit(x.low, y.low), emit(x.high, y.high)};
}

/// If the condition is not certain, the union of both intervals; for relu and
/// the like, the interval of the maximum.
static FailureOr<Interval> selection(Application &a) {
  Interval ifTrue = a.getEnds(1), ifFalse = a.getEnds(2);
  auto choose = [&](Value condition, Interval x, Interval y) -> Interval {
    return {a.select(condition, x.low, y.low),
            a.select(condition, x.high, y.high)};
  };
  if (a.isExact(0))
    return choose(a.operands[0].value, ifTrue, ifFalse);
  Interval condition = a.operands[0].interval;
  Value ends[] = {ifTrue.low, ifTrue.high, ifFalse.low, ifFalse.high};
  Interval either = a.hull(ends);
  if (std::optional<bool> isLarger =
          selectsLarger(cast<arith::SelectOp>(a.op))) {
    Value isAnything = a.isAnything(either);
    either =
        choose(isAnything, either, emitExtremum(a, *isLarger, ifTrue, ifFalse));
  }
  return choose(condition.low, ifTrue, choose(condition.high, either, ifFalse));
}

/// A comparison is certain if it holds for all values of both intervals.
static FailureOr<Interval> comparison(Application &a) {
  CmpFPredicate predicate = cast<arith::CmpFOp>(a.op).getPredicate();
  Interval x = a.getEnds(0), y = a.getEnds(1);
  auto lowHigh = [&](CmpFPredicate p) { return a.compare(p, x.low, y.high); };
  auto highLow = [&](CmpFPredicate p) { return a.compare(p, x.high, y.low); };
  Interval result;
  if (std::optional<bool> isLarger = isForLarger(predicate)) {
    result = {lowHigh(predicate), highLow(predicate)};
    if (!*isLarger)
      std::swap(result.low, result.high);
    return a.anythingIf(a.mayBeAnything(), result);
  }
  switch (predicate) {
  case CmpFPredicate::OEQ:
  case CmpFPredicate::UEQ: {
    bool isOrdered = predicate == CmpFPredicate::OEQ;
    auto below = isOrdered ? CmpFPredicate::OLE : CmpFPredicate::ULE;
    auto above = isOrdered ? CmpFPredicate::OGE : CmpFPredicate::UGE;
    result = {a.both(lowHigh(predicate), highLow(predicate)),
              a.both(lowHigh(below), highLow(above))};
    break;
  }
  case CmpFPredicate::ONE:
  case CmpFPredicate::UNE: {
    bool isOrdered = predicate == CmpFPredicate::ONE;
    auto below = isOrdered ? CmpFPredicate::OLT : CmpFPredicate::ULT;
    auto above = isOrdered ? CmpFPredicate::OGT : CmpFPredicate::UGT;
    result = {a.either(lowHigh(above), highLow(below)),
              a.either(lowHigh(predicate), highLow(predicate))};
    break;
  }
  case CmpFPredicate::ORD:
  case CmpFPredicate::UNO: {
    Value holds = a.compare(predicate, x.low, y.low);
    result = {holds, holds};
    break;
  }
  default:
    return failure();
  }
  return a.anythingIf(a.mayBeAnything(), result);
}

//===----------------------------------------------------------------------===//
// Rules of approximated functions
//===----------------------------------------------------------------------===//

/// The size of an ulp: relative to the value, and the minimum.
static std::pair<double, double> getUlp(Type type) {
  if (type.isF64())
    return {std::ldexp(1.0, -52), std::numeric_limits<double>::denorm_min()};
  return {std::ldexp(1.0, -23), std::ldexp(1.0, -149)};
}

/// The result of a function, computed in f64, plus and minus the error bound of
/// the device; both ends rounded to the type of the result.
static void addAround(Application &a, Value result, Value radius,
                      SmallVectorImpl<Value> &ends) {
  double error = *lookupMathError(a.op->getName().getStringRef());
  Type type = a.op->getResult(0).getType();
  auto [relative, absolute] = getUlp(type);
  Value around = a.multiply(a.magnitude(result), a.number(error * relative));
  around = a.add(around, a.number(error * absolute));
  if (radius)
    around = a.add(around, radius);
  // Infinities are exact.
  around = a.select(a.isFinite(result), around, a.number(0));
  ends.push_back(a.widen(a.narrow(a.subtract(result, around), type)));
  ends.push_back(a.widen(a.narrow(a.add(result, around), type)));
}

/// The function in f64.
static Value evaluate(Application &a, ArrayRef<Value> values) {
  Operation *clone = a.builder.cloneWithoutRegions(*a.op);
  for (auto [i, value] : llvm::enumerate(values))
    clone->setOperand(i, value);
  clone->getResult(0).setType(a.builder.getF64Type());
  return clone->getResult(0);
}

static FailureOr<Interval> monotonicFunction(Application &a) {
  SmallVector<Value> ends;
  addAround(a, evaluate(a, a.getEnds(0).low), Value(), ends);
  if (!a.isExact(0))
    addAround(a, evaluate(a, a.getEnds(0).high), Value(), ends);
  return a.anythingIf(a.mayBeAnything(), a.hull(ends));
}

/// rsqrt has a pole at 0 and is NaN below.
static FailureOr<Interval> reciprocalRoot(Application &a) {
  FailureOr<Interval> result = monotonicFunction(a);
  if (a.isExact(0))
    return result;
  return a.anythingIf(a.hasZero(a.getEnds(0)), *result);
}

static FailureOr<Interval> evenFunction(Application &a) {
  Interval x = a.getEnds(0);
  SmallVector<Value> ends;
  Value middle = a.select(a.hasZero(x), a.number(0), x.low);
  for (Value value : {x.low, x.high, middle})
    addAround(a, evaluate(a, value), Value(), ends);
  return a.anythingIf(a.mayBeAnything(), a.hull(ends));
}

/// sin and cos: the slope is at most 1, so the interval is the result for the
/// middle, plus and minus half the width.
static FailureOr<Interval> waveFunction(Application &a) {
  Interval x = a.getEnds(0);
  SmallVector<Value> ends;
  addAround(a, evaluate(a, x.low), Value(), ends);
  if (!a.isExact(0)) {
    Value half = a.multiply(a.subtract(x.high, x.low), a.number(0.5));
    addAround(a, evaluate(a, x.high), Value(), ends);
    addAround(a, evaluate(a, a.add(x.low, half)), half, ends);
  }
  return a.anythingIf(a.mayBeAnything(), a.hull(ends));
}

/// powf. Monotonic in each operand if the base is positive. For other bases,
/// only exact exponents have a rule; then 0 may be between the ends.
static FailureOr<Interval> power(Application &a) {
  Interval base = a.getEnds(0), exponent = a.getEnds(1);
  SmallVector<Value> ends;
  SmallVector<Value> bases = {base.low}, exponents = {exponent.low};
  if (!a.isExact(0)) {
    bases.push_back(base.high);
    Value isBetween = a.hasZero(base);
    for (double zero : {0.0, -0.0})
      bases.push_back(a.select(isBetween, a.number(zero), base.low));
  }
  if (!a.isExact(1))
    exponents.push_back(exponent.high);
  for (Value x : bases)
    for (Value y : exponents)
      addAround(a, evaluate(a, {x, y}), Value(), ends);
  Value isInexact = a.mayBeAnything();
  if (!a.isExact(1)) {
    Value isOutside = a.compare(CmpFPredicate::ULT, base.low, a.number(0));
    isInexact = isInexact ? a.either(isInexact, isOutside) : isOutside;
  }
  return a.anythingIf(isInexact, a.hull(ends));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const llvm::StringMap<Rule> &getRules() {
  static const llvm::StringMap<Rule> rules = {
      {"arith.addf", monotonic},         {"arith.andi", monotonic},
      {"arith.cmpf", comparison},        {"arith.divf", quotient},
      {"arith.extf", extension},         {"arith.maximumf", monotonic},
      {"arith.maxnumf", monotonic},      {"arith.minimumf", monotonic},
      {"arith.minnumf", monotonic},      {"arith.mulf", product},
      {"arith.negf", monotonic},         {"arith.ori", monotonic},
      {"arith.select", selection},       {"arith.subf", monotonic},
      {"arith.truncf", truncation},      {"math.absf", magnitude},
      {"math.acos", monotonicFunction},  {"math.acosh", monotonicFunction},
      {"math.asin", monotonicFunction},  {"math.asinh", monotonicFunction},
      {"math.atan", monotonicFunction},  {"math.atanh", monotonicFunction},
      {"math.cbrt", monotonicFunction},  {"math.ceil", monotonic},
      {"math.cos", waveFunction},        {"math.cosh", evenFunction},
      {"math.erf", monotonicFunction},   {"math.erfc", monotonicFunction},
      {"math.exp", monotonicFunction},   {"math.exp2", monotonicFunction},
      {"math.expm1", monotonicFunction}, {"math.floor", monotonic},
      {"math.fma", monotonic},           {"math.log", monotonicFunction},
      {"math.log10", monotonicFunction}, {"math.log1p", monotonicFunction},
      {"math.log2", monotonicFunction},  {"math.powf", power},
      {"math.round", monotonic},         {"math.roundeven", monotonic},
      {"math.rsqrt", reciprocalRoot},    {"math.sin", waveFunction},
      {"math.sinh", monotonicFunction},  {"math.sqrt", monotonicFunction},
      {"math.tanh", monotonicFunction},  {"math.trunc", monotonic},
  };
  return rules;
}

FailureOr<Interval>
blockscale::emitInterval(OpBuilder &builder, Operation *op,
                         ArrayRef<IntervalOperand> operands) {
  if (op->getNumResults() != 1 || !getEndType(op->getResult(0).getType()))
    return failure();
  auto rule = getRules().find(op->getName().getStringRef());
  if (rule == getRules().end())
    return failure();
  for (const IntervalOperand &operand : operands)
    if (!getEndType(operand.value.getType()))
      return failure();
  Application application(builder, op, operands);
  return rule->second(application);
}
