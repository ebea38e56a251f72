//===- SharedLayout.h - Tiles in shared memory ---------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts of an operand's tile in shared memory, and the instructions that load
// it into fragments of mma.sync.
//
// Sources: PTX ISA 9.0, "ldmatrix"; shared memory has 32 banks of 4 bytes, so
// that 128 bytes of different banks are read at once.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_SHAREDLAYOUT_H
#define BLOCKSCALE_SUPPORT_SHAREDLAYOUT_H

#include "blockscale/Support/FragmentLayout.h"

namespace mlir::blockscale {

/// The contiguous index, K or M (N). Rows of memory are rows of the operand (M
/// of A, N of B), or steps along K.
enum class Major : unsigned char { K, MN };
inline constexpr unsigned kNumMajors = 2;
std::string_view stringifyMajor(Major major);

/// How a row of memory stores its elements.
enum class Storage : unsigned char {
  /// The slot of the instruction, see getSlot.
  Slots,
  /// A byte with the code in its low bits.
  Bytes,
  /// A bit stream of 16 elements at the start of every 16 bytes; the rest is
  /// padding
  /// and may hold anything.
  Padded,
  /// 4-bit elements as a bit stream, for a slot of a byte.
  Packed,
};
inline constexpr unsigned kNumStorages = 4;
std::string_view stringifyStorage(Storage storage);

/// The unit in which rows are read, copied and swizzled, in bytes; also the
/// elements of such a unit with a byte for each.
inline constexpr int64_t kChunkBytes = 16;

/// The bytes that all banks provide at once.
inline constexpr int64_t kBankRowBytes = 128;

struct TileLayout {
  Major major = Major::K;
  Storage storage = Storage::Slots;
  /// Whether the chunks of a row are permuted, see getChunkSwizzle.
  bool isSwizzled = false;
};

/// Chunk c of row r is stored as chunk `c ^ (r / rowsPerStep % modulus)`. Then
/// the same chunk of 8 consecutive rows is in 8 different groups of banks.
struct ChunkSwizzle {
  int64_t rowsPerStep;
  int64_t modulus;
};

/// Whether rows of `rowBytes` can be swizzled, with chunks staying in their
/// row.
bool canSwizzle(int64_t rowBytes);
ChunkSwizzle getChunkSwizzle(int64_t rowBytes);

/// The bits of one element in `storage`, including padding between elements.
unsigned getStoredBits(Storage storage, Slot slot);

/// Whether operands of `kind` with elements of `codeBits` bits can have this
/// layout.
bool canLie(Kind kind, unsigned codeBits, Major major, Storage storage);

/// How many groups of 8 rows (M of A, N of B) are interleaved in a tile. If
/// elements are contiguous along rows, a lane loads neighbouring elements (16
/// bits), which must belong to different groups. Row i of group o is row
/// `8 (o - o mod n) + n i + o mod n`.
unsigned getInterleave(Kind kind, const TileLayout &layout, Slot slot);

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The layout of the scales of a tile: row by row; in the order in which lanes
/// of mma.sync read them; in that order for 32-bit words copied from the 32x4x4
/// layout; or as atoms of that layout, which bulk copies copy unchanged.
enum class ScaleOrder : unsigned char { Rows, Lanes, Parts, Atoms };
inline constexpr unsigned kNumScaleOrders = 4;
std::string_view stringifyScaleOrder(ScaleOrder order);

/// The dimensions of memory with scales in `order`.
unsigned getScaleRank(ScaleOrder order);

/// (row of a group of 32, part) -> outer: the outer index of a lane's words of
/// its row, see getScaleFragment. It is permuted by the part, so that the words
/// of one row, which are adjacent in the 32x4x4 layout, are in different banks.
/// Without parts, the part is 0.
inline constexpr std::array<LayoutTerm, 3> kScaleOuterTerms = {{
    {0, 0, 1, 8, 4},
    {0, 0, 8, 0, 1},
    {0, 1, 1, 4, 1},
}};

/// The inverse: (outer, part) -> row of the group.
inline constexpr std::array<LayoutTerm, 3> kScaleRowTerms = {{
    {0, 0, 4, 0, 1},
    {0, 0, 1, 4, 8},
    {0, 1, 1, 4, 8},
}};

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// A form of `ldmatrix` whose results are bytes, or pairs of nibbles, in the
/// order of fragments. A lane passes the address of one row of a matrix; lanes
/// `rows` i to `rows` (i + 1) - 1 pass those of matrix i. Register r of lane l
/// gets
///
/// * bytes 4 (l % 4) to 4 (l % 4) + 3 of row l / 4, or
/// * transposed: byte l / 4 + 8 r of rows 4 (l % 4) to 4 (l % 4) + 3, or
/// * transposed, 16 bits at a time: element l / 4 of rows 2 (l % 4) and
///   2 (l % 4) + 1.
struct MatrixLoad {
  /// The bits of an element in memory: 8, or 6 or 4 that are padded and
  /// extended; 16 for pairs of bytes that stay together.
  unsigned codeBits;
  bool isTransposed;
  /// The shape m x n in PTX.
  unsigned m;
  unsigned n;
  std::string_view type;
  /// The rows of a matrix, and the registers of a lane that it fills.
  unsigned rows;
  unsigned registers;
  /// The lowest compute capability (times ten, of targets with a letter) and
  /// PTX version that have it.
  unsigned lowestCapability;
  unsigned lowestPtx;
};

const std::vector<MatrixLoad> &getMatrixLoads();

/// The entry of the table, or null.
const MatrixLoad *lookupMatrixLoad(unsigned codeBits, bool isTransposed);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_SHAREDLAYOUT_H
