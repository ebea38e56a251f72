//===- GridRunTest.cpp - Tests of blocks that wait for each other ---------===//
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

static KernelRun makeGrid(const std::string &body, unsigned blocks,
                          unsigned threads = 32) {
  KernelRun run = makeRun("mov.u32 %r10, %ctaid.x; mov.u32 %r11, %nctaid.x;"
                          "mad.wide.u32 %d4, %r10, 4, %buf1;" +
                              body,
                          threads);
  run.blocks = blocks;
  return run;
}

/// Waits until the word at %d5 is not 0.
static const std::string kSpin = "L: ld.acquire.gpu.global.b32 %r12, [%d5];"
                                 "setp.eq.u32 %p1, %r12, 0; @%p1 bra L;";

// Word i becomes 1 + the number of blocks behind block i.
TEST(GridRunTest, BlocksWaitForLaterOnes) {
  std::string body = "setp.ne.u32 %p0, %r0, 0; @%p0 bra E;"
                     "mov.u32 %r12, 0; add.u64 %d5, %d4, 4;"
                     "add.u32 %r13, %r10, 1; setp.eq.u32 %p2, %r13, %r11;"
                     "@%p2 bra T;" +
                     kSpin +
                     "T: add.u32 %r12, %r12, 1;"
                     "st.release.gpu.global.b32 [%d4], %r12; E: ret;";
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 50; ++i)
    expected[i] = 50 - i;
  EXPECT_EQ(countGoodSeeds(makeGrid(body, 50, 64), expected, 3), 3u);
}

// As in grid.sync of cooperative groups: all blocks add to a counter, many
// times.
TEST(GridRunTest, AllBlocksMeetManyTimes) {
  std::string body =
      "mov.u32 %r14, 0; N: bar.sync 0; setp.ne.u32 %p0, %r0, 0; @%p0 bra W;"
      "atom.add.acq_rel.gpu.global.u32 %r13, [%buf1], 1;"
      "add.u32 %r15, %r14, 1; mul.lo.u32 %r15, %r15, %r11;"
      "L: ld.acquire.gpu.global.b32 %r12, [%buf1];"
      "setp.lt.u32 %p1, %r12, %r15; @%p1 bra L;"
      "W: bar.sync 0; add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, 20;"
      "@%p1 bra N;";
  std::vector<uint32_t> expected(1024);
  expected[0] = 12 * 20;
  EXPECT_EQ(countGoodSeeds(makeGrid(body, 12, 96), expected, 3), 3u);
}

TEST(GridRunTest, BlocksThatWaitForever) {
  std::string body = "add.u64 %d5, %buf1, 40;\n" + kSpin;
  EXPECT_FAILS(makeGrid(body, 5), 2,
               "warp 0, lane 0: deadlock: warp 0 waits for memory to change "
               "in line 2");
}

// 170 SMs hold a block of 64 KiB each.
TEST(GridRunTest, BlocksThatDoNotFit) {
  std::string body = "sub.u32 %r13, %r11, 1; mad.wide.u32 %d5, %r13, 4, %buf1;"
                     "setp.eq.u32 %p0, %r10, %r13;"
                     "@%p0 st.release.gpu.global.b32 [%d5], 1;\n" +
                     kSpin;
  KernelRun run =
      makeGrid(".shared .b8 Large[65536]; mov.u32 %r20, Large;" + body, 170);
  run.options.maxSteps = 10000000;
  EXPECT_EQ(getError(run), "no error");
  run.blocks = 171;
  EXPECT_NE(getError(run).find("deadlock: warp 0 waits for memory to change"),
            std::string::npos)
      << getError(run);
}

TEST(GridRunTest, TooManyStepsSayWhoWaits) {
  std::string body = "mov.u32 %r4, 0; setp.ge.u32 %p0, %r0, 32; @%p0 bra L;"
                     "bar.sync 0; ret;\nL: add.u32 %r4, %r4, 1; bra L;";
  KernelRun run = makeRun(body, 64);
  run.options.maxSteps = 1000;
  EXPECT_FAILS(
      run, 2,
      "the run takes more steps than --max-steps allows: warp 0 waits "
      "at barrier 0 (32 of 64 threads have arrived) in line 1; warp 1 is "
      "in line 2");
}

