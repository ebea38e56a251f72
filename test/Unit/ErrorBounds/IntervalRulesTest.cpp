//===- IntervalRulesTest.cpp - Tests of intervals of ops ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rule on random intervals: no value that the op has inside of them is
// left out, and the ends are values that it has.
//
//===----------------------------------------------------------------------===//

#include "ErrorBounds/IntervalGeneric.h"

#include "IntervalTesting.h"
#include "blockscale/Driver/CpuExecution.h"
#include "blockscale/Support/Formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct RuleCase {
  /// An op on %a and %b, f32, that makes %v.
  std::string body;
  std::string type;
  /// From where the ends are drawn.
  double low, high;
  /// How far ends may be from values that were seen, in ulps of f32.
  double slack;
};

/// Of one interval of each operand, the values at some points of it.
constexpr int numIntervals = 60, numPoints = 8;
} // namespace

static double toDouble(const NpyArray &array, int64_t i) {
  switch (array.dtype) {
  case DType::F4:
    return getValues<float>(array)[i];
  case DType::F8:
    return getValues<double>(array)[i];
  case DType::U2:
    return decode(Format::BF16, getValues<uint16_t>(array)[i]);
  case DType::F2:
    return decode(Format::F16, getValues<uint16_t>(array)[i]);
  default:
    return array.data[i];
  }
}

