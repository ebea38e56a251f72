//===- MatrixReader.h - Matrices that descriptors name --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an instruction of tcgen05 finds an element, by the words that it is
// given: read from the PTX ISA, and on purpose without the tables that the
// lowering writes those words with, which this is the judge of.
//
// Sources: PTX ISA 9.0, "Shared memory descriptor", "Canonical layouts",
// "Shared memory layout and swizzling", "Packing formats".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_MATRIXREADER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_MATRIXREADER_H

#include "Emulation/Tcgen05/Word.h"

namespace mlir::blockscale {

/// An error at run time, with a message, where `condition` is false.
void emitCheck(const Word &condition, const Twine &message);

/// The fields of a descriptor of shared memory.
class MatrixReader {
public:
  /// Checks them at run time; `instruction` is for the messages.
  MatrixReader(ImplicitLocOpBuilder &b, Value descriptor,
               StringRef instruction);

  /// How codes lie along lines: 16 bytes hold `1 << unitShift` codes of so many
  /// `bits`, the first ones first, and padding behind them.
  struct Packing {
    unsigned unitShift;
    Word bits;
  };
  /// A part of a place, of a row or of a step along K: they add up.
  struct Part {
    Word bytes, bit;
  };
  /// Number `number` along lines, which codes are contiguous along, and the
  /// line number `number`. `isMN`: lines are steps along K.
  Part getAlong(const Word &number, const Packing &packing,
                const Word &isMN) const;
  Part getLine(const Word &number, const Word &isMN) const;

  /// The address in shared memory, a word, that is so many bytes behind the
  /// start without a swizzle.
  Word getAddress(const Word &bytes) const;
  /// The bits of a code from its first one on, with others above them.
  Word loadCode(const Part &row, const Part &step, const Packing &packing,
                bool mayCrossBytes) const;

private:
  Word low, high;
  Word start, leading, stride, swizzle;
  /// The base 2 logarithm of the bytes of a line.
  Word lineShift;
};

/// The pointer to an address in the shared memory of this block.
Value getSharedPointer(const Word &address);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_MATRIXREADER_H