// As this_grid().sync() of cooperative_groups is compiled: the block with
// number 0 adds what makes the sign bit of the second word change when all
// others have added 1.
TEST(GridRunTest, GridsMeetByTheirWorkspace) {
  std::string body =
      "mov.u32 %r20, %envreg2; cvt.u64.u32 %d6, %r20; mov.u32 %r21, %envreg1;"
      "cvt.u64.u32 %d7, %r21; bfi.b64 %d6, %d7, %d6, 32, 32;"
      "mov.u32 %r14, 0; setp.eq.u32 %p2, %r10, 0;"
      "sub.u32 %r22, -2147483647, %r11; selp.b32 %r22, %r22, 1, %p2;"
      // Each round, a block stores its number plus the word of the next one.
      "add.u32 %r23, %r10, 1; rem.u32 %r23, %r23, %r11;"
      "mad.wide.u32 %d8, %r23, 4, %buf1; setp.ne.u32 %p0, %r0, 0;"
      "N: @!%p0 ld.global.b32 %r24, [%d8]; add.u32 %r24, %r24, %r10; call S;"
      "@!%p0 st.global.b32 [%d4], %r24; call S;"
      "add.u32 %r14, %r14, 1; setp.lt.u32 %p1, %r14, 5; @%p1 bra N;";
  const std::string sync =
      "barrier.sync 0; @%p0 bra W#;"
      "atom.add.release.gpu.u32 %r25, [%d6+4], %r22;"
      "L#: ld.acquire.gpu.u32 %r26, [%d6+4]; xor.b32 %r27, %r26, %r25;"
      "setp.gt.s32 %p3, %r27, -1; @%p3 bra L#; W#: barrier.sync 0;";
  for (unsigned i = 0; i != 2; ++i) {
    std::string text = sync;
    for (size_t at; (at = text.find('#')) != std::string::npos;)
      text.replace(at, 1, std::to_string(i));
    body.replace(body.find("call S;"), 7, text);
  }
  constexpr unsigned kBlocks = 9;
  std::vector<uint32_t> expected(1024);
  for (unsigned round = 0; round != 5; ++round) {
    std::vector<uint32_t> before = expected;
    for (unsigned i = 0; i != kBlocks; ++i)
      expected[i] = before[(i + 1) % kBlocks] + i;
  }
  EXPECT_EQ(countGoodSeeds(makeGrid(body, kBlocks, 64), expected, 3), 3u);
}

/// Puts the address of the workspace into %d4.
static const std::string kWorkspace =
    "mov.b32 %r6, %envreg1; mov.b32 %r7, %envreg2; mov.b64 %d4, {%r7, %r6};";

TEST(GridRunTest, EnvironmentRegisters) {
  // Those without a meaning are 0, as is the workspace.
  KernelRun run =
      makeRun("mov.b32 %r4, %envreg0; mov.b32 %r5, %envreg31;"
              "or.b32 %r4, %r4, %r5; mov.b32 %r5, %envreg3;"
              "or.b32 %r4, %r4, %r5;" +
              kWorkspace +
              "ld.global.v2.b32 {%r8, %r9}, [%d4]; or.b32 %r8, %r8, %r9;"
              "or.b32 %r4, %r4, %r8; add.u32 %r4, %r4, 7;"
              "st.global.b32 [%d3], %r4;");
  std::vector<uint32_t> expected(1024);
  std::fill_n(expected.begin(), 32, 7);
  EXPECT_EQ(getOutput(run), expected);
  EXPECT_FAILS(makeRun(kWorkspace + "\nld.global.b32 %r8, [%d4+8];"), 2,
               "is out of bounds of the workspace of the grid, which "
               "has 8 bytes");
}

// Each kernel starts with zeros, whatever the previous one has stored.
TEST(GridRunTest, EachKernelHasAWorkspaceOfZeros) {
  Result<SimulatedProgram> program = SimulatedProgram::load(
      ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 B) "
      "{ .reg .b32 %r<9>; .reg .b64 %d<9>; ld.param.u64 %d0, [B];" +
      kWorkspace +
      "ld.global.b32 %r0, [%d4+4]; ld.global.b32 %r1, [%d0];"
      "add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, 1;"
      "st.global.b32 [%d0], %r0; st.global.b32 [%d4+4], 100; }");
  ASSERT_TRUE(program) << program.message();
  LaunchArgument argument;
  argument.kind = LaunchArgument::Kind::InOut;
  argument.array.shape = {4};
  argument.array.data = zeros<uint32_t>(1);
  std::vector<LaunchArgument> arguments = {argument};
  PlannedKernel kernel;
  kernel.name = "k";
  kernel.params = planParams(arguments);
  LaunchPlan plan;
  plan.kernels = {kernel, kernel, kernel};
  Result<Report> report = program->run(plan, arguments, Options());
  ASSERT_TRUE(report) << report.message();
  EXPECT_EQ(arguments[0].array.data, toBytes(std::vector<uint32_t>{3}));
}
