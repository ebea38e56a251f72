//===- MatrixUndefinedTest.cpp - Tests of undefined bytes and padding -----===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixTesting.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

#define SA "sync.aligned."
#define OM "sp::ordered_metadata.sync.aligned."

static const char *const kForms[] = {
    SA
    "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e3m2."
    "f32.ue8m0",
    SA
    "m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32."
    "ue8m0",
    SA
    "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1."
    "f32.ue4m3",
    SA "m16n8k16.row.col.f16.f16.f16.f16",
    SA "m16n8k16.row.col.f32.bf16.bf16.f32",
    SA "m16n8k8.row.col.f32.tf32.tf32.f32",
    SA "m16n8k8.row.col.f64.f64.f64.f64",
    SA "m8n8k16.row.col.s32.u8.s8.s32",
    OM "m16n8k32.row.col.f32.f16.f16.f32",
    OM "m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1."
       "f32.ue8m0",
};

/// Checks that exactly the elements of D with `isUndefined(m, n)` are
/// undefined.
template <typename Predicate>
static void expectUndefined(Mma &mma, Predicate isUndefined) {
  MmaOutcome outcome = mma.run();
  ASSERT_FALSE(outcome.error) << outcome.error->text;
  for (unsigned m = 0; m != mma.d.m; ++m)
    for (unsigned n = 0; n != 8; ++n)
      ASSERT_EQ(mma.isUndefined(m, n), isUndefined(m, n))
          << mma.text << " " << m << " " << n;
}

TEST(MatrixUndefinedTest, AByteOfASpoilsItsRow) {
  for (const char *text : kForms) {
    Mma mma(text);
    unsigned numBytes = mma.d.slotBits == 64 ? 8 : 4;
    for (unsigned r = 0; r != mma.a.size(); ++r)
      for (unsigned lane = 0; lane != 32; ++lane)
        for (unsigned byte = 0; byte != numBytes; ++byte) {
          mma.a[r].setUndefined(lane, 1u << byte);
          unsigned row = lane / 4 + (mma.d.m == 16 ? r % 2 * 8 : 0);
          expectUndefined(mma, [&](unsigned m, unsigned) { return m == row; });
          mma.a[r].setUndefined(lane, 0);
        }
    expectUndefined(mma, [](unsigned, unsigned) { return false; });
  }
}

TEST(MatrixUndefinedTest, AByteOfBSpoilsItsColumn) {
  for (const char *text : kForms) {
    Mma mma(text);
    unsigned numBytes = mma.d.slotBits == 64 ? 8 : 4;
    for (unsigned r = 0; r != mma.b.size(); ++r)
      for (unsigned lane = 0; lane != 32; ++lane)
        for (unsigned byte = 0; byte != numBytes; ++byte) {
          mma.b[r].setUndefined(lane, 1u << byte);
          expectUndefined(mma,
                          [&](unsigned, unsigned n) { return n == lane / 4; });
          mma.b[r].setUndefined(lane, 0);
        }
  }
}

TEST(MatrixUndefinedTest, AnAccumulatorSpoilsItself) {
  for (const char *text : kForms) {
    Mma mma(text);
    unsigned bytes = mma.d.getAccumulatorBits() / 8;
    for (unsigned m = 0; m != mma.d.m; ++m)
      for (unsigned n = 0; n != 8; ++n)
        for (unsigned byte = 0; byte != bytes; ++byte) {
          Position position = locateC(mma.d, m, n);
          Lanes &lanes = mma.c[position.reg];
          lanes.setUndefined(position.lane,
                             1u << (position.slot * bytes + byte));
          expectUndefined(
              mma, [&](unsigned i, unsigned j) { return i == m && j == n; });
          lanes.setUndefined(position.lane, 0);
        }
  }
}

TEST(MatrixUndefinedTest, AScaleByteSpoilsItsRowOrColumnIfSelected) {
  for (const char *text : kForms) {
    Mma mma(text);
    if (!mma.d.scaleVec)
      continue;
    unsigned firstByte = 4 - mma.d.scaleVec;
    mma.setSelectors(firstByte, 1, firstByte, 3);
    mma.scaleA.value.fill(mma.d.scale == "ue8m0" ? 0x7F7F7F7F : 0x38383838);
    mma.scaleB.value = mma.scaleA.value;
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned byte = 0; byte != 4; ++byte) {
        mma.scaleA.setUndefined(lane, 1u << byte);
        expectUndefined(mma, [&](unsigned m, unsigned) {
          return lane % 4 >= 2 && byte >= firstByte &&
                 m == lane / 4 + lane % 2 * 8;
        });
        mma.scaleA.setUndefined(lane, 0);
        mma.scaleB.setUndefined(lane, 1u << byte);
        expectUndefined(mma, [&](unsigned, unsigned n) {
          return lane % 4 == 3 && byte >= firstByte && n == lane / 4;
        });
        mma.scaleB.setUndefined(lane, 0);
      }
  }
}

