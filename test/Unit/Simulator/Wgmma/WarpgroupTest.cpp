//===- WarpgroupTest.cpp - Tests of wgmma ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Refused forms, and errors of kernels; kernels in test/Execution/wgmma test
// the results.
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static constexpr const char *kFence = "wgmma.fence.sync.aligned;\n";
static constexpr const char *kCommit = "wgmma.commit_group.sync.aligned;\n";
static constexpr const char *kWait = "wgmma.wait_group.sync.aligned 0;\n";
/// D is %f0 to %f3, A and B in the same 2048 bytes from 0x400 on: %d10.
static constexpr const char *kMultiply =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
    "%d10, %d10, 0, 1, 1, 0, 0;\n";
/// A in %r10 to %r13.
static constexpr const char *kMultiplyRegisters =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, "
    "{%r10, %r11, %r12, %r13}, %d10, 0, 1, 1, 0;\n";
/// The same with n16.
static constexpr const char *kMultiplyWide =
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0, %f1, %f2, %f3, "
    "%f4, %f5, %f6, %f7}, %d10, %d10, 0, 1, 1, 0, 0;\n";
/// Line 1: S is zero; K-major without swizzle, offsets 1024 and 128.
static constexpr const char *kStart =
    "mul.lo.u32 %r20, %r0, 16; add.u32 %r20, %r20, %r2; mov.b32 %r21, 0;"
    "st.shared.v4.b32 [%r20], {%r21, %r21, %r21, %r21};"
    "mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0;"
    "mov.b64 %d10, 0x800400040; fence.proxy.async.shared::cta; bar.sync 0;\n";
/// A sparse A, whose metadata is %r14.
static constexpr const char *kMultiplySparse =
    "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0, %f1, %f2, "
    "%f3}, {%r10, %r11, %r12, %r13}, %d10, %r14, 0, 0, 1, 1, 0;\n";
static constexpr const char *kStore = "st.global.f32 [%d3], %f0;\n";

static KernelRun makeWarpgroupRun(const std::string &body,
                                  unsigned threads = 128, uint64_t seed = 0) {
  KernelRun run = makeRun(kStart + body, threads, seed);
  run.target = "sm_90a";
  return run;
}

