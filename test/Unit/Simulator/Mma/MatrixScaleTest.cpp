//===- MatrixScaleTest.cpp - Tests of block scales and selectors ----------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixTesting.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

#define SA "sync.aligned."
#define OM "sp::ordered_metadata.sync.aligned."

// One form for each scale vector and type of scales, dense and sparse.
static const char *const kForms[] = {
    SA
    "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1."
    "f32.ue8m0",
    SA
    "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32."
    "ue8m0",
    SA
    "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1."
    "f32.ue8m0",
    SA
    "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
    "f32.ue8m0",
    SA
    "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
    "f32.ue4m3",
    OM
    "m16n8k64.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e3m2."
    "f32.ue8m0",
    OM "m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1."
       "f32.ue8m0",
    OM "m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1."
       "e2m1.f32.ue4m3",
};

/// The code of 1 in the element types of the forms.
static unsigned getOne(const std::string &type) {
  return type == "e4m3"   ? 0x38
         : type == "e5m2" ? 0x3C
         : type == "e3m2" ? 12
                          : 2;
}

/// A and B of ones: D(m, n) is the sum of the scales' products, times the
/// products of a block.
static void fillWithOnes(Mma &mma) {
  for (unsigned k = 0; k != mma.d.getKeptK(); ++k)
    for (unsigned m = 0; m != 16; ++m)
      mma.setA(m, k, getOne(mma.d.a));
  for (unsigned k = 0; k != mma.d.k; ++k)
    for (unsigned n = 0; n != 8; ++n)
      mma.setB(k, n, getOne(mma.d.b));
}

/// Four scales for each lane: random, so that no two selections add up to the
/// same products.
static void fillWithScales(Lanes &lanes, const std::string &type,
                           unsigned seed) {
  std::mt19937 random(seed);
  for (uint64_t &word : lanes.value) {
    word = 0;
    for (unsigned byte = 0; byte != 4; ++byte) {
      unsigned code =
          type == "ue8m0" ? 127 - 10 + random() % 20 : 1 + random() % 0x7E;
      word |= uint64_t(code) << (8 * byte);
    }
  }
}

static double getScale(const Lanes &lanes, const std::string &type,
                       unsigned lane, unsigned byte) {
  return decodeElement(type, lanes.value[lane] >> (8 * byte) & 0xFF);
}

/// Calls `body(byteA, threadA, byteB, threadB)` for all that are legal: PTX
/// ISA, table 37.
template <typename Body>
static void forEachSelector(unsigned scaleVec, Body body) {
  for (unsigned byteA = 0; byteA + scaleVec <= 4; byteA += scaleVec)
    for (unsigned threadA = 0; threadA != 2; ++threadA)
      for (unsigned byteB = 0; byteB + scaleVec <= 4; byteB += scaleVec)
        for (unsigned threadB = 0; threadB != 4; ++threadB)
          body(byteA, threadA, byteB, threadB);
}

TEST(MatrixScaleTest, TheWorkedExampleOfTheFactSheet) {
  // Section 3: thread-id-a 0: row 9 is lane 5, row 0 lane 0, row 8 lane 1, row
  // 15 lane 29. Column 3 with thread-id-b 2 is lane 14.
  struct {
    unsigned row, lane;
  } rows[] = {{9, 5}, {0, 0}, {8, 1}, {15, 29}};
  for (auto [row, lane] : rows) {
    Mma mma(kForms[0]);
    fillWithOnes(mma);
    mma.setSelectors(0, 0, 0, 2);
    mma.scaleA.value.fill(0xFF01FF7F);
    mma.scaleB.value.fill(0xFFFFFF7F);
    mma.scaleA.value[lane] = 0xFFFFFF80;
    mma.scaleB.value[14] = 0xFFFFFF82;
    ASSERT_FALSE(mma.run().error);
    for (unsigned m = 0; m != 16; ++m)
      for (unsigned n = 0; n != 8; ++n)
        EXPECT_EQ(mma.getFloat(m, n),
                  32.0f * (m == row ? 2 : 1) * (n == 3 ? 8 : 1));
  }
}

