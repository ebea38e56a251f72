//===- MemoryTest.cpp - Tests of loads and stores -------------------------===//
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

/// The message of one access in line 2, behind a body.
#define EXPECT_REFUSED(before, access, text)                                   \
  EXPECT_FAILS(makeRun(std::string(before) + "\n" + (access), 1), 2, text)

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

TEST(MemoryTest, BuffersEndWhereTheyEnd) {
  const std::string bounds = "is out of bounds of argument 0, which has 4096 "
                             "bytes at 0x";
  EXPECT_EQ(getError(makeRun("ld.global.b8 %s0, [%buf0 + 4095];", 1)),
            "no error");
  EXPECT_REFUSED("", "ld.global.b8 %s0, [%buf0 + 4096];", bounds);
  EXPECT_REFUSED("", "ld.global.b8 %s0, [%buf0 + -1];", bounds);
  EXPECT_REFUSED("", "st.global.b8 [%buf0 + 4096], %r0;", bounds);
  EXPECT_REFUSED("", "ld.global.v2.b64 {%d8, %d9}, [%buf0 + -16];", bounds);
  // The last byte of a wide access counts.
  EXPECT_REFUSED("",
                 "ld.global.v8.b32 {%r4, %r4, %r4, %r4, %r4, %r4, %r4, "
                 "%r4}, [%buf0 + 4096];",
                 bounds);
  EXPECT_REFUSED("", "ld.b32 %r4, [%buf0 + 4096];", bounds);
}

TEST(MemoryTest, BetweenBuffersIsNothing) {
  // Half-way from one argument to the next.
  const std::string halfway = "sub.u64 %d9, %buf1, %buf0; shr.u64 %d9, %d9, 1;"
                              "add.u64 %d9, %d9, %buf0;";
  EXPECT_REFUSED(halfway, "ld.global.b32 %r4, [%d9];",
                 "is out of bounds of argument 0");
  EXPECT_REFUSED(halfway, "st.b32 [%d9], %r4;",
                 "is out of bounds of argument 0");
  // An address that is computed from a wrong pointer is in no allocation.
  EXPECT_REFUSED("mov.b64 %d9, 0x2000;", "ld.global.b32 %r4, [%d9];",
                 "is in no allocation");
  EXPECT_REFUSED("not.b64 %d9, %buf0; and.b64 %d9, %d9, -256;",
                 "ld.global.b32 %r4, [%d9];", "is in no allocation");
}

TEST(MemoryTest, SharedMemoryHasGaps) {
  const std::string outside = "in shared memory is outside of its variables";
  EXPECT_REFUSED("", "st.shared.b8 [S + 4096], %r0;", outside);
  EXPECT_REFUSED("", "ld.shared.b8 %s0, [M + -1];", outside);
  EXPECT_REFUSED("", "ld.shared.b8 %s0, [S + -1];", outside);
  EXPECT_REFUSED("cvta.shared.u64 %d9, 0x1400;", "ld.b8 %s0, [%d9];", outside);
  EXPECT_REFUSED("", "ld.shared.b8 %s0, [M + 4096];",
                 "in shared memory is out of bounds, which has");
}

TEST(MemoryTest, LocalMemoryHasGaps) {
  const std::string variables =
      ".local .align 8 .b8 A[8], B[8]; st.local.b64 [B], %d1;";
  const std::string outside = "in local memory is outside of its variables";
  EXPECT_REFUSED(variables, "ld.local.b8 %s0, [A + 8];", outside);
  EXPECT_REFUSED(variables, "ld.local.b8 %s0, [B + -1];", outside);
  EXPECT_REFUSED(variables + "mov.u64 %d9, A; cvta.local.u64 %d9, %d9;",
                 "st.b64 [%d9 + 8], %d1;", outside);
  EXPECT_REFUSED(variables, "ld.local.b8 %s0, [B + 8];",
                 "in local memory is out of bounds, which has");
  // Nor do the frames of functions touch each other.
  KernelRun run = makeRun(".local .b8 A[16]; st.local.b8 [A + 15], 1;"
                          "call f;",
                          1);
  run.declarations = ".func f() { .local .align 1 .b8 L[4]; .reg .b16 s;"
                     "ld.local.b8 s, [L + -1]; ret; }";
  EXPECT_FAILS(run, 0, outside);
}

