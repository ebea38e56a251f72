//===- FloatArithmeticTest.cpp - Arithmetic on f32 ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f32; other types are in FloatTypesTest.cpp. Rows have the bits of sources and
// results, computed by hand.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static constexpr uint32_t kOne = 0x3F800000, kMinusOne = 0xBF800000,
                          kInfinity = 0x7F800000, kNegative = 0x80000000,
                          kLargest = 0x7F7FFFFF, kNaN = 0x7FFFFFFF;

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

TEST(FloatArithmeticTest, AddF32) {
  const Source one = b32(kOne), minusOne = b32(kMinusOne),
               half = b32(0x33800000), // 2^-24, half of one's last bit.
      minusHalf = b32(0xB3800000), largest = b32(kLargest),
               minusLargest = b32(0xFF7FFFFF), infinity = b32(kInfinity);
  checkRows(
      32,
      {
          {"add.f32", {one, half}, 0x3F800000},
          {"add.rn.f32", {b32(0x3F800001), half}, 0x3F800002},
          {"add.rn.f32", {one, b32(0x33800001)}, 0x3F800001},
          {"add.rz.f32", {b32(0x3F800001), half}, 0x3F800001},
          {"add.rm.f32", {one, half}, 0x3F800000},
          {"add.rp.f32", {one, half}, 0x3F800001},
          {"add.rz.f32", {minusOne, minusHalf}, 0xBF800000},
          {"add.rm.f32", {minusOne, minusHalf}, 0xBF800001},
          {"add.rp.f32", {minusOne, minusHalf}, 0xBF800000},
          // Both ends.
          {"add.rn.f32", {largest, largest}, 0x7F800000},
          {"add.rz.f32", {largest, largest}, 0x7F7FFFFF},
          {"add.rm.f32", {largest, largest}, 0x7F7FFFFF},
          {"add.rp.f32", {largest, largest}, 0x7F800000},
          {"add.rn.f32", {minusLargest, minusLargest}, 0xFF800000},
          {"add.rz.f32", {minusLargest, minusLargest}, 0xFF7FFFFF},
          {"add.rm.f32", {minusLargest, minusLargest}, 0xFF800000},
          {"add.rp.f32", {minusLargest, minusLargest}, 0xFF7FFFFF},
          {"add.rp.f32", {largest, b32(1)}, 0x7F800000},
          {"add.rz.f32", {infinity, minusOne}, 0x7F800000},
          {"add.rm.f32", {infinity, one}, 0x7F800000},
          {"add.rp.f32", {b32(0xFF800000), minusOne}, 0xFF800000},
          // Zeros.
          {"add.rn.f32", {one, minusOne}, 0x00000000},
          {"add.rz.f32", {one, minusOne}, 0x00000000},
          {"add.rm.f32", {one, minusOne}, 0x80000000},
          {"add.rp.f32", {one, minusOne}, 0x00000000},
          {"add.rn.f32", {b32(kNegative), b32(kNegative)}, 0x80000000},
          {"add.rp.f32", {b32(kNegative), b32(kNegative)}, 0x80000000},
          {"add.rn.f32", {b32(kNegative), b32(0)}, 0x00000000},
          {"add.rm.f32", {b32(kNegative), b32(0)}, 0x80000000},
          {"add.rm.f32", {b32(0), b32(0)}, 0x00000000},
          // Not a number.
          {"add.f32", {infinity, b32(0xFF800000)}, kNaN},
          {"add.f32", {b32(0xFFC12345), one}, kNaN},
          {"add.rz.f32", {one, b32(0x7F800001)}, kNaN},
          // Subnormal values.
          {"add.f32", {b32(1), b32(1)}, 2},
          {"add.f32", {b32(0x007FFFFF), b32(1)}, 0x00800000},
          {"add.rp.f32", {b32(0x00800000), b32(0x80000001)}, 0x007FFFFF},
          {"add.ftz.f32", {b32(0x007FFFFF), b32(1)}, 0},
          {"add.ftz.f32", {b32(0x80000001), b32(kNegative)}, kNegative},
          {"add.ftz.f32", {b32(0x00800001), b32(0x80800000)}, 0},
          {"add.ftz.f32", {b32(0x00800000), b32(0x80800001)}, kNegative},
          {"add.rz.ftz.f32", {b32(0x00800000), b32(0x807FFFFF)}, 0x00800000},
          {"add.rz.ftz.f32", {b32(0x00800000), b32(0x80800001)}, kNegative},
          // Saturation.
          {"add.sat.f32", {b32(0x40000000), one}, kOne},
          {"add.sat.f32", {minusOne, b32(0x3F000000)}, 0},
          {"add.sat.f32", {b32(0x3E800000), b32(0x3F000000)}, 0x3F400000},
          {"add.sat.f32", {b32(kNaN), one}, 0},
          {"add.sat.f32", {infinity, one}, kOne},
          {"add.sat.f32", {b32(kNegative), b32(kNegative)}, 0},
          {"add.rp.sat.f32", {b32(0x3F7FFFFF), b32(1)}, kOne},
          {"add.ftz.sat.f32", {b32(1), b32(1)}, 0},
          {"add.sat.f32", {b32(1), b32(1)}, 2},
          // A constant.
          {"add.f32 %d, %a, 0f3F800000;", {one}, 0x40000000},
          {"add.f32 %d, %a, 1.5;", {one}, 0x40200000},
      });
}

