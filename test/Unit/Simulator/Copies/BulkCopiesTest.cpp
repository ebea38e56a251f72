//===- BulkCopiesTest.cpp - Tests of cp.async.bulk ------------------------===//
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

static constexpr const char *kToShared =
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes ";
static constexpr const char *kToGlobal =
    "cp.async.bulk.global.shared::cta.bulk_group ";

/// Thread 0 (%p0) initializes M for one arrival, on line 1.
static constexpr const char *kInit =
    "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], 1;"
    "@%p0 fence.mbarrier_init.release.cluster; bar.sync 0;\n";
static constexpr const char *kWait =
    "L: mbarrier.try_wait.parity.shared.b64 %p7, [M], 0; @!%p7 bra L;\n";
/// Loads the word of each thread and stores it to the output.
static constexpr const char *kStoreWords =
    "ld.shared.b32 %r4, [%r3]; st.global.b32 [%d3], %r4;\n";

static std::string expectBytes(unsigned bytes) {
  return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [M], " +
         std::to_string(bytes) + ";";
}

/// `count` words from `first` on, at the start of 1024.
static std::vector<uint32_t> makeWords(unsigned count, uint32_t first) {
  std::vector<uint32_t> words(1024);
  for (unsigned i = 0; i != count; ++i)
    words[i] = first + i;
  return words;
}

static std::vector<std::string> getWarnings(const KernelRun &run) {
  KernelResult result = runKernel(run);
  EXPECT_EQ(result.error, "");
  return result.warnings;
}

//===----------------------------------------------------------------------===//
// From global memory
//===----------------------------------------------------------------------===//

TEST(BulkCopiesTest, ToSharedMemory) {
  for (const char *copy :
       {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [S], "
        "[%buf0 + 64], 256, [M];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [S],"
        " [%buf0 + 64], 256, [M];",
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::"
        "cache_hint [S], [%buf0 + 64], 256, [M], %d60;"}) {
    KernelRun run = makeRun(
        kInit + expectBytes(256) + "@%p0 " + copy + kWait + kStoreWords, 64);
    EXPECT_EQ(countGoodSeeds(run, makeWords(64, 16)), 10u) << copy;
    EXPECT_EQ(countGoodSeeds(checkingRaces(run), makeWords(64, 16)), 10u);
    EXPECT_TRUE(getWarnings(run).empty());
  }
}

TEST(BulkCopiesTest, BytesMayComeBeforeTheyAreExpected) {
  std::string copy =
      std::string("@%p0 ") + kToShared + "[S], [%buf0], 128, [M];";
  EXPECT_EQ(countGoodSeeds(
                makeRun(kInit + copy + expectBytes(128) + kWait + kStoreWords),
                makeWords(32, 0)),
            10u);
}

TEST(BulkCopiesTest, StatisticsCountGlobalMemory) {
  KernelRun run = makeRun(kInit + expectBytes(256) + "@%p0 " + kToShared +
                          "[S], [%buf0 + 64], 256, [M];" + kWait);
  run.options.wantsStatistics = true;
  std::string statistics = runKernel(run).statistics;
  size_t at = statistics.find("\"global_memory\": {");
  ASSERT_NE(at, std::string::npos) << statistics;
  std::string row = statistics.substr(at, statistics.find('}', at) - at);
  EXPECT_NE(row.find("\"bytes\": 256,"), std::string::npos) << row;
  EXPECT_NE(row.find("\"sectors\": 8,"), std::string::npos) << row;
}

TEST(BulkCopiesTest, DestinationIsPendingUntilTheWait) {
  std::string start = kInit + expectBytes(128) + "@%p0 " + kToShared +
                      "[S], [%buf0], 128, [M];\n";
  EXPECT_FAILS(makeRun(start + kStoreWords), 3, "has still to write");
  EXPECT_FAILS(makeRun(start + "st.shared.b32 [%r3], 1;"), 3,
               "has still to write");
  EXPECT_FAILS(makeRun(start + "@%p0 " + kToShared + "[S], [%buf0], 128, [M];"),
               3, "has still to write");
  std::vector<std::string> warnings = getWarnings(makeRun(start));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("line 2, block (0,0,0), warp 0, lane 0: the block "
                             "ends before this copy into its shared memory is "
                             "complete: expected a wait for the mbarrier "
                             "object at 0x1410"),
            std::string::npos)
      << warnings[0];
}

