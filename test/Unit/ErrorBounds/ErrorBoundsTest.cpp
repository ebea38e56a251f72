//===- ErrorBoundsTest.cpp - Tests of bounds of whole functions -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What --compare takes and what it refuses: results that a right device may
// have, and those beside them.
//
//===----------------------------------------------------------------------===//

#include "IntervalTesting.h"
#include "blockscale/Driver/Comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::blockscale;

/// A product of which nothing is left but acc, of type tensor<1x2xf32>, so that
/// its bound is 32 * 2^-22 * |acc| = |acc| * 2^-17 and its value %acc.
static std::string makeProgram(const std::string &results,
                               const std::string &tail) {
  return "func.func @main(%acc: tensor<1x2xf32>) -> " + results + R"mlir( {
    %x = arith.constant dense<0.0> : tensor<1x32xf8E4M3FN>
    %y = arith.constant dense<0.0> : tensor<32x2xf8E4M3FN>
    %s = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
    %t = arith.constant dense<1.0> : tensor<1x2xf8E8M0FNU>
    %c = blockscale.mma_scaled %x, %s, %y, %t, %acc
         : tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>,
           tensor<32x2xf8E4M3FN>, tensor<1x2xf8E8M0FNU>, tensor<1x2xf32>
)mlir" + tail +
         "\n}\n";
}

static Reference compute(const std::string &text, std::vector<float> argument,
                         std::vector<int64_t> shape = {1, 2}) {
  std::unique_ptr<Program> program = parseText(text);
  FailureOr<Reference> reference = computeReference(
      *program, "main", {makeArray(DType::F4, shape, argument)});
  EXPECT_TRUE(succeeded(reference));
  return succeeded(reference) ? *reference : Reference();
}

template <typename T>
static bool accepts(const Reference &reference, DType dtype,
                    const std::vector<T> &values) {
  std::string lines;
  return !compareResults(
      reference, {makeArray(dtype, reference.results[0].value.shape, values)},
      lines);
}

static bool accepts(const Reference &reference, std::vector<float> values) {
  return accepts(reference, DType::F4, values);
}

TEST(ErrorBoundsTest, Product) {
  Reference reference = compute(
      makeProgram("tensor<1x2xf32>", "return %c : tensor<1x2xf32>"), {1, -2});
  float bound = 0x1p-17f;
  EXPECT_TRUE(accepts(reference, {1 + bound, -2 - 2 * bound}));
  EXPECT_TRUE(accepts(reference, {1 - bound, -2 + 2 * bound}));
  EXPECT_FALSE(accepts(reference, {1 + 1.01f * bound, -2}));
  EXPECT_FALSE(accepts(reference, {1, -2 - 2.1f * bound}));
  EXPECT_FALSE(accepts(reference, {NAN, -2}));
}

TEST(ErrorBoundsTest, NoProductIsComparedThatMayOverflow) {
  std::string text =
      makeProgram("tensor<1x2xf32>", "return %c : tensor<1x2xf32>");
  Reference reference = compute(text, {0x1.8p126f, NAN});
  EXPECT_TRUE(accepts(reference, {INFINITY, NAN}));
  EXPECT_FALSE(accepts(reference, {INFINITY, 0}));
}

/// 1 + 2^-11 lies between the f16 1 and 1 + 2^-10; 1 + 2^-12 does not, nor is
/// its bound, 2^-17, that large.
TEST(ErrorBoundsTest, OneStepWhereABorderIsCrossed) {
  Reference reference = compute(makeProgram("tensor<1x2xf16>", R"mlir(
    %h = arith.truncf %c : tensor<1x2xf32> to tensor<1x2xf16>
    return %h : tensor<1x2xf16>)mlir"),
                                {1 + 0x1p-11f, 1 + 0x1p-12f});
  uint16_t one = 0x3C00, above = 0x3C01, below = 0x3BFF, two = 0x3C02;
  using Halves = std::vector<uint16_t>;
  EXPECT_TRUE(accepts(reference, DType::F2, Halves{one, one}));
  EXPECT_TRUE(accepts(reference, DType::F2, Halves{above, one}));
  EXPECT_FALSE(accepts(reference, DType::F2, Halves{below, one}));
  EXPECT_FALSE(accepts(reference, DType::F2, Halves{two, one}));
  EXPECT_FALSE(accepts(reference, DType::F2, Halves{one, above}));
}

