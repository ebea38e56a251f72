//===- MatrixSparseTest.cpp - Tests of sparse metadata --------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixTesting.h"

#include <gtest/gtest.h>

#include <set>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

#define SP "sp.sync.aligned."
#define OM "sp::ordered_metadata.sync.aligned."

/// The metadata that is accepted in all chunks.
static std::set<unsigned> findLegalFields(llvm::StringRef text) {
  std::set<unsigned> legal;
  Mma mma(text);
  for (unsigned field = 0; field != 16; ++field) {
    mma.metadata.value.fill(field * 0x11111111u);
    MmaOutcome outcome = mma.run();
    if (!outcome.error && !outcome.strict)
      legal.insert(field);
  }
  return legal;
}

TEST(MatrixSparseTest, LegalFields) {
  std::set<unsigned> ordered = {0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110};
  std::set<unsigned> different = ordered;
  different.insert({0b0001, 0b0010, 0b0110, 0b0011, 0b0111, 0b1011});
  std::set<unsigned> halves = {0b0100, 0b1110};
  struct {
    const char *text;
    std::set<unsigned> expected;
  } rows[] = {
      {OM "m16n8k16.row.col.f32.f16.f16.f32", ordered},
      {SP "m16n8k16.row.col.f32.f16.f16.f32", different},
      {OM "m16n8k32.row.col.f32.bf16.bf16.f32", ordered},
      {SP "m16n8k32.row.col.f32.bf16.bf16.f32", different},
      {OM "m16n8k8.row.col.f32.tf32.tf32.f32", halves},
      {SP "m16n8k8.row.col.f32.tf32.tf32.f32", halves},
      {OM "m16n8k32.row.col.s32.s8.u8.s32", ordered},
      {SP "m16n8k32.row.col.s32.s8.u8.s32", different},
      {OM "m16n8k128.row.col.s32.s4.u4.s32", ordered},
      {SP "m16n8k128.row.col.s32.s4.u4.s32", different},
      {OM "m16n8k64.row.col.f32.e4m3.e5m2.f32", ordered},
      {SP "m16n8k64.row.col.f32.e4m3.e5m2.f32", ordered},
      {OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
       ordered},
      {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
       ordered},
  };
  for (const auto &row : rows)
    EXPECT_EQ(findLegalFields(row.text), row.expected) << row.text;
}

/// Row m, a chunk, and the position of its field, by hand from the PTX ISA,
/// section 9.7.14.6.2, figures 119, 122, 125, 127, 129, 136, 137, 139, 146 and
/// 147.
TEST(MatrixSparseTest, PositionsOfMetadata) {
  struct {
    const char *text;
    unsigned selector, row, firstColumn, lane, firstBit;
  } rows[] = {
      {OM "m16n8k16.row.col.f32.f16.f16.f32", 0, 0, 0, 0, 0},
      {OM "m16n8k16.row.col.f32.f16.f16.f32", 0, 0, 12, 0, 12},
      {OM "m16n8k16.row.col.f32.f16.f16.f32", 0, 8, 0, 0, 16},
      {OM "m16n8k16.row.col.f32.f16.f16.f32", 3, 13, 4, 23, 20},
      {OM "m16n8k32.row.col.f32.f16.f16.f32", 0, 2, 12, 8, 12},
      {OM "m16n8k32.row.col.f32.f16.f16.f32", 0, 2, 16, 9, 0},
      {OM "m16n8k32.row.col.f32.f16.f16.f32", 1, 10, 28, 11, 28},
      {OM "m16n8k8.row.col.f32.tf32.tf32.f32", 0, 1, 6, 4, 12},
      {OM "m16n8k8.row.col.f32.tf32.tf32.f32", 2, 9, 2, 6, 20},
      {OM "m16n8k16.row.col.f32.tf32.tf32.f32", 0, 1, 8, 5, 0},
      {OM "m16n8k16.row.col.f32.tf32.tf32.f32", 1, 15, 14, 31, 28},
      {OM "m16n8k32.row.col.s32.s8.s8.s32", 0, 3, 28, 12, 28},
      {OM "m16n8k32.row.col.s32.s8.s8.s32", 1, 11, 4, 15, 4},
      {OM "m16n8k64.row.col.s32.s4.s4.s32", 0, 11, 56, 13, 28},
      {OM "m16n8k64.row.col.s32.s4.s4.s32", 1, 3, 8, 14, 4},
      {OM "m16n8k64.row.col.s32.u8.u8.s32", 0, 5, 28, 20, 28},
      {OM "m16n8k64.row.col.s32.u8.u8.s32", 0, 5, 32, 22, 0},
      {OM "m16n8k64.row.col.s32.u8.u8.s32", 0, 13, 60, 23, 28},
      {OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0",
       0, 13, 0, 21, 0},
      {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 0,
       0, 56, 0, 28},
      {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 0,
       0, 64, 2, 0},
      {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 0,
       15, 120, 31, 28},
  };
  for (const auto &row : rows) {
    Mma mma(row.text);
    mma.selector = row.selector;
    mma.metadata.value.fill(0x44444444);
    mma.metadata.value[row.lane] |= uint64_t(15) << row.firstBit;
    MmaOutcome outcome = mma.run();
    ASSERT_TRUE(outcome.error) << row.text;
    EXPECT_EQ(outcome.error->lane, row.lane) << row.text;
    unsigned last = row.firstColumn + mma.d.getChunk() - 1;
    std::string legal = mma.d.a == "tf32" ? "0b0100 or 0b1110"
                                          : "0b0100, 0b1000, 0b1001, 0b1100, "
                                            "0b1101 or 0b1110";
    EXPECT_EQ(outcome.error->text,
              "metadata: expected " + legal + " for the columns " +
                  std::to_string(row.firstColumn) + " to " +
                  std::to_string(last) + " of row " + std::to_string(row.row) +
                  ", got 0b1111 in the bits " + std::to_string(row.firstBit) +
                  " to " + std::to_string(row.firstBit + 3))
        << row.text;
  }
}

