//===- LicensedSums.cpp - What fp8 tensor cores lose ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bound of docs/Numerics.md ("Sums of fp8 tensor cores"), for each element
// of a result by itself: loops over the pieces along K, over their blocks of 32
// terms, and twice over the terms of a block. A step of a tensor core has 16 or
// 32 of them, in any order.
//
//   up, down  the largest sum of the last few blocks of the piece, and the
//             largest negative one
//   error     what is lost so far
//   cap       no exponent in the block is larger: 2^E <= cap
//
// Terms are aligned to E and cut toward zero 13 bits below, as is C, the sum so
// far; then the sum is cut. A term with 6 fraction bits keeps them all if its
// exponent is at least E - 7. Its magnitude is less than 4 times 2^exponent.
// So only terms below cap / 32 lose, and C and the sum, in each of two steps:
// 36 errors of 2^-13 2^E in a block at most, which are less than 2^-7 2^E.
//
//===----------------------------------------------------------------------===//

#include "LicensedSums.h"

#include "Emitter.h"
#include "blockscale/Dialect/Transforms/Reference/ProductTerms.h"
#include "blockscale/Support/Accumulation.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

/// Terms whose order does not matter: two steps of the smaller K.
static constexpr int64_t kBlock = 2 * kAccumulateStep;
/// 2^-13: an error, over 2^E.
static const double kUnit = std::ldexp(1.0, -kAccumulateBits);
/// Errors of C and of the sum, in two steps.
static constexpr double kSumErrors = 4;
/// 1 + 2^-7: the errors of a block on top of the sums in it.
static constexpr double kGrowth = 1.0078125;
/// A term of at least cap / 32 loses nothing.
static constexpr double kLosing = 32;

namespace {
struct OperandOfSum {
  /// The ends of each element times its scale; one value if they are known.
  Interval values;
  AffineMap map;
  /// The smallest normal numbers, or the ends of their intervals.
  Interval floors;
  AffineMap floorMap;
  double move;
};

/// One element, and what tensor cores make of it at most.
struct Element {
  Interval value;
  Value magnitude, size, move;
};

struct Term {
  Interval value;
  /// The largest and the smallest magnitude, and the largest 2^exponent.
  Value largest, smallest, size;
  /// How far rebasing moves it.
  Value move;
};

class LicensedSums {
public:
  LicensedSums(OpBuilder &builder, linalg::GenericOp op, LicensedSum sum,
               const IntervalMap &intervals)
      : builder(builder), op(op), sum(sum) {
    outputMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (unsigned i = 0; i != 2; ++i) {
      auto get = [&](unsigned input) -> Interval {
        Value value = op.getDpsInputOperand(input)->get();
        Interval ends = intervals.lookup(value);
        return ends ? ends : Interval{value, value};
      };
      auto map = [&](unsigned input) {
        return op.getMatchingIndexingMap(op.getDpsInputOperand(input));
      };
      operands[i] = {get(i), map(i), get(i + 2), map(i + 2),
                     i == 0 ? sum.xMove : sum.yMove};
    }
  }

  Value build() {
    Location loc = op.getLoc();
    AffineMap map = operands[0].map;
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr);
          loop && isReduction(loop.getPosition()))
        sizeOfK = getValueOrCreateConstantIndexOp(
            builder, loc,
            tensor::getMixedSize(builder, loc, operands[0].values.low, dim));
    for (OperandOfSum &operand : operands)
      isRebased |= operand.move != 0;
    return mapElements(builder, op.getDpsInits()[0], builder.getF64Type(), {},
                       [&](Emitter emit, ValueRange) {
                         return SmallVector<Value>{buildElement(emit)};
                       })
        .front();
  }

