//===- MatrixLayoutTest.cpp - Tests of fragment layouts -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas of the PTX ISA, sections 9.7.14.5.1 to 9.7.14.5.13 and
// 9.7.14.6.2, as it states them: for element i of a lane's registers, counted
// through all of them. One element of A or B is 1, and the bits of the columns
// or rows of the other matrix encode the k with which it is multiplied.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixTesting.h"

#include "llvm/ADT/bit.h"

#include <gtest/gtest.h>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;
using namespace mlir::blockscale::sim::mmatest;

namespace {

/// Row and column of an element.
struct Index {
  unsigned row, col;
};

using Formula = Index (*)(unsigned groupID, unsigned threadID, unsigned i);

/// A shape and the formulas of its section.
struct Shape {
  /// One instruction of the shape.
  const char *text;
  unsigned numA, numB, numC;
  /// Of a sparse A, `col` is the first of the window that holds the element,
  /// and the last argument of `formulaA` the element.
  Formula formulaA, formulaB, formulaC;
};

} // namespace

// Elements of C: c0 and c1, c2 and c3.
static Index formulaC16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}
static Index formulaC8(unsigned g, unsigned t, unsigned i) {
  return {g, t * 2 + i};
}

// 16-bit elements.
static Index formulaA16x8(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}
static Index formulaA16x16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 || (4 <= i && i < 6) ? g : g + 8,
          i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
}
static Index formulaB16x8(unsigned g, unsigned t, unsigned i) {
  return {t * 2 + i, g};
}
static Index formulaB16x16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
}

// tf32 and f64.
static Index formulaA32x4(unsigned g, unsigned t, unsigned i) {
  return {i == 0 ? g : g + 8, t};
}
static Index formulaA32x8(unsigned g, unsigned t, unsigned i) {
  return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
}
static Index formulaB32x4(unsigned g, unsigned t, unsigned) { return {t, g}; }
static Index formulaB32x8(unsigned g, unsigned t, unsigned i) {
  return {i == 0 ? t : t + 4, g};
}
static Index formulaA64x4M8(unsigned g, unsigned t, unsigned) { return {g, t}; }
static Index formulaA64x16(unsigned g, unsigned t, unsigned i) {
  return i % 2 == 0 ? Index{g, i * 2 + t} : Index{g + 8, i * 2 - 2 + t};
}
static Index formulaB64x16(unsigned g, unsigned t, unsigned i) {
  return {t + i * 4, g};
}