TEST(MemoryTest, LocalVariablesAreTooLarge) {
  EXPECT_EQ(getLoadError(".local .b8 A[300000], B[300000];"),
            "expected at most 524288 bytes of local memory for a thread, got "
            "600016");
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

// Word 1023 - i, as compilers write it: the address in the register is below
// the window, or above its end.
TEST(MemoryTest, AddressesOf32BitsWrap) {
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 1024; ++i)
    expected[i] = 1023 - i;
  for (const char *address :
       {"sub.u32 %r5, %r2, %r1; ld.shared.b32 %r6, [%r5 + 4092];",
        "add.u32 %r5, %r1, 8192; sub.u32 %r5, %r2, %r5; "
        "ld.shared.b32 %r6, [%r5 + 12284];",
        "sub.u32 %r5, %r2, %r1; cvt.u64.u32 %d5, %r5;"
        "ld.shared.b32 %r6, [%d5 + 4092];",
        "sub.u32 %r5, %r2, %r1; ld.shared::cluster.b32 %r6, [%r5 + 4092];",
        ".local .align 4 .b8 L[64]; mov.u32 %r7, L; sub.u32 %r5, %r7, 8192;"
        "sub.u32 %r8, 1023, %r0; st.local.b32 [%r7 + 4], %r8;"
        "ld.local.b32 %r6, [%r5 + 8196];"})
    EXPECT_EQ(getOutput(makeRun(std::string("st.shared.b32 [%r3], %r0;"
                                            "bar.sync 0;") +
                                    address + "st.global.b32 [%d3], %r6;",
                                1024)),
              expected)
        << address;
  EXPECT_FAILS(makeRun("sub.u32 %r5, 0, 8192;\nld.shared.b32 %r6, [%r5];"), 2,
               "lane 0: ");
}

TEST(MemoryTest, AccessesAreAlignedToTheirSize) {
  struct Row {
    const char *access;
    unsigned size;
  };
  for (Row row :
       {Row{"ld.global.b16 %s0, [%buf0 + 1];", 2},
        Row{"st.global.b16 [%buf0 + 3], %s0;", 2},
        Row{"st.global.b64 [%buf0 + 4], %d1;", 8},
        Row{"ld.global.v2.b32 {%r4, %r5}, [%buf0 + 4];", 8},
        Row{"st.global.v4.b32 [%buf0 + 8], {%r0, %r0, %r0, %r0};", 16},
        Row{"ld.global.v4.b64 {%d4, %d5, %d6, %d7}, [%buf0 + 16];", 32},
        Row{"ld.b32 %r4, [%buf0 + 2];", 4},
        Row{"ld.shared.b32 %r4, [S + 2];", 4},
        Row{"st.shared.v2.b16 [S + 2], {%s0, %s0};", 4},
        Row{"ld.param.b32 %r4, [B0 + 2];", 4},
        Row{"ld.const.b32 %r4, [C + 1];", 4},
        Row{"st.local.b64 [L + 4], %d1;", 8}}) {
    KernelRun run =
        makeRun(".local .align 8 .b8 L[16];\n" + std::string(row.access));
    run.declarations = ".const .align 8 .b8 C[16];";
    EXPECT_FAILS(run, 2,
                 "block (0,0,0), warp 0, lane 0: a " +
                     std::string(row.access[0] == 's' ? "store" : "load") +
                     " of " + std::to_string(row.size) + " bytes at 0x");
    EXPECT_FAILS(run, 2,
                 " expected an address that is a multiple of " +
                     std::to_string(row.size));
  }
}

TEST(MemoryTest, TheLaneThatIsMisalignedIsNamed) {
  EXPECT_FAILS(makeRun("setp.eq.u32 %p0, %r0, 37; selp.u32 %r4, 2, 0, %p0;"
                       "add.u32 %r3, %r3, %r4;\nst.shared.b32 [%r3], %r0;",
                       64),
               2,
               "warp 1, lane 5: a store of 4 bytes at 0x496 expected an "
               "address that is a multiple of 4");
}

//===----------------------------------------------------------------------===//
// Spaces and widths
//===----------------------------------------------------------------------===//

TEST(MemoryTest, SpacesAreKeptApart) {
  EXPECT_REFUSED("mov.u64 %d9, S; cvta.shared.u64 %d9, %d9;",
                 "ld.shared.b32 %r4, [%d9];", "in shared memory is out of");
  EXPECT_REFUSED(".local .b32 L; mov.u64 %d9, L; cvta.local.u64 %d9, %d9;",
                 "st.local.b32 [%d9], 1;", "in local memory is out of bounds");
  EXPECT_REFUSED("", "ld.const.b32 %r4, [%buf0];",
                 "expected constant memory, got argument 0");
  EXPECT_REFUSED("mov.u64 %d9, B0; cvta.param.u64 %d9, %d9;",
                 "st.b32 [%d9], 1;", "would change a parameter of the kernel");
}

