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
    R"({"workspace":511},)"
    R"({"tensor_map":{"of":{"workspace":{"mul":[{"size":{"arg":0,"dim":0}},16]}},)"
    R"("dtype":"u1","sizes":[{"size":{"arg":0,"dim":1}},64],"strides":[64],)"
    R"("box":[2,32],"element_strides":[2,1],"swizzle":"32","fill":"zero",)"
    R"("l2":"128"}}]},)"
    R"({"name":"main__sum","grid":[{"min":[{"size":{"arg":0,"dim":0}},{"multiprocessors":2}]},1,1],)"
    R"("block":[1,1,1],"cluster":[1,1,1],"shared":0,)"
    R"("programmatic":true,"params":[{"struct":{"size":300,"fields":[)"
    R"({"at":8,"param":{"arg":2,"offset":{"size":{"arg":1,"dim":0}}}},)"
    R"({"at":64,"param":{"tensor_map":{"of":{"result":0,"offset":16},)"
    R"("dtype":"u1","sizes":[64],"strides":[],"box":[32],)"
    R"("element_strides":[1],"swizzle":"none","fill":"zero","l2":"none"}}},)"
    R"({"at":192,"param":{"i32":{"multiprocessors":1}}},)"
    R"({"at":200,"param":{"f32":-1.5}}]}},)"
    R"({"struct":{"bytes":"00a0ff","fields":[]}},{"i64":-9}]}],)"
    R"("workspace":512,"operands":[{"dtype":"u1","shape":[{"size":{"arg":0,"dim":0}},64],"packed":[2,1]},)"
    R"({"dtype":"f4","shape":[]},{"dtype":"u1","shape":[1]},{"dtype":"u1","shape":[1]},)"
    R"({"dtype":"u1","shape":[1]},{"dtype":"u1","shape":[1]},{"dtype":"u1","shape":[1]},)"
    R"({"dtype":"f2","shape":[{"add":[{"size":{"arg":0,"dim":0}},{"max":[{"size":{"arg":1,"dim":0}},3]}]}]}]})"
    "\n";

