//===- FragmentLayoutTest.cpp - Registers of mma.sync ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/FragmentLayout.h"
#include "blockscale/Support/PairLayout.h"
#include "blockscale/Support/SparseFragments.h"
#include "gtest/gtest.h"

#include <set>
#include <tuple>
#include <vector>

using namespace mlir::blockscale;

using Position = std::array<int64_t, 3>; // lane, register, slot
using Point = std::array<int64_t, 2>;    // row, column

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static std::vector<Position> getPositions(const FragmentLayout &layout) {
  std::vector<Position> positions;
  for (int64_t lane = 0; lane != kWarpLanes; ++lane)
    for (int64_t reg = 0; reg != layout.registers; ++reg)
      for (int64_t slot = 0; slot != layout.slots; ++slot)
        positions.push_back({lane, reg, slot});
  return positions;
}

// PTX ISA, "Matrix fragments for sparse mma.m16n8k64" and "... m16n8k128".
TEST(FragmentLayout, SparseB) {
  for (int64_t bits : {8, 4}) {
    const FragmentLayout &layout = getSparseBLayout(bits);
    int64_t slots = 32 / bits;
    EXPECT_EQ(layout.rows, 8);
    EXPECT_EQ(layout.columns, 16 * slots);
    EXPECT_EQ(layout.registers, 4);
    for (const Position &at : getPositions(layout)) {
      auto [lane, reg, slot] = at;
      Point element = {lane / 4, slots * (lane % 4) + slot + 4 * slots * reg};
      EXPECT_EQ(applyLayout<2>(layout.toElement, at), element);
      EXPECT_EQ(applyLayout<3>(layout.toLane, element), at);
    }
  }
}

// Lane 4 g + t has the row g, of odd t the row g + 8; t = 2 and 3 have the
// second half of K.
TEST(FragmentLayout, MetadataOfSparseA) {
  using Lane = std::array<int64_t, 1>;
  const MetadataFragment &fragment = getMetadataFragment();
  for (int64_t lane = 0; lane != kWarpLanes; ++lane) {
    Point expected = {lane / 4 + lane % 2 * 8, lane / 2 % 2};
    EXPECT_EQ(applyLayout<2>(fragment.toRow, Lane{lane}), expected);
    EXPECT_EQ(applyLayout<1>(fragment.toLane, expected), Lane{lane});
  }
}

TEST(FragmentLayout, OneForEachOperandAndSlot) {
  EXPECT_EQ(getFragmentLayouts().size(), 7u);
  for (auto [operand, bits, rows, columns] :
       {std::tuple{Operand::A, 16, 16, 16}, std::tuple{Operand::A, 8, 16, 32},
        std::tuple{Operand::A, 4, 16, 64}, std::tuple{Operand::B, 16, 8, 16},
        std::tuple{Operand::B, 8, 8, 32}, std::tuple{Operand::B, 4, 8, 64},
        std::tuple{Operand::C, 32, 16, 8}}) {
    const FragmentLayout &layout = getFragmentLayout(operand, bits);
    EXPECT_EQ(layout.operand, operand);
    EXPECT_EQ(layout.slotBits, unsigned(bits));
    EXPECT_EQ(layout.rows, unsigned(rows));
    EXPECT_EQ(layout.columns, unsigned(columns));
    EXPECT_EQ(layout.slots * layout.slotBits, 32u);
    EXPECT_EQ(kWarpLanes * layout.registers * layout.slots,
              layout.rows * layout.columns);
  }
}

TEST(FragmentLayout, MapsAreInverseBijections) {
  for (const FragmentLayout &layout : getFragmentLayouts()) {
    std::set<Point> seen;
    for (const Position &position : getPositions(layout)) {
      Point point = applyLayout<2>(layout.toElement, position);
      EXPECT_LT(point[0], int64_t(layout.rows));
      EXPECT_LT(point[1], int64_t(layout.columns));
      EXPECT_TRUE(seen.insert(point).second) << point[0] << ", " << point[1];
      EXPECT_EQ(applyLayout<3>(layout.toLane, point), position);
    }
    EXPECT_EQ(seen.size(), size_t(layout.rows) * layout.columns);
    for (const Point &point : seen)
      EXPECT_EQ(applyLayout<2>(layout.toElement,
                               applyLayout<3>(layout.toLane, point)),
                point);
  }
}

// PTX ISA, "Matrix Fragments for mma.m16n8k16", "... m16n8k32" and
// "... m16n8k64", with groupID = lane >> 2 and threadID_in_group = lane % 4.
// PTX numbers the elements of all registers: i = register * slots + slot.