TEST(ErrorBoundsTest, OneStepOfBFloat16) {
  Reference reference = compute(makeProgram("tensor<1x2xbf16>", R"mlir(
    %h = arith.truncf %c : tensor<1x2xf32> to tensor<1x2xbf16>
    return %h : tensor<1x2xbf16>)mlir"),
                                {1 + 0x1p-8f, 1 + 0x1p-9f});
  using Halves = std::vector<uint16_t>;
  EXPECT_TRUE(accepts(reference, DType::U2, Halves{0x3F80, 0x3F80}));
  EXPECT_TRUE(accepts(reference, DType::U2, Halves{0x3F81, 0x3F80}));
  EXPECT_FALSE(accepts(reference, DType::U2, Halves{0x3F80, 0x3F81}));
  EXPECT_FALSE(accepts(reference, DType::U2, Halves{0x3F7F, 0x3F80}));
}

/// An f16 that may be two values, times itself in a second product: that of an
/// inexact operand.
TEST(ErrorBoundsTest, InexactOperands) {
  Reference reference = compute(makeProgram("tensor<2x2xf32>", R"mlir(
    %h = arith.truncf %c : tensor<1x2xf32> to tensor<1x2xf16>
    %e = tensor.empty() : tensor<2x1xf16>
    %u = linalg.transpose ins(%h : tensor<1x2xf16>) outs(%e : tensor<2x1xf16>)
         permutation = [1, 0]
    %z = arith.constant dense<0.0> : tensor<2x2xf32>
    %p = linalg.matmul ins(%u, %h : tensor<2x1xf16>, tensor<1x2xf16>)
         outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
    return %p : tensor<2x2xf32>)mlir"),
                                {1 + 0x1p-11f, 1 + 0x1p-12f});
  float above = 1 + 0x1p-10f;
  EXPECT_TRUE(accepts(reference, {1, 1, 1, 1}));
  EXPECT_TRUE(accepts(reference, {above * above, above, above, 1}));
  EXPECT_FALSE(accepts(reference, {1, 1, 1, above}));
  EXPECT_FALSE(accepts(reference, {1, above * above, 1, 1}));
}

