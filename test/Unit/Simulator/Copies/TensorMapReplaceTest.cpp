//===- TensorMapReplaceTest.cpp - Tests of changed tensor maps ------------===//
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

/// 16 rows of 16 words, which are 64 bytes apart.
static const std::string kTemplate =
    "u4:SIZES=16x16:PITCH=64:BOX=4x8:SWIZZLE=none";

/// Thread 0 copies T to S.
static std::string copyToShared() {
  std::string text = "mov.b64 %d1, T; @!%p0 bra C;";
  for (unsigned i = 0; i != 128; i += 8)
    text += "ld.param.b64 %d2, [T + " + std::to_string(i) +
            "]; st.shared.b64 [S + " + std::to_string(i) + "], %d2;";
  return text + "\n";
}

/// `field` and its operands behind the address.
static std::string replace(const std::string &field,
                           const std::string &operands) {
  bool isLong = field == "global_address" || field == "global_stride";
  return "tensormap.replace.tile." + field + ".shared::cta.b1024." +
         (isLong ? "b64" : "b32") + " [S], " + operands + ";";
}

/// As in kernels: publishes the map in global memory.
static const std::string kPublish =
    "\nC: bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta"
    ".tensormap::generic.release.gpu.sync.aligned [%buf2], [S], 128;"
    "fence.proxy.tensormap::generic.acquire.gpu [%buf2], 128;\n";

static std::string load(const std::string &coordinates) {
  size_t rank = 1 + std::count(coordinates.begin(), coordinates.end(), ',');
  return "cp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cta.global.tile.mbarrier::complete_tx::bytes [S + 1024], "
         "[%buf2, {" +
         coordinates + "}], [M];";
}

static TensorMapRun makeRun(const std::string &replacements,
                            const std::string &coordinates, unsigned words) {
  TensorMapRun run;
  run.map = kTemplate;
  run.body = copyToShared() + replacements + kPublish +
             loadAndWait(load(coordinates), words * 4) + storeWords(words);
  return run;
}

template <typename Function>
static void expectWords(const TensorMapRun &run, unsigned count,
                        Function function) {
  TensorMapResult result = runTensorMap(run);
  ASSERT_EQ(result.error, "");
  for (unsigned i = 0; i != count; ++i)
    EXPECT_EQ(result.words[1][i], function(i)) << i;
}

TEST(TensorMapReplaceTest, CopyWithoutChanges) {
  TensorMapRun run = makeRun("", "4, 3", 32);
  auto expected = [](unsigned i) { return (3 + i / 8) * 16 + 4 + i % 8; };
  expectWords(run, 32, expected);
  run.options.checkRace = run.options.checkProxy = true;
  expectWords(run, 32, expected);
}

/// The map of rows 16 to 47 of all 64 columns.
static const std::string kOther =
    "add.u64 %d3, %buf0, 4096;" + replace("global_address", "%d3") +
    replace("global_dim", "0, 64") + "mov.u32 %r3, 32;" +
    replace("global_dim", "1, %r3") + replace("global_stride", "0, 256") +
    replace("box_dim", "0, 16") + replace("box_dim", "1, 2");

TEST(TensorMapReplaceTest, AddressSizesAndBox) {
  auto expected = [](unsigned i) { return (19 + i / 16) * 64 + 8 + i % 16; };
  expectWords(makeRun(kOther, "8, 3", 32), 32, expected);
  // Every second row.
  expectWords(makeRun(kOther + replace("box_dim", "1, 4") +
                          replace("element_stride", "1, 2"),
                      "8, 3", 32),
              32,
              [](unsigned i) { return (19 + i / 16 * 2) * 64 + 8 + i % 16; });
  // In global memory.
  TensorMapRun run = makeRun("", "8, 3", 32);
  std::string changes = kOther;
  for (size_t at; (at = changes.find(".shared::cta")) != std::string::npos;)
    changes.replace(at, 12, ".global");
  for (size_t at; (at = changes.find("[S]")) != std::string::npos;)
    changes.replace(at, 3, "[%buf2]");
  run.body.insert(run.body.find("fence.proxy.tensormap"), changes);
  // All lanes change the same map in the same way.
  run.options.checkRace = false;
  expectWords(run, 32, expected);
}

