//===- ControlFlowTest.cpp - Tests of branches and calls ------------------===//
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

/// A run with a function that the body may call.
static KernelRun withFunction(const std::string &function, KernelRun run) {
  run.declarations = function;
  return run;
}

//===----------------------------------------------------------------------===//
// Branches that promise too much
//===----------------------------------------------------------------------===//

TEST(ControlFlowTest, UniformBranchesMustNotPart) {
  struct Row {
    const char *name, *text;
  };
  for (Row row : {Row{"bra", "@%p0 bra.uni L; L:"}, Row{"ret", "@%p0 ret.uni;"},
                  Row{"call", "@%p0 call.uni f;"}}) {
    auto makeBranch = [&](const std::string &lanes) {
      return withFunction(
          ".func f() { ret; }",
          makeRun("setp.lt.u32 %p0, %r0, " + lanes + ";\n" + row.text));
    };
    EXPECT_FAILS(makeBranch("5"), 2,
                 "block (0,0,0), warp 0, lane 5: " + std::string(row.name) +
                     ".uni expected the same guard in all lanes, but it holds "
                     "in lane 0 and not in this one");
    EXPECT_EQ(getError(makeBranch("0")), "no error") << row.name;
    EXPECT_EQ(getError(makeBranch("32")), "no error") << row.name;
  }
  EXPECT_FAILS(makeRun("and.b32 %r4, %r0, 1; T: .branchtargets A, B;\n"
                       "brx.idx.uni %r4, T; A: bar.warp.sync 1; B:"),
               2,
               "lane 1: brx.idx.uni expected the same target in all lanes, but "
               "this one and lane 0 go apart");
  EXPECT_EQ(getError(makeRun("T: .branchtargets A, B; brx.idx.uni 1, T;"
                             "A: trap; B:")),
            "no error");
}

TEST(ControlFlowTest, IndicesOfBranches) {
  EXPECT_FAILS(makeRun("T: .branchtargets A, B;\nbrx.idx %r0, T; A: B:"), 2,
               "lane 2: expected an index of a branch below 2, got 2");
  EXPECT_FAILS(makeRun("T: .branchtargets A, B;\nbrx.idx %r60, T; A: B:"), 2,
               "lane 0: the index of a branch is undefined");
}

TEST(ControlFlowTest, UndefinedGuards) {
  const std::string undefined = "lane 4: the guard is undefined";
  // Defined only in the lanes below 4.
  std::string body = "setp.lt.u32 %p0, %r0, 4; @%p0 setp.eq.u32 %p1, %r0, 0;\n";
  for (const char *text :
       {"@%p1 bra L; L:", "@!%p1 ret;", "@%p1 st.global.b32 [%d3], 1;"})
    EXPECT_FAILS(makeRun(body + text), 2, undefined);
  EXPECT_EQ(getError(makeRun(body + "@!%p0 ret; @%p1 bra L; L:")), "no error");
}

TEST(ControlFlowTest, MessagesNameTheThread) {
  KernelRun run = makeRun("mov.u32 %r4, %ctaid.x; mov.u32 %r5, %laneid;"
                          "setp.eq.u32 %p0, %r4, 2;"
                          "setp.eq.and.u32 %p0, %r5, 7, %p0;"
                          "setp.ge.and.u32 %p0, %r0, 32, %p0;\n@%p0 trap;",
                          64);
  run.blocks = 4;
  for (unsigned jobs : {1, 4}) {
    run.options.jobs = jobs;
    EXPECT_EQ(getError(run), "line 2, block (2,0,0), warp 1, lane 7: the "
                             "kernel executes a trap");
  }
}

TEST(ControlFlowTest, Breakpoints) {
  std::string body = "setp.ge.u32 %p0, %r0, 5;\n@%p0 brkpt;";
  EXPECT_FAILS(makeRun(body), 2, "lane 5: the kernel executes a brkpt");
  EXPECT_EQ(getError(makeRun(body, 5)), "no error");
}

//===----------------------------------------------------------------------===//
// Lanes that leave
//===----------------------------------------------------------------------===//

/// Word i is `early` in the lanes that leave, and else the value that thread 39
/// - i has stored before the barrier.
static std::vector<uint32_t> makeSwapped(uint32_t early) {
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != 64; ++i)
    words[i] = i < 40 ? 39 - i : early;
  return words;
}

