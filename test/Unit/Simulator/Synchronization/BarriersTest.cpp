//===- BarriersTest.cpp - Tests of barriers and fences --------------------===//
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

/// Word i of 1024 is `body(i)` for i below `count`, else 0.
template <typename Body>
static std::vector<uint32_t> makeWords(unsigned count, Body body) {
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != count; ++i)
    words[i] = body(i);
  return words;
}

//===----------------------------------------------------------------------===//
// bar and barrier
//===----------------------------------------------------------------------===//

/// Each of 128 threads reads what the opposite thread has stored.
static std::string exchange(const std::string &barrier) {
  return "st.shared.b32 [%r3], %r0;\n" + barrier +
         "\nsub.u32 %r4, 127, %r0; mad.lo.u32 %r5, %r4, 4, %r2;"
         "ld.shared.b32 %r6, [%r5]; st.global.b32 [%d3], %r6;";
}

TEST(BarriersTest, BarrierLetsAllThreadsMeet) {
  auto expected = makeWords(128, [](unsigned i) { return 127 - i; });
  for (const char *barrier :
       {"bar.sync 0;", "barrier.sync.aligned 3;", "barrier.cta.sync 15;",
        "bar.sync 1, 128;", "bar.cta.sync 2;",
        "setp.eq.u32 %p0, %r0, 0; bar.red.popc.u32 %r9, 0, %p0;"}) {
    KernelRun run = makeRun(exchange(barrier), 128);
    EXPECT_EQ(countGoodSeeds(run, expected), 10u) << barrier;
    EXPECT_EQ(countGoodSeeds(checkingRaces(run), expected), 10u) << barrier;
  }
}

TEST(BarriersTest, WithoutBarrierBytesAreUndefined) {
  auto expected = makeWords(128, [](unsigned i) { return 127 - i; });
  EXPECT_LT(countGoodSeeds(makeRun(exchange(""), 128), expected), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeRun(exchange(""), 128)), expected),
            0u);
}

// The bytes must be read before the next round overwrites them.
TEST(BarriersTest, WithoutSecondBarrierBytesAreOverwritten) {
  auto makeRounds = [](const std::string &barrier) {
    return makeRun("mov.u32 %r7, 0; mov.u32 %r8, 0; sub.u32 %r4, 127, %r0; "
                   "mad.lo.u32 %r5, %r4, 4, %r2; L: add.u32 %r9, %r0, %r8; "
                   "st.shared.b32 [%r3], %r9; bar.sync 0; "
                   "ld.shared.b32 %r6, [%r5]; add.u32 %r7, %r7, %r6; " +
                       barrier +
                       " add.u32 %r8, %r8, 1; setp.lt.u32 %p0, %r8, 4; "
                       "@%p0 bra L; st.global.b32 [%d3], %r7;",
                   128);
  };
  auto expected =
      makeWords(128, [](unsigned i) { return 4 * (127 - i) + 0 + 1 + 2 + 3; });
  EXPECT_EQ(countGoodSeeds(makeRounds("bar.sync 0;"), expected), 10u);
  EXPECT_LT(countGoodSeeds(makeRounds(""), expected, /*numSeeds=*/3), 3u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeRounds("")), expected), 0u);
}

TEST(BarriersTest, LastWarpMayBePartlyThere) {
  std::string body = "st.shared.b32 [%r3], %r0; bar.sync 0; sub.u32 %r4, 39, "
                     "%r0; mad.lo.u32 %r5, %r4, 4, %r2; "
                     "ld.shared.b32 %r6, [%r5]; st.global.b32 [%d3], %r6;";
  EXPECT_EQ(countGoodSeeds(makeRun(body, 40),
                           makeWords(40, [](unsigned i) { return 39 - i; })),
            10u);
}

TEST(BarriersTest, ReductionsCountThreads) {
  // The predicate is true in threads 0 to 36 of 64.
  std::string body = "setp.lt.u32 %p0, %r0, 37; ";
  std::string store = " st.global.b32 [%d3], %r4;";
  auto all = [](uint32_t value) {
    return makeWords(64, [&](unsigned) { return value; });
  };
  auto run = [&](const std::string &text) {
    return getOutput(makeRun(body + text + store, 64));
  };
  std::string select = " selp.b32 %r4, 1, 0, %p1;";
  EXPECT_EQ(run("bar.red.popc.u32 %r4, 0, %p0;"), all(37));
  EXPECT_EQ(run("barrier.red.popc.aligned.u32 %r4, 0, 64, !%p0;"), all(27));
  EXPECT_EQ(run("bar.red.and.pred %p1, 0, %p0;" + select), all(0));
  EXPECT_EQ(run("bar.red.or.pred %p1, 0, %p0;" + select), all(1));
  EXPECT_EQ(
      run("setp.lt.u32 %p0, %r0, 64; bar.red.and.pred %p1, 0, %p0;" + select),
      all(1));
  EXPECT_EQ(run("bar.red.or.pred %p1, 0, 64, !%p0;" + select), all(1));
  EXPECT_EQ(
      run("setp.lt.u32 %p0, %r0, 64; bar.red.or.pred %p1, 0, !%p0;" + select),
      all(0));
}

TEST(BarriersTest, ArrivalDoesNotWait) {
  // Warp 0 produces, warp 1 consumes.
  std::string body = "setp.ge.u32 %p0, %r0, 32; @%p0 bra C;"
                     "st.shared.b32 [%r3], %r0; bar.arrive 1, 64; ret;"
                     "C: bar.sync 1, 64; ld.shared.b32 %r4, [%r3 + -128];"
                     "st.global.b32 [%d3], %r4;";
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 32; ++i)
    expected[32 + i] = i;
  EXPECT_EQ(countGoodSeeds(makeRun(body, 64), expected), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeRun(body, 64)), expected), 10u);
}

