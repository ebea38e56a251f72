//===- TensorMemoryTest.cpp - Tests of tensor memory ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of tensor memory instructions; kernels in test/Execution/tcgen05 test
// their results.
//
//===----------------------------------------------------------------------===//

#include "ThreadTesting.h"

#include <set>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// One warp; line 1 allocates 64 columns, whose address is in %r10.
static constexpr const char *kAlloc =
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S], 64;"
    "ld.shared.b32 %r10, [S];\n";
static constexpr const char *kFree =
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;\n";
static constexpr const char *kStore =
    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%r0};";
static constexpr const char *kWaitStore = "tcgen05.wait::st.sync.aligned;\n";
static constexpr const char *kLoad =
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r11}, [%r10];";
static constexpr const char *kWaitLoad = "tcgen05.wait::ld.sync.aligned;\n";

static KernelRun makeTensorRun(const std::string &body, unsigned threads = 32) {
  KernelRun run = makeRun(body, threads);
  run.target = "sm_100a";
  return run;
}

static KernelRun checkingProxies(KernelRun run) {
  run.options.checkProxy = true;
  return run;
}

/// A body on line 2, between alloc and dealloc.
static KernelRun makeAllocatedRun(const std::string &body) {
  return makeTensorRun(kAlloc + body + "\n" + kFree);
}

static std::string getTensorLoadError(const std::string &body,
                                      const std::string &target = "sm_100a") {
  return getLoadError(body, target);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

TEST(TensorMemoryTest, LoadsWithoutAWait) {
  KernelRun run = makeAllocatedRun(std::string(kStore) + kWaitStore + kLoad +
                                   "st.global.b32 [%d3], %r11;");
  EXPECT_EQ(getOutput(run)[31], 31u);
  EXPECT_EQ(runKernel(run).warnings.size(), 1u);
  EXPECT_FAILS(checkingStrictly(run), 4,
               "the tcgen05.ld in line 3 by warp 0 may still read these "
               "columns: expected tcgen05.wait::ld before tcgen05.dealloc (PTX "
               "ISA, tcgen05.wait)");
}

// Shipped kernels use lane 0 in the address in all warps, and mean the warp's
// own lanes.
TEST(TensorMemoryTest, LanesOfTheFirstWarp) {
  const std::string first = "setp.lt.u32 %p0, %r0, 32; @!%p0 bra W;"
                            "tcgen05.alloc.cta_group::1.sync.aligned.shared::"
                            "cta.b32 [S], 64; W: bar.sync 0;"
                            "ld.shared.b32 %r10, [S];\n";
  KernelRun run = makeTensorRun(
      first + kStore + kWaitStore +
          "and.b32 %r12, %r0, 96; shl.b32 %r12, %r12, 16;"
          "add.u32 %r10, %r10, %r12;" +
          kLoad + kWaitLoad +
          "st.global.b32 [%d3], %r11; tcgen05.fence::before_thread_sync;"
          "bar.sync 0; tcgen05.fence::after_thread_sync; @!%p0 bra E;"
          "ld.shared.b32 %r10, [S];" +
          kFree + "E: ret;",
      128);
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 128; ++i)
    expected[i] = i;
  EXPECT_EQ(getOutput(run), expected);
  // One text for all three warps.
  std::vector<std::string> warnings = runKernel(run).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("\"Access restrictions\") (and 2 more)"),
            std::string::npos)
      << warnings[0];
  std::string error = getError(checkingStrictly(run));
  EXPECT_NE(error.find("got lane 0, which is treated as one of the warp's own "
                       "(PTX ISA, tcgen05.ld, \"Access restrictions\")"),
            std::string::npos)
      << error;
}

TEST(TensorMemoryTest, ValuesComeBack) {
  KernelRun run = makeAllocatedRun(std::string(kStore) + kWaitStore + kLoad +
                                   kWaitLoad + "st.global.b32 [%d3], %r11;");
  std::vector<uint32_t> expected(1024);
  for (unsigned i = 0; i != 32; ++i)
    expected[i] = i;
  EXPECT_EQ(countGoodSeeds(checkingProxies(run), expected), 10u);
}