static std::string concat(std::initializer_list<std::string> lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line;
  return text;
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST(WarpgroupTest, Refused) {
  const std::string d = "{%f0, %f1, %f2, %f3}";
  const std::string rest = ", %d0, %d1, 1, 1, 1, 0, 0;";
  const std::string mma = "wgmma.mma_async.sync.aligned.";
  const std::string sparse = "wgmma.mma_async.sp.sync.aligned.";
  const std::string constants = ", 1, 1, 1, 0, 0;";
  const struct {
    std::string text, message;
  } rows[] = {
      {sparse + "m64n8k64.f32.e4m3.e4m3 " + d + ", %d0, %d1, %r0, 0, 1, 1, 1;",
       "not supported in this version: wgmma.mma_async.sp of .f32.e4m3.e4m3"},
      {sparse + "m64n8k16.f32.f16.f16 " + d + ", %d0, %d1, %r0, 0" + constants,
       "expected K of 32 of wgmma.mma_async.sp of .f32.f16.f16"},
      {sparse + "m64n8k32.f32.f16.f16 " + d + ", %d0, %d1, %r0, 2" + constants,
       "expected 0 or 1 for sp-sel, got 2"},
      {sparse + "m64n8k32.f32.f16.f16 " + d + rest,
       "expected 10 operands of wgmma, got 8"},
      {mma + "m64n8k256.s32.b1.b1.and.popc {%r0, %r1, %r2, %r3}, %d0, %d1, 1;",
       "not supported in this version: wgmma.mma_async with .b1"},
      {mma + "m64n12k16.f32.f16.f16 " + d + rest,
       "expected N out of the multiples of 8 up to 256"},
      {mma + "m64n264k16.f32.f16.f16 " + d + rest, "got .m64n264k16"},
      {mma + "m64n40k32.s32.s8.s8 " + d + ", %d0, %d1, 1;",
       "multiples of 16 up to 256, and of 8 up to 32"},
      {mma + "m64n8k32.f32.f16.f16 " + d + rest, "expected K of 16"},
      {mma + "m32n8k16.f32.f16.f16 " + d + rest, "expected M of 64"},
      {mma + "m64k16.f32.f16.f16 " + d + rest, "expected a shape such as"},
      {mma + "m64n8k16.f32.f16.bf16 " + d + rest,
       "expected types of D, A and B that wgmma.mma_async has, got "
       ".f32.f16.bf16"},
      {mma + "m64n8k16.f16.bf16.bf16 {%r0, %r1}" + rest, "expected types"},
      {mma + "m64n8k16.f32.f16 " + d + rest, "expected the types of D, A"},
      {mma + "m64n8k16.satfinite.f32.f16.f16 " + d + rest,
       "expected .satfinite only with D of s32"},
      {mma + "m64n8k16.f32.f16.f16.ftz " + d + rest, "modifier 'ftz'"},
      {"wgmma.mma_async.aligned.m64n8k16.f32.f16.f16 " + d + rest,
       "expected .sync"},
      {"wgmma.mma_async.sync.m64n8k16.f32.f16.f16 " + d + rest,
       "expected .aligned"},
      {mma + "m64n8k16.f32.f16.f16 " + d + ", %d0, %d1, 1, 1, 1, 0;",
       "expected 8 operands of wgmma, got 7"},
      {mma + "m64n8k16.f32.f16.f16 " + d + ", %d0, %d1, 2, 1, 1, 0, 0;",
       "expected 0 or 1 for scale-d, got 2"},
      {mma + "m64n8k16.f32.f16.f16 " + d + ", %d0, %d1, 1, 2, 1, 0, 0;",
       "expected 1 or -1 for imm-scale-a, got 2"},
      {mma + "m64n8k16.f32.f16.f16 " + d + ", %d0, %d1, 1, 1, 1, 0, 2;",
       "expected 0 or 1 for imm-trans-b, got 2"},
      {mma + "m64n8k16.f32.f16.f16 {%f0, %f1, %f2}" + rest,
       "expected a vector of 4 elements, got 3"},
      {mma + "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, _}" + rest,
       "expected a register of a matrix"},
      {mma + "m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f0}" + rest,
       "expected a register for each element of D"},
      {mma + "m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, {%r3, %r4, %r5, "
             "%r6}, %d1, 1, 1, 1, 0;",
       "expected other registers for A than for D"},
      {"wgmma.wait_group.sync.aligned -1;", "not negative, got -1"},
      {"wgmma.wait_group.sync.aligned %r0;", "expected a constant"},
      {"wgmma.fence.sync.aligned 1;", "expected 0 operands"},
      {"wgmma.run.sync.aligned;", "expected an instruction of wgmma"},
  };
  for (const auto &row : rows) {
    std::string message = getLoadError(row.text, "sm_90a");
    EXPECT_NE(message.find(row.message), std::string::npos) << row.text << "\n"
                                                            << message;
  }
  for (const char *target : {"sm_90", "sm_100a", "sm_120a"})
    EXPECT_NE(getLoadError(kFence, target)
                  .find("expected the target sm_90a for wgmma.fence, got " +
                        std::string(target)),
              std::string::npos);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

TEST(WarpgroupTest, GoesWell) {
  for (const char *multiply : {kMultiply, kMultiplyRegisters}) {
    KernelRun run = makeWarpgroupRun(
        concat({kFence, multiply, multiply, kCommit, kWait, kStore}));
    EXPECT_EQ(getError(run), "no error");
  }
}

TEST(WarpgroupTest, FirstFence) {
  EXPECT_FAILS(makeWarpgroupRun(concat({kMultiply, kCommit, kWait})), 2,
               "expected wgmma.fence before the first wgmma.mma_async");
}

TEST(WarpgroupTest, FenceBehindAnAccess) {
  EXPECT_FAILS(makeWarpgroupRun(
                   concat({kFence, "mov.f32 %f1, 0f00000000;\n", kMultiply})),
               4, "register 1 of D is used in line 3: expected wgmma.fence");
  EXPECT_FAILS(makeWarpgroupRun(
                   concat({kFence, "mov.b32 %r12, 1;\n", kMultiplyRegisters})),
               4, "register 2 of A is used in line 3: expected wgmma.fence");
  // After a wait, an instruction of the same shape needs no new fence; one of
  // another shape does.
  EXPECT_EQ(getError(makeWarpgroupRun(concat({kFence, kMultiply, kCommit, kWait,
                                              kMultiply, kCommit, kWait}))),
            "no error");
  EXPECT_FAILS(makeWarpgroupRun(
                   concat({kFence, kMultiply, kCommit, kWait, kMultiplyWide})),
               6, "register 0 of D is used in line 3: expected wgmma.fence");
}

TEST(WarpgroupTest, AccessWhileInFlight) {
  EXPECT_FAILS(makeWarpgroupRun(concat({kFence, kMultiply, kCommit, kStore})),
               5,
               "uses a register that is part of D of the wgmma.mma_async in "
               "line 3");
  EXPECT_FAILS(makeWarpgroupRun(concat({kFence, kMultiply, kWait, kStore})), 5,
               "expected wgmma.wait_group for it before");
  EXPECT_FAILS(makeWarpgroupRun(concat({kFence, kMultiplyRegisters, kCommit,
                                        "mov.b32 %r9, %r13;\n"})),
               5, "part of A of the wgmma.mma_async in line 3");
  EXPECT_FAILS(makeWarpgroupRun(concat({kFence, kMultiply, kMultiplyWide})), 4,
               "line 3, which has another shape or other types");
  // Only those of the older group are complete.
  std::string other = kMultiply;
  other.replace(other.find('{'), 20, "{%f4, %f5, %f6, %f7}");
  const char *waitOne = "wgmma.wait_group.sync.aligned 1;\n";
  std::string both =
      concat({kFence, kMultiply, kCommit, other, kCommit, waitOne});
  EXPECT_EQ(getError(makeWarpgroupRun(both + kStore + kWait)), "no error");
  EXPECT_FAILS(makeWarpgroupRun(both + "mov.f32 %f8, %f5;\n"), 8,
               "wgmma.mma_async in line 5");
}

TEST(WarpgroupTest, Metadata) {
  auto makeSparse = [](const std::string &field, const std::string &element,
                       const std::string &behind) {
    return makeWarpgroupRun(
        concat({"mov.b32 %r14, 0x" + field + "4444444; mov.b32 %r13, ", element,
                "; mov.b64 %d10, 0x800080040;\n", kFence, kMultiplySparse,
                kCommit, behind}));
  };
  const std::string good = std::string(kWait) + kStore;
  EXPECT_EQ(getError(checkingStrictly(makeSparse("4", "1", good))), "no error");
  EXPECT_FAILS(makeSparse("6", "1", good), 4,
               "metadata: expected 0b0100, 0b1000, 0b1001, 0b1100, 0b1101 or "
               "0b1110 for the columns 12 to 15 of row 8, got 0b0110 in the "
               "bits 28 to 31");
  // 0b0000 of zeros, and of others.
  KernelRun zeros = makeSparse("0", "0", good);
  KernelResult result = runKernel(zeros);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.warnings.size(), 1u);
  EXPECT_FAILS(checkingStrictly(zeros), 4, "where the kept values are 0");
  EXPECT_FAILS(makeSparse("0", "0x3c003c00", good), 4, "got 0b0000");
  EXPECT_FAILS(makeSparse("4", "1", "mov.b32 %r9, %r14;\n"), 6,
               "part of the metadata of the wgmma.mma_async in line 4");
  EXPECT_FAILS(makeWarpgroupRun(concat({"mov.b32 %r14, 0x44444444;\n", kFence,
                                        "mov.b32 %r14, 0x44444444;\n",
                                        kMultiplySparse, kCommit, kWait})),
               5,
               "register 0 of the metadata is used in line 4: expected "
               "wgmma.fence");
}

TEST(WarpgroupTest, EndWhileInFlight) {
  EXPECT_FAILS(makeWarpgroupRun(concat({kFence, kMultiply, kCommit})), 4,
               "the function ends while the wgmma.mma_async in line 3");
}

//===----------------------------------------------------------------------===//
// Warps of a warpgroup
//===----------------------------------------------------------------------===//

TEST(WarpgroupTest, WholeWarpgroup) {
  EXPECT_FAILS(makeWarpgroupRun(kFence, 96), 2,
               "expected a warpgroup of 4 whole warps, but the block has 96 "
               "threads");
  EXPECT_FAILS(
      makeWarpgroupRun(concat({"setp.ne.u32 %p1, %r0, 5;\n", "@%p1 ", kFence})),
      3, "expected all lanes of the warp");
}

TEST(WarpgroupTest, SameInstructions) {
  const char *isLast = "setp.ge.u32 %p1, %r0, 96; selp.b64 %d10, "
                       "0x800400050, 0x800400040, %p1;\n";
  for (uint64_t seed = 0; seed != 4; ++seed) {
    std::string message = getError(makeWarpgroupRun(
        concat({isLast, kFence, kMultiply, kCommit, kWait}), 128, seed));
    EXPECT_NE(message.find("expected the four warps of a warpgroup to execute "
                           "the same wgmma instructions, but number 1 is line"),
              std::string::npos)
        << message;
    message = getError(
        makeWarpgroupRun(concat({isLast, "@%p1 ", kFence}), 128, seed));
    EXPECT_NE(message.find("ends after"), std::string::npos) << message;
  }
}

TEST(WarpgroupTest, UniformOperands) {
  EXPECT_FAILS(
      makeWarpgroupRun(concat({"cvt.u64.u32 %d10, %r0;\n", kFence, kMultiply})),
      4, "the descriptor of A differs between lanes");
  std::string multiply = kMultiply;
  multiply.replace(multiply.find(", 0, 1, 1"), 9, ", %p2, 1, 1");
  EXPECT_FAILS(makeWarpgroupRun(concat({kFence, multiply})), 3,
               "the predicate scale-d is undefined");
  EXPECT_FAILS(makeWarpgroupRun(
                   concat({"setp.ne.u32 %p2, %r0, 5;\n", kFence, multiply})),
               4, "the predicate scale-d differs between lanes");
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static std::string getDescriptorError(const std::string &bits) {
  return getError(makeWarpgroupRun(concat(
      {"mov.b64 %d10, " + bits + ";\n", kFence, kMultiply, kCommit, kWait})));
}

TEST(WarpgroupTest, Descriptors) {
  const struct {
    const char *bits, *message;
  } rows[] = {
      {"0x10000800400040", "expected 0 in the reserved bits 0x10000000000000"},
      {"0x4000000000004000", "expected 0 in the reserved bits 0x4000"},
      {"0x2000000800400040", "in a shared memory descriptor, got "
                             "0x2000000800400040 {start 64"},
      {"0x800400300", "expected a matrix in shared memory"},
      {"0x4000004000000047", "row of 128 bytes of the swizzle pattern"},
  };
  for (const auto &row : rows) {
    std::string message = getDescriptorError(row.bits);
    EXPECT_NE(message.find(row.message), std::string::npos) << row.bits << "\n"
                                                            << message;
  }
}

/// Swizzled rows of 32 bytes, 256 bytes from one group of 8 to the next.
static KernelRun makeSwizzledRun(const std::string &leading,
                                 const char *multiply) {
  return makeWarpgroupRun(
      concat({"mov.b64 %d10, 0xC000001000000040; mov.b64 %d11, ", leading,
              "; shl.b64 %d11, %d11, 16; or.b64 %d10, %d10, %d11;\n", kFence,
              multiply, kCommit, kWait}));
}

TEST(WarpgroupTest, LeadingOffsetThatIsNotUsed) {
  const char *text = "expected 0 or 1 as leading_offset of a K-major matrix "
                     "with a swizzle, got 16; the descriptor is "
                     "0xc000001000100040 {start 64, leading_offset 16, ";
  for (const char *multiply : {kMultiply, kMultiplyRegisters}) {
    for (const char *leading : {"0", "1"}) {
      KernelRun run = checkingStrictly(makeSwizzledRun(leading, multiply));
      EXPECT_EQ(getError(run), "no error");
    }
    KernelRun run = makeSwizzledRun("16", multiply);
    KernelResult result = runKernel(run);
    EXPECT_EQ(result.error, "");
    ASSERT_EQ(result.warnings.size(), multiply == kMultiply ? 2u : 1u);
    EXPECT_NE(result.warnings.back().find(std::string("B: ") + text),
              std::string::npos)
        << result.warnings.back();
    EXPECT_FAILS(checkingStrictly(run), 4,
                 (multiply == kMultiply ? "A: " : "B: ") + std::string(text));
  }
  // For an MN-major matrix it is the distance between rows of the swizzle
  // pattern.
  std::string along = kMultiply;
  along.replace(along.rfind("0, 0;"), 5, "1, 1;");
  EXPECT_EQ(getError(checkingStrictly(makeSwizzledRun("32", along.c_str()))),
            "no error");
}

TEST(WarpgroupTest, ReadsOfSharedMemory) {
  const char *store = "st.shared.b32 [%r3], %r21; bar.sync 0;\n";
  KernelRun run =
      makeWarpgroupRun(concat({store, kFence, kMultiply, kCommit, kWait}));
  run.options.checkProxy = true;
  EXPECT_FAILS(run, 4, "expected fence.proxy.async between");
  EXPECT_FAILS(
      makeWarpgroupRun(concat({kFence, kMultiply, kCommit, store, kWait})), 6,
      "while the wgmma.mma_async in line 3 may still have to read "
      "it: expected wgmma.wait_group");
}

// A warp that has waited may release the operands' memory, as all four warps
// have issued the reads of it by then; but not before.
TEST(WarpgroupTest, OneWarpMayReleaseTheOperands) {
  const std::string ones = "mov.b32 %r21, 0x3c003c00; mul.lo.u32 %r20, %r0, 16;"
                           "add.u32 %r20, %r20, %r2;"
                           "st.shared.v4.b32 [%r20], {%r21, %r21, %r21, %r21};"
                           "fence.proxy.async.shared::cta; bar.sync 0;\n";
  const std::string reuse = "setp.lt.u32 %p1, %r0, 32; @%p1 "
                            "st.shared.b32 [%r3], 0;\n";
  std::vector<uint32_t> expected(1024);
  std::fill_n(expected.begin(), 128, 0x41800000);
  EXPECT_EQ(
      countGoodSeeds(makeWarpgroupRun(concat({ones, kFence, kMultiply, kCommit,
                                              kWait, reuse, kStore})),
                     expected),
      10u);
  EXPECT_EQ(countGoodSeeds(
                checkingRaces(makeWarpgroupRun(concat(
                    {ones, kFence, kMultiply, kCommit, kWait, reuse, kStore}))),
                expected),
            10u);
  KernelRun early = makeWarpgroupRun(
      concat({ones, kFence, kMultiply, kCommit, reuse, kWait, kStore}));
  EXPECT_NE(getError(early).find("is written, or about to be, while the "
                                 "wgmma.mma_async in line 4 may still have to "
                                 "read it: expected wgmma.wait_group for it "
                                 "before"),
            std::string::npos)
      << getError(early);
}

// Another warp is ordered behind the reads by any warp that has waited.
TEST(WarpgroupTest, AnotherWarpReusesTheOperands) {
  auto makeBody = [](const std::string &signal) {
    return checkingRaces(makeWarpgroupRun(
        concat({"setp.ge.u32 %p1, %r0, 128; setp.lt.u32 %p2, %r0, 32;"
                "@%p1 bra W;\n",
                kFence, kMultiply, kCommit, kWait, "@%p2 " + signal,
                "bra E;\nW: ", signal, "st.shared.b32 [S], %r21;\nE: ret;"}),
        160));
  };
  EXPECT_EQ(getError(makeBody("bar.sync 1, 64;")), "no error");
  EXPECT_NE(getError(makeBody("bar.warp.sync 0xFFFFFFFF;"))
                .find("race: this store of the byte at 0x400 in shared memory "
                      "(byte 0 of S) "
                      "and the asynchronous load in line 4"),
            std::string::npos)
      << getError(makeBody("bar.warp.sync 0xFFFFFFFF;"));
}

// A warp that is ordered behind the last reads stays so after a wait for
// earlier ones.
TEST(WarpgroupTest, WaitsOfDifferentDepth) {
  KernelRun run = checkingRaces(makeWarpgroupRun(concat(
      {"setp.lt.u32 %p1, %r0, 32; setp.eq.u32 %p2, %r0, 32;\n", kFence,
       kMultiply, kCommit, kMultiply, kCommit, "@!%p1 bar.sync 1, 128;\n",
       "wgmma.wait_group.sync.aligned 1;\n", "@%p2 st.shared.b32 [S], %r21;\n",
       kWait, "@%p1 bar.sync 1, 128;\n"})));
  for (run.options.seed = 0; run.options.seed != 8; ++run.options.seed)
    EXPECT_EQ(getError(run), "no error");
}

TEST(WarpgroupTest, AWarpThatDoesNotIssue) {
  KernelRun run = makeWarpgroupRun(
      concat({"setp.ge.u32 %p1, %r0, 96; @%p1 bar.sync 1, 64;\n", kFence,
              kMultiply, kCommit, kWait}));
  EXPECT_NE(getError(run).find("waits for a wgmma.mma_async that warp 3 has "
                               "not issued in line 6"),
            std::string::npos)
      << getError(run);
}

TEST(WarpgroupTest, UndefinedElements) {
  // The second half of S has no value.
  EXPECT_NE(
      getError(makeWarpgroupRun(concat({"mov.b64 %d10, 0x8004000c0;\n", kFence,
                                        kMultiply, kCommit, kWait, kStore})))
          .find("undefined"),
      std::string::npos);
}

//===----------------------------------------------------------------------===//
// Functions and statistics
//===----------------------------------------------------------------------===//

/// Issues a product in a function; %r0 is its parameter.
static KernelRun makeCallRun(const std::string &end) {
  KernelRun run = makeWarpgroupRun("call (%f9), f, (%d10);\n"
                                   "st.global.f32 [%d3], %f9;\n");
  std::string multiply = kMultiply;
  multiply.replace(multiply.find("%d10, %d10"), 10, "%a, %a");
  std::string body = std::string(kFence) + multiply + end;
  for (char &c : body)
    if (c == '\n')
      c = ' ';
  run.declarations += " .func (.reg .f32 %o) f(.reg .b64 %a) { .reg .f32 "
                      "%f<4>; " +
                      body + " mov.f32 %o, %f0; ret; } ";
  return run;
}

TEST(WarpgroupTest, Functions) {
  EXPECT_EQ(getError(makeCallRun(concat({kCommit, kWait}))), "no error");
  std::string message = getError(makeCallRun("mov.f32 %o, 0f00000000; ret; "));
  EXPECT_NE(message.find("the function ends while the wgmma.mma_async"),
            std::string::npos)
      << message;
}

TEST(WarpgroupTest, TwoWarpgroups) {
  // The second one executes more.
  EXPECT_EQ(getError(makeWarpgroupRun(
                concat({"setp.lt.u32 %p1, %r0, 128; @%p1 bra L;\n", kFence,
                        kMultiply, kCommit, kWait, "L:\n", kFence, kMultiply,
                        kCommit, kWait, kStore}),
                256)),
            "no error");
}

TEST(WarpgroupTest, Statistics) {
  KernelRun run =
      makeWarpgroupRun(concat({kFence, kMultiply, kMultiply, kCommit, kWait}));
  run.options.wantsStatistics = true;
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  // Two instructions of four warps; each reads 512 bytes of A and 256 of B.
  for (const char *text : {"\"wgmma.m64n8k16.f32.f16.f16\": 8",
                           "\"multiply_adds\": 16384", "6144"})
    EXPECT_NE(result.statistics.find(text), std::string::npos)
        << text << "\n"
        << result.statistics;
}
