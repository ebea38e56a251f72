//===- RacesTest.cpp - Tests of race detection ----------------------------===//
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

/// A run of 64 threads with race detection.
static KernelRun check(const std::string &body, unsigned threads = 64) {
  return checkingRaces(makeRun(body, threads));
}

/// Both warps do something; %p0 is true in warp 0.
static KernelRun checkWarps(const std::string &warp0,
                            const std::string &warp1) {
  return check("setp.lt.u32 %p0, %r0, 32; @!%p0 bra B;\n" + warp0 +
               " ret;\nB: " + warp1);
}

/// Whether the run has a race with each of some seeds.
static bool isAlwaysRace(KernelRun run) {
  for (run.options.seed = 0; run.options.seed != 10; ++run.options.seed)
    if (getError(run).find("race: ") == std::string::npos)
      return false;
  return true;
}
static bool isNeverRace(KernelRun run) {
  for (run.options.seed = 0; run.options.seed != 10; ++run.options.seed)
    if (getError(run) != "no error")
      return false;
  return true;
}

TEST(RacesTest, MessageNamesBothSides) {
  KernelRun run = checkWarps("st.shared.b32 [S + 8], 1;",
                             "bar.warp.sync -1; st.shared.b32 [S + 8], 2;");

  EXPECT_FAILS(check("setp.eq.u32 %p0, %r0, 3; st.shared.b32 [%r3], 1;\n"
                     "@%p0 ld.shared.b32 %r4, [S + 16];",
                     32),
               2,
               "lane 3: race: this load of the byte at 0x410 in shared "
               "memory (byte 16 of S) and the store in line 1 by lane 4 of "
               "warp 0 have no "
               "barrier between");
  EXPECT_TRUE(isAlwaysRace(run));
}

TEST(RacesTest, RaceDetectionIsAnOption) {
  KernelRun run = makeRun("st.shared.b32 [S], %r0;", 64);
  EXPECT_EQ(getError(run), "no error");
  EXPECT_TRUE(isAlwaysRace(checkingRaces(run)));
}

TEST(RacesTest, WithinAWarp) {
  std::string store = "st.shared.b32 [%r3], %r0;";
  std::string load = "sub.u32 %r4, 31, %r0; mad.lo.u32 %r5, %r4, 4, %r2;"
                     "ld.shared.b32 %r6, [%r5];";
  EXPECT_TRUE(isAlwaysRace(check(store + load, 32)));
  EXPECT_TRUE(isNeverRace(check(store + "bar.warp.sync -1;" + load, 32)));
  EXPECT_TRUE(isNeverRace(check(store + "bar.sync 0;" + load, 32)));
  EXPECT_TRUE(isNeverRace(check(store + "ld.shared.b32 %r6, [%r3];", 32)));
  // Collectives order nothing.
  for (const char *other :
       {"shfl.sync.idx.b32 %r9, %r0, 0, 31, -1;",
        "vote.sync.any.pred %p1, "
        "%p1, -1;",
        "match.any.sync.b32 %r9, %r0, -1;", "redux.sync.add.u32 %r9, %r0, -1;",
        "elect.sync _|%p2, -1;", "activemask.b32 %r9;", "membar.cta;",
        "fence.acq_rel.cta;"})
    EXPECT_TRUE(isAlwaysRace(
        check("setp.eq.u32 %p1, %r0, 0;" + store + other + load, 32)))
        << other;
  // A load before a store of another lane.
  std::string first = "st.shared.b32 [%r3], %r0; bar.warp.sync -1;";
  EXPECT_TRUE(isAlwaysRace(check(first + load + store, 32)));
  EXPECT_TRUE(
      isNeverRace(check(first + load + "bar.warp.sync -1;" + store, 32)));
}

TEST(RacesTest, OneLoadOfManyLanes) {
  // All lanes load a word, the one of lane 31 last; lane 31 stores it.
  EXPECT_TRUE(isAlwaysRace(check("setp.eq.u32 %p0, %r0, 31;"
                                 "@%p0 st.shared.b32 [S], 1; bar.warp.sync -1;"
                                 "ld.shared.b32 %r4, [S];"
                                 "@%p0 st.shared.b32 [S], 2;",
                                 32)));
}

