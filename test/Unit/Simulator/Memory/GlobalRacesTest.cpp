//===- GlobalRacesTest.cpp - Tests of races in global memory --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program runs with several seeds: a race must be found with all of them,
// and ordered accesses must be accepted with all of them.
//
//===----------------------------------------------------------------------===//

#include "KernelTesting.h"

using namespace mlir::blockscale::sim;
using namespace kerneltest;

/// %r0 is the thread of the block, %r1 the block, %r2 the thread of the grid;
/// %d0 is the address of word 0, %d1 that of word %r2 of 1024. %p0: thread 0,
/// %p1: block 0.
static KernelRun makeRun(const std::string &body, unsigned blocks = 2,
                         unsigned threads = 64) {
  KernelRun run;
  run.blocks = blocks;
  run.threads = threads;
  run.buffers = {zeros<uint32_t>(1024)};
  run.body = "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x;"
             "mad.lo.u32 %r2, %r1, %r3, %r0; mov.b64 %d0, %buf0;"
             "mad.wide.u32 %d1, %r2, 4, %d0; setp.eq.u32 %p0, %r0, 0;"
             "setp.eq.u32 %p1, %r1, 0;" +
             body;
  return run;
}

/// The seeds of four that have a race.
static unsigned countRaces(const KernelRun &run) {
  unsigned count = 0;
  for (uint64_t seed = 0; seed != 4; ++seed) {
    KernelRun seeded = run;
    seeded.options.seed = seed;
    // The result does not depend on how many groups run at the same time.
    seeded.options.jobs = 1 + seed % 2 * 3;
    std::string error = runKernel(seeded).error;
    bool isRace = error.find(": race: ") != std::string::npos;
    EXPECT_TRUE(isRace || error.empty()) << error;
    count += isRace;
  }
  return count;
}

static void expectRace(const std::string &body, unsigned blocks = 2) {
  EXPECT_EQ(countRaces(makeRun(body, blocks)), 4u) << body;
}

static void expectNone(const std::string &body, unsigned blocks = 2) {
  EXPECT_EQ(countRaces(makeRun(body, blocks)), 0u) << body;
}

TEST(GlobalRacesTest, BetweenBlocks) {
  // Each thread stores to its own word, and then all to one word.
  expectNone("st.global.u32 [%d1], %r2;");
  expectRace("st.global.u32 [%d0], %r1;");
  // Stores of the same value: the outcome does not depend on the order.
  expectNone("st.global.u32 [%d0], 5;");
  expectNone("st.global.u32 [%d0+4], 5; ld.global.u32 %r4, [%d1+1024];");
  // A load of a word that the other block stores, before or after its own
  // store.
  expectRace("ld.global.u32 %r4, [%d1+128]; st.global.u32 [%d1], 1;");
  expectRace("st.global.u32 [%d1], 1; ld.global.u32 %r4, [%d1+128];");
  expectNone("ld.global.u32 %r4, [%d1+1024]; st.global.u32 [%d1], 1;");
  // Loads alone are no race.
  expectNone("ld.global.u32 %r4, [%d0]; st.global.u32 [%d1+512], 1;");
}

TEST(GlobalRacesTest, BytesAreToldApart) {
  const std::string byte = "cvt.u64.u32 %d2, %r2; add.u64 %d2, %d0, %d2;";
  expectNone(byte + "st.global.u8 [%d2], %r2;");
  expectRace(byte + "st.global.u8 [%d2], %r2; ld.global.u8 %s0, [%d2+64];");
  // A word over bytes of two threads of two blocks.
  expectRace(byte + "st.global.u8 [%d2], 1; add.u64 %d3, %d0, 60;"
                    "@%p0 ld.global.v2.u32 {%r4, %r5}, [%d3+4];");
  expectNone(byte + "st.global.u8 [%d2], 1;"
                    "@%p0 ld.global.v2.u32 {%r4, %r5}, [%d0+2048];");
}

TEST(GlobalRacesTest, WithinABlock) {
  const std::string store = "st.global.u32 [%d1], %r2;";
  // The neighbour's word: of the other lane, of the other warp.
  const std::string lane = "xor.b32 %r4, %r2, 1;"
                           "mad.wide.u32 %d2, %r4, 4, %d0;"
                           "ld.global.u32 %r5, [%d2];";
  const std::string warp = "xor.b32 %r4, %r2, 32;"
                           "mad.wide.u32 %d2, %r4, 4, %d0;"
                           "ld.global.u32 %r5, [%d2];";
  expectRace(store + lane, 1);
  expectRace(store + warp, 1);
  expectNone(store + "bar.warp.sync -1;" + lane, 1);
  expectRace(store + "bar.warp.sync -1;" + warp, 1);
  expectNone(store + "bar.sync 0;" + warp, 1);
  // Its own word again.
  expectNone(store + "ld.global.u32 %r5, [%d1];", 1);
}

TEST(GlobalRacesTest, WithinAnInstruction) {
  // Memory has the value of the last lane; others stored theirs.
  EXPECT_EQ(countRaces(makeRun("st.global.u32 [%d0], %r0;", 1, 32)), 4u);
  EXPECT_EQ(countRaces(makeRun("st.global.v2.u32 [%d0], {1, %r0};", 1, 2)), 4u);
  EXPECT_EQ(countRaces(makeRun("st.global.u32 [%d0], 1;", 1, 32)), 0u);
  EXPECT_EQ(countRaces(makeRun("st.global.v2.u32 [%d0], {1, 2};", 1, 32)), 0u);
  EXPECT_EQ(
      runKernel(makeRun("\nst.global.v4.u32 [%d0], {7, 8, %r0, 9};", 1, 2))
          .error,
      "line 2, block (0,0,0), warp 0, lane 1: race: this store of the byte at "
      "0x100000000108 in global memory (byte 8 of argument 0) and the store in "
      "line 2 by lane 0 of warp 0 have no barrier between");
}