/// Elements and scales that a device may choose otherwise, in a second product,
/// the scales through their layout. 2 and 8 are the products of the smaller and
/// of the larger ones where the choice is open, and 8 where it is not.
TEST(ErrorBoundsTest, InexactCodesAndScales) {
  Reference reference = compute(makeProgram("tensor<2x1xf32>", R"mlir(
    %one = arith.constant dense<1.0> : tensor<1x2xf32>
    %isLarge = arith.cmpf oge, %c, %one : tensor<1x2xf32>
    %large = arith.constant dense<2.0> : tensor<1x2xf8E4M3FN>
    %small = arith.constant dense<1.0> : tensor<1x2xf8E4M3FN>
    %q = arith.select %isLarge, %large, %small
         : tensor<1x2xi1>, tensor<1x2xf8E4M3FN>
    %sl = arith.constant dense<2.0> : tensor<1x2xf8E8M0FNU>
    %ss = arith.constant dense<1.0> : tensor<1x2xf8E8M0FNU>
    %qs = arith.select %isLarge, %sl, %ss
          : tensor<1x2xi1>, tensor<1x2xf8E8M0FNU>
    %xe = tensor.empty() : tensor<2x1xf8E4M3FN>
    %xt = linalg.transpose ins(%q : tensor<1x2xf8E4M3FN>)
          outs(%xe : tensor<2x1xf8E4M3FN>) permutation = [1, 0]
    %se = tensor.empty() : tensor<2x1xf8E8M0FNU>
    %st = linalg.transpose ins(%qs : tensor<1x2xf8E8M0FNU>)
          outs(%se : tensor<2x1xf8E8M0FNU>) permutation = [1, 0]
    %sw = blockscale.swizzle_scales %st
          : tensor<2x1xf8E8M0FNU> to tensor<1x1x32x16xf8E8M0FNU>
    %su = blockscale.unswizzle_scales %sw
          : tensor<1x1x32x16xf8E8M0FNU> to tensor<2x1xf8E8M0FNU>
    %zeros = arith.constant dense<0.0> : tensor<2x32xf8E4M3FN>
    %x2 = tensor.insert_slice %xt into %zeros[0, 0] [2, 1] [1, 1]
          : tensor<2x1xf8E4M3FN> into tensor<2x32xf8E4M3FN>
    %y2 = arith.constant dense<2.0> : tensor<32x1xf8E4M3FN>
    %t2 = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
    %acc2 = arith.constant dense<0.0> : tensor<2x1xf32>
    %d = blockscale.mma_scaled %x2, %su, %y2, %t2, %acc2
         : tensor<2x32xf8E4M3FN>, tensor<2x1xf8E8M0FNU>,
           tensor<32x1xf8E4M3FN>, tensor<1x1xf8E8M0FNU>, tensor<2x1xf32>
    return %d : tensor<2x1xf32>)mlir"),
                                {1, 3});
  EXPECT_TRUE(reference.results[0].unknownThrough.empty())
      << reference.results[0].unknownThrough;
  EXPECT_TRUE(accepts(reference, {8, 8}));
  EXPECT_TRUE(accepts(reference, {2, 8}));
  EXPECT_FALSE(accepts(reference, {1.99f, 8}));
  EXPECT_FALSE(accepts(reference, {8.01f, 8}));
  EXPECT_FALSE(accepts(reference, {8, 2}));
}

/// What 64 equal terms of the magnitude `term` and one sign may lose: two
/// blocks of 32, in each of which all of them are too small beside their sum.
static double getLicensedError(double term) {
  double error = 0;
  for (double sum : {32 * term, 64 * term})
    error += 0x1p-13 * (1 + 0x1p-7) * (sum + error) * (4 + 32);
  return error;
}

/// Scales of f32 for blocks of 64, which end sums: of K = 128, two pieces.
TEST(ErrorBoundsTest, LicensedSumsOfCoarseScales) {
  Reference reference = compute(R"mlir(
    func.func @main(%acc: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %x = arith.constant dense<1.0> : tensor<1x128xf8E4M3FN>
      %y = arith.constant dense<1.0> : tensor<128x2xf8E4M3FN>
      %s = arith.constant dense<[[3.0, -5.0]]> : tensor<1x2xf32>
      %t = arith.constant dense<[[0.7]]> : tensor<1x1xf32>
      %d = blockscale.mma_scaled %x, %s, %y, %t, %acc
           {x_scale_block = #blockscale.scale_block<rows = 1, k = 64>,
            y_scale_block = #blockscale.scale_block<rows = all, k = all>,
            accumulate = #blockscale.accumulate<chunk = 128>}
           : tensor<1x128xf8E4M3FN>, tensor<1x2xf32>,
             tensor<128x2xf8E4M3FN>, tensor<1x1xf32>, tensor<1x2xf32>
      return %d : tensor<1x2xf32>
    })mlir",
                                {0, 1});
  double scale = 0.7f;
  double lost = getLicensedError(3 * scale) + getLicensedError(5 * scale);
  double magnitude = 64 * 8 * scale + lost;
  for (int i : {0, 1}) {
    double sum = i - 2 * 64 * scale;
    double bound = lost + 128 * 0x1p-22 * (magnitude + i);
    auto at = [&](double error) {
      std::vector<float> values = {static_cast<float>(-2 * 64 * scale),
                                   static_cast<float>(1 - 2 * 64 * scale)};
      values[i] = static_cast<float>(sum + error);
      return values;
    };
    EXPECT_TRUE(accepts(reference, at(0.9999 * bound)));
    EXPECT_TRUE(accepts(reference, at(-0.9999 * bound)));
    EXPECT_FALSE(accepts(reference, at(1.0001 * bound)));
    EXPECT_FALSE(accepts(reference, at(-1.0001 * bound)));
  }
}

