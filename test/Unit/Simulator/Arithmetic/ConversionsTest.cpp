//===- ConversionsTest.cpp - Tests of cvt ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionRows.h"

#include "blockscale/Support/Formats.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <random>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim::kerneltest;

TEST(ConversionsTest, IntegersToIntegers) {
  expectRows({
      {"cvt.u64.u32 %d, %a;", 64, {b32(0xFFFFFFFF)}, 0xFFFFFFFF},
      {"cvt.s64.s32 %d, %a;", 64, {b32(0xFFFFFFFE)}, ~0ull - 1},
      {"cvt.u64.s32 %d, %a;", 64, {b32(0xFFFFFFFE)}, ~0ull - 1},
      {"cvt.s64.u32 %d, %a;", 64, {b32(0xFFFFFFFE)}, 0xFFFFFFFE},
      {"cvt.u32.u64 %d, %a;", 32, {b64(0x123456789A)}, 0x3456789A},
      {"cvt.u16.u32 %d, %a;", 16, {b32(0x123456)}, 0x3456},
      {"cvt.s32.s16 %d, %a;", 32, {b16(0x8000)}, 0xFFFF8000},
      {"cvt.u32.u16 %d, %a;", 32, {b16(0x8000)}, 0x8000},
      // Takes the lowest bits of a wider register; extends to a wider one.
      {"cvt.u32.u8 %d, %a;", 32, {b32(0x1234)}, 0x34},
      {"cvt.s32.s8 %d, %a;", 32, {b32(0x1284)}, 0xFFFFFF84},
      {"cvt.s16.s8 %d, %a;", 16, {b16(0x1284)}, 0xFF84},
      {"cvt.u8.u32 %d, %a;", 32, {b32(0x1284)}, 0x84},
      {"cvt.s8.u32 %d, %a;", 32, {b32(0x1284)}, 0xFFFFFF84},
      {"cvt.u16.s64 %d, %a;", 32, {b64(-1)}, 0xFFFF},
      {"cvt.sat.u8.s32 %d, %a;", 32, {b32(-5)}, 0},
      {"cvt.sat.u8.s32 %d, %a;", 32, {b32(300)}, 255},
      {"cvt.sat.s8.s32 %d, %a;", 32, {b32(300)}, 127},
      {"cvt.sat.s8.s32 %d, %a;", 32, {b32(-300)}, 0xFFFFFF80},
      {"cvt.sat.s16.u64 %d, %a;", 16, {b64(1ull << 63)}, 0x7FFF},
      {"cvt.sat.s32.s64 %d, %a;", 32, {b64(1ull << 63)}, 0x80000000},
      {"cvt.sat.u32.s64 %d, %a;", 32, {b64(1ull << 40)}, 0xFFFFFFFF},
      {"cvt.sat.u64.s32 %d, %a;", 64, {b32(-1)}, 0},
      // Undefined bytes keep their positions.
      {"cvt.u64.u32 %d, %a;", 64, {undefinedBytes(b32(0), 8)}, 0, 8},
      {"cvt.s64.s32 %d, %a;", 64, {undefinedBytes(b32(0), 8)}, 0, 0xF8},
      {"cvt.u16.u32 %d, %a;", 16, {undefinedBytes(b32(1), 8)}, 1},
      {"cvt.sat.u8.u32 %d, %a;", 32, {undefinedBytes(b32(1), 8)}, 1, 0xF},
      {"cvt.sat.u32.u8 %d, %a;", 32, {undefinedBytes(b32(1), 8)}, 1},
  });
}

