//===- CpAsyncTest.cpp - Tests of cp.async --------------------------------===//
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

static constexpr const char *kWaitAll = "cp.async.wait_all;\n";

//===----------------------------------------------------------------------===//
// Single copies
//===----------------------------------------------------------------------===//

/// Thread 0 fills 4 words with -1, copies with `copy` (line 2) and returns the
/// words.
static std::vector<uint32_t> copyWords(const std::string &copy) {
  std::string body =
      "mov.u32 %r9, -1; st.shared.v4.b32 [S], {%r9, %r9, %r9, %r9};\n" + copy +
      "\ncp.async.wait_all; ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [S];"
      "st.global.v4.b32 [%buf1], {%r4, %r5, %r6, %r7};";
  std::vector<uint32_t> output = getOutput(makeRun(body, 1));
  output.resize(4);
  return output;
}

TEST(CopiesTest, SizesAndZeros) {
  using Words = std::vector<uint32_t>;
  const uint32_t old = 0xFFFFFFFF;
  auto copy = [](const std::string &rest) {
    return "cp.async.ca.shared.global [S], [%buf0 + 16], " + rest + ";";
  };
  EXPECT_EQ(copyWords(copy("4")), (Words{4, old, old, old}));
  EXPECT_EQ(copyWords(copy("8")), (Words{4, 5, old, old}));
  EXPECT_EQ(copyWords(copy("16")), (Words{4, 5, 6, 7}));
  EXPECT_EQ(copyWords(copy("16, 16")), (Words{4, 5, 6, 7}));
  EXPECT_EQ(copyWords(copy("16, 12")), (Words{4, 5, 6, 0}));
  EXPECT_EQ(copyWords(copy("8, 1")), (Words{4, 0, old, old}));
  EXPECT_EQ(copyWords("mov.u32 %r8, 0; " + copy("16, %r8")), Words(4));
  EXPECT_EQ(copyWords("setp.eq.u32 %p0, %r0, 0; " + copy("16, %p0")), Words(4));
  EXPECT_EQ(copyWords("setp.eq.u32 %p0, %r0, 0; " + copy("8, !%p0")),
            (Words{4, 5, old, old}));
  EXPECT_EQ(copyWords("cp.async.cg.shared::cta.global.L2::128B [S], [%buf0], "
                      "16;"),
            (Words{0, 1, 2, 3}));
  EXPECT_EQ(copyWords("createpolicy.fractional.L2::evict_last.b64 %d9, 0.5;"
                      "cp.async.cg.shared.global.L2::cache_hint [S], [%buf0 + "
                      "32], 16, 4, %d9;"),
            (Words{8, 0, 0, 0}));
}

TEST(CopiesTest, SourceIsReadAtTheWait) {
  EXPECT_EQ(copyWords("cp.async.ca.shared.global [S], [%buf0 + 16], 4;"
                      "st.global.b32 [%buf0 + 16], 77;")[0],
            77u);
}

TEST(CopiesTest, SourceThatIsIgnoredNeedNotBeThere) {
  EXPECT_EQ(copyWords("cp.async.ca.shared.global [S], [%buf0 + 4096], 16, 0;"),
            std::vector<uint32_t>(4));
  EXPECT_EQ(copyWords("cp.async.ca.shared.global [S], [%d60], 16, 0;"),
            std::vector<uint32_t>(4));
}

TEST(CopiesTest, UndefinedBytesAreCopied) {
  std::string error = getError(makeRun(
      "discard.global.L2 [%buf0 + 128], 128; cp.async.ca.shared.global [S], "
      "[%buf0 + 128], 4; cp.async.wait_all; ld.shared.b32 %r4, [S];"
      "st.global.b32 [%buf1 + 4], %r4;",
      1));
  EXPECT_EQ(error.substr(0, error.find(", after kernel")),
            "argument 0: 128 bytes are undefined at the end, the first "
            "is number 128");
  error = getError(makeRun(
      "discard.global.L2 [%buf0], 128; cp.async.ca.shared.global [S], [%buf0], "
      "4; cp.async.wait_all; ld.shared.b32 %r4, [S]; st.shared.b32 [%r4], 1;",
      1));
  EXPECT_NE(error.find("an address is undefined"), std::string::npos) << error;
}

