//===- TensorMapTest.cpp - Tests of tensor maps as arguments --------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/LaunchPlan.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;

using Numbers = std::vector<uint32_t>;
using Sizes = std::vector<uint64_t>;

static std::string parseMessage(const std::string &text) {
  Result<TensorMapText> parsed = parseTensorMap(text);
  return parsed ? "no error" : parsed.message();
}

TEST(TensorMapTest, ParsesAllKeys) {
  Result<TensorMapText> parsed = parseTensorMap(
      "a:BOX.npy:bf16:BOX=2x3x16:SWIZZLE=32:STRIDES=1x8x1:FILL=nan:STORE=1");
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->path, "a:BOX.npy");
  EXPECT_EQ(parsed->map.type->number, 9u);
  EXPECT_EQ(parsed->map.swizzle->number, 1u);
  EXPECT_EQ(parsed->map.box, (Numbers{16, 3, 2}));
  EXPECT_EQ(parsed->map.elementStrides, (Numbers{1, 8, 1}));
  EXPECT_EQ(parsed->map.fill, TensorMapFill::Nan);
  EXPECT_TRUE(parsed->isStored);
  EXPECT_EQ(parsed->map.getBoxCount(1), 1u);
}

TEST(TensorMapTest, DefaultsOfKeys) {
  Result<TensorMapText> parsed = parseTensorMap("a:u1:SWIZZLE=none:BOX=256");
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->map.elementStrides, (Numbers{1}));
  EXPECT_EQ(parsed->map.fill, TensorMapFill::Zero);
  EXPECT_FALSE(parsed->isStored);
}

TEST(TensorMapTest, RefusesMalformedTexts) {
  const std::pair<const char *, const char *> rows[] = {
      {"x", "expected FILE:DTYPE:BOX=AxB..:SWIZZLE=.., got 'x'"},
      {"f:f3:BOX=16:SWIZZLE=none",
       "expected one of the types u1 u2 u4 i4 u8 i8 f2 f4 f8 bf16 f4ftz tf32 "
       "tf32ftz u4x16_align8 u4x16_align16 u6x16_align16, got 'f3'"},
      {"f:u1:SWIZZLE=none", "expected BOX=, got none"},
      {"f:u1:BOX=16", "expected SWIZZLE=, got none"},
      {":u1:BOX=16:SWIZZLE=none", "expected the name of a file, got ''"},
      {"f:u1:BOX=16:BOX=16:SWIZZLE=none", "expected one BOX=, got two"},
      {"f:u1:BOX=16:SWIZZLE=none:OOB=1",
       "expected one of the keys BOX SWIZZLE STRIDES FILL STORE, got 'OOB'"},
      {"f:u1:BOX=16:SWIZZLE=96",
       "expected one of none 32 64 128 128-atom32 128-atom32-flip8 128-atom64 "
       "after SWIZZLE=, got '96'"},
      {"f:u1:BOX=257:SWIZZLE=none",
       "expected numbers from 1 to 256 after BOX=, got '257'"},
      {"f:u1:BOX=0x16:SWIZZLE=none",
       "expected numbers from 1 to 256 after BOX=, got '0'"},
      {"f:u1:BOX=16x:SWIZZLE=none",
       "expected numbers from 1 to 256 after BOX=, got ''"},
      {"f:u1:BOX=1x1x1x1x1x16:SWIZZLE=none",
       "expected 1 to 5 numbers after BOX=, got '1x1x1x1x1x16'"},
      {"f:u1:BOX=2x16:SWIZZLE=none:STRIDES=9x1",
       "expected numbers from 1 to 8 after STRIDES=, got '9'"},
      {"f:u1:BOX=2x16:SWIZZLE=none:STRIDES=1",
       "expected 2 numbers after STRIDES=, as in BOX, got 1"},
      {"f:u1:BOX=2x16:SWIZZLE=none:STRIDES=1x2",
       "expected 1 as the last number after STRIDES=, got 2"},
      {"f:u2:BOX=2x12:SWIZZLE=none",
       "expected an innermost size of a multiple of 16 bytes for a box, got 12 "
       "elements of 16 bits"},
      {"f:f4:BOX=2x16:SWIZZLE=32",
       "expected an innermost size of at most 32 bytes for a box with "
       "SWIZZLE=32, got 64"},
      {"f:u4x16_align16:BOX=2x64:SWIZZLE=none",
       "expected an innermost size of 128 for a box of u4x16_align16, got 64"},
      {"f:u6x16_align16:BOX=128:SWIZZLE=128-atom32-flip8",
       "expected SWIZZLE=none, 128, 128-atom32 or 128-atom64 for "
       "u6x16_align16, got 128-atom32-flip8"},
      {"f:u4:BOX=16:SWIZZLE=none:FILL=nan",
       "expected a floating-point type with FILL=nan, got u4"},
      {"f:u4:BOX=16:SWIZZLE=none:FILL=1",
       "expected zero or nan after FILL=, got '1'"},
      {"f:u4:BOX=16:SWIZZLE=none:STORE=yes",
       "expected 0 or 1 after STORE=, got 'yes'"},
  };
  for (auto [text, message] : rows)
    EXPECT_EQ(parseMessage(text), message) << text;
}

