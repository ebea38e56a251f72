//===- AtomicsTest.cpp - Tests of atom and red ----------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// Word 0 of the output after `text` in one thread, in which it is `before` at
/// first; the old value, which `text` puts into %r4, is word 1.
static std::pair<uint32_t, uint32_t> change(const std::string &text,
                                            const std::string &before) {
  std::vector<uint32_t> output = getOutput(
      makeRun("mov.b32 %r5, " + before + "; st.global.b32 [%buf1], %r5; " +
                  text + " st.global.b32 [%buf1 + 4], %r4;",
              1));
  return {output[0], output[1]};
}

TEST(AtomicsTest, OperationsOnIntegers) {
  struct Row {
    const char *operation, *before, *operand;
    uint32_t after;
  };
  for (Row row :
       {Row{"add.u32", "7", "-9", uint32_t(-2)},
        Row{"add.s32", "7", "-9", uint32_t(-2)},
        Row{"min.s32", "7", "-9", uint32_t(-9)}, Row{"min.u32", "7", "-9", 7},
        Row{"max.s32", "7", "-9", 7}, Row{"max.u32", "7", "-9", uint32_t(-9)},
        Row{"and.b32", "12", "10", 8}, Row{"or.b32", "12", "10", 14},
        Row{"xor.b32", "12", "10", 6}, Row{"exch.b32", "12", "10", 10},
        Row{"inc.u32", "4", "5", 5}, Row{"inc.u32", "5", "5", 0},
        Row{"inc.u32", "9", "5", 0}, Row{"dec.u32", "4", "5", 3},
        Row{"dec.u32", "0", "5", 5}, Row{"dec.u32", "9", "5", 5},
        Row{"cas.b32", "12", "12, 3", 3}, Row{"cas.b32", "12", "13, 3", 12}}) {
    std::string rest =
        row.operation + std::string(" %r4, [%buf1], ") + row.operand + ";";
    uint32_t before = std::stoul(row.before);
    for (const char *prefix :
         {"atom.global.", "atom.", "atom.relaxed.gpu.global.",
          "atom.global.acq_rel.sys."})
      EXPECT_EQ(change(prefix + rest, row.before),
                (std::pair(row.after, before)))
          << prefix << rest;
    std::string operation = row.operation;
    if (operation == "exch.b32" || operation == "cas.b32")
      continue;
    EXPECT_EQ(change("mov.u32 %r4, 1; red.global." + operation + " [%buf1], " +
                         row.operand + ";",
                     row.before)
                  .first,
              row.after)
        << operation;
  }
}

TEST(AtomicsTest, OperationsOnFloats) {
  auto after = [](const std::string &text, const std::string &before) {
    return change("mov.u32 %r4, 0; " + text, before).first;
  };
  EXPECT_EQ(after("mov.b32 %f1, 0x40000000; atom.global.add.f32 %f0, [%buf1], "
                  "%f1;",
                  "0x3f800000"),
            0x40400000u);
  // Subnormals are zeros in global memory, and are not in shared memory.
  EXPECT_EQ(
      after("mov.b32 %f1, 1; red.global.add.f32 [%buf1], %f1;", "0x80000002"),
      0u);
  EXPECT_EQ(after("mov.b32 %f1, 1; red.add.f32 [%buf1], %f1;", "2"), 0u);
  EXPECT_EQ(after("mov.b32 %f1, 1; st.shared.b32 [S], 2;"
                  "red.shared.add.f32 [S], %f1; ld.shared.b32 %r6, [S];"
                  "st.global.b32 [%buf1], %r6;",
                  "0"),
            3u);
  EXPECT_EQ(after("mov.b32 %r6, 0x40003c00; atom.global.add.noftz.f16x2 %r4, "
                  "[%buf1], %r6;",
                  "0x3c003c00"),
            0x42004000u);
  EXPECT_EQ(after("mov.b32 %r6, 0x40003f80; red.global.add.noftz.bf16x2 "
                  "[%buf1], %r6;",
                  "0x3f803f80"),
            0x40404000u);
  EXPECT_EQ(after("mov.b16 %s0, 0x4000; atom.global.add.noftz.f16 %s1, "
                  "[%buf1 + 2], %s0;",
                  "0x3c003c00"),
            0x42003C00u);
  EXPECT_EQ(after("mov.b16 %s0, 0x4000; red.global.add.noftz.bf16 [%buf1], "
                  "%s0;",
                  "0x3f803f80"),
            0x3F804040u);
}

