//===- SparseFragments.cpp - Registers of mma.sp --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/SparseFragments.h"

using namespace mlir;
using namespace mlir::blockscale;

static FragmentLayout makeSparseB(unsigned slotBits) {
  FragmentLayout layout = getFragmentLayout(Operand::B, slotBits);
  layout.columns *= 2;
  layout.registers *= 2;
  return layout;
}

const FragmentLayout &blockscale::getSparseBLayout(unsigned slotBits) {
  static const FragmentLayout bytes = makeSparseB(8), nibbles = makeSparseB(4);
  return slotBits == 8 ? bytes : nibbles;
}

const MetadataFragment &blockscale::getMetadataFragment() {
  // row = lane / 4 + 8 (lane % 2); half = lane / 2 % 2
  static constexpr MetadataFragment fragment = {
      {{{0, 0, 4, 0, 1}, {0, 0, 1, 2, 8}, {1, 0, 2, 2, 1}}},
      {{{0, 0, 1, 8, 4}, {0, 0, 8, 0, 1}, {0, 1, 1, 0, 2}}}};
  return fragment;
}
