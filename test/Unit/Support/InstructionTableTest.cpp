//===- InstructionTableTest.cpp - Legal types and instructions ------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/InstructionTable.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace mlir::blockscale;

static std::vector<Instruction> getInstructions(Path path) {
  std::vector<Instruction> result;
  for (const Instruction &instruction : getInstructions())
    if (instruction.path == path)
      result.push_back(instruction);
  return result;
}

TEST(InstructionTable, LegalTypeCombinations) {
  EXPECT_EQ(getTypeCombinations().size(), 27u);
  unsigned legal = 0;
  for (unsigned lhs = 0; lhs != kNumFormats; ++lhs)
    for (unsigned rhs = 0; rhs != kNumFormats; ++rhs)
      for (unsigned scale = 0; scale != kNumFormats; ++scale)
        for (unsigned block = 1; block <= 64; ++block)
          legal += isLegal({Format(lhs), Format(rhs), Format(scale), block});
  EXPECT_EQ(legal, 27u);
  EXPECT_TRUE(isLegal({Format::E2M3, Format::E5M2, Format::UE8M0, 32}));
  EXPECT_TRUE(isLegal({Format::E2M1, Format::E2M1, Format::UE8M0, 16}));
  EXPECT_TRUE(isLegal({Format::E2M1, Format::E2M1, Format::UE4M3, 16}));
  EXPECT_FALSE(isLegal({Format::E2M1, Format::E2M1, Format::UE4M3, 32}));
  EXPECT_FALSE(isLegal({Format::E4M3, Format::E4M3, Format::UE8M0, 16}));
  EXPECT_FALSE(isLegal({Format::E2M1, Format::E4M3, Format::UE4M3, 16}));
  // That of a sparse product.
  EXPECT_FALSE(isLegal(
      {Format::E4M3, Format::E4M3, Format::UE8M0, 64, Granularity::Elements}));
}

TEST(InstructionTable, LegalBlockSizes) {
  using Sizes = std::vector<unsigned>;
  EXPECT_EQ(getLegalBlockSizes(Format::E2M1, Format::E2M1, Format::UE8M0),
            (Sizes{16, 32}));
  EXPECT_EQ(getLegalBlockSizes(Format::E2M1, Format::E2M1, Format::UE4M3),
            (Sizes{16}));
  EXPECT_EQ(getLegalBlockSizes(Format::E2M1, Format::E5M2, Format::UE8M0),
            (Sizes{32}));
  EXPECT_EQ(getLegalBlockSizes(Format::E5M2, Format::E2M1, Format::UE4M3),
            (Sizes{}));
}

// PTX ISA, table 36, and the lists of shapes in the descriptions of mma and
// mma.sp: sparse ones have twice the K, and blocks of twice the size.
static void expectMmaSyncRows(bool isSparse) {
  unsigned emitted = 0, perKind[3] = {};
  unsigned factor = isSparse ? 2 : 1;
  std::set<std::tuple<Kind, Format, Format, Format, unsigned>> distinct;
  for (const Instruction &row : getInstructions(Path::MmaSync)) {
    if (row.isSparse() != isSparse)
      continue;
    if (isSparse)
      EXPECT_EQ(*row.sparsity, row.kind == Kind::MXF8F6F4
                                   ? Granularity::Elements
                                   : Granularity::Pairs);
    EXPECT_TRUE(
        distinct.insert({row.kind, row.a, row.b, row.scale, row.scaleVec})
            .second);
    emitted += row.isEmitted();
    perKind[unsigned(row.kind)] += row.isEmitted();
    EXPECT_EQ(row.k, factor * (row.kind == Kind::MXF8F6F4 ? 32u : 64u));
    EXPECT_EQ(row.getKeptK(), row.k / factor);
    EXPECT_EQ(row.k, row.scaleVec * row.blockSize);
    EXPECT_EQ(row.lowestPtx, row.isEmitted() ? 87u : 91u);
    EXPECT_EQ(row.rewrite == Rewrite::None, row.isEmitted());
  }
  EXPECT_EQ(distinct.size(), 29u);
  EXPECT_EQ(emitted, 28u);
  EXPECT_EQ(perKind[unsigned(Kind::MXF8F6F4)], 25u);
  EXPECT_EQ(perKind[unsigned(Kind::MXF4)], 1u);
  EXPECT_EQ(perKind[unsigned(Kind::MXF4NVF4)], 2u);
}

