//===- ArithmeticTest.cpp - Arithmetic on integers ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every opcode, type and modifier, with values at both ends of the types.
// Results are computed by hand.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/ArithmeticTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

TEST(ArithmeticTest, Add) {
  checkRows(16, {
                    {"add.u16", {b16(0xFFFF), b16(2)}, 0x0001},
                    {"add.s16", {b16(0x7FFF), b16(1)}, 0x8000},
                });
  checkRows(32,
            {
                {"add.u32", {b32(0xFFFFFFFF), b32(1)}, 0},
                {"add.s32", {b32(0x7FFFFFFF), b32(1)}, 0x80000000},
                {"add.u16x2", {b32(0x0001FFFF), b32(0x00010001)}, 0x00020000},
                {"add.s16x2", {b32(0x7FFF8000), b32(0x0001FFFF)}, 0x80007FFF},
                {"add.sat.s32", {b32(0x7FFFFFFF), b32(1)}, 0x7FFFFFFF},
                {"add.sat.s32", {b32(0x80000000), b32(0xFFFFFFFF)}, 0x80000000},
                {"add.sat.s32", {b32(5), b32(0xFFFFFFF9)}, 0xFFFFFFFE},
                // A constant, and a source that is the result.
                {"mov.b32 %d, %a; add.s32 %d, %d, -7;", {b32(5)}, 0xFFFFFFFE},
            });
  checkRows(64, {
                    {"add.u64", {b64(~uint64_t(0)), b64(1)}, 0},
                    {"add.s64",
                     {b64(0x8000000000000000), b64(~uint64_t(0))},
                     0x7FFFFFFFFFFFFFFF},
                    {"add.u64", {b64(0xFFFFFFFF), b64(1)}, 0x100000000},
                });
}

TEST(ArithmeticTest, Sub) {
  checkRows(16, {
                    {"sub.u16", {b16(1), b16(2)}, 0xFFFF},
                    {"sub.s16", {b16(0x8000), b16(1)}, 0x7FFF},
                });
  checkRows(32,
            {
                {"sub.u32", {b32(0), b32(1)}, 0xFFFFFFFF},
                {"sub.s32", {b32(0x80000000), b32(1)}, 0x7FFFFFFF},
                {"sub.sat.s32", {b32(0x80000000), b32(1)}, 0x80000000},
                {"sub.sat.s32", {b32(0x7FFFFFFF), b32(0xFFFFFFFF)}, 0x7FFFFFFF},
                {"sub.sat.s32", {b32(0), b32(0x80000000)}, 0x7FFFFFFF},
                {"sub.sat.s32", {b32(3), b32(10)}, 0xFFFFFFF9},
            });
  checkRows(64, {
                    {"sub.u64", {b64(0x100000000), b64(1)}, 0xFFFFFFFF},
                    {"sub.s64", {b64(0), b64(1)}, ~uint64_t(0)},
                });
}

