//===- TensorMapBoxTest.cpp - Tests of boxes of tensor copies -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies/TensorMapBox.h"
#include "Copies/TensorMaps.h"

#include "gtest/gtest.h"

#include <tuple>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

using Kind = BoxPiece::Kind;
using Row = std::tuple<Kind, uint64_t, uint32_t, uint32_t>;

/// A map of an array of bytes; `text` follows the file name.
static TensorMap makeMap(const std::string &text, DType dtype,
                         std::vector<int64_t> shape) {
  Result<TensorMapText> parsed = parseTensorMap("f:" + text);
  EXPECT_TRUE(parsed) << parsed.message();
  NpyArray array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  Error error = setTensor(parsed->map, array);
  EXPECT_FALSE(error) << error.message();
  return parsed->map;
}

static std::vector<Row> cut(const TensorMap &map,
                            std::vector<int32_t> coordinates, uint64_t address,
                            bool isStore = false) {
  std::vector<Row> rows;
  for (const BoxPiece &piece :
       cutBox(map, coordinates, address, isStore).pieces)
    rows.emplace_back(piece.kind, piece.kind == Kind::Fill ? 0 : piece.global,
                      piece.shared, piece.size);
  return rows;
}

TEST(TensorBoxTest, RowsAreContiguous) {
  TensorMap map = makeMap("u2:BOX=2x8:SWIZZLE=none", DType::U2, {4, 16});
  EXPECT_EQ(getBoxBytes(map), 32u);
  EXPECT_EQ(getTransactionBytes(map), 32u);
  EXPECT_EQ(cut(map, {3, 1}, 0), (std::vector<Row>{{Kind::Copy, 38, 0, 16},
                                                   {Kind::Copy, 70, 16, 16}}));
  // Whole rows are one piece.
  EXPECT_EQ(
      cut(makeMap("u2:BOX=2x16:SWIZZLE=none", DType::U2, {4, 16}), {0, 1}, 0),
      (std::vector<Row>{{Kind::Copy, 32, 0, 64}}));
}

TEST(TensorBoxTest, OutsideIsFilledOrSkipped) {
  TensorMap map = makeMap("u1:BOX=3x16:SWIZZLE=none", DType::U1, {2, 32});
  EXPECT_EQ(cut(map, {-4, -1}, 0),
            (std::vector<Row>{{Kind::Fill, 0, 0, 20},
                              {Kind::Copy, 0, 20, 12},
                              {Kind::Fill, 0, 32, 4},
                              {Kind::Copy, 32, 36, 12}}));
  EXPECT_EQ(cut(map, {28, 1}, 0, /*isStore=*/true),
            (std::vector<Row>{{Kind::Copy, 60, 0, 4}}));
  EXPECT_EQ(cut(map, {INT32_MAX, INT32_MIN}, 0),
            (std::vector<Row>{{Kind::Fill, 0, 0, 48}}));
  EXPECT_TRUE(cut(map, {INT32_MIN, INT32_MAX}, 0, /*isStore=*/true).empty());
}

TEST(TensorBoxTest, ElementStridesLeaveOut) {
  TensorMap map =
      makeMap("u1:BOX=5x16:SWIZZLE=none:STRIDES=2x1", DType::U1, {8, 32});
  EXPECT_EQ(getBoxBytes(map), 48u);
  EXPECT_EQ(cut(map, {0, 3}, 0), (std::vector<Row>{{Kind::Copy, 96, 0, 16},
                                                   {Kind::Copy, 160, 16, 16},
                                                   {Kind::Copy, 224, 32, 16}}));
}

TEST(TensorBoxTest, DimensionsGoUpwards) {
  TensorMap map =
      makeMap("u1:BOX=1x2x2x1x16:SWIZZLE=none", DType::U1, {2, 3, 4, 5, 16});
  // Byte strides are 16, 80, 320, 960.
  EXPECT_EQ(cut(map, {0, 4, 2, 1, 1}, 0),
            (std::vector<Row>{{Kind::Copy, 64 + 160 + 320 + 960, 0, 16},
                              {Kind::Copy, 64 + 240 + 320 + 960, 16, 16},
                              {Kind::Copy, 64 + 160 + 640 + 960, 32, 16},
                              {Kind::Copy, 64 + 240 + 640 + 960, 48, 16}}));
}

/// The positions of the chunks of 16 bytes of one swizzle row of 128 bytes, for
/// a box that starts in swizzle row `row`.
static std::vector<uint32_t> getChunks(const std::string &swizzle,
                                       unsigned width, uint64_t row) {
  TensorMap map = makeMap("u1:BOX=" + std::to_string(128 / width) + "x" +
                              std::to_string(width) + ":SWIZZLE=" + swizzle,
                          DType::U1, {16, width});
  std::vector<uint32_t> order(8);
  for (const BoxPiece &piece : cutBox(map, {0, 0}, row * 128, false).pieces)
    for (uint32_t i = 0; i != piece.size; i += 16)
      order[(piece.shared + i) / 16] = (piece.global + i) / 16;
  return order;
}