TEST(LaunchInfoTest, ReadsEveryField) {
  Result<LaunchInfo> info = parseLaunchInfo(text);
  ASSERT_TRUE(info) << info.message();
  EXPECT_EQ(info->target, "sm_120a");
  EXPECT_TRUE(info->workspace == LaunchExpr(512));
  EXPECT_EQ(info->numArguments(), 5u);
  EXPECT_EQ(info->numResults(), 3u);
  ASSERT_EQ(info->kernels.size(), 2u);
  EXPECT_EQ(info->kernels[1].name, "main__sum");
  ASSERT_EQ(info->kernels[1].params.size(), 3u);
  const LaunchParam &param = info->kernels[1].params[0];
  EXPECT_EQ(param.kind, LaunchParam::Kind::Struct);
  EXPECT_EQ(param.bytes, std::vector<uint8_t>(300, 0));
  ASSERT_EQ(param.fields.size(), 4u);
  EXPECT_EQ(param.fields[0].offset, 8u);
  EXPECT_EQ(param.fields[0].param.index, 2u);
  EXPECT_TRUE(param.fields[0].param.offset == LaunchExpr::ofSize({1, 0}));
  EXPECT_TRUE(param.fields[1].param.tensorMap);
  EXPECT_TRUE(param.fields[2].param.number.integer.usesSms());
  EXPECT_EQ(param.fields[3].param.number.real, -1.5f);
  EXPECT_EQ(info->kernels[1].params[1].bytes,
            (std::vector<uint8_t>{0, 0xa0, 0xff}));
  EXPECT_EQ(info->kernels[1].params[2].number.type, LaunchNumber::Type::I64);
  EXPECT_TRUE(info->kernels[1].isProgrammatic);
  EXPECT_FALSE(info->kernels[0].isProgrammatic);

  const KernelLaunch &kernel = info->kernels[0];
  EXPECT_EQ(kernel.name, "main");
  EXPECT_EQ(kernel.block, (Dim3{32, 4, 1}));
  EXPECT_EQ(kernel.cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(kernel.shared, 65536u);
  EXPECT_TRUE(kernel.grid[0] == LaunchExpr::make(LaunchExpr::Kind::CeilDiv,
                                                 LaunchExpr::ofSize({4, 1}),
                                                 128));
  EXPECT_TRUE(kernel.grid[1] == LaunchExpr(2));
  EXPECT_TRUE(kernel.grid[2] == LaunchExpr(3));
  ASSERT_EQ(kernel.params.size(), 5u);
  EXPECT_EQ(kernel.params[0].kind, LaunchParam::Kind::Argument);
  EXPECT_EQ(kernel.params[0].index, 0u);
  EXPECT_EQ(kernel.params[1].kind, LaunchParam::Kind::Result);
  EXPECT_EQ(kernel.params[1].index, 2u);
  EXPECT_EQ(kernel.params[2].kind, LaunchParam::Kind::Size);
  EXPECT_EQ(kernel.params[2].size.argument, 3u);
  EXPECT_EQ(kernel.params[2].size.dimension, 63u);
  EXPECT_EQ(kernel.params[2].size.elements, 4u);
  EXPECT_EQ(kernel.params[2].size.bytes, 3u);
  EXPECT_EQ(kernel.params[3].kind, LaunchParam::Kind::Workspace);
  EXPECT_TRUE(kernel.params[3].offset == LaunchExpr(511));
  EXPECT_EQ(kernel.params[4].kind, LaunchParam::Kind::Workspace);
  ASSERT_TRUE(kernel.params[4].tensorMap);
  const LaunchTensorMap &map = *kernel.params[4].tensorMap;
  EXPECT_EQ(map.form.type->name, "u1");
  EXPECT_EQ(map.form.box, (std::vector<uint32_t>{32, 2}));
  EXPECT_EQ(map.form.elementStrides, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(map.form.swizzle->name, "32");
  EXPECT_EQ(map.form.promotion->name, "128");
  ASSERT_EQ(map.sizes.size(), 2u);
  EXPECT_TRUE(map.sizes[0] == LaunchExpr(64));
  EXPECT_TRUE(map.sizes[1] == LaunchExpr::ofSize({0, 1}));
  EXPECT_EQ(map.strides.size(), 1u);
  EXPECT_TRUE(info->usesSms());
  ASSERT_EQ(info->operands.size(), 8u);
  EXPECT_EQ(info->operands[0].dtype, DType::U1);
  EXPECT_EQ(info->operands[0].elements, 2u);
  EXPECT_TRUE(info->operands[1].shape.empty());
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
            "$: expected the fields version target kernels workspace "
            "operands checks schedule digest, got 'extra'");
  EXPECT_EQ(parseChanged(R"("dim":1)", R"("dim":1,"by":2)"),
            "$.kernels[0].grid[0].ceildiv[0]: expected the fields arg dim "
            "packed, got 'by'");
  EXPECT_EQ(parseChanged(R"("version":1)", R"("version":1,"version":1)"),
            "expected a field 'version' once in an object, got it twice");
}

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

/// Two kernels of which sizes choose one.
static constexpr std::string_view alternatives =
    R"({"version":2,"target":"sm_90","kernels":[)"
    R"({"name":"few","condition":{"lt":[{"size":{"arg":0,"dim":0}},8]},)"
    R"("grid":[1,1,1],"block":[32,1,1],"cluster":[1,1,1],"shared":0,"params":[{"arg":0}]},)"
    R"({"name":"many","condition":{"eq":[{"lt":[{"size":{"arg":2,"dim":0}},{"multiprocessors":1}]},0]},)"
    R"("grid":[{"select":[{"size":{"arg":1,"dim":0}},2,{"size":{"arg":0,"dim":0}}]},1,1],)"
    R"("block":[32,1,1],"cluster":[1,1,1],"shared":0,"params":[{"arg":0}]}],)"
    R"("workspace":{"select":[{"lt":[{"size":{"arg":0,"dim":0}},8]},0,256]}})"
    "\n";

static std::string parseAlternatives(std::string_view from,
                                     std::string_view to) {
  std::string changed(alternatives);
  size_t position = changed.find(from);
  EXPECT_NE(position, std::string::npos) << from;
  Result<LaunchInfo> info =
      parseLaunchInfo(changed.replace(position, from.size(), to));
  return info ? "no error" : info.message();
}

TEST(LaunchInfoTest, ReadsAndWritesAlternatives) {
  Result<LaunchInfo> info = parseLaunchInfo(alternatives);
  ASSERT_TRUE(info) << info.message();
  LaunchExpr rows = LaunchExpr::ofSize({0, 0});
  LaunchExpr isFew = LaunchExpr::make(LaunchExpr::Kind::Lt, rows, 8);
  EXPECT_TRUE(info->kernels[0].condition == isFew);
  EXPECT_TRUE(info->kernels[1].grid[0] ==
              LaunchExpr::select(LaunchExpr::ofSize({1, 0}), 2, rows));
  EXPECT_TRUE(info->workspace == LaunchExpr::select(isFew, 0, 256));
  // Conditions count, too.
  EXPECT_EQ(info->numArguments(), 3u);
  EXPECT_TRUE(info->usesSms());
  EXPECT_EQ(info->version(), 2u);
  EXPECT_EQ(serializeLaunchInfo(*info), alternatives);
}

/// The version of a file is the lowest one that can express it.
TEST(LaunchInfoTest, WritesTheLowestVersion) {
  Result<LaunchInfo> info = parseLaunchInfo(text);
  ASSERT_TRUE(info) << info.message();
  LaunchExpr choice = LaunchExpr::select(LaunchExpr::ofSize({0, 0}), 1, 2);
  EXPECT_EQ(info->version(), 1u);
  info->kernels[0].condition = 5;
  EXPECT_EQ(info->version(), 1u);
  info->kernels[0].condition = 0;
  EXPECT_EQ(info->version(), 2u);
  info->kernels[0].condition = 1;
  // Inside of any expression.
  for (LaunchExpr *expr :
       {&info->workspace, &info->kernels[1].grid[2],
        &info->kernels[0].params[4].tensorMap->sizes[0],
        &info->kernels[1].params[0].fields[2].param.number.integer,
        &info->operands[0].shape[0]}) {
    LaunchExpr before = *expr;
    *expr = LaunchExpr::make(LaunchExpr::Kind::Add, choice, 7);
    EXPECT_EQ(info->version(), 2u);
    *expr = before;
  }
  info->checks = {{choice, "message"}};
  EXPECT_EQ(info->version(), 2u);
}

TEST(LaunchInfoTest, RefusesAlternativesInVersion1) {
  EXPECT_EQ(parseAlternatives(R"("version":2)", R"("version":1)"),
            "$.kernels[0].condition: expected version 2 for condition, got 1");
  EXPECT_EQ(parseChanged(R"("shared":65536)", R"("shared":0,"condition":1)"),
            "$.kernels[0].condition: expected version 2 for condition, got 1");
  EXPECT_EQ(parseChanged(R"({"multiprocessors":2})", R"({"select":[1,2,3]})"),
            "$.kernels[1].grid[0].min[1].select: expected version 2 for "
            "select, got 1");
  EXPECT_EQ(
      parseChanged(R"({"i32":{"multiprocessors":1}})",
                   R"({"i32":{"select":[1,2,3]}})"),
      "$.kernels[1].params[0].struct.fields[2].param.i32.select: expected "
      "version 2 for select, got 1");
  // Version 2 need not use them.
  EXPECT_EQ(parseChanged(R"("version":1)", R"("version":2)"), "no error");
}

TEST(LaunchInfoTest, RefusesWrongAlternatives) {
  EXPECT_EQ(parseAlternatives(R"("select":[{"size":{"arg":1,"dim":0}},2,)",
                              R"("select":[2,)"),
            "$.kernels[1].grid[0].select: expected an array of 3, got an array "
            "of 2");
  EXPECT_EQ(parseAlternatives(R"(},0,256])", R"(},0,"256"])"),
            "$.workspace.select[2]: expected a number or an object of one "
            "field of size value multiprocessors add mul ceildiv floordiv rem "
            "min max eq lt select, got '256'");
  EXPECT_EQ(
      parseAlternatives(R"("condition":{"lt":)", R"("condition":{"le":)"),
      "$.kernels[0].condition: expected one of size value multiprocessors "
      "add mul ceildiv floordiv rem min max eq lt select, got 'le'");
  EXPECT_EQ(parseAlternatives(R"("select":[{"size")", R"("select":[{"sizes")"),
            "$.kernels[1].grid[0].select[0]: expected one of size value "
            "multiprocessors add mul ceildiv floordiv rem min max eq lt "
            "select, got 'sizes'");
  // What the first operand cannot be is an error; the others may not be chosen.
  EXPECT_EQ(parseAlternatives(R"("select":[{"size":{"arg":1,"dim":0}},2,)",
                              R"("select":[{"rem":[1,0]},2,)"),
            "$.kernels[1].grid[0].select[0].rem[1]: expected an integer from 1 "
            "to 2147483647, got 0");
  EXPECT_EQ(
      parseAlternatives(R"(},0,256])", R"(},{"add":[1,{"rem":[1,0]}]},256])"),
      "no error");
  EXPECT_EQ(parseAlternatives(R"(},0,256])",
                              R"(},0,{"add":[9223372036854775807,1]}])"),
            "no error");
}

TEST(LaunchInfoTest, TakesProgrammaticFirstKernels) {
  EXPECT_EQ(parseChanged(R"("shared":65536)",
                         R"("shared":65536,"programmatic":true)"),
            "no error");
}

TEST(LaunchInfoTest, RefusesWrongValues) {
  EXPECT_EQ(parseChanged(R"("version":1)", R"("version":0)"),
            "$.version: expected 1 or 2, got 0");
  EXPECT_EQ(parseChanged(R"("version":1)", R"("version":3,"new":[])"),
            "$.version: expected 1 or 2, got 3");
  EXPECT_EQ(parseChanged(R"("version":1)", R"("version":true)"),
            "$.version: expected 1 or 2, got true");
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
            "$.kernels[0].grid[2]: expected a number or an object of one "
            "field of size value multiprocessors add mul ceildiv floordiv rem "
            "min max eq lt select, got true");
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
  EXPECT_EQ(parseChanged(R"("programmatic":true)", R"("programmatic":1)"),
            "$.kernels[1].programmatic: expected true or false, got 1");
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
            "workspace tensor_map i32 i64 f32 struct, got 'argument'");
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
  EXPECT_EQ(parseChanged(R"("params":[{"arg")", R"("params":{},"x":[{"arg")"),
            "$.kernels[0]: expected the fields name grid block cluster shared "
            "params programmatic condition, got 'x'");
}