TEST(ArithmeticTest, Mul) {
  checkRows(16, {
                    {"mul.lo.u16", {b16(0xFFFF), b16(0xFFFF)}, 0x0001},
                    {"mul.hi.u16", {b16(0xFFFF), b16(0xFFFF)}, 0xFFFE},
                    {"mul.lo.s16", {b16(0x8000), b16(0xFFFF)}, 0x8000},
                    {"mul.hi.s16", {b16(0x8000), b16(0x8000)}, 0x4000},
                    {"mul.hi.s16", {b16(0xFFFF), b16(1)}, 0xFFFF},
                });
  checkRows(32,
            {
                {"mul.wide.u16", {b16(0xFFFF), b16(0xFFFF)}, 0xFFFE0001},
                {"mul.wide.s16", {b16(0x8000), b16(0x7FFF)}, 0xC0008000},
                {"mul.lo.u32", {b32(0xFFFFFFFF), b32(2)}, 0xFFFFFFFE},
                {"mul.hi.u32", {b32(0xFFFFFFFF), b32(0xFFFFFFFF)}, 0xFFFFFFFE},
                {"mul.lo.s32", {b32(0xFFFFFFFD), b32(5)}, 0xFFFFFFF1},
                {"mul.hi.s32", {b32(0x80000000), b32(2)}, 0xFFFFFFFF},
                {"mul.hi.s32", {b32(0x80000000), b32(0x80000000)}, 0x40000000},
            });
  checkRows(
      64,
      {
          {"mul.wide.u32",
           {b32(0xFFFFFFFF), b32(0xFFFFFFFF)},
           0xFFFFFFFE00000001},
          {"mul.wide.s32",
           {b32(0xFFFFFFFF), b32(0x7FFFFFFF)},
           0xFFFFFFFF80000001},
          {"mul.lo.u64", {b64(0x100000001), b64(0x100000001)}, 0x200000001},
          {"mul.hi.u64",
           {b64(~uint64_t(0)), b64(~uint64_t(0))},
           0xFFFFFFFFFFFFFFFE},
          {"mul.hi.u64", {b64(0x8000000000000000), b64(4)}, 2},
          {"mul.hi.s64", {b64(0x8000000000000000), b64(4)}, 0xFFFFFFFFFFFFFFFE},
          {"mul.lo.s64", {b64(uint64_t(-3)), b64(5)}, uint64_t(-15)},
      });
}

TEST(ArithmeticTest, Mad) {
  checkRows(16, {
                    {"mad.lo.u16", {b16(3), b16(5), b16(7)}, 22},
                    {"mad.lo.s16", {b16(0xFFFF), b16(5), b16(2)}, 0xFFFD},
                    {"mad.hi.u16", {b16(0xFFFF), b16(0xFFFF), b16(1)}, 0xFFFF},
                    {"mad.hi.s16", {b16(0x8000), b16(0x8000), b16(1)}, 0x4001},
                });
  const Source quarter = b32(0x40000000), least = b32(0x80000000);
  checkRows(
      32,
      {
          {"mad.lo.u32", {b32(0x10001), b32(0x10000), b32(9)}, 0x00010009},
          {"mad.lo.s32", {b32(0xFFFFFFFF), b32(3), b32(1)}, 0xFFFFFFFE},
          {"mad.hi.u32", {b32(0xFFFFFFFF), b32(0xFFFFFFFF), b32(3)}, 1},
          {"mad.hi.s32", {quarter, quarter, b32(5)}, 0x10000005},
          {"mad.hi.s32", {quarter, quarter, b32(0x7FFFFFFF)}, 0x8FFFFFFF},
          {"mad.hi.sat.s32", {quarter, quarter, b32(0x7FFFFFFF)}, 0x7FFFFFFF},
          {"mad.hi.sat.s32", {least, quarter, least}, 0x80000000},
          {"mad.hi.sat.s32", {quarter, quarter, b32(5)}, 0x10000005},
          {"mad.wide.u16", {b16(0xFFFF), b16(0xFFFF), b32(2)}, 0xFFFE0003},
          {"mad.wide.s16", {b16(0x8000), b16(1), b32(0)}, 0xFFFF8000},
      });
  checkRows(
      64, {
              {"mad.wide.u32", {b32(0xFFFFFFFF), b32(2), b64(1)}, 0x1FFFFFFFF},
              {"mad.wide.s32", {b32(0xFFFFFFFF), b32(2), b64(1)}, ~uint64_t(0)},
              {"mad.lo.u64", {b64(0x100000000), b64(3), b64(4)}, 0x300000004},
              {"mad.lo.s64", {b64(uint64_t(-2)), b64(3), b64(4)}, uint64_t(-2)},
              {"mad.hi.u64", {b64(~uint64_t(0)), b64(~uint64_t(0)), b64(5)}, 3},
              {"mad.hi.s64", {b64(~uint64_t(0)), b64(~uint64_t(0)), b64(5)}, 5},
          });
}