TEST(CopiesTest, StatisticsCountBothSides) {
  // Half of the lanes have no source.
  KernelRun run = makeRun("min.u32 %r4, %r0, 16; sub.u32 %r4, 16, %r4;"
                          "min.u32 %r4, %r4, 4;\n"
                          "cp.async.ca.shared.global [%r3], [%d2], 4, %r4;");
  run.options.wantsStatistics = true;
  std::string statistics = runKernel(run).statistics;
  size_t lines = statistics.find("\"lines\"");
  auto hasRow = [&](const char *space, const char *kind, const char *bytes) {
    size_t at =
        statistics.find("\"space\": \"" + std::string(space) + "\"", lines);
    size_t end = statistics.find('}', at);
    ASSERT_NE(at, std::string::npos) << statistics;
    std::string row = statistics.substr(at, end - at);
    EXPECT_NE(row.find(kind), std::string::npos) << row;
    EXPECT_NE(row.find(bytes), std::string::npos) << row;
  };
  hasRow("global", "\"kind\": \"load\"", "\"bytes\": 64,");
  hasRow("shared", "\"kind\": \"store\"", "\"bytes\": 128,");
}

TEST(CopiesTest, LanesMayCopyTheSame) {
  // The same copy twice is allowed; different bytes to one destination are an
  // error.
  std::string same = "cp.async.ca.shared.global [S], [%buf0 + 64], 4;"
                     "cp.async.wait_all; bar.sync 0; ld.shared.b32 %r4, [S];"
                     "st.global.b32 [%d3], %r4;";
  std::vector<uint32_t> expected(1024);
  std::fill_n(expected.begin(), 64, 16);
  EXPECT_EQ(countGoodSeeds(makeRun(same, 64), expected), 10u);
  EXPECT_FAILS(makeRun("cp.async.ca.shared.global [S], [%d2], 4;"), 1,
               "lane 1: a store of 4 bytes at 0x400 in shared memory touches a "
               "byte that an asynchronous copy has still to write");
}

TEST(CopiesTest, MisuseOfCopies) {
  auto copy = [](const std::string &rest) {
    return makeRun("cp.async.ca.shared.global " + rest + ";", 1);
  };
  EXPECT_FAILS(copy("[S + 4], [%buf0], 8"), 1,
               "a store of 8 bytes at 0x404 expected an address that is a "
               "multiple of 8");
  EXPECT_FAILS(copy("[S], [%buf0 + 8], 16"), 1,
               "expected an address that is a multiple of 16");
  EXPECT_FAILS(copy("[S], [%buf0 + 8], 16, 8"), 1,
               "a load of 8 bytes at 0x100000000108 expected an address that "
               "is a multiple of 16");
  EXPECT_FAILS(copy("[S], [%buf0 + 4096], 4"), 1,
               "is out of bounds of argument 0, which has 4096 bytes");
  EXPECT_FAILS(copy("[S + 4096], [%buf0], 4"), 1,
               "a store of 4 bytes at 0x1400 in shared memory is outside of "
               "its variables");
  EXPECT_FAILS(copy("[S + 8192], [%buf0], 4"), 1,
               "in shared memory is out of "
               "bounds");
  EXPECT_FAILS(copy("[S], [%buf0], 4, 5"), 1,
               "expected the size of the source of a copy to be at most 4, got "
               "5");
  EXPECT_FAILS(copy("[S], [%buf0], 4, %r60"), 1,
               "the size of the source of a copy is undefined");
  EXPECT_FAILS(copy("[S], [%buf0], 4, %p9"), 1,
               "the predicate that ignores the source of a copy is undefined");
  EXPECT_FAILS(copy("[%r60], [%buf0], 4"), 1, "an address is undefined");
  EXPECT_FAILS(copy("[S], [%d60], 4"), 1, "an address is undefined");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M], 1;\n"
                       "cp.async.ca.shared.global [M], [%buf0], 8;",
                       1),
               2, "touches the mbarrier object");
}