TEST(BarriersTest, WarpsThatHaveExitedNeedNotArrive) {
  std::string body = "setp.ge.u32 %p0, %r0, 80; @%p0 ret; bar.sync 0; "
                     "st.global.b32 [%d3], %r0;";
  EXPECT_EQ(countGoodSeeds(makeRun(body, 128),
                           makeWords(80, [](unsigned i) { return i; })),
            10u);
}

TEST(BarriersTest, MisuseOfBarriers) {
  EXPECT_FAILS(makeRun("setp.lt.u32 %p0, %r0, 5;\n@%p0 bar.sync 0;"), 2,
               "lane 5: an aligned barrier expected all lanes of the warp that "
               "have not exited, but lane 5 does not take part");
  EXPECT_FAILS(makeRun("setp.lt.u32 %p0, %r0, 5;\n@%p0 barrier.sync 0;"), 2,
               "not supported in this version: a barrier that lanes of a warp "
               "reach at different times; lane 5 does not take part");
  EXPECT_FAILS(makeRun("mov.u32 %r4, 16;\nbar.sync %r4;"), 2,
               "expected a barrier from 0 to 15, got 16");
  EXPECT_FAILS(makeRun("rem.u32 %r4, %r0, 2;\nbar.sync %r4;"), 2,
               "the number of a barrier differs between lanes: 0 in lane 0, 1 "
               "here");
  EXPECT_FAILS(makeRun("bar.sync %r60;"), 1,
               "the number of a barrier is undefined");
  EXPECT_FAILS(makeRun("bar.sync 1, 33;"), 1,
               "expected the thread count of a barrier to be a positive "
               "multiple of 32, got 33");
  EXPECT_FAILS(makeRun("bar.arrive 1, 0;"), 1, "multiple of 32, got 0");
  EXPECT_FAILS(makeRun("bar.sync 1, %r60;"), 1,
               "the thread count of a barrier is undefined");
  EXPECT_FAILS(makeRun("bar.arrive 1, 64;\nbar.sync 1, 64;"), 2,
               "barrier 1 expected other warps, but this warp arrives a second "
               "time before the barrier is complete");
  EXPECT_FAILS(makeRun("bar.red.popc.u32 %r4, 0, %p9;"), 1,
               "the predicate of a barrier is undefined");
}

TEST(BarriersTest, WarpsMustAgreeOnAPhase) {
  std::string counts = "setp.lt.u32 %p0, %r0, 32; selp.u32 %r4, 64, 96, %p0;\n"
                       "bar.sync 1, %r4;";
  EXPECT_NE(getError(makeRun(counts, 64)).find("barrier 1 expected a count of"),
            std::string::npos);
  std::string kinds =
      "setp.lt.u32 %p0, %r0, 32; @%p0 bra A; bar.sync 1, 64; ret;"
      "A: bar.red.popc.u32 %r4, 1, 64, %p0;";
  std::string error = getError(makeRun(kinds, 64));
  EXPECT_NE(error.find("as earlier arrivals have, got"), std::string::npos)
      << error;
  EXPECT_NE(error.find(".red.popc"), std::string::npos) << error;
}

TEST(BarriersTest, WarpBarrier) {
  std::string body = "st.shared.b32 [%r3], %r0;\nbar.warp.sync -1;\n"
                     "sub.u32 %r4, 31, %r0; mad.lo.u32 %r5, %r4, 4, %r2; "
                     "ld.shared.b32 %r6, [%r5]; st.global.b32 [%d3], %r6;";
  auto expected = makeWords(32, [](unsigned i) { return 31 - i; });
  EXPECT_EQ(getOutput(checkingRaces(makeRun(body))), expected);
  EXPECT_FAILS(makeRun("setp.lt.u32 %p0, %r0, 5;\n@%p0 bar.warp.sync 0x3f;"), 2,
               "lane 5: the member mask 0x3f of bar.warp.sync names lane 5, "
               "which does not take part");
  EXPECT_FAILS(makeRun("bar.warp.sync 0x7fffffff;"), 1,
               "lane 31: the member mask 0x7fffffff of bar.warp.sync does not "
               "name the lane itself");
  // Lanes that have exited may be named.
  EXPECT_EQ(getError(makeRun("setp.ge.u32 %p0, %r0, 9; @%p0 ret;"
                             "bar.warp.sync -1;")),
            "no error");
}

TEST(BarriersTest, FormsThatAreRefused) {
  EXPECT_EQ(getLoadError("bar.wait 0;"),
            "expected .sync, .arrive or .red behind bar");
  EXPECT_EQ(getLoadError("bar.arrive 0;"), "expected 2 operands of bar, got 1");
  EXPECT_EQ(getLoadError("bar.red.max.u32 %r0, 0, %p0;"),
            "expected .popc.u32, .and.pred or .or.pred behind bar.red");
  EXPECT_EQ(getLoadError("fence.proxy.texture;"),
            "expected .async, .alias or .tensormap::generic behind "
            "fence.proxy");
}

TEST(BarriersTest, FencesAreAccepted) {
  for (const char *fence :
       {"membar.cta;", "membar.gl;", "fence.acq_rel.gpu;", "fence.sc.cta;",
        "fence.proxy.alias;", "fence.proxy.async;", "fence.proxy.async.global;",
        "fence.proxy.async.shared::cta;",
        "fence.mbarrier_init.release.cluster;", "griddepcontrol.wait;",
        "griddepcontrol.launch_dependents;"})
    EXPECT_EQ(getError(makeRun(fence)), "no error") << fence;
}