TEST(AtomicsTest, OperationsOnWideElements) {
  auto words = [](const std::string &text) {
    std::vector<uint32_t> output = getOutput(makeRun(text, 1));
    output.resize(4);
    return output;
  };
  using Words = std::vector<uint32_t>;
  EXPECT_EQ(words("st.global.b64 [%buf1], -1; atom.global.add.u64 %d9, "
                  "[%buf1], 3; st.global.b64 [%buf1 + 8], %d9;"),
            (Words{2, 0, 0xFFFFFFFF, 0xFFFFFFFF}));
  EXPECT_EQ(words("st.global.b64 [%buf1], -1; red.global.max.s64 [%buf1], 3;"),
            (Words{3, 0, 0, 0}));
  EXPECT_EQ(words("st.global.b64 [%buf1], -1; atom.global.cas.b64 %d9, [%buf1],"
                  " -1, 6;"),
            (Words{6, 0, 0, 0}));
  EXPECT_EQ(words("mov.b64 %d8, 0x3ff0000000000000; st.global.b64 [%buf1], %d8;"
                  "red.global.add.f64 [%buf1], %d8;"),
            (Words{0, 0x40000000, 0, 0}));
  EXPECT_EQ(words("mov.b16 %s0, 3; mov.b16 %s1, 0; atom.global.cas.b16 %s2, "
                  "[%buf1 + 2], %s1, %s0;"),
            (Words{3 << 16, 0, 0, 0}));
  std::string wide = ".reg .b128 %q<4>; mov.u64 %d4, 5; mov.u64 %d5, 6;"
                     "mov.u64 %d6, 7; mov.b128 %q0, {%d4, %d5};"
                     "mov.b128 %q1, {%d5, %d6}; mov.b128 %q3, {%d4, %d6};"
                     "st.global.v2.b64 [%buf1], {%d4, %d5};";
  EXPECT_EQ(words(wide + "atom.global.exch.b128 %q2, [%buf1], %q1;"),
            (Words{6, 0, 7, 0}));
  EXPECT_EQ(words(wide + "atom.global.exch.b128 %q2, [%buf1], %q1;"
                         "mov.b128 {%d8, %d9}, %q2;"
                         "st.global.v2.b64 [%buf1], {%d9, %d8};"),
            (Words{6, 0, 5, 0}));
  EXPECT_EQ(words(wide + "atom.global.cas.b128 %q2, [%buf1], %q0, %q1;"),
            (Words{6, 0, 7, 0}));
  // Only one half is equal.
  EXPECT_EQ(words(wide + "mov.b128 %q3, {%d6, %d5};"
                         "atom.global.cas.b128 %q2, [%buf1], %q3, %q1;"),
            (Words{5, 0, 6, 0}));
  EXPECT_EQ(words(wide + "atom.global.cas.b128 %q2, [%buf1], %q3, %q1;"),
            (Words{5, 0, 6, 0}));
}