TEST(MatrixScaleTest, EverySelectorReadsItsLanesAndBytes) {
  for (const char *text : kForms) {
    Mma mma(text);
    fillWithOnes(mma);
    fillWithScales(mma.scaleA, mma.d.scale, 1);
    fillWithScales(mma.scaleB, mma.d.scale, 2);
    forEachSelector(mma.d.scaleVec, [&](unsigned byteA, unsigned threadA,
                                        unsigned byteB, unsigned threadB) {
      mma.setSelectors(byteA, threadA, byteB, threadB);
      ASSERT_FALSE(mma.run().error);
      // PTX ISA, 9.7.14.3: of each quad, threads 0 and 1 or 2 and 3 have the
      // scales of rows g and g + 8; thread thread-id-b has those of column g.
      for (unsigned lane = 0; lane != 32; ++lane) {
        if (lane % 4 / 2 != threadA)
          continue;
        unsigned m = lane / 4 + (lane % 2 ? 8 : 0);
        for (unsigned n = 0; n != 8; ++n) {
          double sum = 0;
          for (unsigned q = 0; q != mma.d.scaleVec; ++q)
            sum +=
                getScale(mma.scaleA, mma.d.scale, lane, byteA + q) *
                getScale(mma.scaleB, mma.d.scale, 4 * n + threadB, byteB + q);
          sum *= mma.d.getKeptK() / mma.d.scaleVec;
          ASSERT_EQ(mma.getFloat(m, n), static_cast<float>(sum))
              << text << " " << byteA << threadA << byteB << threadB << " at "
              << m << ", " << n;
        }
      }
    });
  }
}

TEST(MatrixScaleTest, AScaleCoversItsBlock) {
  for (const char *text : kForms) {
    Mma mma(text);
    unsigned blockSize = mma.d.k / mma.d.scaleVec;
    for (unsigned block = 0; block != mma.d.scaleVec; ++block) {
      mma.setScaleA(6, block,
                    mma.d.scale == "ue8m0" ? 128 + block : 0x40 + 8 * block);
      mma.setScaleB(3, block,
                    mma.d.scale == "ue8m0" ? 127 + 4 * block
                                           : 0x38 + 16 * block);
    }
    for (unsigned k = 0; k != mma.d.k; ++k)
      mma.setB(k, 3, getOne(mma.d.b));
    for (unsigned kept = 0; kept != mma.d.getKeptK(); ++kept) {
      mma.setA(6, kept, getOne(mma.d.a));
      if (kept)
        mma.setA(6, kept - 1, 0);
      ASSERT_FALSE(mma.run().error);
      // A kept element is in the first half of its chunk, at 2 * kept or less.
      unsigned block = (mma.d.isSparse ? 2 * kept : kept) / blockSize;
      float scaleA = std::ldexp(2.0f, block);
      float scaleB = std::ldexp(1.0f, (mma.d.scale == "ue8m0" ? 4 : 2) * block);
      EXPECT_EQ(mma.getFloat(6, 3), scaleA * scaleB) << text << " " << kept;
    }
  }
}

//===----------------------------------------------------------------------===//
// Changes of one byte
//===----------------------------------------------------------------------===//

/// Elements of D.
using Changes = std::vector<std::pair<unsigned, unsigned>>;

static Changes findChanges(const std::vector<uint64_t> &before,
                           const std::vector<uint64_t> &after) {
  Changes changes;
  for (unsigned i = 0; i != before.size(); ++i)
    if (before[i] != after[i])
      changes.push_back({i / 8, i % 8});
  return changes;
}

static Changes getRow(unsigned m) {
  Changes row;
  for (unsigned n = 0; n != 8; ++n)
    row.push_back({m, n});
  return row;
}

static Changes getColumn(unsigned n) {
  Changes column;
  for (unsigned m = 0; m != 16; ++m)
    column.push_back({m, n});
  return column;
}

