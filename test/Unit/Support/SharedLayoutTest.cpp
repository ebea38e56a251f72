//===- SharedLayoutTest.cpp - Tiles in shared memory ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/SharedLayout.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir::blockscale;

static int64_t getOuter(int64_t row, int64_t part) {
  return applyLayout<1>(kScaleOuterTerms, std::array<int64_t, 2>{row, part})[0];
}

static int64_t getRow(int64_t outer, int64_t part) {
  return applyLayout<1>(kScaleRowTerms, std::array<int64_t, 2>{outer, part})[0];
}

TEST(SharedLayout, OuterIndicesOfScalesAreABijection) {
  for (int64_t part = 0; part != 8; ++part) {
    std::set<int64_t> indices;
    for (int64_t row = 0; row != kWarpLanes; ++row) {
      int64_t outer = getOuter(row, part);
      EXPECT_LT(outer, int64_t(kWarpLanes));
      EXPECT_EQ(getRow(outer, part), row) << part;
      indices.insert(outer);
    }
    EXPECT_EQ(indices.size(), kWarpLanes);
  }
}

// By hand, from the description of `scale_tile_layout`.
TEST(SharedLayout, OuterIndicesOfScalesByHand) {
  EXPECT_EQ(getOuter(1, 0), 4);
  EXPECT_EQ(getOuter(8, 0), 1);
  EXPECT_EQ(getOuter(31, 0), 31);
  EXPECT_EQ(getOuter(0, 1), 1);
  EXPECT_EQ(getOuter(9, 3), 4 + (1 ^ 3));
  EXPECT_EQ(getOuter(9, 7), getOuter(9, 3));
}

// Lane l holds 32-bit words of the row at outer index l of part 0.
TEST(SharedLayout, WordsAreInTheOrderOfLanes) {
  for (Operand operand : {Operand::A, Operand::B}) {
    const ScaleFragment &fragment = getScaleFragment(operand);
    for (int64_t lane = 0; lane != kWarpLanes; ++lane)
      EXPECT_EQ(applyLayout<1>(fragment.toRow, std::array<int64_t, 1>{lane})[0],
                getRow(lane, 0));
  }
}

// The 32-bit words of one row, which are neighbours in the 32x4x4 layout, are
// in four parts, each in another bank.
TEST(SharedLayout, WordsOfARowAreInDifferentBanks) {
  constexpr int64_t kBanks = kBankRowBytes / 4;
  for (int64_t row = 0; row != kWarpLanes; ++row) {
    std::set<int64_t> banks;
    for (int64_t part = 0; part != 4; ++part)
      banks.insert((part * kWarpLanes + getOuter(row, part)) % kBanks);
    EXPECT_EQ(banks.size(), 4u) << row;
  }
}

TEST(SharedLayout, TermsThatShareBitsAreExclusive) {
  constexpr std::array<LayoutTerm, 2> terms = {
      {{0, 0, 1, 4, 1}, {0, 1, 1, 4, 1}}};
  EXPECT_EQ(applyLayout<1>(terms, std::array<int64_t, 2>{3, 1})[0], 2);
}

//===----------------------------------------------------------------------===//
// Layouts of elements
//===----------------------------------------------------------------------===//

/// The layouts of elements of `bits` bits that `kind` supports.
static std::string listLayouts(Kind kind, unsigned bits) {
  std::string names;
  for (unsigned major = 0; major != kNumMajors; ++major)
    for (unsigned storage = 0; storage != kNumStorages; ++storage)
      if (canLie(kind, bits, Major(major), Storage(storage)))
        names += std::string(stringifyMajor(Major(major))) + '-' +
                 std::string(stringifyStorage(Storage(storage))) + ' ';
  return names;
}