TEST(InstructionTable, MmaSyncRows) {
  expectMmaSyncRows(/*isSparse=*/false);
  expectMmaSyncRows(/*isSparse=*/true);
}

// ptxas 13.0: families have sparse instructions for bytes only.
TEST(InstructionTable, SparseChoice) {
  auto find = [](TypeCombination types, const char *chip) -> std::string {
    std::optional<InstructionChoice> choice =
        chooseInstruction(types, *lookupChip(chip));
    return choice ? getOpcode(*choice->emitted) : "";
  };
  TypeCombination bytes = {Format::E4M3, Format::E2M1, Format::UE8M0, 64,
                           Granularity::Elements};
  TypeCombination pairs = {Format::E2M1, Format::E2M1, Format::UE4M3, 32,
                           Granularity::Pairs};
  for (const char *chip : {"sm_120a", "sm_120f", "sm_121a", "sm_121f"})
    EXPECT_EQ(find(bytes, chip),
              "mma.sp.kind::mxf8f6f4.block_scale.scale_vec::1X");
  for (const char *chip : {"sm_120a", "sm_121a"})
    EXPECT_EQ(find(pairs, chip),
              "mma.sp.kind::mxf4nvf4.block_scale.scale_vec::4X");
  auto isNative = [](TypeCombination types, const char *chip) {
    return chooseNative(types, *lookupChip(chip)).has_value();
  };
  constexpr const char *kOfValues = "mma.sp.m16n8k32.f32.bf16.bf16.f32";
  for (const char *chip : {"sm_120f", "sm_121f", "sm_90", "sm_80"}) {
    EXPECT_FALSE(isNative(pairs, chip));
    EXPECT_EQ(find(pairs, chip), kOfValues);
  }
  for (const TypeCombination &types : {bytes, pairs}) {
    EXPECT_FALSE(isNative(types, "sm_90a"));
    EXPECT_EQ(find(types, "sm_90a"), "wgmma.mma_async.sp");
  }
  // Blocks of another size, and elements where the kind has pairs.
  bytes.blockSize = 32;
  EXPECT_FALSE(isNative(bytes, "sm_120a"));
  EXPECT_EQ(find(bytes, "sm_120a"), kOfValues);
  pairs.sparsity = Granularity::Elements;
  EXPECT_FALSE(isNative(pairs, "sm_120a"));
  EXPECT_EQ(find(pairs, "sm_120a"), kOfValues);
  // Two instructions for blocks of 32 with ue8m0.
  TypeCombination halves = {Format::E2M1, Format::E2M1, Format::UE8M0, 32,
                            Granularity::Pairs};
  std::optional<InstructionChoice> choice =
      chooseInstruction(halves, *lookupChip("sm_120a"));
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->getRewrite(), Rewrite::TwoHalfBlocks);
  EXPECT_EQ(choice->emitted->blockSize, 64u);
  EXPECT_TRUE(choice->emitted->isSparse());
}

// All type combinations, with elements in bytes; fp4 twice also with packed
// elements; and 16-bit elements without scales.
TEST(InstructionTable, DequantMmaRows) {
  unsigned perKind[kNumKinds] = {};
  for (const Instruction &row : getInstructions(Path::DequantMma)) {
    if (row.isSparse())
      continue;
    ++perKind[unsigned(row.kind)];
    bool isPacked = row.kind == Kind::BF16Packed;
    EXPECT_EQ(row.m, 16u);
    EXPECT_EQ(row.n, 8u);
    if (row.kind == Kind::Unscaled) {
      EXPECT_EQ(row.k, 16u);
      EXPECT_EQ(row.scaling, Scaling::Nowhere);
      EXPECT_EQ(row.scaleVec, 0u);
    } else {
      EXPECT_EQ(row.k, isPacked ? 64u : 32u);
      EXPECT_EQ(row.k, row.scaleVec * row.blockSize);
      EXPECT_EQ(hasContainers(row.kind), !isPacked);
    }
    EXPECT_TRUE(row.isEmitted());
    EXPECT_FALSE(row.isNative());
    EXPECT_EQ(row.rewrite, Rewrite::None);
    EXPECT_EQ(getOpcode(row), "mma.sync.m16n8k16.f32.bf16.bf16.f32");
    EXPECT_EQ(getLowestPtx(row, *lookupChip("sm_80")), 70u);
    EXPECT_EQ(getLowestPtx(row, *lookupChip("sm_90a")), 80u);
  }
  // Two quantized operands; quantized B with A of bf16, or of f16.
  EXPECT_EQ(perKind[unsigned(Kind::BF16)], 25u + 2 * 5);
  EXPECT_EQ(perKind[unsigned(Kind::BF16Packed)], 3u + 2 * 3);
  EXPECT_EQ(perKind[unsigned(Kind::Unscaled)], 2u);
  EXPECT_EQ(stringifyKind(Kind::BF16), "bf16");
  EXPECT_EQ(stringifyKind(Kind::BF16Packed), "bf16_packed");
}

