//===- TranscendentalTest.cpp - Functions that GPUs approximate -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The special values in the tables of the PTX ISA, some known values, and the
// error over ranges of sources against long double.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticTesting.h"

#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static constexpr uint32_t kOne = 0x3F800000, kMinusOne = 0xBF800000,
                          kInfinity = 0x7F800000, kMinusInfinity = 0xFF800000,
                          kNegative = 0x80000000, kNaN = 0x7FFFFFFF;

TEST(TranscendentalTest, ReciprocalRootF32) {
  checkRows(32, {
                    {"rsqrt.approx.f32", {b32(0x40800000)}, 0x3F000000},
                    {"rsqrt.approx.f32", {b32(0x40000000)}, 0x3F3504F3},
                    {"rsqrt.approx.f32", {b32(0x40400000)}, 0x3F13CD3A},
                    {"rsqrt.approx.f32", {b32(kMinusInfinity)}, kNaN},
                    {"rsqrt.approx.f32", {b32(kMinusOne)}, kNaN},
                    {"rsqrt.approx.f32", {b32(kNegative)}, kMinusInfinity},
                    {"rsqrt.approx.f32", {b32(0)}, kInfinity},
                    {"rsqrt.approx.f32", {b32(kInfinity)}, 0},
                    {"rsqrt.approx.f32", {b32(0xFFC00001)}, kNaN},
                    {"rsqrt.approx.f32", {b32(1)}, 0x64B504F3},
                    {"rsqrt.approx.ftz.f32", {b32(1)}, kInfinity},
                    {"rsqrt.approx.f32", {b32(0x80000001)}, kNaN},
                    {"rsqrt.approx.ftz.f32", {b32(0x80000001)}, kMinusInfinity},
                });
}

TEST(TranscendentalTest, SinAndCos) {
  checkRows(32, {
                    {"sin.approx.f32", {b32(kOne)}, 0x3F576AA4},
                    {"sin.approx.f32", {b32(0xC0400000)}, 0xBE1081C3},
                    {"sin.approx.f32", {b32(0x42C80000)}, 0xBF01A12E},
                    {"sin.approx.f32", {b32(kMinusInfinity)}, kNaN},
                    {"sin.approx.f32", {b32(kInfinity)}, kNaN},
                    {"sin.approx.f32", {b32(kNegative)}, kNegative},
                    {"sin.approx.f32", {b32(0)}, 0},
                    {"sin.approx.f32", {b32(0x7F800001)}, kNaN},
                    {"sin.approx.f32", {b32(0x80000001)}, 0x80000001},
                    {"sin.approx.ftz.f32", {b32(0x80000001)}, kNegative},
                    {"cos.approx.f32", {b32(kOne)}, 0x3F0A5140},
                    {"cos.approx.f32", {b32(0x40400000)}, 0xBF7D7026},
                    {"cos.approx.f32", {b32(0x42C80000)}, 0x3F5CC0EE},
                    {"cos.approx.f32", {b32(kMinusInfinity)}, kNaN},
                    {"cos.approx.f32", {b32(kInfinity)}, kNaN},
                    {"cos.approx.f32", {b32(kNegative)}, kOne},
                    {"cos.approx.ftz.f32", {b32(1)}, kOne},
                    {"cos.approx.f32", {b32(0xFF800001)}, kNaN},
                });
}

TEST(TranscendentalTest, Logarithm) {
  checkRows(32, {
                    {"lg2.approx.f32", {b32(0x41000000)}, 0x40400000},
                    {"lg2.approx.f32", {b32(0x40400000)}, 0x3FCAE00D},
                    {"lg2.approx.f32", {b32(0x3F000000)}, kMinusOne},
                    {"lg2.approx.f32", {b32(kOne)}, 0},
                    {"lg2.approx.f32", {b32(kMinusInfinity)}, kNaN},
                    {"lg2.approx.f32", {b32(kMinusOne)}, kNaN},
                    {"lg2.approx.f32", {b32(kNegative)}, kMinusInfinity},
                    {"lg2.approx.f32", {b32(0)}, kMinusInfinity},
                    {"lg2.approx.f32", {b32(kInfinity)}, kInfinity},
                    {"lg2.approx.f32", {b32(0xFFC00000)}, kNaN},
                    {"lg2.approx.f32", {b32(1)}, 0xC3150000},
                    {"lg2.approx.f32", {b32(3)}, 0xC3136A40},
                    {"lg2.approx.ftz.f32", {b32(3)}, kMinusInfinity},
                    {"lg2.approx.f32", {b32(0x80000001)}, kNaN},
                    {"lg2.approx.ftz.f32", {b32(0x80000001)}, kMinusInfinity},
                });
}