/// A product has its own licence, also beside one that has another.
TEST(ErrorBoundsTest, TheLicenceIsThatOfOneOp) {
  Reference reference = compute(R"mlir(
    func.func @main(%acc: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %x = arith.constant dense<1.0> : tensor<1x32xf8E4M3FN>
      %y = arith.constant dense<1.0> : tensor<32x1xf8E4M3FN>
      %s = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
      %z = arith.constant dense<0.0> : tensor<1x1xf32>
      %a = blockscale.mma_scaled %x, %s, %y, %s, %z
           : tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>,
             tensor<32x1xf8E4M3FN>, tensor<1x1xf8E8M0FNU>, tensor<1x1xf32>
      %b = blockscale.mma_scaled %x, %s, %y, %s, %z
           {accumulate = #blockscale.accumulate<chunk = 32>}
           : tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>,
             tensor<32x1xf8E4M3FN>, tensor<1x1xf8E8M0FNU>, tensor<1x1xf32>
      %ab = tensor.concat dim(1) %a, %b
            : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x2xf32>
      return %ab : tensor<1x2xf32>
    })mlir",
                                {0, 0});
  // 36 * 2^-13 * (1 + 2^-7) * 32, and 2^-12 of f32, is 0.1420.
  EXPECT_TRUE(accepts(reference, {32, 32.14f}));
  EXPECT_TRUE(accepts(reference, {32, 31.86f}));
  EXPECT_FALSE(accepts(reference, {32, 32.15f}));
  EXPECT_FALSE(accepts(reference, {32.01f, 32}));
}

TEST(ErrorBoundsTest, Elementwise) {
  Reference reference = compute(makeProgram("tensor<1x2xf32>", R"mlir(
    %three = arith.constant dense<3.0> : tensor<1x2xf32>
    %d = arith.divf %c, %three : tensor<1x2xf32>
    %e = tensor.empty() : tensor<1x2xf32>
    %a = linalg.add ins(%d, %acc : tensor<1x2xf32>, tensor<1x2xf32>)
         outs(%e : tensor<1x2xf32>) -> tensor<1x2xf32>
    %r = linalg.map { math.absf } ins(%a : tensor<1x2xf32>)
         outs(%e : tensor<1x2xf32>)
    return %r : tensor<1x2xf32>)mlir"),
                                {3, -3});
  EXPECT_TRUE(reference.results[0].unknownThrough.empty());
  EXPECT_TRUE(accepts(reference, {4 + 0x1p-17f, 4 - 0x1p-17f}));
  EXPECT_FALSE(accepts(reference, {4 + 0x1.2p-17f, 4}));
  EXPECT_FALSE(accepts(reference, {4, 4 - 0x1.2p-17f}));
}

TEST(ErrorBoundsTest, Reductions) {
  Reference reference = compute(makeProgram("tensor<1xf32>", R"mlir(
    %z = arith.constant dense<0.0> : tensor<1xf32>
    %r = linalg.reduce { arith.addf } ins(%c : tensor<1x2xf32>)
         outs(%z : tensor<1xf32>) dimensions = [1]
    return %r : tensor<1xf32>)mlir"),
                                {1, 2});
  // 3 * 2^-17 of the product, and 2 * 3 * 2^-24 of the sum.
  double bound = 3 * 0x1p-17 + 6 * 0x1p-24;
  EXPECT_TRUE(accepts(reference, {static_cast<float>(3 + 0.99 * bound)}));
  EXPECT_FALSE(accepts(reference, {static_cast<float>(3 + 1.02 * bound)}));

  reference = compute(makeProgram("tensor<1xf32>", R"mlir(
    %z = arith.constant dense<0.0> : tensor<1xf32>
    %r = linalg.reduce { arith.maximumf } ins(%c : tensor<1x2xf32>)
         outs(%z : tensor<1xf32>) dimensions = [1]
    return %r : tensor<1xf32>)mlir"),
                      {1, 2});
  EXPECT_TRUE(accepts(reference, {2 + 0x1p-16f}));
  EXPECT_FALSE(accepts(reference, {2 + 0x1.1p-16f}));
}