TEST(FragmentLayout, AIsThatOfPtx) {
  for (unsigned bits : {16u, 8u, 4u}) {
    const FragmentLayout &layout = getFragmentLayout(Operand::A, bits);
    int64_t slots = 32 / bits;
    for (const Position &position : getPositions(layout)) {
      int64_t group = position[0] >> 2, thread = position[0] % 4;
      int64_t i = position[1] * slots + position[2];
      bool isUpper = (i >= slots && i < 2 * slots) || i >= 3 * slots;
      int64_t row = isUpper ? group + 8 : group;
      int64_t column =
          thread * slots + i % slots + (i < 2 * slots ? 0 : 128 / bits);
      EXPECT_EQ(applyLayout<2>(layout.toElement, position),
                (Point{row, column}));
    }
  }
}

TEST(FragmentLayout, BIsThatOfPtx) {
  for (unsigned bits : {16u, 8u, 4u}) {
    const FragmentLayout &layout = getFragmentLayout(Operand::B, bits);
    int64_t slots = 32 / bits;
    for (const Position &position : getPositions(layout)) {
      int64_t group = position[0] >> 2, thread = position[0] % 4;
      int64_t i = position[1] * slots + position[2];
      int64_t k = thread * slots + i % slots + (i < slots ? 0 : 128 / bits);
      EXPECT_EQ(applyLayout<2>(layout.toElement, position), (Point{group, k}));
    }
  }
}

TEST(FragmentLayout, CIsThatOfPtx) {
  const FragmentLayout &layout = getFragmentLayout(Operand::C, 32);
  for (const Position &position : getPositions(layout)) {
    int64_t group = position[0] >> 2, thread = position[0] % 4, i = position[1];
    EXPECT_EQ(applyLayout<2>(layout.toElement, position),
              (Point{i < 2 ? group : group + 8, thread * 2 + (i & 1)}));
  }
}

