//===- WmmaFragment.h - Fragments of wmma -----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the elements of a matrix are in the registers of a warp. The PTX ISA
// leaves that open (section 9.7.14.4 "Matrix Fragments for WMMA"); here lane l
// has the elements from l * slots on, row by row. A and B of .f16 have more
// slots than some shapes have elements: then each element is there more than
// once, and all of its copies have to be the same.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_WMMA_WMMAFRAGMENT_H
#define BLOCKSCALE_LIB_SIMULATOR_WMMA_WMMAFRAGMENT_H

#include "Machine/Lanes.h"
#include "Translation/Translator.h"

#include <vector>

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

/// The shape that is among the modifiers, taken out; null after an error.
const WmmaShape *takeWmmaShape(Translator &t, Modifiers &modifiers);

/// The fragment of A, B or the accumulator ('a', 'b', 'c'); nothing if there is
/// none of that type.
std::optional<WmmaFragment> getWmmaFragment(char operand,
                                            const WmmaShape &shape, Type type);

/// Fails where the target or the version of the PTX has no wmma with this type.
bool checkWmmaTarget(Translator &t, Type type);

/// The steps of wmma.load, .store and .mma.
void translateWmmaLoad(Translator &t, const PtxInstruction &instruction);
void translateWmmaStore(Translator &t, const PtxInstruction &instruction);
void translateWmmaMultiply(Translator &t, const PtxInstruction &instruction);

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_WMMA_WMMAFRAGMENT_H
