//===- DescriptorsTest.cpp - Descriptors of tcgen05 -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Descriptors.h"
#include "blockscale/Support/TensorMemory.h"
#include "gtest/gtest.h"

using namespace mlir::blockscale;

static InstructionFields getFields(Kind kind, Format a, Format b, Format scale,
                                   unsigned scaleVec, unsigned n) {
  const Instruction *instruction =
      lookupInstruction(Path::Tcgen05, kind, a, b, scale, scaleVec);
  EXPECT_NE(instruction, nullptr);
  return getInstructionFields(*instruction, instruction->m, n);
}

// By hand, from tables 43 and 44 of the PTX ISA.
TEST(Descriptors, InstructionsByHand) {
  InstructionFields bytes = getFields(Kind::MXF8F6F4, Format::E4M3,
                                      Format::E4M3, Format::UE8M0, 1, 128);
  EXPECT_EQ(encodeInstructionDescriptor(bytes), 0x08A00000u);
  for (unsigned id : {1, 2, 3}) {
    bytes.aScaleId = bytes.bScaleId = id;
    EXPECT_EQ(encodeInstructionDescriptor(bytes),
              0x08A00000u | id << 4 | id << 29);
  }
  EXPECT_EQ(encodeInstructionDescriptor(getFields(
                Kind::MXF4, Format::E2M1, Format::E2M1, Format::UE8M0, 2, 128)),
            0x08A00480u);
  EXPECT_EQ(encodeInstructionDescriptor(getFields(Kind::MXF4NVF4, Format::E2M1,
                                                  Format::E2M1, Format::UE4M3,
                                                  4, 128)),
            0x08200480u);
  EXPECT_EQ(encodeInstructionDescriptor(getFields(Kind::MXF4NVF4, Format::E2M1,
                                                  Format::E2M1, Format::UE8M0,
                                                  4, 256)),
            0x08C00480u);
}

// By hand, from the table of kinds tf32, f16, f8f6f4 and i8: f32 sums are 1 in
// bits 4 to 5, bf16 is 1, and M is divided by 16 in bits 24 to 28.
TEST(Descriptors, InstructionsWithoutScalesByHand) {
  InstructionFields fields = getFields(Kind::Unscaled, Format::BF16,
                                       Format::BF16, Format::None, 0, 128);
  EXPECT_EQ(encodeInstructionDescriptor(fields), 0x08200490u);
  fields.m = 256;
  fields.n = 256;
  EXPECT_EQ(encodeInstructionDescriptor(fields), 0x10400490u);
  fields.isTransposedA = true;
  EXPECT_EQ(encodeInstructionDescriptor(fields), 0x10400490u | 1 << 15);
  fields.isTransposedB = true;
  EXPECT_EQ(encodeInstructionDescriptor(fields), 0x10400490u | 3 << 15);
  EXPECT_EQ(encodeInstructionDescriptor(getFields(
                Kind::Unscaled, Format::F16, Format::F16, Format::None, 0, 8)),
            0x08020010u);
  fields.aScaleId = 1;
  EXPECT_FALSE(encodeInstructionDescriptor(fields));
}

// Fields that differ in A and B, so that the test detects swapped fields.
TEST(Descriptors, InstructionsWithDifferentOperands) {
  InstructionFields fields = getFields(Kind::MXF8F6F4, Format::E2M1,
                                       Format::E3M2, Format::UE8M0, 1, 8);
  EXPECT_EQ(encodeInstructionDescriptor(fields),
            0x08820000u | 5 << 7 | 4 << 10);
  fields.isTransposedA = true;
  fields.isNegatedB = true;
  fields.aScaleId = 1;
  fields.bScaleId = 2;
  EXPECT_EQ(encodeInstructionDescriptor(fields),
            0x08820000u | 5 << 7 | 4 << 10 | 1 << 15 | 1 << 14 | 1u << 29 |
                2 << 4);
  fields.isTransposedA = fields.isNegatedB = false;
  fields.isTransposedB = fields.isNegatedA = true;
  EXPECT_EQ(encodeInstructionDescriptor(fields),
            0x08820000u | 5 << 7 | 4 << 10 | 1 << 16 | 1 << 13 | 1u << 29 |
                2 << 4);
}

