//===- RegisterLimitsTest.cpp - Tests of setmaxnreg -----------------------===//
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

static KernelRun makeGroups(const std::string &body, unsigned threads = 256) {
  return makeRun("shr.u32 %r4, %r0, 7; shr.u32 %r5, %r0, 5;"
                 "setp.eq.u32 %p0, %r4, 0; setp.eq.u32 %p1, %r5, 1;" +
                     body,
                 threads);
}

static unsigned countGoodRuns(KernelRun run) {
  return countGoodSeeds(run, std::vector<uint32_t>(1024));
}

TEST(RegisterLimitsTest, WarpgroupsChangeTheirLimits) {
  KernelRun run = makeGroups("@%p0 bra P; setmaxnreg.inc.sync.aligned.u32 232;"
                             "bra E; P: setmaxnreg.dec.sync.aligned.u32 40;"
                             "bar.sync 1, 128;"
                             "setmaxnreg.dec.sync.aligned.u32 24; E:");
  EXPECT_EQ(countGoodRuns(run), 10u);
  run.directives = ".maxnreg 168";
  EXPECT_EQ(countGoodRuns(run), 10u);
  // A change to the current number does nothing.
  run = makeGroups("setmaxnreg.inc.sync.aligned.u32 168; bar.sync 0;"
                   "setmaxnreg.dec.sync.aligned.u32 168;",
                   /*threads=*/128);
  run.directives = ".maxnreg 168";
  EXPECT_EQ(countGoodRuns(run), 10u);
}

TEST(RegisterLimitsTest, WrongDirection) {
  KernelRun run = makeGroups("\nsetmaxnreg.dec.sync.aligned.u32 232;");
  run.directives = ".maxnreg 168";
  EXPECT_FAILS(run, 2,
               "setmaxnreg.dec expected at most 168 registers, which a thread "
               "has, got 232");
  EXPECT_FAILS(makeGroups("setmaxnreg.inc.sync.aligned.u32 232; bar.sync 0;\n"
                          "setmaxnreg.inc.sync.aligned.u32 224;"),
               2,
               "setmaxnreg.inc expected at least 232 registers, which a thread "
               "has, got 224");
}

TEST(RegisterLimitsTest, WarpsOfAWarpgroupDoTheSame) {
  KernelRun differing =
      makeGroups("@%p1 bra P; setmaxnreg.inc.sync.aligned.u32 232;"
                 "bra E; P: setmaxnreg.inc.sync.aligned.u32 240; E:");
  std::string error = getError(checkingStrictly(differing));
  EXPECT_NE(error.find("setmaxnreg expected .inc to 2"), std::string::npos)
      << error;
  EXPECT_NE(error.find("as another warp of the warpgroup has in line 1, got "
                       ".inc to 2"),
            std::string::npos)
      << error;
  // Shipped kernels do it.
  EXPECT_EQ(getError(differing), "no error");
  EXPECT_EQ(runKernel(differing).warnings.size(), 1u);
  EXPECT_FAILS(makeGroups("@%p1 exit;\nsetmaxnreg.inc.sync.aligned.u32 232;"),
               2,
               "setmaxnreg expected all warps of the warpgroup, but warp 1 "
               "ends without executing it");
  // Nothing orders warp 1's first change before it.
  error = getError(makeGroups("@%p1 bar.sync 1, 64;\n"
                              "setmaxnreg.dec.sync.aligned.u32 64;\n"
                              "setmaxnreg.dec.sync.aligned.u32 56;"));
  EXPECT_EQ(error.rfind("line 3, ", 0), 0u) << error;
  EXPECT_NE(error.find("setmaxnreg expected that all warps of the warpgroup "
                       "have executed that in line 2 and synchronized, but "
                       "warp "),
            std::string::npos)
      << error;
  EXPECT_FAILS(makeGroups("setp.eq.u32 %p2, %r0, 40;\n"
                          "@!%p2 setmaxnreg.inc.sync.aligned.u32 232;"),
               2,
               "setmaxnreg expected all lanes of the warp, but lane 8 does not "
               "take part");
}