TEST(BulkCopiesTest, MisuseOfCopiesToShared) {
  auto copy = [](const std::string &operands) {
    return makeRun(kInit + expectBytes(128) + "@%p0 " + kToShared + operands +
                   ";");
  };
  EXPECT_FAILS(copy("[S], [%buf0], 24, [M]"), 2,
               "expected the size of a bulk copy to be a multiple of 16, got "
               "24");
  EXPECT_FAILS(copy("[S + 8], [%buf0], 16, [M]"), 2,
               "a store of 16 bytes at 0x408 expected an address that is a "
               "multiple of 16");
  EXPECT_FAILS(copy("[S], [%buf0 + 8], 16, [M]"), 2,
               "expected an address that is a multiple of 16");
  EXPECT_FAILS(copy("[S], [%buf0 + 4080], 32, [M]"), 2,
               "is out of bounds of argument 0");
  EXPECT_FAILS(copy("[S + 4080], [%buf0], 32, [M]"), 2,
               "is outside of its variables");
  EXPECT_FAILS(copy("[M], [%buf0], 16, [M]"), 2, "touches the mbarrier object");
  EXPECT_FAILS(copy("[S], [%buf0], 16, [M + 8]"), 2,
               "expected an mbarrier object at 0x1418, got none");
  EXPECT_FAILS(copy("[S], [%buf0], 16, [M + 4]"), 2,
               "expected the address of an mbarrier object to be a multiple of "
               "8");
  EXPECT_FAILS(copy("[S], [%buf0], %r60, [M]"), 2,
               "the size of a bulk copy is undefined");
  EXPECT_FAILS(copy("[S], [%d60], 16, [M]"), 2, "an address is undefined");
  EXPECT_FAILS(copy("[%r60], [%buf0], 16, [M]"), 2, "an address is undefined");
  EXPECT_FAILS(copy("[S], [%buf0], 16, [%r60]"), 2, "an address is undefined");
  // All lanes instead of one.
  EXPECT_FAILS(makeRun(std::string(kInit) + kToShared +
                       "[S], [%buf0], 16, "
                       "[M];"),
               2, "lane 1: a store of 16 bytes");
  // More bytes than a phase can count.
  KernelRun big = makeRun(std::string(kInit) +
                          "@%p0 mbarrier.complete_tx.shared.b64 [M], 1048575;\n"
                          "@%p0 " +
                          kToShared + "[S], [%buf0], 16, [M];\n" + kWait);
  EXPECT_FAILS(big, 3, "got -1048591");
}

//===----------------------------------------------------------------------===//
// To global memory
//===----------------------------------------------------------------------===//

/// All threads store their words, thread 0 copies them out and waits.
static std::string copyOut(const std::string &fence, const std::string &copy,
                           const std::string &wait) {
  return "setp.eq.u32 %p0, %r0, 0; add.u32 %r4, %r0, 100;"
         "st.shared.b32 [%r3], %r4; " +
         fence + "bar.sync 0;\n@%p0 " + copy +
         "\n@%p0 cp.async.bulk.commit_group;\n" +
         (wait.empty() ? "" : "@%p0 ") + wait;
}

static const std::string kFence = "fence.proxy.async.shared::cta; ";
static const std::string kCopyOut =
    std::string(kToGlobal) + "[%buf1], [S], 256;";
static const std::string kWaitGroup = "cp.async.bulk.wait_group 0;";

TEST(BulkCopiesTest, ToGlobalMemory) {
  KernelRun run = makeRun(copyOut(kFence, kCopyOut, kWaitGroup), 64);
  EXPECT_EQ(countGoodSeeds(run, makeWords(64, 100)), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(run), makeWords(64, 100)), 10u);
  EXPECT_TRUE(getWarnings(run).empty());
  // After a wait with .read, a wait for the end is not needed.
  run = makeRun(copyOut(kFence, kCopyOut, "cp.async.bulk.wait_group.read 0;"),
                64);
  EXPECT_EQ(countGoodSeeds(run, makeWords(64, 100)), 10u);
  // The fence may also stand behind the barrier, in the thread that copies.
  run = makeRun(copyOut("", kFence + "\n@%p0 " + kCopyOut, kWaitGroup), 64);
  EXPECT_TRUE(getWarnings(run).empty());
}