TEST(FloatArithmeticTest, SubF32) {
  checkRows(32,
            {
                {"sub.f32", {b32(kOne), b32(0x40000000)}, kMinusOne},
                {"sub.rz.f32", {b32(kOne), b32(0x33000000)}, 0x3F7FFFFF},
                {"sub.rn.f32", {b32(kOne), b32(0x32800000)}, 0x3F800000},
                {"sub.rm.f32", {b32(kOne), b32(1)}, 0x3F7FFFFF},
                {"sub.rp.f32", {b32(kOne), b32(1)}, 0x3F800000},
                {"sub.rm.f32", {b32(0), b32(0)}, kNegative},
                {"sub.rn.f32", {b32(0), b32(0)}, 0},
                {"sub.rn.f32", {b32(kNegative), b32(0)}, kNegative},
                {"sub.rm.f32", {b32(0), b32(kNegative)}, 0},
                {"sub.f32", {b32(kInfinity), b32(kInfinity)}, kNaN},
                {"sub.f32", {b32(kOne), b32(0xFFC00001)}, kNaN},
                {"sub.ftz.f32", {b32(0), b32(1)}, 0},
                {"sub.f32", {b32(0), b32(1)}, 0x80000001},
                {"sub.ftz.f32", {b32(0x00800000), b32(0x00800001)}, kNegative},
                {"sub.sat.f32", {b32(kOne), b32(kMinusOne)}, kOne},
                {"sub.rz.ftz.sat.f32", {b32(kOne), b32(0x40000000)}, 0},
            });
}