TEST(ConversionsTest, FloatsToIntegers) {
  expectRows({
      {"cvt.rni.s32.f32 %d, %a;", 32, {f32(2.5f)}, 2},
      {"cvt.rni.s32.f32 %d, %a;", 32, {f32(3.5f)}, 4},
      {"cvt.rzi.s32.f32 %d, %a;", 32, {f32(-2.7f)}, 0xFFFFFFFE},
      {"cvt.rmi.s32.f32 %d, %a;", 32, {f32(-2.2f)}, 0xFFFFFFFD},
      {"cvt.rpi.s32.f32 %d, %a;", 32, {f32(2.2f)}, 3},
      {"cvt.rzi.u32.f32 %d, %a;", 32, {f32(-1)}, 0},
      {"cvt.rzi.u32.f32 %d, %a;", 32, {f32(4294967296.0f)}, 0xFFFFFFFF},
      {"cvt.rzi.s32.f32 %d, %a;", 32, {f32(-3e9f)}, 0x80000000},
      {"cvt.rzi.s32.f32 %d, %a;", 32, {f32(INFINITY)}, 0x7FFFFFFF},
      {"cvt.rzi.s32.f32 %d, %a;", 32, {f32(NAN)}, 0},
      {"cvt.rzi.u16.f32 %d, %a;", 16, {f32(70000)}, 0xFFFF},
      {"cvt.rzi.s8.f32 %d, %a;", 32, {f32(-200)}, 0xFFFFFF80},
      {"cvt.rzi.s64.f32 %d, %a;", 64, {f32(NAN)}, 0x8000000000000000},
      {"cvt.rzi.s64.f64 %d, %a;", 64, {f64(9e18)}, 9000000000000000000},
      {"cvt.rzi.s64.f64 %d, %a;", 64, {f64(1e19)}, 0x7FFFFFFFFFFFFFFF},
      {"cvt.rzi.u64.f64 %d, %a;", 64, {f64(1e19)}, 10000000000000000000ull},
      {"cvt.rzi.u64.f64 %d, %a;", 64, {f64(2e19)}, ~0ull},
      {"cvt.rzi.s32.f64 %d, %a;", 32, {f64(NAN)}, 0x80000000},
      {"cvt.rzi.s64.f64 %d, %a;", 64, {f64(-INFINITY)}, 0x8000000000000000},
      {"cvt.rni.s32.f16 %d, %a;", 32, {b16(0xC500)}, 0xFFFFFFFB},
      {"cvt.rni.u32.bf16 %d, %a;", 32, {b16(0x4348)}, 200},
      {"cvt.rpi.s32.f32 %d, %a;", 32, {b32(1)}, 1},
      {"cvt.rpi.ftz.s32.f32 %d, %a;", 32, {b32(1)}, 0},
      {"cvt.rzi.s32.f32 %d, %a;", 32, {undefinedBytes(b32(0), 1)}, 0, 0xF},
  });
}

TEST(ConversionsTest, IntegersToFloats) {
  expectRows({
      {"cvt.rn.f32.s32 %d, %a;", 32, {b32(-3)}, 0xC0400000},
      {"cvt.rn.f32.u32 %d, %a;", 32, {b32(-1)}, 0x4F800000},
      {"cvt.rz.f32.u32 %d, %a;", 32, {b32(-1)}, 0x4F7FFFFF},
      {"cvt.rn.f32.u32 %d, %a;", 32, {b32(0x1000001)}, 0x4B800000},
      {"cvt.rp.f32.u32 %d, %a;", 32, {b32(0x1000001)}, 0x4B800001},
      {"cvt.rm.f32.s32 %d, %a;", 32, {b32(-0x1000001)}, 0xCB800001},
      {"cvt.rn.f64.s64 %d, %a;", 64, {b64(1ull << 63)}, 0xC3E0000000000000},
      {"cvt.rn.f64.u64 %d, %a;", 64, {b64(~0ull)}, 0x43F0000000000000},
      {"cvt.rn.f16.s32 %d, %a;", 16, {b32(65519)}, 0x7BFF},
      {"cvt.rn.f16.s32 %d, %a;", 16, {b32(65520)}, 0x7C00},
      {"cvt.rn.bf16.u16 %d, %a;", 16, {b16(257)}, 0x4380},
      {"cvt.rn.f32.s8 %d, %a;", 32, {b32(0x180)}, 0xC3000000},
      {"cvt.rn.f32.u8 %d, %a;", 32, {b32(0x180)}, 0x43000000},
      {"cvt.rn.f32.s32 %d, %a;", 32, {b32(0)}, 0},
      {"cvt.rn.f32.u8 %d, %a;", 32, {undefinedBytes(b32(5), 2)}, 0x40A00000},
      {"cvt.rn.f32.u8 %d, %a;", 32, {undefinedBytes(b32(5), 1)}, 0, 0xF},
  });
}

