//===- ComparisonsTest.cpp - Tests of comparisons -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstructionRows.h"

#include <cmath>

using namespace mlir::blockscale::sim::kerneltest;

/// The results of setp for (1, 2), (2, 2), (2, 1) and (NaN, 1).
static void expectRelations(const std::string &name, const std::string &type,
                            std::vector<Source> values, const char *expected) {
  const size_t pairs[][2] = {{0, 1}, {1, 1}, {1, 0}, {2, 0}};
  for (size_t i = 0; expected[i]; ++i) {
    Value value = evaluate("setp." + name + "." + type + " %d, %a, %b;", 1,
                           {values[pairs[i][0]], values[pairs[i][1]]});
    EXPECT_EQ(value.error, "") << name << type;
    EXPECT_EQ(value.bits, uint64_t(expected[i] - '0')) << name << type << i;
  }
}

TEST(ComparisonsTest, IntegersByAllComparisons) {
  struct Case {
    const char *name, *expected;
  };
  for (const Case &row :
       {Case{"eq", "010"}, Case{"ne", "101"}, Case{"lt", "100"},
        Case{"le", "110"}, Case{"gt", "001"}, Case{"ge", "011"}}) {
    // 1 and 2; for signed types, also -1 and 1.
    expectRelations(row.name, "u16", {b16(1), b16(0xFFFF)}, row.expected);
    expectRelations(row.name, "s16", {b16(0xFFFF), b16(1)}, row.expected);
    expectRelations(row.name, "u32", {b32(1), b32(-1)}, row.expected);
    expectRelations(row.name, "s32", {b32(-1), b32(1)}, row.expected);
    expectRelations(row.name, "u64", {b64(1), b64(-1)}, row.expected);
    expectRelations(row.name, "s64", {b64(-1), b64(1)}, row.expected);
  }
  expectRelations("lo", "u32", {b32(1), b32(2)}, "100");
  expectRelations("ls", "u32", {b32(1), b32(2)}, "110");
  expectRelations("hi", "u32", {b32(1), b32(2)}, "001");
  expectRelations("hs", "u32", {b32(1), b32(2)}, "011");
  expectRelations("eq", "b64", {b64(1), b64(1ull << 33)}, "010");
  expectRelations("ne", "b16", {b16(1), b16(2)}, "101");
}

TEST(ComparisonsTest, FloatsByAllComparisons) {
  struct Case {
    const char *name, *expected;
  };
  for (const Case &row :
       {Case{"eq", "0100"}, Case{"ne", "1010"}, Case{"lt", "1000"},
        Case{"le", "1100"}, Case{"gt", "0010"}, Case{"ge", "0110"},
        Case{"equ", "0101"}, Case{"neu", "1011"}, Case{"ltu", "1001"},
        Case{"leu", "1101"}, Case{"gtu", "0011"}, Case{"geu", "0111"},
        Case{"num", "1110"}, Case{"nan", "0001"}}) {
    expectRelations(row.name, "f32", {f32(1), f32(2), f32(NAN)}, row.expected);
    expectRelations(row.name, "f64", {f64(-2), f64(-1), f64(NAN)},
                    row.expected);
    expectRelations(row.name, "f16", {b16(0x3C00), b16(0x4000), b16(0x7E00)},
                    row.expected);
    expectRelations(row.name, "bf16", {b16(0x3F80), b16(0x4000), b16(0x7FC0)},
                    row.expected);
  }
}

TEST(ComparisonsTest, ZerosAndSubnormals) {
  expectRows({
      {"setp.eq.f32 %d, %a, %b;", 1, {b32(0x80000000), b32(0)}, 1},
      {"setp.lt.f32 %d, %a, %b;", 1, {b32(0), b32(1)}, 1},
      {"setp.lt.ftz.f32 %d, %a, %b;", 1, {b32(0), b32(1)}, 0},
      {"setp.eq.ftz.f32 %d, %a, %b;", 1, {b32(0x807FFFFF), b32(1)}, 1},
      {"setp.gt.f16 %d, %a, %b;", 1, {b16(1), b16(0)}, 1},
      {"setp.gt.ftz.f16 %d, %a, %b;", 1, {b16(1), b16(0)}, 0},
      {"setp.lt.f64 %d, %a, %b;", 1, {b64(0), b64(1)}, 1},
      {"setp.lt.f32 %d, %a, %b;", 1, {f32(-INFINITY), f32(-3e38f)}, 1},
  });
}