TEST(ArithmeticTest, ProductsOf24Bits) {
  const Source largest = b32(0xFFFFFF), least = b32(0x800000);
  checkRows(
      32, {
              {"mul24.lo.u32", {b32(0xFF000003), b32(5)}, 15},
              {"mul24.lo.u32", {largest, largest}, 0xFE000001},
              {"mul24.hi.u32", {largest, largest}, 0xFFFFFE00},
              {"mul24.lo.s32", {largest, b32(7)}, 0xFFFFFFF9},
              {"mul24.hi.s32", {least, least}, 0x40000000},
              {"mul24.hi.s32", {least, b32(1)}, 0xFFFFFF80},
              {"mad24.lo.u32", {b32(0xFF000003), b32(5), b32(0xFFFFFFFF)}, 14},
              {"mad24.lo.s32", {largest, b32(7), b32(1)}, 0xFFFFFFFA},
              {"mad24.hi.u32", {largest, largest, b32(0x200)}, 0},
              {"mad24.hi.s32", {least, least, b32(0x7FFFFFFF)}, 0xBFFFFFFF},
              {"mad24.hi.sat.s32", {least, least, b32(0x7FFFFFFF)}, 0x7FFFFFFF},
              {"mad24.hi.sat.s32",
               {b32(0x7FFFFF), least, b32(0x80000000)},
               0x80000000},
              {"mad24.hi.sat.s32", {least, least, b32(3)}, 0x40000003},
          });
}

TEST(ArithmeticTest, SumsOfDifferences) {
  checkRows(16, {
                    {"sad.u16", {b16(3), b16(0xFFFF), b16(1)}, 0xFFFD},
                    {"sad.s16", {b16(0x8000), b16(0x7FFF), b16(0)}, 0xFFFF},
                });
  checkRows(32, {
                    {"sad.u32", {b32(3), b32(10), b32(1)}, 8},
                    {"sad.u32", {b32(10), b32(3), b32(1)}, 8},
                    {"sad.u32", {b32(0xFFFFFFFF), b32(1), b32(0)}, 0xFFFFFFFE},
                    {"sad.s32", {b32(0xFFFFFFFF), b32(1), b32(0)}, 2},
                });
  checkRows(64, {
                    {"sad.u64", {b64(0), b64(~uint64_t(0)), b64(2)}, 1},
                    {"sad.s64", {b64(0), b64(~uint64_t(0)), b64(2)}, 3},
                });
}

TEST(ArithmeticTest, Quotients) {
  const Source minusSeven = b32(0xFFFFFFF9), minusOne = b32(0xFFFFFFFF),
               least = b32(0x80000000);
  checkRows(16, {
                    {"div.u16", {b16(0xFFFF), b16(2)}, 0x7FFF},
                    {"div.s16", {b16(0xFFF9), b16(2)}, 0xFFFD},
                    {"div.s16", {b16(0x8000), b16(0xFFFF)}, 0x8000},
                    {"rem.u16", {b16(0xFFFF), b16(16)}, 15},
                    {"rem.s16", {b16(0x8000), b16(0xFFFF)}, 0},
                    {"rem.s16", {b16(0xFFF9), b16(4)}, 0xFFFD},
                });
  checkRows(32, {
                    {"div.s32", {minusSeven, b32(2)}, 0xFFFFFFFD},
                    {"div.u32", {minusSeven, b32(2)}, 0x7FFFFFFC},
                    {"div.s32", {least, minusOne}, 0x80000000},
                    {"div.u32", {least, minusOne}, 0},
                    {"rem.s32", {minusSeven, b32(2)}, 0xFFFFFFFF},
                    {"rem.s32", {b32(7), b32(0xFFFFFFFE)}, 1},
                    {"rem.u32", {minusSeven, b32(2)}, 1},
                    {"rem.s32", {least, minusOne}, 0},
                    {"rem.u32", {least, minusOne}, 0x80000000},
                });
  checkRows(64,
            {
                {"div.s64", {b64(uint64_t(-7)), b64(2)}, uint64_t(-3)},
                {"div.u64", {b64(uint64_t(-7)), b64(2)}, 0x7FFFFFFFFFFFFFFC},
                {"div.s64",
                 {b64(0x8000000000000000), b64(~uint64_t(0))},
                 0x8000000000000000},
                {"rem.s64", {b64(uint64_t(-7)), b64(4)}, uint64_t(-3)},
                {"rem.u64", {b64(uint64_t(-7)), b64(4)}, 1},
            });
  // PTX leaves the results open.
  checkRows(16, {{"div.u16", {b16(5), b16(0)}, 0, 3},
                 {"rem.s16", {b16(5), b16(0)}, 0, 3}});
  checkRows(32, {{"div.s32", {b32(5), b32(0)}, 0, 15},
                 {"rem.u32", {b32(5), b32(0)}, 0, 15}});
  checkRows(64, {{"div.u64", {b64(5), b64(0)}, 0, 255},
                 {"rem.s64", {b64(5), b64(0)}, 0, 255}});
}