TEST(TensorMemoryTest, TheAddressDependsOnTheSeed) {
  // Programs must not rely on column 0, but shipped ones do where all columns
  // are free.
  std::set<uint32_t> columns;
  for (unsigned seed = 0; seed != 32; ++seed) {
    KernelRun run = makeAllocatedRun("st.global.b32 [%d3], %r10;");
    run.options.seed = seed;
    EXPECT_EQ(getOutput(run)[0], 0u);
    uint32_t column = getOutput(checkingStrictly(run))[0];
    EXPECT_EQ(column % 64, 0u);
    columns.insert(column);
  }
  EXPECT_GT(columns.size(), 4u);
}

TEST(TensorMemoryTest, TheAddressOfMoreColumnsDependsOnTheSeed) {
  const std::string alloc = "tcgen05.alloc.cta_group::1.sync.aligned."
                            "shared::cta.b32 [S], 64;";
  std::set<uint32_t> columns;
  for (unsigned seed = 0; seed != 32; ++seed) {
    KernelRun run =
        makeAllocatedRun(alloc + "bar.sync 0; ld.shared.b32 %r12, [S];"
                                 "st.global.b32 [%d3], %r12;"
                                 "tcgen05.dealloc.cta_group::1.sync."
                                 "aligned.b32 %r12, 64;");
    run.options.seed = seed;
    columns.insert(getOutput(run)[0]);
  }
  EXPECT_GT(columns.size(), 4u);
  EXPECT_EQ(columns.count(0), 0u);
}

TEST(TensorMemoryTest, NumbersOfColumns) {
  for (const char *columns : {"0", "16", "48", "1024"})
    EXPECT_FAILS(
        makeTensorRun(std::string("mov.u32 %r9, ") + columns +
                      "; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta."
                      "b32 [S], %r9;"),
        1, "is a power of two from 32 to 512, got " + std::string(columns));
  EXPECT_FAILS(makeAllocatedRun("tcgen05.alloc.cta_group::1.sync.aligned."
                                "shared::cta.b32 [S], 128;"),
               2,
               "at most as many columns as the tcgen05.alloc before, which "
               "were 64, got 128");
}

TEST(TensorMemoryTest, IllegalAllocations) {
  EXPECT_FAILS(
      makeTensorRun("tcgen05.relinquish_alloc_permit.cta_group::1.sync."
                    "aligned;\n" +
                    std::string(kAlloc)),
      2, "behind a tcgen05.relinquish_alloc_permit of the block");
  EXPECT_FAILS(
      makeTensorRun("setp.lt.u32 %p1, %r0, 16;\n@%p1 " + std::string(kAlloc)),
      2, "tcgen05.alloc expected all lanes of the warp");
  EXPECT_FAILS(
      makeTensorRun("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 "
                    "[S], 32;"),
      1, "a cluster with an even number of blocks, got 1");
  EXPECT_FAILS(
      makeTensorRun("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%buf0], 32;"),
      1, "expected an address in shared memory of this block");
  // The columns are not deallocated.
  EXPECT_FAILS(
      makeTensorRun("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
                    "[S], 512;\ntcgen05.alloc.cta_group::1.sync.aligned."
                    "shared::cta.b32 [S + 4], 32;"),
      2,
      "waits for 32 columns of tensor memory, of which 0 are free in line "
      "2");
}

TEST(TensorMemoryTest, MisuseOfDealloc) {
  EXPECT_FAILS(makeTensorRun(kAlloc), 1,
               "the block ends before the 64 columns of tensor memory");
  EXPECT_FAILS(
      makeTensorRun(kAlloc + std::string("add.u32 %r10, %r10, 32;") + kFree), 2,
      "expected an address that tcgen05.alloc gave to this block");
  EXPECT_FAILS(makeAllocatedRun(kFree), 4,
               "expected an address that tcgen05.alloc gave to this block");
  EXPECT_FAILS(makeAllocatedRun("tcgen05.dealloc.cta_group::1.sync.aligned."
                                "b32 %r10, 32;"),
               2, "expected 64 columns, as were allocated at 0x");
  EXPECT_FAILS(makeAllocatedRun(std::string(kStore)), 3,
               "the tcgen05.st in line 2 by warp 0 may still use these "
               "columns: expected tcgen05.wait before tcgen05.dealloc");
}

//===----------------------------------------------------------------------===//
// ld and st
//===----------------------------------------------------------------------===//