TEST(MatrixUndefinedTest, MetadataSpoilsItsRows) {
  // f16, k32: bytes 0 and 1 are of row g, bytes 2 and 3 of row g + 8; threads
  // 2 and 3 contribute.
  Mma f16(OM "m16n8k32.row.col.f32.f16.f16.f32");
  f16.selector = 1;
  f16.metadata.value.fill(0x44444444);
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned byte = 0; byte != 4; ++byte) {
      // The metadata is illegal, too, but it is ignored.
      f16.metadata.value[lane] &= ~(uint64_t(0xFF) << (8 * byte));
      f16.metadata.setUndefined(lane, 1u << byte);
      expectUndefined(f16, [&](unsigned m, unsigned) {
        return lane % 4 >= 2 && m == lane / 4 + byte / 2 * 8;
      });
      f16.metadata.value[lane] = 0x44444444;
      f16.metadata.setUndefined(lane, 0);
    }
  // mxf4, k128: all bytes are of row g in even threads, of g + 8 in odd ones.
  Mma mxf4(OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32."
              "ue8m0");
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned byte = 0; byte != 4; ++byte) {
      mxf4.metadata.setUndefined(lane, 1u << byte);
      expectUndefined(mxf4, [&](unsigned m, unsigned) {
        return m == lane / 4 + lane % 2 * 8;
      });
      mxf4.metadata.setUndefined(lane, 0);
    }
}

TEST(MatrixUndefinedTest, DefinedResultsReplaceUndefinedOnes) {
  Mma mma(SA "m16n8k16.row.col.f16.f16.f16.f16");
  for (Lanes &lanes : mma.result)
    for (unsigned lane = 0; lane != 32; ++lane) {
      lanes.value[lane] = 0xFFFFFFFFFFFFFFFF;
      lanes.setUndefined(lane, 0xFF);
    }
  mma.setC(4, 3, 0x3C00);
  expectUndefined(mma, [](unsigned, unsigned) { return false; });
  for (unsigned r = 0; r != 2; ++r)
    for (unsigned lane = 0; lane != 32; ++lane)
      EXPECT_EQ(mma.result[r].value[lane],
                r == 0 && lane == 17 ? 0x3C000000u : 0u);
}

TEST(MatrixUndefinedTest, BothNumericsKeepTrack) {
  Mma mma(kForms[0]);
  mma.a[1].setUndefined(9, 1);
  ASSERT_FALSE(mma.run(/*hardware=*/120).error);
  for (unsigned m = 0; m != 16; ++m)
    EXPECT_EQ(mma.isUndefined(m, 3), m == 10);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

TEST(MatrixPaddingTest, BitsOfContainersAreIgnoredWithAWarning) {
  struct {
    const char *type;
    unsigned padding;
  } types[] = {
      {"e4m3", 0}, {"e5m2", 0}, {"e3m2", 0xC0}, {"e2m3", 0xC0}, {"e2m1", 0xC3}};
  for (const char *kind : {"kind::f8f6f4.f32.", "kind::mxf8f6f4.block_scale."
                                                "f32."})
    for (auto [type, padding] : types)
      for (bool isA : {true, false}) {
        std::string scaled =
            llvm::StringRef(kind).contains("block") ? ".ue8m0" : "";
        std::string a = isA ? type : "e5m2", b = isA ? "e4m3" : type;
        Mma mma(SA "m16n8k32.row.col." + std::string(kind) + a + "." + b +
                ".f32" + scaled);
        std::vector<Lanes> &operand = isA ? mma.a : mma.b;
        for (unsigned bit = 0; bit != 8; ++bit) {
          operand[1].value[21] = 1u << (8 + bit);
          MmaOutcome outcome = mma.run();
          ASSERT_FALSE(outcome.error);
          if (!(padding >> bit & 1)) {
            EXPECT_TRUE(outcome.warnings.empty()) << mma.text << " " << bit;
            continue;
          }
          ASSERT_EQ(outcome.warnings.size(), 1u) << mma.text << " " << bit;
          EXPECT_EQ(outcome.warnings[0].lane, 21u);
          char expected[256];
          snprintf(expected, sizeof(expected),
                   "padding bits of %s in 8-bit containers: expected 0 in the "
                   "bits 0x%02x of each byte, got 0x%08x in register 1 of "
                   "operand %s",
                   type, padding, 1u << (8 + bit), isA ? "a" : "b");
          EXPECT_EQ(outcome.warnings[0].text, expected);
          for (uint64_t result : mma.getResults())
            EXPECT_EQ(result, 0u);
        }
      }
}

TEST(MatrixPaddingTest, OneWarningForAllRegisters) {
  Mma mma(kForms[0]);
  for (Lanes &lanes : mma.a)
    lanes.value.fill(0xFFFFFFFF);
  for (Lanes &lanes : mma.b)
    lanes.value.fill(0xFFFFFFFF);
  MmaOutcome outcome = mma.run();
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].lane, 0u);
  // The values are those of the element bits: -6 and -28.
  EXPECT_EQ(mma.getFloat(0, 0), 32 * 6 * 28);
}

TEST(MatrixPaddingTest, UndefinedBytesAreNotChecked) {
  Mma mma(kForms[0]);
  mma.a[0].value[3] = 0xC0000000;
  mma.a[0].setUndefined(3, 8);
  EXPECT_TRUE(mma.run().warnings.empty());
  mma.a[0].value[3] |= 0xC0;
  EXPECT_EQ(mma.run().warnings.size(), 1u);
}

TEST(MatrixPaddingTest, PackedFp4HasNoPadding) {
  Mma mma(kForms[1]);
  for (Lanes &lanes : mma.a)
    lanes.value.fill(0xFFFFFFFF);
  EXPECT_TRUE(mma.run().warnings.empty());
}