/// Four warpgroups of five want more registers, and all meet.
static KernelRun makeFiveGroups(unsigned most, unsigned least) {
  return makeGroups("@%p0 bra P;\nsetmaxnreg.inc.sync.aligned.u32 " +
                        std::to_string(most) +
                        ";\nbra E; P: setmaxnreg.dec.sync.aligned.u32 " +
                        std::to_string(least) + "; E: bar.sync 0;",
                    /*threads=*/640);
}

TEST(RegisterLimitsTest, RegistersOfABlock) {
  // 96 for each of 640 threads.
  EXPECT_EQ(countGoodRuns(makeFiveGroups(112, 32)), 10u);
  std::string error = getError(makeFiveGroups(120, 32));
  EXPECT_NE(error.find("deadlock"), std::string::npos) << error;
  EXPECT_NE(error.find("waits for 768 registers (setmaxnreg.inc to 120), of "
                       "which 512 are free in line 2"),
            std::string::npos)
      << error;
  // A .dec to more than the assumed number does not wait.
  EXPECT_EQ(countGoodRuns(makeFiveGroups(96, 104)), 10u);
  KernelRun declared = makeFiveGroups(112, 32);
  declared.directives = ".maxnreg 90";
  EXPECT_EQ(countGoodRuns(declared), 10u);
  declared.directives = ".maxnreg 88";
  EXPECT_NE(getError(declared).find(
                "waits for 768 registers (setmaxnreg.inc to 112), of which "),
            std::string::npos)
      << getError(declared);
}

TEST(RegisterLimitsTest, RegistersThatComeLater) {
  // Registers of the first warpgroup, after its second change or its end.
  EXPECT_EQ(countGoodRuns(makeGroups("@%p0 bra P;\nsetmaxnreg.inc.sync.aligned."
                                     "u32 120;\nbra E; P: bar.sync 1, 128;"
                                     "setmaxnreg.dec.sync.aligned.u32 64;"
                                     "bar.sync 1, 128;"
                                     "setmaxnreg.dec.sync.aligned.u32 24;"
                                     "E: bar.sync 0;",
                                     /*threads=*/512)),
            10u);
  EXPECT_EQ(countGoodRuns(makeGroups("@%p0 bra E;\nsetmaxnreg.inc.sync.aligned."
                                     "u32 160; E:",
                                     /*threads=*/512)),
            10u);
}

TEST(RegisterLimitsTest, FormsThatAreRefused) {
  for (const char *count : {"16", "264", "100", "0"})
    EXPECT_EQ(getLoadError("setmaxnreg.inc.sync.aligned.u32 " +
                           std::string(count) + ";"),
              "expected a multiple of 8 from 24 to 256 as the number of "
              "registers, got " +
                  std::string(count));
  EXPECT_EQ(getLoadError("setmaxnreg.inc.sync.aligned.u32 %r0;"),
            "expected a constant for the number of registers");
  const char *form = "expected .inc.sync.aligned.u32 or .dec.sync.aligned.u32 "
                     "behind setmaxnreg";
  EXPECT_EQ(getLoadError("setmaxnreg.inc.sync.u32 40;"), form);
  EXPECT_EQ(getLoadError("setmaxnreg.sync.aligned.u32 40;"), form);
  for (const char *target : {"sm_90", "sm_100", "sm_80"})
    EXPECT_EQ(getLoadError("setmaxnreg.inc.sync.aligned.u32 40;", target),
              "expected a target such as sm_90a for setmaxnreg, got " +
                  std::string(target));
  for (const char *target : {"sm_90a", "sm_100f", "sm_120a"})
    EXPECT_NE(getLoadError("setmaxnreg.inc.sync.aligned.u32 16;", target)
                  .find("multiple of 8"),
              std::string::npos);
}
