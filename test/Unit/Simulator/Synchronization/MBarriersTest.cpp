//===- MBarriersTest.cpp - Tests of mbarrier objects ----------------------===//
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

/// Thread 0 (%p0) initializes M for `count` arrivals, on line 1.
static std::string init(const std::string &count) {
  return "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], " +
         count + "; bar.sync 0;\n";
}

/// Waits until the phase of M with this parity is complete.
static std::string wait(int parity) {
  static int number = 0;
  std::string label = "W" + std::to_string(number++);
  return label + ": mbarrier.try_wait.parity.shared.b64 %p7, [M], " +
         std::to_string(parity) + "; @!%p7 bra " + label + ";\n";
}

/// The words that thread 0 stores.
static std::vector<uint32_t> getWords(const std::string &body, unsigned count,
                                      unsigned threads = 32) {
  std::vector<uint32_t> output = getOutput(makeRun(body, threads));
  output.resize(count);
  return output;
}

TEST(MBarriersTest, PhasesFollowEachOther) {
  // 64 threads arrive twice; after the wait they see what others stored.
  std::string body = init("64") +
                     "st.shared.b32 [%r3], %r0;"
                     "mbarrier.arrive.shared.b64 %d9, [M];\n" +
                     wait(0) +
                     "sub.u32 %r4, 63, %r0; mad.lo.u32 %r5, %r4, 4, %r2;"
                     "ld.shared.b32 %r6, [%r5];"
                     "mbarrier.arrive.release.cta.shared::cta.b64 _, [M];\n" +
                     wait(1) +
                     "st.shared.b32 [%r5], %r6; st.global.b32 [%d3], %r6;";
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 64; ++i)
    expected[i] = 63 - i;
  EXPECT_EQ(countGoodSeeds(makeRun(body, 64), expected), 10u);
  EXPECT_EQ(countGoodSeeds(checkingRaces(makeRun(body, 64)), expected), 10u);
}

TEST(MBarriersTest, StatesTellPhasesApart) {
  // One thread: the state before and after the second of two arrivals.
  std::string test = "mbarrier.test_wait.shared.b64 %p1, [M], ";
  std::string body =
      "mbarrier.init.shared.b64 [M], 2;"
      "mbarrier.arrive.shared.b64 %d10, [M];" +
      test + "%d10; selp.b32 %r4, 1, 0, %p1; st.global.b32 [%d3], %r4;" +
      "mbarrier.arrive.shared.b64 %d11, [M];" + test +
      "%d10; selp.b32 %r4, 1, 0, %p1; st.global.b32 [%d3 + 4], %r4;" + test +
      "%d11; selp.b32 %r4, 1, 0, %p1; st.global.b32 [%d3 + 8], %r4;"
      "mbarrier.arrive.shared.b64 %d12, [M];" +
      test + "%d12; selp.b32 %r4, 1, 0, %p1; st.global.b32 [%d3 + 12], %r4;" +
      "mbarrier.pending_count.b64 %r4, %d10; st.global.b32 [%d3 + 16], %r4;"
      "mbarrier.pending_count.b64 %r4, %d11; st.global.b32 [%d3 + 20], %r4;";
  EXPECT_EQ(getWords(body, 6, 1), (std::vector<uint32_t>{0, 1, 1, 0, 2, 1}));
}

TEST(MBarriersTest, CountsOfArrivals) {
  std::string test = "mbarrier.test_wait.parity.shared.b64 %p1, [M], 0;"
                     "selp.b32 %r4, 1, 0, %p1; st.global.b32 [%d3 + ";
  std::string body = "mbarrier.init.shared.b64 [M], 5;"
                     "mbarrier.arrive.noComplete.shared.b64 %d9, [M], 2;" +
                     test +
                     "0], %r4;"
                     "mbarrier.arrive.shared.b64 _, [M], 3;" +
                     test + "4], %r4;";
  EXPECT_EQ(getWords(body, 2, 1), (std::vector<uint32_t>{0, 1}));
}

TEST(MBarriersTest, DroppedArrivalsAreNotExpectedAgain) {
  std::string body = "mbarrier.init.shared.b64 [M], 2;"
                     "mbarrier.arrive_drop.shared.b64 %d9, [M];"
                     "mbarrier.arrive.shared.b64 _, [M];" +
                     wait(0) + "mbarrier.arrive.shared.b64 _, [M];" + wait(1) +
                     "st.global.b32 [%d3], 1;";
  EXPECT_EQ(getWords(body, 1, 1), (std::vector<uint32_t>{1}));
}