// The same types of a sparse A, with elements and with pairs, in blocks of
// dense products and in twice as large ones.
TEST(InstructionTable, SparseDequantMmaRows) {
  std::set<std::tuple<Format, Format, Format, unsigned, Granularity>> types;
  for (const Instruction &row : getInstructions(Path::DequantMma)) {
    if (!row.isSparse())
      continue;
    EXPECT_EQ(row.k, 64u);
    EXPECT_EQ(row.getKeptK(), 32u);
    EXPECT_EQ(row.k, row.scaleVec * row.blockSize);
    EXPECT_TRUE(row.isEmitted());
    EXPECT_FALSE(row.isNative());
    EXPECT_EQ(getOpcode(row), "mma.sp.m16n8k32.f32.bf16.bf16.f32");
    EXPECT_EQ(getLowestPtx(row, *lookupChip("sm_80")), 85u);
    types.insert({row.a, row.b, row.scale, row.blockSize, *row.sparsity});
  }
  unsigned count = 0;
  for (Format a : getFormats(/*areScales=*/false))
    for (Format b : getFormats(/*areScales=*/false))
      for (Format scale : getFormats(/*areScales=*/true))
        for (unsigned block : getLegalSparseBlockSizes(a, b, scale))
          for (Granularity kept : {Granularity::Elements, Granularity::Pairs}) {
            EXPECT_TRUE(types.count({a, b, scale, block, kept}));
            ++count;
          }
  EXPECT_EQ(count, types.size());
}

// Mixed input: quantized B with high-precision A, which mma_scaled does not
// have.
TEST(InstructionTable, MixedInput) {
  unsigned count = 0;
  for (const Instruction &row : getInstructions(Path::DequantMma)) {
    bool isHighPrecision = getFormatInfo(row.a).use == FormatUse::HighPrecision;
    EXPECT_EQ(row.scaling == Scaling::OnB || row.scaling == Scaling::Nowhere,
              isHighPrecision);
    if (!isHighPrecision || row.scaling == Scaling::Nowhere)
      continue;
    ++count;
    TypeCombination of = row.getTypeCombination();
    EXPECT_TRUE(isComputed(of));
    EXPECT_FALSE(isLegal(of));
    // With the narrowest slots for these elements.
    std::optional<InstructionChoice> choice =
        chooseInstruction(of, Path::DequantMma);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->emitted->kind,
              row.b == Format::E2M1 ? Kind::BF16Packed : Kind::BF16);
    EXPECT_EQ(choice->emitted->a, row.a);
    for (Path other : {Path::MmaSync, Path::Tcgen05, Path::Wgmma})
      EXPECT_FALSE(chooseInstruction(of, other));
  }
  EXPECT_EQ(count, 16u);
  EXPECT_TRUE(isComputed({Format::BF16, Format::BF16, Format::None, 1}));
  EXPECT_FALSE(isComputed({Format::BF16, Format::F16, Format::None, 1}));
  EXPECT_FALSE(isComputed({Format::E2M1, Format::BF16, Format::UE8M0, 32}));
  EXPECT_TRUE(isComputed({Format::E4M3, Format::E2M1, Format::UE8M0, 32}));
}

// PTX ISA, "wgmma.mma_async.sp": twice the K, from PTX 8.2 on.
TEST(InstructionTable, SparseWgmmaRows) {
  std::vector<Instruction> rows = getInstructions(Path::Wgmma);
  rows.erase(
      std::remove_if(rows.begin(), rows.end(),
                     [](const Instruction &row) { return !row.isSparse(); }),
      rows.end());
  ASSERT_EQ(rows.size(), 4u);
  for (const Instruction &row : rows) {
    EXPECT_EQ(row.a, row.b);
    EXPECT_EQ(row.m, 64u);
    EXPECT_EQ(row.mostN, 256u);
    EXPECT_EQ(row.k, 32u);
    EXPECT_EQ(row.getKeptK(), 16u);
    EXPECT_EQ(row.lowestPtx, 82u);
    EXPECT_FALSE(row.isNative());
    EXPECT_EQ(getOpcode(row), "wgmma.mma_async.sp");
  }
}