TEST(TensorMapTest, ParsesViews) {
  Result<TensorMapText> parsed = parseTensorMap(
      "@12+32:f4:SIZES=3x5x8:PITCH=32x96x4:BOX=1x2x4:SWIZZLE=none:STORE=1");
  ASSERT_TRUE(parsed) << parsed.message();
  ASSERT_TRUE(parsed->viewed);
  EXPECT_EQ(parsed->viewed->argument, 12u);
  EXPECT_EQ(parsed->viewed->offset, 32u);
  EXPECT_EQ(parsed->map.sizes, (Sizes{8, 5, 3}));
  EXPECT_EQ(parsed->map.strides, (Sizes{4, 96, 32}));
  EXPECT_EQ(parsed->map.elementStrides, (Numbers{1, 1, 1}));
  EXPECT_TRUE(parsed->isStored);
  EXPECT_TRUE(parsed->path.empty());
  // The last stride may be left out, and all of them where there is no other.
  parsed = parseTensorMap("@0:u2:BOX=2x8:SIZES=4x8:PITCH=16:SWIZZLE=none");
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->map.strides, (Sizes{2, 16}));
  parsed = parseTensorMap("@0:u2:BOX=8:SIZES=4294967296:SWIZZLE=none");
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->map.strides, (Sizes{2}));
  parsed = parseTensorMap(
      "@0:u4x16_align8:BOX=2x32:SIZES=4x64:PITCH=32:SWIZZLE=none");
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->map.strides, (Sizes{0, 32}));
}

TEST(TensorMapTest, RefusesMalformedViews) {
  const std::pair<const char *, const char *> rows[] = {
      {"@0", "expected @N[+BYTES]:DTYPE:SIZES=AxB..:PITCH=BYTESx..:BOX=AxB..:"
             "SWIZZLE=.., got '@0'"},
      {"@a:u1:SIZES=16:BOX=16:SWIZZLE=none",
       "expected N or N+BYTES with the number N of an argument, got 'a' after "
       "@"},
      {"@0+:u1:SIZES=16:BOX=16:SWIZZLE=none",
       "expected N or N+BYTES with the number N of an argument, got '0+' "
       "after @"},
      {"@0+8:u1:SIZES=16:BOX=16:SWIZZLE=none",
       "expected an offset of a tensor that is a multiple of 16, got 8"},
      {"@0:u1:BOX=16:SWIZZLE=none", "expected SIZES=, got none"},
      {"@0:u1:SIZES=16:BOX=16:SWIZZLE=none:OOB=1",
       "expected one of the keys BOX SWIZZLE STRIDES FILL STORE SIZES PITCH "
       "TEMPLATE, "
       "got 'OOB'"},
      {"f:u1:SIZES=16:BOX=16:SWIZZLE=none",
       "expected one of the keys BOX SWIZZLE STRIDES FILL STORE, got 'SIZES'"},
      {"@0:u1:SIZES=0:BOX=16:SWIZZLE=none",
       "expected numbers from 1 to 4294967296 after SIZES=, got '0'"},
      {"@0:u1:SIZES=2x16:BOX=16:SWIZZLE=none",
       "expected 1 numbers after SIZES=, as in BOX, got 2"},
      {"@0:u1:SIZES=2x16:BOX=2x16:SWIZZLE=none",
       "expected a number after PITCH= for each dimension but the last, 1, "
       "got 0"},
      {"@0:u1:SIZES=2x16:PITCH=1x1x1:BOX=2x16:SWIZZLE=none",
       "expected a number after PITCH= for each dimension but the last, 1, "
       "got 3"},
      {"@0:u2:SIZES=2x16:PITCH=32x1:BOX=2x16:SWIZZLE=none",
       "expected the size of an element, 2 bytes, as the last number after "
       "PITCH=, got 1"},
      {"@0:u4x16_align8:SIZES=2x32:PITCH=32x1:BOX=2x32:SWIZZLE=none",
       "expected a number after PITCH= for each dimension but the last, 1, "
       "got 2"},
      {"@0:u1:SIZES=2x16:PITCH=24:BOX=2x16:SWIZZLE=none",
       "expected a stride that is a multiple of 16 and less than 2^40 bytes "
       "for u1 in dimension 0, got 24"},
      {"@0:u1:SIZES=2x16:PITCH=1099511627776:BOX=2x16:SWIZZLE=none",
       "expected numbers from 0 to 1099511627775 after PITCH=, got "
       "'1099511627776'"},
  };
  for (auto [text, message] : rows)
    EXPECT_EQ(parseMessage(text), message) << text;
}