TEST(ConversionsTest, FloatsToFloats) {
  expectRows({
      {"cvt.rn.f16.f32 %d, %a;", 16, {f32(1.0f)}, 0x3C00},
      {"cvt.rn.f16.f32 %d, %a;", 16, {f32(65519)}, 0x7BFF},
      {"cvt.rn.f16.f32 %d, %a;", 16, {f32(65520)}, 0x7C00},
      {"cvt.rz.f16.f32 %d, %a;", 16, {f32(1e9f)}, 0x7BFF},
      {"cvt.rn.f16.f32 %d, %a;", 16, {f32(-1e-8f)}, 0x8000},
      {"cvt.rm.f16.f32 %d, %a;", 16, {f32(-1e-8f)}, 0x8001},
      {"cvt.rp.f16.f32 %d, %a;", 16, {b32(1)}, 1},
      {"cvt.rz.f16.f32 %d, %a;", 16, {b32(1)}, 0},
      {"cvt.rn.f16.f32 %d, %a;", 16, {f32(0x1p-25f)}, 0},
      {"cvt.rn.f16.f32 %d, %a;", 16, {f32(0x1.8p-25f)}, 1},
      {"cvt.rn.f16.f32 %d, %a;", 16, {f32(NAN)}, 0x7FFF},
      {"cvt.rn.satfinite.f16.f32 %d, %a;", 16, {f32(-1e9f)}, 0xFBFF},
      {"cvt.rn.relu.f16.f32 %d, %a;", 16, {f32(-2)}, 0},
      {"cvt.rn.relu.f16.f32 %d, %a;", 16, {f32(NAN)}, 0x7FFF},
      {"cvt.rn.bf16.f32 %d, %a;", 16, {b32(0x3F808000)}, 0x3F80},
      {"cvt.rn.bf16.f32 %d, %a;", 16, {b32(0x3F818000)}, 0x3F82},
      {"cvt.rz.bf16.f32 %d, %a;", 16, {b32(0x3F81FFFF)}, 0x3F81},
      {"cvt.rn.bf16.f32 %d, %a;", 16, {f32(3.4e38f)}, 0x7F80},
      {"cvt.rna.tf32.f32 %d, %a;", 32, {b32(0x3F801000)}, 0x3F802000},
      {"cvt.rn.tf32.f32 %d, %a;", 32, {b32(0x3F801000)}, 0x3F800000},
      {"cvt.rz.tf32.f32 %d, %a;", 32, {b32(0x3F801FFF)}, 0x3F800000},
      {"cvt.f32.f16 %d, %a;", 32, {b16(0x0001)}, 0x33800000},
      {"cvt.f32.f16 %d, %a;", 32, {b16(0xFC00)}, 0xFF800000},
      {"cvt.f32.bf16 %d, %a;", 32, {b16(0x4049)}, 0x40490000},
      {"cvt.f64.f32 %d, %a;", 64, {f32(-0.5f)}, 0xBFE0000000000000},
      {"cvt.f64.f32 %d, %a;", 64, {b32(1)}, 0x36A0000000000000},
      {"cvt.ftz.f64.f32 %d, %a;", 64, {b32(1)}, 0},
      {"cvt.rn.f32.f64 %d, %a;", 32, {f64(0.1)}, 0x3DCCCCCD},
      {"cvt.rm.f32.f64 %d, %a;", 32, {f64(0.1)}, 0x3DCCCCCC},
      {"cvt.rn.f32.f64 %d, %a;", 32, {f64(1e-40)}, 0x000116C2},
      {"cvt.rn.ftz.f32.f64 %d, %a;", 32, {f64(1e-40)}, 0},
      {"cvt.rn.bf16.f16 %d, %a;", 16, {b16(0x3C01)}, 0x3F80},
      {"cvt.rn.f16.bf16 %d, %a;", 16, {b16(0x4780)}, 0x7C00},
      {"cvt.rni.f32.f32 %d, %a;", 32, {f32(2.5f)}, 0x40000000},
      {"cvt.rpi.f64.f64 %d, %a;", 64, {f64(-0.5)}, 0x8000000000000000},
      {"cvt.rzi.f16.f16 %d, %a;", 16, {b16(0x3E00)}, 0x3C00},
      {"cvt.sat.f32.f32 %d, %a;", 32, {f32(1.5f)}, 0x3F800000},
      {"cvt.sat.f32.f32 %d, %a;", 32, {f32(-1.5f)}, 0},
      {"cvt.sat.f32.f32 %d, %a;", 32, {f32(NAN)}, 0},
      {"cvt.ftz.f32.f32 %d, %a;", 32, {b32(0x80000001)}, 0x80000000},
      {"cvt.f32.f16 %d, %a;", 32, {undefinedBytes(b16(0), 2)}, 0, 0xF},
  });
}