// PTX ISA, "wgmma.mma_async": M is 64, K of 16 bits is 16. None has scales, so
// none is a type combination of mma_scaled.
TEST(InstructionTable, WgmmaRows) {
  std::vector<Instruction> rows = getInstructions(Path::Wgmma);
  rows.erase(
      std::remove_if(rows.begin(), rows.end(),
                     [](const Instruction &row) { return row.isSparse(); }),
      rows.end());
  // Behind them, those of fp8, in any pair.
  ASSERT_EQ(rows.size(), 6u);
  for (size_t i = 2; i != rows.size(); ++i) {
    EXPECT_EQ(rows[i].kind, Kind::FP8);
    EXPECT_EQ(rows[i].a, i < 4 ? Format::E4M3 : Format::E5M2);
    EXPECT_EQ(rows[i].b, i % 2 == 0 ? Format::E4M3 : Format::E5M2);
    EXPECT_EQ(rows[i].k, 32u);
    EXPECT_EQ(rows[i].scaling, Scaling::Nowhere);
  }
  for (auto [row, format] :
       {std::pair(rows[0], Format::BF16), std::pair(rows[1], Format::F16)}) {
    EXPECT_EQ(row.a, format);
    EXPECT_EQ(row.b, format);
    EXPECT_EQ(row.scale, Format::None);
    EXPECT_EQ(row.kind, Kind::Unscaled);
    EXPECT_EQ(row.scaling, Scaling::Nowhere);
    EXPECT_EQ(row.m, 64u);
    EXPECT_EQ(row.n, 8u);
    EXPECT_EQ(row.mostN, 256u);
    EXPECT_EQ(row.k, 16u);
    EXPECT_EQ(row.lowestPtx, 80u);
    EXPECT_TRUE(row.isEmitted());
    EXPECT_FALSE(row.isNative());
    EXPECT_EQ(getOpcode(row), "wgmma.mma_async");
    TypeCombination plain = {format, format, Format::None, 1};
    EXPECT_EQ(row.getTypeCombination(), plain);
    EXPECT_FALSE(isLegal(plain));
    // On other chips, mma.sync computes them.
    for (const Chip &chip : getChips()) {
      auto choice = chooseInstruction(plain, chip);
      EXPECT_EQ(choice && choice->emitted->path == Path::Wgmma,
                chip.name == "sm_90a")
          << chip.name;
      EXPECT_EQ(choice && choice->emitted->path == Path::Tcgen05,
                chip.has(Path::Tcgen05))
          << chip.name;
      EXPECT_EQ(choice.has_value(), !chip.isCpu()) << chip.name;
    }
  }
  EXPECT_FALSE(chooseInstruction({Format::BF16, Format::F16, Format::None, 1},
                                 Path::Wgmma));
  EXPECT_FALSE(chooseInstruction({Format::None, Format::None, Format::None, 1},
                                 Path::Wgmma));
}

// PTX ISA, "Matrix shape" of tcgen05, kind f16: M of 128 or, of pairs of CTAs,
// 256; N in steps of 8; K of 16 bits is 16.
TEST(InstructionTable, UnscaledTcgen05Rows) {
  unsigned count = 0;
  for (const Instruction &row : getInstructions(Path::Tcgen05)) {
    if (row.kind != Kind::Unscaled)
      continue;
    ++count;
    EXPECT_TRUE(row.a == Format::BF16 || row.a == Format::F16);
    EXPECT_EQ(row.b, row.a);
    EXPECT_EQ(row.scale, Format::None);
    EXPECT_EQ(row.scaling, Scaling::Nowhere);
    EXPECT_EQ(row.m, 128u);
    EXPECT_EQ(row.mostM, 256u);
    EXPECT_EQ(row.n, 8u);
    EXPECT_EQ(row.mostN, 256u);
    EXPECT_EQ(row.k, 16u);
    EXPECT_TRUE(row.isEmitted());
    EXPECT_FALSE(row.isNative());
    EXPECT_EQ(getLowestPtx(row, *lookupChip("sm_100a")), 86u);
    EXPECT_EQ(getOpcode(row), "tcgen05.mma");
    auto choice = chooseInstruction(row.getTypeCombination(), Path::Tcgen05);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->emitted->kind, Kind::Unscaled);
    EXPECT_EQ(choice->emitted->a, row.a);
  }
  EXPECT_EQ(count, 2u);
}