TEST(MBarriersTest, TransactionsHoldThePhase) {
  std::string test = "mbarrier.test_wait.parity.shared.b64 %p1, [M], 0;"
                     "selp.b32 %r4, 1, 0, %p1; st.global.b32 [%d3 + ";
  std::string body =
      "mbarrier.init.shared.b64 [M], 1;"
      "mbarrier.expect_tx.relaxed.cta.shared.b64 [M], 32;"
      "mbarrier.arrive.expect_tx.shared.b64 %d9, [M], 16;" +
      test + "0], %r4;" +
      "mbarrier.complete_tx.relaxed.cta.shared.b64 [M], 16;" + test +
      "4], %r4; mbarrier.complete_tx.shared.b64 [M], 32;" + test + "8], %r4;";
  EXPECT_EQ(getWords(body, 3, 1), (std::vector<uint32_t>{0, 0, 1}));
}

TEST(MBarriersTest, GenericAddresses) {
  std::string body = "mov.u64 %d9, M; cvta.shared.u64 %d9, %d9;"
                     "mbarrier.init.b64 [%d9], 1; mbarrier.arrive.b64 _, [%d9];"
                     "mbarrier.test_wait.parity.b64 %p1, [%d9], 0;"
                     "selp.b32 %r4, 1, 0, %p1; st.global.b32 [%d3], %r4;";
  EXPECT_EQ(getWords(body, 1, 1), (std::vector<uint32_t>{1}));
}

TEST(MBarriersTest, InvalidationFreesTheBytes) {
  std::string body = "mbarrier.init.shared.b64 [M], 1;"
                     "mbarrier.inval.shared.b64 [M];"
                     "mbarrier.init.shared.b64 [M], 3;"
                     "mbarrier.inval.shared.b64 [M];"
                     "st.shared.b32 [M], 9; ld.shared.b32 %r4, [M];"
                     "st.global.b32 [%d3], %r4;";
  EXPECT_EQ(getWords(body, 1, 1), (std::vector<uint32_t>{9}));
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M], 1;"
                       "mbarrier.inval.shared.b64 [M];\n"
                       "mbarrier.arrive.shared.b64 _, [M];",
                       1),
               2, "there is no mbarrier.init before");
}

TEST(MBarriersTest, MisuseOfObjects) {
  EXPECT_FAILS(makeRun("mbarrier.arrive.shared.b64 _, [M];"), 1,
               "expected an mbarrier object at 0x1410, got none: there is no "
               "mbarrier.init before");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M], 1;"), 1,
               "lane 1: there is an mbarrier object at 0x1410 already: "
               "expected mbarrier.inval before");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M + 4], 1;"), 1,
               "expected the address of an mbarrier object to be a multiple of "
               "8, got 0x1414");
  EXPECT_FAILS(makeRun("mbarrier.init.b64 [%buf0], 1;"), 1,
               "expected an mbarrier object in shared memory, got address");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M + 4000], 1;"), 1,
               "expected an mbarrier object in shared memory, got address");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M + 64], 1;"), 1,
               "is outside of its variables");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [%r60], 1;"), 1,
               "an address is undefined");
  for (const char *access :
       {"ld.shared.b32 %r4, [M + 4];", "ld.shared.b64 %d4, [M];"})
    EXPECT_FAILS(makeRun(init("1") + access), 2,
                 "in shared memory touches the mbarrier object at 0x1410");
  EXPECT_FAILS(makeRun(init("1") + "st.shared.b8 [M + 7], 1;"), 2,
               "a store of 1 bytes at 0x1417 in shared memory touches the "
               "mbarrier object at 0x1410");
}