TEST(LaunchInfoTest, RefusesWrongStructs) {
  std::string param = "$.kernels[1].params[0]";
  EXPECT_EQ(parseChanged(R"("size":300,)", R"("bytes":"00","size":300,)"),
            param + ".struct: expected one of the fields bytes and size, got "
                    "both");
  EXPECT_EQ(parseChanged(R"("size":300,)", ""),
            param + ".struct: expected one of the fields bytes and size, got "
                    "none");
  EXPECT_EQ(parseChanged(R"("size":300,)", R"("size":32765,)"),
            param + ".struct.size: expected an integer from 1 to 32764, got "
                    "32765");
  std::string digits = "$.kernels[1].params[1].struct.bytes: expected two "
                       "hexadecimal digits for each of 1 to 32764 bytes, got ";
  EXPECT_EQ(parseChanged("00a0ff", "00a0f"), digits + "5 characters");
  EXPECT_EQ(parseChanged("00a0ff", ""), digits + "0 characters");
  EXPECT_EQ(parseChanged("00a0ff", "00A0fg"), digits + "'fg'");
  EXPECT_EQ(parseChanged(R"("00a0ff")", "5"), digits + "5");
  EXPECT_EQ(parseChanged(R"("fields":[]}})", R"("fields":{}}})"),
            "$.kernels[1].params[1].struct.fields: expected an array, got an "
            "object of 0");
  EXPECT_EQ(parseChanged(R"("at":192,)", R"("at":32764,)"),
            param + ".struct.fields[2].at: expected an integer from 0 to "
                    "32763, got 32764");
  EXPECT_EQ(parseChanged(R"({"at":192,)", R"({"of":192,)"),
            param + ".struct.fields[2]: expected a field 'at', got none");
  EXPECT_EQ(parseChanged(R"({"f32":-1.5})", R"({"f32":1e39})"),
            param + ".struct.fields[3].param.f32: expected a number that f32 "
                    "can hold, got 1e+39");
  EXPECT_EQ(parseChanged(R"({"f32":-1.5})", R"({"struct":{"size":4}})"),
            param + ".struct.fields[3].param: expected no struct in a struct");
  EXPECT_EQ(parseChanged(R"({"f32":-1.5})", R"({"i32":4294967296})"),
            param + ".struct.fields[3].param.i32: expected an integer from "
                    "-2147483648 to 4294967295, got 4294967296");
  EXPECT_EQ(parseChanged(R"({"f32":-1.5})", R"({"f32":1,"offset":4})"),
            param + ".struct.fields[3].param: expected no offset with f32");
  EXPECT_EQ(parseChanged(R"({"result":0,"offset":16})", R"({"i32":0})"),
            param + ".struct.fields[1].param.tensor_map.of: expected memory, "
                    "got 'i32'");
  EXPECT_EQ(parseChanged(R"({"result":0,"offset":16})",
                         R"({"result":0,"offset":-16})"),
            param + ".struct.fields[1].param.tensor_map.of.offset: expected "
                    "an integer from 0 to 9223372036854775807, got -16");
  // Fields may be left out.
  EXPECT_EQ(parseChanged(R"("00a0ff","fields":[])", R"("00A0FF")"), "no error");
}