TEST(ErrorBoundsTest, FunctionsOfExactValues) {
  Reference reference = compute(R"mlir(
  func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
    %e = math.exp %x : tensor<1x2xf32>
    return %e : tensor<1x2xf32>
  })mlir",
                                {0, 1});
  float one = 1 + 4 * 0x1p-23f, e = std::exp(1.0f) * (1 - 4 * 0x1p-24f);
  EXPECT_TRUE(accepts(reference, {one, e}));
  EXPECT_FALSE(accepts(reference, {1 + 5 * 0x1p-23f, e}));
  EXPECT_FALSE(accepts(reference, {1, std::exp(1.0f) * (1 - 9 * 0x1p-23f)}));
}

/// exp(x - max) / sum of them.
TEST(ErrorBoundsTest, Softmax) {
  Reference reference = compute(R"mlir(
  func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %e = tensor.empty() : tensor<1x4xf32>
    %s = linalg.softmax dimension(1) ins(%x : tensor<1x4xf32>)
         outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
    return %s : tensor<1x4xf32>
  })mlir",
                                {0, 1, 2, 3}, {1, 4});
  EXPECT_TRUE(reference.results[0].unknownThrough.empty());
  auto values = getValues<float>(reference.results[0].value);
  EXPECT_NEAR(values[3], 0.643914, 1e-6);
  auto change = [&](float by) {
    std::vector<float> changed = values;
    changed[3] *= by;
    return changed;
  };
  EXPECT_TRUE(accepts(reference, change(1 + 8 * 0x1p-23f)));
  EXPECT_FALSE(accepts(reference, change(1 + 32 * 0x1p-23f)));
}

/// A block of which 3 values are `values` and the others 0, each times 1 and
/// 2^-17, by a product of which nothing is left but acc.
static Reference computeBlock(const std::string &results,
                              const std::string &tail,
                              std::vector<float> values) {
  std::string text = "func.func @main(%acc: tensor<1x32xf32>) -> " + results +
                     R"mlir( {
    %x = arith.constant dense<0.0> : tensor<1x32xf8E4M3FN>
    %y = arith.constant dense<0.0> : tensor<32x32xf8E4M3FN>
    %s = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
    %t = arith.constant dense<1.0> : tensor<1x32xf8E8M0FNU>
    %n = blockscale.mma_scaled %x, %s, %y, %t, %acc
         : tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>,
           tensor<32x32xf8E4M3FN>, tensor<1x32xf8E8M0FNU>, tensor<1x32xf32>
)mlir" + tail + "\n}\n";
  values.resize(32);
  return compute(text, values, {1, 32});
}

static constexpr const char *kQuantize = R"mlir(
    %c, %cs = blockscale.quantize %n {block_size = 32 : i64}
        : tensor<1x32xf32> to tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>
)mlir";

using Bytes = std::vector<uint8_t>;

/// Changes one code by some steps.
static bool acceptsSteps(const Reference &reference, unsigned index,
                         int steps) {
  auto bytes = getValues<uint8_t>(reference.results[0].value);
  bytes[index] = static_cast<uint8_t>(bytes[index] + steps);
  return accepts(reference, DType::U1, bytes);
}

/// 1.0625 lies between the codes of 1 and 1.125, and 1 between none.
TEST(ErrorBoundsTest, OneStepOfCodes) {
  Reference reference =
      computeBlock("tensor<1x32xf8E4M3FN>",
                   std::string(kQuantize) + "return %c : tensor<1x32xf8E4M3FN>",
                   {416, 1.0625f, 1});
  EXPECT_TRUE(reference.results[0].unknownThrough.empty());
  EXPECT_TRUE(acceptsSteps(reference, 1, 0));
  EXPECT_TRUE(acceptsSteps(reference, 1, 1));
  EXPECT_FALSE(acceptsSteps(reference, 1, -1));
  EXPECT_FALSE(acceptsSteps(reference, 1, 2));
  EXPECT_FALSE(acceptsSteps(reference, 2, 1));
  EXPECT_FALSE(acceptsSteps(reference, 2, -1));
  EXPECT_FALSE(acceptsSteps(reference, 0, 1));
  EXPECT_FALSE(acceptsSteps(reference, 3, 1));
}

