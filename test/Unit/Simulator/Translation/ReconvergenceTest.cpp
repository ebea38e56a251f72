//===- ReconvergenceTest.cpp - Tests of points of reconvergence -----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translation/Reconvergence.h"
#include "Ptx/PtxParserTesting.h"

using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::ptxtest;

/// Where lanes that diverge at instruction `branch` reconverge.
static Index getMeeting(const std::string &body, Index branch) {
  Module module = parseBody(".reg .pred p; .reg .b32 r; " + body);
  return computeReconvergence(module.functions[0])[branch];
}

TEST(ReconvergenceTest, IfAndElse) {
  // 0: branch, 1: then, 2: bra, 3: else, 4: join.
  const std::string body = "@p bra E; mov.b32 r, 1; bra J; E: mov.b32 r, 2; "
                           "J: mov.b32 r, 3; ret;";
  EXPECT_EQ(getMeeting(body, 0), 4u);
  EXPECT_EQ(getMeeting(body, 1), 2u);
  EXPECT_EQ(getMeeting(body, 2), 4u);
  EXPECT_EQ(getMeeting(body, 5), kFunctionEnd);
}

TEST(ReconvergenceTest, LoopsReconvergeBehindThem) {
  EXPECT_EQ(getMeeting("L: mov.b32 r, 1; @p bra L; mov.b32 r, 2; ret;", 1), 2u);
  // A loop that is left from two statements, 1 and 3, which meet behind it.
  const std::string body = "L: mov.b32 r, 1; @p bra X; mov.b32 r, 2; "
                           "@p bra X; bra L; X: mov.b32 r, 3; ret;";
  EXPECT_EQ(getMeeting(body, 1), 5u);
  EXPECT_EQ(getMeeting(body, 3), 5u);
}

TEST(ReconvergenceTest, NestedBranches) {
  const std::string body =
      "@p bra E; @p bra I; mov.b32 r, 1; I: mov.b32 r, 2; bra J; "
      "E: mov.b32 r, 3; J: mov.b32 r, 4; ret;";
  EXPECT_EQ(getMeeting(body, 0), 6u);
  EXPECT_EQ(getMeeting(body, 1), 3u);
}

TEST(ReconvergenceTest, LanesThatExitAreNotWaitedFor) {
  // The remaining lanes reconverge directly behind the exit.
  EXPECT_EQ(getMeeting("@p exit; mov.b32 r, 1; ret;", 0), 1u);
  EXPECT_EQ(getMeeting("@p ret; mov.b32 r, 1; ret;", 0), 1u);
  // A branch to a return: both paths share only the end.
  EXPECT_EQ(getMeeting("@p bra X; mov.b32 r, 1; ret; X: ret;", 0),
            kFunctionEnd);
  // Nor do they wait for others in order to leave together.
  for (const char *exit : {"ret", "exit"})
    EXPECT_EQ(
        getMeeting(std::string("@p bra X; mov.b32 r, 1; X: ") + exit + ";", 0),
        kFunctionEnd);
}

TEST(ReconvergenceTest, WaysOut) {
  auto leads = [](const std::string &body, Index instruction) {
    Module module = parseBody(".reg .pred p; .reg .b32 r; " + body);
    return leadsToExit(module.functions[0], instruction);
  };
  EXPECT_TRUE(leads("mov.b32 r, 1; exit;", 0));
  EXPECT_TRUE(leads("mov.b32 r, 1;", 0));
  EXPECT_TRUE(leads("bra X; Y: ret; X: mov.b32 r, 1; bra Y;", 0));
  EXPECT_FALSE(leads("mov.b32 r, 1; @p bra X; X: ret;", 0));
  EXPECT_FALSE(leads("L: mov.b32 r, 1; bra L;", 0));
}

TEST(ReconvergenceTest, Switches) {
  const std::string body =
      "T: .branchtargets A, B, C; brx.idx r, T; A: mov.b32 r, 1; bra J; "
      "B: mov.b32 r, 2; C: mov.b32 r, 3; J: mov.b32 r, 4; ret;";
  EXPECT_EQ(getMeeting(body, 0), 5u);
}

TEST(ReconvergenceTest, LoopsWithoutAnEnd) {
  EXPECT_EQ(getMeeting("@p bra L; ret; L: bra L;", 2), kFunctionEnd);
}

TEST(ReconvergenceTest, LongPathsToTheJoin) {
  // Many branches reconverge at the end of a long chain of blocks.
  constexpr unsigned kCount = 20000;
  std::string body;
  for (unsigned i = 0; i != kCount; ++i)
    body += "@p bra X0; bra X" + std::to_string(kCount) + "; ";
  for (unsigned i = 0; i != kCount; ++i)
    body += "X" + std::to_string(i) + ": bra X" + std::to_string(i + 1) + "; ";
  body += "X" + std::to_string(kCount) + ": mov.b32 r, 1; ret;";
  EXPECT_EQ(getMeeting(body, 0), 3 * kCount);
}
