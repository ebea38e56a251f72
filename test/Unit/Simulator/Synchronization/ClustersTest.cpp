//===- ClustersTest.cpp - Tests of memory in clusters ---------------------===//
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

/// The words that the threads of blocks write with `base` + their number.
static std::vector<uint32_t> makeWords(unsigned blocks, uint32_t base,
                                       unsigned rotation) {
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != 32 * blocks; ++i)
    words[i] = base + (i + 32 * rotation) % (32 * blocks);
  return words;
}

/// %r4 is 100 plus the number of the thread among all threads.
static constexpr const char *kNumber =
    "mad.lo.u32 %r4, %r50, 32, %r0; add.u32 %r4, %r4, 100;";

//===----------------------------------------------------------------------===//
// Loads, stores and atomics
//===----------------------------------------------------------------------===//

TEST(ClustersTest, LoadsOfAnotherBlock) {
  for (const char *load :
       {"ld.shared::cluster.b32 %r5, [%r52];",
        "cvt.u64.u32 %d4, %r52; cvta.shared::cluster.u64 %d4, %d4;"
        "ld.b32 %r5, [%d4];",
        "cvt.u64.u32 %d4, %r3; cvta.shared.u64 %d4, %d4;"
        "mapa.u64 %d4, %d4, %r51; ld.b32 %r5, [%d4];",
        "cvt.u64.u32 %d4, %r3; cvta.shared.u64 %d4, %d4;"
        "mapa.u64 %d4, %d4, %r51; cvta.to.shared::cluster.u64 %d4, %d4;"
        "ld.shared::cluster.b32 %r5, [%d4];",
        "mapa.shared::cluster.u32 %r6, S + 4, %r51; add.u32 %r6, %r6, %r1;"
        "ld.shared::cluster.b32 %r5, [%r6 + -4];",
        "cvt.u64.u32 %d4, %r3; mapa.shared::cluster.u64 %d4, %d4, %r51;"
        "ld.shared::cluster.b32 %r5, [%d4];",
        "atom.shared::cluster.add.u32 %r5, [%r52], 0;",
        "and.b32 %r6, %r1, -16; sub.u32 %r7, %r1, %r6; sub.u32 %r6, %r52, %r7;"
        "ld.shared::cluster.v4.b32 {%r8, %r9, %r10, %r11}, [%r6];"
        "setp.eq.u32 %p0, %r7, 0; selp.b32 %r5, %r8, %r9, %p0;"
        "setp.eq.u32 %p0, %r7, 8; selp.b32 %r5, %r10, %r5, %p0;"
        "setp.eq.u32 %p0, %r7, 12; selp.b32 %r5, %r11, %r5, %p0;"}) {
    KernelRun run =
        makeClusterRun(kNumber +
                           std::string("st.shared.b32 [%r3], "
                                       "%r4;") +
                           kMeet + load + "st.global.b32 [%d3], %r5;",
                       4);
    EXPECT_EQ(countGoodSeeds(run, makeWords(4, 100, 1)), 10u) << load;
    EXPECT_EQ(countGoodSeeds(checkingRaces(run), makeWords(4, 100, 1)), 10u)
        << load;
  }
}

TEST(ClustersTest, StoresToAnotherBlock) {
  for (const char *store :
       {"st.shared::cluster.b32 [%r52], %r4;",
        "red.shared::cluster.add.u32 [%r52], %r4;",
        "atom.shared::cluster.exch.b32 %r6, [%r52], %r4;",
        "atom.shared::cluster.cas.b32 %r6, [%r52], 0, %r4;",
        "cvt.u64.u32 %d4, %r52; cvta.shared::cluster.u64 %d4, %d4;"
        "red.relaxed.cluster.add.u32 [%d4], %r4;"}) {
    KernelRun run = makeClusterRun(
        kNumber + std::string("st.shared.b32 [%r3], 0;") + kMeet + store +
            kMeet + "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;",
        4);
    EXPECT_EQ(countGoodSeeds(run, makeWords(4, 100, 3)), 10u) << store;
    EXPECT_EQ(countGoodSeeds(checkingRaces(run), makeWords(4, 100, 3)), 10u);
  }
}