/// 448 is the largest number of a scale of 1: what is a little larger has 2.
TEST(ErrorBoundsTest, ScalesAndTheirCodes) {
  Reference scales = computeBlock(
      "tensor<1x1xf8E8M0FNU>",
      std::string(kQuantize) + "return %cs : tensor<1x1xf8E8M0FNU>", {448, 8});
  EXPECT_TRUE(accepts(scales, DType::U1, Bytes{127}));
  EXPECT_TRUE(accepts(scales, DType::U1, Bytes{128}));
  EXPECT_FALSE(accepts(scales, DType::U1, Bytes{126}));
  EXPECT_FALSE(accepts(scales, DType::U1, Bytes{129}));
  EXPECT_FALSE(accepts(scales, DType::U1, Bytes{255}));

  // 8 or, with the other scale, 4.
  Reference quantized = computeBlock(
      "tensor<1x32xf8E4M3FN>",
      std::string(kQuantize) + "return %c : tensor<1x32xf8E4M3FN>", {448, 8});
  EXPECT_TRUE(acceptsSteps(quantized, 1, -8));
  EXPECT_FALSE(acceptsSteps(quantized, 1, -9));
  EXPECT_FALSE(acceptsSteps(quantized, 1, 1));

  Reference dequantized =
      computeBlock("tensor<1x32xf32>", std::string(kQuantize) + R"mlir(
    %d = blockscale.dequantize %c, %cs : tensor<1x32xf8E4M3FN>,
         tensor<1x1xf8E8M0FNU> to tensor<1x32xf32>
    return %d : tensor<1x32xf32>)mlir",
                   {448, 8});
  EXPECT_TRUE(dequantized.results[0].unknownThrough.empty());
  auto accepts8 = [&](float number) {
    auto values = getValues<float>(dequantized.results[0].value);
    values[1] = number;
    return accepts(dequantized, values);
  };
  // The interval, which does not know that elements and scale go together, has
  // 4 to 16; the probes tell that no error comes to that.
  EXPECT_TRUE(accepts8(8));
  EXPECT_FALSE(accepts8(4));
  EXPECT_FALSE(accepts8(16));
  dequantized.results[0].probes.clear();
  EXPECT_TRUE(accepts8(4));
  EXPECT_TRUE(accepts8(16));
  EXPECT_FALSE(accepts8(17));
  EXPECT_FALSE(accepts8(3.5));
}

/// Of a block with NaN, all is known.
TEST(ErrorBoundsTest, ScalesThatAreNaN) {
  Reference quantized = computeBlock(
      "tensor<1x32xf8E4M3FN>",
      std::string(kQuantize) + "return %c : tensor<1x32xf8E4M3FN>", {NAN, 8});
  EXPECT_TRUE(acceptsSteps(quantized, 1, 0));
  EXPECT_FALSE(acceptsSteps(quantized, 1, 1));
}

/// Scales of ue4m3 from none, beside which elements are 0, by the least one to
/// larger ones: what is left of 4000 is at most 2^-17 of it.
TEST(ErrorBoundsTest, ScalesThatMayBeZero) {
  const char *quantize = R"mlir(
    %k = arith.constant sparse<[[0, 0]], [4000.0]> : tensor<1x32xf32>
    %l = arith.subf %n, %k : tensor<1x32xf32>
    %c, %cs = blockscale.quantize %l {block_size = 16 : i64}
        : tensor<1x32xf32> to tensor<1x32xf4E2M1FN>, tensor<1x2xf8E4M3FN>
    return %c : tensor<1x32xf4E2M1FN>)mlir";
  Reference quantized =
      computeBlock("tensor<1x32xf4E2M1FN>", quantize, {4000, 0x1p-9f});
  Bytes bytes(32);
  EXPECT_TRUE(accepts(quantized, DType::U1, bytes));
  bytes[1] = 2; // 1, over the least scale of 2^-9.
  EXPECT_TRUE(accepts(quantized, DType::U1, bytes));
  bytes[1] = 3;
  EXPECT_FALSE(accepts(quantized, DType::U1, bytes));
}