TEST(ArithmeticTest, Signs) {
  checkRows(16, {
                    {"abs.s16", {b16(0x8001)}, 0x7FFF},
                    {"abs.s16", {b16(0x8000)}, 0x8000},
                    {"neg.s16", {b16(1)}, 0xFFFF},
                });
  checkRows(32, {
                    {"abs.s32", {b32(0xFFFFFFFB)}, 5},
                    {"abs.s32", {b32(5)}, 5},
                    {"abs.s32", {b32(0x80000000)}, 0x80000000},
                    {"neg.s32", {b32(0x80000000)}, 0x80000000},
                    {"neg.s32", {b32(0xFFFFFFFF)}, 1},
                });
  checkRows(64, {
                    {"abs.s64", {b64(uint64_t(-5))}, 5},
                    {"neg.s64", {b64(5)}, uint64_t(-5)},
                });
}

TEST(ArithmeticTest, Extrema) {
  const Source m16 = b16(0xFFFF), m32 = b32(0xFFFFFFFF);
  checkRows(16, {
                    {"min.u16", {m16, b16(1)}, 1},
                    {"min.s16", {m16, b16(1)}, 0xFFFF},
                    {"max.u16", {m16, b16(1)}, 0xFFFF},
                    {"max.s16", {m16, b16(1)}, 1},
                });
  checkRows(32,
            {
                {"min.u32", {m32, b32(1)}, 1},
                {"min.s32", {m32, b32(1)}, 0xFFFFFFFF},
                {"max.u32", {m32, b32(1)}, 0xFFFFFFFF},
                {"max.s32", {m32, b32(1)}, 1},
                {"min.relu.s32", {m32, b32(1)}, 0},
                {"min.relu.s32", {b32(2), b32(1)}, 1},
                {"max.relu.s32", {m32, b32(0x80000000)}, 0},
                {"max.relu.s32", {m32, b32(7)}, 7},
                {"min.u16x2", {b32(0xFFFF0001), b32(0x0002FFFF)}, 0x00020001},
                {"max.u16x2", {b32(0xFFFF0001), b32(0x0002FFFF)}, 0xFFFFFFFF},
                {"min.s16x2", {b32(0xFFFF0001), b32(0x0002FFFF)}, 0xFFFFFFFF},
                {"max.s16x2", {b32(0xFFFF0001), b32(0x0002FFFF)}, 0x00020001},
                {"min.relu.s16x2", {b32(0xFFFF0003), b32(0x00020002)}, 2},
                {"max.relu.s16x2", {b32(0xFFFF0003), b32(0x8000FFFF)}, 3},
            });
  const Source m64 = b64(~uint64_t(0));
  checkRows(64, {
                    {"min.u64", {m64, b64(1)}, 1},
                    {"min.s64", {m64, b64(1)}, ~uint64_t(0)},
                    {"max.u64", {m64, b64(1)}, ~uint64_t(0)},
                    {"max.s64", {m64, b64(1)}, 1},
                });
}