TEST(AtomicsTest, Vectors) {
  std::vector<uint32_t> output = getOutput(makeRun(
      "mov.b32 %f0, 0x3f800000; mov.b32 %f1, 0x40000000;"
      "red.global.v2.f32.add [%buf1], {%f0, %f1};"
      "atom.global.v2.f32.add {%f1, %f0}, [%buf1], {%f0, %f1};"
      "st.global.v2.f32 [%buf1 + 8], {%f1, %f0};"
      "mov.b16 %s0, 0x3c00; mov.b16 %s1, 0x4000;"
      "red.global.v4.f16.max.noftz [%buf1 + 16], {%s0, %s1, %s1, %s0};"
      "mov.b32 %r6, 0xc0003f80;"
      "atom.global.v4.bf16x2.min.noftz {%r7, %r8, %r9, %r10}, [%buf1 + 32], "
      "{%r6, %r6, %r6, %r6};",
      1));
  output.resize(9);
  EXPECT_EQ(output, (std::vector<uint32_t>{0x40000000, 0x40800000, 0x3F800000,
                                           0x40000000, 0x40003C00, 0x3C004000,
                                           0, 0, 0xC0000000}));
}

TEST(AtomicsTest, LanesActOneAfterTheOther) {
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 32; ++i)
    expected[i] = i * (i - 1) / 2;
  for (const char *text :
       {"st.shared.b32 [S], 0; bar.warp.sync -1;"
        "atom.shared.add.u32 %r4, [S], %r0; st.global.b32 [%d3], %r4;",
        "st.shared.b32 [S], 0; bar.warp.sync -1; cvta.shared.u64 %d9, 1024;"
        "atom.add.u32 %r4, [%d9], %r0; st.global.b32 [%d3], %r4;"})
    EXPECT_EQ(getOutput(makeRun(text)), expected);
  // 128 threads of 4 warps: only the sum is sure.
  EXPECT_EQ(getOutput(makeRun("red.global.add.u32 [%buf1], %r0;", 128))[0],
            8128u);
}

TEST(AtomicsTest, BlocksActOneAfterTheOther) {
  // Although four of them could run at the same time.
  KernelRun run =
      makeRun("mov.u32 %r5, %ctaid.x; mul.wide.u32 %d9, %r5, 4;"
              "add.u64 %d9, %d9, %buf1; atom.global.add.u32 %r4, [%buf1], 1;"
              "setp.eq.u32 %p0, %r0, 0; @%p0 st.global.b32 [%d9 + 4], %r4;");
  run.blocks = 1000;
  run.options.jobs = 4;
  std::vector<uint32_t> expected(1024);
  expected[0] = 32000;
  for (unsigned i = 0; i != 1000; ++i)
    expected[1 + i] = 32 * i;
  EXPECT_EQ(getOutput(run), expected);
}

TEST(AtomicsTest, UndefinedBytesSpread) {
  // Byte 1 of the operand is undefined.
  std::string start = "mov.u32 %r6, 0; st.shared.b8 [S], %r6;"
                      "st.shared.b16 [S + 2], %s0; ld.shared.b32 %r7, [S];"
                      "st.shared.b32 [S + 16], 0;";
  auto bytes = [&](const std::string &atom) {
    std::string undefined;
    for (unsigned byte = 0; byte != 4; ++byte)
      undefined +=
          getError(makeRun(
              "mov.b16 %s0, 0; " + start + atom + "ld.shared.b8 %r8, [S + " +
                  std::to_string(16 + byte) + "]; st.global.b32 [%d3], %r8;",
              1)) == "no error"
              ? '.'
              : 'U';
    return undefined;
  };
  EXPECT_EQ(bytes("red.shared.or.b32 [S + 16], %r7;"), ".U..");
  EXPECT_EQ(bytes("red.shared.add.u32 [S + 16], %r7;"), "UUUU");
  EXPECT_EQ(bytes("atom.shared.exch.b32 %r4, [S + 16], %r7;"), ".U..");
  EXPECT_EQ(bytes("atom.shared.cas.b32 %r4, [S + 16], 0, %r7;"), ".U..");
  EXPECT_EQ(bytes("atom.shared.cas.b32 %r4, [S + 16], 1, %r7;"), "....");
  EXPECT_EQ(bytes("atom.shared.cas.b32 %r4, [S + 16], %r7, 1;"), "UUUU");
  EXPECT_EQ(bytes("st.shared.b32 [S + 16], 5; atom.shared.cas.b32 %r4, "
                  "[S + 16], %r7, 1;"),
            "UUUU");
  // The old value.
  EXPECT_EQ(bytes("st.shared.b32 [S + 16], %r7; atom.shared.exch.b32 %r4, "
                  "[S + 16], 0; st.shared.b32 [S + 16], %r4;"),
            ".U..");
}

