//===- Alternatives.cpp - Schedules that sizes choose ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conditions are computed with operations that launch infos can express.
//
//===----------------------------------------------------------------------===//

#include "Kernels/FormKernels/Alternatives.h"

#include "Utils/IndexValues.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

#include <limits>
#include <numeric>
#include <utility>

using namespace mlir;
using namespace mlir::blockscale;

using Predicate = arith::CmpIPredicate;

namespace {
/// Arithmetic on the host, folded where sizes are static.
class HostArithmetic {
public:
  HostArithmetic(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value number(int64_t value) { return makeIndex(b, loc, value); }
  Value toValue(OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, loc, size);
  }
  Value compare(Predicate predicate, Value lhs, Value rhs) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
  }
  /// Whether there are at most `limit` rows, with groups on average. The
  /// largest number is no limit.
  Value areAtMost(const HostSizes &sizes, int64_t limit) {
    if (limit == std::numeric_limits<int64_t>::max())
      return arith::ConstantIntOp::create(b, loc, 1, 1);
    return compareRows(Predicate::ule, sizes, limit);
  }
  Value areMore(const HostSizes &sizes, int64_t limit) {
    return compareRows(Predicate::ugt, sizes, limit);
  }
  Value both(Value lhs, Value rhs) {
    return b.createOrFold<arith::AndIOp>(loc, lhs, rhs);
  }
  Value negate(Value value) {
    Value isTrue = arith::ConstantIntOp::create(b, loc, 1, 1);
    return b.createOrFold<arith::XOrIOp>(loc, value, isTrue);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return b.createOrFold<arith::SelectOp>(loc, condition, lhs, rhs);
  }
  Value ceilDiv(Value lhs, int64_t rhs) {
    return b.createOrFold<arith::CeilDivUIOp>(loc, lhs, number(rhs));
  }
  Value div(Value lhs, Value rhs) {
    return b.createOrFold<arith::DivUIOp>(loc, lhs, rhs);
  }
  Value rem(Value lhs, int64_t rhs) {
    return b.createOrFold<arith::RemUIOp>(loc, lhs, number(rhs));
  }
  Value multiply(Value lhs, Value rhs) {
    return b.createOrFold<arith::MulIOp>(loc, lhs, rhs);
  }
  Value plus(Value lhs, Value rhs) {
    return b.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  }
  Value least(Value lhs, Value rhs) {
    return b.createOrFold<arith::MinUIOp>(loc, lhs, rhs);
  }
  /// `size`, which may become a number that the program is given, such as a
  /// size of a reshape, in a form that a launch knows not to be negative.
  OpFoldResult notNegative(OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    if (!value || (dim && isa<BlockArgument>(dim.getSource())))
      return size;
    return b.createOrFold<arith::MaxSIOp>(loc, value, number(0));
  }
  Value clamp(Value value, int64_t least, int64_t most) {
    value = b.createOrFold<arith::MaxUIOp>(loc, value, number(least));
    return this->least(value, number(most));
  }

private:
  Value compareRows(Predicate predicate, const HostSizes &sizes,
                    int64_t limit) {
    Value rows = number(limit);
    if (sizes.groups)
      rows = multiply(rows, toValue(sizes.groups));
    return compare(predicate, toValue(sizes.m), rows);
  }

  OpBuilder &b;
  Location loc;
};

/// An alternative that sizes do not exclude.
struct Candidate {
  AlternativeAttr attr;
  /// Whether it is chosen, if any is.
  Value condition;
  /// The number of its split-K ranges, and whether that is 1.
  Value ranges, isWhole;
};

class CandidateMaker {
public:
  CandidateMaker(HostArithmetic &host, const HostSizes &sizes, int64_t sms)
      : host(host), sizes(sizes), sms(sms), rows(host.toValue(sizes.m)) {}