TEST(BulkCopiesTest, SourceIsReadAtTheWait) {
  std::string store = "\n@%p0 st.shared.b32 [S], 7;\n";
  std::string copy = copyOut(kFence, kCopyOut, "");
  // A store before the wait may be copied.
  EXPECT_EQ(getOutput(makeRun(copy + store + "@%p0 " + kWaitGroup, 64))[0], 7u);
  EXPECT_EQ(
      getOutput(makeRun(
          copyOut(kFence, kCopyOut, "cp.async.bulk.wait_group.read 0;") + store,
          64))[0],
      100u);
  EXPECT_FAILS(checkingRaces(makeRun(copy + store + "@%p0 " + kWaitGroup, 64)),
               6,
               "race: the store in line 5 by lane 0 of warp 0 changes the "
               "byte at 0x400 in shared memory, which the copy in line 2 "
               "may still have to read");
  // Shipped kernels do not wait at the end.
  KernelRun noWait = makeRun(copyOut(kFence, kCopyOut, ""), 64);
  EXPECT_EQ(getOutput(noWait)[0], 100u);
  EXPECT_EQ(runKernel(noWait).warnings.size(), 1u);
  EXPECT_FAILS(checkingStrictly(noWait), 2,
               "the block ends before this copy has read its shared memory: "
               "expected cp.async.bulk.wait_group before");
  // Without a commit there is no group.
  EXPECT_FAILS(checkingStrictly(makeRun(
                   "setp.eq.u32 %p0, %r0, 0; st.shared.b32 [%r3], 1;" + kFence +
                       "bar.sync 0;\n@%p0 " + kCopyOut + "@%p0 " + kWaitGroup,
                   64)),
               2, "the block ends before this copy has read");
}

TEST(BulkCopiesTest, GroupsCompleteInOrder) {
  // The second of two groups has not been read yet.
  std::string body =
      "st.shared.b32 [S], 1; st.shared.b64 [S + 8], 0; st.shared.b32 [S + 4], "
      "0; st.shared.b32 [S + 16], 2; st.shared.b64 [S + 24], 0;"
      "st.shared.b32 [S + 20], 0; fence.proxy.async;" +
      std::string(kToGlobal) + "[%buf1], [S], 16; cp.async.bulk.commit_group;" +
      kToGlobal +
      "[%buf1 + 16], [S + 16], 16; cp.async.bulk.commit_group;"
      "cp.async.bulk.wait_group.read 1; st.shared.b32 [S], 8;"
      "st.shared.b32 [S + 16], 9; cp.async.bulk.wait_group 0;";
  std::vector<uint32_t> output = getOutput(makeRun(body, 1));
  EXPECT_EQ(output[0], 1u);
  EXPECT_EQ(output[4], 9u);
}

TEST(BulkCopiesTest, MaskOfBytes) {
  std::string copy = "cp.async.bulk.global.shared::cta.bulk_group.L2::"
                     "cache_hint.cp_mask [%buf1], [S], 32, %d60, %s0;";
  KernelRun run =
      makeRun("mov.b16 %s0, 0x0ff1; " + copyOut(kFence, copy, kWaitGroup), 64);
  std::vector<uint32_t> expected(1024);
  for (unsigned i : {0u, 4u})
    std::copy_n(std::vector<uint32_t>{100 + i, 101 + i, 102 + i}.begin(), 3,
                expected.begin() + i);
  EXPECT_EQ(countGoodSeeds(run, expected), 10u);
  EXPECT_FAILS(makeRun(copyOut(kFence, copy, kWaitGroup), 64), 2,
               "the mask of bytes of a bulk copy is undefined");
}

