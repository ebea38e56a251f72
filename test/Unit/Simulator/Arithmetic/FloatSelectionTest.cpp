//===- FloatSelectionTest.cpp - Tests of min, max, signs ------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows have the bits of sources and results, computed by hand.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static constexpr uint32_t kOne = 0x3F800000, kMinusOne = 0xBF800000,
                          kInfinity = 0x7F800000, kNegative = 0x80000000,
                          kLargest = 0x7F7FFFFF, kNaN = 0x7FFFFFFF;

TEST(FloatSelectionTest, ExtremaOfF32) {
  const Source one = b32(kOne), two = b32(0x40000000),
               minusTwo = b32(0xC0000000), nan = b32(0xFFC00001), zero = b32(0),
               minusZero = b32(kNegative);
  checkRows(32,
            {
                {"min.f32", {one, minusTwo}, 0xC0000000},
                {"min.f32", {b32(kMinusOne), minusTwo}, 0xC0000000},
                {"max.f32", {b32(kMinusOne), minusTwo}, kMinusOne},
                {"max.f32", {one, two}, 0x40000000},
                {"max.f32", {two, one}, 0x40000000},
                {"min.f32", {zero, minusZero}, kNegative},
                {"min.f32", {minusZero, zero}, kNegative},
                {"max.f32", {zero, minusZero}, 0},
                {"max.f32", {minusZero, zero}, 0},
                {"min.f32", {b32(0xFF800000), minusTwo}, 0xFF800000},
                {"max.f32", {b32(kInfinity), b32(kLargest)}, kInfinity},
                {"min.f32", {nan, one}, kOne},
                {"max.f32", {one, nan}, kOne},
                {"max.f32", {nan, nan}, kNaN},
                {"min.NaN.f32", {nan, one}, kNaN},
                {"max.NaN.f32", {one, nan}, kNaN},
                {"max.NaN.f32", {one, two}, 0x40000000},
                {"min.f32", {b32(1), b32(2)}, 1},
                {"max.ftz.f32", {b32(0x80000001), b32(2)}, 0},
                {"min.ftz.f32", {b32(1), one}, 0},
                {"min.ftz.f32", {b32(0x80000001), one}, kNegative},
                {"max.ftz.NaN.f32", {nan, one}, kNaN},
                {"min.xorsign.abs.f32", {one, minusTwo}, kMinusOne},
                {"min.xorsign.abs.f32", {b32(kMinusOne), minusTwo}, kOne},
                {"max.xorsign.abs.f32", {one, minusTwo}, 0xC0000000},
                {"max.xorsign.abs.f32", {nan, two}, 0xC0000000},
                {"max.NaN.xorsign.abs.f32", {nan, two}, kNaN},
                {"min.xorsign.abs.f32", {nan, nan}, kNaN},
                {"max.ftz.xorsign.abs.f32", {b32(0x80000001), zero}, kNegative},
                // Three sources.
                {"min.f32", {two, minusTwo, one}, 0xC0000000},
                {"min.f32", {two, one, minusTwo}, 0xC0000000},
                {"max.f32", {two, minusTwo, one}, 0x40000000},
                {"max.f32", {nan, nan, one}, kOne},
                {"max.f32", {nan, nan, nan}, kNaN},
                {"max.NaN.f32", {one, two, nan}, kNaN},
                {"max.NaN.f32", {nan, two, one}, kNaN},
                {"max.abs.f32", {one, two, b32(0xC0400000)}, 0x40400000},
                {"min.abs.f32", {minusTwo, two, b32(0xC0400000)}, 0x40000000},
                {"min.ftz.f32", {one, two, b32(1)}, 0},
            });
}