TEST(SharedLayout, WhereOperandsCanLie) {
  EXPECT_EQ(listLayouts(Kind::MXF8F6F4, 8),
            "k-slots k-bytes mn-slots mn-bytes ");
  for (unsigned bits : {4, 6})
    EXPECT_EQ(listLayouts(Kind::MXF8F6F4, bits),
              "k-slots k-bytes k-padded mn-slots mn-bytes mn-padded ");
  EXPECT_EQ(listLayouts(Kind::MXF4, 4), "k-slots ");
  EXPECT_EQ(listLayouts(Kind::MXF4NVF4, 4), "k-slots ");
  EXPECT_EQ(listLayouts(Kind::BF16, 8), "k-slots mn-slots ");
  EXPECT_EQ(listLayouts(Kind::BF16, 6), "k-slots k-padded mn-slots ");
  EXPECT_EQ(listLayouts(Kind::BF16, 4), "k-slots k-packed mn-slots mn-packed ");
  EXPECT_EQ(listLayouts(Kind::BF16Packed, 4), "k-slots mn-slots ");
  // Packed slots are those of fp4.
  for (Kind kind : {Kind::MXF4, Kind::MXF4NVF4, Kind::BF16Packed})
    for (unsigned bits : {6, 8})
      EXPECT_EQ(listLayouts(kind, bits), "");
}

// As many groups as there are elements in 16 bits.
TEST(SharedLayout, InterleavedGroups) {
  constexpr Slot kByte = {8, 0}, kNibble = {4, 0};
  auto get = [](Kind kind, Major major, Storage storage, Slot slot) {
    return getInterleave(kind, {major, storage}, slot);
  };
  EXPECT_EQ(get(Kind::BF16, Major::MN, Storage::Slots, kByte), 2u);
  EXPECT_EQ(get(Kind::BF16, Major::MN, Storage::Packed, kByte), 4u);
  EXPECT_EQ(get(Kind::BF16Packed, Major::MN, Storage::Slots, kNibble), 4u);
  EXPECT_EQ(get(Kind::BF16, Major::K, Storage::Slots, kByte), 1u);
  EXPECT_EQ(get(Kind::BF16, Major::K, Storage::Packed, kByte), 1u);
  EXPECT_EQ(get(Kind::BF16Packed, Major::K, Storage::Slots, kNibble), 1u);
  EXPECT_EQ(get(Kind::MXF8F6F4, Major::MN, Storage::Slots, kByte), 1u);
}

TEST(SharedLayout, BitsOfAnElement) {
  constexpr Slot kByte = {8, 0}, kNibble = {4, 0};
  EXPECT_EQ(getStoredBits(Storage::Slots, kByte), 8u);
  EXPECT_EQ(getStoredBits(Storage::Slots, kNibble), 4u);
  EXPECT_EQ(getStoredBits(Storage::Bytes, kByte), 8u);
  EXPECT_EQ(getStoredBits(Storage::Padded, kByte), 8u);
  EXPECT_EQ(getStoredBits(Storage::Packed, kByte), 4u);
}

// A slot of a byte has the code in its low bits if elements are dequantized.
TEST(SharedLayout, SlotsOfDequantizedElements) {
  for (Format format : getFormats(/*areScales=*/false)) {
    Slot slot = getSlot(Kind::BF16, format);
    EXPECT_EQ(slot.bits, 8u);
    EXPECT_EQ(slot.shift, 0u);
  }
  EXPECT_EQ(getSlot(Kind::BF16Packed, Format::E2M1).bits, 4u);
  EXPECT_EQ(getSlot(Kind::MXF8F6F4, Format::E2M1).shift, 2u);
}

TEST(SharedLayout, LoadsThatTransposeSixteenBits) {
  const MatrixLoad *load = lookupMatrixLoad(16, /*isTransposed=*/true);
  ASSERT_NE(load, nullptr);
  EXPECT_EQ(load->lowestPtx, 65u);
  EXPECT_EQ(load->codeBits, 16u);
  EXPECT_EQ(lookupMatrixLoad(16, /*isTransposed=*/false), nullptr);
}

TEST(SharedLayout, RanksAndNames) {
  EXPECT_EQ(stringifyStorage(Storage::Packed), "packed");
  EXPECT_EQ(getScaleRank(ScaleOrder::Rows), 2u);
  EXPECT_EQ(getScaleRank(ScaleOrder::Parts), 4u);
  EXPECT_EQ(stringifyScaleOrder(ScaleOrder::Lanes), "lanes");
}