TEST(BulkCopiesTest, UndefinedBytesAreCopied) {
  std::string error = getError(makeRun(
      std::string(kToGlobal) + "[%buf1], [S], 16; cp.async.bulk.commit_group;"
                               "cp.async.bulk.wait_group 0;",
      1));
  EXPECT_EQ(error.substr(0, error.find(", after kernel")),
            "argument 1: 16 bytes are undefined at the end, the first is "
            "number 0");
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The reduction of 4 words of the output (1, 2, 3, 4) with 5, -6, 7, -8.
static std::vector<uint32_t> reduceWords(const std::string &operation) {
  std::string body;
  const int operands[] = {5, -6, 7, -8};
  for (unsigned i = 0; i != 4; ++i)
    body += "st.shared.b32 [S + " + std::to_string(4 * i) + "], " +
            std::to_string(operands[i]) + "; st.global.b32 [%buf1 + " +
            std::to_string(4 * i) + "], " + std::to_string(i + 1) + ";";
  body += "fence.proxy.async; cp.reduce.async.bulk.global.shared::cta."
          "bulk_group." +
          operation +
          " [%buf1], [S], 16; cp.async.bulk.commit_group;"
          "cp.async.bulk.wait_group 0;";
  std::vector<uint32_t> output = getOutput(makeRun(body, 1));
  output.resize(4);
  return output;
}

TEST(BulkCopiesTest, Reductions) {
  auto words = [](int a, int b, int c, int d) {
    return std::vector<uint32_t>{uint32_t(a), uint32_t(b), uint32_t(c),
                                 uint32_t(d)};
  };
  EXPECT_EQ(reduceWords("add.u32"), words(6, -4, 10, -4));
  EXPECT_EQ(reduceWords("min.s32"), words(1, -6, 3, -8));
  EXPECT_EQ(reduceWords("min.u32"), words(1, 2, 3, 4));
  EXPECT_EQ(reduceWords("max.s32"), words(5, 2, 7, 4));
  EXPECT_EQ(reduceWords("and.b32"), words(1, 2, 3, 0));
  EXPECT_EQ(reduceWords("or.b32"), words(5, -6, 7, -4));
  EXPECT_EQ(reduceWords("xor.b32"), words(4, -8, 4, -4));
  EXPECT_EQ(reduceWords("inc.u32"), words(2, 3, 4, 5));
  EXPECT_EQ(reduceWords("dec.u32"), words(0, 1, 2, 3));
  EXPECT_EQ(reduceWords("add.u64"), words(6, -4, 10, -4));
}

TEST(BulkCopiesTest, ReductionsOfFloats) {
  // 1 + 2 and the smaller of -1 and 3, of which words hold two.
  std::string body = "st.shared.v4.b32 [S], {%r4, %r4, %r4, %r4};"
                     "st.global.v4.b32 [%buf1], {%r5, %r5, %r5, %r5};"
                     "fence.proxy.async; cp.reduce.async.bulk.global."
                     "shared::cta.bulk_group.";
  std::string end = " [%buf1], [S], 16; cp.async.bulk.commit_group;"
                    "cp.async.bulk.wait_group 0;";
  auto run = [&](const char *a, const char *b, const std::string &operation) {
    return getOutput(makeRun(std::string("mov.b32 %r4, ") + a +
                                 "; mov.b32 %r5, " + b + ";" + body +
                                 operation + end,
                             1))[3];
  };
  EXPECT_EQ(run("0x3f800000", "0x40000000", "add.f32"), 0x40400000u);
  // Subnormals count as zeros.
  EXPECT_EQ(run("0x00000001", "0x00000002", "add.f32"), 0u);
  EXPECT_EQ(run("0x3c003c00", "0x40004000", "add.noftz.f16"), 0x42004200u);
  EXPECT_EQ(run("0x3f803f80", "0x40004000", "add.noftz.bf16"), 0x40404040u);
  EXPECT_EQ(run("0xbc00bc00", "0x42004200", "min.f16"), 0xBC00BC00u);
  EXPECT_EQ(run("0xbf80bf80", "0x40404040", "max.bf16"), 0x40404040u);
}

//===----------------------------------------------------------------------===//
// Within shared memory
//===----------------------------------------------------------------------===//

TEST(BulkCopiesTest, BetweenSharedMemories) {
  std::string body =
      kInit +
      std::string("add.u32 %r4, %r0, 50; st.shared.b32 [%r3 + 512], "
                  "%r4;") +
      kFence + "bar.sync 0;" + expectBytes(128) +
      "@%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::"
      "bytes [S], [S + 512], 128, [M];" +
      kWait + kStoreWords;
  EXPECT_EQ(countGoodSeeds(makeRun(body), makeWords(32, 50)), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeRun(body)), makeWords(32, 50)),
            10u);
}

