//===- SharedTileTest.cpp - Tests of tiles and their descriptors ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedDescriptors/SharedTile.h"

#include "gtest/gtest.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr uint64_t kVersion = uint64_t(1) << 46;

//===----------------------------------------------------------------------===//
// Shared memory descriptors
//===----------------------------------------------------------------------===//

static std::string getMatrixError(uint64_t bits) {
  Result<MatrixDescriptor> decoded = MatrixDescriptor::decode(bits);
  return decoded ? "no error" : std::string(decoded.message());
}

TEST(SharedTileTest, FieldsOfMatrices) {
  uint64_t bits = 0x140 | uint64_t(0x12) << 16 | uint64_t(0x40) << 32 |
                  kVersion | uint64_t(5) << 49 | uint64_t(1) << 52 |
                  uint64_t(2) << 61;
  Result<MatrixDescriptor> decoded = MatrixDescriptor::decode(bits);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->start, 0x1400u);
  EXPECT_EQ(decoded->leadingOffset, 0x120u);
  EXPECT_EQ(decoded->strideOffset, 0x400u);
  EXPECT_EQ(decoded->baseOffset, 5u);
  EXPECT_TRUE(decoded->isLeadingAbsolute);
  EXPECT_EQ(decoded->swizzle, SwizzleMode::Bytes128);
  EXPECT_EQ(decoded->print(),
            "0x401a404000120140 {start 320, leading_offset 18, stride_offset "
            "64, version 1, base_offset 5, leading_absolute 1, swizzle 2}");
}

TEST(SharedTileTest, MatricesThatAreRefused) {
  EXPECT_EQ(getMatrixError(0),
            "expected version 1 in a shared memory descriptor, got 0x0 {start "
            "0, leading_offset 0, stride_offset 0, version 0, base_offset 0, "
            "leading_absolute 0, swizzle 0}");
  for (unsigned bit : {14u, 15u, 30u, 31u, 53u, 60u})
    EXPECT_NE(getMatrixError(kVersion | uint64_t(1) << bit)
                  .find("expected 0 in the reserved bits 0x"),
              std::string::npos)
        << bit;
  for (uint64_t swizzle : {3, 5, 7})
    EXPECT_NE(getMatrixError(kVersion | swizzle << 61)
                  .find("expected a swizzle mode out of 0, 1, 2, 4 and 6"),
              std::string::npos);
}

/// The offsets of the chunks of a tile.
static std::vector<uint32_t> locate(uint64_t bits, const TileShape &shape) {
  Result<std::vector<uint32_t>> chunks =
      findChunks(*MatrixDescriptor::decode(bits | kVersion), shape);
  return chunks ? *chunks : std::vector<uint32_t>();
}

TEST(SharedTileTest, ChunksAlongK) {
  TileShape bytes = {9, 32, false, {8, 16}};
  // Without a swizzle: LBO 256, SBO 512.
  std::vector<uint32_t> plain =
      locate(0x100 | uint64_t(16) << 16 | uint64_t(32) << 32, bytes);
  EXPECT_EQ(plain[0], 0x1000u);
  EXPECT_EQ(plain[1], 0x1000u + 256);
  EXPECT_EQ(plain[2 * 7], 0x1000u + 7 * 16);
  EXPECT_EQ(plain[2 * 8], 0x1000u + 512);
  // 128 bytes: row r of 8 has its chunk c at c ^ r; the second 32 bytes of a
  // row.
  std::vector<uint32_t> swizzled =
      locate(0x102 | uint64_t(64) << 32 | uint64_t(2) << 61, bytes);
  for (unsigned row : {0u, 3u, 7u})
    for (unsigned chunk : {0u, 1u})
      EXPECT_EQ(swizzled[2 * row + chunk],
                0x1000 + row * 128 + ((chunk + 2) ^ row) * 16);
  EXPECT_EQ(swizzled[2 * 8], 0x1000u + 1024 + 2 * 16);
}

TEST(SharedTileTest, BaseOffsets) {
  // A pattern that begins at 0x1180 with base offset 3 is permuted as one that
  // begins at 0x1000.
  TileShape shape = {8, 32, false, {8, 16}};
  uint64_t mode = uint64_t(64) << 32 | uint64_t(2) << 61;
  std::vector<uint32_t> at0 = locate(0x100 | mode, shape);
  std::vector<uint32_t> at3 = locate(0x118 | uint64_t(3) << 49 | mode, shape);
  for (unsigned i = 0; i != at0.size(); ++i) {
    unsigned row = i / 2, offset = (at0[i] - 0x1000) % 128;
    EXPECT_EQ(at3[i], 0x1180 + row * 128 + offset) << i;
  }
}

TEST(SharedTileTest, RowsThatLeaveThePattern) {
  TileShape wide = {8, 96, false, {4, 32}};
  Result<std::vector<uint32_t>> chunks =
      findChunks(*MatrixDescriptor::decode(
                     kVersion | 0x106 | uint64_t(64) << 32 | uint64_t(2) << 61),
                 wide);
  ASSERT_FALSE(chunks);
  EXPECT_EQ(
      std::string(chunks.message())
          .rfind(
              "expected all bytes of a row of a matrix in a row of 128 bytes "
              "of the swizzle pattern; the descriptor is 0x",
              0),
      0u);
}

TEST(SharedTileTest, RowsAlongMThatLeaveThePattern) {
  uint64_t bits =
      kVersion | uint64_t(64) << 16 | uint64_t(64) << 32 | uint64_t(2) << 61;
  TileShape half = {64, 32, true, {8, 16}}, whole = {128, 32, true, {8, 16}};
  auto isLegal = [&](uint64_t start, const TileShape &shape) {
    return bool(findChunks(*MatrixDescriptor::decode(bits | start), shape));
  };
  EXPECT_TRUE(isLegal(0x100, whole));
  EXPECT_TRUE(isLegal(0x104, half));
  EXPECT_FALSE(isLegal(0x104, whole));
}

TEST(SharedTileTest, ElementsOfChunks) {
  uint8_t chunk[kChunkBytes];
  for (unsigned i = 0; i != kChunkBytes; ++i)
    chunk[i] = 0x11 * i;
  EXPECT_EQ(getElementBits(chunk, {4, 32}, 3), 0x1u);
  EXPECT_EQ(getElementBits(chunk, {8, 16}, 15), 0xFFu);
  EXPECT_EQ(getElementBits(chunk, {16, 8}, 1), 0x3322u);
  EXPECT_EQ(getElementBits(chunk, {32, 4}, 3), 0xFFEEDDCCu);
  // Bits 6 to 11 of 0x00, 0x11, 0x22.
  EXPECT_EQ(getElementBits(chunk, {6, 16}, 1), 0x4u);
  EXPECT_EQ(getElementBits(chunk, {6, 16}, 15), 0x2Eu);
}