// mov makes a local copy of a function's parameter, which may change.
TEST(MemoryTest, AddressesOfParameters) {
  KernelRun run = makeRun(".param .align 8 .b8 a[16]; st.param.b32 [a], 1;"
                          "st.param.b32 [a + 8], 5; call (%r4), f, (a);"
                          "ld.param.b32 %r5, [a + 8];"
                          "mov.b64 %d9, B1; ld.param.b64 %d9, [%d9];"
                          "st.global.v2.b32 [%d9], {%r4, %r5};",
                          1);
  run.declarations =
      ".func (.reg .b32 o) f(.param .align 8 .b8 a[16]) { .reg .b64 d, e;"
      ".reg .b32 r; mov.b64 d, a; add.u64 d, d, 8; ld.local.b32 o, [d];"
      "st.local.b32 [d], 7; cvta.local.u64 e, d; ld.b32 r, [e];"
      "add.u32 o, o, r; ld.param.b32 r, [a]; add.u32 o, o, r; ret; }";
  std::vector<uint32_t> output = getOutput(run);
  EXPECT_EQ(output[0], 13u);
  EXPECT_EQ(output[1], 5u);
  EXPECT_REFUSED("", "ld.param.b32 %r4, [8];",
                 "a load of 4 bytes at 0x8 expected a parameter");
  EXPECT_REFUSED("", "ld.param.b32 %r4, [%buf0];", "expected a parameter");
}

// A value of 128 bits is in two registers, which a constant does not have.
TEST(MemoryTest, WideOperandsAreRegisters) {
  for (const char *operand : {"%tid.x", "V", "0"}) {
    const std::string text = operand;
    const std::string variables = ".shared .b32 V; .reg .b128 q; ";
    const std::string message = "expected a register or constant for .b128";
    EXPECT_EQ(getLoadError(variables + "mov.b128 q, " + text + ";"), message);
    EXPECT_EQ(getLoadError(variables + "st.global.b128 [%buf0], " + text + ";"),
              message);
  }
}

TEST(MemoryTest, SizesOfSharedMemoryHaveUnits) {
  KernelRun run = makeRun("mov.u32 %r4, %total_smem_size; mov.u32 %r5, "
                          "%aggr_smem_size; mov.u32 %r6, %dynamic_smem_size;"
                          "st.shared.b32 [M], 1;"
                          "st.global.v2.b32 [%buf1], {%r4, %r5};"
                          "st.global.b32 [%buf1 + 8], %r6;",
                          1);
  run.dynamicShared = 100;
  std::vector<uint32_t> output = getOutput(run);
  // 4096 bytes of S, 64 of M and 100 are 34 units of 128.
  EXPECT_EQ(output[0], 4352u);
  EXPECT_EQ(output[1], 4352u + 1024);
  EXPECT_EQ(output[2], 100u);
}

//===----------------------------------------------------------------------===//
// Spaces of addresses
//===----------------------------------------------------------------------===//

TEST(MemoryTest, AddressesTellTheirSpace) {
  const std::string start = ".local .align 8 .b8 L[8]; mov.u64 %d5, L; "
                            "cvta.local.u64 %d5, %d5; mov.u64 %d6, S; "
                            "cvta.shared.u64 %d6, %d6; mov.u32 %r4, 0; ";
  struct Case {
    const char *space;
    // Of a local, a shared and a global address.
    uint32_t expected;
  };
  for (const Case &row :
       {Case{"local", 1}, Case{"shared", 2}, Case{"global", 4},
        Case{"const", 0}, Case{"param", 0}}) {
    std::string body = start;
    const char *addresses[] = {"%d5", "%d6", "%d2"};
    for (unsigned i = 0; i != 3; ++i)
      body += "isspacep." + std::string(row.space) + " %p0, " + addresses[i] +
              "; @%p0 or.b32 %r4, %r4, " + std::to_string(1 << i) + "; ";
    EXPECT_EQ(getOutput(makeRun(body + "st.global.b32 [%d3], %r4;", 1))[0],
              row.expected)
        << row.space;
  }
}

TEST(MemoryTest, UniformLoads) {
  EXPECT_EQ(getOutput(makeRun(
                "ldu.global.b32 %r4, [%d2]; st.global.b32 [%d3], %r4;"))[5],
            5u);
}