TEST(RacesTest, LanesThatStoreTheSame) {
  // One instruction, one value: the order of lanes does not show.
  EXPECT_TRUE(isNeverRace(check("st.shared.b32 [S], 7;", 32)));
  EXPECT_TRUE(
      isNeverRace(check("st.shared.v2.b32 [S], {7, %r60}; bar.warp.sync -1;"
                        "ld.shared.b32 %r4, [S];",
                        32)));
  EXPECT_TRUE(isAlwaysRace(check("st.shared.b32 [S], %r0;", 32)));
  EXPECT_TRUE(isAlwaysRace(check("st.shared.v2.b32 [S], {7, %r0};", 32)));
  // Two instructions.
  const std::string two = "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [S], 7;";
  EXPECT_TRUE(isNeverRace(check(two + "@!%p0 st.shared.b32 [S], 7;", 32)));
  EXPECT_TRUE(isAlwaysRace(check(two + "@!%p0 st.shared.b32 [S], 8;", 32)));
}

TEST(RacesTest, WarpsThatStoreTheSame) {
  // A flag that any thread may raise.
  const std::string flag =
      "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [S], 0; bar.sync 0;"
      "and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0;";
  const std::string load = "bar.sync 0; ld.shared.b32 %r5, [S];";
  EXPECT_TRUE(
      isNeverRace(check(flag + "@%p1 st.shared.b32 [S], 1;" + load, 128)));
  EXPECT_TRUE(isNeverRace(checkWarps("st.shared.v2.b32 [S], {7, 8};",
                                     "st.shared.v2.b32 [S], {7, 8};")));
  // Without a barrier in front of the load, or behind the first value.
  EXPECT_TRUE(isAlwaysRace(
      check(flag + "@%p1 st.shared.b32 [S], 1; ld.shared.b32 %r5, [S];", 128)));
  EXPECT_TRUE(isAlwaysRace(
      check("setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [S], 0;"
            "setp.eq.u32 %p1, %r0, 32; @%p1 st.shared.b32 [S], 1;")));
  // Values that differ: of warps, and in one byte.
  EXPECT_TRUE(isAlwaysRace(
      check(flag + "shr.u32 %r6, %r0, 5; @%p1 st.shared.b32 [S], %r6;", 64)));
  EXPECT_TRUE(isAlwaysRace(checkWarps("st.shared.v4.b32 [S], {7, 8, 9, 10};",
                                      "st.shared.v4.b32 [S], {7, 8, 9, 11};")));
  // Accesses of several sizes are compared byte by byte.
  const std::string bytes = "st.shared.v4.b8 [S + 4], {1, 2, 3, 4};";
  EXPECT_TRUE(
      isNeverRace(checkWarps("st.shared.v2.b32 [S], {0, 0x04030201};", bytes)));
  EXPECT_TRUE(isAlwaysRace(
      checkWarps("st.shared.v2.b32 [S], {0, 0x04030202};", bytes)));
  // The next value is told apart from the last one.
  EXPECT_TRUE(isAlwaysRace(
      checkWarps("st.shared.b32 [S], 1; bar.sync 0; st.shared.b32 [S], 2;",
                 "bar.sync 0; st.shared.b32 [S], 1;")));
  // An atomic access has no value of its own.
  EXPECT_TRUE(isAlwaysRace(checkWarps("st.shared.b32 [S], 1;",
                                      "atom.shared.exch.b32 %r9, [S], 1;")));
  EXPECT_TRUE(isNeverRace(check("st.bulk.shared::cta [S], 64, 0;")));
}