TEST(TranscendentalTest, Exponential) {
  checkRows(32, {
                    {"ex2.approx.f32", {b32(0x40400000)}, 0x41000000},
                    {"ex2.approx.f32", {b32(0x3F000000)}, 0x3FB504F3},
                    {"ex2.approx.f32", {b32(0xBF400000)}, 0x3F1837F0},
                    {"ex2.approx.f32", {b32(kMinusInfinity)}, 0},
                    {"ex2.approx.f32", {b32(kNegative)}, kOne},
                    {"ex2.approx.f32", {b32(0)}, kOne},
                    {"ex2.approx.f32", {b32(0x80000001)}, kOne},
                    {"ex2.approx.ftz.f32", {b32(1)}, kOne},
                    {"ex2.approx.f32", {b32(kInfinity)}, kInfinity},
                    {"ex2.approx.f32", {b32(0x7FC00000)}, kNaN},
                    // 127, 128, -126.5, -149, -150.
                    {"ex2.approx.f32", {b32(0x42FE0000)}, 0x7F000000},
                    {"ex2.approx.f32", {b32(0x43000000)}, kInfinity},
                    {"ex2.approx.f32", {b32(0xC2FD0000)}, 0x005A827A},
                    {"ex2.approx.ftz.f32", {b32(0xC2FD0000)}, 0},
                    {"ex2.approx.f32", {b32(0xC3150000)}, 1},
                    {"ex2.approx.f32", {b32(0xC3160000)}, 0},
                });
  checkRows(16, {
                    {"ex2.approx.f16", {b16(0x4200)}, 0x4800},
                    {"ex2.approx.f16", {b16(0x3800)}, 0x3DA8},
                    {"ex2.approx.f16", {b16(0xFC00)}, 0},
                    {"ex2.approx.f16", {b16(0x8000)}, 0x3C00},
                    {"ex2.approx.f16", {b16(0x0001)}, 0x3C00},
                    {"ex2.approx.f16", {b16(0x7C00)}, 0x7C00},
                    {"ex2.approx.f16", {b16(0xFE00)}, 0x7FFF},
                    // 15, 16, -14.5, -24, -25.
                    {"ex2.approx.f16", {b16(0x4B80)}, 0x7800},
                    {"ex2.approx.f16", {b16(0x4C00)}, 0x7C00},
                    {"ex2.approx.f16", {b16(0xCB40)}, 0x02D4},
                    {"ex2.approx.f16", {b16(0xCE00)}, 1},
                    {"ex2.approx.f16", {b16(0xCE40)}, 0},
                    {"ex2.approx.ftz.bf16", {b16(0x4040)}, 0x4100},
                    {"ex2.approx.ftz.bf16", {b16(0x3F00)}, 0x3FB5},
                    {"ex2.approx.ftz.bf16", {b16(0xFF80)}, 0},
                    {"ex2.approx.ftz.bf16", {b16(0x8001)}, 0x3F80},
                    {"ex2.approx.ftz.bf16", {b16(0x7F80)}, 0x7F80},
                    {"ex2.approx.ftz.bf16", {b16(0x7F81)}, 0x7FFF},
                    // -126, -127.
                    {"ex2.approx.ftz.bf16", {b16(0xC2FC)}, 0x0080},
                    {"ex2.approx.ftz.bf16", {b16(0xC2FE)}, 0},
                });
  checkRows(32, {
                    {"ex2.approx.f16x2", {b32(0xBC004200)}, 0x38004800},
                    {"ex2.approx.ftz.bf16x2", {b32(0xC2FE4040)}, 0x00004100},
                });
}

TEST(TranscendentalTest, Tanh) {
  checkRows(32, {
                    {"tanh.approx.f32", {b32(kOne)}, 0x3F42F7D6},
                    {"tanh.approx.f32", {b32(0xBE800000)}, 0xBE7ACBF5},
                    {"tanh.approx.f32", {b32(kMinusInfinity)}, kMinusOne},
                    {"tanh.approx.f32", {b32(kInfinity)}, kOne},
                    {"tanh.approx.f32", {b32(kNegative)}, kNegative},
                    {"tanh.approx.f32", {b32(0x80000001)}, 0x80000001},
                    {"tanh.approx.f32", {b32(0x007FFFFF)}, 0x007FFFFF},
                    {"tanh.approx.f32", {b32(0xFFC00000)}, kNaN},
                    {"tanh.approx.f32", {b32(0x41A00000)}, kOne},
                    {"tanh.approx.f16x2", {b32(0xFC003C00)}, 0xBC003A18},
                    {"tanh.approx.bf16x2", {b32(0xFF803F80)}, 0xBF803F43},
                });
  checkRows(16, {
                    {"tanh.approx.f16", {b16(0x3C00)}, 0x3A18},
                    {"tanh.approx.f16", {b16(0x8001)}, 0x8001},
                    {"tanh.approx.f16", {b16(0x7C00)}, 0x3C00},
                    {"tanh.approx.f16", {b16(0x7E00)}, 0x7FFF},
                    {"tanh.approx.bf16", {b16(0xBF80)}, 0xBF43},
                    {"tanh.approx.bf16", {b16(0x0001)}, 0x0001},
                    {"tanh.approx.bf16", {b16(0xFF80)}, 0xBF80},
                });
}