TEST(BulkCopiesTest, ReductionsInSharedMemory) {
  std::string body =
      kInit +
      std::string("add.u32 %r4, %r0, 50; st.shared.b32 [%r3 + 512], "
                  "%r4; st.shared.b32 [%r3], 3;") +
      kFence + "bar.sync 0;" + expectBytes(128) +
      "@%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::"
      "complete_tx::bytes.add.u32 [S], [S + 512], 128, [M];" +
      kWait + kStoreWords;
  EXPECT_EQ(countGoodSeeds(makeRun(body), makeWords(32, 53)), 10u);
}

//===----------------------------------------------------------------------===//
// Proxies
//===----------------------------------------------------------------------===//

/// The warning of a run, which is an error where proxies are checked.
static void expectProxyMessage(KernelRun run, const std::string &location,
                               const std::string &text) {
  std::vector<std::string> warnings = getWarnings(run);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], location + ": " + text);
  run.options.checkProxy = true;
  EXPECT_EQ(getError(run), location + ": " + text);
}

TEST(BulkCopiesTest, StoresNeedAProxyFence) {
  expectProxyMessage(
      makeRun(copyOut("", kCopyOut, kWaitGroup), 64),
      "line 2, block (0,0,0), warp 0, lane 0",
      "the async proxy reads the byte at 0x400 in shared memory, which lane 0 "
      "of warp 0 has stored: expected fence.proxy.async between");
  // A fence before the store does not help, and neither does one for global
  // memory.
  std::string early =
      "setp.eq.u32 %p0, %r0, 0; " + kFence + "st.shared.b32 [%r3], %r0;";
  for (std::string fence : {"", "fence.proxy.async.global;"})
    EXPECT_EQ(
        getWarnings(makeRun(early + fence + "bar.sync 0;\n@%p0 " + kCopyOut +
                                "@%p0 cp.async.bulk.commit_group; @%p0 " +
                                kWaitGroup,
                            64))
            .size(),
        1u);
  // cp.async also writes through the generic proxy.
  EXPECT_EQ(getWarnings(makeRun("cp.async.ca.shared.global [S], [%buf0], 16; "
                                "cp.async.wait_all;" +
                                    std::string(kToGlobal) +
                                    "[%buf1], [S], 16; "
                                    "cp.async.bulk.commit_group;" +
                                    kWaitGroup,
                                1))
                .size(),
            1u);
}

TEST(BulkCopiesTest, FenceBeforeTheWaitForACopyIsTooEarly) {
  auto run = [](const std::string &before, const std::string &behind) {
    return makeRun("cp.async.ca.shared.global [S], [%buf0], 16;" + before +
                       "cp.async.wait_all;" + behind + kToGlobal +
                       "[%buf1], [S], 16; cp.async.bulk.commit_group;" +
                       kWaitGroup,
                   1);
  };
  EXPECT_EQ(getWarnings(run(kFence, "")).size(), 1u);
  EXPECT_TRUE(getWarnings(run("", kFence)).empty());
}

TEST(BulkCopiesTest, FenceMayBeThatOfTheThreadThatStores) {
  // Warp 1 stores and fences, thread 0 copies.
  std::string body = "setp.eq.u32 %p0, %r0, 0; setp.ge.u32 %p1, %r0, 32;"
                     "@%p1 st.shared.b32 [%r3], %r0;\n";
  std::string end = std::string("bar.sync 0;\n@%p0 ") + kToGlobal +
                    "[%buf1], [S + 128], 128; @%p0 cp.async.bulk.commit_group;"
                    "@%p0 " +
                    kWaitGroup;
  EXPECT_TRUE(getWarnings(makeRun(body + "@%p1 " + kFence + end, 64)).empty());
  EXPECT_EQ(getWarnings(makeRun(body + end, 64)).size(), 1u);
}

TEST(BulkCopiesTest, WritesOfTheAsyncProxyNeedNoFence) {
  // The warning for the stores is the only one.
  std::string body =
      kInit + std::string("st.shared.b32 [%r3], 1; bar.sync 0;") +
      expectBytes(128) + "@%p0 " + kToShared + "[S], [%buf0], 128, [M];\n" +
      kWait + "@%p0 " + kToGlobal +
      "[%buf1], [S], 128; @%p0 cp.async.bulk.commit_group; @%p0 " + kWaitGroup;
  std::vector<std::string> warnings = getWarnings(makeRun(body));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("the async proxy writes"), std::string::npos);
}

