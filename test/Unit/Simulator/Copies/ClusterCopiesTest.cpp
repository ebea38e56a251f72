//===- ClusterCopiesTest.cpp - Tests of bulk copies in clusters -----------===//
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

static constexpr const char *kMulticast =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
    "multicast::cluster ";
static constexpr const char *kToBlock =
    "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes ";
static constexpr const char *kReduceToBlock =
    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
    "bytes.add.u32 ";

/// M of each block expects one arrival and `bytes`; %p0 is thread 0, %p1 thread
/// 0 of block 0, and S has words from 500 times the rank on.
static std::string initialize(unsigned bytes) {
  return "setp.eq.u32 %p0, %r0, 0; setp.eq.and.u32 %p1, %r50, 0, %p0;"
         "mad.lo.u32 %r4, %r50, 500, %r0; st.shared.b32 [%r3], %r4;"
         "st.shared.b32 [%r3 + 512], 0; fence.proxy.async;"
         "@%p0 mbarrier.init.shared.b64 [M], 1;"
         "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [M], " +
         std::to_string(bytes) + "; @%p0 fence.mbarrier_init.release.cluster;" +
         kMeet + "\n";
}
static constexpr const char *kWait =
    "L: mbarrier.try_wait.parity.shared.b64 %p7, [M], 0; @!%p7 bra L;\n";
/// Stores the word 512 bytes behind the own one.
static constexpr const char *kStoreWords =
    "ld.shared.b32 %r5, [%r3 + 512]; st.global.b32 [%d3], %r5;";

template <typename Function>
static std::vector<uint32_t> makeWords(unsigned blocks, Function function) {
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != 32 * blocks; ++i)
    words[i] = function(i / 32, i % 32);
  return words;
}

TEST(ClusterCopiesTest, Multicast) {
  for (const char *mask : {"15", "%s0"}) {
    KernelRun run =
        makeClusterRun(initialize(128) + "mov.b16 %s0, 15; @%p1 " + kMulticast +
                           "[S + 512], [%buf0 + 64], 128, [M], " + mask + ";" +
                           kWait + kStoreWords,
                       4);
    std::vector<uint32_t> words =
        makeWords(4, [](unsigned, unsigned i) { return 16 + i; });
    EXPECT_EQ(countGoodSeeds(run, words), 10u);
    EXPECT_EQ(countGoodSeeds(checkingRaces(run), words), 10u);
  }
}

TEST(ClusterCopiesTest, MulticastToSomeBlocks) {
  // Blocks 1 and 3 get the second half, all of them the first one, from
  // different blocks.
  KernelRun run = makeClusterRun(
      "and.b32 %r6, %r50, 1; mad.lo.u32 %r6, %r6, 64, 64;" + initialize(0) +
          "@%p0 mbarrier.expect_tx.relaxed.cta.shared.b64 [M], %r6;" + kMeet +
          "@%p1 " + kMulticast +
          "[S + 512], [%buf0], 64, [M], 15; setp.eq.and.u32 %p2, %r50, 2, %p0;"
          "@%p2 " +
          kMulticast + "[S + 576], [%buf0 + 64], 64, [M], 10;" + kWait +
          kStoreWords,
      4);
  // The phase must not be complete before its bytes are expected.
  size_t at = run.body.find("mbarrier.arrive.expect_tx");
  run.body.replace(at, std::string("mbarrier.arrive.expect_tx").size(),
                   "mbarrier.expect_tx.relaxed.cta");
  at = run.body.find("_, [M], 0");
  run.body.replace(at, 3, "");
  at = run.body.find("L: ");
  run.body.insert(at, "@%p0 mbarrier.arrive.shared.b64 _, [M];");
  EXPECT_EQ(countGoodSeeds(run, makeWords(4,
                                          [](unsigned block, unsigned i) {
                                            return block % 2 || i < 16 ? i : 0;
                                          })),
            10u);
}

TEST(ClusterCopiesTest, ToTheNextBlock) {
  std::string body = initialize(128) +
                     "mapa.shared::cluster.u32 %r6, S, %r51;"
                     "add.u32 %r6, %r6, 512; @%p0 " +
                     kToBlock + "[%r6], [S], 128, [%r53];" + kWait +
                     kStoreWords;
  std::vector<uint32_t> words = makeWords(
      4, [](unsigned block, unsigned i) { return (block + 3) % 4 * 500 + i; });
  EXPECT_EQ(countGoodSeeds(makeClusterRun(body, 4), words), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeClusterRun(body, 4)), words), 10u);
}