TEST(TensorMemoryTest, LanesOfOthers) {
  EXPECT_FAILS(
      makeAllocatedRun("add.u32 %r10, %r10, 0x200000;" + std::string(kStore)),
      2,
      "tcgen05.st.32x32b of warp 0 expected an address in lane 0, "
      "got lane 32");
  EXPECT_FAILS(
      makeAllocatedRun("tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r11}, "
                       "[%r10 + 524288];"),
      2,
      "tcgen05.ld.16x64b of warp 0 expected an address in lane 0 or 16, got "
      "lane 8");
}

TEST(TensorMemoryTest, CellsThatAreNotAllocated) {
  EXPECT_FAILS(makeTensorRun("mov.b32 %r10, 0;" + std::string(kLoad)), 1,
               "expected columns 0 to 0 of tensor memory to be allocated by "
               "block (0,0,0), but column 0 is not");
  EXPECT_FAILS(
      makeAllocatedRun("add.u32 %r10, %r10, 64;" + std::string(kStore)), 2,
      "is not");
  EXPECT_FAILS(makeTensorRun(kAlloc + std::string(kFree) + kLoad), 3, "is not");
  EXPECT_FAILS(
      makeAllocatedRun("or.b32 %r10, %r10, 0xFFFF;" + std::string(kLoad)), 2,
      "but column 65535 is not");
}

// A warning: shipped kernels omit tcgen05.wait where a dependence on a register
// or a later signal orders the accesses on cards.
TEST(TensorMemoryTest, AccessesWithoutAWait) {
  KernelRun run =
      makeAllocatedRun(std::string(kStore) + "\n" + kLoad + kWaitLoad +
                       kWaitStore + "st.global.b32 [%d3], %r11;");
  EXPECT_EQ(getOutput(run)[31], 31u);
  EXPECT_EQ(runKernel(run).warnings.size(), 1u);
  EXPECT_FAILS(checkingStrictly(run), 3,
               "the tcgen05.st in line 2 by warp 0 and this tcgen05.ld access "
               "0x");
  run = makeAllocatedRun(std::string(kStore) + kWaitStore + kLoad + "\n" +
                         kStore + kWaitStore + kWaitLoad);
  EXPECT_EQ(runKernel(run).warnings.size(), 1u);
  EXPECT_FAILS(checkingStrictly(run), 4,
               "and the first of them may not be complete: expected "
               "tcgen05.wait::ld between (PTX ISA, tcgen05.wait)");
}

// Without a wait, a barrier and fences are still needed.
TEST(TensorMemoryTest, AccessesOfTwoWarpsWithoutAWait) {
  const std::string before = "tcgen05.fence::before_thread_sync;",
                    after = "tcgen05.fence::after_thread_sync;",
                    barrier = "bar.sync 0;";
  auto makeBody = [&](const std::string &first, const std::string &between) {
    KernelRun run = makeTensorRun(
        "shr.u32 %r12, %r0, 5; setp.eq.u32 %p1, %r12, 0;"
        "setp.eq.u32 %p2, %r12, 4; @%p1 "
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S], 64;"
        "bar.sync 0; ld.shared.b32 %r10, [S];\n@%p1 " +
            first + between + "@%p2 " + kStore + "@%p2 " + kWaitStore + before +
            barrier + "@%p1 " + kWaitLoad + "@%p1 " + kWaitStore + "@%p1 " +
            kFree,
        160);
    run.options.checkRace = true;
    return run;
  };
  for (const char *first : {kLoad, kStore}) {
    // The other warp may come first, and then has waited.
    auto contains = [&](KernelRun run, const std::string &text) {
      for (run.options.seed = 0; run.options.seed != 8; ++run.options.seed)
        if (getError(run).find(text) != std::string::npos)
          return true;
      return false;
    };
    KernelRun run = makeBody(first, before + after);
    EXPECT_TRUE(contains(run, "race: the tcgen05."));
    for (run.options.seed = 0; run.options.seed != 8; ++run.options.seed)
      EXPECT_NE(getError(run).find("have no barrier between"),
                std::string::npos);
    run = checkingProxies(makeBody(first, before + barrier + after));
    EXPECT_EQ(getError(run), "no error");
    EXPECT_EQ(runKernel(run).warnings.size(), 1u);
    EXPECT_FAILS(checkingStrictly(run), 2, "expected tcgen05.wait::");
    EXPECT_FAILS(checkingProxies(makeBody(first, barrier + after)), 2,
                 " without tcgen05.fence::before_thread_sync between");
    EXPECT_FAILS(checkingProxies(makeBody(first, before + barrier)), 2,
                 " without tcgen05.fence::after_thread_sync between");
  }
}

