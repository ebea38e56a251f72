//===- LaneSetsTest.cpp - Tests of diverged lanes -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

#include "llvm/ADT/STLFunctionalExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static std::vector<uint32_t> makeWords(llvm::function_ref<uint32_t(unsigned)> f,
                                       unsigned count = 32) {
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != count; ++i)
    words[i] = f(i);
  return words;
}

//===----------------------------------------------------------------------===//
// Joins that some lanes might not reach
//===----------------------------------------------------------------------===//

// Lane 0 counts to 5, and would leave the loop elsewhere if it came to 100; the
// other lanes have left the loop.
TEST(LaneSetsTest, ExitsThatAreNotTaken) {
  for (const char *out : {"trap", "exit", "ret"})
    for (const char *collective :
         {"bar.warp.sync -1;", "bar.sync 0;", "elect.sync _|%p2, -1;",
          "shfl.sync.idx.b32 %r5, %r5, 0, 31, -1;"}) {
      std::string body =
          std::string("mov.u32 %r4, 0; mov.u32 %r5, 1; setp.ne.u32 %p0, %r0, 0;"
                      "@%p0 bra J;"
                      "L: setp.eq.u32 %p1, %r4, 100; @%p1 bra B;"
                      "add.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 5;"
                      "@%p1 bra L; bra.uni J; B: ") +
          out + "; J: " + collective +
          "add.u32 %r4, %r4, %r5; st.global.b32 [%d3], %r4; ret;";
      EXPECT_EQ(countGoodSeeds(makeRun(body), makeWords([](unsigned i) {
                                 return i == 0 ? 6 : 1;
                               })),
                10u)
          << out << " " << collective;
    }
}

// Lanes that have met stay together: the second instruction, which has no mask,
// is executed by the whole warp.
TEST(LaneSetsTest, LanesThatHaveMetStayTogether) {
  std::string body =
      "and.b32 %r4, %r0, 1; setp.ne.u32 %p0, %r4, 0; mov.u32 %r5, 3;"
      "@%p0 bra O; setp.gt.u32 %p1, %r0, 100; @%p1 bra B;"
      "add.u32 %r5, %r5, 1; bra.uni J; O: add.u32 %r5, %r5, 5; bra.uni J;"
      "B: exit; J: shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1;"
      "activemask.b32 %r7; add.u32 %r6, %r6, %r7; st.global.b32 [%d3], %r6;"
      "ret;";
  EXPECT_EQ(countGoodSeeds(makeRun(body), makeWords([](unsigned i) {
                             return (i % 2 ? 4 : 8) + 0xFFFFFFFF;
                           })),
            10u);
}

//===----------------------------------------------------------------------===//
// Different instances of one collective
//===----------------------------------------------------------------------===//

/// Lanes below 8 execute one text with their registers in one branch, and the
/// others another text with theirs in the other branch. %r10 is its result, of
/// %r4 = 10 + lane or 100 + lane.
static std::string onBothWays(const std::string &low, const std::string &high) {
  return "setp.ge.u32 %p0, %r0, 8; @%p0 bra X; add.u32 %r4, %r0, 10;"
         "setp.lt.u32 %p1, %r0, 3;\n" +
         low +
         "\nmov.u32 %r20, %r10; bra E; X: add.u32 %r5, %r0, 100;"
         "setp.lt.u32 %p2, %r0, 10;\n" +
         high + "\nmov.u32 %r20, %r11; E: st.global.b32 [%d3], %r20; ret;";
}

TEST(LaneSetsTest, CollectivesInBothBranches) {
  auto expect = [](const std::string &low, const std::string &high,
                   llvm::function_ref<uint32_t(unsigned)> word) {
    EXPECT_EQ(countGoodSeeds(makeRun(onBothWays(low, high)), makeWords(word)),
              10u)
        << low;
  };
  expect("bar.warp.sync -1; mov.u32 %r10, 7;",
         "bar.warp.sync -1; mov.u32 %r11, 9;",
         [](unsigned i) { return i < 8 ? 7 : 9; });
  // The value of the lane 8 further on, modulo 32.
  expect("add.u32 %r6, %r0, 8; shfl.sync.idx.b32 %r10, %r4, %r6, 31, -1;",
         "add.u32 %r7, %r0, 8; shfl.sync.idx.b32 %r11|%p3, %r5, %r7, 31, -1;",
         [](unsigned i) {
           unsigned from = (i + 8) % 32;
           return from + (from < 8 ? 10 : 100);
         });
  expect("vote.sync.ballot.b32 %r10, %p1, -1;",
         "vote.sync.ballot.b32 %r11, %p2, -1;",
         [](unsigned) { return 0b1100000111; });
  expect("vote.sync.any.pred %p3, %p1, -1; selp.b32 %r10, 1, 2, %p3;",
         "vote.sync.any.pred %p4, %p2, -1; selp.b32 %r11, 3, 4, %p4;",
         [](unsigned i) { return i < 8 ? 1 : 3; });
  expect("redux.sync.max.u32 %r10, %r4, -1;",
         "redux.sync.max.u32 %r11, %r5, -1;", [](unsigned) { return 131; });
  expect("and.b32 %r6, %r0, 3; match.any.sync.b32 %r10, %r6, -1;",
         "and.b32 %r7, %r0, 3; match.any.sync.b32 %r11, %r7, -1;",
         [](unsigned i) { return 0x11111111u << (i % 4); });
}