TEST(MatrixSparseTest, OtherThreadsMayHoldAnything) {
  struct {
    const char *text;
    unsigned numSelectors;
  } rows[] = {
      {OM "m16n8k16.row.col.f32.f16.f16.f32", 4},
      {OM "m16n8k32.row.col.f32.bf16.bf16.f32", 2},
      {OM "m16n8k8.row.col.f32.tf32.tf32.f32", 4},
      {OM "m16n8k16.row.col.f32.tf32.tf32.f32", 2},
      {OM "m16n8k32.row.col.s32.s8.s8.s32", 2},
      {OM "m16n8k64.row.col.s32.s8.s8.s32", 1},
      {OM "m16n8k64.row.col.s32.s4.s4.s32", 2},
      {OM "m16n8k128.row.col.s32.s4.s4.s32", 1},
      {OM "m16n8k64.row.col.f32.e4m3.e4m3.f32", 1},
      {OM "m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e2m3.f16", 1},
      {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
       1},
  };
  for (auto [text, numSelectors] : rows) {
    unsigned threads = 4 / numSelectors;
    Mma mma(text);
    for (mma.selector = 0; mma.selector != numSelectors; ++mma.selector)
      for (unsigned lane = 0; lane != 32; ++lane) {
        mma.metadata.value.fill(0x44444444);
        mma.metadata.value[lane] = 0xFFFFFFFF;
        bool contributes = lane % 4 / threads == mma.selector;
        EXPECT_EQ(mma.run().error.has_value(), contributes)
            << text << " " << lane;
      }
    mma.metadata.value.fill(0x44444444);
    MmaOutcome outcome = mma.run();
    ASSERT_TRUE(outcome.error) << text;
    const char *range = numSelectors == 4   ? "0 to 3"
                        : numSelectors == 2 ? "0 or 1"
                                            : "0";
    EXPECT_EQ(outcome.error->text, std::string("sparsity selector: expected ") +
                                       range + ", got " +
                                       std::to_string(numSelectors));
  }
}

/// 0b0000 in a chunk of row 9, which keeps zeros and, at `place`, a one.
static MmaOutcome runWithFieldOfZeros(Mma &mma, uint64_t one,
                                      std::optional<unsigned> place) {
  unsigned chunk = 3, kept = mma.d.getChunk() / 2;
  for (unsigned m = 0; m != 16; ++m)
    for (unsigned k = 0; k != mma.d.getKeptK(); ++k)
      mma.setA(m, k, one);
  for (unsigned i = 0; i != kept; ++i)
    mma.setA(9, chunk * kept + i, place == i ? one : 0);
  mma.setMetadata(9, chunk, 0);
  return mma.run();
}