TEST(FloatSelectionTest, ExtremaOfOtherTypes) {
  checkRows(64, {
                    {"min.f64",
                     {b64(0xBFF0000000000000), b64(0x3FF0000000000000)},
                     0xBFF0000000000000},
                    {"max.f64",
                     {b64(0x0000000000000001), b64(0x8000000000000000)},
                     0x0000000000000001},
                    {"max.f64", {b64(0x8000000000000000), b64(0)}, 0},
                    {"max.f64",
                     {b64(0x7FF8000000000001), b64(0xFFF0000000000000)},
                     0xFFF0000000000000},
                    {"min.f64",
                     {b64(0x7FF0000000000001), b64(0xFFF8000000000002)},
                     0x7FF8000000000001},
                });
  checkRows(16,
            {
                {"min.f16", {b16(0x3C00), b16(0xC000)}, 0xC000},
                {"max.f16", {b16(0x8000), b16(0x0000)}, 0x0000},
                {"max.f16", {b16(0xFE00), b16(0xFC00)}, 0xFC00},
                {"max.NaN.f16", {b16(0xFE00), b16(0x3C00)}, 0x7FFF},
                {"min.f16", {b16(0xFE00), b16(0x7C01)}, 0x7FFF},
                {"min.ftz.f16", {b16(0x03FF), b16(0x3C00)}, 0},
                {"min.f16", {b16(0x03FF), b16(0x3C00)}, 0x03FF},
                {"max.xorsign.abs.f16", {b16(0x3C00), b16(0xC000)}, 0xC000},
                {"min.bf16", {b16(0x3F80), b16(0xC000)}, 0xC000},
                {"max.bf16", {b16(0x7FC0), b16(0x0001)}, 0x0001},
                {"max.NaN.bf16", {b16(0x0001), b16(0xFFC0)}, 0x7FFF},
                {"min.xorsign.abs.bf16", {b16(0xBF80), b16(0xC000)}, 0x3F80},
            });
  checkRows(
      32,
      {
          {"min.f16x2", {b32(0x3C00BC00), b32(0xC0000000)}, 0xC000BC00},
          {"max.ftz.NaN.f16x2", {b32(0x00017E00), b32(0x80003C00)}, 0x00007FFF},
          {"max.xorsign.abs.f16x2",
           {b32(0x3C007E00), b32(0xC000BC00)},
           0xC000BC00},
          {"max.bf16x2", {b32(0x3F80BF80), b32(0xC0000000)}, 0x3F800000},
          {"min.NaN.bf16x2", {b32(0x7FC0BF80), b32(0xC0000000)}, 0x7FFFBF80},
      });
}

TEST(FloatSelectionTest, Signs) {
  checkRows(16, {
                    {"abs.f16", {b16(0xBC00)}, 0x3C00},
                    {"neg.f16", {b16(0x0001)}, 0x8001},
                    {"neg.ftz.f16", {b16(0x0001)}, 0x8000},
                    {"abs.ftz.f16", {b16(0x83FF)}, 0},
                    {"abs.f16", {b16(0xFE01)}, 0x7FFF},
                    {"neg.f16", {b16(0x7E01)}, 0x7FFF},
                    {"abs.bf16", {b16(0xFF80)}, 0x7F80},
                    {"neg.bf16", {b16(0x3F80)}, 0xBF80},
                    {"neg.bf16", {b16(0xFFC0)}, 0x7FFF},
                });
  checkRows(32, {
                    {"abs.f32", {b32(kMinusOne)}, kOne},
                    {"abs.f32", {b32(0x80000001)}, 1},
                    {"abs.ftz.f32", {b32(0x80000001)}, 0},
                    {"abs.f32", {b32(0xFFC00001)}, kNaN},
                    {"neg.f32", {b32(0)}, kNegative},
                    {"neg.f32", {b32(kNegative)}, 0},
                    {"neg.f32", {b32(0x80000001)}, 1},
                    {"neg.ftz.f32", {b32(0x80000001)}, 0},
                    {"neg.f32", {b32(0x7FC00001)}, kNaN},
                    {"abs.f16x2", {b32(0xBC008001)}, 0x3C000001},
                    {"abs.ftz.f16x2", {b32(0xBC008001)}, 0x3C000000},
                    {"neg.f16x2", {b32(0xBC007E00)}, 0x3C007FFF},
                    {"abs.bf16x2", {b32(0xBF808001)}, 0x3F800001},
                    {"neg.bf16x2", {b32(0xBF800001)}, 0x3F808001},
                    {"copysign.f32", {b32(kNegative), b32(kOne)}, kMinusOne},
                    {"copysign.f32", {b32(kOne), b32(0xFFC00001)}, 0x7FC00001},
                });
  checkRows(64, {
                    {"abs.f64", {b64(0xBFF0000000000000)}, 0x3FF0000000000000},
                    {"abs.f64", {b64(0xFFF0000000000001)}, 0xFFF0000000000001},
                    {"neg.f64", {b64(0)}, 0x8000000000000000},
                    {"neg.f64", {b64(0xFFF0000000000001)}, 0xFFF0000000000001},
                    {"copysign.f64",
                     {b64(0x8000000000000001), b64(0x3FF0000000000000)},
                     0xBFF0000000000000},
                });
}
