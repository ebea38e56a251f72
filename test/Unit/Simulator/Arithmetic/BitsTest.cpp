//===- BitsTest.cpp - Tests of instructions on bits -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionRows.h"

using namespace mlir::blockscale::sim::kerneltest;

namespace {
/// Makes byte 1 of a source undefined.
Source holed(Source source) { return undefinedBytes(source, 0b0010); }
} // namespace

TEST(BitsTest, Counts) {
  expectRows({
      {"popc.b32 %d, %a;", 32, {b32(0xF0000001)}, 5},
      {"popc.b64 %d, %a;", 32, {b64(~0ull)}, 64},
      {"popc.b32 %d, %a;", 32, {holed(b32(1))}, 0, 0xF},
      {"clz.b32 %d, %a;", 32, {b32(0)}, 32},
      {"clz.b32 %d, %a;", 32, {b32(1)}, 31},
      {"clz.b64 %d, %a;", 32, {b64(1ull << 40)}, 23},
      {"bfind.u32 %d, %a;", 32, {b32(0x80000000)}, 31},
      {"bfind.u32 %d, %a;", 32, {b32(0)}, 0xFFFFFFFF},
      {"bfind.s32 %d, %a;", 32, {b32(0xFFFFFFFE)}, 0},
      {"bfind.s32 %d, %a;", 32, {b32(0xFFFFFFFF)}, 0xFFFFFFFF},
      {"bfind.shiftamt.u32 %d, %a;", 32, {b32(0x00010000)}, 15},
      {"bfind.s64 %d, %a;", 32, {b64(0xFFFFFF0000000000)}, 39},
      {"bfind.u64 %d, %a;", 32, {b64(1ull << 50)}, 50},
      // The third bit that is set upwards from 2: 2, 4, 7.
      {"fns.b32 %d, %a, 2, 3;", 32, {b32(0b10010111)}, 7},
      {"fns.b32 %d, %a, 4, -2;", 32, {b32(0b10010111)}, 2},
      {"fns.b32 %d, %a, 4, 0;", 32, {b32(0b10010111)}, 4},
      {"fns.b32 %d, %a, 3, 0;", 32, {b32(0b10010111)}, 0xFFFFFFFF},
      {"fns.b32 %d, %a, 8, 1;", 32, {b32(0b10010111)}, 0xFFFFFFFF},
  });
}

TEST(BitsTest, Shifts) {
  expectRows({
      {"shl.b32 %d, %a, 4;", 32, {b32(0xF2345678)}, 0x23456780},
      {"shl.b32 %d, %a, 32;", 32, {b32(1)}, 0},
      {"shl.b32 %d, %a, %b;", 32, {b32(1), b32(0xFFFFFFFF)}, 0},
      {"shl.b16 %d, %a, 8;", 16, {b16(0x1234)}, 0x3400},
      {"shl.b64 %d, %a, 40;", 64, {b64(0x1234567)}, 0x2345670000000000},
      {"shl.b64 %d, %a, 65;", 64, {b64(~0ull)}, 0},
      {"shr.b32 %d, %a, 4;", 32, {b32(0xF2345678)}, 0x0F234567},
      {"shr.u32 %d, %a, 33;", 32, {b32(0xF2345678)}, 0},
      {"shr.s32 %d, %a, 4;", 32, {b32(0xF2345678)}, 0xFF234567},
      {"shr.s32 %d, %a, 100;", 32, {b32(0x80000000)}, 0xFFFFFFFF},
      {"shr.s32 %d, %a, 100;", 32, {b32(0x70000000)}, 0},
      {"shr.s16 %d, %a, 4;", 16, {b16(0x8000)}, 0xF800},
      {"shr.u16 %d, %a, 4;", 16, {b16(0x8000)}, 0x0800},
      {"shr.s64 %d, %a, 60;", 64, {b64(0x8000000000000000)}, ~0ull << 3},
      {"shf.l.wrap.b32 %d, %a, %b, 8;",
       32,
       {b32(0xAABBCCDD), b32(0x11223344)},
       0x223344AA},
      {"shf.r.wrap.b32 %d, %a, %b, 8;",
       32,
       {b32(0xAABBCCDD), b32(0x11223344)},
       0x44AABBCC},
      {"shf.l.wrap.b32 %d, %a, %b, 33;", 32, {b32(0x80000000), b32(1)}, 3},
      {"shf.l.clamp.b32 %d, %a, %b, 33;",
       32,
       {b32(0x80000000), b32(1)},
       0x80000000},
      {"shf.r.clamp.b32 %d, %a, %b, 40;", 32, {b32(5), b32(7)}, 7},
      // Undefined bits move with the others.
      {"shl.b32 %d, %a, 8;", 32, {holed(b32(0x44))}, 0x4400, 0b0100},
      {"shl.b32 %d, %a, 4;", 32, {holed(b32(0x44))}, 0x440, 0b0110},
      {"shr.b32 %d, %a, 16;", 32, {holed(b32(0x110044))}, 0x11},
      {"shr.s32 %d, %a, 16;", 32, {undefinedBytes(b32(0), 8)}, 0, 0b1110},
      {"shl.b32 %d, %a, %b;", 32, {b32(1), holed(b32(1))}, 0, 0xF},
      {"shf.l.wrap.b32 %d, %a, %b, 8;",
       32,
       {undefinedBytes(b32(0), 8), b32(0x11223344)},
       0x22334400,
       0b0001},
  });
}