  /// The conditions are those of a chain of ifs.
  SmallVector<Candidate> make(ArrayRef<AlternativeAttr> list) {
    int64_t above = 0;
    while (!list.empty()) {
      int64_t most = list.front().getMostRows();
      ArrayRef<AlternativeAttr> same = list.take_while(
          [&](AlternativeAttr attr) { return attr.getMostRows() == most; });
      list = list.drop_front(same.size());
      Value isInRange =
          host.both(host.areMore(sizes, above), host.areAtMost(sizes, most));
      if (above == 0)
        isInRange = host.areAtMost(sizes, most);
      above = most;
      SmallVector<Value> times;
      if (same.size() != 1)
        times = llvm::map_to_vector(
            same, [&](AlternativeAttr attr) { return estimateTime(attr); });
      for (auto [i, attr] : llvm::enumerate(same)) {
        Value condition = isInRange;
        for (auto [other, time] : llvm::enumerate(times))
          if (other != i)
            condition =
                host.both(condition, host.compare(i < other ? Predicate::ule
                                                            : Predicate::ult,
                                                  times[i], time));
        add(attr, condition);
      }
    }
    return std::move(candidates);
  }

private:
  void add(AlternativeAttr attr, Value condition) {
    if (matchPattern(condition, m_Zero()))
      return;
    Candidate candidate = {attr, condition, {}, {}};
    // Neighbors often have as many ranges; then the expressions are shared.
    auto alike = llvm::find_if(candidates, [&](const Candidate &other) {
      return mayDivide(attr) && mayDivide(other.attr) &&
             getTileColumns(other.attr) == getTileColumns(attr) &&
             getLeastK(other.attr) == getLeastK(attr) &&
             other.attr.getMostRanges() == attr.getMostRanges() &&
             hasOneColumnOfTiles(other.attr) && hasOneColumnOfTiles(attr);
    });
    candidate.ranges =
        alike == candidates.end() ? countRanges(attr) : alike->ranges;
    candidate.isWhole =
        alike == candidates.end()
            ? host.compare(Predicate::eq, candidate.ranges, host.number(1))
            : alike->isWhole;
    candidates.push_back(candidate);
  }

  static WarpSpecializedScheduleAttr getSchedule(AlternativeAttr attr) {
    return cast<WarpSpecializedScheduleAttr>(attr.getSchedule());
  }
  /// Whether the launch counts split-K ranges.
  static bool mayDivide(AlternativeAttr attr) {
    return attr.getMostRanges() != 1;
  }
  /// Rows of the counted side in a tile, and those of the other one: kernels
  /// with quantized weights swap A and B, those with sparse ones do not.
  static int64_t getTileRows(AlternativeAttr attr) {
    return getSchedule(attr).getN();
  }
  static int64_t getTileColumns(AlternativeAttr attr) {
    return getSchedule(attr).getM();
  }
  static bool hasOneColumnOfTiles(AlternativeAttr attr) {
    return attr.getMostRows() <= getTileRows(attr);
  }

  Value countTiles(AlternativeAttr attr) {
    Value tiles = host.ceilDiv(host.toValue(sizes.n), getTileColumns(attr));
    if (!hasOneColumnOfTiles(attr))
      tiles = host.multiply(tiles, host.ceilDiv(rows, getTileRows(attr)));
    return host.multiply(tiles, host.toValue(sizes.batch));
  }

  /// The K of a range that is worth the kernel that adds ranges up. A step of K
  /// takes longer in a wide tile.
  static int64_t getLeastK(AlternativeAttr attr) {
    constexpr int64_t kMost = 4096, kLeastWork = 1 << 18;
    return std::min(kMost, kLeastWork / getTileRows(attr));
  }

  /// As many ranges as leave no SM idle, if each has enough to do.
  Value countRanges(AlternativeAttr attr) {
    if (!mayDivide(attr))
      return host.number(1);
    // There may be no tiles; then there is no launch, either.
    Value ofSms =
        host.div(host.number(sms), host.clamp(countTiles(attr), 1, sms));
    Value ofK = host.div(host.toValue(sizes.k), host.number(getLeastK(attr)));
    return host.clamp(host.least(ofSms, ofK), 1, attr.getMostRanges());
  }

  /// The time of all rounds of tiles, with K in as many ranges as there are,
  /// and of the kernel that adds these up, in the unit of costs: so much of the
  /// time that a tile takes for all of K.
  Value estimateTime(AlternativeAttr attr) {
    int64_t ofTile = getTileColumns(attr) * getTileRows(attr) * attr.getCost();
    Value ranges = countRanges(attr);
    Value rounds = host.ceilDiv(host.multiply(countTiles(attr), ranges), sms);
    Value time = host.div(host.multiply(rounds, host.number(ofTile)), ranges);
    if (!mayDivide(attr))
      return time;
    // 4 us, and 8 bytes for each sum and range at 3.5 TB/s; the costs of
    // tiles are those of K = 8192 (benchmarks/tune_rows.py).
    constexpr int64_t kStart = 4000, kSumsOfNanosecond = 437,
                      kCostOfNanosecond = 611, kMeasuredK = 8192,
                      kMostK = int64_t(1) << 31;
    Value sums =
        host.multiply(host.multiply(rows, host.toValue(sizes.n)), ranges);
    Value nanoseconds = host.plus(
        host.div(sums, host.number(kSumsOfNanosecond)), host.number(kStart));
    Value added = host.div(
        host.multiply(nanoseconds, host.number(kCostOfNanosecond * kMeasuredK)),
        host.clamp(host.toValue(sizes.k), 1, kMostK));
    Value isDivided = host.compare(Predicate::ne, ranges, host.number(1));
    return host.plus(time, host.select(isDivided, added, host.number(0)));
  }