TEST(TranscendentalTest, ReciprocalF64) {
  const uint64_t infinity = 0x7FF0000000000000, negative = 0x8000000000000000,
                 nan = 0x7FFFFFFF00000000;
  checkRows(
      64,
      {
          {"rcp.approx.ftz.f64", {b64(0x4008000000000000)}, 0x3FD5555500000000},
          {"rcp.approx.ftz.f64", {b64(0xC014000000000000)}, 0xBFC9999A00000000},
          // The lower half is ignored.
          {"rcp.approx.ftz.f64", {b64(0x40080000FFFFFFFF)}, 0x3FD5555500000000},
          {"rcp.approx.ftz.f64", {b64(0x00000000FFFFFFFF)}, infinity},
          {"rcp.approx.ftz.f64", {b64(infinity | negative)}, negative},
          {"rcp.approx.ftz.f64",
           {b64(0x8008000000000000)},
           infinity | negative},
          {"rcp.approx.ftz.f64", {b64(negative)}, infinity | negative},
          {"rcp.approx.ftz.f64", {b64(0)}, infinity},
          {"rcp.approx.ftz.f64", {b64(0x0000000100000000)}, infinity},
          {"rcp.approx.ftz.f64", {b64(infinity)}, 0},
          {"rcp.approx.ftz.f64", {b64(0xFFF8000000000007)}, nan},
          // 2^1023, whose reciprocal is subnormal; 2^1022.
          {"rcp.approx.ftz.f64", {b64(0xFFE0000000000000)}, negative},
          {"rcp.approx.ftz.f64", {b64(0x7FD0000000000000)}, 0x0010000000000000},
      });
}