TEST(MatrixMutationTest, AScaleByteChangesItsRowOrColumnOrNothing) {
  for (const char *text : kForms) {
    Mma mma(text);
    fillWithOnes(mma);
    unsigned byteA = 4 - mma.d.scaleVec, byteB = 0;
    mma.setSelectors(byteA, 1, byteB, 2);
    uint64_t one = mma.d.scale == "ue8m0" ? 0x7F7F7F7F : 0x38383838;
    mma.scaleA.value.fill(one);
    mma.scaleB.value.fill(one);
    ASSERT_FALSE(mma.run().error);
    std::vector<uint64_t> before = mma.getResults();
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned byte = 0; byte != 4; ++byte) {
        // Twice the scale: 0x7F becomes 0x80, 0x38 becomes 0x40.
        uint64_t bit = uint64_t(mma.d.scale == "ue8m0" ? 0xFF : 0x78)
                       << (8 * byte);
        mma.scaleA.value[lane] ^= bit;
        ASSERT_FALSE(mma.run().error);
        bool isRead = lane % 4 >= 2 && byte >= byteA;
        EXPECT_EQ(findChanges(before, mma.getResults()),
                  isRead ? getRow(lane / 4 + lane % 2 * 8) : Changes())
            << text << " " << lane << " " << byte;
        mma.scaleA.value[lane] ^= bit;

        mma.scaleB.value[lane] ^= bit;
        ASSERT_FALSE(mma.run().error);
        isRead = lane % 4 == 2 && byte < mma.d.scaleVec;
        EXPECT_EQ(findChanges(before, mma.getResults()),
                  isRead ? getColumn(lane / 4) : Changes())
            << text << " " << lane << " " << byte;
        mma.scaleB.value[lane] ^= bit;
      }
  }
}

TEST(MatrixMutationTest, AnElementChangesItsRowOrColumn) {
  for (const char *text : kForms) {
    Mma mma(text);
    fillWithOnes(mma);
    ASSERT_FALSE(mma.run().error);
    std::vector<uint64_t> before = mma.getResults();
    unsigned slots = 32 / mma.d.slotBits;
    for (bool isA : {true, false}) {
      std::vector<Lanes> &operand = isA ? mma.a : mma.b;
      unsigned numKept = 0;
      for (unsigned r = 0; r != operand.size(); ++r)
        for (unsigned lane = 0; lane != 32; ++lane)
          for (unsigned j = 0; j != slots; ++j) {
            // To 0.
            Lanes saved = operand[r];
            uint64_t mask = (uint64_t(1) << mma.d.slotBits) - 1;
            operand[r].value[lane] &= ~(mask << (j * mma.d.slotBits));
            ASSERT_FALSE(mma.run().error);
            operand[r] = saved;
            auto changes = findChanges(before, mma.getResults());
            if (isA) {
              EXPECT_EQ(changes, getRow(lane / 4 + r % 2 * 8)) << text;
              continue;
            }
            // Half of the rows of B meet an element that A keeps.
            bool isKept = !mma.d.isSparse || !changes.empty();
            EXPECT_EQ(changes, isKept ? getColumn(lane / 4) : Changes())
                << text;
            numKept += isKept;
          }
      EXPECT_EQ(numKept, isA ? 0 : 8 * mma.d.getKeptK()) << text;
    }
  }
}

