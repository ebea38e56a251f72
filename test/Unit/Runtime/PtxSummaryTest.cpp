//===- PtxSummaryTest.cpp - Tests of what is found in PTX -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/PtxSummary.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;

using Sizes = std::vector<uint64_t>;

/// The sizes of the parameters of `.entry k` with this behind its name.
static std::optional<Sizes> getSizes(const std::string &rest) {
  PtxSummary ptx = summarizePtx(".visible .entry k" + rest);
  EXPECT_EQ(ptx.entries.size(), 1u);
  return ptx.lookup("k") ? ptx.lookup("k")->paramSizes : std::nullopt;
}

TEST(PtxSummaryTest, FindsDirectives) {
  PtxSummary ptx = summarizePtx("// .version 1.0\n/* .target sm_1\n*/"
                                ".version 8.7\n.target sm_120a, debug\n"
                                ".file 1 \".entry no\"\n"
                                ".extern .entry a(.param .u32 x);\n"
                                ".weak .entry b()\n{ ret; }\n.entry a(\n"
                                ".param .u64 x) { }");
  EXPECT_EQ(ptx.version, "8.7");
  EXPECT_EQ(ptx.target, "sm_120a");
  ASSERT_EQ(ptx.entries.size(), 2u);
  EXPECT_EQ(ptx.entries[0].name, "a");
  EXPECT_EQ(ptx.entries[1].name, "b");
  EXPECT_EQ(ptx.lookup("no"), nullptr);
}

TEST(PtxSummaryTest, FindsSizes) {
  EXPECT_EQ(getSizes("(.param .u64 .ptr .global .align 16 a, .param .f16 b)"),
            (Sizes{8, 2}));
  EXPECT_EQ(getSizes("(.param .align 64 .b8 a[128] , .param .b32 b[2])"),
            (Sizes{128, 8}));
  EXPECT_EQ(getSizes("( // ) , \n .param .pred /* ) */ )"), std::nullopt);
  EXPECT_EQ(getSizes("()"), Sizes());
  EXPECT_EQ(getSizes(" .maxntid 1 { ret; }"), Sizes());
}

TEST(PtxSummaryTest, AdmitsWhatItDoesNotKnow) {
  for (const char *rest :
       {"(.param .texref t)", "(.param .u32 a", "(.param .u32 a[])",
        "(.param .b8 a[99999999])", "(.param .b8 a[60000][60000][60000])",
        "(.reg .u32 a)", "(.param .u32 a,)", "(.param .b8 a[0])", "("})
    EXPECT_EQ(getSizes(rest), std::nullopt) << rest;
  EXPECT_TRUE(summarizePtx("").entries.empty());
  EXPECT_TRUE(summarizePtx("/* .entry a").entries.empty());
  EXPECT_TRUE(summarizePtx("\" .entry a").entries.empty());
  EXPECT_TRUE(summarizePtx(".entry").entries.empty());
}

TEST(PtxSummaryTest, TargetsOfCards) {
  EXPECT_TRUE(isTargetOfCard("sm_80", 90));
  EXPECT_TRUE(isTargetOfCard("sm_90", 90));
  EXPECT_FALSE(isTargetOfCard("sm_100", 90));
  EXPECT_TRUE(isTargetOfCard("sm_90a", 90));
  EXPECT_FALSE(isTargetOfCard("sm_90a", 100));
  EXPECT_FALSE(isTargetOfCard("sm_120a", 121));
  EXPECT_TRUE(isTargetOfCard("sm_120f", 121));
  EXPECT_FALSE(isTargetOfCard("sm_121f", 120));
  EXPECT_FALSE(isTargetOfCard("sm_100f", 120));
  EXPECT_TRUE(isTargetOfCard("", 90));
  EXPECT_TRUE(isTargetOfCard("sm_x", 90));
}