/// What is wrong with an array for a map.
static std::string setMessage(const std::string &text, DType dtype,
                              std::vector<int64_t> shape) {
  Result<TensorMapText> parsed = parseTensorMap("f:" + text);
  EXPECT_TRUE(parsed) << parsed.message();
  NpyArray array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  Error error = setTensor(parsed->map, array);
  return error ? error.message() : "no error";
}

TEST(TensorMapTest, TakesShapesAndStrides) {
  TensorMap map = parseTensorMap("f:f2:BOX=1x1x8:SWIZZLE=none")->map;
  NpyArray array;
  array.dtype = DType::U2;
  array.shape = {3, 5, 24};
  ASSERT_FALSE(setTensor(map, array));
  EXPECT_EQ(map.sizes, (Sizes{24, 5, 3}));
  EXPECT_EQ(map.strides, (Sizes{2, 48, 240}));
}

TEST(TensorMapTest, RefusesArrays) {
  std::string two = "f4:BOX=2x4:SWIZZLE=none";
  EXPECT_EQ(setMessage(two, DType::F4, {4, 4}), "no error");
  EXPECT_EQ(setMessage(two, DType::F4, {4}),
            "expected an array of 2 dimensions, as in BOX, got 1");
  EXPECT_EQ(setMessage(two, DType::F2, {4, 4}),
            "expected elements of 4 bytes for f4, got f2");
  EXPECT_EQ(setMessage(two, DType::F4, {0, 4}),
            "expected a size from 1 to 2^32 in dimension 0, got 0");
  EXPECT_EQ(setMessage(two, DType::F4, {1, (int64_t(1) << 32) + 4}),
            "expected a size from 1 to 2^32 in dimension 1, got 4294967300");
  EXPECT_EQ(setMessage(two, DType::F4, {4, 5}),
            "expected a stride that is a multiple of 16 and less than 2^40 "
            "bytes for f4 in dimension 0, got 20");
  std::string three = "u1:BOX=1x2x16:SWIZZLE=none";
  EXPECT_EQ(setMessage(three, DType::U1, {1, 1 << 16, 1 << 24}),
            "expected a stride that is a multiple of 16 and less than 2^40 "
            "bytes for u1 in dimension 0, got 1099511627776");
  EXPECT_EQ(
      setMessage("u4x16_align16:BOX=1x128:SWIZZLE=none", DType::U1, {4, 80}),
      "expected a multiple of 128 elements for u4x16_align16 in "
      "dimension 1, got 160");
  EXPECT_EQ(setMessage("u6x16_align16:BOX=128:SWIZZLE=none", DType::U1, {95}),
            "expected an innermost size of whole elements of 6 bits, got 95 "
            "bytes");
}

TEST(TensorMapTest, IsAParameterOf128Bytes) {
  Result<LaunchArgument> argument =
      parseLaunchArgument("tmap:f.npy:u1:BOX=16:SWIZZLE=none:STORE=1");
  ASSERT_TRUE(argument) << argument.message();
  EXPECT_TRUE(argument->isBuffer());
  EXPECT_TRUE(argument->isStored());
  std::vector<PlannedParam> params = planParams({*argument});
  ASSERT_EQ(params.size(), 1u);
  EXPECT_EQ(params[0].kind, PlannedParam::Kind::Buffer);
  EXPECT_TRUE(params[0].tensorMap);
  EXPECT_EQ(params[0].size, 128u);
}
