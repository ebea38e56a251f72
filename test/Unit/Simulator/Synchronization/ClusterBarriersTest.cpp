//===- ClusterBarriersTest.cpp - Tests of barrier.cluster -----------------===//
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

static constexpr const char *kStoreThread =
    "mad.lo.u32 %r4, %r50, 32, %r0; st.global.b32 [%d3], %r4;";

/// The words that the threads of blocks write with `kStoreThread`.
static std::vector<uint32_t> makeNumbers(unsigned blocks) {
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != 32 * blocks; ++i)
    words[i] = i;
  return words;
}

TEST(ClusterBarriersTest, AllForms) {
  for (const char *forms :
       {"barrier.cluster.arrive; barrier.cluster.wait;",
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        "barrier.cluster.arrive.release.aligned;"
        "barrier.cluster.wait.acquire.aligned;",
        "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;"})
    EXPECT_EQ(
        countGoodSeeds(makeClusterRun(std::string(forms) + kStoreThread, 4),
                       makeNumbers(4)),
        10u)
        << forms;
}

TEST(ClusterBarriersTest, ManyPhases) {
  // Each block adds to a word of the next one in turns.
  std::string body = "st.shared.b32 [%r3], %r50;" + std::string(kMeet) +
                     "mov.u32 %r10, 0;\n"
                     "L: ld.shared.b32 %r5, [%r3]; barrier.cluster.arrive;"
                     "add.u32 %r10, %r10, 1; barrier.cluster.wait;"
                     "st.shared::cluster.b32 [%r52], %r5;" +
                     kMeet +
                     "setp.lt.u32 %p0, %r10, 7; @%p0 bra L;"
                     "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;";
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != 32 * 4; ++i)
    words[i] = (i / 32 + 4 * 7 - 7) % 4;
  EXPECT_EQ(countGoodSeeds(makeClusterRun(body, 4), words), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeClusterRun(body, 4)), words), 10u);
}

TEST(ClusterBarriersTest, LateWaitsAreForTheirPhase) {
  // Block 0 waits when block 1 has arrived at the next phase; what block 1 has
  // stored between is not ordered before what block 0 does then.
  KernelRun run = checkingRaces(makeClusterRun(
      "st.shared.b32 [%r3], 0; barrier.cluster.arrive; mov.u32 %r10, 0;"
      "setp.eq.u32 %p0, %r50, 1; @%p0 bra B;\n"
      "D: add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 300; @%p1 bra D;"
      "barrier.cluster.wait; ld.shared::cluster.b32 %r5, [%r52]; bra E;"
      "B: barrier.cluster.wait; st.shared.b32 [%r3], 1; E:" +
      std::string(kMeet)));
  for (run.options.seed = 0; run.options.seed != 10; ++run.options.seed)
    EXPECT_NE(getError(run).find("race: "), std::string::npos);
}

TEST(ClusterBarriersTest, WarpsThatHaveExitedAreNotWaitedFor) {
  KernelRun run = makeClusterRun("setp.eq.u32 %p0, %r50, 1; @%p0 exit;" +
                                     std::string(kMeet) + kStoreThread,
                                 2);
  EXPECT_EQ(countGoodSeeds(run, makeNumbers(1)), 10u);
  // So are those that have arrived and do not wait.
  run = makeClusterRun("barrier.cluster.arrive; setp.eq.u32 %p0, %r50, 1;"
                       "@%p0 exit; barrier.cluster.wait;" +
                       std::string(kMeet) + kStoreThread);
  EXPECT_EQ(countGoodSeeds(run, makeNumbers(1)), 10u);
  // Lanes that have exited, too.
  run = makeClusterRun("setp.ge.u32 %p0, %r0, 8; @%p0 exit;" +
                       std::string(kMeet));
  EXPECT_EQ(getError(run), "no error");
}

TEST(ClusterBarriersTest, ABlockIsACluster) {
  EXPECT_EQ(getError(makeRun("setp.ge.u32 %p0, %r0, 32; @%p0 nanosleep.u32 1;" +
                                 std::string(kMeet),
                             64)),
            "no error");
}

TEST(ClusterBarriersTest, ClustersDoNotWaitForEachOther) {
  KernelRun run = makeClusterRun("mov.u32 %r5, %clusterid.x;"
                                 "setp.eq.u32 %p0, %r5, 0; @%p0 bra E;" +
                                 std::string(kMeet) + "E:");
  run.blocks = 4;
  EXPECT_EQ(getError(run), "no error");
}

TEST(ClusterBarriersTest, Misuse) {
  EXPECT_FAILS(makeClusterRun("barrier.cluster.arrive;\n"
                              "barrier.cluster.arrive;"),
               2,
               "barrier.cluster.arrive expected a barrier.cluster.wait before, "
               "but this warp arrives a second time without one");
  EXPECT_FAILS(makeClusterRun("\nbarrier.cluster.wait;"), 2,
               "barrier.cluster.wait expected a barrier.cluster.arrive of this "
               "warp before, got none");
  EXPECT_FAILS(makeClusterRun(kMeet + std::string("\nbarrier.cluster.wait;")),
               2, "expected a barrier.cluster.arrive of this warp before");
  EXPECT_FAILS(makeClusterRun("setp.eq.u32 %p0, %r0, 0;\n"
                              "@%p0 barrier.cluster.arrive.aligned;"),
               2, "an aligned barrier expected all lanes of the warp");
  EXPECT_FAILS(makeClusterRun("setp.eq.u32 %p0, %r0, 0;\n"
                              "@%p0 barrier.cluster.arrive;"),
               2, "a barrier that lanes of a warp reach at different times");
}

TEST(ClusterBarriersTest, DeadlocksSayWhoIsMissing) {
  // Block 1 waits for an arrival that never comes.
  KernelRun run = makeClusterRun(
      "setp.eq.u32 %p0, %r50, 1; @%p0 bar.sync 1, 64;\n" + std::string(kMeet),
      2);
  EXPECT_FAILS(
      run, 2,
      "deadlock: warp 0 of block (0,0,0) waits at the barrier of the "
      "cluster (1 of 2 warps have arrived, warp 0 of block (1,0,0) has "
      "not) in line 2; warp 0 of block (1,0,0) waits at barrier 1 (32 "
      "of 64 threads have arrived) in line 1");
}

TEST(ClusterBarriersTest, FormsThatAreRefused) {
  EXPECT_EQ(getLoadError("barrier.cluster.sync;"),
            "expected .arrive or .wait behind barrier.cluster");
  EXPECT_EQ(getLoadError("barrier.cluster.arrive.acquire;"),
            "not supported in this version: modifier 'acquire' of barrier");
  EXPECT_EQ(getLoadError("barrier.cluster.wait.relaxed;"),
            "not supported in this version: modifier 'relaxed' of barrier");
  EXPECT_EQ(getLoadError("barrier.cluster.arrive 0;"),
            "expected 0 operands of barrier, got 1");
  EXPECT_EQ(getLoadError("bar.cluster.arrive;"),
            "not supported in this version: modifier 'cluster' of bar");
}