TEST(CopiesTest, FormsThatAreRefused) {
  auto load = [](const std::string &text) { return getLoadError(text + ";"); };
  EXPECT_EQ(load("cp.async.ca.shared.global [%r0], [%d0], 12"),
            "expected a copy of 4, 8 or 16 bytes, got 12");
  EXPECT_EQ(load("cp.async.cg.shared.global [%r0], [%d0], 8"),
            "expected a copy of 16 bytes, got 8");
  EXPECT_EQ(load("cp.async.ca.shared.global [%r0], [%d0], %r1"),
            "expected a constant for the size of a copy");
  EXPECT_EQ(load("cp.async.shared.global [%r0], [%d0], 4"),
            "expected cp.async.ca.shared.global or cp.async.cg.shared.global");
  EXPECT_EQ(load("cp.async.ca.global.shared [%d0], [%r0], 4, 4, 4"),
            "expected 3 to 4 operands of cp, got 5");
  EXPECT_EQ(load("cp.async.ca.shared.global.L3::64B [%r0], [%d0], 4"),
            "not supported in this version: modifier 'L3::64B' of cp");
  EXPECT_EQ(load("cp.async.wait_group %r0"),
            "expected a constant for the number of groups");
  EXPECT_EQ(load("cp.async.wait_group -1"),
            "expected a number of groups from 0 on, got -1");
  EXPECT_EQ(load("cp.sync.ca.shared.global [%r0], [%d0], 4"),
            "expected cp.async or cp.reduce.async");
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

TEST(CopiesTest, BytesArePendingUntilTheWait) {
  std::string copy = "cp.async.ca.shared.global [%r3], [%d2], 4;";
  std::string load = "\nld.shared.b32 %r4, [%r3];";
  const char *loaded = "a load of a byte that an asynchronous copy has still "
                       "to write: expected a wait for it before";
  EXPECT_FAILS(makeRun(copy + load), 2, loaded);
  EXPECT_FAILS(makeRun(copy + "cp.async.commit_group;" + load), 2, loaded);
  EXPECT_FAILS(
      makeRun(copy + "cp.async.commit_group; cp.async.wait_group 1;" + load), 2,
      loaded);
  // Without a commit there is no group.
  EXPECT_FAILS(makeRun(copy + "cp.async.wait_group 0;" + load), 2, loaded);
  EXPECT_FAILS(makeRun(copy + "bar.sync 0;" + load), 2, loaded);
  EXPECT_FAILS(makeRun(copy + "\nst.shared.b32 [%r3], 1;"), 2,
               "touches a byte that an asynchronous copy has still to write");
  EXPECT_EQ(getError(makeRun(copy + kWaitAll + load)), "no error");
  EXPECT_EQ(getError(makeRun(copy +
                             "cp.async.commit_group; "
                             "cp.async.wait_group 0;" +
                             load)),
            "no error");
}

TEST(CopiesTest, GroupsCompleteInOrder) {
  // Groups of words 0, 1, (none), 2; all but the two most recent ones are done.
  auto copy = [](unsigned word) {
    std::string offset = std::to_string(4 * word);
    return "cp.async.ca.shared.global [S + " + offset + "], [%buf0 + " +
           offset + "], 4; cp.async.commit_group; ";
  };
  std::string body = copy(0) + copy(1) + "cp.async.commit_group; " + copy(2) +
                     "cp.async.wait_group 2;\n";
  auto load = [&](unsigned word) {
    return getError(makeRun(body + "ld.shared.b32 %r4, [S + " +
                                std::to_string(4 * word) + "];",
                            1));
  };
  EXPECT_EQ(load(0), "no error");
  EXPECT_EQ(load(1), "no error");
  EXPECT_NE(load(2), "no error");
}

TEST(CopiesTest, WaitsAreThoseOfTheLane) {
  // Lane 0 waits, lane 1 has not.
  std::string body = "cp.async.ca.shared.global [%r3], [%d2], 4;"
                     "setp.eq.u32 %p0, %r0, 0; @%p0 cp.async.wait_all;\n"
                     "ld.shared.b32 %r4, [S + ";
  EXPECT_EQ(getError(makeRun(body + "0];")), "no error");
  EXPECT_FAILS(makeRun(body + "4];"), 2, "has still to write");
}

TEST(CopiesTest, OthersNeedABarrierBehindTheWait) {
  std::string copy = "cp.async.ca.shared.global [%r3], [%d2], 4;"
                     "cp.async.wait_all;";
  std::string load = "sub.u32 %r4, 127, %r0; mad.lo.u32 %r5, %r4, 4, %r2;"
                     "ld.shared.b32 %r6, [%r5]; st.global.b32 [%d3], %r6;";
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 128; ++i)
    expected[i] = 127 - i;
  KernelRun good = makeRun(copy + "bar.sync 0;" + load, 128);
  EXPECT_EQ(countGoodSeeds(good, expected), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(good), expected), 10u);
  KernelRun bad = makeRun(copy + load, 128);
  EXPECT_LT(countGoodSeeds(bad, expected, /*numSeeds=*/5), 5u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(bad), expected), 0u);
  // The barrier does not help before the wait.
  KernelRun early = makeRun("cp.async.ca.shared.global [%r3], [%d2], 4;"
                            "bar.sync 0; cp.async.wait_all;" +
                                load,
                            128);
  EXPECT_LT(countGoodSeeds(early, expected), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(early), expected), 0u);
}

