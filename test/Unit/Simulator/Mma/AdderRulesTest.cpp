//===- AdderRulesTest.cpp - Every form against the published algorithm ----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A second implementation of the algorithm, one element of D at a time, with
// its own table.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixTesting.h"

#include "llvm/ADT/bit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

namespace {

struct Rule {
  unsigned chunk;
  int alignedBits, floorF32, floorF16;
  int fractionBits = 23;
  bool hasHalves = false;
};

bool isWide(const Description &d) { return d.a == "f16" || d.a == "bf16"; }

Rule getRule(const Description &d, unsigned target) {
  if (d.slotBits == 4)
    return {64, 35, -139, 0};
  if (target < 90) {
    if (isWide(d))
      return {8, 24, -132, -20};
    return d.a == "tf32" ? Rule{4, 24, -132, 0} : Rule{16, 13, -132, -20, 13};
  }
  if (isWide(d))
    return {16, 25, -133, -21};
  if (d.a == "tf32")
    return {8, 25, -133, 0};
  if (target < 120)
    return {d.getKeptK() / 2, 25, -133, -21, 23, true};
  return {32, 25, -133, -21};
}

int getLowestExponent(const std::string &type) {
  static const std::pair<const char *, int> exponents[] = {
      {"e4m3", -6},   {"ue4m3", -6}, {"e5m2", -14},  {"e3m2", -2},
      {"e2m3", 0},    {"e2m1", 0},   {"f16", -14},   {"bf16", -126},
      {"tf32", -126}, {"f32", -126}, {"ue8m0", -127}};
  for (auto [name, exponent] : exponents)
    if (name == type)
      return exponent;
  return 0;
}

int getExponent(double value, const std::string &type) {
  return std::max(std::ilogb(value), getLowestExponent(type));
}

/// Truncated, or to the nearest, to fraction bits.
double roundFraction(double value, int fractionBits, int lowestExponent,
                     bool truncates) {
  if (value == 0 || !std::isfinite(value))
    return value;
  double last =
      std::ldexp(1, std::max(std::ilogb(value), lowestExponent) - fractionBits);
  double units = value / last;
  return (truncates ? std::trunc(units) : std::nearbyint(units)) * last;
}

class Element {
public:
  Element(const Mma &mma, const Rule &rule) : d(mma.d), rule(rule) {}

  double add(std::vector<Mma::Factors> factors, double c);

private:
  double addChunk(const std::vector<Mma::Factors> &chunk, double c);
  double round(double sum) const;

  const Description &d;
  const Rule &rule;
};

} // namespace

double Element::round(double sum) const {
  double limit = d.c == "f16" ? 0x1p16 : 0x1p128;
  sum = d.c == "f16" ? roundFraction(sum, 10, -14, false)
                     : roundFraction(sum, rule.fractionBits, -126, true);
  if (std::fabs(sum) >= limit)
    return std::copysign(HUGE_VAL, sum);
  return sum;
}

double Element::addChunk(const std::vector<Mma::Factors> &chunk, double c) {
  struct Term {
    double value;
    int exponent;
  };
  std::vector<Term> terms;
  double special = c;
  for (auto [x, y, scaleA, scaleB] : chunk)
    special += x * y * scaleA * scaleB;
  if (!std::isfinite(special))
    return special;
  if (c != 0)
    terms.push_back({c, getExponent(c, d.c)});
  // The factors are f16, with TwoHalves.
  std::string a = rule.hasHalves ? "f16" : d.a,
              b = rule.hasHalves ? "f16" : d.b;
  unsigned group = d.slotBits == 4 ? 16 : 1;
  for (unsigned first = 0; first != chunk.size(); first += group) {
    double value = 0;
    bool isZero = true;
    for (unsigned i = first; i != first + group; ++i) {
      double product = chunk[i].x * chunk[i].y;
      isZero &= product == 0;
      value += product;
    }
    const Mma::Factors &factors = chunk[first];
    if (isZero || factors.scaleA == 0 || factors.scaleB == 0)
      continue;
    int exponent = 0;
    if (group == 1)
      exponent = getExponent(factors.x, a) + getExponent(factors.y, b);
    if (d.scaleVec)
      exponent += getExponent(factors.scaleA, d.scale) +
                  getExponent(factors.scaleB, d.scale);
    terms.push_back({value * factors.scaleA * factors.scaleB, exponent});
  }
  int largest = d.c == "f16" ? rule.floorF16 : rule.floorF32;
  for (const Term &term : terms)
    largest = std::max(largest, term.exponent);
  double sum = 0;
  for (const Term &term : terms)
    sum += std::trunc(std::ldexp(term.value, rule.alignedBits - largest));
  return round(std::ldexp(sum, largest - rule.alignedBits));
}