TEST(ArithmeticTest, DotProducts) {
  // Bytes 1, 127, 255 or -1, 128 or -128; halves 3, 65535 or -1.
  const Source bytes = b32(0x80FF7F01), halves = b32(0xFFFF0003);
  const Source small = b32(0x02030405), mixed = b32(0xFE030405),
               ends = b32(0x80FF0405);
  checkRows(32, {
                    {"dp4a.u32.u32", {bytes, small, b32(10)}, 0x608},
                    {"dp4a.s32.u32", {bytes, small, b32(10)}, 0x108},
                    {"dp4a.u32.s32", {bytes, mixed, b32(10)}, 0x408},
                    {"dp4a.s32.s32", {bytes, mixed, b32(10)}, 0x308},
                    {"dp2a.lo.u32.u32", {halves, ends, b32(1)}, 0x4000C},
                    {"dp2a.lo.s32.u32", {halves, ends, b32(0)}, 11},
                    {"dp2a.hi.u32.u32", {halves, ends, b32(0)}, 0x80027D},
                    {"dp2a.hi.u32.s32", {halves, ends, b32(0)}, 0xFF80007D},
                    {"dp2a.hi.s32.s32", {halves, ends, b32(0)}, 0x7D},
                });
}

//===----------------------------------------------------------------------===//
// The carry flag
//===----------------------------------------------------------------------===//

TEST(ArithmeticTest, CarriesOfSums) {
  const Source all = b32(0xFFFFFFFF), one = b32(1), none = b32(0);
  const std::string addc = "addc.u32 %d, 0, 0;";
  checkRows(32,
            {
                {"add.cc.u32", {all, b32(2)}, 1},
                {"add.cc.u32 %r0, %a, %b; " + addc, {all, one}, 1},
                {"add.cc.s32 %r0, %a, %b; " + addc, {all, one}, 1},
                {"add.cc.u32 %r0, %a, %b; " + addc, {all, none}, 0},
                // Signed overflow is no carry.
                {"add.cc.s32 %r0, %a, %b; " + addc, {b32(0x7FFFFFFF), one}, 0},
                {"add.cc.u32 %r0, %a, %b; addc.s32 %d, %c, 2;",
                 {all, one, b32(5)},
                 8},
                {"add.cc.u32 %r0, %a, %b; addc.cc.u32 %r1, %c, 0; " + addc,
                 {all, one, all},
                 1},
                {"add.cc.u32 %r0, %a, %b; addc.cc.s32 %r1, %c, -1; " + addc,
                 {all, one, all},
                 1},
                {"add.cc.u32 %r0, %a, %b; addc.cc.u32 %r1, %c, 0; " + addc,
                 {all, one, none},
                 0},
                // Without .cc, the flag stays.
                {"add.cc.u32 %r0, %a, %b; addc.u32 %r1, %a, %a; " + addc,
                 {all, none},
                 0},
                {"add.cc.u64 %d0, -1, 1; " + addc, {}, 1},
                {"add.cc.s64 %d0, -1, 0; " + addc, {}, 0},
            });
  checkRows(64, {
                    {"add.cc.u32 %r0, -1, 1; addc.u64 %d, %a, %b;",
                     {b64(0xFFFFFFFF), b64(0)},
                     0x100000000},
                    {"add.cc.u32 %r0, -1, 1; addc.s64 %d, %a, %b;",
                     {b64(~uint64_t(0)), b64(0)},
                     0},
                });
}

TEST(ArithmeticTest, BorrowsOfDifferences) {
  const Source all = b32(0xFFFFFFFF), one = b32(1), none = b32(0);
  const std::string subc = "subc.u32 %d, 0, 0;";
  checkRows(32,
            {
                {"sub.cc.u32", {one, b32(3)}, 0xFFFFFFFE},
                {"sub.cc.u32 %r0, %a, %b; " + subc, {none, one}, 0xFFFFFFFF},
                {"sub.cc.s32 %r0, %a, %b; " + subc, {none, one}, 0xFFFFFFFF},
                {"sub.cc.u32 %r0, %a, %b; " + subc, {one, one}, 0},
                {"sub.cc.u32 %r0, %a, %b; subc.s32 %d, 9, 2;", {none, one}, 6},
                {"sub.cc.u32 %r0, %a, %b; subc.cc.u32 %r1, 0, 0; " + subc,
                 {none, one},
                 0xFFFFFFFF},
                // b + borrow does not fit in 32 bits.
                {"sub.cc.u32 %r0, %a, %b; subc.cc.u32 %r1, 0, %c; " + subc,
                 {none, one, all},
                 0xFFFFFFFF},
                {"sub.cc.u32 %r0, %a, %b; subc.cc.s32 %r1, 5, 0; " + subc,
                 {none, one},
                 0},
                {"sub.cc.u64 %d0, 0, 1; " + subc, {}, 0xFFFFFFFF},
                {"sub.cc.s64 %d0, 1, 1; " + subc, {}, 0},
            });
  checkRows(64, {{"sub.cc.u32 %r0, 0, 1; subc.u64 %d, %a, 0;",
                  {b64(0x100000000)},
                  0xFFFFFFFF}});
}