TEST(TranscendentalTest, ReciprocalRootF64) {
  const uint64_t infinity = 0x7FF0000000000000, negative = 0x8000000000000000,
                 nan = 0x7FFFFFFF00000000;
  checkRows(
      64,
      {
          {"rsqrt.approx.f64", {b64(0x4010000000000000)}, 0x3FE0000000000000},
          {"rsqrt.approx.f64", {b64(0x3FD0000000000000)}, 0x4000000000000000},
          {"rsqrt.approx.f64", {b64(infinity)}, 0},
          {"rsqrt.approx.f64", {b64(negative)}, infinity | negative},
          {"rsqrt.approx.f64", {b64(0xBFF0000000000000)}, 0xFFF8000000000000},
          {"rsqrt.approx.f64", {b64(0x7FF0000000000005)}, 0x7FF8000000000005},
          {"rsqrt.approx.f64", {b64(4)}, 0x6170000000000000},
          // 0.70710678.
          {"rsqrt.approx.ftz.f64",
           {b64(0x40000000FFFFFFFF)},
           0x3FE6A09E00000000},
          {"rsqrt.approx.ftz.f64", {b64(infinity | negative)}, nan},
          {"rsqrt.approx.ftz.f64", {b64(0xBFF0000000000000)}, nan},
          {"rsqrt.approx.ftz.f64",
           {b64(0x8000000100000000)},
           infinity | negative},
          {"rsqrt.approx.ftz.f64", {b64(negative)}, infinity | negative},
          {"rsqrt.approx.ftz.f64", {b64(0)}, infinity},
          {"rsqrt.approx.ftz.f64", {b64(0x0000000100000000)}, infinity},
          {"rsqrt.approx.ftz.f64", {b64(infinity)}, 0},
          {"rsqrt.approx.ftz.f64", {b64(0x7FF8000000000007)}, nan},
      });
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

namespace {
struct FunctionRow {
  const char *text;
  long double (*compute)(long double);
  /// The range of sources; negative ones are its mirror image.
  float smallest, largest;
  bool isSigned;
};
} // namespace

static long double reciprocal(long double x) { return 1 / x; }
static long double reciprocalRoot(long double x) { return 1 / sqrtl(x); }

TEST(TranscendentalTest, ErrorsAreBelowHalfALastBit) {
  const FunctionRow rows[] = {
      {"rcp.approx.f32", reciprocal, 0x1p-120f, 0x1p120f, true},
      {"rsqrt.approx.f32", reciprocalRoot, 0x1p-120f, 0x1p120f, false},
      {"sqrt.approx.f32", sqrtl, 0x1p-120f, 0x1p120f, false},
      {"sin.approx.f32", sinl, 0x1p-10f, 300, true},
      {"cos.approx.f32", cosl, 0x1p-10f, 300, true},
      {"lg2.approx.f32", log2l, 0x1p-120f, 0x1p120f, false},
      {"ex2.approx.f32", exp2l, 0x1p-10f, 125, true},
      {"tanh.approx.f32", tanhl, 0x1p-20f, 10, true},
  };
  std::mt19937 engine(7);
  for (const FunctionRow &row : rows) {
    std::uniform_real_distribution<double> exponents(std::log2(row.smallest),
                                                     std::log2(row.largest));
    std::vector<std::vector<uint64_t>> sources;
    for (unsigned i = 0; i != 2048; ++i) {
      float x = std::exp2(exponents(engine));
      sources.push_back({f32(row.isSigned && i % 2 ? -x : x).value});
    }
    std::vector<uint64_t> results = evaluateAll(row.text, 32, {32}, sources);
    unsigned numFailures = 0;
    for (size_t i = 0; i != sources.size() && numFailures != 5; ++i) {
      auto toFloat = [](uint64_t bits) {
        auto word = static_cast<uint32_t>(bits);
        float value;
        std::memcpy(&value, &word, sizeof value);
        return value;
      };
      long double expected = row.compute(toFloat(sources[i][0]));
      long double error = fabsl(toFloat(results[i]) - expected);
      bool isRight = error <= 0x1.0001p-24L * fabsl(expected);
      numFailures += !isRight;
      EXPECT_TRUE(isRight) << row.text << " " << toFloat(sources[i][0]) << ": "
                           << toFloat(results[i]);
    }
  }
}

//===----------------------------------------------------------------------===//
// Undefined bytes and refusals
//===----------------------------------------------------------------------===//

TEST(TranscendentalTest, UndefinedBytes) {
  const Source hole = undefinedBytes(b32(kOne), 1);
  checkRows(
      32,
      {
          {"rsqrt.approx.f32", {hole}, 0, 0xF},
          {"sin.approx.ftz.f32", {hole}, 0, 0xF},
          {"lg2.approx.f32", {hole}, 0, 0xF},
          {"ex2.approx.f32", {hole}, 0, 0xF},
          {"ex2.approx.f16x2", {hole}, 0x43560000, 0x3},
          {"tanh.approx.bf16x2", {undefinedBytes(b32(0x3F80), 8)}, 0x3F43, 0xC},
      });
  checkRows(64,
            {
                {"rsqrt.approx.f64", {undefinedBytes(b64(1), 1)}, 0, 0xFF},
                // The lower half of the result is 0, whatever the source is.
                {"rcp.approx.ftz.f64", {undefinedBytes(b64(1), 0x10)}, 0, 0xF0},
                {"rcp.approx.ftz.f64",
                 {undefinedBytes(b64(0x4010000000000000), 0xF)},
                 0x3FD0000000000000},
            });
}

TEST(TranscendentalTest, Refusals) {
  checkRefusals({
      {"sin.f32 %f0, %f1;", "expected .approx behind sin"},
      {"rsqrt.rn.f32 %f0, %f1;", "expected .approx behind rsqrt"},
      {"sin.approx.f64 %d0, %d1;",
       "expected a type out of f32 behind sin.approx, got .f64"},
      {"lg2.approx.f16 %s0, %s1;",
       "expected a type out of f32 behind lg2.approx, got .f16"},
      {"ex2.approx.f64 %d0, %d1;",
       "expected a type out of f32, f16, f16x2, bf16, bf16x2 behind "
       "ex2.approx, got .f64"},
      {"ex2.approx.bf16 %s0, %s1;", "expected .ftz behind ex2.approx.bf16"},
      {"ex2.approx.ftz.f16 %s0, %s1;",
       "not supported in this version: modifier 'ftz' of ex2"},
      {"tanh.approx.ftz.f32 %f0, %f1;",
       "not supported in this version: modifier 'ftz' of tanh"},
      {"cos.approx.sat.f32 %f0, %f1;",
       "not supported in this version: modifier 'sat' of cos"},
      {"cos.approx.f32 %f0, %f1, %f2;", "expected 2 operands of cos, got 3"},
      {"div.approx.rn.f32 %f0, %f1, %f2;",
       "not supported in this version: modifier 'rn' of div"},
      {"rcp.approx.ftz.f64 %d0, %f1;",
       "expected a register for .f64, got %f1 of type .f32"},
      {"tanh.approx.s32 %r0, %r1;",
       "expected a floating-point type behind tanh, got .s32"},
  });
}