TEST(BitsTest, Fields) {
  expectRows({
      {"bfe.u32 %d, %a, 8, 8;", 32, {b32(0x12F45678)}, 0x56},
      {"bfe.s32 %d, %a, 16, 8;", 32, {b32(0x12F45678)}, 0xFFFFFFF4},
      {"bfe.s32 %d, %a, 28, 8;", 32, {b32(0x92F45678)}, 0xFFFFFFF9},
      {"bfe.u32 %d, %a, 28, 8;", 32, {b32(0x92F45678)}, 9},
      {"bfe.u32 %d, %a, 4, 0;", 32, {b32(0xFFFFFFFF)}, 0},
      {"bfe.s32 %d, %a, 40, 4;", 32, {b32(0x80000000)}, 0xFFFFFFFF},
      {"bfe.u32 %d, %a, 256, 4;", 32, {b32(0xA5)}, 5},
      {"bfe.u64 %d, %a, 36, 12;", 64, {b64(0x123456789ABCDEF0)}, 0x567},
      {"bfe.s64 %d, %a, 60, 4;", 64, {b64(0x8ull << 60)}, ~0ull << 3},
      {"bfi.b32 %d, %a, %b, 8, 8;",
       32,
       {b32(0xFFAA), b32(0x11223344)},
       0x1122AA44},
      {"bfi.b32 %d, %a, %b, 28, 8;",
       32,
       {b32(0x5F), b32(0x11223344)},
       0xF1223344},
      {"bfi.b32 %d, %a, %b, 32, 8;",
       32,
       {b32(0xFF), b32(0x11223344)},
       0x11223344},
      {"bfi.b32 %d, %a, %b, 4, 0;",
       32,
       {b32(0xFF), b32(0x11223344)},
       0x11223344},
      {"bfi.b64 %d, %a, %b, 0, 64;", 64, {b64(5), b64(~0ull)}, 5},
      {"brev.b32 %d, %a;", 32, {b32(0x1)}, 0x80000000},
      {"brev.b64 %d, %a;", 64, {b64(0xF)}, 0xF000000000000000},
      {"bmsk.clamp.b32 %d, %a, %b;", 32, {b32(4), b32(8)}, 0xFF0},
      {"bmsk.clamp.b32 %d, %a, %b;", 32, {b32(40), b32(8)}, 0},
      {"bmsk.wrap.b32 %d, %a, %b;", 32, {b32(36), b32(40)}, 0xFF0},
      {"szext.clamp.u32 %d, %a, %b;", 32, {b32(0xFFF), b32(8)}, 0xFF},
      {"szext.clamp.s32 %d, %a, %b;", 32, {b32(0x80), b32(8)}, 0xFFFFFF80},
      {"szext.clamp.s32 %d, %a, %b;", 32, {b32(0x80), b32(99)}, 0x80},
      {"szext.wrap.s32 %d, %a, %b;", 32, {b32(1), b32(33)}, 0xFFFFFFFF},
      {"szext.clamp.s32 %d, %a, %b;", 32, {b32(1), b32(0)}, 0},
      // Undefined bits move with the others.
      {"bfe.u32 %d, %a, 0, 8;", 32, {holed(b32(0x5A))}, 0x5A},
      {"bfe.s32 %d, %a, 8, 8;", 32, {holed(b32(0))}, 0, 0xF},
      {"bfe.u32 %d, %a, 8, 8;", 32, {holed(b32(0))}, 0, 0b0001},
      {"bfi.b32 %d, %a, %b, 8, 8;",
       32,
       {b32(0xAA), holed(b32(0x11220044))},
       0x1122AA44},
      {"bfi.b32 %d, %a, %b, 8, 4;",
       32,
       {b32(0xA), holed(b32(0x11220044))},
       0x11220044,
       0b0010},
      {"brev.b32 %d, %a;", 32, {holed(b32(0))}, 0, 0b0100},
      {"szext.clamp.u32 %d, %a, %b;", 32, {holed(b32(0)), b32(8)}, 0, 0xF},
  });
}

