//===- LaunchInfoTest.cpp - Tests of launch info files --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchInfo.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;

/// Every form that a grid and a parameter can have.
static constexpr std::string_view text =
    R"({"version":1,"target":"sm_120a","kernels":[)"
    R"({"name":"main","grid":[{"ceildiv":[{"arg":4,"dim":1},128]},2,3],)"
    R"("block":[32,4,1],"cluster":[2,1,1],"shared":65536,)"
    R"("params":[{"arg":0},{"result":2},{"size":{"arg":3,"dim":63,"packed":[4,3]}},)"
    R"({"workspace":511}]},)"
    R"({"name":"main__sum","grid":[1,1,1],"block":[1,1,1],"cluster":[1,1,1],)"
    R"("shared":0,"params":[]}],"workspace":512})"
    "\n";

TEST(LaunchInfoTest, ReadsEveryField) {
  Result<LaunchInfo> info = parseLaunchInfo(text);
  ASSERT_TRUE(info) << info.message();
  EXPECT_EQ(info->target, "sm_120a");
  EXPECT_EQ(info->workspace, 512u);
  EXPECT_EQ(info->numArguments(), 5u);
  EXPECT_EQ(info->numResults(), 3u);
  ASSERT_EQ(info->kernels.size(), 2u);
  EXPECT_EQ(info->kernels[1].name, "main__sum");
  EXPECT_TRUE(info->kernels[1].params.empty());

  const KernelLaunch &kernel = info->kernels[0];
  EXPECT_EQ(kernel.name, "main");
  EXPECT_EQ(kernel.block, (Dim3{32, 4, 1}));
  EXPECT_EQ(kernel.cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(kernel.shared, 65536u);
  const auto *quotient = std::get_if<CeilDiv>(&kernel.grid[0]);
  ASSERT_TRUE(quotient);
  EXPECT_EQ(quotient->size.argument, 4u);
  EXPECT_EQ(quotient->size.dimension, 1u);
  EXPECT_EQ(quotient->size.codes, 1u);
  EXPECT_EQ(quotient->size.bytes, 1u);
  EXPECT_EQ(quotient->divisor, 128u);
  EXPECT_EQ(std::get<uint32_t>(kernel.grid[1]), 2u);
  EXPECT_EQ(std::get<uint32_t>(kernel.grid[2]), 3u);
  ASSERT_EQ(kernel.params.size(), 4u);
  EXPECT_EQ(kernel.params[0].kind, LaunchParam::Kind::Argument);
  EXPECT_EQ(kernel.params[0].index, 0u);
  EXPECT_EQ(kernel.params[1].kind, LaunchParam::Kind::Result);
  EXPECT_EQ(kernel.params[1].index, 2u);
  EXPECT_EQ(kernel.params[2].kind, LaunchParam::Kind::Size);
  EXPECT_EQ(kernel.params[2].size.argument, 3u);
  EXPECT_EQ(kernel.params[2].size.dimension, 63u);
  EXPECT_EQ(kernel.params[2].size.codes, 4u);
  EXPECT_EQ(kernel.params[2].size.bytes, 3u);
  EXPECT_EQ(kernel.params[3].kind, LaunchParam::Kind::Workspace);
  EXPECT_EQ(kernel.params[3].offset, 511u);
}

TEST(LaunchInfoTest, WritesWhatItReads) {
  Result<LaunchInfo> info = parseLaunchInfo(text);
  ASSERT_TRUE(info) << info.message();
  EXPECT_EQ(serializeLaunchInfo(*info), text);
}

TEST(LaunchInfoTest, WritesTextWhateverTheNames) {
  LaunchInfo info;
  info.target = "\"\xff\n";
  info.kernels.emplace_back();
  info.kernels[0].name = "\xc3";
  Result<LaunchInfo> again = parseLaunchInfo(serializeLaunchInfo(info));
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(again->target.substr(0, 1), "\"");
}

/// The message for the text with `to` in place of the first `from`.
static std::string parseChanged(std::string_view from, std::string_view to) {
  std::string changed(text);
  size_t position = changed.find(from);
  EXPECT_NE(position, std::string::npos) << from;
  Result<LaunchInfo> info =
      parseLaunchInfo(changed.replace(position, from.size(), to));
  return info ? "no error" : info.message();
}

TEST(LaunchInfoTest, RefusesWrongFields) {
  EXPECT_EQ(parseChanged(R"("version":1,)", ""),
            "$: expected a field 'version', got none");
  EXPECT_EQ(parseChanged(R"("shared":65536,)", ""),
            "$.kernels[0]: expected a field 'shared', got none");
  EXPECT_EQ(parseChanged(R"("version":1)", R"("version":1,"extra":1)"),
            "$: expected the fields version target kernels workspace, got "
            "'extra'");
  EXPECT_EQ(parseChanged(R"("dim":1)", R"("dim":1,"by":2)"),
            "$.kernels[0].grid[0].ceildiv[0]: expected the fields arg dim, "
            "got 'by'");
  EXPECT_EQ(parseChanged(R"("version":1)", R"("version":1,"version":1)"),
            "expected a field 'version' once in an object, got it twice");
}

TEST(LaunchInfoTest, RefusesWrongValues) {
  EXPECT_EQ(parseChanged(R"("version":1)", R"("version":2)"),
            "$.version: expected an integer from 1 to 1, got 2");
  EXPECT_EQ(parseChanged(R"("sm_120a")", "null"),
            "$.target: expected a string that is not empty, got null");
  EXPECT_EQ(parseChanged(R"("main")", R"("")"),
            "$.kernels[0].name: expected a string that is not empty, got ''");
  EXPECT_EQ(parseChanged(R"([32,4,1])", R"([32,4])"),
            "$.kernels[0].block: expected an array of 3, got an array of 2");
  EXPECT_EQ(parseChanged(R"([32,4,1])", R"({"x":1})"),
            "$.kernels[0].block: expected an array of 3, got an object of 1");
  EXPECT_EQ(parseChanged(R"([2,1,1])", R"([2,0,1])"),
            "$.kernels[0].cluster[1]: expected an integer from 1 to "
            "2147483647, got 0");
  EXPECT_EQ(parseChanged(R"(},2,3])", R"(},2,true])"),
            "$.kernels[0].grid[2]: expected an integer or {\"ceildiv\": ...}, "
            "got true");
  EXPECT_EQ(parseChanged(R"(},2,3])", R"(},-2,3])"),
            "$.kernels[0].grid[1]: expected an integer from 1 to 2147483647, "
            "got -2");
  EXPECT_EQ(parseChanged(R"(},128]})", R"(},0]})"),
            "$.kernels[0].grid[0].ceildiv[1]: expected an integer from 1 to "
            "2147483647, got 0");
  EXPECT_EQ(parseChanged(R"("shared":65536)", R"("shared":1.0)"),
            "$.kernels[0].shared: expected an integer from 0 to 2147483647, "
            "got 1.0");
  EXPECT_EQ(parseChanged(R"("shared":65536)", R"("shared":2147483648)"),
            "$.kernels[0].shared: expected an integer from 0 to 2147483647, "
            "got 2147483648");
  EXPECT_EQ(
      parseChanged(R"("workspace":512)", R"("workspace":9223372036854775808)"),
      "$.workspace: expected an integer from 0 to 9223372036854775807, "
      "got 9223372036854775808");
  EXPECT_EQ(parseLaunchInfo(R"({"version":1,"target":"cpu","kernels":[],)"
                            R"("workspace":0})")
                .message(),
            "$.kernels: expected an array of at least 1, got an array of 0");
}

TEST(LaunchInfoTest, RefusesWrongParameters) {
  EXPECT_EQ(parseChanged(R"([{"arg":0},)", R"([[],)"),
            "$.kernels[0].params[0]: expected an object of one field, got an "
            "array of 0");
  EXPECT_EQ(parseChanged(R"({"arg":0})", R"({"arg":0,"dim":0})"),
            "$.kernels[0].params[0]: expected an object of one field, got an "
            "object of 2");
  EXPECT_EQ(parseChanged(R"({"arg":0})", R"({"argument":0})"),
            "$.kernels[0].params[0]: expected one of arg result size "
            "workspace tensor_map, got 'argument'");
  EXPECT_EQ(parseChanged(R"({"result":2})", R"({"result":"2"})"),
            "$.kernels[0].params[1].result: expected an integer from 0 to "
            "2147483647, got '2'");
  EXPECT_EQ(parseChanged(R"("dim":63)", R"("dim":64)"),
            "$.kernels[0].params[2].size.dim: expected an integer from 0 to "
            "63, got 64");
  EXPECT_EQ(parseChanged(R"([4,3])", R"([4])"),
            "$.kernels[0].params[2].size.packed: expected an array of 2, got "
            "an array of 1");
  EXPECT_EQ(parseChanged(R"([4,3])", R"([4,0])"),
            "$.kernels[0].params[2].size.packed[1]: expected an integer from 1 "
            "to 8, got 0");
  EXPECT_EQ(parseChanged(R"([4,3]})", R"([4,3],"by":1})"),
            "$.kernels[0].params[2].size: expected the fields arg dim packed, "
            "got 'by'");
  EXPECT_EQ(parseChanged(R"({"workspace":511})", R"({"workspace":512})"),
            "$.kernels[0].params[3].workspace: expected an integer from 0 to "
            "511, got 512");
  EXPECT_EQ(parseChanged(R"("workspace":512)", R"("workspace":0)"),
            "$.kernels[0].params[3]: expected a workspace, got one of 0 bytes");
  EXPECT_EQ(parseChanged(R"({"arg":0})", R"({"tensor_map":{"arg":0}})"),
            "not supported in this version: tensor_map parameters");
  EXPECT_EQ(parseChanged(R"("params":[])", R"("params":{})"),
            "$.kernels[1].params: expected an array, got an object of 0");
}

static std::string parseMessage(std::string_view json) {
  Result<LaunchInfo> info = parseLaunchInfo(json);
  return info ? "no error" : info.message();
}

TEST(LaunchInfoTest, RefusesWhatIsNotJson) {
  EXPECT_EQ(parseMessage(""),
            "expected JSON, got the end of the text near byte 1");
  EXPECT_EQ(parseMessage("{\"a\": 1,}"),
            "expected JSON, got '1,}' near byte 9");
  EXPECT_EQ(parseMessage("{} x"), "expected JSON, got '{} x' near byte 4");
  EXPECT_EQ(parseMessage("\"\xff\""),
            "expected JSON, got '\"\\xff' near byte 2");
  EXPECT_EQ(parseMessage("[1e999]"), "expected JSON, got '1e999' near byte 6");
  EXPECT_EQ(parseMessage(std::string_view("[\0]", 3)),
            "expected JSON, got '[<U+0000>' near byte 2");
}

TEST(LaunchInfoTest, RefusesDeepNesting) {
  EXPECT_EQ(parseMessage(std::string(256, '[') + std::string(256, ']')),
            "$: expected an object, got an array of 1");
  EXPECT_EQ(parseMessage(std::string(1000000, '[')),
            "expected JSON nested at most 256 levels deep, got more");
}
