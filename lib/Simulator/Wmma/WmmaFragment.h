//===- WmmaFragment.h - Fragments of wmma -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout of a wmma fragment in the registers of a warp. The PTX ISA leaves
// it open (section 9.7.14.4 "Matrix Fragments for WMMA"); here lane l has the
// elements from l * slots on, row by row. A and B of .f16 have more slots than
// some shapes have elements: then there are several copies of each element,
// which must be equal.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_WMMA_WMMAFRAGMENT_H
#define BLOCKSCALE_LIB_SIMULATOR_WMMA_WMMAFRAGMENT_H

#include "Machine/Lanes.h"
#include "Translation/Translator.h"

namespace mlir::blockscale::sim {

struct WmmaShape {
  llvm::StringLiteral name;
  unsigned m, n, k;
};

struct WmmaFragment {
  unsigned rows, columns;
  Type element, registerType;
  unsigned bits, numRegisters;

  unsigned getPerRegister() const { return 32 / bits; }
  unsigned getSlots() const { return numRegisters * getPerRegister(); }
  unsigned getNumElements() const { return rows * columns; }
  /// The element in slot `slot` of a lane, row by row.
  unsigned getElement(unsigned lane, unsigned slot) const {
    return (lane * getSlots() + slot) % getNumElements();
  }
};

/// Takes out the shape; null after an error.
const WmmaShape *takeWmmaShape(Translator &t, Modifiers &modifiers);

/// The fragment of A, B or the accumulator ('a', 'b', 'c'); nothing if there is
/// none of that type.
std::optional<WmmaFragment> getWmmaFragment(char operand,
                                            const WmmaShape &shape, Type type);

/// Fails if the target or the PTX version has no wmma with this type.
bool checkWmmaTarget(Translator &t, Type type);

/// Translate wmma.load, .store and .mma.
void translateWmmaLoad(Translator &t, Modifiers &modifiers);
void translateWmmaStore(Translator &t, Modifiers &modifiers);
void translateWmmaMultiply(Translator &t, Modifiers &modifiers);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WMMA_WMMAFRAGMENT_H
