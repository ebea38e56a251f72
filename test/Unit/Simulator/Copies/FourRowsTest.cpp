//===- FourRowsTest.cpp - Tests of gather4 and scatter4 -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMapTesting.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::kerneltest;

/// All of buffer 0; a box of one row of 32 words.
static std::string makeMap(const std::string &swizzle) {
  return "u4:SIZES=64x64:PITCH=256:BOX=1x32:SWIZZLE=" + swizzle;
}

static std::string gather(const std::string &coordinates,
                          const std::string &space = "shared::cta") {
  return "cp.async.bulk.tensor.2d." + space +
         ".global.tile::gather4.mbarrier::complete_tx::bytes [S + 1024], [T, "
         "{" +
         coordinates + "}], [M];";
}

static const std::string kScatter =
    "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group ";

static TensorMapRun makeGather(const std::string &coordinates,
                               const std::string &swizzle = "none",
                               const std::string &space = "shared::cta") {
  TensorMapRun run;
  run.map = makeMap(swizzle);
  run.body =
      loadAndWait(gather(coordinates, space), 4 * 32 * 4) + storeWords(128);
  return run;
}

static constexpr unsigned kRows[] = {40, 3, 3, 63};

TEST(FourRowsTest, Gather) {
  for (const char *space : {"shared::cta", "shared::cluster"}) {
    TensorMapResult result =
        runTensorMap(makeGather("16, 40, 3, 3, 63", "none", space));
    ASSERT_EQ(result.error, "");
    for (unsigned i = 0; i != 128; ++i)
      EXPECT_EQ(result.words[1][i], kRows[i / 32] * 64 + 16 + i % 32) << i;
  }
}

TEST(FourRowsTest, GatherWithSwizzle) {
  TensorMapResult result = runTensorMap(makeGather("16, 40, 3, 3, 63", "128"));
  ASSERT_EQ(result.error, "");
  for (unsigned i = 0; i != 128; ++i) {
    unsigned row = i / 32, column = (i % 32 / 4 ^ row) * 4 + i % 4;
    EXPECT_EQ(result.words[1][i], kRows[row] * 64 + 16 + column) << i;
  }
}

TEST(FourRowsTest, GatherBeyondTheTensor) {
  TensorMapResult result = runTensorMap(makeGather("48, -1, 5, 64, 6"));
  ASSERT_EQ(result.error, "");
  for (unsigned i = 0; i != 128; ++i) {
    bool isInside = i / 32 % 2 == 1 && i % 32 < 16;
    unsigned row = i / 32 == 1 ? 5 : 6;
    EXPECT_EQ(result.words[1][i], isInside ? row * 64 + 48 + i % 32 : 0u) << i;
  }
}

/// Words 0 to 127 at S + 1024 are 10000 and up, and are scattered to rows.
static TensorMapRun makeScatter(const std::string &store) {
  TensorMapRun run;
  run.map = makeMap("none");
  run.body =
      "mov.u32 %r10, S; mad.lo.u32 %r10, %r0, 4, %r10; add.u32 %r11, %r0, "
      "10000; st.shared.b32 [%r10 + 1024], %r11; add.u32 %r11, %r11, 32;"
      "st.shared.b32 [%r10 + 1152], %r11; add.u32 %r11, %r11, 32;"
      "st.shared.b32 [%r10 + 1280], %r11; add.u32 %r11, %r11, 32;"
      "st.shared.b32 [%r10 + 1408], %r11; fence.proxy.async; bar.sync 0;"
      "@%p0 " +
      store +
      " @%p0 cp.async.bulk.commit_group; @%p0 cp.async.bulk.wait_group 0;";
  return run;
}

TEST(FourRowsTest, Scatter) {
  for (bool isReduction : {false, true}) {
    std::string store =
        isReduction ? "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add"
                      ".tile::scatter4.bulk_group "
                    : kScatter;
    // The third row is outside of the tensor.
    TensorMapResult result = runTensorMap(
        makeScatter(store + "[T, {16, 40, 3, 64, 63}], [S + 1024];"));
    ASSERT_EQ(result.error, "");
    for (unsigned i = 0; i != 4096; ++i) {
      unsigned row = i / 64, column = i % 64, expected = i;
      unsigned from = row == 40 ? 0 : row == 3 ? 1 : row == 63 ? 3 : 4;
      if (from != 4 && column >= 16 && column < 48)
        expected = (isReduction ? i : 0) + 10000 + from * 32 + column - 16;
      ASSERT_EQ(result.words[0][i], expected) << i;
    }
  }
}

static std::string getError(TensorMapRun run, const char *target = "sm_100a") {
  run.target = target;
  return runTensorMap(run).error;
}

#define EXPECT_MESSAGE(error, text)                                            \
  EXPECT_NE((error).find(text), std::string::npos) << (error)

TEST(FourRowsTest, Errors) {
  TensorMapRun run = makeGather("16, 40, 3, 3, 63");
  EXPECT_MESSAGE(getError(run, "sm_90a"),
                 "expected a target with .tile::gather4 to this space, such as "
                 "sm_100a, got sm_90a");
  EXPECT_EQ(getError(run, "sm_120"), "");
  EXPECT_MESSAGE(
      getError(makeGather("16, 40, 3, 3, 63", "none", "shared::cluster"),
               "sm_120a"),
      "expected a target with .tile::gather4 to this space");
  TensorMapRun prefetch;
  prefetch.map = makeMap("none");
  prefetch.body = "cp.async.bulk.prefetch.tensor.2d.L2.global"
                  ".tile::gather4 [T, {16, 1, 2, 3, 4}];";
  EXPECT_EQ(getError(prefetch), "");
  EXPECT_MESSAGE(getError(prefetch, "sm_120a"),
                 ".tile::gather4 with a prefetch, got sm_120a");
  EXPECT_MESSAGE(getError(makeGather("16, 40, 3, 3")),
                 "expected a vector of 5 elements, got 4");
  run.map = "u4:SIZES=64x64:PITCH=256:BOX=4x32:SWIZZLE=none";
  EXPECT_MESSAGE(getError(run), "expected a tensor map whose box has one row "
                                "with .tile::gather4 and .tile::scatter4, got "
                                "one of 4");
  run.map = "u4:SIZES=1x64x64:PITCH=16384x256:BOX=1x1x32:SWIZZLE=none";
  EXPECT_MESSAGE(getError(run), "expected a tensor map of rank 2");
  EXPECT_MESSAGE(
      getError(makeScatter(kScatter + "[T, {16, 40, 3, -1, 63}], [S + 1024];")),
      "expected coordinates of a store from 0 on, got -1");
  EXPECT_MESSAGE(
      getError(makeScatter("cp.async.bulk.tensor.2d.global.shared::cta"
                           ".tile::gather4.bulk_group [T, {16, 40, 3, 1, 63}], "
                           "[S + 1024];")),
      "expected .tile::gather4 with a load, or .tile::scatter4 with a store");
}
