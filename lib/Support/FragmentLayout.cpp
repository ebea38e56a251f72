//===- FragmentLayout.cpp - Registers of mma.sync -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The register layouts of the PTX ISA as tables, for the lowering.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/FragmentLayout.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Adds nothing; pads a list of terms.
static constexpr LayoutTerm kNoTerm = {0, 0, 1, 0, 0};

const std::vector<FragmentLayout> &blockscale::getFragmentLayouts() {
  // Dimensions of toElement: lane 0, register 1, slot 2. Those of toLane: row
  // 0, column 1. A lane is 4 * group + thread; see the formulas in the PTX ISA.
  // clang-format off
  static const std::vector<FragmentLayout> layouts = {
      // row = group + 8 (register % 2)
      // k = 4 thread + slot + 16 (register / 2)
      {Operand::A, 8, 16, 32, 4, 4,
       {{{0, 0, 4, 0, 1}, {0, 1, 1, 2, 8},
         {1, 0, 1, 4, 4}, {1, 2, 1, 0, 1}, {1, 1, 2, 0, 16}}},
       {{{0, 0, 1, 8, 4}, {0, 1, 4, 4, 1},
         {1, 0, 8, 0, 1}, {1, 1, 16, 0, 2}, {2, 1, 1, 4, 1}}}},
      // k = 8 thread + slot + 32 (register / 2)
      {Operand::A, 4, 16, 64, 4, 8,
       {{{0, 0, 4, 0, 1}, {0, 1, 1, 2, 8},
         {1, 0, 1, 4, 8}, {1, 2, 1, 0, 1}, {1, 1, 2, 0, 32}}},
       {{{0, 0, 1, 8, 4}, {0, 1, 8, 4, 1},
         {1, 0, 8, 0, 1}, {1, 1, 32, 0, 2}, {2, 1, 1, 8, 1}}}},
      // k = 2 thread + slot + 8 (register / 2)
      {Operand::A, 16, 16, 16, 4, 2,
       {{{0, 0, 4, 0, 1}, {0, 1, 1, 2, 8},
         {1, 0, 1, 4, 2}, {1, 2, 1, 0, 1}, {1, 1, 2, 0, 8}}},
       {{{0, 0, 1, 8, 4}, {0, 1, 2, 4, 1},
         {1, 0, 8, 0, 1}, {1, 1, 8, 0, 2}, {2, 1, 1, 2, 1}}}},
      // row = group; k = 4 thread + slot + 16 register
      {Operand::B, 8, 8, 32, 2, 4,
       {{{0, 0, 4, 0, 1},
         {1, 0, 1, 4, 4}, {1, 2, 1, 0, 1}, {1, 1, 1, 0, 16}, kNoTerm}},
       {{{0, 0, 1, 0, 4}, {0, 1, 4, 4, 1},
         {1, 1, 16, 0, 1}, {2, 1, 1, 4, 1}, kNoTerm}}},
      // k = 8 thread + slot + 32 register
      {Operand::B, 4, 8, 64, 2, 8,
       {{{0, 0, 4, 0, 1},
         {1, 0, 1, 4, 8}, {1, 2, 1, 0, 1}, {1, 1, 1, 0, 32}, kNoTerm}},
       {{{0, 0, 1, 0, 4}, {0, 1, 8, 4, 1},
         {1, 1, 32, 0, 1}, {2, 1, 1, 8, 1}, kNoTerm}}},
      // k = 2 thread + slot + 8 register
      {Operand::B, 16, 8, 16, 2, 2,
       {{{0, 0, 4, 0, 1},
         {1, 0, 1, 4, 2}, {1, 2, 1, 0, 1}, {1, 1, 1, 0, 8}, kNoTerm}},
       {{{0, 0, 1, 0, 4}, {0, 1, 2, 4, 1},
         {1, 1, 8, 0, 1}, {2, 1, 1, 2, 1}, kNoTerm}}},
      // row = group + 8 (register / 2); column = 2 thread + register % 2
      {Operand::C, 32, 16, 8, 4, 1,
       {{{0, 0, 4, 0, 1}, {0, 1, 2, 0, 8},
         {1, 0, 1, 4, 2}, {1, 1, 1, 2, 1}, kNoTerm}},
       {{{0, 0, 1, 8, 4}, {0, 1, 2, 0, 1},
         {1, 0, 8, 0, 2}, {1, 1, 1, 2, 1}, kNoTerm}}},
  };
  // clang-format on
  return layouts;
}

const FragmentLayout &blockscale::getFragmentLayout(Operand operand,
                                                    unsigned slotBits) {
  for (const FragmentLayout &layout : getFragmentLayouts())
    if (layout.operand == operand && layout.slotBits == slotBits)
      return layout;
  std::abort();
}

Slot blockscale::getSlot(Kind kind, Format format) {
  // A slot is as wide as its container, or as the code of packed elements; for
  // 16-bit elements, it is as wide as the element.
  unsigned codeBits = getFormatInfo(format).bits;
  if (!hasContainers(kind) ||
      getFormatInfo(format).use == FormatUse::HighPrecision)
    return {codeBits, 0};
  return {8, codeBits == 4 ? getNibbleShift(kind) : 0};
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

const ScaleFragment &blockscale::getScaleFragment(Operand operand) {
  // clang-format off
  static const ScaleFragment fragments[] = {
      // In each group of four lanes the thread selector of A selects two lanes; the
      // lower one has row `group`, the upper one row `group + 8`.
      {Operand::A, 16, 2,
       {{{0, 0, 4, 0, 1}, {0, 0, 1, 2, 8}, {0, 0, 2, 2, 16}}},
       {{{0, 0, 1, 8, 4}, {0, 0, 8, 2, 1}, {0, 0, 16, 0, 2}}}},
      // The thread selector of B selects one lane of the four, for row `group`.
      {Operand::B, 8, 4,
       {{{0, 0, 4, 0, 1}, {0, 0, 1, 4, 8}, kNoTerm}},
       {{{0, 0, 1, 8, 4}, {0, 0, 8, 0, 1}, kNoTerm}}},
  };
  // clang-format on
  return fragments[operand == Operand::A ? 0 : 1];
}

bool blockscale::isLegalByteSelector(unsigned scaleVec, int64_t value) {
  return value >= 0 && value < kScalesPerWord && value % scaleVec == 0;
}

std::string blockscale::describeByteSelectors(unsigned scaleVec) {
  std::string text;
  for (unsigned value = 0; value < kScalesPerWord; value += scaleVec)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}
