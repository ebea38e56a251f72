//===- InstructionDescriptorTest.cpp - Tests of instruction descriptors ---===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/InstructionDescriptor.h"

#include "gtest/gtest.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static std::string getInstructionError(uint32_t bits, Tcgen05Kind kind,
                                       unsigned numBlocks = 1,
                                       MmaVariant variant = MmaVariant::Dense) {
  Result<InstructionDescriptor> decoded =
      InstructionDescriptor::decode(bits, kind, numBlocks, variant);
  return decoded ? "no error" : std::string(decoded.message());
}

static uint32_t makeShape(unsigned m, unsigned n) {
  return n >> 3 << 17 | m >> 4 << 24;
}

TEST(InstructionDescriptorTest, FieldsOfInstructions) {
  // A published example: e4m3, M = N = 128, and k-step 3.
  Result<InstructionDescriptor> d = InstructionDescriptor::decode(
      0x08A00000 | 3 << 4 | 3u << 29, Tcgen05Kind::MXF8F6F4, 1);
  ASSERT_TRUE(d) << d.message();
  EXPECT_EQ(d->m, 128u);
  EXPECT_EQ(d->n, 128u);
  EXPECT_EQ(d->k, 32u);
  EXPECT_EQ(d->a, Type::E4M3);
  EXPECT_EQ(d->scale, Type::UE8M0);
  EXPECT_EQ(d->scaleIdA, 3u);
  EXPECT_EQ(d->scaleIdB, 3u);
  d = InstructionDescriptor::decode(0x08200480, Tcgen05Kind::MXF4NVF4, 1);
  ASSERT_TRUE(d) << d.message();
  EXPECT_EQ(d->scale, Type::UE4M3);
  EXPECT_EQ(d->k, 64u);
  EXPECT_EQ(d->print(),
            "0x8200480 {sparse 0, sfb_id 0, a_type 1, b_type 1, negate_a 0, "
            "negate_b 0, n>>3 16, scale_type 0, m>>7 1, sfa_id 0, k96 0}");
}

TEST(InstructionDescriptorTest, ReservedBits) {
  struct {
    Tcgen05Kind kind;
    uint32_t legal, reserved;
  } rows[] = {
      {Tcgen05Kind::F16, 0x10 | makeShape(128, 64), 0x20800040},
      {Tcgen05Kind::MXF8F6F4, 0x08A00000, 0x8700004B},
      {Tcgen05Kind::MXF4, 0x08A00480, 0x0701904B},
  };
  for (const auto &row : rows) {
    EXPECT_EQ(getInstructionError(row.legal, row.kind), "no error");
    for (unsigned bit = 0; bit != 32; ++bit) {
      if (!(row.reserved >> bit & 1))
        continue;
      EXPECT_NE(getInstructionError(row.legal | 1u << bit, row.kind)
                    .find("in the reserved bits"),
                std::string::npos)
          << bit;
    }
  }
}

TEST(InstructionDescriptorTest, InstructionsThatAreRefused) {
  auto expect = [](uint32_t bits, Tcgen05Kind kind, const char *text,
                   unsigned numBlocks = 1) {
    std::string message = getInstructionError(bits, kind, numBlocks);
    EXPECT_NE(message.find("expected " + std::string(text)), std::string::npos)
        << message;
    EXPECT_NE(message.find(" in an instruction descriptor of kind::"),
              std::string::npos)
        << message;
  };
  uint32_t f32 = 1 << 4, shape = makeShape(128, 64);
  expect(f32 | shape | 2 << 7, Tcgen05Kind::F16,
         "a type of A that the kind has");
  expect(f32 | shape | 3 << 10, Tcgen05Kind::F16,
         "a type of B that the kind has");
  expect(2 << 4 | shape, Tcgen05Kind::F16, "a type of D that the kind has");
  expect(shape | 1 << 7 | 1 << 10, Tcgen05Kind::F16, "f32 for D of bf16");
  expect(f32 | shape | 1 << 3, Tcgen05Kind::F8F6F4, "no saturation");
  expect(2 << 4 | shape | 1 << 13, Tcgen05Kind::I8, "no negation");
  expect(f32 | shape | 1, Tcgen05Kind::F16, "sparsity selector 0");
  expect(f32 | shape | 1u << 30, Tcgen05Kind::F16, "no shift");
  expect(0x08200480, Tcgen05Kind::MXF4, "scales of ue8m0");
  expect(0x00A00480, Tcgen05Kind::MXF4, "M of 128");
  expect(f32 | makeShape(256, 64), Tcgen05Kind::F16, "M of 64 or 128");
  expect(f32 | makeShape(64, 64), Tcgen05Kind::F16, "M of 128 or 256", 2);
  expect(f32 | makeShape(128, 0), Tcgen05Kind::F16, "N that the kind has");
  expect(f32 | makeShape(128, 264), Tcgen05Kind::F16, "N that the kind has");
  expect(f32 | makeShape(128, 24), Tcgen05Kind::F16, "N that the kind has", 2);
  expect(2 << 4 | makeShape(128, 40), Tcgen05Kind::I8, "N that the kind has");
  expect(f32 | makeShape(128, 24) | 1 << 16, Tcgen05Kind::F8F6F4,
         "N that the kind has");
  EXPECT_EQ(getInstructionError(f32 | makeShape(128, 24), Tcgen05Kind::F8F6F4),
            "no error");
}

