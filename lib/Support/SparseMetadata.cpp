//===- SparseMetadata.cpp - Metadata of 2:4 sparse operands ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of granularities and of the fields that `compress` writes.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/SparseMetadata.h"

#include "blockscale/Support/InstructionTable.h"

#include <set>

using namespace mlir;
using namespace mlir::blockscale;

static constexpr GranularityInfo kGranularities[kNumGranularities] = {
    {Granularity::Elements, "2:4", "elements", 1},
    {Granularity::Pairs, "pairs", "pairs", 2},
};

const GranularityInfo &blockscale::getGranularityInfo(Granularity granularity) {
  return kGranularities[static_cast<unsigned>(granularity)];
}

std::optional<Granularity>
blockscale::lookupGranularity(std::string_view name) {
  for (const GranularityInfo &info : kGranularities)
    if (info.name == name)
      return info.granularity;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Fields by the mask of non-zero units. Those of masks with more than two are
/// marked, and keep the first two.
static constexpr unsigned kTooMany = kNumFields;
static constexpr unsigned kFieldsOfMasks[1u << kUnitsPerChunk] = {
    // Second position times four, plus the first one.
    0b01'00,            // none: 0, 1
    0b11'00,            // 0: 0, 3
    0b11'01,            // 1: 1, 3
    0b01'00,            // 0, 1
    0b11'10,            // 2: 2, 3
    0b10'00,            // 0, 2
    0b10'01,            // 1, 2
    0b01'00 | kTooMany, // 0, 1, 2
    0b11'00,            // 3: 0, 3
    0b11'00,            // 0, 3
    0b11'01,            // 1, 3
    0b01'00 | kTooMany, // 0, 1, 3
    0b11'10,            // 2, 3
    0b10'00 | kTooMany, // 0, 2, 3
    0b10'01 | kTooMany, // 1, 2, 3
    0b01'00 | kTooMany, // 0, 1, 2, 3
};

uint32_t blockscale::getLegalFields() {
  uint32_t fields = 0;
  for (unsigned field = 0; field != kNumFields; ++field)
    if (isLegalField(field))
      fields |= 1u << field;
  return fields;
}

bool blockscale::isLegalField(unsigned field) {
  return field < kNumFields && getPosition(field, 0) < getPosition(field, 1);
}

std::optional<unsigned> blockscale::getField(unsigned nonZeros) {
  unsigned field = kFieldsOfMasks[nonZeros];
  if (field >= kTooMany)
    return std::nullopt;
  return field;
}

uint64_t blockscale::getFieldTable() {
  uint64_t table = 0;
  for (unsigned mask = 0; mask != 1u << kUnitsPerChunk; ++mask)
    table |= static_cast<uint64_t>(kFieldsOfMasks[mask] % kNumFields)
             << (mask * kFieldBits);
  return table;
}

KeptElement blockscale::getKeptElement(const GranularityInfo &info,
                                       int64_t index) {
  return {index / info.keptOfChunk(),
          static_cast<unsigned>(index / info.unit % kKeptUnits),
          index % info.unit};
}

unsigned blockscale::getFieldOf(const uint8_t *metadata, int64_t chunk) {
  return (metadata[chunk / 2] >> (chunk % 2 * kFieldBits)) % kNumFields;
}

int64_t blockscale::getLogicalIndex(const GranularityInfo &info, int64_t index,
                                    unsigned field) {
  KeptElement element = getKeptElement(info, index);
  return element.chunk * info.chunk() +
         getPosition(field, element.kept) * info.unit + element.inUnit;
}

//===----------------------------------------------------------------------===//
// Tiled metadata
//===----------------------------------------------------------------------===//

int64_t blockscale::getTiledMetadataOffset(int64_t row, int64_t byte,
                                           int64_t numRows) {
  int64_t rowAtoms = (numRows + kMetadataAtomRows - 1) / kMetadataAtomRows;
  int64_t atom = byte / kMetadataAtomBytes * rowAtoms + row / kMetadataAtomRows;
  return (atom * kMetadataAtomRows + row % kMetadataAtomRows) *
             kMetadataAtomBytes +
         byte % kMetadataAtomBytes;
}

//===----------------------------------------------------------------------===//
// Legal combinations
//===----------------------------------------------------------------------===//

std::vector<unsigned>
blockscale::getLegalSparseBlockSizes(Format lhs, Format rhs, Format scale) {
  std::set<unsigned> sizes;
  for (unsigned dense : getLegalBlockSizes(lhs, rhs, scale))
    sizes.insert({dense, 2 * dense});
  return {sizes.begin(), sizes.end()};
}