TEST(ClusterCopiesTest, ReductionsOfAllBlocksInOne) {
  // Blocks 1 to 3 add to the words of block 0.
  std::string body =
      initialize(384) +
      "mapa.shared::cluster.u32 %r6, S, 0; mapa.shared::cluster.u32 %r7, M, 0;"
      "setp.ne.and.u32 %p2, %r50, 0, %p0; @%p2 " +
      kReduceToBlock + "[%r6 + 512], [S], 128, [%r7];" +
      "setp.ne.u32 %p3, %r50, 0; @%p3 bra E;" + kWait + kStoreWords + "E:";
  std::vector<uint32_t> words = makeWords(
      1, [](unsigned, unsigned i) { return 500 * (1 + 2 + 3) + 3 * i; });
  EXPECT_EQ(countGoodSeeds(makeClusterRun(body, 4), words), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeClusterRun(body, 4)), words), 10u);
}

TEST(ClusterCopiesTest, BarriersOfTheClusterPublishBarriers) {
  auto run = [](const std::string &fence, const std::string &barrier) {
    KernelRun run = makeClusterRun(
        "setp.eq.u32 %p0, %r0, 0; setp.eq.and.u32 %p1, %r50, 0, %p0;"
        "@%p0 mbarrier.init.shared.b64 [M], 1;"
        "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [M], 128;" +
        fence + barrier + "barrier.cluster.wait; @%p1 " + kMulticast +
        "[S], [%buf0], 128, [M], 3;\n" + kWait);
    run.options.checkProxy = true;
    return getError(run);
  };
  const char *fence = "fence.mbarrier_init.release.cluster;";
  EXPECT_EQ(run("", "barrier.cluster.arrive;"), "no error");
  EXPECT_EQ(run(fence, "barrier.cluster.arrive.relaxed;"), "no error");
  EXPECT_NE(run("", "barrier.cluster.arrive.relaxed;")
                .find("which no fence has followed since its mbarrier.init: "
                      "expected fence.mbarrier_init, fence.proxy.async or a "
                      "barrier of the cluster between"),
            std::string::npos);
}

TEST(ClusterCopiesTest, RacesWithTheInitialization) {
  // Block 0 goes on later than all others.
  auto run = [](const std::string &barrier, const std::string &use) {
    return getError(checkingRaces(makeClusterRun(
        "setp.eq.u32 %p0, %r0, 0; setp.eq.and.u32 %p1, %r50, 0, %p0;"
        "@%p0 mbarrier.init.shared.b64 [M], 1; mov.u32 %r10, 0;\n" +
        barrier +
        "@!%p1 bra E; D: add.u32 %r10, %r10, 1;"
        "setp.lt.u32 %p2, %r10, 300; @%p2 bra D;\n" +
        use + "E:")));
  };
  const char *arrive =
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r53];";
  const std::string copy = kMulticast + std::string("[S], [%buf0], 0, [M], 2;");
  for (const std::string &use : {std::string(arrive), copy}) {
    EXPECT_NE(run("", use).find(
                  "lane 0: race: this use of the mbarrier object at 0x1001410 "
                  "and its mbarrier.init by lane 0 of warp 0 of block (1,0,0) "
                  "have no barrier between"),
              std::string::npos)
        << run("", use);
    EXPECT_EQ(run(kMeet, use), "no error");
    EXPECT_EQ(run("fence.mbarrier_init.release.cluster;"
                  "barrier.cluster.arrive.relaxed; barrier.cluster.wait;",
                  use),
              "no error");
  }
}

TEST(ClusterCopiesTest, RemoteArrivals) {
  // All threads of a block arrive for the next block.
  std::string body =
      "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], 32;" +
      std::string(kMeet) +
      "mad.lo.u32 %r4, %r50, 500, %r0; st.shared::cluster.b32 [%r52], %r4;"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r53];" +
      kWait + "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;";
  std::vector<uint32_t> words = makeWords(
      4, [](unsigned block, unsigned i) { return (block + 3) % 4 * 500 + i; });
  EXPECT_EQ(countGoodSeeds(makeClusterRun(body, 4), words), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeClusterRun(body, 4)), words), 10u);
}