TEST(MatrixMutationTest, EverySelectorMatters) {
  for (const char *text : kForms) {
    Mma mma(text);
    fillWithOnes(mma);
    fillWithScales(mma.scaleA, mma.d.scale, 1);
    fillWithScales(mma.scaleB, mma.d.scale, 2);
    std::vector<std::vector<uint64_t>> results;
    forEachSelector(mma.d.scaleVec, [&](unsigned byteA, unsigned threadA,
                                        unsigned byteB, unsigned threadB) {
      mma.setSelectors(byteA, threadA, byteB, threadB);
      ASSERT_FALSE(mma.run().error);
      results.push_back(mma.getResults());
    });
    unsigned bytes = 4 / mma.d.scaleVec;
    EXPECT_EQ(results.size(), bytes * 2 * bytes * 4);
    for (size_t i = 0; i != results.size(); ++i)
      for (size_t j = 0; j != i; ++j)
        EXPECT_TRUE(results[i] != results[j]) << text;
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static std::string describe(const MmaOutcome &outcome) {
  if (!outcome.error)
    return "no error";
  return std::to_string(outcome.error->lane) + ": " + outcome.error->text;
}

TEST(MatrixScaleTest, SelectorsOutOfRangeAreErrors) {
  struct {
    unsigned form, byteA, threadA, byteB, threadB;
    const char *message;
  } rows[] = {
      {0, 4, 0, 0, 0, "0: byte-id-a: expected 0 to 3, got 4"},
      {0, 0, 2, 0, 0, "0: thread-id-a: expected 0 or 1, got 2"},
      {0, 0, 0, 65535, 0, "0: byte-id-b: expected 0 to 3, got 65535"},
      {0, 3, 1, 3, 4, "0: thread-id-b: expected 0 to 3, got 4"},
      {0, 3, 1, 3, 3, "no error"},
      {1, 1, 0, 0, 0, "0: byte-id-a: expected 0 or 2, got 1"},
      {1, 0, 0, 3, 0, "0: byte-id-b: expected 0 or 2, got 3"},
      {1, 4, 0, 0, 0, "0: byte-id-a: expected 0 or 2, got 4"},
      {1, 2, 1, 2, 3, "no error"},
      {4, 2, 0, 0, 0, "0: byte-id-a: expected 0, got 2"},
      {4, 0, 0, 1, 0, "0: byte-id-b: expected 0, got 1"},
      {4, 0, 1, 0, 3, "no error"},
      {7, 4, 0, 0, 0, "0: byte-id-a: expected 0, got 4"},
  };
  for (const auto &row : rows) {
    Mma mma(kForms[row.form]);
    mma.setSelectors(row.byteA, row.threadA, row.byteB, row.threadB);
    EXPECT_EQ(describe(mma.run()), row.message);
  }
}

TEST(MatrixScaleTest, SelectorsAreTheSameInAllLanes) {
  Mma mma(kForms[0]);
  mma.threadB.value[17] = 3;
  EXPECT_EQ(describe(mma.run()), "17: thread-id-b: expected the same value in "
                                 "all lanes, got 3 after 0 in lane 0");
  mma.threadB.value.fill(2);
  // Bits above the 16 of the register are not part of the value.
  mma.threadB.value[30] = 0x10002;
  EXPECT_EQ(describe(mma.run()), "no error");
}

TEST(MatrixScaleTest, SelectorsAreDefined) {
  for (auto [lanes, name] : {std::pair(&Mma::byteA, "byte-id-a"),
                             {&Mma::threadA, "thread-id-a"},
                             {&Mma::byteB, "byte-id-b"},
                             {&Mma::threadB, "thread-id-b"}}) {
    Mma mma(kForms[1]);
    (mma.*lanes).setUndefined(31, 2);
    EXPECT_EQ(describe(mma.run()),
              std::string("31: ") + name +
                  ": expected a defined value, got an undefined one");
  }
}

TEST(MatrixScaleTest, AnErrorLeavesDAlone) {
  Mma mma(kForms[0]);
  mma.result[0].value.fill(42);
  mma.setSelectors(4, 0, 0, 0);
  ASSERT_TRUE(mma.run().error);
  for (uint64_t value : mma.result[0].value)
    EXPECT_EQ(value, 42u);
}

TEST(MatrixScaleTest, TheSignOfUE4M3IsIgnoredWithAWarning) {
  Mma mma(kForms[4]);
  fillWithOnes(mma);
  ASSERT_TRUE(mma.run().warnings.empty());
  std::vector<uint64_t> before = mma.getResults();
  mma.setScaleA(9, 2, 0xB8);
  mma.setScaleB(1, 1, 0xB8);
  MmaOutcome outcome = mma.run();
  ASSERT_FALSE(outcome.error);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].lane, 5u);
  EXPECT_EQ(outcome.warnings[0].text,
            "ue4m3 scale: expected 0 in the sign bit, got 0xb8 in byte 2 of "
            "scale-a-data; the bit is ignored");
  EXPECT_EQ(mma.getResults(), before);
  mma.setScaleA(9, 2, 0x38);
  outcome = mma.run();
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].lane, 4u);
  // Scales that are not selected may have it.
  mma.setScaleB(1, 1, 0x38);
  mma.scaleA.value[2] = 0xFFFFFFFF;
  EXPECT_TRUE(mma.run().warnings.empty());
  // 0xFF is NaN.
  mma.setScaleB(1, 1, 0xFF);
  outcome = mma.run();
  EXPECT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(mma.getD(0, 1), 0x7FFFFFFFu);
}