// The tables of section 5.5.7.
TEST(TensorBoxTest, SwizzlesDependOnTheSwizzleRow) {
  using Chunks = std::vector<uint32_t>;
  EXPECT_EQ(getChunks("32", 32, 0), (Chunks{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(getChunks("32", 32, 1), (Chunks{1, 0, 3, 2, 5, 4, 7, 6}));
  EXPECT_EQ(getChunks("32", 32, 2), (Chunks{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(getChunks("64", 64, 1), (Chunks{1, 0, 3, 2, 5, 4, 7, 6}));
  EXPECT_EQ(getChunks("64", 64, 2), (Chunks{2, 3, 0, 1, 6, 7, 4, 5}));
  EXPECT_EQ(getChunks("64", 64, 7), (Chunks{3, 2, 1, 0, 7, 6, 5, 4}));
  EXPECT_EQ(getChunks("128", 128, 4), (Chunks{4, 5, 6, 7, 0, 1, 2, 3}));
  EXPECT_EQ(getChunks("128", 128, 13), (Chunks{5, 4, 7, 6, 1, 0, 3, 2}));
  EXPECT_EQ(getChunks("128-atom32", 128, 1), (Chunks{2, 3, 0, 1, 6, 7, 4, 5}));
  EXPECT_EQ(getChunks("128-atom32", 128, 7), (Chunks{6, 7, 4, 5, 2, 3, 0, 1}));
  EXPECT_EQ(getChunks("128-atom64", 128, 3), (Chunks{4, 5, 6, 7, 0, 1, 2, 3}));
  EXPECT_EQ(getChunks("128-atom64", 128, 2), (Chunks{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(TensorBoxTest, HalvesFlipInOddSwizzleRows) {
  TensorMap map =
      makeMap("u1:BOX=1x16:SWIZZLE=128-atom32-flip8", DType::U1, {2, 16});
  EXPECT_EQ(cut(map, {0, 0}, 128),
            (std::vector<Row>{{Kind::Copy, 0, 40, 8}, {Kind::Copy, 8, 32, 8}}));
  EXPECT_EQ(cut(map, {0, 0}, 256), (std::vector<Row>{{Kind::Copy, 0, 64, 16}}));
}

TEST(TensorBoxTest, PackedTypes) {
  TensorMap dense =
      makeMap("u4x16_align8:BOX=1x32:SWIZZLE=none", DType::U1, {2, 16});
  EXPECT_EQ(dense.sizes[0], 32u);
  EXPECT_EQ(cut(dense, {-2, 1}, 0),
            (std::vector<Row>{{Kind::Fill, 0, 0, 1}, {Kind::Copy, 16, 1, 15}}));

  TensorMap four =
      makeMap("u4x16_align16:BOX=1x128:SWIZZLE=128", DType::U1, {2, 64});
  EXPECT_EQ(getBoxBytes(four), 128u);
  EXPECT_EQ(getTransactionBytes(four), 64u);
  std::vector<Row> rows = cut(four, {0, 1}, 128);
  ASSERT_EQ(rows.size(), 16u);
  EXPECT_EQ(rows[0], Row(Kind::Copy, 64, 16, 8));
  EXPECT_EQ(rows[1], Row(Kind::Gap, 0, 24, 8));
  EXPECT_EQ(rows[2], Row(Kind::Copy, 72, 0, 8));

  TensorMap six =
      makeMap("u6x16_align16:BOX=1x128:SWIZZLE=none", DType::U1, {2, 96});
  EXPECT_EQ(six.sizes[0], 128u);
  EXPECT_EQ(getTransactionBytes(six), 96u);
  rows = cut(six, {0, 1}, 0);
  ASSERT_EQ(rows.size(), 16u);
  EXPECT_EQ(rows[2], Row(Kind::Copy, 108, 16, 12));
  EXPECT_EQ(rows[3], Row(Kind::Gap, 0, 28, 4));
  EXPECT_EQ(cut(six, {0, 1}, 0, /*isStore=*/true),
            (std::vector<Row>{{Kind::Pack6, 96, 0, 128}}));
}

TEST(TensorMapsTest, OnlyWholeImagesAreMaps) {
  TensorMap map =
      makeMap("u1:BOX=3x16:SWIZZLE=128-atom64:STRIDES=2x1", DType::U1, {8, 64});
  uint8_t bytes[tensorMapBytes] = {};
  EXPECT_FALSE(TensorMapFields::read(bytes));
  TensorMapFields(map, 4096).write(bytes);
  std::optional<TensorMapFields> fields = TensorMapFields::read(bytes);
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->address, 4096u);
  EXPECT_EQ(fields->sizes[0], 64u);
  EXPECT_EQ(fields->strides[0], 64u);
  EXPECT_EQ(fields->box[1], 3u);
  EXPECT_EQ(fields->elementStrides[1], 2u);
  EXPECT_EQ(fields->swizzleMode, 3u);
  EXPECT_EQ(fields->swizzleAtomicity, 3u);
  for (uint8_t &byte : bytes) {
    byte ^= 1;
    EXPECT_FALSE(TensorMapFields::read(bytes));
    byte ^= 1;
  }
}