TEST(GlobalRacesTest, MessageNamesBothSides) {
  EXPECT_EQ(runKernel(makeRun("\nst.global.u32 [%d1], %r2;\n"
                              "@%p0 ld.global.u32 %r4, [%d0+4];",
                              1, 32))
                .error,
            "line 3, block (0,0,0), warp 0, lane 0: race: this load of the "
            "byte at 0x100000000104 in global memory (byte 4 of argument 0) "
            "and the store in line 2 by lane 1 of warp 0 have no barrier "
            "between");
  EXPECT_EQ(runKernel(makeRun("\nst.global.u32 [%d0+8], %r1;", 3, 1)).error,
            "line 2, block (1,0,0), warp 0, lane 0: race: this store of the "
            "byte at 0x100000000108 in global memory (byte 8 of argument 0) "
            "and the store in line 2 by lane 0 of warp 0 of block (0,0,0) have "
            "nothing between that orders the blocks");
}

TEST(GlobalRacesTest, Atomics) {
  expectNone("atom.global.add.u32 %r4, [%d0], 1; red.global.add.u32 [%d0], 2;");
  // One thread stores to a word to which all add.
  expectRace("@%p1 st.global.u32 [%d0], %r0; red.global.add.u32 [%d0], 1;");
  // A load of a bound.
  expectNone("ld.global.u32 %r4, [%d0]; red.global.max.u32 [%d0], %r2;");
}

/// Block 0 stores and raises a flag, block 1 waits for it and loads.
static std::string makeFlag(const std::string &raise, const std::string &look) {
  return "@!%p0 bra E; @!%p1 bra W; st.global.u32 [%d0], 7; " + raise +
         " bra E; W: " + look +
         " setp.eq.u32 %p2, %r4, 0; @%p2 bra W; fence.acq_rel.gpu;"
         "ld.global.u32 %r5, [%d0]; st.global.u32 [%d0+8], %r5; E:";
}

TEST(GlobalRacesTest, FlagsOrderBlocks) {
  expectNone(makeFlag("st.release.gpu.global.u32 [%d0+4], 1;",
                      "ld.acquire.gpu.global.u32 %r4, [%d0+4];"));
  expectNone(makeFlag("fence.acq_rel.gpu; st.volatile.global.u32 [%d0+4], 1;",
                      "ld.volatile.global.u32 %r4, [%d0+4];"));
  expectNone(makeFlag("membar.gl; red.global.add.u32 [%d0+4], 1;",
                      "atom.global.or.b32 %r4, [%d0+4], 0;"));
  // Stores after the flag are not ordered.
  expectRace("@!%p0 bra E; @!%p1 bra W; st.release.gpu.global.u32 [%d0+4], 1;"
             "st.global.u32 [%d0], 7; bra E;"
             "W: ld.acquire.gpu.global.u32 %r4, [%d0+4];"
             "setp.eq.u32 %p2, %r4, 0; @%p2 bra W; ld.global.u32 %r5, [%d0];"
             "E:");
}

TEST(GlobalRacesTest, TheLastBlockSumsUp) {
  // As in threadFenceReduction: the block that counts last loads the stores of
  // all.
  expectNone("st.global.u32 [%d1+64], %r2; membar.gl; bar.sync 0;"
             ".shared .u32 S; @!%p0 bra J;"
             "atom.global.inc.u32 %r4, [%d0], 100; st.shared.u32 [S], %r4;"
             "J: bar.sync 0; ld.shared.u32 %r4, [S]; setp.ne.u32 %p2, %r4, 3;"
             "@%p2 bra E; xor.b32 %r5, %r2, 127;"
             "mad.wide.u32 %d2, %r5, 4, %d0; ld.global.u32 %r6, [%d2+64];"
             "st.global.u32 [%d1+2048], %r6; @%p0 st.global.u32 [%d0], 0; E:",
             4);
}

TEST(GlobalRacesTest, LocksInSharedMemory) {
  const std::string body = ".shared .u32 L, S; @%p0 st.shared.u32 [L], 0;"
                           "@%p0 st.shared.u32 [S], 0; bar.sync 0;"
                           "and.b32 %r4, %r0, 31; setp.ne.u32 %p2, %r4, 0;"
                           "@%p2 bra E; W: atom.shared.cas.b32 %r5, [L], 0, 1;"
                           "setp.ne.u32 %p3, %r5, 0; @%p3 bra W;";
  const std::string add = "ld.shared.u32 %r6, [S]; add.u32 %r6, %r6, 1;"
                          "st.shared.u32 [S], %r6;";
  const std::string unlock = "atom.shared.exch.b32 %r7, [L], 0; E:";
  expectNone(body + "membar.cta;" + add + "membar.cta;" + unlock, 1);
  // Without fences the lock orders nothing.
  KernelRun run = makeRun(body + add + unlock, 1);
  EXPECT_NE(countRaces(run), 0u);
}

TEST(GlobalRacesTest, IsTheDefault) {
  KernelRun run = makeRun("st.global.u32 [%d0], %r1;");
  EXPECT_NE(runKernel(run).error, "");
  run.options.checkRace = false;
  EXPECT_EQ(runKernel(run).error, "");
}