TEST(InstructionTable, NativeInstructionsComeFirst) {
  for (const TypeCombination &row : getTypeCombinations())
    for (const Chip &chip : getChips()) {
      auto any = chooseInstruction(row, chip);
      auto native = chooseNative(row, chip);
      EXPECT_EQ(bool(any), !chip.isCpu()) << chip.name;
      EXPECT_EQ(bool(native), chip.capability >= 100) << chip.name;
      if (native)
        EXPECT_EQ(any->emitted, native->emitted) << chip.name;
      else if (any)
        EXPECT_EQ(any->emitted->path,
                  chip.has(Path::Wgmma) ? Path::Wgmma : Path::DequantMma)
            << chip.name;
    }
}

// A dense one, and its sparse counterpart.
TEST(InstructionTable, OneRowIsNotEmitted) {
  for (const Instruction &row : getInstructions(Path::MmaSync)) {
    if (row.isEmitted())
      continue;
    unsigned factor = row.isSparse() ? 2 : 1;
    EXPECT_EQ(row.getTypeCombination(),
              (TypeCombination{Format::E2M1, Format::E2M1, Format::UE8M0,
                               16 * factor, row.sparsity}));
    EXPECT_EQ(getOpcode(row),
              std::string(row.isSparse() ? "mma.sp" : "mma.sync") +
                  ".kind::mxf4nvf4.block_scale.scale_vec::4X");
    EXPECT_EQ(row.rewrite, Rewrite::TwoHalfBlocks);
    // Its replacement is in an older PTX version.
    std::optional<InstructionChoice> choice =
        chooseInstruction(row.getTypeCombination(), Path::MmaSync);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->wanted->kind, row.kind);
    EXPECT_EQ(choice->getRewrite(), Rewrite::TwoHalfBlocks);
    EXPECT_EQ(choice->emitted->blockSize, 32u * factor);
    EXPECT_EQ(choice->emitted->sparsity, row.sparsity);
    EXPECT_EQ(getLowestPtx(*choice->emitted, *lookupChip("sm_120a")), 87u);
    EXPECT_EQ(getLowestPtx(*choice->emitted, *lookupChip("sm_121f")), 88u);
  }
  for (const Instruction &row : getInstructions(Path::Tcgen05))
    EXPECT_TRUE(row.isEmitted());
}

TEST(InstructionTable, EveryLegalCombinationHasAnInstruction) {
  for (const TypeCombination &row : getTypeCombinations())
    for (Path path : {Path::MmaSync, Path::Tcgen05, Path::DequantMma}) {
      std::optional<InstructionChoice> choice = chooseInstruction(row, path);
      ASSERT_TRUE(choice);
      EXPECT_EQ(choice->wanted->getTypeCombination(), row);
      EXPECT_EQ(choice->emitted->path, path);
      EXPECT_TRUE(choice->emitted->isEmitted());
      EXPECT_EQ(getRewrite(row, *choice->emitted), choice->getRewrite());
    }
  EXPECT_FALSE(
      chooseInstruction(getTypeCombinations().front(), Path::Decompose));
}

TEST(InstructionTable, OtherCombinationsHaveNoRewrite) {
  TypeCombination mxfp4 = {Format::E2M1, Format::E2M1, Format::UE8M0, 32};
  TypeCombination mxfp8 = {Format::E4M3, Format::E4M3, Format::UE8M0, 32};
  TypeCombination nvfp4 = {Format::E2M1, Format::E2M1, Format::UE4M3, 16};
  const Instruction &mxf4 = *chooseInstruction(mxfp4, Path::MmaSync)->emitted;
  EXPECT_EQ(getRewrite(mxfp4, mxf4), Rewrite::None);
  EXPECT_EQ(getRewrite(mxfp8, mxf4), std::nullopt);
  EXPECT_EQ(getRewrite(nvfp4, mxf4), std::nullopt);
}

