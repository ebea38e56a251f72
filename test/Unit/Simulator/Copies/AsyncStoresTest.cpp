//===- AsyncStoresTest.cpp - Tests of st.async, red.async -----------------===//
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

/// M of each block expects one arrival and `bytes`; %p0 is thread 0.
static std::string initialize(unsigned bytes) {
  return "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], 1;"
         "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [M], " +
         std::to_string(bytes) + ";" + kMeet + "\n";
}
static constexpr const char *kWait =
    "L: mbarrier.try_wait.parity.shared.b64 %p7, [M], 0; @!%p7 bra L;\n";
static constexpr const char *kStore =
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.";
static constexpr const char *kReduce =
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.";

/// %r4 is `base` plus the index of the thread among all threads.
static std::string makeNumber(unsigned base) {
  return "mad.lo.u32 %r4, %r50, 32, %r0; add.u32 %r4, %r4, " +
         std::to_string(base) + ";";
}

/// What the previous block has computed with base 100 and `stride` words for
/// each thread.
static std::vector<uint32_t> makeWords(unsigned blocks) {
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != 32 * blocks; ++i)
    words[i] = 100 + (i + 32 * (blocks - 1)) % (32 * blocks);
  return words;
}

TEST(AsyncStoresTest, WordsToTheNextBlock) {
  for (std::string store :
       {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r52],"
        " %r4, [%r53];",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r52], "
        "%r4, [%r53];",
        "cvt.u64.u32 %d4, %r52; cvta.shared::cluster.u64 %d4, %d4;"
        "cvt.u64.u32 %d5, %r53; cvta.shared::cluster.u64 %d5, %d5;"
        "st.async.mbarrier::complete_tx::bytes.s32 [%d4], %r4, [%d5];",
        "mov.b32 %f0, %r4; st.async.shared::cluster.mbarrier::complete_tx::"
        "bytes.f32 [%r52], %f0, [%r53];"}) {
    KernelRun run = makeClusterRun(
        initialize(128) + makeNumber(100) + store + kWait +
            "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;",
        4);
    EXPECT_EQ(countGoodSeeds(run, makeWords(4)), 10u) << store;
    EXPECT_EQ(countGoodSeeds(checkingRaces(run), makeWords(4)), 10u) << store;
  }
}

TEST(AsyncStoresTest, Vectors) {
  // Each thread writes 16 bytes, of which it has 4 words.
  for (const char *store :
       {"v4.b32 [%r6], {%r4, %r10, %r11, %r12}, [%r53];",
        "v2.b64 [%r6], {%d10, %d11}, [%r53];",
        "v2.u32 [%r6], {%r4, %r10}, [%r53]; st.async.shared::cluster.mbarrier::"
        "complete_tx::bytes.b64 [%r6 + 8], %d11, [%r53];"}) {
    std::string body =
        initialize(512) + makeNumber(100) +
        "add.u32 %r10, %r4, 1000; add.u32 %r11, %r4, 2000;"
        "add.u32 %r12, %r4, 3000; mov.b64 %d10, {%r4, %r10};"
        "mov.b64 %d11, {%r11, %r12};"
        "mul.lo.u32 %r5, %r0, 12; add.u32 %r6, %r52, %r5;" +
        kStore + store + kWait +
        "add.u32 %r6, %r3, %r5; ld.shared.v4.b32 {%r20, %r21, %r22, %r23}, "
        "[%r6]; add.u32 %r20, %r20, %r21; add.u32 %r20, %r20, %r22;"
        "add.u32 %r20, %r20, %r23; st.global.b32 [%d3], %r20;";
    std::vector<uint32_t> words = makeWords(2);
    for (unsigned i = 0; i != 64; ++i)
      words[i] = 4 * words[i] + 6000;
    EXPECT_EQ(countGoodSeeds(makeClusterRun(body), words), 10u) << store;
  }
}

TEST(AsyncStoresTest, ReductionsOfTheSameWord) {
  // All threads of the other block add to a word, and so does the own one.
  std::string body =
      "setp.eq.u32 %p0, %r0, 0; @%p0 st.shared.b32 [S], 1000;" +
      initialize(128) +
      "mapa.shared::cluster.u32 %r6, S, %r51; mov.u32 %r4, S;" + kReduce +
      "add.u32 [%r6], %r0, [%r53]; red.shared.add.u32 [%r4], 1;"
      "bar.sync 0;" +
      kWait + "ld.shared.b32 %r5, [S]; st.global.b32 [%d3], %r5;";
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != 64; ++i)
    words[i] = 1000 + 496 + 32;
  EXPECT_EQ(countGoodSeeds(makeClusterRun(body), words), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeClusterRun(body)), words), 10u);
}