double Element::add(std::vector<Mma::Factors> factors, double c) {
  double sum = rule.hasHalves ? 0 : c;
  if (rule.hasHalves) {
    std::vector<Mma::Factors> ordered;
    for (unsigned half : {0, 1})
      for (unsigned k = 0; k != factors.size(); ++k)
        if (k % 4 / 2 == half)
          ordered.push_back(factors[k]);
    factors = ordered;
  }
  for (size_t begin = 0; begin < factors.size(); begin += rule.chunk) {
    size_t end = std::min<size_t>(begin + rule.chunk, factors.size());
    sum = addChunk({factors.begin() + begin, factors.begin() + end}, sum);
  }
  if (!rule.hasHalves)
    return sum;
  if (d.c == "f32")
    return static_cast<float>(sum + c);
  sum = roundFraction(sum + c, 10, -14, false);
  return std::fabs(sum) >= 0x1p16 ? std::copysign(HUGE_VAL, sum) : sum;
}

/// f64 has its own test.
static bool isFloat(const Description &d) {
  return d.c == "f32" || d.c == "f16";
}

static void expectAll(const Mma &mma, unsigned target) {
  const Description &d = mma.d;
  Rule rule = getRule(d, target);
  for (unsigned m = 0; m != d.m; ++m)
    for (unsigned n = 0; n != 8; ++n) {
      double sum = Element(mma, rule).add(mma.getFactors(m, n), mma.getC(m, n));
      uint64_t bits = mma.getD(m, n);
      if (std::isnan(sum))
        ASSERT_EQ(bits, getNaN(d.c)) << mma.text << " on " << target;
      else
        ASSERT_EQ(decodeElement(d.c, bits), sum)
            << mma.text << " on " << target << " at " << m << ", " << n;
    }
}

TEST(AdderRulesTest, EveryFormOnEveryTargetAgreesWithTheModel) {
  static const std::pair<unsigned, const char *> targets[] = {
      {80, "sm_80"},    {86, "sm_86"},    {87, "sm_87"},    {89, "sm_89"},
      {90, "sm_90a"},   {100, "sm_100a"}, {103, "sm_103a"}, {110, "sm_110a"},
      {120, "sm_120a"}, {121, "sm_121a"}};
  std::mt19937 random(7);
  for (const std::string &text : listInstructions()) {
    Mma mma(text);
    for (auto [target, name] : targets) {
      if (!isOnTarget(*mma.form, name))
        continue;
      const AdderRule *rule =
          findAdderRule(MatrixUnit::Warp, target, *mma.form);
      // Sums of integers are exact.
      ASSERT_EQ(rule != nullptr, mma.d.c != "s32") << text << " on " << name;
      if (!isFloat(mma.d))
        continue;
      mma.randomize(random, /*withSpecials=*/random() % 2);
      ASSERT_FALSE(mma.run(target).error);
      expectAll(mma, target);
    }
  }
}

TEST(AdderRulesTest, ThereIsNoneBelowSm80) {
  Mma mma("sync.aligned.m16n8k8.row.col.f32.f16.f16.f32");
  EXPECT_FALSE(findAdderRule(MatrixUnit::Warp, 75, *mma.form));
  EXPECT_FALSE(findAdderRule(MatrixUnit::Warpgroup, 100, *mma.form));
  EXPECT_TRUE(findAdderRule(MatrixUnit::Warpgroup, 90, *mma.form));
  EXPECT_TRUE(findAdderRule(MatrixUnit::Tensor, 103, *mma.form));
}
