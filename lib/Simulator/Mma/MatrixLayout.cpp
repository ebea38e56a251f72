//===- MatrixLayout.cpp - Fragment layouts --------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of fragments and of sparsity metadata.
//
//===----------------------------------------------------------------------===//

#include "Mma/MatrixLayout.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

// clang-format off
static constexpr FragmentLayout kFragments[] = {
  //                                    row                 step
  //                        m bits radix g  t  lo hi j       g  t  lo hi  j
  {MatrixOperand::A,           8,  4, 1, {1, 0, 0, 0, 0}, {0, 8, 0, 32, 1}},
  {MatrixOperand::A,           8,  8, 1, {1, 0, 0, 0, 0}, {0, 4, 0, 16, 1}},
  {MatrixOperand::A,           8, 64, 1, {1, 0, 0, 0, 0}, {0, 1, 0,  4, 0}},
  {MatrixOperand::A,          16,  4, 2, {1, 0, 8, 0, 0}, {0, 8, 0, 32, 1}},
  {MatrixOperand::A,          16,  8, 2, {1, 0, 8, 0, 0}, {0, 4, 0, 16, 1}},
  {MatrixOperand::A,          16, 16, 2, {1, 0, 8, 0, 0}, {0, 2, 0,  8, 1}},
  {MatrixOperand::A,          16, 32, 2, {1, 0, 8, 0, 0}, {0, 1, 0,  4, 0}},
  {MatrixOperand::A,          16, 64, 2, {1, 0, 8, 0, 0}, {0, 1, 0,  4, 0}},
  {MatrixOperand::B,           8,  4, 1, {1, 0, 0, 0, 0}, {0, 8, 0, 32, 1}},
  {MatrixOperand::B,           8,  8, 1, {1, 0, 0, 0, 0}, {0, 4, 0, 16, 1}},
  {MatrixOperand::B,           8, 64, 1, {1, 0, 0, 0, 0}, {0, 1, 0,  4, 0}},
  {MatrixOperand::B,          16,  4, 1, {1, 0, 0, 0, 0}, {0, 8, 0, 32, 1}},
  {MatrixOperand::B,          16,  8, 1, {1, 0, 0, 0, 0}, {0, 4, 0, 16, 1}},
  {MatrixOperand::B,          16, 16, 1, {1, 0, 0, 0, 0}, {0, 2, 0,  8, 1}},
  {MatrixOperand::B,          16, 32, 1, {1, 0, 0, 0, 0}, {0, 1, 0,  4, 0}},
  {MatrixOperand::B,          16, 64, 1, {1, 0, 0, 0, 0}, {0, 1, 0,  4, 0}},
  {MatrixOperand::Accumulator, 8, 32, 2, {1, 0, 0, 0, 0}, {0, 2, 1,  0, 0}},
  {MatrixOperand::Accumulator, 8, 64, 2, {1, 0, 0, 0, 0}, {0, 2, 1,  0, 0}},
  {MatrixOperand::Accumulator,16, 16, 1, {1, 0, 0, 8, 0}, {0, 2, 0,  0, 1}},
  {MatrixOperand::Accumulator,16, 32, 2, {1, 0, 0, 8, 0}, {0, 2, 1,  0, 0}},
  {MatrixOperand::Accumulator,16, 64, 2, {1, 0, 0, 8, 0}, {0, 2, 1,  0, 0}},
};

static constexpr MetadataLayout kMetadata[] = {
  // bits  k  selectors row/lo chunk/lo chunk/hi fields chunk
  {16,  16, 4,        0,     0,       0,       4,     4},
  {16,  32, 2,        0,     4,       0,       4,     4},
  {32,   8, 4,        0,     0,       0,       4,     2},
  {32,  16, 2,        0,     4,       0,       4,     2},
  {8,   32, 2,        8,     0,       0,       8,     4},
  {8,   64, 1,        8,     0,       8,       8,     4},
  {4,   64, 2,        8,     0,       0,       8,     8},
  {4,  128, 1,        8,     0,       8,       8,     8},
};
// clang-format on

const FragmentLayout &sim::getFragmentLayout(MatrixOperand operand, unsigned m,
                                             unsigned slotBits) {
  for (const FragmentLayout &layout : kFragments)
    if (layout.operand == operand && layout.m == m &&
        layout.slotBits == slotBits)
      return layout;
  llvm_unreachable("every row of the table of instructions has its layouts");
}

const MetadataLayout &sim::getMetadataLayout(unsigned slotBits, unsigned k) {
  for (const MetadataLayout &layout : kMetadata)
    if (layout.slotBits == slotBits && layout.k == k)
      return layout;
  llvm_unreachable("every sparse row of the table has its metadata");
}
