//===- LaunchArgumentsTest.cpp - Tests of kernel arguments ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchArguments.h"
#include "TestFiles.h"
#include "blockscale/Runtime/LaunchPlan.h"
#include "blockscale/Runtime/OutputFile.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;

static void expectScalar(std::string_view text, unsigned size, uint64_t bits) {
  Result<LaunchArgument> argument = parseLaunchArgument(text);
  ASSERT_TRUE(argument) << argument.message();
  EXPECT_EQ(argument->kind, LaunchArgument::Kind::Scalar);
  EXPECT_EQ(argument->size, size) << text;
  EXPECT_EQ(argument->bits, bits) << text;
}

TEST(LaunchArgumentsTest, ParsesScalars) {
  expectScalar("i32:0", 4, 0);
  expectScalar("i32:-1", 4, 0xffffffff);
  expectScalar("i32:-2147483648", 4, 0x80000000);
  expectScalar("i32:4294967295", 4, 0xffffffff);
  expectScalar("i64:-1", 8, UINT64_MAX);
  expectScalar("i64:18446744073709551615", 8, UINT64_MAX);
  expectScalar("f32:1", 4, 0x3f800000);
  expectScalar("f32:-1.5e-3", 4, 0xbac49ba6);
  expectScalar("f32:-inf", 4, 0xff800000);
  expectScalar("f32:nan", 4, 0x7fc00000);
}

static void expectFile(std::string_view text, LaunchArgument::Kind kind,
                       std::string_view path) {
  Result<LaunchArgument> argument = parseLaunchArgument(text);
  ASSERT_TRUE(argument) << argument.message();
  EXPECT_EQ(argument->kind, kind);
  EXPECT_EQ(argument->path, path);
}

TEST(LaunchArgumentsTest, FilesMayHaveColons) {
  expectFile("in:a:u1:2.npy", LaunchArgument::Kind::In, "a:u1:2.npy");
  expectFile("inout:in:a", LaunchArgument::Kind::InOut, "in:a");
  expectFile("out:a:f4:2:u1:3", LaunchArgument::Kind::Out, "a:f4:2");
  expectFile("struct:a:b.npy:i32@0=1", LaunchArgument::Kind::Struct, "a:b.npy");
}

TEST(LaunchArgumentsTest, ParsesTypeAndShape) {
  Result<LaunchArgument> argument = parseLaunchArgument("out:a.npy:i2:3x0x12");
  ASSERT_TRUE(argument) << argument.message();
  EXPECT_EQ(argument->array.dtype, DType::I2);
  EXPECT_EQ(argument->array.shape, (std::vector<int64_t>{3, 0, 12}));
  EXPECT_TRUE(argument->isBuffer());
  EXPECT_TRUE(argument->isStored());
}

static std::string parseMessage(std::string_view text) {
  Result<LaunchArgument> argument = parseLaunchArgument(text);
  return argument ? "no error" : argument.message();
}

/// The message without the argument that it starts with.
static std::string parseReason(const std::string &text) {
  std::string message = parseMessage(text);
  std::string start = "malformed argument '" + text + "': ";
  EXPECT_EQ(message.substr(0, start.size()), start);
  return message.substr(std::min(start.size(), message.size()));
}

TEST(LaunchArgumentsTest, RefusesWhatIsMalformed) {
  EXPECT_EQ(parseMessage("a.npy"),
            "malformed argument: expected i32:, i64:, f32:, in:, inout:, "
            "out:, undef:, tmap:, struct: or none: at its start, got 'a.npy'");
  for (const char *number :
       {"", "1.0", "+1", " 1", "1 ", "0x1", "4294967296", "-2147483649"})
    EXPECT_EQ(parseReason(std::string("i32:") + number),
              std::string("expected an integer of 32 bits, got '") + number +
                  "'");
  EXPECT_EQ(parseReason("i64:18446744073709551616"),
            "expected an integer of 64 bits, got '18446744073709551616'");
  for (const char *number : {"", "x", "1e99", "1,5", "1.0f"})
    EXPECT_EQ(parseReason(std::string("f32:") + number),
              std::string("expected a number that f32 can hold, got '") +
                  number + "'");
  EXPECT_EQ(parseReason("in:"), "expected the name of a file, got ''");
  EXPECT_EQ(parseReason("inout:"), "expected the name of a file, got ''");
  EXPECT_EQ(parseReason("out::u1:2"), "expected the name of a file, got ''");
  for (const char *rest : {"", "a.npy", ":2", "a.npy:2"})
    EXPECT_EQ(parseReason(std::string("out:") + rest),
              std::string("expected FILE:DTYPE:DIM[xDIM]..., got '") + rest +
                  "'");
  EXPECT_EQ(parseReason("out:a:f32:2"),
            "expected one of the types u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 f8, got "
            "'f32'");
  EXPECT_EQ(parseReason("out:a:u1:"),
            "expected a dimension of at least 0, got ''");
  EXPECT_EQ(parseReason("out:a:u1:2x"),
            "expected a dimension of at least 0, got ''");
  EXPECT_EQ(parseReason("out:a:u1:2x-3"),
            "expected a dimension of at least 0, got '-3'");
  EXPECT_EQ(parseReason("out:a:u8:4294967296x4294967296"),
            "overflowing shape: expected at most 9223372036854775807 bytes, "
            "got shape (4294967296, 4294967296)");
}