TEST(ConversionsTest, PairsFromSingles) {
  // The first source is the upper element.
  expectRows({
      {"cvt.rn.f16x2.f32 %d, %a, %b;", 32, {f32(1), f32(-2)}, 0x3C00C000},
      {"cvt.rz.bf16x2.f32 %d, %a, %b;",
       32,
       {b32(0x3F81FFFF), f32(-2)},
       0x3F81C000},
      {"cvt.rn.relu.bf16x2.f32 %d, %a, %b;", 32, {f32(-1), f32(2)}, 0x4000},
      {"cvt.rn.satfinite.f16x2.f32 %d, %a, %b;",
       32,
       {f32(1e9f), f32(NAN)},
       0x7BFF7FFF},
      {"cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;",
       16,
       {f32(448), f32(-1)},
       0x7EB8},
      {"cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;",
       16,
       {f32(1e9f), f32(NAN)},
       0x7E7F},
      {"cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;",
       16,
       {f32(0x1p-10f), f32(0x1.8p-10f)},
       0x0001},
      {"cvt.rn.satfinite.relu.e4m3x2.f32 %d, %a, %b;",
       16,
       {f32(-9), f32(1)},
       0x0038},
      {"cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;",
       16,
       {f32(INFINITY), f32(-0x1p-16f)},
       0x7B81},
      {"cvt.rn.satfinite.e5m2x2.f32 %d, %a, %b;",
       16,
       {f32(NAN), f32(61440)},
       0x7F7B},
      {"cvt.rn.satfinite.e2m3x2.f32 %d, %a, %b;",
       16,
       {f32(100), f32(-0.125f)},
       0x1F21},
      {"cvt.rn.satfinite.e3m2x2.f32 %d, %a, %b;",
       16,
       {f32(NAN), f32(-100)},
       0x1F3F},
      {"cvt.rn.satfinite.e3m2x2.f32 %d, %a, %b;",
       16,
       {f32(0.0625f), f32(28)},
       0x011F},
      // 2.5 is a tie between 2 (even) and 3; 5 between 4 and 6.
      {".reg .b8 %x; cvt.rn.satfinite.e2m1x2.f32 %x, %a, %b; "
       "cvt.u32.u8 %d, %x;",
       32,
       {f32(2.5f), f32(-5)},
       0x4E},
      {".reg .b8 %x; cvt.rn.satfinite.e2m1x2.f32 %x, %a, %b; "
       "cvt.u32.u8 %d, %x;",
       32,
       {f32(NAN), f32(-99)},
       0x7F},
      // The magnitude, as a power of two: 3 is between 2 (0x80) and 4 (0x81).
      {"cvt.rz.ue8m0x2.f32 %d, %a, %b;", 16, {f32(3), f32(1)}, 0x807F},
      {"cvt.rp.ue8m0x2.f32 %d, %a, %b;", 16, {f32(3), f32(1)}, 0x817F},
      {"cvt.rp.ue8m0x2.f32 %d, %a, %b;", 16, {f32(NAN), f32(3.4e38f)}, 0xFFFF},
      {"cvt.rp.satfinite.ue8m0x2.f32 %d, %a, %b;",
       16,
       {f32(INFINITY), f32(3.4e38f)},
       0xFEFE},
      {"cvt.rz.ue8m0x2.f32 %d, %a, %b;", 16, {f32(0), b32(1)}, 0x0000},
      // Each element is undefined on its own.
      {"cvt.rn.f16x2.f32 %d, %a, %b;",
       32,
       {undefinedBytes(f32(1), 8), f32(-2)},
       0xC000,
       0b1100},
      {"cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;",
       16,
       {f32(448), undefinedBytes(f32(1), 1)},
       0x7E00,
       0b01},
  });
}