TEST(BitsTest, Permutes) {
  auto rows = [](const char *text, uint64_t selector, uint64_t expected) {
    return InstructionRow{
        text, 32, {b32(0x33221100), b32(0x77665544), b32(selector)}, expected};
  };
  const char *general = "prmt.b32 %d, %a, %b, %c;";
  expectRows({
      rows(general, 0x3210, 0x33221100),
      rows(general, 0x7654, 0x77665544),
      rows(general, 0x0426, 0x00442266),
      rows("prmt.b32.f4e %d, %a, %b, %c;", 1, 0x44332211),
      rows("prmt.b32.f4e %d, %a, %b, %c;", 3, 0x66554433),
      rows("prmt.b32.b4e %d, %a, %b, %c;", 0, 0x55667700),
      rows("prmt.b32.b4e %d, %a, %b, %c;", 2, 0x77001122),
      rows("prmt.b32.rc8 %d, %a, %b, %c;", 2, 0x22222222),
      rows("prmt.b32.ecl %d, %a, %b, %c;", 1, 0x33221111),
      rows("prmt.b32.ecr %d, %a, %b, %c;", 1, 0x11111100),
      rows("prmt.b32.rc16 %d, %a, %b, %c;", 0, 0x11001100),
      rows("prmt.b32.rc16 %d, %a, %b, %c;", 1, 0x33223322),
      // Bit 3: the sign of byte 0, and of byte 1.
      {general, 32, {b32(0x80), b32(0), b32(0x1898)}, 0x00FF00FF},
      // Bytes that are not selected may be undefined.
      {general, 32, {holed(b32(0x44)), b32(0x99), b32(0x0400)}, 0x44994444},
      {general,
       32,
       {holed(b32(0x44)), b32(0x99), b32(0x0140)},
       0x44009944,
       0b0100},
      {general, 32, {b32(1), b32(2), holed(b32(0))}, 0, 0xF},
  });
}

TEST(BitsTest, Refuses) {
  expectRefusals({
      {"shl.u32 %r0, %r1, %r2;",
       "expected one of .b16, .b32, .b64 behind shl, got .u32"},
      {"popc.b16 %s0, %s1;",
       "expected one of .b32, .b64 behind popc, got .b16"},
      {"shf.l.b32 %r0, %r1, %r2, %r3;", "expected .clamp or .wrap behind shf"},
      {"shf.wrap.b32 %r0, %r1, %r2, %r3;", "expected .l or .r behind shf"},
      {"bfi.b32 %r0, %r1, %r2, %r3;", "expected 5 operands of bfi, got 4"},
      {"bfe.b32 %r0, %r1, 1, 2;",
       "expected one of .u32, .u64, .s32, .s64 behind bfe, got .b32"},
      {"brev.b32 %d0, %r1;",
       "expected a register for .b32, got %d0 of type .b64"},
  });
}

