//===- FloatTypesTest.cpp - Arithmetic on f64, halves, mixed types --------===//
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
                          kNaN = 0x7FFFFFFF;

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

TEST(FloatTypesTest, F64) {
  const uint64_t one = 0x3FF0000000000000, negative = 0x8000000000000000,
                 infinity = 0x7FF0000000000000, nan = 0xFFF8000000000000,
                 half = 0x3CA0000000000000, // 2^-53.
      largest = 0x7FEFFFFFFFFFFFFF;
  const Source third = b64(0x4008000000000000), above = b64(one + 1);
  checkRows(
      64,
      {
          {"add.f64", {b64(one), b64(half)}, one},
          {"add.rn.f64", {b64(one + 1), b64(half)}, one + 2},
          {"add.rp.f64", {b64(one), b64(half)}, one + 1},
          {"add.rz.f64", {b64(one + 1), b64(half)}, one + 1},
          {"add.rm.f64", {b64(one), b64(one | negative)}, negative},
          {"add.rz.f64", {b64(largest), b64(largest)}, largest},
          {"add.f64", {b64(largest), b64(largest)}, infinity},
          {"add.f64", {b64(1), b64(1)}, 2},
          {"sub.f64", {b64(one), b64(0x4000000000000000)}, one | negative},
          {"sub.rm.f64", {b64(one), b64(1)}, 0x3FEFFFFFFFFFFFFF},
          {"sub.f64", {b64(infinity), b64(infinity)}, nan},
          {"mul.f64", {b64(1), b64(0x3FE0000000000000)}, 0},
          {"mul.rp.f64", {b64(1), b64(0x3FE0000000000000)}, 1},
          {"mul.rn.f64", {above, above}, one + 2},
          {"mul.rp.f64", {above, above}, one + 3},
          // The product is not rounded.
          {"fma.rn.f64",
           {above, above, b64((one + 2) | negative)},
           0x3970000000000000},
          {"mad.rn.f64",
           {above, above, b64((one + 2) | negative)},
           0x3970000000000000},
          {"fma.rp.f64", {b64(one), b64(one), b64(1)}, one + 1},
          {"fma.rz.f64", {b64(one), b64(one), b64(1)}, one},
          {"div.rn.f64", {b64(one), third}, 0x3FD5555555555555},
          {"div.rp.f64", {b64(one), third}, 0x3FD5555555555556},
          {"div.rn.f64", {third, b64(one)}, 0x4008000000000000},
          {"div.rz.f64", {b64(one), b64(0)}, infinity},
          {"rcp.rn.f64", {third}, 0x3FD5555555555555},
          {"rcp.rp.f64", {third}, 0x3FD5555555555556},
          {"rcp.rn.f64", {b64(negative)}, infinity | negative},
          // 1.41421356237309504880 is below 1.41421356237309514547.
          {"sqrt.rn.f64", {b64(0x4000000000000000)}, 0x3FF6A09E667F3BCD},
          {"sqrt.rz.f64", {b64(0x4000000000000000)}, 0x3FF6A09E667F3BCC},
          {"sqrt.rp.f64", {b64(0x4000000000000000)}, 0x3FF6A09E667F3BCD},
          {"sqrt.rn.f64", {b64(negative)}, negative},
          {"sqrt.rm.f64", {b64(one | negative)}, nan},
          // Payloads of NaNs stay; the first source has precedence.
          {"add.f64", {b64(infinity | 0x123), b64(one)}, 0x7FF8000000000123},
          {"add.f64", {b64(one), b64(nan | 0x456)}, nan | 0x456},
          {"add.rz.f64", {b64(nan | 7), b64(nan | 8)}, nan | 7},
          {"mul.f64", {b64(nan | 7), b64(nan | 8)}, nan | 7},
          {"fma.rn.f64", {b64(one), b64(nan | 9), b64(nan | 10)}, nan | 9},
          {"fma.rn.f64", {b64(0), b64(infinity), b64(one)}, nan},
          {"rcp.rn.f64", {b64(nan | 7)}, nan | 7},
          {"sqrt.rn.f64", {b64(nan | 7)}, nan | 7},
      });
}

//===----------------------------------------------------------------------===//
// 16 bits
//===----------------------------------------------------------------------===//