TEST(TensorMemoryTest, ColumnsThatOthersReadWithoutAWait) {
  const std::string before = "tcgen05.fence::before_thread_sync;";
  auto makeBody = [&](const std::string &between) {
    KernelRun run = makeTensorRun(
        "shr.u32 %r12, %r0, 5; setp.eq.u32 %p1, %r12, 0;"
        "setp.eq.u32 %p2, %r12, 4; @%p1 "
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S], 64;"
        "bar.sync 0; ld.shared.b32 %r10, [S];\n@%p2 " +
            std::string(kLoad) + between + "@%p1 " + kFree,
        160);
    run.options.checkRace = true;
    return run;
  };
  auto isCaught = [](KernelRun run, const std::string &text) {
    for (run.options.seed = 0; run.options.seed != 8; ++run.options.seed)
      if (getError(run).find(text) != std::string::npos)
        return true;
    return false;
  };
  EXPECT_TRUE(isCaught(makeBody(before),
                       "and this tcgen05.dealloc have no barrier between"));
  EXPECT_FAILS(checkingProxies(makeBody("bar.sync 0;")), 2,
               "and this tcgen05.dealloc have no "
               "tcgen05.fence::before_thread_sync between");
  KernelRun run = checkingProxies(makeBody(before + "bar.sync 0;"));
  EXPECT_EQ(getError(run), "no error");
  EXPECT_EQ(runKernel(run).warnings.size(), 1u);
}

TEST(TensorMemoryTest, FencesBetweenWarps) {
  // Warp 4 reads the lanes that warp 0 wrote.
  std::string before = "tcgen05.fence::before_thread_sync;",
              after = "tcgen05.fence::after_thread_sync;";
  auto makeBody = [&](const std::string &first, const std::string &second,
                      const std::string &between = "bar.sync 0;") {
    std::string body =
        "shr.u32 %r12, %r0, 5; setp.eq.u32 %p1, %r12, 0;"
        "setp.eq.u32 %p2, %r12, 4; and.b32 %r13, %r0, 31;"
        "setp.lt.u32 %p3, %r13, 16; @%p1 "
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S], 64;"
        "bar.sync 0; ld.shared.b32 %r10, [S];\n";
    body += "@%p1 " + std::string(kStore) + "@%p1 " + kWaitStore + first +
            between + second + "@%p2 " + kLoad + "@%p2 " + kWaitLoad + before +
            "bar.sync 0; @%p1 " + kFree;
    return checkingProxies(makeTensorRun(body, 160));
  };
  EXPECT_EQ(getError(makeBody(before, after)), "no error");
  // A fence that comes too late may be enough if the other warp is even later.
  auto isCaught = [](KernelRun run) {
    for (run.options.seed = 0; run.options.seed != 8; ++run.options.seed)
      if (getError(run).find(" without tcgen05.fence::") != std::string::npos)
        return true;
    return false;
  };
  EXPECT_TRUE(isCaught(makeBody("", after)));
  EXPECT_TRUE(isCaught(makeBody(before, "")));
  // Half of the lanes are not enough.
  EXPECT_TRUE(isCaught(makeBody("@%p3 " + before, after)));
  EXPECT_TRUE(isCaught(makeBody(before, "@%p3 " + after)));

  // Without a barrier it is a race in any order.
  KernelRun run = makeBody(before, after, "");
  run.options.checkRace = true;
  for (run.options.seed = 0; run.options.seed != 8; ++run.options.seed)
    EXPECT_NE(getError(run), "no error");
  run = makeBody(before, after);
  run.options.checkRace = true;
  EXPECT_EQ(getError(run), "no error");
}