TEST(InstructionTable, ChipsChooseTheirFirstPath) {
  TypeCombination mxfp8 = {Format::E4M3, Format::E4M3, Format::UE8M0, 32};
  auto getPath = [&](std::string_view chip) {
    std::optional<InstructionChoice> choice =
        chooseInstruction(mxfp8, *lookupChip(chip));
    return choice ? choice->emitted->path : Path::Decompose;
  };
  EXPECT_EQ(getPath("sm_120a"), Path::MmaSync);
  EXPECT_EQ(getPath("sm_100a"), Path::Tcgen05);
  EXPECT_EQ(getPath("sm_90"), Path::DequantMma);
  EXPECT_EQ(getPath("cpu"), Path::Decompose);
  EXPECT_TRUE(hasOpcode(*lookupChip("sm_121f"), "mma.sync"));
  EXPECT_FALSE(hasOpcode(*lookupChip("sm_100a"), "mma.sync"));
}

TEST(InstructionTable, PackedFp4IsPreferred) {
  auto getOpcodeOf = [](const TypeCombination &row, Path path) {
    return getOpcode(*chooseInstruction(row, path)->wanted);
  };
  TypeCombination mxfp4 = {Format::E2M1, Format::E2M1, Format::UE8M0, 32};
  EXPECT_EQ(getOpcodeOf(mxfp4, Path::MmaSync),
            "mma.sync.kind::mxf4.block_scale.scale_vec::2X");
  EXPECT_EQ(getOpcodeOf(mxfp4, Path::Tcgen05),
            "tcgen05.mma.kind::mxf4.block_scale.block32");
  TypeCombination mixed = {Format::E4M3, Format::E2M1, Format::UE8M0, 32};
  EXPECT_EQ(getOpcodeOf(mixed, Path::MmaSync),
            "mma.sync.kind::mxf8f6f4.block_scale.scale_vec::1X");
  TypeCombination nvfp4 = {Format::E2M1, Format::E2M1, Format::UE4M3, 16};
  EXPECT_EQ(getOpcodeOf(nvfp4, Path::Tcgen05),
            "tcgen05.mma.kind::mxf4nvf4.block_scale.block16");
}

TEST(InstructionTable, ChipRaisesTheLowestPtx) {
  const Instruction &row =
      *chooseInstruction({Format::E4M3, Format::E5M2, Format::UE8M0, 32},
                         Path::MmaSync)
           ->emitted;
  EXPECT_EQ(getLowestPtx(row, *lookupChip("sm_120a")), 87u);
  EXPECT_EQ(getLowestPtx(row, *lookupChip("sm_120f")), 88u);
  EXPECT_EQ(getLowestPtx(row, *lookupChip("sm_121a")), 88u);
}

// Packed fp4 has an instruction with K = 96 and the same blocks, which no type
// combination selects by default, on chips of sm_103.
TEST(InstructionTable, WideInstructions) {
  EXPECT_EQ(getWideKs(), std::vector<unsigned>{96});
  unsigned count = 0;
  for (const Instruction &row : getInstructions()) {
    const Instruction *wide = lookupWide(row, 96);
    EXPECT_EQ(lookupWide(row, 64), nullptr);
    for (const Chip &chip : getChips())
      EXPECT_EQ(row.isOn(chip),
                chip.has(row.path) &&
                    (!row.isWide() || chip.capability == 103) &&
                    (row.sparsity != Granularity::Pairs || !row.isNative() ||
                     chip.name.back() == 'a'))
          << chip.name;
    if (!row.isWide())
      EXPECT_EQ(row.getKPattern(), std::vector<unsigned>{row.k});
    if (row.path != Path::Tcgen05 || hasContainers(row.kind) ||
        row.scaling == Scaling::Nowhere || row.isSparse()) {
      EXPECT_EQ(wide, nullptr);
      continue;
    }
    ASSERT_NE(wide, nullptr);
    EXPECT_TRUE(wide->isWide());
    EXPECT_EQ(wide->k, 96u);
    EXPECT_EQ(wide->getTypeCombination(), row.getTypeCombination());
    EXPECT_EQ(wide->k, wide->scaleVec * wide->blockSize);
    // They multiply a swizzle row of 128 bytes together with one of the others.
    std::vector<unsigned> pattern = {96, 96, 64};
    EXPECT_EQ(wide->getKPattern(), pattern);
    count += wide == &row;
  }
  EXPECT_EQ(count, 4u);
  for (const TypeCombination &row : getTypeCombinations())
    if (std::optional<InstructionChoice> choice =
            chooseInstruction(row, Path::Tcgen05))
      EXPECT_FALSE(choice->emitted->isWide());
}