TEST(Descriptors, LongK) {
  InstructionFields fields = {
      Kind::MXF4, Format::E2M1, Format::E2M1, Format::UE8M0, 256, 64, 96};
  EXPECT_EQ(encodeInstructionDescriptor(fields),
            1u << 31 | 2 << 27 | 1 << 23 | 8 << 17 | 1 << 10 | 1 << 7);
}

TEST(Descriptors, InstructionsThatAreRefused) {
  const InstructionFields legal = {
      Kind::MXF4, Format::E2M1, Format::E2M1, Format::UE8M0, 128, 64, 64};
  ASSERT_TRUE(encodeInstructionDescriptor(legal));
  auto refuses = [&](auto change) {
    InstructionFields fields = legal;
    change(fields);
    return !encodeInstructionDescriptor(fields);
  };
  using Fields = InstructionFields &;
  EXPECT_TRUE(refuses([](Fields f) { f.kind = Kind::BF16; }));
  EXPECT_TRUE(refuses([](Fields f) { f.a = Format::E4M3; }));
  EXPECT_TRUE(refuses([](Fields f) { f.b = Format::E4M3; }));
  EXPECT_TRUE(refuses([](Fields f) { f.scale = Format::UE4M3; }));
  EXPECT_TRUE(refuses([](Fields f) { f.m = 64; }));
  EXPECT_TRUE(refuses([](Fields f) { f.m = 512; }));
  EXPECT_TRUE(refuses([](Fields f) { f.m = 0; }));
  EXPECT_TRUE(refuses([](Fields f) { f.n = 12; }));
  EXPECT_TRUE(refuses([](Fields f) { f.n = 512; }));
  EXPECT_TRUE(refuses([](Fields f) { f.k = 32; }));
  EXPECT_TRUE(refuses([](Fields f) { f.isTransposedA = true; }));
  EXPECT_TRUE(refuses([](Fields f) { f.isTransposedB = true; }));
  EXPECT_TRUE(refuses([](Fields f) { f.aScaleId = 4; }));
  EXPECT_TRUE(refuses([](Fields f) { f.bScaleId = 4; }));
}

TEST(Descriptors, FieldsDoNotOverlap) {
  for (DescriptorForm form : {DescriptorForm::Bytes, DescriptorForm::Nibbles,
                              DescriptorForm::Halves, DescriptorForm::Matrix}) {
    uint64_t used = 0;
    for (const DescriptorField &field : getDescriptorFields(form)) {
      uint64_t bits = ((uint64_t(1) << field.bits) - 1) << field.first;
      EXPECT_EQ(used & bits, 0u) << field.name;
      used |= bits;
      uint64_t largest = ((uint64_t(1) << field.bits) - 1) << field.shift;
      std::optional<uint64_t> word =
          encodeFields(form, {{field.name, largest}});
      ASSERT_TRUE(word) << field.name;
      EXPECT_EQ(*word, bits) << field.name;
      EXPECT_EQ(decodeField(form, *word, field.name), largest);
      EXPECT_FALSE(encodeFields(
          form, {{field.name, largest + (uint64_t(1) << field.shift)}}));
    }
    EXPECT_FALSE(encodeFields(form, {{"no such field", 1}}));
    EXPECT_FALSE(decodeField(form, 0, "no such field"));
  }
}