TEST(FloatArithmeticTest, MulF32) {
  const Source half = b32(0x3F000000), above = b32(0x3F800001);
  checkRows(32,
            {
                {"mul.f32", {b32(0xC0000000), b32(0x40400000)}, 0xC0C00000},
                // 1 + 2^-22 + 2^-46.
                {"mul.rn.f32", {above, above}, 0x3F800002},
                {"mul.rz.f32", {above, above}, 0x3F800002},
                {"mul.rm.f32", {above, above}, 0x3F800002},
                {"mul.rp.f32", {above, above}, 0x3F800003},
                {"mul.rm.f32", {b32(0xBF800001), above}, 0xBF800003},
                // Both ends.
                {"mul.f32", {b32(kLargest), b32(0x40000000)}, kInfinity},
                {"mul.rz.f32", {b32(kLargest), b32(0xC0000000)}, 0xFF7FFFFF},
                {"mul.rm.f32", {b32(kLargest), b32(0xC0000000)}, 0xFF800000},
                {"mul.rn.f32", {b32(1), half}, 0},
                {"mul.rp.f32", {b32(1), half}, 1},
                {"mul.rz.f32", {b32(1), half}, 0},
                {"mul.rn.f32", {b32(0x80000001), half}, kNegative},
                {"mul.rm.f32", {b32(0x80000001), half}, 0x80000001},
                {"mul.rp.f32", {b32(0x80000001), half}, kNegative},
                {"mul.rn.f32", {b32(3), half}, 2},
                {"mul.rp.f32", {b32(1), b32(1)}, 1},
                {"mul.f32", {b32(0x00800000), half}, 0x00400000},
                {"mul.ftz.f32", {b32(0x00800000), half}, 0},
                {"mul.ftz.f32", {b32(0x80800000), half}, kNegative},
                {"mul.f32", {b32(1), b32(0x7F000000)}, 0x34800000},
                {"mul.ftz.f32", {b32(1), b32(0x7F000000)}, 0},
                {"mul.rz.ftz.f32", {b32(1), b32(0xFF000000)}, kNegative},
                {"mul.ftz.f32", {b32(kMinusOne), b32(0x007FFFFF)}, kNegative},
                // Tiny with 24 bits, whatever rounding to the grid of
                // subnormals makes of it; and with more bits, which round up.
                {"mul.ftz.f32", {b32(0x00FFFFFF), half}, 0},
                {"mul.ftz.f32", {b32(0x00800001), b32(0x3F7FFFFE)}, 0x00800000},
                {"mul.rz.ftz.f32", {b32(0x00800001), b32(0x3F7FFFFE)}, 0},
                {"mul.f32", {b32(0), b32(kInfinity)}, kNaN},
                {"mul.f32", {b32(kNegative), b32(kOne)}, kNegative},
                {"mul.sat.f32", {b32(0xC0000000), b32(0xC0400000)}, kOne},
                {"mul.sat.f32", {b32(0), b32(kInfinity)}, 0},
                {"mul.rz.sat.f32", {b32(0x3F000001), b32(kOne)}, 0x3F000001},
            });
}