TEST(ConversionsTest, PairsFromPairs) {
  expectRows({
      {"cvt.rn.satfinite.e4m3x2.f16x2 %d, %a;", 16, {b32(0x5F00BC00)}, 0x7EB8},
      {"cvt.rn.satfinite.e5m2x2.bf16x2 %d, %a;", 16, {b32(0x7F803F80)}, 0x7B3C},
      {"cvt.rn.f16x2.e4m3x2 %d, %a;", 32, {b16(0x7EB8)}, 0x5F00BC00},
      {"cvt.rn.f16x2.e4m3x2 %d, %a;", 32, {b16(0x01FF)}, 0x18007FFF},
      {"cvt.rn.relu.f16x2.e4m3x2 %d, %a;", 32, {b16(0x7EB8)}, 0x5F000000},
      {"cvt.rn.f16x2.e5m2x2 %d, %a;", 32, {b16(0xFC01)}, 0xFC000100},
      {"cvt.rn.f16x2.e2m3x2 %d, %a;", 32, {b16(0x1F21)}, 0x4780B000},
      {"cvt.rn.f16x2.e3m2x2 %d, %a;", 32, {b16(0x1F01)}, 0x4F002C00},
      {".reg .b8 %x; cvt.u8.u16 %x, %a; cvt.rn.f16x2.e2m1x2 %d, %x;",
       32,
       {b16(0x7E)},
       0x4600C400},
      {"cvt.rn.bf16x2.ue8m0x2 %d, %a;", 32, {b16(0x807F)}, 0x40003F80},
      {"cvt.rn.bf16x2.ue8m0x2 %d, %a;", 32, {b16(0xFF00)}, 0x7FFF0040},
      {"cvt.rp.ue8m0x2.bf16x2 %d, %a;", 16, {b32(0x40403F80)}, 0x817F},
      {"cvt.rn.f16x2.e4m3x2 %d, %a;",
       32,
       {undefinedBytes(b16(0x38), 2)},
       0x3C00,
       0b1100},
      // Both elements of e2m1x2 are in one byte.
      {".reg .b8 %x; cvt.rn.satfinite.e2m1x2.f16x2 %x, %a; "
       "cvt.u32.u8 %d, %x;",
       32,
       {undefinedBytes(b32(0x3C003C00), 1)},
       0,
       1},
  });
}