// Compilers translate `if (tid >= 40) return;` to a branch, and not to a
// guarded ret.
TEST(ControlFlowTest, LanesThatLeaveAreNotWaitedFor) {
  const std::string exchange =
      "st.shared.b32 [%r3], %r0; bar.sync 0; sub.u32 %r4, 39, %r0;"
      "mad.lo.u32 %r5, %r4, 4, %r2; ld.shared.b32 %r6, [%r5];"
      "st.global.b32 [%d3], %r6; ";
  const std::string leave = "st.global.b32 [%d3], 100; ";
  const std::string early = "setp.ge.u32 %p0, %r0, 40; ";
  // Either the lanes that leave branch, or the lanes that stay.
  EXPECT_EQ(
      getOutput(makeRun(early + "@%p0 bra E;" + exchange + "E: ret;", 64)),
      makeSwapped(0));
  EXPECT_EQ(
      getOutput(makeRun(
          early + "@!%p0 bra G; bra E; G:" + exchange + "bra E; E: ret;", 64)),
      makeSwapped(0));
  // They do something before.
  EXPECT_EQ(getOutput(makeRun(early + "@%p0 bra X;" + exchange +
                                  "bra E; X:" + leave + "E: ret;",
                              64)),
            makeSwapped(100));
  EXPECT_EQ(getOutput(makeRun(early + "@!%p0 bra X;" + leave +
                                  "bra E; X:" + exchange + "E: ret;",
                              64)),
            makeSwapped(100));
}

// As above, with the barrier in a function, which only the lanes that stay
// call.
TEST(ControlFlowTest, LanesLeaveBeforeOthersCall) {
  for (const char *branch :
       {"setp.lt.u32 %p0, %r0, 40; @%p0 bra C; bra.uni O; C:",
        "setp.ge.u32 %p0, %r0, 40; @%p0 bra O;"}) {
    KernelRun run = makeRun(std::string(branch) +
                                "call f; st.global.b32 [%d3], 1; bra.uni E;"
                                "O: st.global.b32 [%d3], 2; E: ret;",
                            64);
    run.declarations = ".func f() { bar.sync 0; ret; }";
    std::vector<uint32_t> expected(1024);
    for (unsigned i = 0; i != 64; ++i)
      expected[i] = i < 40 ? 1 : 2;
    EXPECT_EQ(getOutput(run), expected) << branch;
  }
}

TEST(ControlFlowTest, MembersThatLeaveAreNotWaitedFor) {
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 32; ++i)
    expected[i] = i < 20 ? 19 : 100;
  EXPECT_EQ(getOutput(makeRun("setp.lt.u32 %p0, %r0, 20; @%p0 bra X;"
                              "st.global.b32 [%d3], 100; ret;"
                              "X: redux.sync.max.u32 %r4, %r0, -1;"
                              "st.global.b32 [%d3], %r4; ret;")),
            expected);
}

TEST(ControlFlowTest, LanesThatStayAreMissing) {
  const std::string part = "setp.ge.u32 %p0, %r0, 8; @%p0 bra X;\n";
  const std::string store = "st.global.b32 [%d3], 1; ret;";
  // One after the other, and both ways.
  EXPECT_FAILS(makeRun(part + "bar.sync 0;\nX: " + store), 2,
               "but lane 8 does not take part");
  EXPECT_FAILS(makeRun(part + "bar.sync 0; bra E;\nX: bar.sync 0;\nE:" + store),
               2, "but lane 8 does not take part");
  EXPECT_FAILS(makeRun(part +
                       "shfl.sync.up.b32 %r4, %r0, 1, 0, -1; bra E;\n"
                       "X: shfl.sync.down.b32 %r4, %r0, 1, 31, -1;\n"
                       "E:" +
                       store),
               2, "names lane 8, which does not take part");
  EXPECT_FAILS(makeRun(part + "bar.warp.sync -1;\nX: " + store), 2,
               "names lane 8, which does not take part");
}