TEST(ComparisonsTest, CombinesAndComplements) {
  const std::string start = "setp.ne.u32 %p0, %b, 0; setp.lt.";
  struct Case {
    const char *combination;
    // By whether a < 5 and whether the predicate is set: of p and of q.
    bool p[4], q[4];
  };
  for (const Case &row : {Case{"and", {0, 0, 0, 1}, {0, 1, 0, 0}},
                          Case{"or", {0, 1, 1, 1}, {1, 1, 0, 1}},
                          Case{"xor", {0, 1, 1, 0}, {1, 0, 0, 1}}})
    for (unsigned i = 0; i != 4; ++i) {
      std::vector<Source> sources = {b32(i >> 1 ? 1 : 9), b32(i & 1)};
      std::string text = start + row.combination + ".u32 %p1|%p2, %a, 5, ";
      EXPECT_EQ(evaluate(text + "%p0; mov.pred %d, %p1;", 1, sources).bits,
                row.p[i]);
      EXPECT_EQ(evaluate(text + "%p0; mov.pred %d, %p2;", 1, sources).bits,
                row.q[i]);
      EXPECT_EQ(evaluate(text + "!%p0; mov.pred %d, %p1;", 1, sources).bits,
                row.p[i ^ 1]);
      EXPECT_EQ(
          evaluate("setp.lt.u32 %p1|%p2, %a, 5; mov.pred %d, %p2;", 1, sources)
              .bits,
          !(i >> 1));
    }
}

TEST(ComparisonsTest, PairsOfHalves) {
  // 1 < 2 in the lower half, 3 < 2 in the upper one.
  std::vector<Source> sources = {b32(0x42003C00), b32(0x40004000)};
  const std::string text = "setp.lt.f16x2 %p1|%p2, %a, %b; mov.pred %d, ";
  EXPECT_EQ(evaluate(text + "%p1;", 1, sources).bits, 1u);
  EXPECT_EQ(evaluate(text + "%p2;", 1, sources).bits, 0u);
  sources[0] = undefinedBytes(sources[0], 0b1000);
  EXPECT_EQ(evaluate(text + "%p1;", 1, sources).undefined, 0);
  EXPECT_EQ(evaluate(text + "%p2;", 1, sources).undefined, 0xF);
}

TEST(ComparisonsTest, Undefined) {
  expectRows({
      {"setp.lt.u32 %d, %a, %b;",
       1,
       {undefinedBytes(b32(0), 1), b32(7)},
       0,
       0xF},
      // A combination that the other predicate decides: %p1 is false.
      {"setp.eq.u32 %p1, %b, 0; setp.lt.and.u32 %d, %a, %b, %p1;",
       1,
       {undefinedBytes(b32(0), 1), b32(7)},
       0},
      {"setp.eq.u32 %p1, %b, 7; setp.lt.and.u32 %d, %a, %b, %p1;",
       1,
       {undefinedBytes(b32(0), 1), b32(7)},
       0,
       0xF},
      {"setp.eq.u32 %p1, %b, 7; setp.lt.or.u32 %d, %a, %b, %p1;",
       1,
       {undefinedBytes(b32(0), 1), b32(7)},
       1},
  });
}

TEST(ComparisonsTest, SetMakesNumbers) {
  expectRows({
      {"set.lt.u32.s32 %d, %a, %b;", 32, {b32(-1), b32(1)}, 0xFFFFFFFF},
      {"set.lt.u32.u32 %d, %a, %b;", 32, {b32(-1), b32(1)}, 0},
      {"set.gt.f32.f32 %d, %a, %b;", 32, {f32(2), f32(1)}, 0x3F800000},
      {"set.gt.s32.f64 %d, %a, %b;", 32, {f64(2), f64(1)}, 0xFFFFFFFF},
      {"set.eq.f16x2.f16x2 %d, %a, %b;",
       32,
       {b32(0x3C003C00), b32(0x3C004000)},
       0x3C000000},
      {"set.ne.bf16x2.bf16x2 %d, %a, %b;",
       32,
       {b32(0x3F803F80), b32(0x3F804000)},
       0x00003F80},
      {"set.eq.f16.f16 %d, %a, %b;", 16, {b16(0x3C00), b16(0x3C00)}, 0x3C00},
      {"set.eq.f16x2.f16x2 %d, %a, %b;",
       32,
       {undefinedBytes(b32(0x3C000000), 1), b32(0x3C004000)},
       0x3C000000,
       0b0011},
      {"setp.ne.u32 %p0, %b, 0; set.lt.and.u32.u32 %d, %a, %b, !%p0;",
       32,
       {b32(1), b32(2)},
       0},
  });
}

