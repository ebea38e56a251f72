//===- TensorMemory.h - Tensor memory of tcgen05 ---------------- -*- C++
//-*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor memory is 128 lanes of 512 columns of 32 bits. What lies where in it,
// and which shapes and scales instructions take, for one block (`group` 1) and
// for pairs of blocks (`group` 2, PTX `.cta_group::2`), as tables.
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

/// An address is a lane in its upper half and a column in its lower one.
inline constexpr unsigned kTensorLaneShift = 16;

/// Lanes that one warp of four can read and write.
inline constexpr int64_t kTensorWindow = 32;

/// Whether `chip` has tensor memory and the instructions that use it.
bool hasTensorMemory(const Chip &chip);

/// The lowest PTX version of those that do not multiply, on any chip.
inline constexpr unsigned kTensorMemoryPtx = 86;

/// What can be allocated: powers of two from 32 to 512.
inline constexpr int64_t kLeastTensorColumns = 32;
bool isTensorAllocation(int64_t columns);

/// Columns of A that one instruction takes: 32 bytes along K.
inline constexpr int64_t kOperandColumns = 8;

/// What one instruction can read or write of a lane: powers of two up to 128.
inline constexpr int64_t kMostMovedColumns = 128;
bool isTensorMove(int64_t columns);

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Where the sums of an instruction are: (m, n) is in block
/// `m / rowsOfBlock`, lane `m % rowsOfBlock + rowsOfBlock * (n / c)` and column
/// `n % c` of the accumulator, with `c = N / parts` columns. Invariant:
/// `rowsOfBlock * parts == kTensorLanes`.
struct SumLayout {
  /// Blocks that multiply together, and M of all of them.
  unsigned group, m;
  /// As the PTX ISA names it.
  char name;
  unsigned rowsOfBlock, parts;

  /// Copies of the scales of B in lanes: those that a part of columns reads are
  /// in its lanes.
  unsigned getScaleCopies() const { return 4 / parts; }
};

const std::vector<SumLayout> &getSumLayouts();

/// The layout, or null.
const SumLayout *lookupSumLayout(int64_t group, int64_t m);

/// The N that instructions take.
struct SumColumns {
  unsigned group;
  /// Whether B is contiguous along N, and has a byte for each element.
  bool isTransposed;
  /// N is a multiple of `step`, at least `step` and at most 256.
  unsigned step;
};

inline constexpr int64_t kMostN = 256;
const std::vector<SumColumns> &getSumColumns();

/// The rule, or null for a group that there is not.
const SumColumns *lookupSumColumns(int64_t group, bool isTransposed);

bool isLegalN(const SumColumns &rule, int64_t n);

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Scales of `mostRows` rows at most are padded to that. Row r is in lanes
/// `r % 32 + 32 i` for i up to `copies`, column `r / 32` of a word of four
/// blocks along K, which is byte by byte; the next word is `columnsOfWord`
/// columns further. With two copies, that is so for the first half of the rows,
/// and the other half is 64 lanes further. Invariant:
/// `mostRows / 32 * copies == 4 * columnsOfWord`.
struct ScaleRegion {
  unsigned mostRows;
  unsigned columnsOfWord;
  unsigned copies;
};

const std::vector<ScaleRegion> &getScaleRegions();

/// Copies of scales in all lanes, but for B of pairs of blocks with M = 128.
inline constexpr int64_t kScaleCopies = 4;

/// The smallest region for `rows`, or null.
const ScaleRegion *lookupScaleRegion(int64_t rows,
                                     int64_t copies = kScaleCopies);

/// Blocks along K in a word of a row.
inline constexpr int64_t kBlocksOfWord = 4;

/// The scales that one instruction takes of a row: `count`, the first of them
/// is number `id` of a word.
struct ScaleFactors {
  Kind kind;
  /// K of the instruction, and scales along it: `.scale_vec::NX` for K = 32 and
  /// 64.
  unsigned k, count;
  /// Bit i: whether `id` may be i. Scales beyond the word are in the next one,
  /// with K = 96 alone.
  unsigned ids;
};

const std::vector<ScaleFactors> &getScaleFactors();

/// The row, or null.
const ScaleFactors *lookupScaleFactors(Kind kind, unsigned k, unsigned count);

bool isLegalScaleId(const ScaleFactors &factors, int64_t id);

/// The legal ids, such as "0, 2".
std::string describeScaleIds(const ScaleFactors &factors);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_TENSORMEMORY_H
