//===- SparseMetadata.h - Metadata of 2:4 sparse operands -------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of every four units along K, two are kept, and a field of four bits says
// which: bits 0 and 1 are the position of the first one, bits 2 and 3 that of
// the second one. A byte has the fields of two chunks, the first in its low
// bits. This is the only place that knows fields and positions; verifiers,
// folds and lowerings ask here.
//
// Source: PTX ISA, "Sparse matrix storage" (ordered metadata); the page
// docs/Sparse.md shows it as a picture.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_SPARSEMETADATA_H
#define BLOCKSCALE_SUPPORT_SPARSEMETADATA_H

#include "blockscale/Support/Formats.h"
#include "blockscale/Support/ScaleLayout.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mlir::blockscale {

//===----------------------------------------------------------------------===//
// Granularities
//===----------------------------------------------------------------------===//

/// What is kept or not: an element, or two neighboring elements.
enum class Granularity : unsigned char { Elements, Pairs };

inline constexpr unsigned kNumGranularities = 2;

/// The units of a chunk, and how many of them are kept.
inline constexpr unsigned kUnitsPerChunk = 4;
inline constexpr unsigned kKeptUnits = 2;

/// The elements that an operand has of `k` logical ones along K; a dense one
/// has all of them.
constexpr int64_t getKeptElements(int64_t k,
                                  std::optional<Granularity> sparsity) {
  return sparsity ? k * kKeptUnits / kUnitsPerChunk : k;
}

struct GranularityInfo {
  Granularity granularity;
  /// The name in attributes and messages.
  std::string_view name;
  /// What a unit is called in messages, in the plural.
  std::string_view unitName;
  /// The elements of a unit.
  int64_t unit;

  /// The logical elements of a chunk, and the kept ones.
  constexpr int64_t chunk() const { return kUnitsPerChunk * unit; }
  constexpr int64_t keptOfChunk() const { return kKeptUnits * unit; }
  /// The logical elements that a byte of metadata describes.
  constexpr int64_t elementsPerByte() const { return 2 * chunk(); }
};

/// The row of `granularity`.
const GranularityInfo &getGranularityInfo(Granularity granularity);

/// The granularity of that name; nullopt for others.
std::optional<Granularity> lookupGranularity(std::string_view name);

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

inline constexpr unsigned kFieldBits = 4;
inline constexpr unsigned kPositionBits = 2;
inline constexpr unsigned kNumFields = 1u << kFieldBits;

/// The position in its chunk of the kept unit `kept`, 0 or 1.
constexpr unsigned getPosition(unsigned field, unsigned kept) {
  return (field >> (kept * kPositionBits)) & (kUnitsPerChunk - 1);
}

/// Bit `f` is set if the field `f` is legal: its two positions ascend.
uint32_t getLegalFields();
bool isLegalField(unsigned field);

/// The field that CUTLASS writes for chunks without non-zeros: position 0,
/// twice. It is accepted if both kept units are zero.
inline constexpr unsigned kEmptyChunkField = 0;

/// The field of a chunk in which the units of the mask `nonZeros` are not zero;
/// nullopt for more than two. A single one before the last is kept with the
/// last; the last one with the first; without any, the first two are kept.
std::optional<unsigned> getField(unsigned nonZeros);

/// The same for all masks, four bits each, from mask 0 in the lowest bits on.
/// Masks of more than two units have the field of the first two.
uint64_t getFieldTable();

/// The bytes of metadata that an instruction reads of a row, and the most that
/// lie side by side in shared memory.
inline constexpr int64_t kMetadataStepBytes = 8;
inline constexpr int64_t kMetadataChunkBytes = 16;

/// A byte of metadata of which both fields keep the first two units; padding of
/// tiled metadata.
inline constexpr uint8_t kPaddingMetadata = 0x44;

/// The position in a row of x, and its inverse for one row of the matrix.
struct KeptElement {
  /// The chunk along K, and the position of the element in it.
  int64_t chunk;
  unsigned kept;
  int64_t inUnit;
};

/// Which element of which chunk the kept element `index` of a row is.
KeptElement getKeptElement(const GranularityInfo &info, int64_t index);

/// The field of `chunk` in a row of metadata.
unsigned getFieldOf(const uint8_t *metadata, int64_t chunk);

/// The logical index along K of the kept element `index`, whose chunk has this
/// field.
int64_t getLogicalIndex(const GranularityInfo &info, int64_t index,
                        unsigned field);

//===----------------------------------------------------------------------===//
// Tiled metadata
//===----------------------------------------------------------------------===//

/// Atoms of tiled metadata: 128 rows of 16 bytes.
inline constexpr int64_t kMetadataAtomRows = 128;
inline constexpr int64_t kMetadataAtomBytes = 16;

/// (row, byte) -> (byte atom, row atom, row in the atom, byte in the atom).
/// Atoms that are neighbors along M are neighbors in memory.
inline constexpr std::array<LayoutTerm, 4> kTileMetadataTerms = {{
    {0, 1, 16, 0, 1},
    {1, 0, 128, 0, 1},
    {2, 0, 1, 128, 1},
    {3, 1, 1, 16, 1},
}};

/// The inverse: (byte atom, row atom, row in the atom, byte in the atom) ->
/// (row, byte).
inline constexpr std::array<LayoutTerm, 4> kUntileMetadataTerms = {{
    {0, 1, 1, 0, 128},
    {0, 2, 1, 0, 1},
    {1, 0, 1, 0, 16},
    {1, 3, 1, 0, 1},
}};

/// The offset, in bytes, of byte `byte` of row `row` in tiled metadata of
/// `numRows` rows.
int64_t getTiledMetadataOffset(int64_t row, int64_t byte, int64_t numRows);

//===----------------------------------------------------------------------===//
// Legal combinations
//===----------------------------------------------------------------------===//

/// The block sizes, in logical elements, of sparse products of these types: a
/// scale covers as many logical elements as in a dense product, or as many kept
/// ones, which are twice as many logical ones. Empty for illegal types.
std::vector<unsigned> getLegalSparseBlockSizes(Format lhs, Format rhs,
                                               Format scale);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_SPARSEMETADATA_H