TEST(AtomicsTest, Misuse) {
  EXPECT_FAILS(makeRun("atom.global.add.u32 %r4, [%buf1 + 2], 1;"), 1,
               "a store of 4 bytes at 0x110000000102 expected an address that "
               "is a multiple of 4");
  EXPECT_FAILS(makeRun("red.global.add.u64 [%buf1 + 4], 1;"), 1,
               "is a multiple of 8");
  EXPECT_FAILS(makeRun("red.global.v2.f32.add [%buf1 + 4], {%f0, %f0};"), 1,
               "is a multiple of 8");
  EXPECT_FAILS(makeRun("red.global.add.u32 [%buf1 + 4096], 1;"), 1,
               "is out of bounds of argument 1");
  EXPECT_FAILS(makeRun("red.shared.add.u32 [S + 4096], 1;"), 1,
               "is outside of its variables");
  EXPECT_FAILS(makeRun("red.global.add.u32 [%d60], 1;"), 1,
               "an address is undefined");
  EXPECT_FAILS(makeRun(".local .b32 V; mov.u64 %d9, V; cvta.local.u64 %d9, "
                       "%d9; red.add.u32 [%d9], 1;"),
               1, "expected an atomic access of global or shared memory");
  EXPECT_FAILS(makeRun("cp.async.ca.shared.global [S], [%buf0], 4;\n"
                       "red.shared.add.u32 [S], 1;",
                       1),
               2, "has still to write");
}

TEST(AtomicsTest, FormsThatAreRefused) {
  auto load = [](const std::string &text) { return getLoadError(text + ";"); };
  auto atom = [&](const std::string &rest) {
    return load("atom.global." + rest);
  };
  EXPECT_EQ(atom("add.s64 %d1, [%d0], %d2"),
            "expected an operation that atom has, got .add.s64");
  EXPECT_EQ(atom("min.f32 %f1, [%d0], %f2"),
            "expected an operation that atom has, got .min.f32");
  EXPECT_EQ(atom("and.u32 %r1, [%d0], %r2"),
            "expected an operation that atom has, got .and.u32");
  EXPECT_EQ(atom("exch.u32 %r1, [%d0], %r2"),
            "expected an operation that atom has, got .exch.u32");
  EXPECT_EQ(atom("inc.s32 %r1, [%d0], %r2"),
            "expected an operation that atom has, got .inc.s32");
  EXPECT_EQ(atom("add.f16x2 %r1, [%d0], %r2"),
            "expected an operation that atom has, got .add.f16x2");
  EXPECT_EQ(atom("min.noftz.f16x2 %r1, [%d0], %r2"),
            "expected an operation that atom has, got .min.noftz.f16x2");
  EXPECT_EQ(atom("v2.u32.add {%r1, %r2}, [%d0], {%r3, %r4}"),
            "expected an operation that atom has, got .add.v2.u32");
  EXPECT_EQ(atom("v8.f32.add {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%d0], "
                 "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"),
            "expected an operation that atom has, got .add.v8.f32");
  EXPECT_EQ(load("atom.shared.v2.f32.add {%f1, %f2}, [%r0], {%f3, %f4}"),
            "expected .global or no state space behind a vector atom");
  EXPECT_EQ(load("red.global.exch.b32 [%d0], %r2"),
            "expected an operation and a type behind red");
  EXPECT_EQ(load("atom.async.relaxed.cluster.add.u32 %r0, [%r1], %r2"),
            "expected red.async, got atom.async");
  EXPECT_EQ(atom("add.u32 %r1, [%d0]"), "expected 3 operands of atom, got 2");
  EXPECT_EQ(atom("cas.b32 %r1, [%d0], 1"),
            "expected 4 operands of atom, got 3");
}