TEST(FloatArithmeticTest, FmaF32) {
  const Source one = b32(kOne), minusOne = b32(kMinusOne), zero = b32(0);
  // The square is 1 + 2^-11 + 2^-24: in the middle between 0x3F801000 and the
  // next value.
  const Source root = b32(0x3F800800), tiny = b32(0x17800000),
               minusTiny = b32(0x97800000);
  for (std::string opcode : {"fma", "mad"})
    checkRows(
        32,
        {
            {opcode + ".rn.f32",
             {b32(0x40000000), b32(0x40400000), one},
             0x40E00000},
            // The product is not rounded.
            {opcode + ".rn.f32",
             {b32(0x3F800001), b32(0x3F800001), b32(0xBF800002)},
             0x28800000},
            {opcode + ".rn.f32", {root, root, zero}, 0x3F801000},
            {opcode + ".rn.f32", {root, root, tiny}, 0x3F801001},
            {opcode + ".rn.f32", {root, root, minusTiny}, 0x3F801000},
            {opcode + ".rz.f32", {root, root, tiny}, 0x3F801000},
            {opcode + ".rp.f32", {root, root, minusTiny}, 0x3F801001},
            {opcode + ".rn.f32", {one, one, b32(1)}, 0x3F800000},
            {opcode + ".rz.f32", {one, one, b32(1)}, 0x3F800000},
            {opcode + ".rm.f32", {one, one, b32(1)}, 0x3F800000},
            {opcode + ".rp.f32", {one, one, b32(1)}, 0x3F800001},
            {opcode + ".rz.f32", {one, one, b32(0x80000001)}, 0x3F7FFFFF},
            {opcode + ".rm.f32", {one, one, b32(0x80000001)}, 0x3F7FFFFF},
            {opcode + ".rp.f32", {one, one, b32(0x80000001)}, 0x3F800000},
            {opcode + ".rz.f32", {minusOne, one, b32(1)}, 0xBF7FFFFF},
            {opcode + ".rp.f32", {minusOne, one, b32(1)}, 0xBF7FFFFF},
            {opcode + ".rm.f32", {minusOne, one, b32(1)}, 0xBF800000},
            // 2^-298 still affects the rounding.
            {opcode + ".rp.f32", {b32(1), b32(1), one}, 0x3F800001},
            {opcode + ".rm.f32", {b32(1), b32(0x80000001), one}, 0x3F7FFFFF},
            // Ends and zeros.
            {opcode + ".rn.f32",
             {b32(kLargest), b32(0x40000000), b32(0xFF7FFFFF)},
             kLargest},
            {opcode + ".rz.f32",
             {b32(kLargest), b32(kLargest), zero},
             kLargest},
            {opcode + ".rn.f32", {one, one, minusOne}, 0},
            {opcode + ".rm.f32", {one, one, minusOne}, kNegative},
            {opcode + ".rn.f32", {zero, minusOne, zero}, 0},
            {opcode + ".rm.f32", {zero, minusOne, zero}, kNegative},
            {opcode + ".rn.f32", {zero, minusOne, b32(kNegative)}, kNegative},
            {opcode + ".rn.f32", {zero, b32(kInfinity), one}, kNaN},
            {opcode + ".rn.f32", {one, b32(kInfinity), b32(0xFF800000)}, kNaN},
            {opcode + ".rn.f32", {one, one, b32(0x7FA00000)}, kNaN},
            {opcode + ".rz.f32", {one, b32(0xFF800000), one}, 0xFF800000},
            // Subnormal values.
            {opcode + ".rn.f32",
             {b32(0x00800000), b32(0x3F000000), zero},
             0x00400000},
            {opcode + ".rn.ftz.f32",
             {b32(0x00800000), b32(0xBF000000), zero},
             kNegative},
            {opcode + ".rn.ftz.f32",
             {b32(0x00800000), b32(0xBF000000), b32(0x80000001)},
             kNegative},
            {opcode + ".rn.ftz.f32", {b32(0x007FFFFF), one, one}, kOne},
            {opcode + ".rn.ftz.f32",
             {b32(0x00800000), one, b32(1)},
             0x00800000},
            {opcode + ".rn.ftz.f32",
             {b32(0x80000001), b32(0x7F000000), zero},
             0},
            {opcode + ".rn.ftz.f32", {b32(0x7F000000), b32(1), one}, kOne},
            {opcode + ".rp.ftz.f32", {one, b32(1), one}, kOne},
            {opcode + ".rp.ftz.f32", {one, one, b32(1)}, kOne},
            {opcode + ".rn.sat.f32", {one, one, one}, kOne},
            {opcode + ".rn.sat.f32", {zero, b32(kInfinity), one}, 0},
            {opcode + ".rm.ftz.sat.f32", {one, minusOne, zero}, 0},
        });
}