TEST(LaunchInfoTest, RefusesWrongExpressions) {
  std::string grid = "$.kernels[1].grid[0]";
  EXPECT_EQ(
      parseChanged(R"({"multiprocessors":2})", R"({"multiprocessors":0})"),
      grid + ".min[1].multiprocessors: expected an integer from 1 to "
             "2147483647, got 0");
  EXPECT_EQ(parseChanged(R"({"multiprocessors":2}]})", "1,2]}"),
            grid + ".min: expected an array of 2, got an array of 3");
  EXPECT_EQ(parseChanged(R"({"min":)", R"({"mean":)"),
            grid + ": expected one of size value multiprocessors add mul "
                   "ceildiv floordiv rem min max eq lt select, got 'mean'");
  EXPECT_EQ(parseChanged(R"({"multiprocessors":2})", "9223372036854775808"),
            grid + ".min[1]: expected an integer from -9223372036854775808 to "
                   "9223372036854775807, got 9223372036854775808");
  EXPECT_EQ(parseChanged(R"({"min":[{"size":{"arg":0,"dim":0}},)"
                         R"({"multiprocessors":2}]})",
                         R"({"mul":[9223372036854775807,2]})"),
            grid + ".mul: expected an operation whose result has 64 bits, got "
                   "an array of 2");
  // The factor may be left to be 1.
  EXPECT_EQ(
      parseChanged(R"({"multiprocessors":2})", R"({"multiprocessors":null})"),
      "no error");
}