TEST(BulkCopiesTest, OverwritingStoresNeedsAProxyFence) {
  std::string copy = expectBytes(128) + "@%p0 " + kToShared +
                     "[S], [%buf0], 128, [M];\n" + kWait;
  std::string store = "st.shared.b32 [%r3], %r0;";
  expectProxyMessage(
      makeRun(kInit + store + "bar.sync 0;\n" + copy),
      "line 3, block (0,0,0), warp 0, lane 0",
      "the async proxy writes the byte at 0x400 in shared memory, which lane 0 "
      "of warp 0 has stored: expected fence.proxy.async between");
  EXPECT_TRUE(
      getWarnings(makeRun(kInit + store + kFence + "bar.sync 0;\n" + copy))
          .empty());
}

TEST(BulkCopiesTest, MBarriersNeedAFence) {
  auto run = [&](const std::string &fence) {
    return makeRun("setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 "
                   "[M], 1;" +
                   fence + expectBytes(16) + "\n@%p0 " + kToShared +
                   "[S], [%buf0], 16, [M];\n" + kWait);
  };
  expectProxyMessage(
      run(""), "line 2, block (0,0,0), warp 0, lane 0",
      "the async proxy uses the mbarrier object at 0x1410, which no fence has "
      "followed since its mbarrier.init: expected fence.mbarrier_init, "
      "fence.proxy.async or a barrier of the cluster between (one of the block "
      "does not tell the async proxy)");
  for (const char *fence :
       {"fence.mbarrier_init.release.cluster;", "fence.proxy.async;",
        "barrier.cluster.arrive; barrier.cluster.wait;"})
    EXPECT_TRUE(getWarnings(run(fence)).empty()) << fence;
  // Barriers of the block only order threads.
  for (const char *barrier : {"bar.sync 0;", "bar.warp.sync -1;"}) {
    EXPECT_EQ(getWarnings(run(barrier)).size(), 1u) << barrier;
    EXPECT_TRUE(
        getWarnings(run(barrier + std::string("fence.proxy.async;"))).empty());
  }
}

TEST(BulkCopiesTest, CopiesOfCalledFunctionsAreTracked) {
  KernelRun run =
      makeRun("st.shared.b32 [%r3], %r0;\ncall f, (%r2, %buf1);", 1);
  run.declarations =
      ".func f(.reg .b32 a, .reg .b64 b) { "
      "cp.async.bulk.global.shared::cta.bulk_group [b], [a], 16; "
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; }";
  run.options.allowUndefinedOutput = true;
  std::vector<std::string> warnings = getWarnings(run);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("fence.proxy.async"), std::string::npos);
}

TEST(BulkCopiesTest, FormsThatAreRefused) {
  auto load = [](const std::string &text) { return getLoadError(text + ";"); };
  EXPECT_EQ(load("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::"
                 "bytes.multicast::cluster [%r0], [%d0], 16, [%r1], %s0"),
            "expected .shared::cluster.global before .multicast::cluster");
  const char *direction = "expected a destination, a source and a completion "
                          "behind .bulk, such as .shared::cta.global.mbarrier::"
                          "complete_tx::bytes or .global.shared::cta."
                          "bulk_group";
  EXPECT_EQ(load("cp.async.bulk.global.shared::cta [%d0], [%r0], 16"),
            direction);
  EXPECT_EQ(load("cp.async.bulk.shared::cta.global.bulk_group [%r0], [%d0], "
                 "16"),
            direction);
  EXPECT_EQ(load("cp.reduce.async.bulk.shared::cta.global.mbarrier::"
                 "complete_tx::bytes.add.u32 [%r0], [%d0], 16, [%r1]"),
            direction);
  std::string reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group.";
  EXPECT_EQ(load(reduce + "add.f16 [%d0], [%r0], 16"),
            "expected an operation that cp.reduce.async.bulk has, got "
            ".add.f16");
  EXPECT_EQ(load(reduce + "min.f32 [%d0], [%r0], 16"),
            "expected an operation that cp.reduce.async.bulk has, got "
            ".min.f32");
  EXPECT_EQ(load(reduce + "add.s64 [%d0], [%r0], 16"),
            "expected an operation that cp.reduce.async.bulk has, got "
            ".add.s64");
  EXPECT_EQ(load(reduce + "u32 [%d0], [%r0], 16"),
            "expected an operation and a type behind cp.reduce.async.bulk");
  EXPECT_EQ(load("cp.async.bulk.wait_group %r0"),
            "expected a constant for the number of groups");
  EXPECT_EQ(load("cp.async.bulk.prefetch.global [%d0], 16"),
            "expected cp.async.bulk.prefetch.L2.global");
  EXPECT_EQ(load("cp.reduce.async.add.u32 [%d0], [%r0], 16"),
            "expected cp.reduce.async.bulk");
}