TEST(FloatTypesTest, F16) {
  const Source one = b16(0x3C00), half = b16(0x1000), // 2^-11.
      largest = b16(0x7BFF), infinity = b16(0x7C00), zero = b16(0);
  checkRows(
      16,
      {
          {"add.f16", {one, half}, 0x3C00},
          {"add.rn.f16", {b16(0x3C01), half}, 0x3C02},
          {"add.f16", {one, b16(0x1001)}, 0x3C01},
          {"add.f16", {largest, b16(0x4BFF)}, 0x7BFF},
          {"add.f16", {largest, b16(0x4C00)}, 0x7C00},
          {"add.f16", {b16(0xFBFF), b16(0xFBFF)}, 0xFC00},
          {"add.f16", {b16(0x03FF), b16(0x0001)}, 0x0400},
          {"add.f16", {b16(0x0001), b16(0x0001)}, 0x0002},
          {"add.ftz.f16", {b16(0x03FF), b16(0x0001)}, 0},
          {"add.ftz.f16", {b16(0x0400), b16(0x8401)}, 0x8000},
          {"add.f16", {b16(0x8000), b16(0x8000)}, 0x8000},
          {"add.f16", {infinity, b16(0xFC00)}, 0x7FFF},
          {"add.f16", {b16(0xFE01), one}, 0x7FFF},
          {"add.f16", {infinity, one}, 0x7C00},
          {"add.sat.f16", {one, one}, 0x3C00},
          {"add.sat.f16", {b16(0xBC00), zero}, 0},
          {"add.sat.f16", {b16(0x7E00), zero}, 0},
          {"add.sat.f16", {b16(0x3400), b16(0x3400)}, 0x3800},
          {"sub.f16", {one, b16(0x4000)}, 0xBC00},
          {"sub.f16", {one, one}, 0},
          {"sub.ftz.sat.f16", {one, b16(0x0001)}, 0x3C00},
          {"mul.f16", {b16(0xC000), b16(0x4200)}, 0xC600},
          {"mul.f16", {b16(0x3C01), b16(0x3C01)}, 0x3C02},
          {"mul.f16", {b16(0x0001), b16(0x3800)}, 0},
          {"mul.f16", {b16(0x0003), b16(0x3800)}, 2},
          {"mul.f16", {b16(0x8003), b16(0x3800)}, 0x8002},
          {"mul.f16", {b16(0x0001), b16(0x0001)}, 0},
          {"mul.f16", {largest, largest}, 0x7C00},
          {"mul.ftz.f16", {b16(0x0400), b16(0x3800)}, 0},
          {"mul.f16", {zero, infinity}, 0x7FFF},
          {"mul.sat.f16", {b16(0x4000), b16(0x3800)}, 0x3C00},
          // (1 + 2^-10)^2 - (1 + 2^-9).
          {"fma.rn.f16", {b16(0x3C01), b16(0x3C01), b16(0xBC02)}, 0x0010},
          {"fma.rn.ftz.f16", {b16(0x3C01), b16(0x3C01), b16(0xBC02)}, 0},
          {"fma.rn.f16", {largest, b16(0x4000), b16(0xFBFF)}, 0x7BFF},
          {"fma.rn.relu.f16", {one, b16(0xBC00), zero}, 0},
          {"fma.rn.relu.f16", {one, one, one}, 0x4000},
          {"fma.rn.relu.f16", {one, b16(0x8000), b16(0x8000)}, 0},
          {"fma.rn.relu.f16", {one, b16(0xFD00), zero}, 0x7FFF},
          {"fma.rn.ftz.relu.f16", {b16(0x0001), one, zero}, 0},
          {"mul.ftz.f16", {b16(0x3800), b16(0x07FF)}, 0},
          {"fma.rn.ftz.f16", {b16(0x8400), b16(0x8400), b16(0x8400)}, 0x8400},
          {"fma.rn.sat.f16", {one, one, one}, 0x3C00},
          {"fma.rn.sat.f16", {one, b16(0x7E00), zero}, 0},
          {"fma.f16", {one, one, zero}, 0x3C00},
      });
  checkRows(
      32, {
              {"add.f16x2", {b32(0x3C013C00), b32(0x10001000)}, 0x3C023C00},
              {"sub.sat.f16x2", {b32(0x3C003C00), b32(0x40003800)}, 0x00003800},
              {"mul.ftz.f16x2", {b32(0x04004000), b32(0x38003C00)}, 0x00004000},
              {"fma.rn.relu.f16x2",
               {b32(0x3C003C00), b32(0xBC004000), b32(0x00003C00)},
               0x00004200},
              {"fma.rn.f16x2",
               {b32(0x3C003C00), b32(0xBC004000), b32(0x00003C00)},
               0xBC004200},
          });
}