/// A product of inexact quantized elements.
TEST(ErrorBoundsTest, ProductsOfQuantized) {
  Reference reference =
      computeBlock("tensor<1x1xf32>", std::string(kQuantize) + R"mlir(
    %w = arith.constant dense<1.0> : tensor<32x1xf8E4M3FN>
    %ws = arith.constant dense<1.0> : tensor<1x1xf8E8M0FNU>
    %z = arith.constant dense<0.0> : tensor<1x1xf32>
    %p = blockscale.mma_scaled %c, %cs, %w, %ws, %z
         : tensor<1x32xf8E4M3FN>, tensor<1x1xf8E8M0FNU>,
           tensor<32x1xf8E4M3FN>, tensor<1x1xf8E8M0FNU>, tensor<1x1xf32>
    return %p : tensor<1x1xf32>)mlir",
                   {416, 1.0625f, 1});
  EXPECT_TRUE(accepts(reference, {418}));
  EXPECT_TRUE(accepts(reference, {418.125f}));
  EXPECT_FALSE(accepts(reference, {418.25f}));
  EXPECT_FALSE(accepts(reference, {417.875f}));
}

/// Two products with codes between them, of a long K: the intervals of the
/// second one admit results that are too small by a quarter. What sums
/// of f32 come to has none, nor for wrong factors and wrong rows.
TEST(ErrorBoundsTest, ChainsOfProducts) {
  constexpr int64_t m = 4, k = 8192;
  std::vector<float> values;
  for (int64_t i = 0; i != m * k; ++i)
    values.push_back(std::sin(0.37f * i * i));
  Reference reference = compute(R"mlir(
    func.func @main(%n: tensor<4x8192xf32>) -> tensor<4x4xf32> {
      %x, %xs = blockscale.quantize %n {block_size = 32 : i64}
          : tensor<4x8192xf32> to tensor<4x8192xf8E4M3FN>, tensor<4x256xf8E8M0FNU>
      %slice = tensor.extract_slice %n[0, 0] [4, 32] [1, 1]
          : tensor<4x8192xf32> to tensor<4x32xf32>
      %w = tensor.expand_shape %n [[0], [1, 2]] output_shape [4, 256, 32]
          : tensor<4x8192xf32> into tensor<4x256x32xf32>
      %w2 = tensor.collapse_shape %w [[0, 1], [2]]
          : tensor<4x256x32xf32> into tensor<1024x32xf32>
      %c, %cs = blockscale.quantize %w2 {block_size = 32 : i64}
          : tensor<1024x32xf32> to tensor<1024x32xf8E4M3FN>, tensor<1024x1xf8E8M0FNU>
      %y = tensor.concat dim(0) %c, %c, %c, %c, %c, %c, %c, %c
          : (tensor<1024x32xf8E4M3FN>, tensor<1024x32xf8E4M3FN>, tensor<1024x32xf8E4M3FN>,
             tensor<1024x32xf8E4M3FN>, tensor<1024x32xf8E4M3FN>, tensor<1024x32xf8E4M3FN>,
             tensor<1024x32xf8E4M3FN>, tensor<1024x32xf8E4M3FN>) -> tensor<8192x32xf8E4M3FN>
      %ys = arith.constant dense<1.0> : tensor<256x32xf8E8M0FNU>
      %z = arith.constant dense<0.0> : tensor<4x32xf32>
      %h = blockscale.mma_scaled %x, %xs, %y, %ys, %z
          : tensor<4x8192xf8E4M3FN>, tensor<4x256xf8E8M0FNU>, tensor<8192x32xf8E4M3FN>,
            tensor<256x32xf8E8M0FNU>, tensor<4x32xf32>
      %q, %qs = blockscale.quantize %h {block_size = 32 : i64}
          : tensor<4x32xf32> to tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
      %v, %vs = blockscale.quantize %slice {block_size = 32 : i64}
          : tensor<4x32xf32> to tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
      %e = tensor.empty() : tensor<32x4xf8E4M3FN>
      %vt = linalg.transpose ins(%v : tensor<4x32xf8E4M3FN>) outs(%e : tensor<32x4xf8E4M3FN>)
          permutation = [1, 0]
      %es = tensor.empty() : tensor<1x4xf8E8M0FNU>
      %vst = linalg.transpose ins(%vs : tensor<4x1xf8E8M0FNU>) outs(%es : tensor<1x4xf8E8M0FNU>)
          permutation = [1, 0]
      %z2 = arith.constant dense<0.0> : tensor<4x4xf32>
      %d = blockscale.mma_scaled %q, %qs, %vt, %vst, %z2
          : tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>, tensor<32x4xf8E4M3FN>,
            tensor<1x4xf8E8M0FNU>, tensor<4x4xf32>
      return %d : tensor<4x4xf32>
    })mlir",
                                values, {m, k});
  auto right = getValues<float>(reference.results[0].value);
  ASSERT_EQ(right.size(), size_t(m * 4));
  auto scaled = [&](float factor) {
    std::vector<float> values = right;
    for (float &value : values)
      value *= factor;
    return values;
  };
  std::vector<float> swapped = right;
  std::swap_ranges(swapped.begin(), swapped.begin() + 4, swapped.begin() + 4);
  Reference unprobed = reference;
  ASSERT_EQ(reference.results[0].probes.size(), 4u);
  unprobed.results[0].probes.clear();
  EXPECT_TRUE(accepts(unprobed, scaled(0.75f)));
  EXPECT_TRUE(accepts(reference, right));
  EXPECT_TRUE(accepts(reference, scaled(1 + 0x1p-20f)));
  for (const auto &wrong : {scaled(0x1p-7f), scaled(0), scaled(0.75f), swapped})
    EXPECT_FALSE(accepts(reference, wrong));
}

