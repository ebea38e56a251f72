//===- TensorMemory.h - Tensor memory of tcgen05 ---------------- -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor memory has 128 lanes of 512 columns of 32 bits. Tables of its layouts,
// and of the shapes and scales that instructions support, for one CTA (`group`
// 1) and for pairs of CTAs (`group` 2, PTX `.cta_group::2`).
//
// Sources: PTX ISA 9.0, "tcgen05": "Tensor Memory", "Data path layout
// organization", "Scale factor A/B layout", "Shape", and tables 39 and 43 to
// 44.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_TENSORMEMORY_H
#define BLOCKSCALE_SUPPORT_TENSORMEMORY_H

#include "blockscale/Support/InstructionTable.h"

#include <cstdint>

namespace mlir::blockscale {

inline constexpr int64_t kTensorLanes = 128;
inline constexpr int64_t kTensorColumns = 512;
inline constexpr int64_t kTensorColumnBytes = 4;

/// An address has the lane in its upper half and the column in its lower half.
inline constexpr unsigned kTensorLaneShift = 16;

/// The lanes that one warp of a warpgroup can read and write.
inline constexpr int64_t kTensorWarpLanes = 32;

/// Whether `chip` has tensor memory and the instructions that use it.
bool hasTensorMemory(const Chip &chip);

/// The lowest PTX version of its instructions other than mma, on any chip.
inline constexpr unsigned kTensorMemoryPtx = 86;

/// The columns of an allocation: powers of two from 32 to 512.
inline constexpr int64_t kLeastTensorColumns = 32;
bool isTensorAllocation(int64_t columns);

/// The columns of A that one instruction reads: 32 bytes along K.
inline constexpr int64_t kOperandColumns = 8;

/// The columns of a lane that one instruction loads or stores: powers of two up
/// to 128.
inline constexpr int64_t kMostMovedColumns = 128;
bool isTensorMove(int64_t columns);

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// The layout of an accumulator: sum (m, n) is in block `m / rowsOfBlock`, lane
/// `m % rowsOfBlock + rowsOfBlock * (n / c)` and column `n % c` of the
/// accumulator, with `c = N / parts` columns. Invariant: `rowsOfBlock * parts
/// == kTensorLanes`.
struct AccLayout {
  /// The number of CTAs of an instruction, and M of all of them.
  unsigned group, m;
  /// The name in the PTX ISA.
  char name;
  unsigned rowsOfBlock, parts;

  /// The copies of the scales of B in lanes: each part of the columns reads the
  /// copy in its own lanes.
  unsigned getScaleCopies() const { return 4 / parts; }
};

const std::vector<AccLayout> &getAccLayouts();

/// The layout, or null.
const AccLayout *lookupAccLayout(int64_t group, int64_t m);

/// The N that instructions support.
struct AccColumns {
  unsigned group;
  /// Whether B is contiguous along N, and has a byte for each element.
  bool isTransposed;
  /// N is a multiple of `step`, at least `step` and at most 256.
  unsigned step;
};

inline constexpr int64_t kMostN = 256;
const std::vector<AccColumns> &getAccColumns();

/// The rule, or null for a group that does not exist.
const AccColumns *lookupAccColumns(int64_t group, bool isTransposed);

bool isLegalN(const AccColumns &rule, int64_t n);

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// A region for scales of at most `mostRows` rows, which are padded to that.
/// Four blocks along K form a word of `columnsOfWord` columns. Row r of a word
/// is in column `r / 32`, a byte for each block, of lanes `r % 32 + 32 i` for i
/// below `copies`. With two copies, this holds for the first half of the rows,
/// and the other half is 64 lanes further. Invariant: `mostRows / 32 * copies
/// == 4 * columnsOfWord`.
struct ScaleRegion {
  unsigned mostRows;
  unsigned columnsOfWord;
  unsigned copies;
};

const std::vector<ScaleRegion> &getScaleRegions();

/// The copies of scales in all lanes, except for B of pairs of CTAs with M =
/// 128.
inline constexpr int64_t kScaleCopies = 4;

/// The smallest region for `rows`, or null.
const ScaleRegion *lookupScaleRegion(int64_t rows,
                                     int64_t copies = kScaleCopies);

/// The blocks along K in a 32-bit word of a row.
inline constexpr int64_t kBlocksOfWord = 4;

bool isLegalScaleId(ScaleIds ids, int64_t id);

/// The legal ids, such as "0, 2", or "none".
std::string describeScaleIds(ScaleIds ids);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_TENSORMEMORY_H