//===----------------------------------------------------------------------===//
// Producer and consumers
//===----------------------------------------------------------------------===//

namespace {
/// What is omitted from the kernel below.
struct Without {
  bool initBarrier = false, expectation = false, fullWait = false,
       emptyWait = false, emptyArrival = false;
};
} // namespace

static constexpr unsigned kTiles = 6;

/// Warp 0 copies tiles of 64 words into two stages, warps 1 and 2 read them:
/// thread t the word of thread 63 - t. `full` objects are M and M + 8, `empty`
/// ones M + 16 and M + 24.
static KernelRun makeProducer(Without without) {
  unsigned label = 0;
  auto wait = [&](const std::string &object, unsigned parity) {
    std::string name = "W" + std::to_string(label++);
    return name + ": mbarrier.try_wait.parity.shared.b64 %p7, [" + object +
           "], " + std::to_string(parity) + "; @!%p7 bra " + name + ";\n";
  };
  std::string body = "setp.eq.u32 %p0, %r0, 0;";
  for (const char *init :
       {"[M], 1;", "[M + 8], 1;", "[M + 16], 64;", "[M + 24], 64;"})
    body += std::string("@%p0 mbarrier.init.shared.b64 ") + init;
  body += "@%p0 fence.mbarrier_init.release.cluster;\n";
  if (!without.initBarrier)
    body += "bar.sync 0;\n";
  body += "setp.ge.u32 %p1, %r0, 32; @%p1 bra CONSUMER; @!%p0 ret;\n";
  for (unsigned tile = 0; tile != kTiles; ++tile) {
    std::string stage = std::to_string(tile % 2 * 8);
    if (tile >= 2 && !without.emptyWait)
      body +=
          wait("M + " + std::to_string(16 + tile % 2 * 8), (tile / 2 - 1) % 2);
    body += without.expectation
                ? "mbarrier.arrive.shared.b64 _, [M + " + stage + "];\n"
                : "mbarrier.arrive.expect_tx.shared.b64 _, [M + " + stage +
                      "], 256;\n";
    body += kToShared + ("[S + " + std::to_string(tile % 2 * 256)) +
            "], [%buf0 + " + std::to_string(tile * 256) + "], 256, [M + " +
            stage + "];\n";
  }
  body += "ret;\nCONSUMER: sub.u32 %r4, 95, %r0; mad.lo.u32 %r5, %r4, 4, %r2;"
          "add.u64 %d3, %d3, -128;\n";
  for (unsigned tile = 0; tile != kTiles; ++tile) {
    if (!without.fullWait)
      body += wait("M + " + std::to_string(tile % 2 * 8), tile / 2 % 2);
    body +=
        "ld.shared.b32 %r6, [%r5 + " + std::to_string(tile % 2 * 256) + "];\n";
    if (!without.emptyArrival)
      body += "mbarrier.arrive.shared.b64 _, [M + " +
              std::to_string(16 + tile % 2 * 8) + "];\n";
    body += "st.global.b32 [%d3 + " + std::to_string(tile * 256) + "], %r6;\n";
  }
  return makeRun(body, 96);
}

TEST(BulkCopiesTest, ProducerAndConsumers) {
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 64 * kTiles; ++i)
    expected[i] = i / 64 * 64 + 63 - i % 64;
  KernelRun good = makeProducer({});
  EXPECT_EQ(countGoodSeeds(good, expected), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(good), expected), 10u);
  EXPECT_TRUE(getWarnings(good).empty());
  for (bool Without::*left :
       {&Without::initBarrier, &Without::expectation, &Without::fullWait,
        &Without::emptyWait, &Without::emptyArrival}) {
    Without without;
    without.*left = true;
    EXPECT_LT(countGoodSeeds(makeProducer(without), expected), 10u);
  }
}