TEST(ClusterCopiesTest, GenericAddressesOfRemoteBarriers) {
  std::string init = "setp.eq.u32 %p0, %r0, 0;"
                     "@%p0 mbarrier.init.shared.b64 [M], 32;" +
                     std::string(kMeet) +
                     "cvt.u64.u32 %d4, %r53;"
                     "cvta.shared::cluster.u64 %d4, %d4;\n";
  EXPECT_EQ(
      getError(makeClusterRun(init + "mbarrier.arrive.b64 _, [%d4];" + kWait)),
      "no error");
  EXPECT_FAILS(makeClusterRun(init + "mbarrier.arrive.b64 %d5, [%d4];"), 2,
               "expected '_' for the state of an mbarrier object of another "
               "block");
  for (const char *text :
       {"mbarrier.try_wait.parity.b64 %p7, [%d4], 0;",
        "mbarrier.test_wait.parity.b64 %p7, [%d4], 0;",
        "mbarrier.inval.b64 [%d4];", "mbarrier.init.b64 [%d4], 1;",
        "cp.async.mbarrier.arrive.b64 [%d4];"}) {
    std::string error = getError(makeClusterRun(init + text));
    EXPECT_NE(error.find("expected an mbarrier object of this block, got one "
                         "of block ("),
              std::string::npos)
        << text << error;
  }
}

TEST(ClusterCopiesTest, Misuse) {
  std::string start = initialize(128);
  EXPECT_FAILS(makeClusterRun(start + "@%p1 " + kMulticast +
                              "[S], [%buf0], 128, [M], 7;"),
               2,
               "expected a mask of blocks of the cluster, which has 2, got "
               "0x7");
  EXPECT_FAILS(makeClusterRun(start + "@%p1 " + kMulticast +
                              "[S], [%buf0], 128, [M], %s60;"),
               2, "the mask of blocks of a bulk copy is undefined");
  EXPECT_FAILS(makeClusterRun(start + "@%p1 " + kToBlock +
                              "[%r52], [S + 512], 128, [M];"),
               2,
               "expected the mbarrier object in the shared memory of the "
               "destination, which is that of block (1,0,0), got one of "
               "block (0,0,0)");
  EXPECT_FAILS(makeClusterRun(start + "@%p1 " + kMulticast +
                              "[S], [%buf0], 128, [M + 8], 3;"),
               2, "expected an mbarrier object at 0x1418, got none");
  // Stores of another block also need a fence.
  KernelRun run = makeClusterRun(start + "st.shared::cluster.b32 [%r52], 1;" +
                                 kMeet + "\n@%p0 " + kToBlock +
                                 "[%r52], [S + 512], 128, [%r53];" + kWait);
  run.options.checkProxy = true;
  EXPECT_FAILS(run, 3, "expected fence.proxy.async between");
}

TEST(ClusterCopiesTest, BlocksThatEndTooEarly) {
  // Block 0 sends and does not wait until block 1 has got it.
  std::string start = initialize(128) + "@%p1 " + kToBlock +
                      "[%r52], [S + 512], 128, [%r53];\n"
                      "setp.eq.u32 %p2, %r50, 0; @%p2 exit;" +
                      kWait;
  EXPECT_FAILS(makeClusterRun(start), 2,
               "the block ends before this copy has read its shared memory: "
               "expected a barrier of the cluster behind a wait for the "
               "mbarrier object at 0x1001410 before");
  // Block 1 has ended before anything is sent.
  EXPECT_FAILS(makeClusterRun(initialize(128) +
                              "setp.eq.u32 %p2, %r50, 1; @%p2 exit;" + kMeet +
                              "\n@%p1 " + kToBlock +
                              "[%r52], [S + 512], 128, [%r53];"),
               3, "is in that of block (1,0,0), which has ended");
  EXPECT_FAILS(
      makeClusterRun(initialize(128) + "setp.eq.u32 %p2, %r50, 1; @%p2 exit;" +
                     kMeet +
                     "\nmbarrier.arrive.release.cluster.shared::cluster.b64 _,"
                     " [%r53];"),
      3,
      "expected an mbarrier object, got one of block (1,0,0), which has "
      "ended");
}