// Tiles of several warps in cooperative_groups have their barriers there.
TEST(MemoryTest, ReservedSharedMemory) {
  const std::string store = "st.global.b32 [%d3], %r4;";
  std::vector<uint32_t> expected(1024);
  auto expectAll = [&](const std::string &body, uint32_t word) {
    std::fill_n(expected.begin(), 32, word);
    EXPECT_EQ(getOutput(makeRun(body + store)), expected) << body;
  };
  expectAll("mov.u32 %r4, %reserved_smem_offset_begin;", 0);
  expectAll("mov.u32 %r4, %reserved_smem_offset_end;", 1024);
  expectAll("mov.u32 %r4, %reserved_smem_offset_cap;", 1024);
  expectAll("mov.u32 %r4, %reserved_smem_offset_0;", 0);
  expectAll("mov.u32 %r5, %reserved_smem_offset_1;"
            "ld.shared.b32 %r4, [%r5]; bar.warp.sync -1;"
            "atom.shared.add.u32 %r6, [%r5], 2; bar.warp.sync -1;"
            "ld.shared.b32 %r6, [%r5]; add.u32 %r4, %r4, %r6;",
            64);
  // In kernels without %reserved_smem_offset_1, nothing is mapped there.
  EXPECT_FAILS(makeRun("ld.shared.b32 %r4, [512];"), 1,
               "in shared memory is outside of its variables");
}

//===----------------------------------------------------------------------===//
// Dynamic shared memory
//===----------------------------------------------------------------------===//

/// Stores the addresses of D and of E, names of dynamic shared memory.
static KernelRun makeDynamicRun(const std::string &variables,
                                const std::string &names) {
  KernelRun run;
  run.body = variables + "mov.u32 %r0, D; st.global.b32 [%buf0], %r0;"
                         "mov.u32 %r0, E; st.global.b32 [%buf0 + 4], %r0;";
  run.declarations = names;
  run.buffers = {zeros<uint32_t>(2)};
  run.threads = 1;
  run.dynamicShared = 64;
  return run;
}

static uint32_t getDynamicAddress(const KernelRun &run) {
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  std::vector<uint32_t> addresses = result.get<uint32_t>(0);
  EXPECT_EQ(addresses[0], addresses[1]);
  return addresses[0];
}

/// As on an H200, which has no gaps between variables.
TEST(MemoryTest, DynamicSharedMemoryIsAlignedAsDeclared) {
  const struct {
    unsigned bytes, alignment, modulus, expected;
  } rows[] = {
      {0, 128, 1024, 0},       {256, 128, 1024, 0x100}, {256, 1, 1024, 0x100},
      {100, 1, 1024, 0x70},    {100, 128, 1024, 0x80},  {1000, 128, 1024, 0},
      {256, 1024, 1024, 0},    {256, 2048, 2048, 0},    {3072, 16, 1024, 0},
      {4000, 64, 1024, 0x3c0},
  };
  for (const auto &row : rows) {
    std::string variables = row.bytes == 0
                                ? ""
                                : ".shared .b8 A[" + std::to_string(row.bytes) +
                                      "]; st.shared.b8 [A], 1;";
    // The other name asks for less.
    std::string names = ".extern .shared .align 1 .b8 D[]; .extern .shared "
                        ".align " +
                        std::to_string(row.alignment) + " .b8 E[];";
    EXPECT_EQ(getDynamicAddress(makeDynamicRun(variables, names)) % row.modulus,
              row.expected)
        << row.bytes << " " << row.alignment;
  }
  std::string two = ".shared .b8 A[100]; .shared .align 8 .b8 B[8];"
                    "st.shared.b8 [A], 1; st.shared.b8 [B], 1;";
  const std::string names = ".extern .shared .align 16 .b8 D[], E[];";
  EXPECT_EQ(getDynamicAddress(makeDynamicRun(two, names)) % 1024, 0x70u);
}

TEST(MemoryTest, DynamicSharedMemoryOfEachKernel) {
  // Another kernel has variables, and a function that both may call.
  KernelRun run = makeDynamicRun(
      "", ".extern .shared .align 16 .b8 D[], E[]; .shared .b8 A[256];"
          ".func (.reg .b32 r) f() { mov.u32 r, D; ret; } "
          ".entry other() { .reg .b32 r; mov.u32 r, A; call (r), f; ret; }");
  run.body += "call (%r1), f; st.global.b32 [%buf0 + 4], %r1;";
  EXPECT_EQ(getDynamicAddress(run), 0x400u);
  run.body = "mov.u32 %r2, A;" + run.body;
  EXPECT_EQ(getDynamicAddress(run) % 1024, 0x100u);
}

TEST(MemoryTest, DynamicSharedMemoryInAnInitializer) {
  std::string error =
      getError(makeDynamicRun("", ".extern .shared .align 16 .b8 D[], E[]; "
                                  ".global .u64 G = D;"));
  EXPECT_NE(error.find("not supported in this version: the address of dynamic "
                       "shared memory in an initializer"),
            std::string::npos)
      << error;
}