TEST(ArithmeticTest, DifferencesLeaveACarryWhereNothingIsBorrowed) {
  const Source one = b32(1), none = b32(0);
  const std::string sub = "sub.cc.u32 %r0, %a, %b; ";
  checkRows(
      32,
      {
          {sub + "addc.u32 %d, 0, 0;", {one, one}, 1},
          {sub + "addc.u32 %d, 0, 0;", {none, one}, 0},
          {sub + "addc.cc.u32 %r1, -1, 0; addc.u32 %d, 0, 0;", {one, one}, 1},
          {sub + "madc.lo.u32 %d, 0, 0, 0;", {one, one}, 1},
          {sub + "madc.hi.s32 %d, 0, 0, 0;", {none, one}, 0},
          {"add.cc.u32 %r0, %a, %b; subc.u32 %d, 0, 0;",
           {one, one},
           0xFFFFFFFF},
          {"add.cc.u32 %r0, -1, %a; subc.u32 %d, 0, 0;", {one}, 0},
          {"mad.lo.cc.u32 %r0, 0, 0, 0; subc.u32 %d, 7, 2;", {}, 4},
      });
}

TEST(ArithmeticTest, CarriesOfProducts) {
  const Source all = b32(0xFFFFFFFF), least = b32(0x80000000);
  const std::string addc = "addc.u32 %d, 0, 0;";
  checkRows(
      32, {
              {"mad.lo.cc.u32", {all, all, all}, 0},
              {"mad.lo.cc.u32 %r0, %a, %b, %c; " + addc, {all, all, all}, 1},
              {"mad.lo.cc.s32 %r0, %a, %b, %c; " + addc, {all, all, b32(1)}, 0},
              {"mad.hi.cc.s32", {all, all, all}, 0xFFFFFFFF},
              {"mad.hi.cc.u32", {all, all, all}, 0xFFFFFFFD},
              {"mad.hi.cc.s32 %r0, %a, %b, %c; " + addc, {all, all, all}, 0},
              {"mad.hi.cc.u32 %r0, %a, %b, %c; " + addc, {all, all, all}, 1},
              {"mad.hi.cc.s32 %r0, %a, %b, %c; " + addc,
               {least, least, b32(0xC0000000)},
               1},
              {"add.cc.u32 %r0, -1, 1; madc.lo.u32 %d, %a, %b, %c;",
               {b32(3), b32(5), b32(7)},
               23},
              {"add.cc.u32 %r0, -1, 1; madc.hi.s32 %d, %a, %b, %c;",
               {least, b32(2), b32(7)},
               7},
              {"add.cc.u32 %r0, -1, 1; madc.lo.cc.u32 %r1, %a, %b, %c; " + addc,
               {all, b32(1), b32(0)},
               1},
              {"add.cc.u32 %r0, -1, 1; madc.hi.cc.u32 %r1, %a, %b, %c; " + addc,
               {all, all, b32(1)},
               1},
          });
  checkRows(
      64,
      {
          {"mad.hi.cc.u64",
           {b64(~uint64_t(0)), b64(~uint64_t(0)), b64(0)},
           0xFFFFFFFFFFFFFFFE},
          {"mad.hi.cc.s64", {b64(~uint64_t(0)), b64(~uint64_t(0)), b64(0)}, 0},
          {"add.cc.u32 %r0, -1, 1; madc.lo.s64 %d, %a, %b, %c;",
           {b64(uint64_t(-2)), b64(3), b64(4)},
           uint64_t(-1)},
      });
}