TEST(FloatArithmeticTest, DivF32) {
  const Source one = b32(kOne), minusOne = b32(kMinusOne),
               three = b32(0x40400000), zero = b32(0);
  checkRows(
      32,
      {
          {"div.rn.f32", {one, three}, 0x3EAAAAAB},
          {"div.rz.f32", {one, three}, 0x3EAAAAAA},
          {"div.rm.f32", {one, three}, 0x3EAAAAAA},
          {"div.rp.f32", {one, three}, 0x3EAAAAAB},
          {"div.rm.f32", {minusOne, three}, 0xBEAAAAAB},
          {"div.rp.f32", {minusOne, three}, 0xBEAAAAAA},
          {"div.full.f32", {one, three}, 0x3EAAAAAB},
          {"div.rn.f32", {three, b32(0x40C00000)}, 0x3F000000},
          {"div.rn.f32", {one, zero}, kInfinity},
          {"div.rz.f32", {minusOne, zero}, 0xFF800000},
          {"div.full.f32", {one, b32(kNegative)}, 0xFF800000},
          {"div.rn.f32", {zero, zero}, kNaN},
          {"div.rn.f32", {b32(kInfinity), b32(kInfinity)}, kNaN},
          {"div.rn.f32", {one, b32(0xFF800000)}, kNegative},
          {"div.rn.f32", {b32(0x00800000), b32(0x40000000)}, 0x00400000},
          {"div.rn.ftz.f32", {b32(0x00800000), b32(0x40000000)}, 0},
          {"div.full.ftz.f32", {b32(0x80800000), b32(0x40000000)}, kNegative},
          {"div.rn.f32", {one, b32(1)}, kInfinity},
          {"div.rz.f32", {one, b32(1)}, kLargest},
          {"div.rz.ftz.f32", {one, b32(1)}, kInfinity},
          {"div.rn.f32", {b32(1), b32(1)}, kOne},
          {"div.rn.ftz.f32", {b32(1), one}, 0},
          {"div.rp.f32", {b32(1), b32(kLargest)}, 1},
          // 2^127 / 2^127: the approximation has no such reciprocal.
          {"div.full.f32", {b32(0x7F000000), b32(0x7F000000)}, kOne},
      });
}

TEST(FloatArithmeticTest, ApproximateDivF32) {
  const Source one = b32(kOne), huge = b32(0x7E800001);
  checkRows(
      32,
      {
          {"div.approx.f32", {b32(0x40C00000), b32(0x40000000)}, 0x40400000},
          {"div.approx.f32", {b32(0x7E800000), b32(0x7E800000)}, kOne},
          {"div.approx.f32", {huge, huge}, 0},
          {"div.approx.ftz.f32", {b32(kMinusOne), huge}, kNegative},
          {"div.approx.f32", {one, b32(0xFE800001)}, kNegative},
          {"div.approx.f32", {b32(kInfinity), b32(kLargest)}, kNaN},
          {"div.approx.f32", {one, b32(kInfinity)}, 0},
          {"div.approx.f32", {one, b32(0)}, kInfinity},
          {"div.approx.f32", {b32(0), b32(0)}, kNaN},
          {"div.approx.f32", {one, b32(0x7FC00000)}, kNaN},
          {"div.approx.f32", {b32(0x00800000), b32(0x40000000)}, 0x00400000},
          {"div.approx.ftz.f32", {b32(0x00800000), b32(0x40000000)}, 0},
          {"div.approx.ftz.f32", {one, b32(0x80000001)}, 0xFF800000},
          {"div.approx.ftz.f32", {b32(1), b32(0x00800000)}, 0},
      });
}

TEST(FloatArithmeticTest, ReciprocalsF32) {
  checkRows(32, {
                    {"rcp.rn.f32", {b32(0x40800000)}, 0x3E800000},
                    {"rcp.rn.f32", {b32(0x40400000)}, 0x3EAAAAAB},
                    {"rcp.rz.f32", {b32(0x40400000)}, 0x3EAAAAAA},
                    {"rcp.rm.f32", {b32(0xC0400000)}, 0xBEAAAAAB},
                    {"rcp.rp.f32", {b32(0xC0400000)}, 0xBEAAAAAA},
                    {"rcp.approx.f32", {b32(0x40400000)}, 0x3EAAAAAB},
                    {"rcp.approx.f32", {b32(0)}, kInfinity},
                    {"rcp.approx.f32", {b32(kNegative)}, 0xFF800000},
                    {"rcp.approx.f32", {b32(kInfinity)}, 0},
                    {"rcp.approx.f32", {b32(0xFF800000)}, kNegative},
                    {"rcp.approx.f32", {b32(0xFFFFFFFF)}, kNaN},
                    {"rcp.rn.f32", {b32(0x00400000)}, 0x7F000000},
                    {"rcp.rn.f32", {b32(0x00200000)}, kInfinity},
                    {"rcp.approx.ftz.f32", {b32(0x80400000)}, 0xFF800000},
                    {"rcp.rn.f32", {b32(0x7F000000)}, 0x00400000},
                    {"rcp.rn.ftz.f32", {b32(0x7F000000)}, 0},
                    {"rcp.approx.ftz.f32", {b32(0xFF000000)}, kNegative},
                });
}