private:
  bool isReduction(unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  }

  using Body = function_ref<SmallVector<Value>(Emitter, Value, ValueRange)>;

  /// A loop over indices with values that each step renews.
  static ValueRange loop(Emitter emit, Value from, Value to, int64_t step,
                         ValueRange inits, Body body) {
    Value stride = arith::ConstantIndexOp::create(emit.builder, emit.loc, step);
    return scf::ForOp::create(
               emit.builder, emit.loc, from, to, stride, inits,
               [&](OpBuilder &b, Location loc, Value index, ValueRange args) {
                 scf::YieldOp::create(b, loc, body({b, loc}, index, args));
               })
        .getResults();
  }

  static Value larger(Emitter emit, Value a, Value b) {
    return arith::MaximumFOp::create(emit.builder, emit.loc, a, b);
  }
  static Value smaller(Emitter emit, Value a, Value b) {
    return arith::MinimumFOp::create(emit.builder, emit.loc, a, b);
  }
  /// `value`, or 0 if that is less.
  static Value positive(Emitter emit, Value value) {
    return larger(emit, value, emit.number(0));
  }

  Value load(Emitter emit, Value tensor, AffineMap map, Value k) {
    SmallVector<Value> at;
    for (AffineExpr expr : map.getResults()) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop) // A batch of 1.
        at.push_back(arith::ConstantIndexOp::create(emit.builder, emit.loc, 0));
      else
        at.push_back(isReduction(loop.getPosition())
                         ? k
                         : indices[*outputMap.getResultPosition(expr)]);
    }
    return tensor::ExtractOp::create(emit.builder, emit.loc, tensor, at);
  }

  Interval load(Emitter emit, Interval ends, AffineMap map, Value k) {
    Value low = load(emit, ends.low, map, k);
    return {low, ends.low == ends.high ? low : load(emit, ends.high, map, k)};
  }

  static Value getLargest(Emitter emit, Interval ends) {
    Value low = emit.magnitude(ends.low);
    if (ends.low == ends.high)
      return low;
    return larger(emit, low, emit.magnitude(ends.high));
  }

  Element loadElement(Emitter emit, const OperandOfSum &operand, Value k) {
    Interval value = load(emit, operand.values, operand.map, k);
    Value magnitude = getLargest(emit, value);
    Value floor =
        getLargest(emit, load(emit, operand.floors, operand.floorMap, k));
    Value zero = emit.number(0);
    Value isZero = emit.compare(arith::CmpFPredicate::OEQ, magnitude, zero);
    Value move = emit.multiply(floor, emit.number(operand.move));
    return {value, magnitude,
            emit.select(isZero, zero, larger(emit, magnitude, floor)),
            emit.select(isZero, zero, move)};
  }

  Term loadTerm(Emitter emit, Value k) {
    Element x = loadElement(emit, operands[0], k),
            y = loadElement(emit, operands[1], k);
    Term term;
    term.size = emit.multiply(x.size, y.size);
    term.largest = emit.multiply(x.magnitude, y.magnitude);
    if (isRebased)
      term.move = emit.add(emit.multiply(x.move, emit.add(y.magnitude, y.move)),
                           emit.multiply(x.magnitude, y.move));
    Value low = emit.multiply(x.value.low, y.value.low), high = low;
    if (x.value.low == x.value.high && y.value.low == y.value.high) {
      term.value = {low, low};
      term.smallest = term.largest;
      return term;
    }
    for (auto [a, b] : {std::pair{x.value.low, y.value.high},
                        {x.value.high, y.value.low},
                        {x.value.high, y.value.high}}) {
      Value corner = emit.multiply(a, b);
      low = smaller(emit, low, corner);
      high = larger(emit, high, corner);
    }
    term.value = {low, high};
    term.smallest =
        emit.select(emit.hasZero(term.value), emit.number(0),
                    smaller(emit, emit.magnitude(low), emit.magnitude(high)));
    return term;
  }

  /// The end of a part that starts at `from`.
  static Value getEnd(Emitter emit, Value from, int64_t size, Value most) {
    Value end = arith::AddIOp::create(
        emit.builder, emit.loc, from,
        arith::ConstantIndexOp::create(emit.builder, emit.loc, size));
    return arith::MinSIOp::create(emit.builder, emit.loc, end, most);
  }

  Value buildElement(Emitter emit) {
    indices.clear();
    for (unsigned i = 0; i != outputMap.getNumResults(); ++i)
      indices.push_back(linalg::IndexOp::create(emit.builder, emit.loc, i));
    Value first = arith::ConstantIndexOp::create(emit.builder, emit.loc, 0);
    return loop(emit, first, sizeOfK, sum.piece, emit.number(0),
                [&](Emitter e, Value from, ValueRange total) {
                  Value end = getEnd(e, from, sum.piece, sizeOfK);
                  return SmallVector<Value>{
                      e.add(total[0], buildPiece(e, from, end))};
                })
        .front();
  }

  Value buildPiece(Emitter emit, Value from, Value end) {
    Value zero = emit.number(0);
    return loop(emit, from, end, kBlock, {zero, zero, zero},
                [&](Emitter e, Value first, ValueRange state) {
                  return buildBlock(e, first, getEnd(e, first, kBlock, end),
                                    state);
                })
        .front();
  }

  /// The next error, up and down.
  SmallVector<Value> buildBlock(Emitter emit, Value from, Value end,
                                ValueRange state) {
    Value error = state[0], up = state[1], down = state[2];
    Value zero = emit.number(0);
    ValueRange sums =
        loop(emit, from, end, 1, {zero, zero, zero, zero, zero, error},
             [&](Emitter e, Value k, ValueRange args) -> SmallVector<Value> {
               Term term = loadTerm(e, k);
               Value low = term.value.low, high = term.value.high;
               return {e.add(args[0], positive(e, high)),
                       e.subtract(args[1], smaller(e, low, e.number(0))),
                       e.add(args[2], high),
                       e.add(args[3], low),
                       larger(e, args[4], term.size),
                       term.move ? e.add(args[5], term.move) : args[5]};
             });
    error = sums[5];
    Value most = larger(emit, emit.add(up, sums[0]), emit.add(down, sums[1]));
    Value cap = emit.multiply(emit.add(most, error), emit.number(kGrowth));
    cap = larger(emit, cap, sums[4]);
    Value errors =
        loop(emit, from, end, 1, emit.number(kSumErrors),
             [&](Emitter e, Value k, ValueRange count) {
               Term term = loadTerm(e, k);
               Value loses = e.both(
                   e.compare(arith::CmpFPredicate::UNE, term.largest,
                             e.number(0)),
                   e.compare(arith::CmpFPredicate::OLT,
                             e.multiply(term.smallest, e.number(kLosing)),
                             cap));
               return SmallVector<Value>{
                   e.select(loses, e.add(count[0], e.number(1)), count[0])};
             })
            .front();
    error = emit.add(
        error, emit.multiply(emit.multiply(cap, emit.number(kUnit)), errors));
    return {error, positive(emit, emit.add(up, sums[2])),
            positive(emit, emit.subtract(down, sums[3]))};
  }

  OpBuilder &builder;
  linalg::GenericOp op;
  LicensedSum sum;
  OperandOfSum operands[2];
  AffineMap outputMap;
  bool isRebased = false;
  /// The size of K, and the indices of the element of the result.
  Value sizeOfK;
  SmallVector<Value> indices;
};
} // namespace

Value blockscale::buildLicensedErrors(OpBuilder &builder, linalg::GenericOp op,
                                      const IntervalMap &intervals) {
  std::optional<LicensedSum> sum = getLicensedSum(op);
  if (!sum)
    return {};
  return LicensedSums(builder, op, *sum, intervals).build();
}