TEST(LogicTest, OnRegisters) {
  expectRows({
      {"and.b32 %d, %a, %b;",
       32,
       {b32(0xFF00FF00), b32(0x0FF00FF0)},
       0x0F000F00},
      {"or.b16 %d, %a, %b;", 16, {b16(0xFF00), b16(0x0FF0)}, 0xFFF0},
      {"xor.b64 %d, %a, %b;", 64, {b64(~0ull), b64(0xFF)}, ~0xFFull},
      {"not.b32 %d, %a;", 32, {b32(0x0000FFFF)}, 0xFFFF0000},
      {"not.b16 %d, %a;", 16, {b16(1)}, 0xFFFE},
      {"cnot.b32 %d, %a;", 32, {b32(0)}, 1},
      {"cnot.b64 %d, %a;", 64, {b64(1ull << 63)}, 0},
      {"lop3.b32 %d, %a, %b, %c, 0x80;",
       32,
       {b32(0xF0F0), b32(0xFF00), b32(0xC000)},
       0xC000},
      {"lop3.b32 %d, %a, %b, %c, 0xE8;",
       32,
       {b32(0b11110000), b32(0b11001100), b32(0b10101010)},
       0b11101000},
      {"lop3.b32 %d, %a, %b, %c, 0x4A;",
       32,
       {b32(0b11110000), b32(0b11001100), b32(0b10101010)},
       0x4A},
      // One register twice: a ^ a, and c & ~c.
      {"lop3.b32 %d, %a, %a, %c, 0x3C;",
       32,
       {holed(b32(1)), b32(0), b32(7)},
       0},
      {"lop3.b32 %d, %a, %c, %c, 0x22;",
       32,
       {b32(1), b32(0), holed(b32(7))},
       0},
      // A zero decides an and, whatever the other is; a one an or.
      {"and.b32 %d, %a, %b;", 32, {holed(b32(0x1)), b32(0xFFFF00FF)}, 1},
      {"and.b32 %d, %a, %b;", 32, {holed(b32(0x1)), b32(0x000001FF)}, 1, 2},
      {"or.b32 %d, %a, %b;", 32, {holed(b32(0x1)), b32(0xFF00)}, 0xFF01},
      {"or.b32 %d, %a, %b;", 32, {holed(b32(0x1)), b32(0x7F00)}, 1, 2},
      {"xor.b32 %d, %a, %b;", 32, {holed(b32(0x1)), b32(0x7F00)}, 1, 2},
      {"xor.b32 %d, %a, %a;", 32, {holed(b32(0x1))}, 0},
      {"not.b32 %d, %a;", 32, {holed(b32(0))}, 0xFFFF00FF, 2},
      {"lop3.b32 %d, %a, %b, %c, 0x80;",
       32,
       {holed(b32(0)), b32(0xFFFF), b32(0xFF)},
       0},
      {"lop3.b32 %d, %a, %b, %c, 0x96;",
       32,
       {holed(b32(0)), b32(0xFFFF), b32(0xFF)},
       0,
       2},
  });
}

TEST(LogicTest, OnPredicates) {
  const std::string start = "setp.ne.u32 %p0, %a, 0; setp.ne.u32 %p1, %b, 0; ";
  struct Case {
    const char *text;
    bool results[4];
  };
  for (const Case &row : {Case{"and.pred %d, %p0, %p1;", {0, 0, 0, 1}},
                          Case{"or.pred %d, %p0, %p1;", {0, 1, 1, 1}},
                          Case{"xor.pred %d, %p0, %p1;", {0, 1, 1, 0}},
                          Case{"not.pred %d, %p1;", {1, 0, 1, 0}},
                          Case{"mov.pred %d, %p1;", {0, 1, 0, 1}}})
    for (unsigned i = 0; i != 4; ++i)
      EXPECT_EQ(evaluate(start + row.text, 1, {b32(i >> 1), b32(i & 1)}).bits,
                row.results[i])
          << row.text << i;
  // %p2 was never set.
  EXPECT_EQ(evaluate("xor.pred %d, %p2, %p2;", 1, {}).undefined, 0);
  EXPECT_EQ(
      evaluate(start + "and.pred %d, %p2, %p0;", 1, {b32(0), b32(0)}).undefined,
      0);
  EXPECT_EQ(
      evaluate(start + "and.pred %d, %p2, %p0;", 1, {b32(1), b32(0)}).undefined,
      0xF);
  EXPECT_EQ(
      evaluate(start + "or.pred %d, %p2, %p0;", 1, {b32(1), b32(0)}).undefined,
      0);
  EXPECT_EQ(
      evaluate(start + "or.pred %d, %p2, %p0;", 1, {b32(0), b32(0)}).undefined,
      0xF);
}

TEST(LogicTest, Refuses) {
  expectRefusals({
      {"and.u32 %r0, %r1, %r2;",
       "expected a type out of b16, b32 and b64 behind and, got .u32"},
      {"and %r0, %r1, %r2;", "expected a type behind and"},
      {"and.pred %p0, %p1, %r2;", "expected a predicate register"},
      {"lop3.b32 %r0, %r1, %r2, %r3, 256;",
       "expected a truth table from 0 to 255, got 256"},
      {"lop3.b32 %r0, %r1, %r2, %r3, %r4;",
       "expected a constant for the truth table"},
  });
}