TEST(FloatArithmeticTest, RootsF32) {
  checkRows(32, {
                    // 1.41421356237 is between ...1.41421354 and 1.41421366.
                    {"sqrt.rn.f32", {b32(0x40000000)}, 0x3FB504F3},
                    {"sqrt.rz.f32", {b32(0x40000000)}, 0x3FB504F3},
                    {"sqrt.rm.f32", {b32(0x40000000)}, 0x3FB504F3},
                    {"sqrt.rp.f32", {b32(0x40000000)}, 0x3FB504F4},
                    // 2.2360679775 is below 2.2360680103.
                    {"sqrt.rn.f32", {b32(0x40A00000)}, 0x400F1BBD},
                    {"sqrt.rz.f32", {b32(0x40A00000)}, 0x400F1BBC},
                    {"sqrt.approx.f32", {b32(0x40A00000)}, 0x400F1BBD},
                    {"sqrt.rp.f32", {b32(0x40800000)}, 0x40000000},
                    {"sqrt.rm.f32", {b32(0x40800000)}, 0x40000000},
                    {"sqrt.approx.f32", {b32(kMinusOne)}, kNaN},
                    {"sqrt.approx.f32", {b32(0xFF800000)}, kNaN},
                    {"sqrt.approx.f32", {b32(kInfinity)}, kInfinity},
                    {"sqrt.approx.f32", {b32(kNegative)}, kNegative},
                    {"sqrt.approx.f32", {b32(0)}, 0},
                    {"sqrt.approx.f32", {b32(0x7F812345)}, kNaN},
                    {"sqrt.rm.f32", {b32(kNegative)}, kNegative},
                    {"sqrt.rn.f32", {b32(1)}, 0x1A3504F3},
                    {"sqrt.rn.ftz.f32", {b32(1)}, 0},
                    {"sqrt.rn.f32", {b32(0x80000001)}, kNaN},
                    {"sqrt.approx.ftz.f32", {b32(0x80000001)}, kNegative},
                    {"sqrt.rz.f32", {b32(kLargest)}, 0x5F7FFFFF},
                });
}