TEST(MBarriersTest, MisuseOfCounts) {
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M], 0;"), 1,
               "expected the count of an mbarrier object from 1 to 1048575, "
               "got 0");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M], 1048576;"), 1,
               "got 1048576");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M], %r60;"), 1,
               "the count of an mbarrier object is undefined");
  EXPECT_FAILS(makeRun(init("2") + "mbarrier.arrive.shared.b64 _, [M], 3;"), 2,
               "the mbarrier object at 0x1410 expected at most 2 more arrivals "
               "in this phase, got 3");
  EXPECT_FAILS(makeRun(init("2") + "mbarrier.arrive.shared.b64 _, [M], 0;"), 2,
               "expected the count of an arrival from 1 to 1048575, got 0");
  // Lane 2 arrives while bytes are missing.
  EXPECT_FAILS(makeRun(init("2") + "@%p0 mbarrier.expect_tx.shared.b64 [M], 4;"
                                   "mbarrier.arrive.shared.b64 _, [M];"),
               2,
               "lane 2: the mbarrier object at 0x1410 expected at most 0 "
               "more arrivals in this phase, got 1");
  EXPECT_FAILS(
      makeRun(init("2") + "@%p0 mbarrier.arrive_drop.shared.b64 _, [M], 3;"), 2,
      "expected to drop at most 2 participants, got 3");
  EXPECT_FAILS(makeRun(init("1") +
                       "@%p0 mbarrier.arrive.noComplete.shared.b64 %d9, [M], "
                       "1;"),
               2, "mbarrier.arrive.noComplete expected that arrivals are left");
  EXPECT_FAILS(makeRun(init("1") + "@%p0 mbarrier.expect_tx.shared.b64 [M], "
                                   "1048575;\n"
                                   "@%p0 mbarrier.expect_tx.shared.b64 [M], "
                                   "1;"),
               3,
               "expected a transaction count from -1048575 to 1048575, got "
               "1048576");
  EXPECT_FAILS(makeRun(init("1") + "@%p0 mbarrier.complete_tx.shared.b64 [M], "
                                   "1048575;\n"
                                   "@%p0 mbarrier.complete_tx.shared.b64 [M], "
                                   "1;"),
               3, "got -1048576");
  EXPECT_FAILS(makeRun(init("1") + "mbarrier.expect_tx.shared.b64 [M], "
                                   "1048576;"),
               2, "expected the bytes of a transaction from 0 to 1048575");
}

TEST(MBarriersTest, MisuseOfWaits) {
  std::string wait = "mbarrier.try_wait.parity.shared.b64 %p1, [M], ";
  EXPECT_FAILS(makeRun(init("1") + wait + "2;"), 2,
               "expected the parity of a phase to be 0 or 1, got 2");
  EXPECT_FAILS(makeRun(init("1") + wait + "%r60;"), 2,
               "the parity of a phase is undefined");
  EXPECT_FAILS(makeRun(wait + "0;"), 1, "there is no mbarrier.init before");
  std::string two = "mbarrier.init.shared.b64 [M], 2;"
                    "mbarrier.init.shared.b64 [M + 8], 2;\n"
                    "mbarrier.arrive.shared.b64 %d9, [M];\n";
  EXPECT_FAILS(makeRun(two + "mbarrier.test_wait.shared.b64 %p1, [M + 8], "
                             "%d9;",
                       1),
               3,
               "expected a state of the mbarrier object at 0x1418, got one "
               "of that at 0x1410");
  EXPECT_FAILS(
      makeRun(two + "mbarrier.test_wait.shared.b64 %p1, [M], %d60;", 1), 3,
      "the state of an mbarrier object is undefined");
  EXPECT_FAILS(makeRun("mbarrier.init.shared.b64 [M], 1;"
                       "mbarrier.arrive.shared.b64 %d9, [M];"
                       "mbarrier.arrive.shared.b64 _, [M];\n"
                       "mbarrier.test_wait.shared.b64 %p1, [M], %d9;",
                       1),
               2,
               "expected the state of phase 2 of the mbarrier object at "
               "0x1410 or of the phase before, got that of phase 0");
}

TEST(MBarriersTest, FormsThatAreRefused) {
  EXPECT_EQ(getLoadError("mbarrier.shared.b64 [%r0];"),
            "expected an operation behind mbarrier, such as .init or .arrive");
  EXPECT_EQ(getLoadError("mbarrier.init.shared.b32 [%r0], 1;"),
            "expected .b64 behind mbarrier");
  EXPECT_EQ(getLoadError("mbarrier.init.global.b64 [%d0], 1;"),
            "expected .shared::cta or no state space behind this mbarrier "
            "instruction");
  EXPECT_EQ(getLoadError("mbarrier.arrive.expect_tx.noComplete.shared.b64 %d0, "
                         "[%r0], 1;"),
            "expected .expect_tx or .noComplete, got both");
}
