//===- SparseMetadataTest.cpp - Fields and positions ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values here are read off the PTX ISA and off CUTLASS's layout of sparse
// metadata by hand.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/SparseMetadata.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir::blockscale;

TEST(SparseMetadata, LegalFieldsAreTheSixThatAscend) {
  std::set<unsigned> legal;
  for (unsigned field = 0; field != kNumFields; ++field)
    if (isLegalField(field))
      legal.insert(field);
  EXPECT_EQ(legal, (std::set<unsigned>{0b0100, 0b1000, 0b1001, 0b1100, 0b1101,
                                       0b1110}));
  EXPECT_EQ(getLegalFields(), 0x7310u);
  EXPECT_FALSE(isLegalField(kEmptyChunkField));
}

TEST(SparseMetadata, FieldKeepsAllNonZeros) {
  for (unsigned mask = 0; mask != 1u << kUnitsPerChunk; ++mask) {
    std::optional<unsigned> field = getField(mask);
    EXPECT_EQ(field.has_value(), __builtin_popcount(mask) <= 2) << mask;
    unsigned packed = (getFieldTable() >> (4 * mask)) & 15;
    EXPECT_TRUE(isLegalField(packed)) << mask;
    if (!field)
      continue;
    EXPECT_EQ(packed, *field) << mask;
    EXPECT_TRUE(isLegalField(*field)) << mask;
    unsigned kept = 1u << getPosition(*field, 0) | 1u << getPosition(*field, 1);
    EXPECT_EQ(kept & mask, mask);
  }
}

TEST(SparseMetadata, FieldsOfFewNonZeros) {
  EXPECT_EQ(getField(0b0000), 0b0100u);
  EXPECT_EQ(getField(0b0001), 0b1100u);
  EXPECT_EQ(getField(0b0010), 0b1101u);
  EXPECT_EQ(getField(0b0100), 0b1110u);
  EXPECT_EQ(getField(0b1000), 0b1100u);
  EXPECT_EQ(getField(0b0110), 0b1001u);
}

TEST(SparseMetadata, Granularities) {
  const GranularityInfo &elements = getGranularityInfo(Granularity::Elements);
  const GranularityInfo &pairs = getGranularityInfo(Granularity::Pairs);
  EXPECT_EQ(elements.chunk(), 4);
  EXPECT_EQ(elements.elementsPerByte(), 8);
  EXPECT_EQ(pairs.chunk(), 8);
  EXPECT_EQ(pairs.elementsPerByte(), 16);
  for (const GranularityInfo *info : {&elements, &pairs})
    EXPECT_EQ(lookupGranularity(info->name), info->granularity);
  EXPECT_EQ(lookupGranularity("4:8"), std::nullopt);
}

TEST(SparseMetadata, LogicalIndices) {
  const GranularityInfo &elements = getGranularityInfo(Granularity::Elements);
  // The second chunk keeps its elements 1 and 3.
  EXPECT_EQ(getLogicalIndex(elements, 2, 0b1101), 4 + 1);
  EXPECT_EQ(getLogicalIndex(elements, 3, 0b1101), 4 + 3);
  const GranularityInfo &pairs = getGranularityInfo(Granularity::Pairs);
  // The second chunk keeps its pairs 0 and 2.
  int64_t expected[] = {8 + 0, 8 + 1, 8 + 4, 8 + 5};
  for (int64_t i = 0; i != 4; ++i)
    EXPECT_EQ(getLogicalIndex(pairs, 4 + i, 0b1000), expected[i]);
  uint8_t metadata[] = {0x4E, 0xD9};
  unsigned fields[] = {0xE, 0x4, 0x9, 0xD};
  for (int64_t chunk = 0; chunk != 4; ++chunk)
    EXPECT_EQ(getFieldOf(metadata, chunk), fields[chunk]);
}

TEST(SparseMetadata, TiledOffsets) {
  // 200 rows are two atoms along M, which come before the next ones along K.
  EXPECT_EQ(getTiledMetadataOffset(0, 0, 200), 0);
  EXPECT_EQ(getTiledMetadataOffset(1, 3, 200), 16 + 3);
  EXPECT_EQ(getTiledMetadataOffset(128, 0, 200), 2048);
  EXPECT_EQ(getTiledMetadataOffset(5, 17, 200), 2 * 2048 + 5 * 16 + 1);
}

/// Interprets `terms` at `coordinate`.
template <size_t numTerms, size_t numResults, size_t numDims>
static std::array<int64_t, numResults>
apply(const std::array<LayoutTerm, numTerms> &terms,
      const std::array<int64_t, numDims> &coordinate) {
  std::array<int64_t, numResults> result = {};
  for (const LayoutTerm &term : terms) {
    int64_t value = coordinate[term.dim] / term.divisor;
    result[term.result] +=
        (term.modulus ? value % term.modulus : value) * term.stride;
  }
  return result;
}

TEST(SparseMetadata, TermsAgreeWithOffsets) {
  constexpr int64_t kRows = 300, kBytes = 40, kRowAtoms = 3;
  for (int64_t row = 0; row != kRows; ++row)
    for (int64_t byte = 0; byte != kBytes; ++byte) {
      auto tiled =
          apply<4, 4, 2>(kTileMetadataTerms, std::array<int64_t, 2>{row, byte});
      int64_t offset =
          ((tiled[0] * kRowAtoms + tiled[1]) * 128 + tiled[2]) * 16 + tiled[3];
      EXPECT_EQ(offset, getTiledMetadataOffset(row, byte, kRows));
      auto back = apply<4, 2, 4>(kUntileMetadataTerms, tiled);
      EXPECT_EQ(back[0], row);
      EXPECT_EQ(back[1], byte);
    }
}

TEST(SparseMetadata, LegalBlockSizes) {
  using V = std::vector<unsigned>;
  EXPECT_EQ(getLegalSparseBlockSizes(Format::E4M3, Format::E2M1, Format::UE8M0),
            (V{32, 64}));
  EXPECT_EQ(getLegalSparseBlockSizes(Format::E2M1, Format::E2M1, Format::UE8M0),
            (V{16, 32, 64}));
  EXPECT_EQ(getLegalSparseBlockSizes(Format::E2M1, Format::E2M1, Format::UE4M3),
            (V{16, 32}));
  EXPECT_TRUE(
      getLegalSparseBlockSizes(Format::E4M3, Format::E4M3, Format::UE4M3)
          .empty());
}