// 8-bit elements.
static Index formulaA8x16M8(unsigned g, unsigned t, unsigned i) {
  return {g, t * 4 + i};
}
static Index formulaB8x16(unsigned g, unsigned t, unsigned i) {
  return {t * 4 + i, g};
}
static Index formulaA8x16(unsigned g, unsigned t, unsigned i) {
  return {i < 4 ? g : g + 8, t * 4 + (i & 3)};
}
static Index formulaA8x32(unsigned g, unsigned t, unsigned i) {
  return {i < 4 || (8 <= i && i < 12) ? g : g + 8,
          i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
}
static Index formulaB8x32(unsigned g, unsigned t, unsigned i) {
  return {i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
}

// 4-bit elements.
static Index formulaA4x32M8(unsigned g, unsigned t, unsigned i) {
  return {g, t * 8 + i};
}
static Index formulaB4x32(unsigned g, unsigned t, unsigned i) {
  return {t * 8 + i, g};
}
static Index formulaA4x32(unsigned g, unsigned t, unsigned i) {
  return {i < 8 ? g : g + 8, t * 8 + (i & 7)};
}
static Index formulaA4x64(unsigned g, unsigned t, unsigned i) {
  return {i < 8 || (16 <= i && i < 24) ? g : g + 8,
          i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32};
}
static Index formulaB4x64(unsigned g, unsigned t, unsigned i) {
  return {i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g};
}

// Sparse: firstcol. B has no formulas; figures 121, 124, 132 to 135 and 142 to
// 145 go on as the dense ones.
static Index sparseA16x16(unsigned g, unsigned t, unsigned i) {
  return {i < 2 ? g : g + 8, t * 4};
}
static Index sparseA16x32(unsigned g, unsigned t, unsigned i) {
  return {i < 2 || (4 <= i && i < 6) ? g : g + 8, i < 4 ? t * 4 : t * 4 + 16};
}
static Index sparseA32x8(unsigned g, unsigned t, unsigned i) {
  return {i == 0 ? g : g + 8, t * 2};
}
static Index sparseA32x16(unsigned g, unsigned t, unsigned i) {
  return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t * 2 : t * 2 + 8};
}
static Index sparseA8x32(unsigned g, unsigned t, unsigned i) {
  return {i < 4 ? g : g + 8, t * 8};
}
static Index sparseA8x64(unsigned g, unsigned t, unsigned i) {
  return {i < 4 || (8 <= i && i < 12) ? g : g + 8, i < 8 ? t * 8 : t * 8 + 32};
}
static Index sparseA4x64(unsigned g, unsigned t, unsigned i) {
  return {i < 8 ? g : g + 8, t * 16};
}
static Index sparseA4x128(unsigned g, unsigned t, unsigned i) {
  return {i < 8 || (16 <= i && i < 24) ? g : g + 8,
          i < 16 ? t * 16 : t * 16 + 64};
}
static Index formulaB16x32(unsigned g, unsigned t, unsigned i) {
  return {t * 2 + (i & 1) + 8 * (i / 2), g};
}
static Index formulaB32x16(unsigned g, unsigned t, unsigned i) {
  return {t + 4 * i, g};
}
static Index formulaB8x64(unsigned g, unsigned t, unsigned i) {
  return {t * 4 + (i & 3) + 16 * (i / 4), g};
}
static Index formulaB4x128(unsigned g, unsigned t, unsigned i) {
  return {t * 8 + (i & 7) + 32 * (i / 8), g};
}

#define SA "sync.aligned."
#define OM "sp::ordered_metadata.sync.aligned."
// clang-format off
static const Shape kShapes[] = {
  {SA "m16n8k8.row.col.f32.f16.f16.f32",       4,  2, 4, formulaA16x8,   formulaB16x8,  formulaC16},
  {SA "m16n8k8.row.col.f16.f16.f16.f16",       4,  2, 4, formulaA16x8,   formulaB16x8,  formulaC16},
  {SA "m16n8k8.row.col.f32.bf16.bf16.f32",     4,  2, 4, formulaA16x8,   formulaB16x8,  formulaC16},
  {SA "m16n8k16.row.col.f32.f16.f16.f32",      8,  4, 4, formulaA16x16,  formulaB16x16, formulaC16},
  {SA "m16n8k16.row.col.f16.f16.f16.f16",      8,  4, 4, formulaA16x16,  formulaB16x16, formulaC16},
  {SA "m16n8k16.row.col.f32.bf16.bf16.f32",    8,  4, 4, formulaA16x16,  formulaB16x16, formulaC16},
  {SA "m16n8k4.row.col.f32.tf32.tf32.f32",     2,  1, 4, formulaA32x4,   formulaB32x4,  formulaC16},
  {SA "m16n8k8.row.col.f32.tf32.tf32.f32",     4,  2, 4, formulaA32x8,   formulaB32x8,  formulaC16},
  {SA "m8n8k4.row.col.f64.f64.f64.f64",        1,  1, 2, formulaA64x4M8, formulaB32x4,  formulaC8},
  {SA "m16n8k4.row.col.f64.f64.f64.f64",       2,  1, 4, formulaA32x4,   formulaB32x4,  formulaC16},
  {SA "m16n8k8.row.col.f64.f64.f64.f64",       4,  2, 4, formulaA32x8,   formulaB32x8,  formulaC16},
  {SA "m16n8k16.row.col.f64.f64.f64.f64",      8,  4, 4, formulaA64x16,  formulaB64x16, formulaC16},
  {SA "m8n8k16.row.col.s32.s8.u8.s32",         4,  4, 2, formulaA8x16M8, formulaB8x16,  formulaC8},
  {SA "m16n8k16.row.col.s32.u8.s8.s32",        8,  4, 4, formulaA8x16,   formulaB8x16,  formulaC16},
  {SA "m16n8k32.row.col.s32.s8.s8.s32",       16,  8, 4, formulaA8x32,   formulaB8x32,  formulaC16},
  {SA "m8n8k32.row.col.s32.s4.u4.s32",         8,  8, 2, formulaA4x32M8, formulaB4x32,  formulaC8},
  {SA "m16n8k32.row.col.s32.u4.s4.s32",       16,  8, 4, formulaA4x32,   formulaB4x32,  formulaC16},
  {SA "m16n8k64.row.col.s32.s4.s4.s32",       32, 16, 4, formulaA4x64,   formulaB4x64,  formulaC16},
  {SA "m16n8k16.row.col.f32.e4m3.e5m2.f32",    8,  4, 4, formulaA8x16,   formulaB8x16,  formulaC16},
  {SA "m16n8k16.row.col.f16.e5m2.e4m3.f16",    8,  4, 4, formulaA8x16,   formulaB8x16,  formulaC16},
  {SA "m16n8k32.row.col.f16.e4m3.e5m2.f16",   16,  8, 4, formulaA8x32,   formulaB8x32,  formulaC16},
  {SA "m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32", 16, 8, 4, formulaA8x32, formulaB8x32, formulaC16},
  {SA "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m3.f32.ue8m0", 16, 8, 4, formulaA8x32, formulaB8x32, formulaC16},
  {SA "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 32, 16, 4, formulaA4x64, formulaB4x64, formulaC16},
  {SA "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 32, 16, 4, formulaA4x64, formulaB4x64, formulaC16},
  {OM "m16n8k16.row.col.f32.f16.f16.f32",      4,  4, 4, sparseA16x16,   formulaB16x16, formulaC16},
  {OM "m16n8k32.row.col.f32.bf16.bf16.f32",    8,  8, 4, sparseA16x32,   formulaB16x32, formulaC16},
  {OM "m16n8k32.row.col.f16.f16.f16.f16",      8,  8, 4, sparseA16x32,   formulaB16x32, formulaC16},
  {OM "m16n8k8.row.col.f32.tf32.tf32.f32",     2,  2, 4, sparseA32x8,    formulaB32x8,  formulaC16},
  {OM "m16n8k16.row.col.f32.tf32.tf32.f32",    4,  4, 4, sparseA32x16,   formulaB32x16, formulaC16},
  {OM "m16n8k32.row.col.s32.s8.s8.s32",        8,  8, 4, sparseA8x32,    formulaB8x32,  formulaC16},
  {OM "m16n8k64.row.col.s32.u8.u8.s32",       16, 16, 4, sparseA8x64,    formulaB8x64,  formulaC16},
  {OM "m16n8k64.row.col.s32.s4.s4.s32",       16, 16, 4, sparseA4x64,    formulaB4x64,  formulaC16},
  {OM "m16n8k128.row.col.s32.u4.u4.s32",      32, 32, 4, sparseA4x128,   formulaB4x128, formulaC16},
  {OM "m16n8k64.row.col.f32.e4m3.e4m3.f32",   16, 16, 4, sparseA8x64,    formulaB8x64,  formulaC16},
  {OM "m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", 16, 16, 4, sparseA8x64, formulaB8x64, formulaC16},
  {OM "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m3.e5m2.f32.ue8m0", 16, 16, 4, sparseA8x64, formulaB8x64, formulaC16},
  {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 32, 32, 4, sparseA4x128, formulaB4x128, formulaC16},
};
// clang-format on

/// The code of 1.
static uint64_t getOne(const std::string &type) {
  for (uint64_t code = 0; code != 256; ++code)
    if (type.size() < 4 ? type[0] != 'f' : type[0] == 'e')
      if (decodeElement(type, code) == 1)
        return code;
  return type == "f16"    ? 0x3C00
         : type == "bf16" ? 0x3F80
         : type == "f64"  ? 0x3FF0000000000000
                          : 0x3F800000;
}

/// Element i of a lane, counted through its registers.
static void setElement(std::vector<Lanes> &operand, unsigned lane, unsigned i,
                       unsigned slotBits, uint64_t code) {
  unsigned slots = slotBits == 64 ? 1 : 32 / slotBits;
  operand[i / slots].value[lane] |= code << (i % slots * slotBits);
}

/// All elements of D by the formula, as doubles.
static std::vector<double> readResults(const Mma &mma, const Shape &shape) {
  std::vector<double> results(mma.d.m * 8, -1);
  unsigned bits = mma.d.getAccumulatorBits();
  unsigned slots = bits == 64 ? 1 : 32 / bits;
  for (unsigned lane = 0; lane != 32; ++lane)
    for (unsigned i = 0; i != shape.numC; ++i) {
      uint64_t word = mma.result[i / slots].value[lane] >> (i % slots * bits);
      if (bits == 16)
        word &= 0xFFFF;
      Index index = shape.formulaC(lane / 4, lane % 4, i);
      results[index.row * 8 + index.col] = decodeElement(mma.d.c, word);
    }
  return results;
}

static uint64_t getSlotCode(const std::string &type, unsigned slotBits) {
  return getOne(type) << (type == "e2m1" && slotBits == 8 ? 2 : 0);
}

/// The logical column of element i of a lane, where all metadata is `field`.
static unsigned getColumn(const Description &d, unsigned firstColumn,
                          unsigned i, unsigned field) {
  unsigned slots = d.slotBits == 64 ? 1 : 32 / d.slotBits;
  unsigned j = i % slots;
  unsigned first = field & 3, second = field >> 2;
  if (d.slotBits == 32)
    return firstColumn + first / 2;
  // Pairs of 4-bit elements: j = 0, 1 with the first index.
  if (d.slotBits == 4)
    return firstColumn + j / 4 * 8 + 2 * (j % 4 < 2 ? first : second) + j % 2;
  return firstColumn + j / 2 * 4 + (j % 2 ? second : first);
}

TEST(MatrixLayoutTest, EveryElementOfA) {
  for (const Shape &shape : kShapes)
    for (unsigned field : {0b0100, 0b1110, 0b1000, 0b1101}) {
      Mma mma(shape.text);
      if (!mma.d.isSparse && field != 0b0100)
        continue;
      if (mma.d.a == "tf32" && field != 0b0100 && field != 0b1110)
        continue;
      mma.metadata.value.fill(field * 0x11111111u);
      ASSERT_EQ(shape.numA * 32, mma.d.m * mma.d.getKeptK()) << shape.text;
      // Column n of B has bit n of k + 1.
      for (unsigned lane = 0; lane != 32; ++lane)
        for (unsigned i = 0; i != shape.numB; ++i) {
          Index index = shape.formulaB(lane / 4, lane % 4, i);
          if ((index.row + 1) >> index.col & 1)
            setElement(mma.b, lane, i, mma.d.slotBits,
                       getSlotCode(mma.d.b, mma.d.slotBits));
        }
      for (unsigned lane = 0; lane != 32; ++lane)
        for (unsigned i = 0; i != shape.numA; ++i) {
          for (Lanes &lanes : mma.a)
            lanes.value.fill(0);
          setElement(mma.a, lane, i, mma.d.slotBits,
                     getSlotCode(mma.d.a, mma.d.slotBits));
          MmaOutcome outcome = mma.run();
          ASSERT_FALSE(outcome.error) << outcome.error->text;
          ASSERT_TRUE(outcome.warnings.empty());
          Index index = shape.formulaA(lane / 4, lane % 4, i);
          unsigned k = mma.d.isSparse ? getColumn(mma.d, index.col, i, field)
                                      : index.col;
          std::vector<double> expected(mma.d.m * 8, 0);
          for (unsigned n = 0; n != 8; ++n)
            expected[index.row * 8 + n] = (k + 1) >> n & 1;
          ASSERT_EQ(readResults(mma, shape), expected)
              << shape.text << " lane " << lane << " element " << i;
        }
    }
}

TEST(MatrixLayoutTest, EveryElementOfB) {
  for (const Shape &shape : kShapes) {
    Mma mma(shape.text);
    ASSERT_EQ(shape.numB * 32, 8 * mma.d.k) << shape.text;
    // Row m of A has bit m of k + 1, where k is kept.
    std::vector<bool> isKept(mma.d.k, !mma.d.isSparse);
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned i = 0; i != shape.numA; ++i) {
        Index index = shape.formulaA(lane / 4, lane % 4, i);
        if (mma.d.isSparse)
          index.col = getColumn(mma.d, index.col, i, 0b0100);
        isKept[index.col] = true;
        if ((index.col + 1) >> index.row & 1)
          setElement(mma.a, lane, i, mma.d.slotBits,
                     getSlotCode(mma.d.a, mma.d.slotBits));
      }
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned i = 0; i != shape.numB; ++i) {
        for (Lanes &lanes : mma.b)
          lanes.value.fill(0);
        setElement(mma.b, lane, i, mma.d.slotBits,
                   getSlotCode(mma.d.b, mma.d.slotBits));
        ASSERT_FALSE(mma.run().error);
        Index index = shape.formulaB(lane / 4, lane % 4, i);
        std::vector<double> expected(mma.d.m * 8, 0);
        if (isKept[index.row])
          for (unsigned m = 0; m != mma.d.m; ++m)
            expected[m * 8 + index.col] = (index.row + 1) >> m & 1;
        ASSERT_EQ(readResults(mma, shape), expected)
            << shape.text << " lane " << lane << " element " << i;
      }
  }
}

TEST(MatrixLayoutTest, EveryElementOfCStaysInItsRegister) {
  for (const Shape &shape : kShapes) {
    Mma mma(shape.text);
    unsigned bits = mma.d.getAccumulatorBits();
    for (unsigned r = 0; r != mma.c.size(); ++r)
      for (unsigned lane = 0; lane != 32; ++lane) {
        // Small distinct values, none NaN.
        uint64_t number = 1 + r * 64 + lane;
        mma.c[r].value[lane] =
            bits == 16 ? (number + 32) << 16 | number : number;
      }
    ASSERT_FALSE(mma.run().error);
    for (unsigned r = 0; r != mma.c.size(); ++r)
      EXPECT_EQ(mma.result[r].value, mma.c[r].value) << shape.text;
  }
}

TEST(MatrixLayoutTest, RegistersOfOperands) {
  struct {
    const char *text;
    unsigned a, b, c;
    Type aType, bType, cType;
  } rows[] = {
      {SA "m16n8k8.row.col.f16.f16.f16.f16", 2, 1, 2, Type::F16x2, Type::F16x2,
       Type::F16x2},
      {SA "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 2, 4, Type::B32, Type::B32,
       Type::F32},
      {SA "m16n8k4.row.col.f32.tf32.tf32.f32", 2, 1, 4, Type::B32, Type::B32,
       Type::F32},
      {SA "m8n8k4.row.col.f64.f64.f64.f64", 1, 1, 2, Type::F64, Type::F64,
       Type::F64},
      {SA "m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, Type::F64, Type::F64,
       Type::F64},
      {SA "m8n8k16.row.col.s32.u8.s8.s32", 1, 1, 2, Type::B32, Type::B32,
       Type::S32},
      {SA "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 4,
       2, 4, Type::B32, Type::B32, Type::F32},
      {OM "m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 4,
       4, 4, Type::B32, Type::B32, Type::F32},
      {OM "m16n8k8.row.col.f32.tf32.tf32.f32", 2, 2, 4, Type::B32, Type::B32,
       Type::F32},
  };
  for (const auto &row : rows) {
    MmaRegisters registers = Mma(row.text).registers;
    EXPECT_EQ(registers.a, row.a) << row.text;
    EXPECT_EQ(registers.b, row.b) << row.text;
    EXPECT_EQ(registers.c, row.c) << row.text;
    EXPECT_EQ(registers.d, row.c) << row.text;
    EXPECT_EQ(registers.aType, row.aType) << row.text;
    EXPECT_EQ(registers.bType, row.bType) << row.text;
    EXPECT_EQ(registers.cType, row.cType) << row.text;
    EXPECT_EQ(registers.dType, row.cType) << row.text;
    llvm::StringRef text = row.text;
    EXPECT_EQ(registers.isSparse, text.starts_with("sp"));
    EXPECT_EQ(registers.isBlockScaled, text.contains("block_scale"));
  }
}

TEST(MatrixLayoutTest, DMayBeRegistersOfTheOperands) {
  Mma mma(SA "m16n8k32.row.col.s32.s8.s8.s32");
  std::mt19937 random(7);
  mma.randomize(random, /*withSpecials=*/false);
  ASSERT_FALSE(mma.run().error);
  std::vector<uint64_t> expected = mma.getResults();
  for (bool isA : {false, true}) {
    Mma other = mma;
    std::vector<Lanes> &shared = isA ? other.a : other.c;
    std::vector<const Lanes *> a, b, c;
    std::vector<Lanes *> d;
    for (unsigned r = 0; r != 4; ++r) {
      a.push_back(&other.a[r]);
      c.push_back(&other.c[r]);
      d.push_back(&shared[r]);
    }
    for (Lanes &lanes : other.b)
      b.push_back(&lanes);
    EXPECT_FALSE(
        executeMma(*other.form, {a, b, c, d}, /*adder=*/nullptr).error);
    other.result = shared;
    EXPECT_EQ(other.getResults(), expected);
  }
}
