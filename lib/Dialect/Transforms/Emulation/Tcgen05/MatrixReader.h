//===- MatrixReader.h - Matrices of descriptors -----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an instruction of tcgen05 finds an element, according to its matrix
// descriptors. The formulas come from the PTX ISA. They do not use the tables
// with which the lowering encodes descriptors, on purpose: they test it.
//
// Sources: PTX ISA 9.0, "Shared memory descriptor", "Canonical layouts",
// "Shared memory layout and swizzling", "Packing formats".
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_MATRIXREADER_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_MATRIXREADER_H

#include "Emulation/Tcgen05/Word.h"

namespace mlir::blockscale {

/// Emits an error at run time, with a message, if `condition` is false.
void emitCheck(const Word &condition, const Twine &message);

/// The fields of a descriptor of shared memory.
class MatrixReader {
public:
  /// Checks the fields at run time; `instruction` is for the messages.
  MatrixReader(ImplicitLocOpBuilder &b, Value descriptor,
               StringRef instruction);

  /// How elements are packed along a swizzle row: 16 bytes hold `1 <<
  /// unitShift` elements of `bits` bits, in order, and then padding.
  struct Packing {
    unsigned unitShift;
    Word bits;
  };
  /// The offset of a row, or of a step along K. The sum of both is the offset
  /// of an element.
  struct Offset {
    Word bytes, bit;
  };
  /// The offset of index `number` along swizzle rows (the contiguous
  /// dimension), and that of swizzle row `number`. `isMN`: swizzle rows are
  /// steps along K.
  Offset getAlong(const Word &number, const Packing &packing,
                  const Word &isMN) const;
  Offset getSwizzleRow(const Word &number, const Word &isMN) const;

  /// The address in shared memory of the byte that is `bytes` after the start
  /// in the layout without a swizzle.
  Word getAddress(const Word &bytes) const;
  /// The bits of a code from its first one on, with other bits above them.
  Word loadCode(const Offset &row, const Offset &step, const Packing &packing,
                bool mayCrossBytes) const;

private:
  Word low, high;
  Word start, leading, stride, swizzle;
  /// The base 2 logarithm of the bytes of a swizzle row.
  Word rowShift;
};

/// The pointer to an address in the shared memory of this block.
Value getSharedPointer(const Word &address);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_MATRIXREADER_H