/// The example of PTX ISA, section 9.7.2.6: 64 by 64 bits.
TEST(ArithmeticTest, LongProduct) {
  const std::string product = "mul.lo.u32 %r0, %a, %c; "
                              "mul.hi.u32 %r1, %a, %c; "
                              "mad.lo.cc.u32 %r1, %b, %c, %r1; "
                              "madc.hi.u32 %r2, %b, %c, 0; "
                              "mad.lo.cc.u32 %r1, %a, %e, %r1; "
                              "madc.hi.cc.u32 %r2, %a, %e, %r2; "
                              "addc.u32 %r3, 0, 0; "
                              "mad.lo.cc.u32 %r2, %b, %e, %r2; "
                              "madc.hi.u32 %r3, %b, %e, %r3; ";
  // (2^64 - 1)^2.
  const std::vector<Source> all(4, b32(0xFFFFFFFF));
  checkRows(32, {
                    {product + "mov.b32 %d, %r0;", all, 1},
                    {product + "mov.b32 %d, %r1;", all, 0},
                    {product + "mov.b32 %d, %r2;", all, 0xFFFFFFFE},
                    {product + "mov.b32 %d, %r3;", all, 0xFFFFFFFF},
                });
}

//===----------------------------------------------------------------------===//
// Undefined bytes
//===----------------------------------------------------------------------===//

TEST(ArithmeticTest, UndefinedBytesSpread) {
  auto undefined = [](Source source, uint8_t bytes) {
    return undefinedBytes(source, bytes);
  };
  const Source hole = undefined(b32(0x01020304), 2), x = b32(0x11);
  checkRows(
      32, {
              // Undefined bytes spread upwards in sums and low products; lower
              // bytes keep their values.
              {"add.u32", {hole, x}, 0x15, 0xE},
              {"add.u32", {x, hole}, 0x15, 0xE},
              {"sub.s32", {hole, x}, 0xF3, 0xE},
              {"mul.lo.u32", {hole, x}, 0x44, 0xE},
              {"mad.lo.u32", {x, x, hole}, 0x25, 0xE},
              {"neg.s32", {hole}, 0xFC, 0xE},
              {"mul.wide.u16", {undefined(b16(0x0304), 2), b16(2)}, 0x08, 0xE},
              {"mad.wide.u16", {b16(2), b16(2), hole}, 0x08, 0xE},
              // All bytes become undefined.
              {"add.sat.s32", {hole, x}, 0, 0xF},
              {"sub.sat.s32", {hole, x}, 0, 0xF},
              {"mul.hi.u32", {hole, x}, 0, 0xF},
              {"mad.hi.s32", {hole, x, x}, 0, 0xF},
              {"mad.hi.sat.s32", {x, x, hole}, 0, 0xF},
              {"mul24.lo.u32", {hole, x}, 0, 0xF},
              {"sad.u32", {x, hole, x}, 0, 0xF},
              {"div.u32", {hole, x}, 0, 0xF},
              {"rem.s32", {x, hole}, 0, 0xF},
              {"abs.s32", {hole}, 0, 0xF},
              {"min.u32", {hole, x}, 0, 0xF},
              {"max.relu.s32", {x, hole}, 0, 0xF},
              {"dp4a.u32.u32", {hole, x, x}, 0, 0xF},
              {"dp2a.lo.u32.u32", {x, x, hole}, 0, 0xF},
              // Only one element becomes undefined.
              {"add.u16x2", {hole, x}, 0x01020015, 0x2},
              {"add.s16x2", {undefined(b32(0), 4), x}, 0x11, 0xC},
              {"min.s16x2", {hole, b32(0x00050005)}, 0x00050000, 0x3},
              {"max.u16x2", {undefined(b32(9), 8), x}, 0x11, 0xC},
              // x - x is defined.
              {"sub.u32 %d, %a, %a;", {undefined(b32(0), 0xF)}, 0},
          });
}