TEST(InstructionDescriptorTest, WeightStationary) {
  auto decode = [](uint32_t bits) {
    return InstructionDescriptor::decode(1 << 4 | bits, Tcgen05Kind::F16,
                                         /*numBlocks=*/1,
                                         MmaVariant::WeightStationary);
  };
  for (unsigned m = 0; m <= 256; m += 16)
    for (unsigned n = 0; n <= 256; n += 8)
      EXPECT_EQ(bool(decode(makeShape(m, n))),
                (m == 32 || m == 64 || m == 128) &&
                    (n == 64 || n == 128 || n == 256))
          << m << "x" << n;
  constexpr unsigned shifts[] = {0, 8, 16, 32};
  for (unsigned code = 0; code != 4; ++code) {
    Result<InstructionDescriptor> d = decode(makeShape(64, 64) | code << 30);
    ASSERT_TRUE(d) << d.message();
    EXPECT_EQ(d->maxShift, shifts[code]);
    EXPECT_EQ(bool(decode(makeShape(32, 64) | code << 30)), code != 3);
  }
}

TEST(InstructionDescriptorTest, Sparse) {
  // e4m3, mxf4 and NVFP4 with M = N = 128, NVFP4 with M = N = 256.
  struct {
    uint32_t bits;
    Tcgen05Kind kind;
    unsigned numBlocks, m, n, k, keptK;
  } rows[] = {{0x08A00004, Tcgen05Kind::MXF8F6F4, 1, 128, 128, 64, 32},
              {0x08A00484, Tcgen05Kind::MXF4, 1, 128, 128, 128, 64},
              {0x08200484, Tcgen05Kind::MXF4NVF4, 1, 128, 128, 128, 64},
              {0x10400484, Tcgen05Kind::MXF4NVF4, 2, 256, 256, 128, 64}};
  for (const auto &row : rows) {
    Result<InstructionDescriptor> d = InstructionDescriptor::decode(
        row.bits, row.kind, row.numBlocks, MmaVariant::Sparse);
    ASSERT_TRUE(d) << d.message();
    EXPECT_TRUE(d->isSparse);
    EXPECT_EQ(d->m, row.m);
    EXPECT_EQ(d->n, row.n);
    EXPECT_EQ(d->k, row.k);
    EXPECT_EQ(d->getKeptK(), row.keptK);
    auto expect = [&](uint32_t bits, const char *text,
                      MmaVariant variant = MmaVariant::Sparse) {
      std::string message =
          getInstructionError(bits, row.kind, row.numBlocks, variant);
      EXPECT_NE(message.find("expected " + std::string(text)),
                std::string::npos)
          << message;
    };
    std::string place =
        " with .sp and .cta_group::" + std::to_string(row.numBlocks) +
        ", got 0x";
    expect(row.bits ^ 4, ("sparse 1 in an instruction descriptor of " +
                          getName(row.kind).str() + place)
                             .c_str());
    expect(row.bits,
           "sparse 0 without .sp in an instruction descriptor of kind::",
           MmaVariant::Dense);
    // The other M of the field, and N of no column.
    expect(row.bits ^ 3 << 27, row.numBlocks == 2 ? "M of 256" : "M of 128");
    expect(row.bits & ~(0x3F << 17), "N that the kind has");
    expect(row.bits | 1, "0 in the reserved bits 0x1");
    if (row.keptK == 64)
      expect(row.bits | 1u << 31, "k96 0 of a sparse instruction");
  }
  for (unsigned n = 0; n <= 256; n += 8) {
    uint32_t bits = 0x00800004 | makeShape(128, n), pair = bits ^ 3 << 27;
    EXPECT_EQ(getInstructionError(bits, Tcgen05Kind::MXF8F6F4, 1,
                                  MmaVariant::Sparse) == "no error",
              n != 0);
    EXPECT_EQ(getInstructionError(pair, Tcgen05Kind::MXF8F6F4, 2,
                                  MmaVariant::Sparse) == "no error",
              n != 0 && n % 16 == 0);
  }
}