TEST(TensorMapReplaceTest, Rank) {
  expectWords(makeRun(replace("rank", "0"), "4", 8), 8,
              [](unsigned i) { return 4 + i; });
  // 4 of 16 rows of 16 words become a dimension of their own.
  expectWords(makeRun(replace("rank", "2") + replace("global_dim", "1, 4") +
                          replace("global_dim", "2, 4") +
                          replace("global_stride", "1, 256") +
                          replace("box_dim", "1, 2") +
                          replace("box_dim", "2, 2") +
                          replace("element_stride", "2, 1"),
                      "4, 1, 2", 32),
              32, [](unsigned i) {
                return (2 + i / 16) * 64 + (1 + i / 8 % 2) * 16 + 4 + i % 8;
              });
}

TEST(TensorMapReplaceTest, TypeFillAndSwizzle) {
  expectWords(makeRun(replace("elemtype", "7") + replace("fill_mode", "1"),
                      "12, 0", 32),
              32, [](unsigned i) {
                return i % 8 < 4 ? i / 8 * 16 + 12 + i % 8 : 0x7FF77FF7;
              });
  const std::string wide = kOther + replace("box_dim", "0, 32") +
                           replace("box_dim", "1, 8") +
                           replace("swizzle_mode", "3");
  expectWords(makeRun(wide, "0, 0", 256), 256, [](unsigned i) {
    unsigned row = i / 32, chunk = i % 32 / 4 ^ row;
    return (16 + row) * 64 + chunk * 4 + i % 4;
  });
  expectWords(makeRun(wide + replace("swizzle_atomicity", "1"), "0, 0", 256),
              256, [](unsigned i) {
                unsigned row = i / 32, chunk = i % 32 / 8 ^ row % 4;
                return (16 + row) * 64 + chunk * 8 + i % 8;
              });
}

/// Memory has to hold what a copy touches, and no more.
TEST(TensorMapReplaceTest, LargerThanMemory) {
  const std::string larger = replace("global_dim", "1, 257");
  expectWords(makeRun(larger, "0, 0", 32), 32,
              [](unsigned i) { return i / 8 * 16 + i % 8; });
  std::string error = runTensorMap(makeRun(larger, "0, 255", 32)).error;
  EXPECT_NE(error.find("expected a box within the 16384 bytes of memory behind "
                       "the start of the tensor, got one with 32 bytes from "
                       "byte 16384 on"),
            std::string::npos)
      << error;
}

static std::string getError(const std::string &replacements) {
  return runTensorMap(makeRun(replacements, "0, 0", 32)).error;
}

TEST(TensorMapReplaceTest, Errors) {
  static const struct {
    std::string replacements, message;
  } rows[] = {
      {replace("box_dim", "0, 257"),
       "expected a value of .box_dim from 1 to 256, got 257"},
      {replace("rank", "5"), "expected a value of .rank from 0 to 4, got 5"},
      {replace("box_dim", "5, 1"), "expected a dimension from 0 to 4, got 5"},
      {replace("elemtype", "16"),
       "expected a number of .elemtype from 0 to 15, got 16"},
      {replace("interleave_layout", "1"),
       "not supported in this version: tensor maps with an interleaved layout"},
      {replace("global_address", "4096"),
       "expected the address of a tensor in global memory, got 0x1000"},
      {"add.u64 %d3, %buf0, 4;" + replace("global_address", "%d3"),
       "expected the address of a tensor to be a multiple of 16"},
      {replace("rank", "2"), "expected a box in each of 3 dimensions"},
      {replace("fill_mode", "1"),
       "expected a floating-point type with FILL=nan, got u4"},
      {replace("swizzle_atomicity", "3"),
       "expected a swizzle of 128 bytes with this atomicity"},
      {"st.shared.b8 [S + 3], 5;" + replace("rank", "1"),
       "expected a tensor map at 0x400, got other bytes"},
      {"st.shared.b8 [S + 3], 7;",
       "expected a tensor map at 0x400, got other bytes"},
  };
  for (const auto &row : rows)
    EXPECT_NE(getError(row.replacements).find(row.message), std::string::npos)
        << row.message << "\n"
        << getError(row.replacements);
  TensorMapRun run = makeRun(replace("rank", "1"), "0, 0", 32);
  run.target = "sm_100";
  EXPECT_NE(runTensorMap(run).error.find(
                "expected a target with tensormap.replace.tile.rank, such as "
                "sm_100a, got sm_100"),
            std::string::npos);
}
