//===- FragmentLayout.h - Registers of mma.sync --------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The fragment layouts of `mma.sync`: which lane holds which element of an
// operand in which register, and the position of an element in its slot of a
// register. They are data, like the layouts in ScaleLayout.h, and use the same
// interpreter.
//
// The operands are seen K-contiguous: A as M x K and B as N x K, both (row, k).
//
// Sources: PTX ISA 9.0, "Matrix Fragments for mma.m16n8k32", "... m16n8k64",
// "Block Scaling for mma.sync" (figures 42 to 45).
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_SUPPORT_FRAGMENTLAYOUT_H
#define BLOCKSCALE_SUPPORT_FRAGMENTLAYOUT_H

#include "blockscale/Support/InstructionTable.h"
#include "blockscale/Support/ScaleLayout.h"

namespace mlir::blockscale {

inline constexpr unsigned kWarpLanes = 32;

/// Rows of A, and columns of B, of which each lane has one in a register.
inline constexpr unsigned kGroupRows = 8;

/// The operands of mma.sync. C is also D.
enum class Operand : unsigned char { A, B, C };

/// Where the elements of one operand are. `toElement` maps (lane, register,
/// slot) to (row, column), `toLane` is its inverse. Invariant:
/// `kWarpLanes * registers * slots == rows * columns`, and both maps are
/// bijections. Slot 0 is in the least significant bits of a register.
struct FragmentLayout {
  Operand operand;
  /// Bits of a slot: the key, with `operand`.
  unsigned slotBits;
  unsigned rows;
  unsigned columns;
  unsigned registers;
  unsigned slots;
  std::array<LayoutTerm, 5> toElement;
  std::array<LayoutTerm, 5> toLane;
};

/// The bits of a slot of C.
inline constexpr unsigned kSumBits = 32;

/// All layouts: A and B with slots of 16, 8 and 4 bits, C with slots of 32.
const std::vector<FragmentLayout> &getFragmentLayouts();

/// The layout of `operand` with slots of `slotBits`; there must be one.
const FragmentLayout &getFragmentLayout(Operand operand, unsigned slotBits);

/// The most elements of C that one lane may hold (more would exceed all
/// registers by far), and the largest extent of a matrix in registers.
inline constexpr int64_t kMaxAccElements = 1024;
inline constexpr int64_t kMaxFragmentExtent = int64_t(1) << 16;

/// The slot of an element in a register.
struct Slot {
  unsigned bits;
  /// The position of the code's lowest bit. All other bits are 0.
  unsigned shift;
};

/// The slot for elements of `format` in an instruction of `kind`: 4 bits for
/// the kinds of packed fp4, else 8 bits. In the slots of `mxf8f6f4`, fp4 is in
/// bits [5:2].
Slot getSlot(Kind kind, Format format);

/// Where words of scales are: one 32-bit register in each lane serves `tiles`
/// neighbouring tiles of the operand, of which the thread selector selects one.
/// `toRow` maps the lane to the row of scales in that group of tiles (tile 0
/// first), `toLane` is its inverse. Invariant: `tiles * rowsPerTile ==
/// kWarpLanes`. Byte `i` of the word is the scale of block `i` of the four that
/// the word holds.
struct ScaleFragment {
  Operand operand;
  unsigned rowsPerTile;
  unsigned tiles;
  std::array<LayoutTerm, 3> toRow;
  std::array<LayoutTerm, 3> toLane;
};

/// The layout of the scales of A or B.
const ScaleFragment &getScaleFragment(Operand operand);

/// Scales in a 32-bit word.
inline constexpr unsigned kScalesPerWord = 4;

/// (Table 37) The values that a byte selector may have: multiples of
/// `scaleVec` below 4.
bool isLegalByteSelector(unsigned scaleVec, int64_t value);
std::string describeByteSelectors(unsigned scaleVec);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_SUPPORT_FRAGMENTLAYOUT_H