/// The result of the op, and the ends of its interval.
static std::vector<NpyArray> run(const RuleCase &rule,
                                 std::vector<NpyArray> arguments) {
  std::string n = std::to_string(arguments[0].shape[0]);
  std::string f32 = "tensor<" + n + "xf32>", f64 = "tensor<" + n + "xf64>";
  std::string type = "tensor<" + n + "x" + rule.type + ">";
  std::unique_ptr<Program> program =
      parseText("#id = affine_map<(i) -> (i)>\n"
                "func.func @main(%x: " +
                f32 + ", %y: " + f32 + ", %xl: " + f64 + ", %xh: " + f64 +
                ", %yl: " + f64 + ", %yh: " + f64 + ") -> " + type +
                " {\n"
                "  %e = tensor.empty() : " +
                type +
                "\n"
                "  %r = linalg.generic {indexing_maps = [#id, #id, #id], "
                "iterator_types = [\"parallel\"]} ins(%x, %y : " +
                f32 + ", " + f32 + ") outs(%e : " + type +
                ") {\n"
                "  ^bb0(%a: f32, %b: f32, %o: " +
                rule.type + "):\n" + rule.body +
                "\n  linalg.yield %v : " + rule.type + "\n  } -> " + type +
                "\n"
                "  return %r : " +
                type + "\n}\n");
  if (!program)
    return {};
  bool isAmbiguous;
  func::FuncOp function = *program->getEntry("", isAmbiguous);
  Operation *end = function.getBody().front().getTerminator();
  auto op = end->getOperand(0).getDefiningOp<linalg::GenericOp>();
  OpBuilder builder(end);
  IntervalMap intervals;
  std::string culprit;
  intervals[function.getArgument(0)] = {function.getArgument(2),
                                        function.getArgument(3)};
  intervals[function.getArgument(1)] = {function.getArgument(4),
                                        function.getArgument(5)};
  if (!buildOnIntervals(builder, op, intervals, culprit)) {
    ADD_FAILURE() << "no rule for " << culprit;
    return {};
  }
  Interval ends = intervals[op.getResult(0)];
  SmallVector<Value> results = {op.getResult(0), ends.low, ends.high};
  end->setOperands(results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  FailureOr<std::vector<NpyArray>> arrays =
      runOnCpu(*program, function, std::move(arguments));
  return succeeded(arrays) ? *arrays : std::vector<NpyArray>();
}

class IntervalRulesTest : public testing::TestWithParam<RuleCase> {};

TEST_P(IntervalRulesTest, HoldTheValuesAndNoMore) {
  const RuleCase &rule = GetParam();
  std::mt19937_64 engine(1);
  // Half of the intervals are narrow, as errors are.
  auto draw = [&](double low, double high) {
    return static_cast<float>(
        std::uniform_real_distribution<double>(low, high)(engine));
  };
  std::vector<float> points[2];
  std::vector<double> lows[2], highs[2];
  for (int i = 0; i != numIntervals; ++i) {
    float low[2], high[2];
    for (int operand = 0; operand != 2; ++operand) {
      float from = draw(rule.low, rule.high);
      float to =
          i % 2 ? draw(rule.low, rule.high) : from + std::fabs(from) * 0x1p-12f;
      low[operand] = std::min(from, to);
      high[operand] = std::max(from, to);
    }
    for (int point = 0; point != numPoints; ++point)
      for (int operand = 0; operand != 2; ++operand) {
        lows[operand].push_back(low[operand]);
        highs[operand].push_back(high[operand]);
        float inside = std::clamp(draw(low[operand], high[operand]),
                                  low[operand], high[operand]);
        bool hasZero = low[operand] <= 0 && 0 <= high[operand];
        points[operand].push_back(point >= 6   ? inside
                                  : point >= 4 ? (hasZero ? 0 : inside)
                                  : point >> operand & 1 ? high[operand]
                                                         : low[operand]);
      }
  }
  int64_t n = points[0].size();
  std::vector<NpyArray> results = run(
      rule,
      {makeArray(DType::F4, {n}, points[0]),
       makeArray(DType::F4, {n}, points[1]), makeArray(DType::F8, {n}, lows[0]),
       makeArray(DType::F8, {n}, highs[0]), makeArray(DType::F8, {n}, lows[1]),
       makeArray(DType::F8, {n}, highs[1])});
  ASSERT_EQ(results.size(), 3u);
  for (int64_t first = 0; first != n; first += numPoints) {
    double least = INFINITY, most = -INFINITY;
    double low = toDouble(results[1], first),
           high = toDouble(results[2], first);
    for (int64_t i = first; i != first + numPoints; ++i) {
      double value = toDouble(results[0], i);
      ASSERT_GE(value, low) << points[0][i] << " " << points[1][i];
      ASSERT_LE(value, high) << points[0][i] << " " << points[1][i];
      least = std::min(least, value);
      most = std::max(most, value);
    }
    double ulp = rule.slack * 0x1p-23;
    EXPECT_LE(least - low, ulp * std::fabs(least) + rule.slack * 0x1p-149)
        << "low of [" << lows[0][first] << ", " << highs[0][first] << "], ["
        << lows[1][first] << ", " << highs[1][first] << "]";
    EXPECT_LE(high - most, ulp * std::fabs(most) + rule.slack * 0x1p-149)
        << "high of [" << lows[0][first] << ", " << highs[0][first] << "], ["
        << lows[1][first] << ", " << highs[1][first] << "]";
  }
}

static RuleCase unary(std::string name, double low, double high,
                      double slack = 6) {
  return {"%v = " + name + " %a : f32", "f32", low, high, slack};
}

static RuleCase binary(std::string name, double low, double high,
                       double slack = 0) {
  return {"%v = " + name + " %a, %b : f32", "f32", low, high, slack};
}

INSTANTIATE_TEST_SUITE_P(
    Functions, IntervalRulesTest,
    testing::Values(unary("math.acos", -1, 1), unary("math.acosh", 1, 9),
                    unary("math.asin", -1, 1), unary("math.asinh", -9, 9),
                    unary("math.atan", -9, 9), unary("math.atanh", -0.99, 0.99),
                    unary("math.cbrt", -9, 9), unary("math.cosh", -5, 5),
                    unary("math.erf", -4, 4), unary("math.erfc", -4, 4),
                    unary("math.exp", -20, 20), unary("math.exp2", -20, 20),
                    unary("math.expm1", -1, 5), unary("math.log", 0.001, 9),
                    unary("math.log10", 0.001, 9), unary("math.log1p", -0.9, 9),
                    unary("math.log2", 0.001, 9), unary("math.rsqrt", 0.001, 9),
                    unary("math.sinh", -5, 5), unary("math.sqrt", 0.001, 9),
                    unary("math.tanh", -4, 4),
                    binary("math.powf", 0.1, 9, 24)));

INSTANTIATE_TEST_SUITE_P(
    Arithmetic, IntervalRulesTest,
    testing::Values(
        binary("arith.addf", -9, 9), binary("arith.subf", -9, 9),
        binary("arith.mulf", -9, 9), binary("arith.divf", 0.001, 9),
        binary("arith.maximumf", -9, 9), binary("arith.maxnumf", -9, 9),
        binary("arith.minimumf", -9, 9), binary("arith.minnumf", -9, 9),
        unary("arith.negf", -9, 9, 0), unary("math.absf", -9, 9, 0),
        unary("math.ceil", -9, 9, 0), unary("math.floor", -9, 9, 0),
        unary("math.round", -9, 9, 0), unary("math.roundeven", -9, 9, 0),
        unary("math.trunc", -9, 9, 0),
        RuleCase{"%v = arith.mulf %a, %a : f32", "f32", -9, 9, 0},
        RuleCase{"%v = arith.extf %a : f32 to f64", "f64", -9, 9, 0},
        RuleCase{"%v = arith.truncf %a : f32 to f16", "f16", -9, 9, 0},
        RuleCase{"%v = arith.truncf %a : f32 to bf16", "bf16", -9, 9, 0},
        RuleCase{"%c = arith.cmpf ogt, %a, %b : f32\n"
                 "%v = arith.select %c, %a, %b : f32",
                 "f32", -9, 9, 0},
        RuleCase{"%c = arith.constant 0.0 : f32\n"
                 "%p = arith.cmpf olt, %a, %c : f32\n"
                 "%v = arith.select %p, %c, %a : f32",
                 "f32", -9, 9, 0},
        RuleCase{"%v = arith.cmpf ole, %a, %b : f32", "i1", -9, 9, 0},
        RuleCase{"%v = arith.cmpf oeq, %a, %a : f32", "i1", -9, 9, 1e60},
        RuleCase{"%v = arith.cmpf une, %a, %b : f32", "i1", -9, 9, 1e60}));

/// Not all of their values are seen, but none is left out.
INSTANTIATE_TEST_SUITE_P(Waves, IntervalRulesTest,
                         testing::Values(unary("math.sin", -9, 9, 1e60),
                                         unary("math.cos", -9, 9, 1e60)));

//===----------------------------------------------------------------------===//
// Corner cases
//===----------------------------------------------------------------------===//

/// The interval of an op for one interval of each operand.
static std::pair<double, double> getInterval(std::string body, double xLow,
                                             double xHigh, double yLow = 1,
                                             double yHigh = 1) {
  RuleCase rule = {std::move(body), "f32", 0, 0, 0};
  auto value = [](double x) {
    return makeArray<float>(DType::F4, {1}, {static_cast<float>(x)});
  };
  auto end = [](double x) { return makeArray<double>(DType::F8, {1}, {x}); };
  std::vector<NpyArray> results =
      run(rule, {value(xLow), value(yLow), end(xLow), end(xHigh), end(yLow),
                 end(yHigh)});
  return {toDouble(results[1], 0), toDouble(results[2], 0)};
}

static bool isAnything(std::pair<double, double> ends) {
  return ends.first == -INFINITY && ends.second == INFINITY;
}

static bool isNaN(std::pair<double, double> ends) {
  return std::isnan(ends.first) && std::isnan(ends.second);
}

TEST(IntervalCornerTest, Poles) {
  EXPECT_TRUE(isAnything(getInterval("%v = arith.divf %b, %a : f32", -1, 1)));
  EXPECT_TRUE(isAnything(getInterval("%v = arith.divf %b, %a : f32", 0, 1)));
  EXPECT_TRUE(isAnything(getInterval("%v = math.rsqrt %a : f32", 0, 1)));
  EXPECT_TRUE(isAnything(getInterval("%v = math.log %a : f32", -1, 1)));
  EXPECT_TRUE(isAnything(getInterval("%v = math.sqrt %a : f32", -1, 1)));
  EXPECT_TRUE(isNaN(getInterval("%v = math.sqrt %a : f32", -2, -1)));
}

TEST(IntervalCornerTest, NaNs) {
  EXPECT_TRUE(isNaN(getInterval("%v = arith.addf %a, %b : f32", NAN, NAN)));
  EXPECT_TRUE(isNaN(getInterval("%v = math.exp %a : f32", NAN, NAN)));
  EXPECT_TRUE(isNaN(getInterval("%v = math.absf %a : f32", NAN, NAN)));
  // NaN gives way to the other operand.
  EXPECT_EQ(getInterval("%v = arith.maxnumf %a, %b : f32", NAN, NAN, 2, 3),
            std::make_pair(2.0, 3.0));
}

TEST(IntervalCornerTest, Infinities) {
  EXPECT_EQ(
      getInterval("%v = arith.addf %a, %b : f32", 1, 2, INFINITY, INFINITY),
      std::make_pair(double(INFINITY), double(INFINITY)));
  // Infinity minus infinity may be there.
  EXPECT_TRUE(isAnything(
      getInterval("%v = arith.subf %a, %b : f32", 1, INFINITY, 1, INFINITY)));
  EXPECT_TRUE(isAnything(
      getInterval("%v = arith.mulf %a, %b : f32", 0, 1, INFINITY, INFINITY)));
  // What may be anything stays so, even times zero.
  EXPECT_TRUE(isAnything(
      getInterval("%v = arith.mulf %a, %b : f32", -INFINITY, INFINITY, 0, 0)));
  EXPECT_TRUE(
      isAnything(getInterval("%v = math.tanh %a : f32", -INFINITY, INFINITY)));
  EXPECT_TRUE(
      isAnything(getInterval("%v = math.absf %a : f32", -INFINITY, INFINITY)));
  // Only the upper end overflows.
  std::pair<double, double> ends =
      getInterval("%v = math.exp %a : f32", 88, 89);
  EXPECT_LT(ends.first, 2e38);
  EXPECT_EQ(ends.second, INFINITY);
  ends = getInterval("%v = math.sin %a : f32", 1, INFINITY);
  EXPECT_TRUE(isAnything(ends));
}

TEST(IntervalCornerTest, Waves) {
  // Over a crest, the interval reaches it; it is no wider than the slope lets.
  std::pair<double, double> ends =
      getInterval("%v = math.sin %a : f32", 1.5, 1.75);
  EXPECT_GE(ends.second, 1);
  EXPECT_LE(ends.second, 1.13);
  EXPECT_LE(ends.first, std::sin(1.75));
  EXPECT_GE(ends.first, std::sin(1.75) - 0.13);
}

TEST(IntervalCornerTest, PowersOfValuesAroundZero) {
  EXPECT_GE(getInterval("%c = arith.constant 2.0 : f32\n"
                        "%v = math.powf %a, %c : f32",
                        -2, 3)
                .first,
            -0x1p-140);
  EXPECT_TRUE(
      isAnything(getInterval("%v = math.powf %a, %b : f32", -2, 3, 1.5, 2.5)));
  EXPECT_TRUE(isAnything(getInterval("%c = arith.constant -1.0 : f32\n"
                                     "%v = math.powf %a, %c : f32",
                                     -2, 3)));
}