TEST(RacesTest, BetweenWarps) {
  std::string store = "st.shared.b32 [S], 1;", load = "ld.shared.b32 %r4, [S];";
  std::string one = "setp.eq.u32 %p1, %r0, 0; @%p1 " + store;
  EXPECT_TRUE(
      isNeverRace(checkWarps(one + "bar.sync 0;", "bar.sync 0; " + load)));
  EXPECT_TRUE(isAlwaysRace(checkWarps(one + "bar.arrive 1, 64; ",
                                      "bar.arrive 1, 64; bar.sync 2, 32;"
                                      "mov.u32 %r9, S; st.shared.b32 [%r9 + "
                                      "64], %r0;")));
  // An arrival does not order what comes after it.
  EXPECT_TRUE(isAlwaysRace(checkWarps(
      "bar.arrive 1, 64;" + one,
      "st.shared.b32 [%r3], %r0; bar.sync 1, 64; setp.eq.u32 %p2, %r0, 32;"
      "@%p2 st.shared.b32 [S], 3;")));
  // Nor does it order a warp that only arrives with what others do after the
  // barrier.
  EXPECT_TRUE(isAlwaysRace(checkWarps(
      "bar.sync 1, 64;" + one,
      "setp.eq.u32 %p2, %r0, 32; bar.arrive 1, 64; @%p2 st.shared.b32 [S], "
      "3;")));
  // Barriers of other warps do not help.
  EXPECT_TRUE(isAlwaysRace(checkWarps(
      one + "bar.sync 1, 32;",
      "setp.eq.u32 %p2, %r0, 32; bar.sync 2, 32; @%p2 st.shared.b32 [S], "
      "3;")));
}

TEST(RacesTest, OrderIsHandedOn) {
  // Warp 0 stores, a barrier orders warp 1 behind it, and another one orders
  // warp 2, which loads.
  KernelRun run = check("setp.ge.u32 %p1, %r0, 64; @%p1 bra C;"
                        "setp.ge.u32 %p2, %r0, 32; @%p2 bra B;"
                        "st.shared.b32 [%r3], %r0; bar.sync 1, 64; ret;"
                        "B: bar.sync 1, 64; bar.sync 2, 64; ret;"
                        "C: bar.sync 2, 64; ld.shared.b32 %r4, [%r3 + -256];",
                        96);
  EXPECT_TRUE(isNeverRace(run));
}

TEST(RacesTest, Atomics) {
  EXPECT_TRUE(isNeverRace(
      check("setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [S], 0; bar.sync 0;"
            "red.shared.add.u32 [S], 1; atom.shared.max.u32 %r4, [S], 1;")));
  EXPECT_TRUE(isAlwaysRace(
      check("setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [S], 0; bar.sync 0;"
            "red.shared.add.u32 [S], 1; ld.shared.b32 %r4, [S];")));
}

TEST(RacesTest, Matrices) {
  // Rows go to other lanes, even the lane's own.
  std::string store = "mad.lo.u32 %r5, %r0, 16, %r2;"
                      "st.shared.v4.b32 [%r5], {%r0, %r0, %r0, %r0};";
  std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, "
                     "%r9}, [%r5];";
  EXPECT_TRUE(isAlwaysRace(check(store + load, 32)));
  EXPECT_TRUE(isNeverRace(check(store + "bar.warp.sync -1;" + load, 32)));
  EXPECT_TRUE(
      isAlwaysRace(check(store + "bar.warp.sync -1;" + load + store, 32)));
  std::string matrix = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r5], {%r0};";
  EXPECT_TRUE(isAlwaysRace(check("mad.lo.u32 %r5, %r0, 16, %r2;" + matrix +
                                     "ld.shared.b32 %r4, [%r5];",
                                 32)));
}

TEST(RacesTest, CopyOverBytesThatOthersRead) {
  std::string start = "st.shared.b32 [%r3], %r0; bar.sync 0;"
                      "sub.u32 %r4, 63, %r0; mad.lo.u32 %r5, %r4, 4, %r2;"
                      "ld.shared.b32 %r6, [%r5];\n";
  std::string copy = "cp.async.ca.shared.global [%r3], [%d2], 4; "
                     "cp.async.wait_all;";
  EXPECT_TRUE(isNeverRace(check(start + "bar.sync 0;" + copy)));
  std::string error = getError(check(start + copy));
  EXPECT_TRUE(isAlwaysRace(check(start + copy))) << error;
  // One warp: the copy begins behind the loads, and is the other side.
  error = getError(check("st.shared.b32 [%r3], %r0; bar.sync 0;"
                         "sub.u32 %r4, 31, %r0; mad.lo.u32 %r5, %r4, 4, %r2;"
                         "ld.shared.b32 %r6, [%r5];\n" +
                             copy,
                         32));
  EXPECT_EQ(error, "line 2, block (0,0,0), warp 0, lane 0: race: this "
                   "asynchronous store of the byte at 0x400 in shared memory "
                   "(byte 0 of S) "
                   "and the load in line 1 by lane 31 of warp 0 have no "
                   "barrier between");
}