TEST(LaunchArgumentsTest, LoadsAndStores) {
  TestDirectory directory;
  ASSERT_FALSE(
      writeOutput(directory / "a", serializeNpy({DType::U2, {1, 1}, {1, 2}})));
  std::vector<LaunchArgument> arguments;
  for (std::string text :
       {"inout:" + (directory / "a"), std::string("i32:5"),
        "in:" + (directory / "a"), "out:" + (directory / "b") + ":u1:2"}) {
    Result<LaunchArgument> argument = parseLaunchArgument(text);
    ASSERT_TRUE(argument) << argument.message();
    arguments.push_back(*argument);
  }
  EXPECT_EQ(loadBuffers(arguments).message(), "");
  EXPECT_EQ(arguments[0].array.shape, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(arguments[3].array.data, (std::vector<uint8_t>{0, 0}));

  arguments[0].array.data = {3, 4};
  arguments[2].array.data = {5, 6};
  arguments[3].array.data = {7, 8};
  EXPECT_EQ(storeBuffers(arguments).message(), "");
  EXPECT_EQ(readNpy(directory / "a")->data, (std::vector<uint8_t>{3, 4}));
  EXPECT_EQ(readNpy(directory / "b")->data, (std::vector<uint8_t>{7, 8}));
}

TEST(LaunchArgumentsTest, WhatIsNoParameter) {
  std::vector<LaunchArgument> arguments;
  for (const char *text : {"none:out:a:u1:4", "i32:5",
                           "none:tmap:@0:u1:SIZES=16:BOX=16:SWIZZLE=32",
                           "none:tmap:f:u1:BOX=16:SWIZZLE=32", "in:b"}) {
    Result<LaunchArgument> argument = parseLaunchArgument(text);
    ASSERT_TRUE(argument) << argument.message();
    EXPECT_EQ(argument->isParameter, text[0] != 'n') << text;
    arguments.push_back(std::move(*argument));
  }
  EXPECT_TRUE(arguments[0].isStored());
  EXPECT_FALSE(arguments[2].isBuffer());
  EXPECT_TRUE(arguments[3].isBuffer());
  std::vector<PlannedParam> params = planParams(arguments);
  ASSERT_EQ(params.size(), 2u);
  EXPECT_EQ(params[0].value, 5u);
  EXPECT_EQ(params[1].value, 4u);
  for (const char *text : {"i32:1", "struct:a", "none:in:a", ""})
    EXPECT_EQ(
        parseReason(std::string("none:") + text),
        std::string("expected in:, inout:, out:, undef: or tmap: after none:, "
                    "got '") +
            text + "'");
}

//===----------------------------------------------------------------------===//
// Arguments that name others
//===----------------------------------------------------------------------===//

static std::vector<LaunchArgument>
parseAll(const std::vector<std::string> &texts) {
  std::vector<LaunchArgument> arguments;
  for (const std::string &text : texts) {
    Result<LaunchArgument> argument = parseLaunchArgument(text);
    EXPECT_TRUE(argument) << argument.message();
    arguments.push_back(std::move(*argument));
  }
  return arguments;
}

TEST(LaunchArgumentsTest, PlansStructs) {
  TestDirectory directory;
  std::vector<uint8_t> bytes(256, 9);
  ASSERT_FALSE(
      writeOutput(directory / "p", serializeNpy({DType::U1, {256}, bytes})));
  std::vector<LaunchArgument> arguments = parseAll(
      {"struct:" + (directory / "p") + ":ptr@8=2+3:tmap@128=1:i32@21=-1",
       "none:tmap:@2+16:u1:SIZES=16:BOX=16:SWIZZLE=32", "out:o:u1:32"});
  ASSERT_FALSE(checkReferences(arguments));
  EXPECT_EQ(planParams(arguments)[0].size, 0u);
  EXPECT_EQ(loadBuffers(arguments).message(), "");
  std::vector<PlannedParam> params = planParams(arguments);
  ASSERT_EQ(params.size(), 2u);
  const PlannedParam &param = params[0];
  EXPECT_EQ(param.kind, PlannedParam::Kind::Struct);
  EXPECT_EQ(param.size, 256u);
  EXPECT_EQ(param.bytes, bytes);
  ASSERT_EQ(param.fields.size(), 3u);
  EXPECT_EQ(param.fields[0].offset, 8u);
  EXPECT_EQ(param.fields[0].param.kind, PlannedParam::Kind::Buffer);
  EXPECT_EQ(param.fields[0].param.value, 2u);
  EXPECT_EQ(param.fields[0].param.offset, 3u);
  EXPECT_FALSE(param.fields[0].param.tensorMap);
  EXPECT_EQ(param.fields[1].offset, 128u);
  EXPECT_EQ(param.fields[1].param.value, 2u);
  EXPECT_EQ(param.fields[1].param.offset, 16u);
  EXPECT_TRUE(param.fields[1].param.tensorMap);
  EXPECT_EQ(param.fields[2].param.kind, PlannedParam::Kind::Scalar);
  EXPECT_EQ(param.fields[2].param.value, 0xffffffffu);
  EXPECT_EQ(param.fields[2].param.size, 4u);
}

TEST(LaunchArgumentsTest, PointersToTensorsInFiles) {
  std::vector<LaunchArgument> arguments = parseAll(
      {"struct:p:ptr@0=1:tmap@64=1", "none:tmap:f:u1:BOX=16:SWIZZLE=32:STORE=1",
       "tmap:@1:u1:SIZES=16:BOX=16:SWIZZLE=32:STORE=1"});
  EXPECT_EQ(checkReferences(arguments).message(), "");
  std::vector<PlannedParam> params = planParams(arguments);
  EXPECT_FALSE(params[0].fields[0].param.tensorMap);
  EXPECT_EQ(params[0].fields[0].param.size, 8u);
  EXPECT_TRUE(params[0].fields[1].param.tensorMap);
  EXPECT_EQ(params[1].value, 1u);
}