TEST(MatrixSparseTest, ChunksOfZerosMayHaveNoField) {
  struct {
    const char *text;
    uint64_t one;
  } rows[] = {
      {SP "m16n8k32.row.col.f32.f16.f16.f32", 0x3C00},
      {OM "m16n8k32.row.col.s32.s8.u8.s32", 1},
      {OM "m16n8k128.row.col.s32.s4.u4.s32", 1},
      {OM "m16n8k64.row.col.f32.e4m3.e5m2.f32", 0x38},
      {OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
       0x38},
      {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
       2},
  };
  for (auto [text, one] : rows) {
    Mma mma(text);
    MmaOutcome outcome = runWithFieldOfZeros(mma, one, std::nullopt);
    EXPECT_FALSE(outcome.error) << text;
    ASSERT_TRUE(outcome.strict) << text;
    EXPECT_EQ(outcome.strict->text.find("metadata: expected 0b0"), 0u) << text;
    EXPECT_NE(outcome.strict->text.find(" of row 9, got 0b0000 in the bits "),
              std::string::npos)
        << outcome.strict->text;
    EXPECT_NE(outcome.strict->text.find(", where the kept values are 0"),
              std::string::npos)
        << outcome.strict->text;
    for (unsigned place = 0; place != mma.d.getChunk() / 2; ++place) {
      outcome = runWithFieldOfZeros(mma, one, place);
      ASSERT_TRUE(outcome.error) << text << " " << place;
      EXPECT_EQ(outcome.error->text.find(", where"), std::string::npos);
    }
  }
  // A chunk of tf32 keeps one element, and its field names both halves of it.
  Mma halves(OM "m16n8k8.row.col.f32.tf32.tf32.f32");
  EXPECT_TRUE(runWithFieldOfZeros(halves, 0x3F800000, std::nullopt).error);
}

TEST(MatrixSparseTest, FieldsOfZerosNameTheFirstPlace) {
  // NaN is in the first place of the chunk, or in the second.
  for (unsigned place : {0u, 1u}) {
    Mma mma(OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32."
               "ue8m0");
    for (unsigned m = 0; m != 16; ++m)
      mma.setMetadata(m, 3, m == 9 ? 0 : 0b1110);
    mma.setB(4 * 3 + place, 6, 0x7F);
    ASSERT_TRUE(mma.run().strict);
    for (unsigned m = 0; m != 16; ++m)
      for (unsigned n = 0; n != 8; ++n)
        EXPECT_EQ(mma.getD(m, n),
                  m == 9 && n == 6 && place == 0 ? 0x7FFFFFFFu : 0u)
            << m << " " << n;
  }
}

TEST(MatrixSparseTest, PositionsByHand) {
  // Row 2 of A: kept 1, 2 (f16 0x3C00, 0x4000) of columns 4 to 7, whose B is
  // 1, 2, 4, 8 in column 0.
  struct {
    unsigned field;
    float expected;
  } rows[] = {{0b0100, 1 * 1 + 2 * 2}, {0b1000, 1 * 1 + 2 * 4},
              {0b1100, 1 * 1 + 2 * 8}, {0b1001, 1 * 2 + 2 * 4},
              {0b1101, 1 * 2 + 2 * 8}, {0b1110, 1 * 4 + 2 * 8},
              {0b0001, 1 * 2 + 2 * 1}, {0b1011, 1 * 8 + 2 * 4}};
  for (auto [field, expected] : rows) {
    Mma mma(SP "m16n8k16.row.col.f32.f16.f16.f32");
    mma.setA(2, 2, 0x3C00);
    mma.setA(2, 3, 0x4000);
    for (unsigned i = 0; i != 4; ++i)
      mma.setB(4 + i, 0, 0x3C00 + 0x400 * i);
    mma.setMetadata(2, 1, field);
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getFloat(2, 0), expected) << field;
  }
  // Pairs of s4: 1, 2 and 3, 4 of columns 8 to 15, whose B is 0 to 7.
  struct {
    unsigned field;
    uint32_t expected;
  } pairs[] = {{0b0100, 0 + 2 + 2 * 3 + 3 * 4},
               {0b1100, 0 + 2 + 6 * 3 + 7 * 4},
               {0b1001, 2 + 3 * 2 + 4 * 3 + 5 * 4},
               {0b0011, 6 + 7 * 2 + 0 + 4}};
  for (auto [field, expected] : pairs) {
    Mma mma(SP "m16n8k64.row.col.s32.s4.s4.s32");
    for (unsigned i = 0; i != 4; ++i)
      mma.setA(9, 4 + i, 1 + i);
    for (unsigned i = 0; i != 8; ++i)
      mma.setB(8 + i, 5, i);
    mma.setMetadata(9, 1, field);
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getD(9, 5), expected) << field;
  }
  // tf32: the even or the odd column.
  for (unsigned field : {0b0100, 0b1110}) {
    Mma mma(OM "m16n8k8.row.col.f32.tf32.tf32.f32");
    mma.setA(8, 3, 0x3F800000);
    mma.setB(6, 1, 0x40000000);
    mma.setB(7, 1, 0x40800000);
    mma.setMetadata(8, 3, field);
    ASSERT_FALSE(mma.run().error);
    EXPECT_EQ(mma.getFloat(8, 1), field == 0b0100 ? 2.0f : 4.0f);
  }
}