TEST(AsyncStoresTest, Reductions) {
  auto run = [](const std::string &operation, const std::string &operand) {
    return getOutput(makeClusterRun(
        "st.shared.b64 [S], 12;" + initialize(operation.back() == '4' ? 8 : 4) +
        "mapa.shared::cluster.u32 %r6, S, %r51; mov.u64 %d6, 30; @%p0 " +
        kReduce + operation + " [%r6], " + operand + ", [%r53];" + kWait +
        "ld.shared.b32 %r5, [S]; st.global.b32 [%d3], %r5;"))[0];
  };
  EXPECT_EQ(run("inc.u32", "12"), 0u);
  EXPECT_EQ(run("dec.u32", "10"), 10u);
  EXPECT_EQ(run("min.u32", "-1"), 12u);
  EXPECT_EQ(run("min.s32", "-1"), 0xFFFFFFFFu);
  EXPECT_EQ(run("max.u32", "-1"), 0xFFFFFFFFu);
  EXPECT_EQ(run("max.s32", "-1"), 12u);
  EXPECT_EQ(run("and.b32", "6"), 4u);
  EXPECT_EQ(run("or.b32", "6"), 14u);
  EXPECT_EQ(run("xor.b32", "6"), 10u);
  EXPECT_EQ(run("add.u32", "6"), 18u);
  EXPECT_EQ(run("add.s32", "-6"), 6u);
  EXPECT_EQ(run("add.u64", "%d6"), 42u);
}

TEST(AsyncStoresTest, DestinationIsPendingUntilTheWait) {
  std::string start = initialize(128) + makeNumber(100) + kStore +
                      "b32 [%r52], %r4, [%r53];" + kMeet + "\n";
  EXPECT_FAILS(makeClusterRun(start + "ld.shared.b32 %r5, [%r3];"), 3,
               "a load of a byte that an asynchronous copy has still to write");
  EXPECT_FAILS(makeClusterRun(start + "st.shared.b32 [%r3], 1;"), 3,
               "touches a byte that an asynchronous copy has still to write");
  start = "st.shared.b32 [%r3], 1;" + initialize(128) + kReduce +
          "add.u32 [%r52], 1, [%r53];" + kMeet + "\n";
  EXPECT_FAILS(makeClusterRun(start + "ld.shared.b32 %r5, [%r3];"), 3,
               "a load of a byte that an asynchronous copy has still to write");
  EXPECT_FAILS(makeClusterRun(start + "st.shared.b32 [%r3], 1;"), 3,
               "touches a byte that an asynchronous copy has still to write");
}

TEST(AsyncStoresTest, ReductionsThatAreLeft) {
  // The wait is for half of the bytes.
  std::string start = "st.shared.b32 [%r3], 1;" + initialize(64) +
                      "mapa.shared::cluster.u32 %r6, S, %r51;" + kReduce +
                      "add.u32 [%r6], 1, [%r53];" + kWait;
  EXPECT_FAILS(makeClusterRun(start + "ld.shared.b32 %r5, [S];"), 3,
               "a load of a byte that an asynchronous copy has still to write");
  // An atomic access does not help.
  start = "st.shared.b32 [%r3], 1;" + initialize(128) + kReduce +
          "add.u32 [%r52], 1, [%r53];" + kMeet +
          "atom.shared.add.u32 %r5, [%r3], 1;\n";
  EXPECT_FAILS(makeClusterRun(start + "ld.shared.b32 %r5, [%r3];"), 3,
               "a load of a byte that an asynchronous copy has still to write");
}

TEST(AsyncStoresTest, BesideManyCopiesThatHaveRead) {
  // Copies complete when there are too many of them; stores do not.
  KernelRun run = makeClusterRun(
      "shl.b32 %r9, %r0, 4; cvt.u64.u32 %d8, %r9; add.u64 %d8, %d8, %buf1;"
      "add.u32 %r9, %r9, %r2; st.shared.b64 [%r9 + 2048], 0;"
      "st.shared.b64 [%r9 + 2056], 0; fence.proxy.async;" +
      initialize(128) + makeNumber(100) + kStore +
      "b32 [%r52], %r4, [%r53]; mov.u32 %r10, 0;\n"
      "C: cp.async.bulk.global.shared::cta.bulk_group [%d8 + 2048], "
      "[%r9 + 2048], 16; cp.async.bulk.commit_group;"
      "cp.async.bulk.wait_group.read 0; add.u32 %r10, %r10, 1;"
      "setp.lt.u32 %p2, %r10, 10; @%p2 bra C;" +
      kWait + "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], %r5;");
  EXPECT_EQ(countGoodSeeds(run, makeWords(2)), 10u);
}

TEST(AsyncStoresTest, NobodyWaits) {
  KernelResult result = runKernel(makeClusterRun(
      initialize(4) + "setp.eq.and.u32 %p0, %r50, 0, %p0; @%p0 " + kStore +
      "b32 [%r52], 7, [%r53];"));
  EXPECT_EQ(result.error, "");
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].find(
                "line 2, block (0,0,0), warp 0, lane 0: block (1,0,0) ends "
                "before this copy into its shared memory is complete: expected "
                "a wait for the mbarrier object at 0x1001410"),
            std::string::npos)
      << result.warnings[0];
}