/// Warp 0 executes `first`, a tcgen05.ld or st, and waits for it; warp 4 stores
/// to the same cells. What comes ahead of these and between them, both execute.
static KernelRun makePairRun(const std::string &first,
                             const std::string &between,
                             const std::string &ahead = "") {
  return checkingRaces(makeTensorRun(
      "shr.u32 %r12, %r0, 5; setp.eq.u32 %p1, %r12, 0;"
      "setp.eq.u32 %p2, %r12, 4; @%p1 "
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S], 64;"
      "st.shared.b32 [S+64], 0; bar.sync 0; ld.shared.b32 %r10, [S];" +
          ahead + "\n@%p1 " + first + "@%p1 " + kWaitStore + "@%p1 " +
          kWaitLoad + between + "@%p2 " + kStore + "@%p2 " + kWaitStore +
          "tcgen05.fence::before_thread_sync; bar.sync 0; @%p1 " + kFree,
      160));
}

static unsigned countSeedsWith(KernelRun run, const std::string &text) {
  unsigned count = 0;
  for (run.options.seed = 0; run.options.seed != 8; ++run.options.seed)
    count += getError(run).find(text) != std::string::npos;
  return count;
}

// PTX ISA, "Specialized inter-thread synchronization for tcgen05 instructions":
// the fences compose with whatever orders execution, be it relaxed.
TEST(TensorMemoryTest, FencesAndRelaxedBarriers) {
  const std::string before = "tcgen05.fence::before_thread_sync;",
                    after = "tcgen05.fence::after_thread_sync;",
                    barrier = "barrier.cluster.arrive.relaxed.aligned;"
                              "barrier.cluster.wait.aligned;";
  for (const char *first : {kLoad, kStore}) {
    KernelRun run =
        checkingProxies(makePairRun(first, before + barrier + after));
    EXPECT_EQ(countSeedsWith(run, "no error"), 8u) << getError(run);
    // The barrier by itself orders nothing, nor does a fence behind it.
    for (const std::string &between :
         {barrier + after, barrier + before + after})
      EXPECT_EQ(countSeedsWith(makePairRun(first, between), "race: "), 8u);
    EXPECT_FAILS(checkingProxies(makePairRun(first, before + barrier)), 4,
                 " without tcgen05.fence::after_thread_sync between");
  }
  // tcgen05.dealloc is synchronous, and needs no fence.
  const std::string free = std::string("@%p2 ") + kLoad + "@%p2 " + kWaitLoad;
  auto makeFreeRun = [&](const std::string &between) {
    return checkingRaces(makeTensorRun(
        "shr.u32 %r12, %r0, 5; setp.eq.u32 %p1, %r12, 0;"
        "setp.eq.u32 %p2, %r12, 4; @%p1 "
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S], 64;"
        "bar.sync 0; ld.shared.b32 %r10, [S];\n" +
            free + between + "@%p1 " + kFree,
        160));
  };
  EXPECT_EQ(getError(checkingProxies(makeFreeRun(before + barrier))),
            "no error");
  EXPECT_EQ(countSeedsWith(makeFreeRun(barrier),
                           "and this tcgen05.dealloc have no barrier between"),
            8u);
}

// Other memory is not ordered by these fences: who reads the address of columns
// needs another barrier.
TEST(TensorMemoryTest, FencesAndSharedMemory) {
  EXPECT_FAILS(
      checkingRaces(makeTensorRun(
          "setp.lt.u32 %p1, %r0, 32; @%p1 "
          "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [S], 64;"
          "tcgen05.fence::before_thread_sync;"
          "barrier.cluster.arrive.relaxed.aligned;"
          "barrier.cluster.wait.aligned; tcgen05.fence::after_thread_sync;\n"
          "@!%p1 ld.shared.b32 %r10, [S];\nbar.sync 0;"
          "ld.shared.b32 %r10, [S]; @%p1 " +
              std::string(kFree),
          64)),
      2, "race: this load of the byte at 0x400");
}