TEST(RacesTest, CopiesAreOrderedBehindTheWait) {
  // Readers need a barrier after the wait; one before it does not help.
  std::string error =
      getError(check("cp.async.ca.shared.global [%r3], [%d2], 4; bar.sync 0;"
                     "cp.async.wait_all;\nld.shared.b32 %r4, [S];",
                     32));
  EXPECT_EQ(error, "line 2, block (0,0,0), warp 0, lane 1: race: this load of "
                   "the byte at 0x400 in shared memory (byte 0 of S) and the "
                   "asynchronous "
                   "store in line 1 by lane 0 of warp 0 have no barrier "
                   "between");
}

/// Thread 0 initializes M and M + 8.
static const std::string kInit =
    "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], 1; @%p0 "
    "mbarrier.init.shared.b64 [M + 8], 1; @%p0 "
    "fence.mbarrier_init.release.cluster; bar.sync 0;\n";
static std::string wait(const std::string &label, const std::string &object,
                        int parity = 0) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p7, [" + object +
         "], " + std::to_string(parity) + "; @!%p7 bra " + label + ";\n";
}
static std::string copyBulk(const std::string &to, const std::string &object) {
  return "mbarrier.arrive.expect_tx.shared.b64 _, [" + object +
         "], 16; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
         "[" +
         to + "], [%buf0], 16, [" + object + "];";
}

// mbarrier.complete_tx is relaxed: it orders what comes before an earlier
// fence.
TEST(RacesTest, CompletedTransactions) {
  auto run = [&](const std::string &fence) {
    return check(kInit +
                 "setp.ge.u32 %p1, %r0, 32; @%p1 bra B;"
                 "@!%p0 bra E;"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [M], 16;"
                 "st.shared.b32 [S], 1;" +
                 fence +
                 "mbarrier.complete_tx.relaxed.cta.shared.b64 [M], 16; bra E;"
                 "\nB: " +
                 wait("L", "M") + "ld.shared.b32 %r4, [S];\nE: ret;");
  };
  EXPECT_TRUE(isAlwaysRace(run("")));
  EXPECT_TRUE(isNeverRace(run("fence.acq_rel.cta;")));
  EXPECT_TRUE(
      isNeverRace(run("fence.release.sync_restrict::shared::cta.cluster;")));
}

TEST(RacesTest, MBarriersOrderPhases) {
  // Warp 0 stores and arrives, warp 1 waits and loads.
  std::string produce = "setp.ne.u32 %p1, %r0, 0; @%p1 ret;"
                        "st.shared.b32 [S], 1;"
                        "mbarrier.arrive.shared.b64 _, [M];";
  auto run = [&](const std::string &first, const std::string &second) {
    return check(kInit + "setp.ge.u32 %p1, %r0, 32; @%p1 bra B;" + first +
                 " ret;\nB: " + second);
  };
  std::string load = "ld.shared.b32 %r4, [S];";
  EXPECT_TRUE(isNeverRace(run(produce, wait("L", "M") + load)));
  EXPECT_TRUE(isAlwaysRace(run(produce, load)));
  // Accesses after the arrival are not ordered, and neither are those before an
  // arrival in the next phase.
  EXPECT_TRUE(isAlwaysRace(
      run(produce + "st.shared.b32 [S], 2;", wait("L", "M") + load)));
  EXPECT_TRUE(
      isAlwaysRace(run(produce + "mbarrier.init.shared.b64 [M + 16], 2;"
                                 "mbarrier.arrive.shared.b64 _, [M + 16], 2;"
                                 "mbarrier.arrive.shared.b64 _, [M + 8];"
                                 "st.shared.b32 [S], 2;"
                                 "mbarrier.arrive.shared.b64 _, [M + 16];",
                       wait("L", "M + 8") + wait("K", "M + 16") + load)));
  // Another object orders nothing.
  EXPECT_TRUE(isAlwaysRace(
      run("setp.ne.u32 %p1, %r0, 0; @%p1 ret; mbarrier.arrive.shared.b64 _, "
          "[M]; st.shared.b32 [S], 1; mbarrier.arrive.shared.b64 _, [M + 8];",
          wait("L", "M") + load)));
}