/// With 16 random bits r, a value a quarter of the way to the next one is
/// rounded up for 2^14 of the 2^16 values of r: those from 0xC000 on.
TEST(ConversionsTest, StochasticRounding) {
  // 1 + 1/4 of the step of each format: e4m3 has steps of 1/8.
  const float e4m3 = 1 + 0.25f / 8;
  const std::string fours =
      "cvt.rs.satfinite.e4m3x4.f32 %d, {%a, %b, %c, %e}, ";
  auto run = [&](const std::string &random) {
    return evaluate(fours + random + ";", 32,
                    {f32(e4m3), f32(e4m3), f32(e4m3), f32(e4m3)})
        .bits;
  };
  EXPECT_EQ(run("0"), 0x38383838u);
  // The lowest element and the one above it, whose bits are reversed, share the
  // lower half: 0xC000 is 3 there.
  EXPECT_EQ(run("0x0000C000"), 0x38383839u);
  EXPECT_EQ(run("0x0000BFFF"), 0x38383938u);
  EXPECT_EQ(run("0x00000003"), 0x38383938u);
  EXPECT_EQ(run("0xC0000000"), 0x38393838u);
  EXPECT_EQ(run("0x00030000"), 0x39383838u);
  EXPECT_EQ(run("0xFFFFFFFF"), 0x39393939u);
  // An f16 takes 13 bits: from 0x1800 on.
  const float f16 = 1 + 0.25f / 1024;
  expectRows({
      {"cvt.rs.f16x2.f32 %d, %a, %b, %c;",
       32,
       {f32(f16), f32(f16), b32(0x000017FF)},
       0x3C003C00},
      {"cvt.rs.f16x2.f32 %d, %a, %b, %c;",
       32,
       {f32(f16), f32(f16), b32(0x00001800)},
       0x3C003C01},
      {"cvt.rs.f16x2.f32 %d, %a, %b, %c;",
       32,
       {f32(f16), f32(f16), b32(0x18000000)},
       0x3C013C00},
      {"cvt.rs.f16x2.f32 %d, %a, %b, %c;",
       32,
       {f32(f16), f32(f16), b32(0xE000E000)},
       0x3C003C00},
      {"cvt.rs.bf16x2.f32 %d, %a, %b, %c;",
       32,
       {b32(0x3F804000), b32(0x3F804000), b32(0xC000BFFF)},
       0x3F813F80},
      {"cvt.rs.relu.bf16x2.f32 %d, %a, %b, %c;",
       32,
       {b32(0xBF804000), b32(0x3F804000), b32(0xC000BFFF)},
       0x3F80},
      {"cvt.rs.bf16x2.f32 %d, %a, %b, %c;",
       32,
       {f32(1), f32(2), undefinedBytes(b32(0), 1)},
       0,
       0xF},
      {"cvt.rs.satfinite.e2m1x4.f32 %d, {%a, %a, %b, %b}, %c;",
       16,
       {f32(99), f32(-1), b32(0)},
       0x77AA},
      {"cvt.rs.satfinite.e5m2x4.f32 %d, {%a, %a, %b, %b}, %c;",
       32,
       {f32(1), f32(NAN), b32(0)},
       0x3C3C7F7F},
      {"cvt.rs.satfinite.e2m3x4.f32 %d, {%a, %a, %b, %b}, %c;",
       32,
       {f32(1), f32(-7.5f), b32(0)},
       0x08083F3F},
      {"cvt.rs.satfinite.e3m2x4.f32 %d, {%a, %a, %b, %b}, %c;",
       32,
       {f32(1), f32(-28), b32(0)},
       0x0C0C3F3F},
  });
}

//===----------------------------------------------------------------------===//
// Against LLVM's arithmetic
//===----------------------------------------------------------------------===//

namespace {
struct NarrowCase {
  const char *name;
  Format format;
  const llvm::fltSemantics &semantics;
};
} // namespace