// The example of tcgen05.fence in the PTX ISA: a relaxed flag.
TEST(TensorMemoryTest, FencesAndRelaxedFlags) {
  const std::string before = "tcgen05.fence::before_thread_sync;",
                    after = "tcgen05.fence::after_thread_sync;",
                    set = "@%p1 st.relaxed.cta.shared.b32 [S+64], 1;",
                    wait = "@!%p2 bra W; L: ld.relaxed.cta.shared.b32 %r14, "
                           "[S+64]; setp.ne.u32 %p3, %r14, 1; @%p3 bra L; W: "
                           "bar.warp.sync -1;";
  KernelRun run =
      checkingProxies(makePairRun(kStore, before + set + wait + after));
  EXPECT_EQ(countSeedsWith(run, "no error"), 8u) << getError(run);
  for (const std::string &between :
       {set, std::string("@%p1 st.release.cta.shared.b32 [S+64], 1;")})
    EXPECT_EQ(
        countSeedsWith(makePairRun(kStore, between + wait + after), "race: "),
        8u);
  // What comes between an arrival and the wait is not ordered.
  run = makePairRun(kLoad, "barrier.cluster.wait;" + set + wait + after,
                    "barrier.cluster.arrive;");
  EXPECT_EQ(countSeedsWith(run, "race: "), 8u);
}

TEST(TensorMemoryTest, FormsThatAreRefused) {
  EXPECT_EQ(getTensorLoadError("tcgen05.wait::ld.sync.aligned;", "sm_120a"),
            "expected a target that has tcgen05.wait::ld, got sm_120a");
  EXPECT_EQ(getTensorLoadError("tcgen05.wait::ld.sync.aligned;", "sm_100"),
            "expected a target that has tcgen05.wait::ld, got sm_100");
  EXPECT_EQ(getTensorLoadError("tcgen05.nothing;"),
            "expected an instruction of tcgen05, such as tcgen05.mma");
  EXPECT_EQ(getTensorLoadError("tcgen05.alloc.sync.aligned.b32 [%d0], 32;"),
            "expected .cta_group::1 or .cta_group::2 behind tcgen05.alloc");
  EXPECT_EQ(getTensorLoadError(
                "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
                "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;"),
            "expected .cta_group::1, as other instructions of the function "
            "have, got .cta_group::2");
  EXPECT_EQ(getTensorLoadError("tcgen05.relinquish_alloc_permit.cta_group::1;"),
            "expected .sync.aligned behind tcgen05.relinquish_alloc_permit");
  EXPECT_EQ(
      getTensorLoadError("tcgen05.alloc.cta_group::1.sync.aligned."
                         "shared::cluster.b32 [%r0], 32;"),
      "expected .sync.aligned, .shared::cta or no state space, and .b32 behind "
      "tcgen05.alloc");
  EXPECT_EQ(
      getTensorLoadError("tcgen05.dealloc.cta_group::1.sync.aligned %r0, 32;"),
      "expected .sync.aligned.b32 behind tcgen05.dealloc");
  std::string move = "expected .sync.aligned, a shape such as .32x32b, a count "
                     "such as .x4, and .b32 behind tcgen05.ld";
  EXPECT_EQ(getTensorLoadError("tcgen05.ld.sync.aligned.x1.b32 {%r0}, [%r1];"),
            move);
  EXPECT_EQ(getTensorLoadError("tcgen05.ld.32x32b.x1.b32 {%r0}, [%r1];"), move);
  EXPECT_EQ(getTensorLoadError("tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r0}, "
                               "[%r1];"),
            "expected at most .x32 behind tcgen05.ld.16x256b, got .x64");
  EXPECT_EQ(
      getTensorLoadError("tcgen05.ld.sync.aligned.32x32b.x1.b32 %r0, [%r1];"),
      "expected registers in braces");
  for (const char *twice :
       {"tcgen05.wait::ld.wait::st.sync.aligned;",
        "tcgen05.fence::before_thread_sync.fence::after_thread_sync;",
        "tcgen05.ld.sync.aligned.32x32b.16x64b.x1.b32 {%r0}, [%r1];",
        "tcgen05.ld.sync.aligned.32x32b.x1.x2.b32 {%r0}, [%r1];"})
    EXPECT_EQ(getTensorLoadError(twice).rfind(
                  "not supported in this version: modifier ", 0),
              0u)
        << twice;
  EXPECT_EQ(
      getTensorLoadError("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%d1];"),
      "expected an address in tensor memory: a register of 32 bits in "
      "brackets, and an offset");
  EXPECT_EQ(getTensorLoadError("tcgen05.wait::st;"),
            "expected .sync.aligned behind tcgen05.wait");
}