TEST(MatrixSparseTest, DroppedElementsAreNotMultiplied) {
  // Infinity in a row of B that no row of A keeps: 0 * infinity is not formed.
  Mma mma(OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e5m2.f32."
             "ue8m0");
  mma.setB(2, 0, 0x7C);
  ASSERT_FALSE(mma.run().error);
  for (unsigned m = 0; m != 16; ++m)
    EXPECT_EQ(mma.getFloat(m, 0), 0.0f);
  mma.setMetadata(11, 0, 0b1000);
  ASSERT_FALSE(mma.run().error);
  for (unsigned m = 0; m != 16; ++m)
    EXPECT_EQ(mma.getD(m, 0), m == 11 ? 0x7FFFFFFFu : 0u);
}

TEST(MatrixSparseTest, AFieldChangesItsRow) {
  for (const std::string &text : listInstructions()) {
    Description d = describe(text);
    if (!d.isSparse || d.c == "f64")
      continue;
    Mma mma(text);
    std::mt19937 random(8);
    // Ones in A; in B, ones in even chunk halves of columns 0 to 3.
    uint64_t one = d.slotBits == 16   ? (d.a == "f16" ? 0x3C00 : 0x3F80)
                   : d.slotBits == 32 ? 0x3F800000
                   : d.a == "e4m3"    ? 0x38
                   : d.a == "e5m2"    ? 0x3C
                   : d.a == "e3m2"    ? 12
                   : d.a == "e2m3"    ? 8
                   : d.a == "e2m1"    ? 2
                                      : 1;
    uint64_t oneOfB = d.slotBits >= 16 ? one
                      : d.b == "e4m3"  ? 0x38
                      : d.b == "e5m2"  ? 0x3C
                      : d.b == "e3m2"  ? 12
                      : d.b == "e2m3"  ? 8
                      : d.b == "e2m1"  ? 2
                                       : 1;
    for (unsigned m = 0; m != 16; ++m)
      for (unsigned k = 0; k != d.getKeptK(); ++k)
        mma.setA(m, k, one);
    for (unsigned k = 0; k != d.k; ++k)
      if (k % d.getChunk() < d.getChunk() / 2)
        mma.setB(k, 4, oneOfB);
    ASSERT_FALSE(mma.run().error);
    std::vector<uint64_t> before = mma.getResults();
    unsigned chunks = d.k / d.getChunk();
    for (unsigned i = 0; i != 20; ++i) {
      unsigned m = random() % 16, chunk = random() % chunks;
      mma.setMetadata(m, chunk, 0b1110);
      ASSERT_FALSE(mma.run().error);
      mma.setMetadata(m, chunk, 0b0100);
      std::vector<uint64_t> after = mma.getResults();
      for (unsigned j = 0; j != before.size(); ++j)
        EXPECT_EQ(before[j] != after[j], j == m * 8 + 4) << text;
    }
  }
}
