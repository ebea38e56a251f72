//===- StructTextTest.cpp -------------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/StructText.h"

#include "gtest/gtest.h"

using namespace mlir::blockscale;

TEST(StructTextTest, ParsesPatches) {
  Result<StructText> parsed = parseStruct(
      "a:1.npy:ptr@8=3+16:tmap@64=0:i32@29=-2:i64@16=-1:f32@24=1:ptr@0=4");
  ASSERT_TRUE(parsed) << parsed.message();
  EXPECT_EQ(parsed->path, "a:1.npy");
  ASSERT_EQ(parsed->patches.size(), 6u);
  const StructPatch &pointer = parsed->patches[0];
  EXPECT_EQ(pointer.kind, StructPatch::Kind::Pointer);
  EXPECT_EQ(pointer.offset, 8u);
  EXPECT_EQ(pointer.size, 8u);
  EXPECT_EQ(pointer.argument, 3u);
  EXPECT_EQ(pointer.bits, 16u);
  EXPECT_EQ(pointer.name, "ptr@8");
  EXPECT_EQ(parsed->patches[1].kind, StructPatch::Kind::TensorMap);
  EXPECT_EQ(parsed->patches[1].size, 128u);
  EXPECT_EQ(parsed->patches[2].bits, 0xfffffffeu);
  EXPECT_EQ(parsed->patches[2].size, 4u);
  EXPECT_EQ(parsed->patches[3].bits, UINT64_MAX);
  EXPECT_EQ(parsed->patches[3].size, 8u);
  EXPECT_EQ(parsed->patches[4].bits, 0x3f800000u);
  EXPECT_EQ(parsed->patches[5].argument, 4u);
  EXPECT_EQ(parsed->patches[5].bits, 0u);
}

TEST(StructTextTest, NeedsNoPatches) {
  // What is in front of a colon may be a part of the name.
  for (const char *text : {"a", "a:b", "a:b@c:d", "x@y", "ptr@0", "a:B@0=1"}) {
    Result<StructText> parsed = parseStruct(text);
    ASSERT_TRUE(parsed) << parsed.message();
    EXPECT_EQ(parsed->path, text);
    EXPECT_TRUE(parsed->patches.empty());
  }
}

TEST(StructTextTest, RefusesMalformedTexts) {
  const std::pair<const char *, const char *> rows[] = {
      {"", "expected the name of a file, got ''"},
      {":i32@0=1", "expected the name of a file, got ''"},
      {"i32@0=1", "expected the name of a file, got 'i32@0=1'"},
      {"f:u8@0=1", "expected one of ptr@ tmap@ i32@ i64@ f32@, got 'u8@0=1'"},
      {"f:ptr@8", "expected ptr@OFF=VALUE, got 'ptr@8'"},
      {"f:i32@=1", "expected an offset from 0 to 32763 after i32@, got ''"},
      {"f:i32@-4=1", "expected an offset from 0 to 32763 after i32@, got '-4'"},
      {"f:i32@32764=1",
       "expected an offset from 0 to 32763 after i32@, got '32764'"},
      {"f:i32@32761=1", "expected a range within 32764 bytes, got i32@32761 of "
                        "4 bytes at offset 32761"},
      {"f:i32@0=4294967296",
       "i32@0: expected an integer of 32 bits, got '4294967296'"},
      {"f:f32@0=", "f32@0: expected a number that f32 can hold, got ''"},
      {"f:ptr@0=a", "ptr@0: expected N or N+BYTES with the number N of an "
                    "argument, got 'a'"},
      {"f:ptr@0=1+", "ptr@0: expected N or N+BYTES with the number N of an "
                     "argument, got '1+'"},
      {"f:ptr@0=1+-8", "ptr@0: expected N or N+BYTES with the number N of an "
                       "argument, got '1+-8'"},
      {"f:tmap@0=1+8", "tmap@0: expected the number of an argument, got '1+8'"},
      {"f:ptr@12=1", "expected an offset that is a multiple of 8, got ptr@12 "
                     "of 8 bytes at offset 12"},
      {"f:tmap@32=1", "expected an offset that is a multiple of 64, got "
                      "tmap@32 of 128 bytes at offset 32"},
      {"f:i32@188=1:tmap@64=1",
       "expected ranges that do not overlap, got tmap@64 of 128 bytes at "
       "offset 64 and i32@188 of 4 bytes at offset 188"},
      {"f:ptr@8=1:i64@8=1", "expected ranges that do not overlap, got ptr@8 of "
                            "8 bytes at offset 8 and i64@8 of 8 bytes at "
                            "offset 8"},
  };
  for (auto [text, message] : rows) {
    Result<StructText> parsed = parseStruct(text);
    EXPECT_EQ(parsed ? "no error" : parsed.message(), message) << text;
  }
}