TEST(ArithmeticTest, UndefinedCarries) {
  const Source hole = undefinedBytes(b32(0), 4), x = b32(1);
  checkRows(
      32, {
              {"addc.u32", {x, x}, 0, 0xF},
              {"add.cc.u32", {hole, x}, 1, 0xC},
              {"add.cc.u32 %r0, %a, %b; addc.u32 %d, 0, 0;", {hole, x}, 0, 0xF},
              {"mad.hi.cc.u32", {hole, x, x}, 0, 0xF},
              {"mad.lo.cc.u32", {x, x, hole}, 1, 0xC},
              // The flag is defined again.
              {"add.cc.u32 %r0, %a, %b; add.cc.u32 %r0, %b, %b; "
               "addc.u32 %d, 0, 0;",
               {hole, x},
               0},
          });
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(ArithmeticTest, Refusals) {
  checkRefusals({
      {"add %r0, %r1, %r2;", "expected a type behind add"},
      {"add.b32 %r0, %r1, %r2;",
       "expected an integer or a floating-point type behind add, got .b32"},
      {"rem.f32 %f0, %f1, %f2;",
       "expected an integer type behind rem, got .f32"},
      {"fma.u32 %r0, %r1, %r2, %r3;",
       "expected a floating-point type behind fma, got .u32"},
      {"add.u8 %r0, %r1, %r2;",
       "expected a register for .u8, got %r0 of type .b32"},
      {"add.sat.u32 %r0, %r1, %r2;",
       "expected a type out of s32 (with .sat) behind add, got .u32"},
      {"sub.u16x2 %r0, %r1, %r2;",
       "expected a type out of integers of 16, 32 and 64 bits behind sub, got "
       ".u16x2"},
      {"add.u32 %r0, %r1;", "expected 3 operands of add, got 2"},
      {"add.u32 %r0, %r1, %d2;",
       "expected a register for .u32, got %d2 of type .b64"},
      {"add.u32 5, %r1, %r2;", "expected a register for .u32"},
      {"mul.u32 %r0, %r1, %r2;", "expected .lo, .hi or .wide behind mul"},
      {"mul.wide.u64 %d0, %d1, %d2;",
       "expected a type out of u16, s16, u32 and s32 (with .wide) behind mul, "
       "got .u64"},
      {"mul.lo.sat.s32 %r0, %r1, %r2;", "expected .sat behind mad.hi.s32 only"},
      {"mad.hi.sat.u32 %r0, %r1, %r2, %r3;",
       "expected .sat behind mad.hi.s32 only"},
      {"mul24.wide.u32 %d0, %r1, %r2;",
       "expected .lo or .hi, and .u32 or .s32, behind mul24"},
      {"mad24.lo.u16 %s0, %s1, %s2, %s3;",
       "expected .lo or .hi, and .u32 or .s32, behind mad24"},
      {"mad24.lo.sat.s32 %r0, %r1, %r2, %r3;",
       "expected .sat behind mad24.hi.s32 only"},
      {"abs.u32 %r0, %r1;",
       "expected a type out of s16, s32 and s64 behind abs, got .u32"},
      {"min.relu.u32 %r0, %r1, %r2;",
       "expected a type out of s32 and s16x2 (with .relu) behind min, got "
       ".u32"},
      {"dp2a.wide.u32.u32 %r0, %r1, %r2, %r3;",
       "expected .lo or .hi behind dp2a"},
      {"dp4a.u32 %r0, %r1, %r2, %r3;",
       "expected two types out of u32 and s32 behind dp4a"},
      {"add.cc.u16 %s0, %s1, %s2;",
       "expected a type out of u32, s32, u64 and s64 (with a carry) behind "
       "add, got .u16"},
      {"madc.u32 %r0, %r1, %r2, %r3;", "expected .lo or .hi behind madc"},
      {"addc.sat.u32 %r0, %r1, %r2;",
       "not supported in this version: modifier 'sat' of addc"},
  });
}