/// A scalar behind a product.
TEST(ErrorBoundsTest, Scalars) {
  Reference reference = compute(makeProgram("f32", R"mlir(
    %zero = arith.constant 0 : index
    %two = arith.constant 2.0 : f32
    %e = tensor.extract %c[%zero, %zero] : tensor<1x2xf32>
    %r = arith.mulf %e, %two : f32
    return %r : f32)mlir"),
                                {1, 5});
  EXPECT_TRUE(reference.results[0].unknownThrough.empty());
  EXPECT_TRUE(accepts(reference, {2 + 0x1p-16f}));
  EXPECT_FALSE(accepts(reference, {2 + 0x1.1p-16f}));
}

TEST(ErrorBoundsTest, ReshapesAndSlices) {
  Reference reference = compute(makeProgram("tensor<2xf32>", R"mlir(
    %s1 = tensor.collapse_shape %c [[0, 1]] : tensor<1x2xf32> into tensor<2xf32>
    %s2 = tensor.extract_slice %s1[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
    %z = arith.constant dense<7.0> : tensor<2xf32>
    %s3 = tensor.insert_slice %s2 into %z[0] [1] [1]
          : tensor<1xf32> into tensor<2xf32>
    return %s3 : tensor<2xf32>)mlir"),
                                {1, 2});
  EXPECT_TRUE(accepts(reference, {2 + 0x1p-16f, 7}));
  EXPECT_FALSE(accepts(reference, {2 + 0x1.1p-16f, 7}));
  EXPECT_FALSE(accepts(reference, {2, 7 + 0x1p-20f}));
}

/// Nothing is compared with a guess: without a rule, results must be equal.
TEST(ErrorBoundsTest, UnknownOps) {
  Reference reference = compute(makeProgram("tensor<1x2xf32>", R"mlir(
    %r = math.atan2 %c, %acc : tensor<1x2xf32>
    return %r : tensor<1x2xf32>)mlir"),
                                {1, 2});
  EXPECT_EQ(reference.results[0].unknownThrough, "math.atan2");
  EXPECT_FALSE(reference.results[0].low);
}