TEST(LaneSetsTest, CollectivesThatDoNotMeet) {
  const std::string missing = "names lane 8, which does not take part";
  auto error = [](const std::string &low, const std::string &high) {
    return getError(makeRun(onBothWays(low, high)));
  };
  // Other qualifiers, another opcode, another mask, and collectives that must
  // be the same instruction.
  EXPECT_NE(error("shfl.sync.up.b32 %r10, %r4, 1, 0, -1;",
                  "shfl.sync.down.b32 %r11, %r5, 1, 31, -1;")
                .find("which does not take part"),
            std::string::npos);
  EXPECT_NE(error("bar.warp.sync -1;", "vote.sync.any.pred %p3, %p2, -1;")
                .find("which does not take part"),
            std::string::npos);
  EXPECT_NE(error("redux.sync.add.u32 %r10, %r4, -1;",
                  "redux.sync.add.u32 %r11, %r5, 0xffffff01;")
                .find("expected one member mask of redux.sync, got 0x"),
            std::string::npos);
  EXPECT_NE(error("elect.sync _|%p3, -1;", "elect.sync _|%p3, -1;")
                .find("which does not take part"),
            std::string::npos);
  EXPECT_NE(error("bar.sync 0;", "bar.sync 0;")
                .find("an aligned barrier expected all lanes"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Lanes that wait for each other
//===----------------------------------------------------------------------===//

TEST(LaneSetsTest, ALockThatLanesTakeInTurn) {
  std::string body =
      "mov.u32 %r9, 0; setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [S], 0;"
      "@%p0 st.shared.b32 [S + 4], 100; bar.sync 0;"
      "L: atom.shared.cas.b32 %r4, [S], 0, 1; setp.ne.u32 %p1, %r4, 0;"
      "@%p1 bra L; ld.volatile.shared.b32 %r5, [S + 4]; add.u32 %r6, %r5, 1;"
      "st.volatile.shared.b32 [S + 4], %r6; atom.shared.exch.b32 %r7, [S], 0;"
      "bar.sync 0; ld.shared.b32 %r8, [S + 4]; st.global.b32 [%d3], %r8;";
  EXPECT_EQ(countGoodSeeds(makeRun(body, 64),
                           makeWords([](unsigned) { return 164; }, 64)),
            10u);
}

// Lane 3 waits for lane 20 in the other branch, and vice versa.
TEST(LaneSetsTest, EitherBranchMayWaitForTheOther) {
  for (const char *guard : {"@%p0", "@!%p0"}) {
    std::string spin =
        std::string(
            "st.shared.b32 [%r3], 0; bar.sync 0; setp.eq.u32 %p0, %r0, 3;") +
        guard +
        " bra A;"
        "L: ld.volatile.shared.b32 %r4, [S]; setp.eq.u32 %p1, %r4, 0;"
        "@%p1 bra L; bra J; A: mov.u32 %r4, 5; st.volatile.shared.b32 [S], 5;"
        "J: bar.warp.sync -1; st.global.b32 [%d3], %r4;";
    EXPECT_EQ(
        countGoodSeeds(makeRun(spin), makeWords([](unsigned) { return 5; })),
        10u)
        << guard;
    for (const char *wait : {"try_wait", "test_wait"}) {
      std::string phase =
          std::string(
              "setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [M], 1;"
              "bar.sync 0; setp.eq.u32 %p0, %r0, 3;") +
          guard +
          " bra A;"
          "L: mbarrier." +
          wait +
          ".parity.shared.b64 %p2, [M], 0; @!%p2 bra L;"
          "bra J; A: elect.sync _|%p3, " +
          (guard[1] == '!' ? "0xfffffff7" : "8") +
          "; @%p3 mbarrier.arrive.shared.b64 _, [M];"
          "J: bar.warp.sync -1; st.global.b32 [%d3], 1;";
      EXPECT_EQ(
          countGoodSeeds(makeRun(phase), makeWords([](unsigned) { return 1; })),
          10u)
          << guard << wait;
    }
  }
}

// Lane 0 waits for a value that the others store behind the point of
// reconvergence, so they must not wait for it there.
TEST(LaneSetsTest, LanesThatWaitedAtAJoinGoOn) {
  for (bool polls : {false, true}) {
    std::string wait =
        polls ? "add.u32 %r9, %r9, 1;"
                "mbarrier.test_wait.parity.shared.b64 %p1, [M], 0; @!%p1 bra L;"
              : "ld.volatile.shared.b32 %r4, [S]; setp.eq.u32 %p1, %r4, 0;"
                "@%p1 bra L;";
    std::string body =
        "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], 31;"
        "mov.u32 %r9, 0; st.shared.b32 [%r3], 0; bar.sync 0; @!%p0 bra J; L: " +
        wait +
        "J: @!%p0 mbarrier.arrive.shared.b64 _, [M];"
        "@!%p0 st.volatile.shared.b32 [S], 1; bar.warp.sync -1;"
        "st.global.b32 [%d3], 4;";
    EXPECT_EQ(
        countGoodSeeds(makeRun(body), makeWords([](unsigned) { return 4; })),
        10u)
        << polls;
  }
}

TEST(LaneSetsTest, LanesThatWaitForever) {
  EXPECT_FAILS(makeRun("setp.eq.u32 %p0, %r0, 0; st.shared.b32 [%r3], 0;"
                       "bar.sync 0; @!%p0 bra J;\n"
                       "L: ld.volatile.shared.b32 %r4, [S];"
                       "setp.eq.u32 %p1, %r4, 0; @%p1 bra L;\n"
                       "J: bar.warp.sync -1;"),
               2, "deadlock: warp 0 waits for memory to change in line 2");
}

// A loop that changes memory makes progress, though its registers are the same
// each time.
TEST(LaneSetsTest, LoopsThatChangeMemory) {
  for (const char *change :
       {"red.shared.add.u32 [S], 1;", "atom.shared.exch.b32 _, [S], %r0;",
        "mbarrier.arrive.shared.b64 _, [M];"}) {
    KernelRun run = makeRun(std::string("st.shared.b32 [S], 5; "
                                        "setp.eq.u32 %p0, %r0, 0; @%p0 "
                                        "mbarrier.init.shared.b64 [M], 32;"
                                        "bar.sync 0;\nL: ") +
                            change + " bra L;");
    run.options.maxSteps = 20000;
    EXPECT_FAILS(run, 2, "the run takes more steps than --max-steps allows");
  }
}

// A counter in memory: at the beginning of the loop, the registers are always
// the same.
TEST(LaneSetsTest, LoopsThatCountInMemory) {
  KernelRun run = makeRun(
      "st.shared.b32 [%r3], 0; bar.sync 0; L: mov.b32 %r4, 0; setp.ne.u32 %p1, "
      "%r4, %r4; ld.shared.b32 %r4, [%r3]; add.u32 %r4, %r4, 1;"
      "st.shared.b32 [%r3], %r4; setp.lt.u32 %p1, %r4, 20000; mov.b32 %r4, 0;"
      "@%p1 bra L; st.global.b32 [%d3], 3;");
  EXPECT_EQ(getOutput(run)[31], 3u);
}

// The results of each instruction go to its own operands, including a predicate
// that the other instruction does not have.
TEST(LaneSetsTest, PredicatesOfOneBranch) {
  EXPECT_EQ(countGoodSeeds(
                makeRun(onBothWays("shfl.sync.up.b32 %r10, %r4, 4, 0, -1;",
                                   "shfl.sync.up.b32 %r12|%p3, %r5, 12, 0, -1;"
                                   "selp.b32 %r11, 1, 2, %p3;")),
                makeWords([](unsigned i) {
                  return i >= 8 ? (i >= 12 ? 1 : 2) : 10 + (i >= 4 ? i - 4 : i);
                })),
            10u);
}

// One branch has ended when the others meet.
TEST(LaneSetsTest, MeetingsBesideLanesAtTheEnd) {
  std::string body =
      "setp.ge.u32 %p0, %r0, 16; setp.ge.u32 %p1, %r0, 8;"
      "setp.ge.u32 %p2, %r0, 24; @%p0 bra H; @%p1 bra X;"
      "bar.warp.sync 0xffff; bra E; X: bar.warp.sync 0xffff; bra E;"
      "H: @%p2 bra R; mov.u32 %r4, 1; exit; R: bra Q; Q: mov.u32 %r5, 2; exit;"
      "E: st.global.b32 [%d3], 6; ret;";
  EXPECT_EQ(countGoodSeeds(makeRun(body), makeWords([](unsigned i) {
                             return i < 16 ? 6 : 0;
                           })),
            10u);
}