TEST(RacesTest, BulkCopiesAreOrderedByTheirMBarrier) {
  // Thread 0 copies for both warps. Warp 1 goes on when warp 0 has seen the
  // copy and has said so through global memory, and waits for `object`.
  auto run = [&](const std::string &object) {
    return check(
        kInit + "@%p0 bra A; bra B; A: " + copyBulk("S", "M") +
        copyBulk("S + 16", "M + 8") +
        "B: setp.ge.u32 %p1, %r0, 32; @%p1 bra C;" + wait("L", "M + 8") +
        "st.volatile.global.b32 [%buf1], 1; ret;"
        "C: ld.volatile.global.b32 %r4, [%buf1]; setp.eq.u32 %p2, %r4, 0;"
        "@%p2 bra C;" +
        wait("K", object) + "ld.shared.b32 %r4, [S + 16];");
  };
  EXPECT_TRUE(isNeverRace(run("M + 8")));
  EXPECT_TRUE(isAlwaysRace(run("M")));
  std::string error = getError(run("M"));
  EXPECT_NE(error.find("race: this load of the byte at 0x410 in shared memory "
                       "(byte 16 of S) "
                       "and the asynchronous store in line 2 by lane 0 of warp "
                       "0 have no barrier between"),
            std::string::npos)
      << error;
  // Over bytes that another thread has read.
  EXPECT_TRUE(isAlwaysRace(check("st.shared.b32 [%r3], 0;" + kInit +
                                     "ld.shared.b32 %r4, [%r3]; @%p0 "
                                     "bra A; ret; A: fence.proxy.async;" +
                                     copyBulk("S", "M") + wait("L", "M"),
                                 32)));
}

TEST(RacesTest, SourcesOfBulkCopies) {
  // Thread 0 copies out what all have stored.
  auto run = [](const std::string &barrier, const std::string &end) {
    return check(
        "setp.eq.u32 %p0, %r0, 0; st.shared.b32 [%r3], %r0;"
        "fence.proxy.async; " +
            barrier +
            "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%buf1], "
            "[S], 128; @%p0 cp.async.bulk.commit_group; " +
            end + "@%p0 cp.async.bulk.wait_group 0;",
        32);
  };
  EXPECT_TRUE(isNeverRace(run("bar.sync 0;", "")));
  EXPECT_TRUE(isAlwaysRace(run("", "")));
  // Barriers on both sides do not help before the wait.
  EXPECT_TRUE(isAlwaysRace(
      run("bar.sync 0;", "bar.sync 0; st.shared.b32 [%r3], 1; bar.sync 0;")));
  EXPECT_TRUE(isNeverRace(
      run("bar.sync 0;", "@%p0 cp.async.bulk.wait_group.read 0; bar.sync 0;"
                         "st.shared.b32 [%r3], 1;")));
  // Behind the wait, but without a barrier.
  EXPECT_TRUE(
      isAlwaysRace(run("bar.sync 0;", "@%p0 cp.async.bulk.wait_group.read 0;"
                                      "st.shared.b32 [%r3], 1;")));
}

TEST(RacesTest, LanesOfOneAccessInSeveralSpaces) {
  // Lane 0 stores to global memory, the others to shared memory.
  EXPECT_TRUE(isNeverRace(
      check("mul.wide.u32 %d9, %r3, 1; cvta.shared.u64 %d9, %d9; setp.eq.u32 "
            "%p0, %r0, 0;"
            "@%p0 mov.u64 %d9, %buf1; st.b32 [%d9], %r0; ld.b32 %r4, [%d9];")));
}
