//===- FloatArithmeticTest.cpp - Arithmetic on floating-point numbers -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows have the bits of sources and results, worked out by hand; random numbers
// are compared to llvm::APFloat.
//
//===----------------------------------------------------------------------===//

#include "ArithmeticTesting.h"

#include "llvm/ADT/APFloat.h"

#include <functional>

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
          // Subnormal numbers.
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
  // next number.
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
            // 2^-298 does not get lost.
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
            // Subnormal numbers.
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
// f64
//===----------------------------------------------------------------------===//

TEST(FloatArithmeticTest, F64) {
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

TEST(FloatArithmeticTest, F16) {
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

TEST(FloatArithmeticTest, BF16) {
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

TEST(FloatArithmeticTest, MixedPrecision) {
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

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

TEST(FloatArithmeticTest, ExtremaOfF32) {
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

TEST(FloatArithmeticTest, ExtremaOfOtherTypes) {
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

TEST(FloatArithmeticTest, Signs) {
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

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

namespace {
/// A type, and APFloat's name of it.
struct TypeRow {
  const char *name;
  const llvm::fltSemantics &semantics;
  unsigned bits, exponentBits, mantissaBits;
  bool hasAllModes;
};

struct ModeRow {
  const char *name;
  llvm::RoundingMode mode;
};

struct OperationRow {
  const char *opcode;
  unsigned numSources;
  /// 16-bit types have it.
  bool isSum;
  std::function<void(llvm::APFloat &, const llvm::APFloat &,
                     const llvm::APFloat &, llvm::RoundingMode)>
      compute;
};
} // namespace

static const std::vector<TypeRow> &getTypes() {
  static const std::vector<TypeRow> types = {
      {"f32", llvm::APFloat::IEEEsingle(), 32, 8, 23, true},
      {"f64", llvm::APFloat::IEEEdouble(), 64, 11, 52, true},
      {"f16", llvm::APFloat::IEEEhalf(), 16, 5, 10, false},
      {"bf16", llvm::APFloat::BFloat(), 16, 8, 7, false},
  };
  return types;
}

static constexpr ModeRow kModes[] = {
    {"rn", llvm::RoundingMode::NearestTiesToEven},
    {"rz", llvm::RoundingMode::TowardZero},
    {"rm", llvm::RoundingMode::TowardNegative},
    {"rp", llvm::RoundingMode::TowardPositive},
};

static const std::vector<OperationRow> &getOperations() {
  using llvm::APFloat;
  using Mode = llvm::RoundingMode;
  static const std::vector<OperationRow> operations = {
      {"add", 2, true,
       [](APFloat &a, const APFloat &b, const APFloat &, Mode mode) {
         a.add(b, mode);
       }},
      {"sub", 2, true,
       [](APFloat &a, const APFloat &b, const APFloat &, Mode mode) {
         a.subtract(b, mode);
       }},
      {"mul", 2, true,
       [](APFloat &a, const APFloat &b, const APFloat &, Mode mode) {
         a.multiply(b, mode);
       }},
      {"fma", 3, true,
       [](APFloat &a, const APFloat &b, const APFloat &c, Mode mode) {
         a.fusedMultiplyAdd(b, c, mode);
       }},
      {"div", 2, false,
       [](APFloat &a, const APFloat &b, const APFloat &, Mode mode) {
         a.divide(b, mode);
       }},
  };
  return operations;
}

/// Whether a result is a NaN of the type; which one is another test's.
static bool isNaN(uint64_t bits, const TypeRow &type) {
  return llvm::APFloat(type.semantics, llvm::APInt(type.bits, bits)).isNaN();
}

static void compare(const OperationRow &operation, const TypeRow &type,
                    const ModeRow &mode) {
  unsigned count = operation.numSources;
  RandomNumbers numbers(type.exponentBits, type.mantissaBits);
  std::vector<std::vector<uint64_t>> sources;
  for (unsigned i = 0; i != 8192; ++i)
    sources.push_back(numbers.next(count));
  std::string text =
      std::string(operation.opcode) + "." + mode.name + "." + type.name;
  std::vector<uint64_t> results = evaluateAll(
      text, type.bits, std::vector<unsigned>(count, type.bits), sources);
  unsigned numFailures = 0;
  for (size_t i = 0; i != sources.size() && numFailures != 5; ++i) {
    auto make = [&](unsigned j) {
      return llvm::APFloat(type.semantics,
                           llvm::APInt(type.bits, sources[i][j]));
    };
    llvm::APFloat result = make(0);
    operation.compute(result, make(1), make(count - 1), mode.mode);
    uint64_t expected = result.bitcastToAPInt().getZExtValue();
    bool isEqual =
        result.isNaN() ? isNaN(results[i], type) : results[i] == expected;
    numFailures += !isEqual;
    EXPECT_TRUE(isEqual) << text << std::hex << " " << sources[i][0] << " "
                         << sources[i][1] << " " << sources[i][count - 1]
                         << ": " << results[i] << " and not " << expected;
  }
}

TEST(FloatArithmeticTest, RandomNumbers) {
  for (const TypeRow &type : getTypes())
    for (const OperationRow &operation : getOperations())
      for (const ModeRow &mode : kModes)
        if (type.hasAllModes ||
            (operation.isSum &&
             mode.mode == llvm::RoundingMode::NearestTiesToEven))
          compare(operation, type, mode);
}

/// x * x in a format where the square of a root, or of a root and half of its
/// last bit, is exact.
static llvm::APFloat square(llvm::APFloat x) {
  x.multiply(x, llvm::RoundingMode::NearestTiesToEven);
  return x;
}

static llvm::APFloat widen(uint64_t bits, const TypeRow &type) {
  llvm::APFloat value(type.semantics, llvm::APInt(type.bits, bits));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEquad(),
                llvm::RoundingMode::NearestTiesToEven, &losesInfo);
  return value;
}

/// The middle between a number and the next one.
static llvm::APFloat getMiddle(uint64_t bits, const TypeRow &type) {
  llvm::APFloat sum = widen(bits, type);
  sum.add(widen(bits + 1, type), llvm::RoundingMode::NearestTiesToEven);
  return scalbn(sum, -1, llvm::RoundingMode::NearestTiesToEven);
}

static bool isRoot(uint64_t root, uint64_t x, const TypeRow &type,
                   llvm::RoundingMode mode) {
  llvm::APFloat value = widen(x, type);
  switch (mode) {
  case llvm::RoundingMode::NearestTiesToEven:
    return square(getMiddle(root - 1, type)) < value &&
           value < square(getMiddle(root, type));
  case llvm::RoundingMode::TowardPositive:
    return square(widen(root - 1, type)) < value &&
           value <= square(widen(root, type));
  default:
    return square(widen(root, type)) <= value &&
           value < square(widen(root + 1, type));
  }
}

TEST(FloatArithmeticTest, RandomRoots) {
  for (const TypeRow &type : getTypes()) {
    if (!type.hasAllModes)
      continue;
    uint64_t infinity = ((uint64_t(1) << type.exponentBits) - 1)
                        << type.mantissaBits;
    RandomNumbers numbers(type.exponentBits, type.mantissaBits);
    std::vector<std::vector<uint64_t>> sources;
    while (sources.size() != 4096) {
      uint64_t x = numbers.next(1)[0] & ((uint64_t(1) << (type.bits - 1)) - 1);
      if (x && x < infinity)
        sources.push_back({x});
    }
    for (const ModeRow &mode : kModes) {
      std::string text = std::string("sqrt.") + mode.name + "." + type.name;
      std::vector<uint64_t> roots =
          evaluateAll(text, type.bits, {type.bits}, sources);
      unsigned numFailures = 0;
      for (size_t i = 0; i != sources.size() && numFailures != 5; ++i) {
        bool isRight = isRoot(roots[i], sources[i][0], type, mode.mode);
        numFailures += !isRight;
        EXPECT_TRUE(isRight)
            << text << std::hex << " " << sources[i][0] << ": " << roots[i];
      }
    }
  }
}

/// All sums of an f16 with some numbers, and all of its products.
TEST(FloatArithmeticTest, AllNumbersOfF16) {
  const TypeRow &type = getTypes()[2];
  for (uint64_t other :
       {0x0001, 0x03FF, 0x1401, 0x3555, 0x3C01, 0xBE03, 0x7BFF})
    for (const OperationRow &operation : getOperations()) {
      if (!operation.isSum || operation.numSources != 2)
        continue;
      std::vector<std::vector<uint64_t>> sources;
      for (uint64_t x = 0; x != 0x10000; ++x)
        sources.push_back({x, other});
      std::vector<uint64_t> results = evaluateAll(
          std::string(operation.opcode) + ".f16", 16, {16, 16}, sources);
      unsigned numFailures = 0;
      for (uint64_t x = 0; x != 0x10000; ++x) {
        llvm::APFloat result(type.semantics, llvm::APInt(16, x));
        llvm::APFloat y(type.semantics, llvm::APInt(16, other));
        operation.compute(result, y, y, llvm::RoundingMode::NearestTiesToEven);
        uint64_t expected =
            result.isNaN() ? 0x7FFF : result.bitcastToAPInt().getZExtValue();
        numFailures += results[x] != expected;
      }
      EXPECT_EQ(numFailures, 0u) << operation.opcode << " " << other;
    }
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
          // Zero times what is undefined might be a NaN.
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
          // Of the sign's source, the sign.
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
      {"fma.rn.oob.f16 %s0, %s1, %s2, %s3;",
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
