//===- DeadlockTest.cpp - Tests of deadlocks ------------------------------===//
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

TEST(DeadlockTest, BarrierOfWarpsThatNeverCome) {
  std::string body = "setp.ge.u32 %p0, %r0, 32; @%p0 ret;\nbar.sync 1, 64;";
  EXPECT_FAILS(makeRun(body, 64), 2,
               "warp 0, lane 0: deadlock: warp 0 waits at barrier 1 (32 of 64 "
               "threads have arrived) in line 2");
}

TEST(DeadlockTest, WarpsWaitAtDifferentBarriers) {
  std::string body = "setp.ge.u32 %p0, %r0, 32; @%p0 bra B;\nbar.sync 1; ret;"
                     "\nB: bar.sync 2;";
  std::string error = getError(makeRun(body, 64));
  EXPECT_NE(
      error.find("warp 0 waits at barrier 1 (32 of 64 threads have arrived) "
                 "in line 2; warp 1 waits at barrier 2 (32 of 64 threads have "
                 "arrived) in line 3"),
      std::string::npos)
      << error;
}

TEST(DeadlockTest, BarrierWithAWarpThatLoops) {
  std::string body = "setp.ge.u32 %p0, %r0, 32; @%p0 bra L; bar.sync 0; ret;"
                     "\nL: bra L;";
  EXPECT_FAILS(
      makeRun(body, 64), 1,
      "deadlock: warp 0 waits at barrier 0 (32 of 64 threads have arrived) in "
      "line 1; warp 1 waits for memory to change in line 2");
}

/// Initializes M for `count` arrivals, and waits for phase 0 in line 3.
static std::string waitAfter(const std::string &count,
                             const std::string &text) {
  return "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], " +
         count + "; bar.sync 0;\n" + text +
         "\nL: mbarrier.try_wait.parity.shared.b64 %p1, [M], 0; @!%p1 bra L;";
}

TEST(DeadlockTest, MBarrierWithoutArrival) {
  EXPECT_FAILS(makeRun(waitAfter("2", "@%p0 mbarrier.arrive.shared.b64 _, "
                                      "[M];")),
               3,
               "deadlock: warp 0 waits for the mbarrier object at 0x1410 (its "
               "phase 0 is short of 1 arrivals and 0 bytes) in line 3");
}

TEST(DeadlockTest, MBarrierWithoutBytes) {
  EXPECT_FAILS(makeRun(waitAfter("1", "@%p0 mbarrier.arrive.expect_tx.shared."
                                      "b64 _, [M], 48; @%p0 "
                                      "mbarrier.complete_tx.shared.b64 [M], "
                                      "32;")),
               3, "is short of 0 arrivals and 16 bytes)");
}

TEST(DeadlockTest, MBarrierThatIsPolled) {
  std::string body =
      "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], 1; bar.sync "
      "0;\nL: mbarrier.test_wait.parity.shared.b64 %p1, [M], 0; @!%p1 bra L;";
  EXPECT_FAILS(makeRun(body), 2, "deadlock: warp 0 waits for the mbarrier");
}

TEST(DeadlockTest, TryWaitReturnsFalseIfNothingElseCanRun) {
  // Nothing else can happen: the wait ends with false.
  std::string body = "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 "
                     "[M], 1; bar.sync 0; "
                     "mbarrier.try_wait.parity.shared.b64 %p1, [M], 0; "
                     "selp.b32 %r4, 7, 5, %p1; st.global.b32 [%d3], %r4;";
  EXPECT_EQ(getOutput(makeRun(body))[31], 5u);
}

TEST(DeadlockTest, AnotherWarpMayComplete) {
  // Warp 0 spins on a word that warp 1 stores after its wait for a copy.
  std::string body =
      "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [M], 1;"
      "st.shared.b32 [S + 64], 0; bar.sync 0; setp.ge.u32 %p1, %r0, 32;"
      "@%p1 bra B;"
      "A: ld.shared.b32 %r4, [S + 64]; setp.eq.u32 %p2, %r4, 0; @%p2 bra A;"
      "ret;"
      "B: setp.eq.u32 %p0, %r0, 32;"
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [M], 16;"
      "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
      "[S], [%buf0], 16, [M];"
      "C: mbarrier.try_wait.parity.shared.b64 %p3, [M], 0; @!%p3 bra C;"
      "@%p0 st.shared.b32 [S + 64], 1;";
  EXPECT_EQ(getError(makeRun(body, 64)), "no error");
}