// As in CUTLASS: 128-byte swizzle, groups of 8 rows 1024 bytes apart.
TEST(Descriptors, MatricesAlongK) {
  constexpr uint64_t kVersion = uint64_t(1) << 46;
  EXPECT_EQ(encodeMatrixDescriptor({Major::K, true, 1, 128, 128}),
            kVersion | uint64_t(64) << 32 | uint64_t(2) << 61);
  // Columns hold matrices of their own.
  EXPECT_EQ(encodeMatrixDescriptor({Major::K, true, 4, 128, 128}),
            encodeMatrixDescriptor({Major::K, true, 1, 128, 128}));
  EXPECT_EQ(encodeMatrixDescriptor({Major::K, true, 1, 8, 64}),
            kVersion | uint64_t(32) << 32 | uint64_t(4) << 61);
  EXPECT_EQ(encodeMatrixDescriptor({Major::K, true, 1, 8, 32}),
            kVersion | uint64_t(16) << 32 | uint64_t(6) << 61);
  // 8 rows of 16 bytes, then the next 8; along K after all rows.
  EXPECT_EQ(encodeMatrixDescriptor({Major::K, false, 2, 64, 16}),
            kVersion | uint64_t(8) << 32 | uint64_t(64) << 16);
}

TEST(Descriptors, MatricesAlongMN) {
  constexpr uint64_t kVersion = uint64_t(1) << 46;
  // 8 steps along K, and 128 bytes along M or N after all steps.
  EXPECT_EQ(encodeMatrixDescriptor({Major::MN, true, 2, 32, 128}),
            kVersion | uint64_t(64) << 32 | uint64_t(256) << 16 |
                uint64_t(2) << 61);
  EXPECT_EQ(encodeMatrixDescriptor({Major::MN, true, 1, 32, 128}),
            kVersion | uint64_t(64) << 32 | uint64_t(2) << 61);
  // Without a swizzle, the distances are swapped.
  EXPECT_EQ(encodeMatrixDescriptor({Major::MN, false, 4, 32, 16}),
            kVersion | uint64_t(32) << 32 | uint64_t(8) << 16);
}

// The descriptor of wgmma has no version; its other fields are the same.
TEST(Descriptors, MatricesOfWgmma) {
  constexpr uint64_t kVersion = uint64_t(1) << 46;
  for (MatrixShape shape : {MatrixShape{Major::K, true, 1, 128, 128},
                            MatrixShape{Major::K, false, 2, 64, 16},
                            MatrixShape{Major::MN, true, 4, 64, 64}})
    EXPECT_EQ(*encodeMatrixDescriptor(shape, DescriptorUser::Wgmma),
              *encodeMatrixDescriptor(shape) & ~kVersion);
}

TEST(Descriptors, MatricesThatAreRefused) {
  for (MatrixShape shape : {MatrixShape{Major::K, false, 1, 8, 128},
                            MatrixShape{Major::K, true, 1, 8, 16},
                            MatrixShape{Major::K, true, 1, 8, 256},
                            MatrixShape{Major::K, true, 1, 12, 128},
                            MatrixShape{Major::K, true, 1, 0, 128},
                            MatrixShape{Major::MN, true, 0, 8, 128},
                            MatrixShape{Major::MN, true, 2, 4096, 128}})
    EXPECT_FALSE(encodeMatrixDescriptor(shape)) << shape.rowBytes;
}

// 8 contiguous rows of 16 bytes, as in CUTLASS and Triton.
TEST(Descriptors, AtomsOfScales) {
  EXPECT_EQ(encodeScaleAtomDescriptor(), uint64_t(1) << 46 | uint64_t(8) << 32);
}

// Every instruction of the path has a descriptor.
TEST(Descriptors, EveryInstruction) {
  for (const Instruction &instruction : getInstructions())
    if (instruction.path == Path::Tcgen05) {
      EXPECT_TRUE(encodeInstructionDescriptor(
          getInstructionFields(instruction, instruction.m, instruction.n)));
      EXPECT_NE(instruction.scaleIds, 0u);
      EXPECT_NE(lookupAccLayout(1, instruction.m), nullptr);
    }
}