TEST(FragmentLayout, PositionsByHand) {
  const FragmentLayout &a = getFragmentLayout(Operand::A, 8);
  EXPECT_EQ(applyLayout<3>(a.toLane, Point{9, 21}), (Position{5, 3, 1}));
  const FragmentLayout &wide = getFragmentLayout(Operand::A, 16);
  EXPECT_EQ(applyLayout<3>(wide.toLane, Point{9, 11}), (Position{5, 3, 1}));
  const FragmentLayout &packed = getFragmentLayout(Operand::A, 4);
  EXPECT_EQ(applyLayout<3>(packed.toLane, Point{15, 63}), (Position{31, 3, 7}));
  const FragmentLayout &b = getFragmentLayout(Operand::B, 8);
  EXPECT_EQ(applyLayout<3>(b.toLane, Point{3, 18}), (Position{12, 1, 2}));
  const FragmentLayout &c = getFragmentLayout(Operand::C, 32);
  EXPECT_EQ(applyLayout<3>(c.toLane, Point{9, 5}), (Position{6, 3, 0}));
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

TEST(FragmentLayout, Slots) {
  auto check = [](Kind kind, Format format, unsigned bits, unsigned shift) {
    EXPECT_EQ(getSlot(kind, format).bits, bits);
    EXPECT_EQ(getSlot(kind, format).shift, shift);
  };
  check(Kind::MXF8F6F4, Format::E4M3, 8, 0);
  check(Kind::MXF8F6F4, Format::E5M2, 8, 0);
  check(Kind::MXF8F6F4, Format::E3M2, 8, 0); // bits [5:0]
  check(Kind::MXF8F6F4, Format::E2M3, 8, 0); // bits [5:0]
  check(Kind::MXF8F6F4, Format::E2M1, 8, 2); // bits [5:2]
  check(Kind::MXF4, Format::E2M1, 4, 0);
  check(Kind::MXF4NVF4, Format::E2M1, 4, 0);
  check(Kind::Unscaled, Format::BF16, 16, 0);
  check(Kind::Unscaled, Format::F16, 16, 0);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The row of scales that `lane` holds for the tile that `thread` selects, or
/// -1 where the instruction does not read the lane (PTX ISA, figures 42, 43).
static int64_t getRowOfA(int64_t lane, int64_t thread) {
  return lane / 2 % 2 == thread ? lane / 4 + 8 * (lane % 2) : -1;
}
static int64_t getRowOfB(int64_t lane, int64_t thread) {
  return lane % 4 == thread ? lane / 4 : -1;
}

TEST(ScaleFragment, IsThatOfPtx) {
  for (auto [operand, rows, tiles, getRow] :
       {std::tuple{Operand::A, 16, 2, &getRowOfA},
        std::tuple{Operand::B, 8, 4, &getRowOfB}}) {
    const ScaleFragment &scales = getScaleFragment(operand);
    EXPECT_EQ(scales.operand, operand);
    ASSERT_EQ(scales.rowsPerTile, unsigned(rows));
    ASSERT_EQ(scales.tiles, unsigned(tiles));
    for (int64_t lane = 0; lane != kWarpLanes; ++lane)
      for (int64_t thread = 0; thread != tiles; ++thread) {
        int64_t row = getRow(lane, thread);
        if (row >= 0) {
          EXPECT_EQ(applyLayout<1>(scales.toRow, std::array{lane})[0],
                    thread * rows + row);
        }
      }
  }
}

TEST(ScaleFragment, MapsAreInverseBijections) {
  for (Operand operand : {Operand::A, Operand::B}) {
    const ScaleFragment &scales = getScaleFragment(operand);
    std::set<int64_t> rows;
    for (int64_t lane = 0; lane != kWarpLanes; ++lane) {
      std::array<int64_t, 1> row =
          applyLayout<1>(scales.toRow, std::array{lane});
      EXPECT_LT(row[0], int64_t(kWarpLanes));
      EXPECT_TRUE(rows.insert(row[0]).second) << lane;
      EXPECT_EQ(applyLayout<1>(scales.toLane, row)[0], lane);
    }
  }
}

TEST(ScaleFragment, LanesByHand) {
  // Row of the tile, thread selector -> lane.
  auto getLane = [](Operand operand, int64_t row, int64_t thread) {
    const ScaleFragment &scales = getScaleFragment(operand);
    return applyLayout<1>(scales.toLane,
                          std::array{thread * scales.rowsPerTile + row})[0];
  };
  EXPECT_EQ(getLane(Operand::A, 0, 0), 0);
  EXPECT_EQ(getLane(Operand::A, 8, 0), 1);
  EXPECT_EQ(getLane(Operand::A, 9, 0), 5);
  EXPECT_EQ(getLane(Operand::A, 15, 0), 29);
  EXPECT_EQ(getLane(Operand::A, 15, 1), 31);
  EXPECT_EQ(getLane(Operand::B, 3, 2), 14);
}

// PTX ISA, table 37.
TEST(ScaleFragment, ByteSelectors) {
  auto getLegal = [](unsigned scaleVec) {
    std::set<int64_t> legal;
    for (int64_t value = -8; value != 16; ++value)
      if (isLegalByteSelector(scaleVec, value))
        legal.insert(value);
    return legal;
  };
  EXPECT_EQ(getLegal(1), (std::set<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(getLegal(2), (std::set<int64_t>{0, 2}));
  EXPECT_EQ(getLegal(4), (std::set<int64_t>{0}));
  EXPECT_EQ(describeByteSelectors(1), "0, 1, 2, 3");
  EXPECT_EQ(describeByteSelectors(2), "0, 2");
  EXPECT_EQ(describeByteSelectors(4), "0");
}

// Each of the 32 elements of a step is in one pair, and both in a pair are
// neighbours, in the orders of the comment in PairLayout.h.
TEST(PairLayout, ElementsOfStep) {
  for (bool isPacked : {false, true})
    for (bool isSwapped : {false, true}) {
      std::set<unsigned> elements;
      for (unsigned thread = 0; thread != 4; ++thread)
        for (unsigned i = 0; i != kInstructionsPerStep; ++i)
          for (unsigned pair = 0; pair != kPairsPerInstruction; ++pair) {
            unsigned first =
                getPairElement({isPacked, isSwapped}, thread, i, pair);
            EXPECT_EQ(first % 2, 0u);
            EXPECT_LT(first, kStepElements);
            EXPECT_EQ(first / (isPacked ? 8 : 4) % 4, thread);
            elements.insert(first);
          }
      EXPECT_EQ(elements.size(), kStepElements / 2);
    }
  EXPECT_EQ(getPairElement({false, false}, 3, 1, 1), 30u);
  EXPECT_EQ(getPairElement({false, true}, 3, 1, 1), 28u);
  EXPECT_EQ(getPairElement({true, false}, 3, 0, 1), 26u);
  EXPECT_EQ(getPairElement({true, true}, 3, 0, 1), 28u);
  EXPECT_TRUE(getPairOrder(Kind::BF16Packed, false).isPacked);
  EXPECT_FALSE(getPairOrder(Kind::BF16, true).isPacked);
  EXPECT_TRUE(getPairOrder(Kind::BF16, true).isSwapped);
}