/// Converts all codes of a format to f16x2, and values near all codes back.
TEST(ConversionsTest, NarrowFormatsAsInLLVM) {
  const NarrowCase cases[] = {
      {"e4m3x2", Format::E4M3, llvm::APFloat::Float8E4M3FN()},
      {"e5m2x2", Format::E5M2, llvm::APFloat::Float8E5M2()},
      {"e2m3x2", Format::E2M3, llvm::APFloat::Float6E2M3FN()},
      {"e3m2x2", Format::E3M2, llvm::APFloat::Float6E3M2FN()},
  };
  std::mt19937 random(1);
  for (const NarrowCase &row : cases) {
    unsigned bits = llvm::APFloat::semanticsSizeInBits(row.semantics);
    for (unsigned code = 0; code != 1u << bits; ++code) {
      llvm::APFloat value(row.semantics, llvm::APInt(bits, code));
      bool lost;
      llvm::APFloat half = value;
      half.convert(llvm::APFloat::IEEEhalf(),
                   llvm::APFloat::rmNearestTiesToEven, &lost);
      uint64_t expected =
          half.isNaN() ? 0x7FFF : half.bitcastToAPInt().getZExtValue();
      std::string text = std::string("cvt.rn.f16x2.") + row.name + " %d, %a;";
      Value got = evaluate(text, 32, {b16(code)});
      EXPECT_EQ(got.bits & 0xFFFF, expected) << text << code;
      if (!value.isFinite())
        continue;
      // Values around the code, from below to above it.
      float center = half.convertToDouble();
      for (int i = 0; i != 4; ++i) {
        float step = std::ldexp(1.0f, std::ilogb(center ? center : 1e-3f) - 3);
        float near = center + step * (random() % 2001 - 1000.0f) / 1000;
        llvm::APFloat rounded(near);
        rounded.convert(row.semantics, llvm::APFloat::rmNearestTiesToEven,
                        &lost);
        llvm::APFloat largest =
            llvm::APFloat::getLargest(row.semantics, std::signbit(near));
        if (!rounded.isFinite() ||
            llvm::APFloat(near).convertToDouble() >
                llvm::APFloat::getLargest(row.semantics).convertToDouble() ||
            llvm::APFloat(near).convertToDouble() <
                -llvm::APFloat::getLargest(row.semantics).convertToDouble())
          rounded = largest;
        std::string back =
            std::string("cvt.rn.satfinite.") + row.name + ".f32 %d, %b, %a;";
        EXPECT_EQ(evaluate(back, 16, {f32(near), f32(0)}).bits,
                  rounded.bitcastToAPInt().getZExtValue())
            << back << near;
      }
    }
  }
}

TEST(ConversionsTest, Refuses) {
  expectRefusals({
      {"cvt.f16.f32 %s0, %f0;", "expected a rounding modifier of cvt.f16.f32"},
      {"cvt.rn.f32.f16 %f0, %s0;",
       "expected no rounding modifier of cvt.f32.f16"},
      {"cvt.rni.f16.f32 %s0, %f0;",
       "expected a rounding such as .rn of cvt.f16.f32"},
      {"cvt.rn.s32.f32 %r0, %f0;",
       "expected an integer rounding such as .rni of cvt.s32.f32"},
      {"cvt.f32.s32 %f0, %r0;", "expected a rounding modifier of cvt.f32.s32"},
      {"cvt.rn.u32.u16 %r0, %s0;",
       "expected no rounding modifier of cvt.u32.u16"},
      {"cvt.rna.f16.f32 %s0, %f0;",
       "expected a rounding other than .rna of cvt.f16.f32"},
      {"cvt.rn.e4m3x2.f32 %s0, %f0, %f1;",
       "expected types, rounding and modifiers that cvt has, got "
       "cvt.rn.e4m3x2.f32"},
      {"cvt.rz.satfinite.e4m3x2.f32 %s0, %f0, %f1;",
       "expected types, rounding and modifiers that cvt has, got "
       "cvt.rz.satfinite.e4m3x2.f32"},
      {"cvt.rn.satfinite.ue8m0x2.f32 %s0, %f0, %f1;",
       "expected types, rounding and modifiers that cvt has, got "
       "cvt.rn.satfinite.ue8m0x2.f32"},
      {"cvt.rn.bf16x2.e4m3x2 %r0, %s0;",
       "expected types, rounding and modifiers that cvt has, got "
       "cvt.rn.bf16x2.e4m3x2"},
      {"cvt.rn.f16x2.f32 %r0, %f0;", "expected 3 operands of cvt, got 2"},
      {"cvt.u32 %r0, %r1;", "expected two types behind cvt"},
      {"cvt.b32.u16 %r0, %s1;",
       "expected types that cvt converts, got .b32 and .u16"},
  });
}
