//===- LaunchControlTest.cpp - Tests of clusterlaunchcontrol --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine/PendingClusters.h"
#include "ThreadTesting.h"

#include <map>
#include <set>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

static const std::string kRequest =
    "clusterlaunchcontrol.try_cancel.async.shared::cta"
    ".mbarrier::complete_tx::bytes";
static const std::string kQuery = "clusterlaunchcontrol.query_cancel.";
static const std::string kExpect =
    "mbarrier.arrive.expect_tx.shared.b64 _, [M], 16;";
static const std::string kWaitAndLoad =
    "mbarrier.try_wait.parity.shared.b64 %p1, [M], %r20; @!%p1 bra L;"
    "xor.b32 %r20, %r20, 1; ld.shared.b128 %q0, [S];";
static const std::string kInitialize =
    ".reg .b128 %q<2>; mov.u32 %r20, 0; mov.u32 %r10, %ctaid.x;"
    "mov.u32 %r21, %ctaid.x; setp.eq.u32 %p0, %r0, 0;"
    "@%p0 mbarrier.init.shared.b64 [M], 1; fence.mbarrier_init.release.cluster;"
    "bar.sync 0;";

static KernelRun makeGrid(KernelRun run, unsigned blocks,
                          unsigned cluster = 1) {
  run.blocks = blocks;
  run.cluster = cluster;
  run.target = "sm_100a";
  return run;
}

/// Block %r21 counts block %r10 in word %r10 of the output, and says in the
/// upper half of the word that it did so.
static const std::string kCount =
    "mad.wide.u32 %d4, %r10, 4, %buf1; mad.lo.u32 %r11, %r21, 65536, 1;"
    "red.add.global.u32 [%d4], %r11;";

/// Thread 0 of each block cancels blocks until there are none left.
static KernelRun makePersistent(unsigned blocks) {
  return makeGrid(makeRun(kInitialize + "@!%p0 bra E;\nN: " + kCount + kExpect +
                          kRequest + ".b128 [S], [M];\nL: " + kWaitAndLoad +
                          kQuery + "is_canceled.pred.b128 %p2, %q0; @%p2 " +
                          kQuery +
                          "get_first_ctaid::x.b32.b128 %r10, %q0;"
                          "@%p2 bra N;\nE: ret;"),
                  blocks);
}

/// The sum over all seeds of how many blocks have done the work of any; the
/// work of each is done once.
static unsigned countWorkers(KernelRun run, unsigned numSeeds) {
  unsigned count = 0;
  for (run.options.seed = 0; run.options.seed != numSeeds; ++run.options.seed) {
    std::vector<uint32_t> output = getOutput(run);
    std::set<uint32_t> workers;
    for (unsigned i = 0; i != output.size(); ++i) {
      EXPECT_EQ(output[i] & 0xFFFF, i < run.blocks ? 1u : 0u)
          << "seed " << run.options.seed << ", block " << i;
      if (i < run.blocks)
        workers.insert(output[i] >> 16);
    }
    count += workers.size();
  }
  return count;
}

TEST(LaunchControlTest, EachBlockIsProcessedOnce) {
  KernelRun run = makePersistent(50);
  // With seed 0, as many blocks begin as fit, and take turns.
  EXPECT_EQ(countWorkers(run, 1), 50u);
  KernelRun small = makePersistent(240);
  small.options.sms = 1;
  EXPECT_EQ(countWorkers(small, 1), 32u);
  std::map<uint32_t, unsigned> numBlocks;
  for (uint32_t word : getOutput(small))
    ++numBlocks[word >> 16];
  numBlocks.erase(0);
  for (auto [worker, count] : numBlocks)
    EXPECT_NEAR(count, 7.5, 5) << worker;
  EXPECT_GT(countWorkers(run, 20), 50u + 19u);
  countWorkers(checkingRaces(run), 5);
  run.options.checkProxy = true;
  countWorkers(run, 5);
}

// The order depends on the seed: the block that is canceled first is stored.
TEST(LaunchControlTest, OrderIsDrawn) {
  KernelRun run = makeGrid(
      makeRun(kInitialize + "setp.eq.and.u32 %p0, %r10, 0, %p0; @!%p0 bra E;" +
              kExpect + kRequest + ".b128 [S], [M];\nL: " + kWaitAndLoad +
              kQuery + "is_canceled.pred.b128 %p2, %q0; @%p2 " + kQuery +
              "get_first_ctaid.v4.b32.b128 {%r10, %r11, %r12, _}, %q0;"
              "add.u32 %r10, %r10, %r11; add.u32 %r10, %r10, %r12;"
              "st.global.b32 [%buf1], %r10;\nE: ret;"),
      500);
  std::set<uint32_t> first;
  for (run.options.seed = 1; run.options.seed != 6; ++run.options.seed)
    first.insert(getOutput(run)[0]);
  EXPECT_GT(first.size(), 3u);
  EXPECT_EQ(first.count(0), 0u);
}

// Both blocks of a cluster get the response, and work on their own block; a
// cluster does the work of `most` at most.
static KernelRun makeMulticast(const std::string &before = "",
                               const std::string &behind = "",
                               unsigned most = 100) {
  return makeGrid(
      makeClusterRun(
          before + kInitialize + "mov.u32 %r22, 0;" + kMeet +
          "setp.eq.and.u32 %p3, %r50, 0, %p0;" + "\nN: @!%p0 bra P;" + kCount +
          "\nP: add.u32 %r22, %r22, 1; setp.eq.u32 %p4, %r22, " +
          std::to_string(most) + "; @%p4 bra E; @%p0 " + kExpect + kMeet +
          "@%p3 " + kRequest + ".multicast::cluster::all.b128 [S], [M];" +
          "\nL: " + kWaitAndLoad + kMeet + kQuery +
          "is_canceled.pred.b128 %p2, %q0; @!%p2 bra E;" + kQuery +
          "get_first_ctaid::x.b32.b128 %r10, %q0;"
          "add.u32 %r10, %r10, %r50; bra N;\nE: " +
          behind),
      24, /*cluster=*/2);
}