TEST(FloatArithmeticTest, PairsOfF32) {
  const Source a = b64(0x40000000'3F800000), b = b64(0x00000001'33800000),
               c = b64(0x40400000'BF800000);
  checkRows(64, {
                    {"add.f32x2", {a, b}, 0x40000000'3F800000},
                    {"add.rp.f32x2", {a, b}, 0x40000001'3F800001},
                    {"add.rp.ftz.f32x2", {a, b}, 0x40000000'3F800001},
                    {"sub.f32x2", {c, a}, 0x3F800000'C0000000},
                    {"mul.f32x2", {a, b}, 0x00000002'33800000},
                    {"mul.rn.ftz.f32x2", {a, b}, 0x00000000'33800000},
                    {"fma.rn.f32x2", {a, a, c}, 0x40E00000'00000000},
                    {"fma.rm.f32x2", {a, a, c}, 0x40E00000'80000000},
                    {"fma.rn.ftz.f32x2", {b, a, c}, 0x40400000'BF7FFFFF},
                });
}

//===----------------------------------------------------------------------===//
// Undefined bytes
//===----------------------------------------------------------------------===//

TEST(FloatArithmeticTest, UndefinedBytes) {
  const Source hole = undefinedBytes(b32(kOne), 2), one = b32(kOne);
  const Source low = undefinedBytes(b32(0x3F803F80), 1);
  checkRows(
      32,
      {
          {"add.f32", {hole, one}, 0, 0xF},
          {"sub.f32", {one, hole}, 0, 0xF},
          // Zero times an undefined value might be a NaN.
          {"mul.f32", {b32(0), hole}, 0, 0xF},
          {"fma.rn.f32", {one, one, hole}, 0, 0xF},
          {"fma.rz.ftz.f32", {hole, one, one}, 0, 0xF},
          {"div.rn.f32", {one, hole}, 0, 0xF},
          {"div.approx.f32", {hole, one}, 0, 0xF},
          {"rcp.rn.f32", {hole}, 0, 0xF},
          {"sqrt.approx.f32", {hole}, 0, 0xF},
          {"min.f32", {hole, one}, 0, 0xF},
          {"max.f32", {one, one, hole}, 0, 0xF},
          {"abs.f32", {hole}, 0, 0xF},
          {"neg.f32", {hole}, 0, 0xF},
          {"add.f32.f16", {b16(0), hole}, 0, 0xF},
          {"fma.rn.f32.bf16", {undefinedBytes(b16(0), 1), b16(0), one}, 0, 0xF},
          // One element.
          {"add.bf16x2", {low, low}, 0x40000000, 0x3},
          {"mul.bf16x2", {b32(0x3F803F80), low}, 0x3F800000, 0x3},
          {"fma.rn.f16x2",
           {b32(0x3C003C00), b32(0x3C003C00), undefinedBytes(b32(0), 8)},
           0x3C00,
           0xC},
          {"fma.rn.sat.f16x2",
           {b32(0x3C003C00), b32(0x3C003C00), undefinedBytes(b32(0), 8)},
           0x3C00,
           0xC},
          {"max.bf16x2", {low, b32(0)}, 0x3F800000, 0x3},
          {"neg.bf16x2", {low}, 0xBF800000, 0x3},
          // Only the sign of its source.
          {"copysign.f32", {hole, one}, kOne},
          {"copysign.f32",
           {undefinedBytes(one, 8), b32(kOne)},
           0x00800000,
           0x8},
          {"copysign.f32", {b32(0), hole}, 0x3F800000, 0x2},
      });
  checkRows(64, {
                    {"add.f32x2",
                     {undefinedBytes(b64(0x3F8000003F800000), 0x10), b64(0)},
                     0x3F800000,
                     0xF0},
                    {"add.f64", {undefinedBytes(b64(0), 1), b64(0)}, 0, 0xFF},
                    {"max.f64", {b64(0), undefinedBytes(b64(0), 1)}, 0, 0xFF},
                    {"copysign.f64", {undefinedBytes(b64(0), 0x7F), b64(5)}, 5},
                });
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(FloatArithmeticTest, Refusals) {
  checkRefusals({
      {"fma.f32 %f0, %f1, %f2, %f3;",
       "expected a rounding mode (.rn, .rz, .rm, .rp) behind fma.f32"},
      {"mad.f64 %d0, %d1, %d2, %d3;",
       "expected a rounding mode (.rn, .rz, .rm, .rp) behind mad.f64"},
      {"fma.f32.f16 %f0, %s1, %s2, %f3;",
       "expected a rounding mode (.rn, .rz, .rm, .rp) behind fma.f32.f16"},
      {"div.f32 %f0, %f1, %f2;",
       "expected a rounding mode (.rn, .rz, .rm, .rp, .approx, .full) behind "
       "div.f32"},
      {"rcp.f32 %f0, %f1;",
       "expected a rounding mode (.rn, .rz, .rm, .rp, .approx) behind "
       "rcp.f32"},
      {"sqrt.full.f32 %f0, %f1;",
       "expected a rounding mode (.rn, .rz, .rm, .rp, .approx) behind "
       "sqrt.f32"},
      {"add.rz.f16 %s0, %s1, %s2;",
       "expected a rounding mode (.rn) behind add.f16, got .rz"},
      {"fma.rp.bf16x2 %r0, %r1, %r2, %r3;",
       "expected a rounding mode (.rn) behind fma.bf16x2, got .rp"},
      {"mad.rn.f16 %s0, %s1, %s2, %s3;",
       "expected a type out of f32, f64 behind mad, got .f16"},
      {"div.rn.bf16 %s0, %s1, %s2;",
       "expected a type out of f32, f64 behind div, got .bf16"},
      {"mul.f32.f16 %f0, %s1, %f2;",
       "expected a type out of f32, f32x2, f64, f16, f16x2, bf16, bf16x2 "
       "behind mul, got .f32.f16"},
      {"add.e4m3x2 %s0, %s1, %s2;",
       "expected a type out of f32, f32x2, f64, f16, f16x2, bf16, bf16x2, "
       "f32.f16, f32.bf16 behind add, got .e4m3x2"},
      {"add.ftz.f64 %d0, %d1, %d2;",
       "not supported in this version: modifier 'ftz' of add"},
      {"add.sat.bf16 %s0, %s1, %s2;",
       "not supported in this version: modifier 'sat' of add"},
      {"add.relu.f32 %f0, %f1, %f2;",
       "not supported in this version: modifier 'relu' of add"},
      {"fma.rn.sat.relu.f16 %s0, %s1, %s2, %s3;",
       "not supported in this version: modifier 'relu' of fma"},
      {"fma.rn.oob.f32 %f0, %f1, %f2, %f3;",
       "not supported in this version: modifier 'oob' of fma"},
      {"add.approx.f32 %f0, %f1, %f2;",
       "not supported in this version: modifier 'approx' of add"},
      {"add.sat.f32x2 %d0, %d1, %d2;",
       "not supported in this version: modifier 'sat' of add"},
      {"add.ftz.f32.f16 %f0, %s1, %f2;",
       "not supported in this version: modifier 'ftz' of add"},
      {"add.rn.rz.f32 %f0, %f1, %f2;",
       "not supported in this version: modifier 'rz' of add"},
      {"div.approx.f64 %d0, %d1, %d2;",
       "expected a rounding mode (.rn, .rz, .rm, .rp) behind div.f64"},
      {"sqrt.approx.f64 %d0, %d1;",
       "expected a rounding mode (.rn, .rz, .rm, .rp) behind sqrt.f64"},
      {"rcp.f64 %d0, %d1;",
       "expected a rounding mode (.rn, .rz, .rm, .rp, .approx) behind "
       "rcp.f64"},
      {"rcp.approx.f64 %d0, %d1;", "expected .ftz behind rcp.approx.f64"},
      {"add.f32 %f0, %f1;", "expected 3 operands of add, got 2"},
      {"rcp.rn.f32 %f0, %f1, %f2;", "expected 2 operands of rcp, got 3"},
      {"add.f32 %f0, %d1, %f2;",
       "expected a register for .f32, got %d1 of type .b64"},
      {"add.f16 %s0, %s1, 1.0;", "expected a register or constant for .f16"},
      {"min.abs.f32 %f0, %f1, %f2;",
       "expected .xorsign and .abs together behind min of two sources"},
      {"max.xorsign.f16 %s0, %s1, %s2;",
       "expected .xorsign and .abs together behind max of two sources"},
      {"max.xorsign.abs.f32 %f0, %f1, %f2, %f3;",
       "expected two sources behind max.xorsign, got 3"},
      {"max.NaN.f64 %d0, %d1, %d2;",
       "not supported in this version: modifier 'NaN' of max"},
      {"max.ftz.bf16 %s0, %s1, %s2;",
       "not supported in this version: modifier 'ftz' of max"},
      {"max.f16 %s0, %s1, %s2, %s3;", "expected 3 operands of max, got 4"},
      {"max.f32x2 %d0, %d1, %d2;",
       "expected a type out of f16, f16x2, bf16, bf16x2, f32 and f64 behind "
       "max, got .f32x2"},
      {"neg.ftz.bf16 %s0, %s1;",
       "not supported in this version: modifier 'ftz' of neg"},
      {"abs.f32x2 %d0, %d1;",
       "expected a type out of f16, f16x2, bf16, bf16x2, f32 and f64 behind "
       "abs, got .f32x2"},
      {"copysign.f16 %s0, %s1, %s2;",
       "expected a type out of f32 and f64 behind copysign, got .f16"},
  });
}