  HostArithmetic &host;
  /// M is that of the counted side.
  const HostSizes &sizes;
  int64_t sms;
  Value rows;
  SmallVector<Candidate> candidates;
};
} // namespace

static bool isNotNegative(OpFoldResult size) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return *known >= 0;
  Operation *op = cast<Value>(size).getDefiningOp();
  bool hasNegativeTerms = false;
  if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op))
    apply.getAffineMap().walkExprs([&](AffineExpr expr) {
      auto constant = dyn_cast<AffineConstantExpr>(expr);
      hasNegativeTerms |= constant && constant.getValue() < 0;
    });
  return isa_and_nonnull<tensor::DimOp>(op) ||
         (!hasNegativeTerms &&
          isa_and_nonnull<affine::AffineApplyOp, arith::MulIOp, arith::AddIOp,
                          arith::MinUIOp, arith::DivUIOp, arith::CeilDivUIOp,
                          arith::RemUIOp>(op) &&
          llvm::all_of(op->getOperands(),
                       [](Value operand) { return isNotNegative(operand); }));
}

bool blockscale::areNotNegative(const HostSizes &sizes) {
  return isNotNegative(sizes.m) && isNotNegative(sizes.n) &&
         isNotNegative(sizes.k) && isNotNegative(sizes.batch);
}

void blockscale::assumeUnitOfK(KernelProblem &problem, int64_t unitOfK) {
  if (!ShapedType::isDynamic(problem.k))
    return;
  for (GemmOperand id : kGemmOperands) {
    int64_t unit = std::max<int64_t>(problem.getColumns(id, unitOfK), 1);
    int64_t &multiple = problem[id].columnMultiple;
    multiple = std::lcm(std::max<int64_t>(multiple, 1), unit);
  }
}

MmaScaledOp::Side blockscale::getCountedSide(ProductOpInterface op) {
  return op.getMetadata() ? MmaScaledOp::Side::Y : MmaScaledOp::Side::X;
}

Alternatives blockscale::makeAlternatives(OpBuilder &builder, Location loc,
                                          ArrayRef<AlternativeAttr> list,
                                          HostSizes sizes,
                                          MmaScaledOp::Side side,
                                          int64_t unitOfK, int64_t sms) {
  if (side == MmaScaledOp::Side::Y)
    std::swap(sizes.m, sizes.n);
  HostArithmetic host(builder, loc);
  for (OpFoldResult *size : {&sizes.m, &sizes.n, &sizes.k, &sizes.batch})
    *size = host.notNegative(*size);
  SmallVector<Candidate> candidates =
      CandidateMaker(host, sizes, sms).make(list);
  Value rows = host.toValue(sizes.m);
  Alternatives result;
  Value k = host.toValue(sizes.k);
  result.isAny =
      host.both(host.areAtMost(sizes, list.back().getMostRows()),
                host.both(host.compare(Predicate::ne, k, host.number(0)),
                          host.compare(Predicate::eq, host.rem(k, unitOfK),
                                       host.number(0))));
  result.isNone = host.negate(result.isAny);
  Value one = host.number(1), ranges, behind;
  for (const Candidate &candidate : llvm::reverse(candidates)) {
    if (!ranges)
      ranges = candidate.ranges;
    int64_t most = candidate.attr.getMostRows();
    bool hasPeers = llvm::count_if(candidates, [&](const Candidate &other) {
                      return other.attr.getMostRows() == most;
                    }) != 1;
    Value next = hasPeers ? Value() : candidate.ranges;
    if (candidate.ranges == std::exchange(behind, next) ||
        ranges == candidate.ranges)
      continue;
    // Of alternatives for the same rows, the estimated time chooses.
    Value isChosen =
        hasPeers ? candidate.condition
                 : host.compare(Predicate::ule, rows, host.number(most));
    ranges = host.select(isChosen, candidate.ranges, ranges);
  }
  result.ranges = getAsOpFoldResult(ranges ? ranges : one);
  result.isDivided = host.both(
      host.compare(Predicate::ne, ranges ? ranges : one, one), result.isAny);
  // What most often fails comes first.
  for (const Candidate &candidate : candidates)
    for (auto [choices, isThis] :
         {std::pair(&result.whole, candidate.isWhole),
          std::pair(&result.divided, host.negate(candidate.isWhole))})
      if (Value condition =
              host.both(host.both(candidate.condition, isThis), result.isAny);
          !matchPattern(condition, m_Zero()))
        choices->push_back({candidate.attr.getSchedule(), condition,
                            candidate.attr.getMostRows()});
  return result;
}