TEST(ClustersTest, SixteenBlocks) {
  KernelRun run = makeClusterRun(
      kNumber + std::string("st.shared::cluster.b32 [%r52], %r4;") + kMeet +
          "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;",
      16);
  EXPECT_EQ(countGoodSeeds(run, makeWords(16, 100, 15)), 10u);
}

TEST(ClustersTest, Races) {
  // Without a barrier between a store and a load, and with one that orders
  // nothing.
  for (const char *between :
       {"", "bar.sync 0;",
        "barrier.cluster.arrive.relaxed; barrier.cluster.wait;"}) {
    KernelRun run =
        makeClusterRun(std::string("st.shared.b32 [%r3], %r0;") + kMeet +
                       "st.shared::cluster.b32 [%r52], %r0;\n" + between +
                       "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;");
    std::string error = getError(checkingRaces(run));
    EXPECT_NE(error.find("race: "), std::string::npos) << between << error;
    EXPECT_NE(error.find(" of block ("), std::string::npos) << error;
  }
  // A fence in front of a relaxed arrival orders what came before.
  EXPECT_EQ(getError(checkingRaces(makeClusterRun(
                "st.shared::cluster.b32 [%r52], %r0;"
                "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;"
                "barrier.cluster.wait;"
                "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;"))),
            "no error");
  // What comes between an arrival and the wait is not ordered.
  std::string error = getError(checkingRaces(makeClusterRun(
      "barrier.cluster.arrive; st.shared::cluster.b32 [%r52], %r0;"
      "barrier.cluster.wait;"
      "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;")));
  EXPECT_NE(error.find("race: "), std::string::npos) << error;
}