TEST(ComparisonsTest, SelectsBySign) {
  expectRows({
      {"slct.u32.s32 %d, %a, %b, %c;", 32, {b32(5), b32(6), b32(0)}, 5},
      {"slct.u32.s32 %d, %a, %b, %c;", 32, {b32(5), b32(6), b32(-1)}, 6},
      {"slct.f32.f32 %d, %a, %b, %c;", 32, {b32(5), b32(6), f32(-0.0f)}, 5},
      {"slct.b64.f32 %d, %a, %b, %c;", 64, {b64(5), b64(6), f32(NAN)}, 6},
      {"slct.b16.f32 %d, %a, %b, %c;",
       16,
       {b16(5), b16(6), b32(0x80000001)},
       6},
      {"slct.ftz.b16.f32 %d, %a, %b, %c;",
       16,
       {b16(5), b16(6), b32(0x80000001)},
       5},
      {"slct.u32.s32 %d, %a, %b, %c;",
       32,
       {undefinedBytes(b32(5), 1), b32(6), b32(-1)},
       6},
      {"slct.u32.s32 %d, %a, %b, %c;",
       32,
       {undefinedBytes(b32(5), 1), b32(6), b32(1)},
       0,
       1},
      {"slct.u32.s32 %d, %a, %b, %c;",
       32,
       {b32(5), b32(6), undefinedBytes(b32(1), 8)},
       0,
       0xF},
  });
}

TEST(ComparisonsTest, SelectsByPredicate) {
  const std::string text = "setp.ne.u32 %p0, %c, 0; selp.b32 %d, %a, %b, ";
  EXPECT_EQ(evaluate(text + "%p0;", 32, {b32(1), b32(2), b32(1)}).bits, 1u);
  EXPECT_EQ(evaluate(text + "%p0;", 32, {b32(1), b32(2), b32(0)}).bits, 2u);
  EXPECT_EQ(evaluate(text + "!%p0;", 32, {b32(1), b32(2), b32(0)}).bits, 1u);
  EXPECT_EQ(evaluate(text + "%p3;", 32, {b32(1), b32(2), b32(0)}).undefined,
            0xF);
  EXPECT_EQ(
      evaluate(text + "%p0;", 32, {undefinedBytes(b32(1), 4), b32(2), b32(1)})
          .undefined,
      4);
  EXPECT_EQ(
      evaluate(text + "%p0;", 32, {undefinedBytes(b32(1), 4), b32(2), b32(0)})
          .undefined,
      0);
}

TEST(ComparisonsTest, Properties) {
  struct Case {
    const char *name;
    // The results for 1, 0, a subnormal value, infinity and a NaN.
    bool results[5];
  };
  const uint64_t singles[] = {0x3F800000, 0, 1, 0xFF800000, 0x7FC00000};
  const uint64_t doubles[] = {0x3FF0000000000000, 0, 1, 0xFFF0000000000000,
                              0x7FF8000000000000};
  for (const Case &row :
       {Case{"finite", {1, 1, 1, 0, 0}}, Case{"infinite", {0, 0, 0, 1, 0}},
        Case{"number", {1, 1, 1, 1, 0}}, Case{"notanumber", {0, 0, 0, 0, 1}},
        Case{"normal", {1, 1, 0, 0, 0}}, Case{"subnormal", {0, 0, 1, 0, 0}}})
    for (unsigned i = 0; i != 5; ++i) {
      std::string text = "testp." + std::string(row.name);
      EXPECT_EQ(evaluate(text + ".f32 %d, %a;", 1, {b32(singles[i])}).bits,
                row.results[i])
          << row.name << i;
      EXPECT_EQ(evaluate(text + ".f64 %d, %a;", 1, {b64(doubles[i])}).bits,
                row.results[i])
          << row.name << i;
    }
}

TEST(ComparisonsTest, Refuses) {
  expectRefusals({
      {"setp.u32 %p0, %r0, %r1;",
       "expected a comparison such as .eq behind setp"},
      {"setp.lt.b32 %p0, %r0, %r1;",
       "expected a comparison that .b32 has, got .lt"},
      {"setp.equ.u32 %p0, %r0, %r1;",
       "expected a comparison that .u32 has, got .equ"},
      {"setp.lo.f32 %p0, %f0, %f1;",
       "expected a comparison that .f32 has, got .lo"},
      {"setp.lt %p0, %r0, %r1;", "expected a type behind setp"},
      {"setp.lt.ftz.f64 %p0, %d0, %d1;",
       "expected .ftz with .f32, .f16 or .f16x2, got .f64"},
      {"setp.lt.and.u32 %p0, %r0, %r1;", "expected 4 operands of setp, got 3"},
      {"setp.lt.u8 %p0, %s0, %s1;",
       "expected a register for .u8, got %s0 of type .b16"},
      {"set.lt.u64.u32 %d0, %r0, %r1;",
       "expected a type out of u32, s32, u16, s16, f32 and halves for the "
       "result behind set, got .u64"},
      {"testp.odd.f32 %p0, %f0;",
       "expected a property such as .finite behind testp"},
      {"testp.finite.f16 %p0, %s0;", "expected .f32 or .f64 behind testp"},
      {"slct.u32.u32 %r0, %r1, %r2, %r3;",
       "expected a type, and .s32 or .f32, behind slct"},
  });
}