TEST(LaunchControlTest, Multicast) {
  KernelRun run = makeMulticast();
  EXPECT_EQ(countWorkers(run, 1), 24u);
  EXPECT_GT(countWorkers(run, 10), 20u);
  countWorkers(checkingRaces(run), 5);
}

// Two clusters share SMs: the second one of a group may be canceled without the
// first one.
TEST(LaunchControlTest, TensorMemory) {
  for (unsigned most : {2, 100}) {
    KernelRun run = makeMulticast(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S + 64], 32;"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
        "ld.shared.b32 %r30, [S + 64];"
        "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r30, 32;",
        most);
    EXPECT_GT(countWorkers(run, 20), 40u);
    run.blocks = 22;
    countWorkers(run, 20);
  }
}

TEST(LaunchControlTest, Refusals) {
  const std::string start =
      kInitialize + kExpect + "@%p0 " + kRequest + ".b128 [S], [M];";
  KernelRun run =
      makeGrid(makeRun(start + "\nL: " + kWaitAndLoad + "\n" + kQuery +
                       "get_first_ctaid::y.b32.b128 %r10, %q0;"),
               1);
  run.threads = 1;
  EXPECT_FAILS(run, 3,
               "expected the response to a request that canceled a cluster, "
               "got one that says that no cluster is left");
  run = makeGrid(makeRun(start + "\nL: " + kWaitAndLoad + kExpect + "\n" +
                         kRequest + ".b128 [S], [M];"),
                 1);
  run.threads = 1;
  EXPECT_FAILS(run, 3,
               "expected no further request of a block that has got the "
               "response that no cluster is left");
  // A request that was in flight before the response is legal.
  run = makeGrid(
      makeRun(start + kExpect +
              "@%p0 mbarrier.init.shared.b64 [M + 8], 1;"
              "fence.mbarrier_init.release.cluster;"
              "mbarrier.arrive.expect_tx.shared.b64 _, [M + 8], 16;" +
              kRequest + ".b128 [S + 16], [M + 8];\nL: " + kWaitAndLoad +
              "K: mbarrier.try_wait.parity.shared.b64 %p1, [M + 8], "
              "0; @!%p1 bra K;"),
      1);
  run.threads = 1;
  run.body.erase(run.body.find(kExpect, run.body.find(kRequest)),
                 kExpect.size());
  EXPECT_EQ(getError(run), "no error");
}

TEST(LaunchControlTest, Errors) {
  KernelRun run = makeGrid(makeRun(".reg .b128 %q<2>; mov.u32 %r4, 7;"
                                   "mov.b128 %q0, {%d2, %d2};\n" +
                                   kQuery + "is_canceled.pred.b128 %p2, %q0;"),
                           1);
  EXPECT_FAILS(run, 2,
               "expected a response of clusterlaunchcontrol.try_cancel, got "
               "other bytes");
  run = makeGrid(makeRun(kInitialize + "\n" + kRequest + ".b128 [S + 8], [M];"),
                 1);
  EXPECT_FAILS(run, 2, "multiple of 16");
  EXPECT_EQ(getLoadError(".reg .b128 %q<2>;" + kQuery +
                             "is_canceled.pred.b128 %p2, %q0;",
                         "sm_90a"),
            "expected a target with clusterlaunchcontrol, from sm_100 on, got "
            "sm_90a");
  EXPECT_EQ(
      getLoadError(kRequest + ".multicast::cluster::all.b128 [%r1],[%r2];",
                   "sm_100"),
      "expected a target with .multicast::cluster::all of "
      "clusterlaunchcontrol, such as sm_100a, got sm_100");
}

// Zeros that a kernel has stored itself count as a response that no cluster is
// left.
TEST(LaunchControlTest, Zeros) {
  KernelRun run = makeGrid(
      makeRun(".reg .b128 %q<2>; mov.u64 %d2, 0; mov.b128 %q0, {%d2, %d2};"
              "mov.u32 %r10, 7;\n" +
              kQuery +
              "is_canceled.pred.b128 %p2, %q0;"
              "@%p2 mov.u32 %r10, 8; st.global.b32 [%buf1], %r10;"),
      1);
  EXPECT_EQ(getOutput(run)[0], 7u);
  std::string expected =
      "expected a response of clusterlaunchcontrol.try_cancel, got zeros, "
      "which count as a response that no cluster is left (PTX ISA, "
      "clusterlaunchcontrol.query_cancel: other bytes are undefined)";
  EXPECT_EQ(runKernel(run).warnings.size(), 1u);
  EXPECT_FAILS(checkingStrictly(run), 2, expected);
}

TEST(LaunchControlTest, PendingClusters) {
  PendingClusters pending(5);
  EXPECT_TRUE(pending.remove(1));
  EXPECT_FALSE(pending.remove(1));
  EXPECT_TRUE(pending.remove(4));
  EXPECT_FALSE(pending.contains(4));
  EXPECT_FALSE(pending.contains(5));
  ASSERT_EQ(pending.size(), 3u);
  std::set<uint64_t> left = {pending.at(0), pending.at(1), pending.at(2)};
  EXPECT_EQ(left, (std::set<uint64_t>{0, 2, 3}));
  for (uint64_t cluster : left)
    EXPECT_TRUE(pending.remove(cluster));
  EXPECT_EQ(pending.size(), 0u);
}