TEST(LaunchInfoTest, RefusesWrongTensorMaps) {
  std::string map = "$.kernels[0].params[4].tensor_map";
  EXPECT_EQ(parseChanged(R"("dtype":"u1","sizes")", R"("dtype":"u9","sizes")"),
            map + ".dtype: expected one of u1 u2 u4 i4 u8 i8 f2 f4 f8 bf16 "
                  "f4ftz tf32 tf32ftz u4x16_align8 u4x16_align16 "
                  "u6x16_align16, got 'u9'");
  EXPECT_EQ(parseChanged(R"("swizzle":"32")", R"("swizzle":32)"),
            map + ".swizzle: expected one of none 32 64 128 128-atom32 "
                  "128-atom32-flip8 128-atom64, got 32");
  EXPECT_EQ(parseChanged(R"("l2":"128")", R"("l2":"512")"),
            map + ".l2: expected one of none 64 128 256, got '512'");
  EXPECT_EQ(parseChanged(R"("box":[2,32])", R"("box":[2,64])"),
            map + ": expected an innermost size of at most 32 bytes for a box "
                  "with SWIZZLE=32, got 64");
  EXPECT_EQ(parseChanged(R"("box":[2,32])", R"("box":[])"),
            map + ".box: expected an array of 1 to 5, got an array of 0");
  EXPECT_EQ(parseChanged(R"("strides":[64])", R"("strides":[64,1])"),
            map + ".strides: expected an array of 1, got an array of 2");
  EXPECT_EQ(parseChanged(
                R"("of":{"workspace":{"mul":[{"size":{"arg":0,"dim":0}},16]}})",
                R"("of":{"size":{"arg":0,"dim":0}})"),
            map + ".of: expected memory, got 'size'");
  EXPECT_EQ(parseChanged(R"("fill":"zero",)", R"("fil":"zero",)"),
            map + ": expected the fields of dtype sizes strides box swizzle "
                  "element_strides fill l2, got 'fil'");
  // What has a default may be left out.
  EXPECT_EQ(
      parseChanged(R"("element_strides":[2,1],"swizzle":"32","fill":"zero",)"
                   R"("l2":"128"})",
                   R"("swizzle":"32"})"),
      "no error");
}

TEST(LaunchInfoTest, RefusesWrongOperands) {
  EXPECT_EQ(parseChanged(R"({"dtype":"f4","shape":[]},)", ""),
            "$.operands: expected an array of at least 8, as kernels have "
            "arguments and results, got an array of 7");
  EXPECT_EQ(parseChanged(R"("dtype":"f4","shape":[])", R"("dtype":"f4")"),
            "$.operands[1]: expected a field 'shape', got none");
  EXPECT_EQ(parseChanged(R"("dtype":"f2")", R"("dtype":"half")"),
            "$.operands[7].dtype: expected one of u1 i1 u2 i2 f2 u4 i4 f4 u8 "
            "i8 f8, got 'half'");
  EXPECT_EQ(parseChanged(R"("arg":1,"dim":0}},3)", R"("arg":5,"dim":0}},3)"),
            "$.operands[7]: expected sizes of the 5 arguments, got one of "
            "argument #5");
  EXPECT_EQ(parseChanged(R"("shape":[]})", R"("shape":[],"packed":[2,1]})"),
            "$.operands[1].shape: expected an array of at least 1 for a packed "
            "operand, got an array of 0");
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