//===----------------------------------------------------------------------===//
// cp.async.mbarrier.arrive
//===----------------------------------------------------------------------===//

/// All of 64 threads copy a word and arrive; each reads another's.
static KernelRun arriveAfterCopy(const std::string &count,
                                 const std::string &arrive,
                                 const std::string &wait) {
  return makeRun(
      "setp.eq.u32 %p0, %r0, 0;"
      "@%p0 mbarrier.init.shared.b64 [M], " +
          count + "; bar.sync 0; cp.async.ca.shared.global [%r3], [%d2], 4;" +
          arrive + "\n" + wait +
          "\nsub.u32 %r4, 63, %r0; mad.lo.u32 %r5, %r4, 4, %r2;"
          "ld.shared.b32 %r6, [%r5]; st.global.b32 [%d3], %r6;",
      64);
}

TEST(CopiesTest, ArrivalFollowsTheCopies) {
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 64; ++i)
    expected[i] = 63 - i;
  const std::string noinc = "cp.async.mbarrier.arrive.noinc.shared.b64 [M];";
  const std::string inc = "cp.async.mbarrier.arrive.shared::cta.b64 [M];";
  const std::string wait = "L: mbarrier.try_wait.parity.shared.b64 %p1, [M], 0;"
                           "@!%p1 bra L;";
  for (KernelRun run :
       {arriveAfterCopy("64", noinc, wait),
        // An additional arrival beside the one that is counted.
        arriveAfterCopy("64", inc + "mbarrier.arrive.shared.b64 _, [M];",
                        wait)}) {
    EXPECT_EQ(countGoodSeeds(run, expected), 10u);
    EXPECT_EQ(countGoodSeeds(checkingRaces(run), expected), 10u);
  }
  EXPECT_LT(countGoodSeeds(arriveAfterCopy("64", noinc, ""), expected), 10u);
  // An arrival that does not wait for the copy.
  EXPECT_EQ(
      countGoodSeeds(
          arriveAfterCopy("64", "mbarrier.arrive.shared.b64 _, [M];", wait),
          expected),
      0u);
  EXPECT_NE(getError(arriveAfterCopy("64", inc, wait)).find("deadlock"),
            std::string::npos);
  EXPECT_NE(getError(arriveAfterCopy("1048575", inc, ""))
                .find("expected at most 1048575 arrivals that an mbarrier "
                      "object waits for, got one more"),
            std::string::npos);
  EXPECT_FAILS(makeRun("cp.async.mbarrier.arrive.shared.b64 [M];"), 1,
               "there is no mbarrier.init before");
  EXPECT_EQ(getLoadError("cp.async.mbarrier.arrive.shared.b32 [%r0];"),
            "expected cp.async.mbarrier.arrive.b64");
}

//===----------------------------------------------------------------------===//
// A pipeline
//===----------------------------------------------------------------------===//

static constexpr unsigned kTiles = 8;

/// Tiles of 64 words pass through two stages; 64 threads copy a word each, and
/// read that of the opposite thread.
static KernelRun makePipeline(const std::string &wait,
                              const std::string &barrierBeforeReads,
                              const std::string &barrierBeforeWrites) {
  auto copy = [](unsigned tile) {
    return "cp.async.ca.shared.global [%r3 + " +
           std::to_string(tile % 2 * 256) + "], [%d2 + " +
           std::to_string(tile * 256) + "], 4; ";
  };
  std::string body = "sub.u32 %r4, 63, %r0; mad.lo.u32 %r5, %r4, 4, %r2;" +
                     copy(0) + "cp.async.commit_group;\n";
  for (unsigned tile = 0; tile != kTiles; ++tile) {
    if (tile + 1 != kTiles)
      body += copy(tile + 1);
    body += "cp.async.commit_group;" + wait + barrierBeforeReads +
            "ld.shared.b32 %r6, [%r5 + " + std::to_string(tile % 2 * 256) +
            "]; st.global.b32 [%d3 + " + std::to_string(tile * 256) +
            "], %r6; " + barrierBeforeWrites + "\n";
  }
  return makeRun(body, 64);
}