TEST(ControlFlowTest, MatrixInstructionsNeedAllLanes) {
  const std::string multiply =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
      "{%r4, %r5, %r6, %r7}, {%r8, %r9}, {%f0, %f1, %f2, %f3};\n";
  const std::string some = "setp.ne.u32 %p0, %r0, 4;\n";
  EXPECT_FAILS(makeRun(some + "@%p0 " + multiply), 2,
               "lane 4: mma expected all lanes of the warp, but lane 4 does "
               "not take part");
  EXPECT_FAILS(makeRun(some + "@!%p0 bra X;\n" + multiply +
                       "X: st.global.b32 [%d3], 1;"),
               3, "lane 4 does not take part");
  EXPECT_FAILS(makeRun(some + "@!%p0 ret;\n" + multiply), 3,
               "lane 4 has exited");
  EXPECT_FAILS(makeRun(multiply, 20), 1, "lane 20 has no thread");
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

TEST(ControlFlowTest, CallsOfSomeLanes) {
  // Adds 1000 to odd numbers below 16; lanes from 24 on leave the kernel.
  const std::string function =
      ".func (.param .b32 o) f(.param .b32 i) { .reg .b32 %r<4>;"
      ".reg .pred %p<3>; ld.param.b32 %r0, [i]; setp.ge.u32 %p0, %r0, 24;"
      "@%p0 exit; st.param.b32 [o], %r0; setp.ge.u32 %p0, %r0, 16; @%p0 ret;"
      "add.u32 %r0, %r0, 1000; st.param.b32 [o], %r0; ret; }";
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 32; ++i)
    expected[i] = i % 2 == 0 ? 5 : i >= 24 ? 0 : i < 16 ? i + 1000 : i;
  EXPECT_EQ(
      getOutput(withFunction(
          function, makeRun("and.b32 %r4, %r0, 1; setp.eq.u32 %p0, %r4, 1;"
                            "mov.u32 %r5, 5; .param .b32 i, o;"
                            "st.param.b32 [i], %r0; st.param.b32 [o], 5;"
                            "@%p0 call (o), f, (i); ld.param.b32 %r5, [o];"
                            "st.global.b32 [%d3], %r5;"))),
      expected);
}

TEST(ControlFlowTest, NestedCallsAreCounted) {
  EXPECT_FAILS(withFunction(".func f() { call f; ret; }", makeRun("call f;")),
               0, "expected at most 1024 nested calls");
  EXPECT_FAILS(withFunction(".func f() { .local .b8 L[100000]; call f; ret; }",
                            makeRun("call f;")),
               0, "expected at most 524288 bytes of local memory for a thread");
}

// Frames are aligned for their variables at any depth.
TEST(ControlFlowTest, FramesAreAligned) {
  EXPECT_EQ(getError(withFunction(
                ".func f(.reg .b32 n) { .local .align 64 .b8 L[8];"
                ".reg .b64 %d; .reg .b32 %r; .reg .pred %p;"
                "mov.u64 %d, L; cvta.local.u64 %d, %d; cvt.u32.u64 %r, %d;"
                "and.b32 %r, %r, 63; setp.ne.u32 %p, %r, 0; @%p trap;"
                "setp.eq.u32 %p, n, 0; @%p ret; sub.u32 n, n, 1;"
                "call f, (n); call f, (0); ret; }",
                makeRun(".local .b8 L[4]; call f, (9);"))),
            "no error");
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

// Blocks 0 to 7 take 1001 steps each: 333 times three, and two around them.
TEST(ControlFlowTest, ABlockTakesTheStepTooMany) {
  KernelRun run;
  run.blocks = 8;
  run.body = "mov.u32 %r0, 0;\nL: add.u32 %r0, %r0, 1;\n"
             "setp.lt.u32 %p0, %r0, 333; @%p0 bra L; ret;";
  run.options.maxSteps = 8 * 1001;
  EXPECT_EQ(runKernel(run).error, "");
  for (uint64_t maxSteps : {8000u, 2500u, 5u}) {
    run.options.maxSteps = maxSteps;
    run.options.jobs = 1;
    std::string expected = runKernel(run).error;
    EXPECT_NE(expected.find("block (" + std::to_string(maxSteps / 1001)),
              std::string::npos)
        << expected;
    for (unsigned repetition = 0; repetition != 10; ++repetition) {
      run.options.jobs = 2 + repetition % 3;
      EXPECT_EQ(runKernel(run).error, expected);
    }
  }
}

TEST(ControlFlowTest, TrapsAndHints) {
  EXPECT_FAILS(makeRun("\nsetp.eq.u32 %p0, %r0, 7; @%p0 trap;"), 2,
               "lane 7: the kernel executes a trap");
  EXPECT_EQ(getOutput(makeRun("nanosleep.u32 20; pmevent 3;"
                              "st.global.b32 [%d3], %r0;"))[9],
            9u);
}