TEST(AsyncStoresTest, NeedNoFenceOfTheProxy) {
  // Earlier stores may be overwritten, and a bulk copy of the arrived bytes
  // needs a fence.
  std::string body = "st.shared.b32 [%r3], 1;" + initialize(128) +
                     makeNumber(100) + kStore + "b32 [%r52], %r4, [%r53];" +
                     kWait;
  std::string copy = "bar.sync 0; @%p0 cp.async.bulk.global.shared::cta."
                     "bulk_group [%d3], [S], 128;"
                     "@%p0 cp.async.bulk.commit_group;"
                     "@%p0 cp.async.bulk.wait_group 0;";
  KernelRun run = makeClusterRun(body.substr(body.find(';') + 1) + copy);
  run.options.checkProxy = true;
  EXPECT_NE(getError(run).find("expected fence.proxy.async between"),
            std::string::npos);
  run = makeClusterRun(body + "fence.proxy.async;" + copy);
  run.options.checkProxy = true;
  EXPECT_EQ(countGoodSeeds(run, makeWords(2)), 10u);
}

TEST(AsyncStoresTest, Misuse) {
  std::string start = initialize(128);
  EXPECT_FAILS(makeClusterRun(start + kStore + "b32 [%r52], %r0, [M];"), 2,
               "expected the mbarrier object in the shared memory of the "
               "destination, which is that of block (1,0,0), got one of block "
               "(0,0,0)");
  EXPECT_FAILS(makeClusterRun(start + kStore + "b32 [%r52], %r0, [%r53 + 8];"),
               2, "expected an mbarrier object at 0x1001418, got none");
  EXPECT_FAILS(makeClusterRun(start + kStore + "b64 [%r52], %d2, [%r53];"), 2,
               "expected an address that is a multiple of 8");
  EXPECT_FAILS(makeClusterRun(start + "mapa.shared::cluster.u32 %r6, S, %r51;" +
                              kStore + "b32 [%r6], 1, [%r53];"),
               2,
               "touches a byte that an asynchronous copy has still to write");
  EXPECT_FAILS(makeClusterRun(start + kStore + "b32 [%r60], 1, [%r53];"), 2,
               "an address is undefined");
  EXPECT_FAILS(makeClusterRun(start + kStore + "b32 [%r52], 1, [%r60];"), 2,
               "an address is undefined");
  EXPECT_FAILS(makeClusterRun(start +
                              "cvt.u64.u32 %d5, %r53; cvta.shared::cluster.u64 "
                              "%d5, %d5; st.async.mbarrier::complete_tx::bytes."
                              "b32 [%buf1], 1, [%d5];"),
               2, "st.async expected shared memory, got address 0x");
  EXPECT_FAILS(makeClusterRun("st.shared.b32 [%r3], 1;" + start + kReduce +
                              "add.u32 [%r3], 1, [M];"),
               2,
               "red.async expected shared memory of another block of the "
               "cluster, got that of the own one");
  // An undefined value makes the destination undefined.
  EXPECT_NE(getError(makeClusterRun(
                         start + kStore + "b32 [%r52], %r60, [%r53];" + kWait +
                         "ld.shared.b32 %r5, [%r3]; st.global.b32 [%d3], "
                         "%r5;"))
                .find("undefined"),
            std::string::npos);
}

TEST(AsyncStoresTest, FormsThatAreRefused) {
  auto load = [](const std::string &text) { return getLoadError(text + ";"); };
  EXPECT_EQ(load("st.async.shared::cta.mbarrier::complete_tx::bytes.b32 [%r0], "
                 "%r1, [%r2]"),
            "expected .shared::cluster.mbarrier::complete_tx::bytes behind "
            "st.async");
  EXPECT_EQ(load("red.async.relaxed.cluster.shared::cluster.add.u32 [%r0], "
                 "%r1, [%r2]"),
            "expected .shared::cluster.mbarrier::complete_tx::bytes behind "
            "red.async");
  EXPECT_EQ(load(std::string(kStore) + "b16 [%r0], %s1, [%r2]"),
            "expected a type of 32 or 64 bits behind st.async");
  EXPECT_EQ(
      load(std::string(kStore) + "v4.b64 [%r0], {%d0, %d1, %d2, %d3}, [%r2]"),
      "expected at most 16 bytes of st.async, got 32");
  EXPECT_EQ(load("st.async.release.gpu.global.b32 [%d0], %r1"),
            "not supported in this version: st.async to global memory");
  EXPECT_EQ(load("red.async.release.gpu.global.add.u32 [%d0], %r1"),
            "not supported in this version: red.async to global memory");
  EXPECT_EQ(load("red.async.shared::cluster.mbarrier::complete_tx::bytes.add."
                 "u32 [%r0], %r1, [%r2]"),
            "expected .relaxed.cluster behind red.async");
  for (const char *operation : {"add.f32", "min.u64", "and.b64", "exch.b32"})
    EXPECT_EQ(load(kReduce + std::string(operation) + " [%r0], %r1, [%r2]"),
              "expected an operation and a type that red.async has")
        << operation;
  EXPECT_EQ(load(std::string(kStore) + "b32 [%r0], %r1"),
            "expected 3 operands of st, got 2");
}