TEST(CopiesTest, DoubleBufferedPipeline) {
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 64 * kTiles; ++i)
    expected[i] = i / 64 * 64 + 63 - i % 64;
  const std::string wait = "cp.async.wait_group 1;", barrier = "bar.sync 0;";
  KernelRun good = makePipeline(wait, barrier, barrier);
  EXPECT_EQ(countGoodSeeds(good, expected), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(good), expected), 10u);
  for (KernelRun bad :
       {makePipeline("", barrier, barrier),
        makePipeline("cp.async.wait_group 2;", barrier, barrier),
        makePipeline(wait, "", barrier), makePipeline(wait, barrier, "")}) {
    EXPECT_LT(countGoodSeeds(bad, expected), 10u);
    EXPECT_EQ(countGoodSeeds(checkingRaces(bad), expected), 0u);
  }
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

TEST(CopiesTest, HintsChangeNothing) {
  for (const char *hint :
       {"prefetch.global.L1 [%buf0];", "prefetch.global.L2 [%buf0];",
        "prefetch.L2 [%buf0];", "prefetch.global.L2::evict_last [%buf0];",
        "prefetchu.L1 [%buf0];", "mov.u64 %d9, 0; prefetch.global.L2 [%d9];",
        "applypriority.global.L2::evict_normal [%buf0], 128;",
        "cp.async.bulk.prefetch.L2.global [%buf0], 64;",
        "createpolicy.fractional.L2::evict_last.b64 %d9;",
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d9, "
        "0.5;",
        "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d9, "
        "[%buf0], 128, 256;",
        "createpolicy.cvt.L2.b64 %d9, %d8;"})
    EXPECT_EQ(getError(makeRun(hint)), "no error") << hint;
}

TEST(CopiesTest, MisuseOfHints) {
  EXPECT_FAILS(makeRun("prefetch.global.L2 [%d60];"), 1,
               "an address is undefined");
  EXPECT_FAILS(makeRun("discard.global.L2 [%buf0 + 64], 128;"), 1,
               "a store of 128 bytes at 0x100000000140 expected an address "
               "that is a multiple of 128");
  EXPECT_FAILS(makeRun("applypriority.global.L2::evict_normal [%buf0 + 4096], "
                       "128;"),
               1, "is out of bounds of argument 0");
  EXPECT_FAILS(makeRun("cvta.shared.u64 %d9, 1024;\n"
                       "discard.L2 [%d9], 128;"),
               2, "expected an address in global memory");
  EXPECT_FAILS(makeRun("cp.async.bulk.prefetch.L2.global [%buf0], 24;"), 1,
               "expected the size of a prefetch to be a multiple of 16, got "
               "24");
  EXPECT_FAILS(makeRun("cp.async.bulk.prefetch.L2.global [%buf0 + 4080], 32;"),
               1, "is out of bounds of argument 0");
  EXPECT_EQ(getLoadError("discard.global.L2 [%d0], 64;"),
            "expected a size of 128 bytes, got 64");
  EXPECT_EQ(getLoadError("discard.global.L1 [%d0], 128;"),
            "expected .L2 behind discard");
  EXPECT_EQ(getLoadError("prefetch.global.L3 [%d0];"),
            "expected a level of the cache behind prefetch");
  EXPECT_EQ(getLoadError("prefetchu.L2 [%d0];"),
            "expected a level of the cache behind prefetchu");
  EXPECT_EQ(getLoadError("prefetch.const.tensormap [%d0];"),
            "an address is undefined: %d0 is never given a value");
  EXPECT_EQ(getLoadError("createpolicy.L2::evict_last.b64 %d9;"),
            "expected .fractional, .range or .cvt, and .b64 behind "
            "createpolicy");
}