TEST(FloatTypesTest, BF16) {
  const Source one = b16(0x3F80), half = b16(0x3B80), // 2^-8.
      largest = b16(0x7F7F);
  // The square is 1 + 2^-3 + 2^-8: in the middle.
  const Source root = b16(0x3F88), tiny = b16(0x0D80), minusTiny = b16(0x8D80);
  checkRows(16,
            {
                {"add.bf16", {one, half}, 0x3F80},
                {"add.rn.bf16", {b16(0x3F81), half}, 0x3F82},
                {"add.bf16", {one, b16(0x3B81)}, 0x3F81},
                {"add.bf16", {largest, largest}, 0x7F80},
                {"add.bf16", {largest, b16(0x7B00)}, 0x7F80},
                {"add.bf16", {largest, b16(0x7AFF)}, 0x7F7F},
                {"add.bf16", {b16(0x0001), b16(0x0001)}, 2},
                {"add.bf16", {b16(0x007F), b16(0x0001)}, 0x0080},
                {"add.bf16", {b16(0x8000), b16(0x8000)}, 0x8000},
                {"add.bf16", {b16(0xFF81), one}, 0x7FFF},
                {"sub.bf16", {one, b16(0x4000)}, 0xBF80},
                {"sub.bf16", {b16(0x7F80), b16(0x7F80)}, 0x7FFF},
                {"mul.bf16", {b16(0xC000), b16(0x4040)}, 0xC0C0},
                {"mul.bf16", {b16(0x3F81), b16(0x3F81)}, 0x3F82},
                {"mul.bf16", {b16(0x0001), b16(0x3F00)}, 0},
                {"mul.bf16", {b16(0x8003), b16(0x3F00)}, 0x8002},
                {"mul.bf16", {b16(0x7F00), b16(0x7F00)}, 0x7F80},
                {"mul.bf16", {b16(0x0001), b16(0x0001)}, 0},
                {"fma.rn.bf16", {root, root, b16(0)}, 0x3F90},
                {"fma.rn.bf16", {root, root, tiny}, 0x3F91},
                {"fma.rn.bf16", {root, root, minusTiny}, 0x3F90},
                {"fma.rn.bf16", {largest, b16(0x4000), b16(0xFF7F)}, 0x7F7F},
                {"fma.rn.relu.bf16", {one, b16(0xBF80), b16(0)}, 0},
                {"fma.rn.relu.bf16", {one, b16(0xFFC0), b16(0)}, 0x7FFF},
                {"fma.rn.bf16", {one, b16(0xBF80), b16(0)}, 0xBF80},
            });
  checkRows(32,
            {
                {"add.bf16x2", {b32(0x3F813F80), b32(0x3B803B80)}, 0x3F823F80},
                {"sub.bf16x2", {b32(0x3F814000), b32(0x3F813F80)}, 0x00003F80},
                {"mul.bf16x2", {b32(0x40403F80), b32(0xC0003F00)}, 0xC0C03F00},
                {"fma.rn.relu.bf16x2",
                 {b32(0x3F803F80), b32(0xBF804000), b32(0x00003F80)},
                 0x00004040},
            });
}

TEST(FloatTypesTest, MixedPrecision) {
  checkRows(
      32,
      {
          {"add.f32.f16", {b16(0x3C00), b32(0x33800000)}, kOne},
          {"add.rp.f32.f16", {b16(0x3C00), b32(0x33800000)}, 0x3F800001},
          {"add.f32.f16", {b16(0x0001), b32(0)}, 0x33800000},
          {"add.f32.f16", {b16(0x7C01), b32(0)}, kNaN},
          {"add.f32.f16", {b16(0xFC00), b32(0)}, 0xFF800000},
          {"add.sat.f32.bf16", {b16(0x3F80), b32(kOne)}, kOne},
          {"sub.f32.bf16", {b16(0x3F80), b32(0x40000000)}, kMinusOne},
          {"sub.rz.f32.bf16", {b16(0x3F80), b32(1)}, 0x3F7FFFFF},
          {"fma.rn.f32.f16", {b16(0x3C01), b16(0x3C01), b32(0)}, 0x3F804008},
          {"fma.rn.f32.bf16",
           {b16(0x3F81), b16(0x4000), b32(kOne)},
           0x40410000},
          {"fma.rz.f32.bf16",
           {b16(0x3F80), b16(0x3F80), b32(0x80000001)},
           0x3F7FFFFF},
          {"fma.rn.sat.f32.f16", {b16(0xBC00), b16(0x3C00), b32(0)}, 0},
      });
}