TEST(ClustersTest, MemoryOfAnotherBlockIsRefused) {
  EXPECT_FAILS(makeClusterRun("setp.eq.u32 %p0, %r50, 0;\n"
                              "@%p0 ld.shared.b32 %r5, [%r52];"),
               2,
               "expected shared memory of this block (.shared::cta), got that "
               "of block (1,0,0)");
  // Block 1 has ended before.
  EXPECT_FAILS(makeClusterRun("setp.eq.u32 %p0, %r50, 1; @%p0 exit;"
                              "barrier.cluster.arrive; barrier.cluster.wait;\n"
                              "ld.shared::cluster.b32 %r5, [%r52];"),
               2, "is in that of block (1,0,0), which has ended");
  EXPECT_FAILS(makeClusterRun("add.u32 %r5, %r52, 0x2000000;\n"
                              "ld.shared::cluster.b32 %r5, [%r5];"),
               2, "in shared memory is out of bounds");
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The output of thread 0 of each of two blocks, which has it in %r5.
static std::vector<uint32_t> getRanks(const std::string &body) {
  std::vector<uint32_t> words =
      getOutput(makeClusterRun(body + "st.global.b32 [%d3], %r5;"));
  return {words[0], words[32]};
}

TEST(ClustersTest, Ranks) {
  std::vector<uint32_t> own = {0, 1}, next = {1, 0}, all = {1, 1};
  EXPECT_EQ(getRanks("getctarank.shared::cluster.u32 %r5, %r52;"), next);
  EXPECT_EQ(getRanks("getctarank.shared::cluster.u32 %r5, S;"), own);
  EXPECT_EQ(getRanks("getctarank.shared::cluster.u32 %r5, S + 8;"), own);
  EXPECT_EQ(getRanks("cvt.u64.u32 %d4, %r52; cvta.shared::cluster.u64 %d4, "
                     "%d4; getctarank.u64 %r5, %d4;"),
            next);
  std::string generic = "cvt.u64.u32 %d4, %r52;"
                        "cvta.shared::cluster.u64 %d4, %d4;";
  EXPECT_EQ(getRanks(generic + "isspacep.shared::cluster %p0, %d4;"
                               "selp.b32 %r5, 1, 0, %p0;"),
            all);
  EXPECT_EQ(getRanks(generic + "isspacep.shared::cta %p0, %d4;"
                               "selp.b32 %r5, 0, 1, %p0;"),
            all);
  EXPECT_EQ(getRanks("mov.pred %p0, %is_explicit_cluster;"
                     "selp.b32 %r5, 1, 0, %p0;"),
            all);
}

TEST(ClustersTest, ExplicitClusters) {
  KernelRun run = makeRun("mov.pred %p0, %is_explicit_cluster;"
                          "selp.b32 %r5, 1, 0, %p0; st.global.b32 [%d3], %r5;");
  EXPECT_EQ(getOutput(run)[0], 0u);
  run.directives = ".reqnctapercluster 1";
  EXPECT_EQ(getOutput(run)[0], 1u);
  // The kernel says how many blocks a cluster has.
  run = makeRun("mov.u32 %r5, %cluster_nctarank; st.global.b32 [%d3], %r5;");
  run.directives = ".reqnctapercluster 2";
  run.blocks = 4;
  EXPECT_EQ(getOutput(run)[0], 2u);
}

TEST(ClustersTest, MisuseOfAddresses) {
  // As in shipped kernels: each lane names the block with its own number.
  EXPECT_EQ(getError(makeClusterRun("mapa.shared::cluster.u32 %r5, S, %r0;"
                                    "setp.lt.u32 %p0, %r0, 2;"
                                    "@%p0 ld.shared::cluster.b32 %r6, [%r5];")),
            "no error");
  EXPECT_FAILS(makeClusterRun("mapa.shared::cluster.u32 %r5, S, 2;\n"
                              "ld.shared::cluster.b32 %r6, [%r5];"),
               2, "lane 0: an address is undefined");
  EXPECT_FAILS(makeClusterRun("\nmapa.u64 %d4, S, 1;"), 2,
               "mapa expected a generic address of shared memory of the "
               "cluster, got 0x");
  EXPECT_FAILS(makeClusterRun("\ngetctarank.u64 %r5, %buf0;"), 2,
               "getctarank expected a generic address of shared memory of the "
               "cluster, got 0x");
  EXPECT_FAILS(makeClusterRun("\ngetctarank.shared::cluster.u32 %r5, "
                              "0x2000000;"),
               2,
               "getctarank expected an address of shared memory of the "
               "cluster, got 0x2000000");
  // Undefined values are allowed if they are not used.
  EXPECT_EQ(getError(makeClusterRun("mapa.shared::cluster.u32 %r5, %r3, %r60;"
                                    "getctarank.shared::cluster.u32 %r6, "
                                    "%r5;")),
            "no error");
  EXPECT_FAILS(makeClusterRun("mapa.shared::cluster.u32 %r5, %r3, %r60;\n"
                              "ld.shared::cluster.b32 %r6, [%r5];"),
               2, "an address is undefined");
}

TEST(ClustersTest, FormsThatAreRefused) {
  const char *expected = "expected .shared::cluster or no state space, and "
                         ".u32 or .u64, behind ";
  EXPECT_EQ(getLoadError("mapa.shared.u32 %r0, %r1, 0;"),
            expected + std::string("mapa"));
  EXPECT_EQ(getLoadError("mapa.s32 %r0, %r1, 0;"),
            expected + std::string("mapa"));
  EXPECT_EQ(getLoadError("getctarank.global.u64 %r0, %d1;"),
            expected + std::string("getctarank"));
  EXPECT_EQ(getLoadError("getctarank.u32 %r0, %r1;"),
            "not supported in this version: addresses of 32 bits");
  EXPECT_EQ(getLoadError("mov.pred %is_explicit_cluster, %p1;"),
            "expected a predicate register");
  EXPECT_EQ(getLoadError("mapa.u64 %d0, %d1;"),
            "expected 3 operands of mapa, got 2");
}
