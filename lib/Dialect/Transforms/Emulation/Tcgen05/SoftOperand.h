//===- SoftOperand.h - A and B of an instruction -------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the elements of an operand are and what they stand for, by the words of
// an instruction.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTOPERAND_H

#include "Emulation/Tcgen05/MatrixReader.h"
#include "Emulation/Tcgen05/SoftNumbers.h"
#include "Emulation/Tcgen05/TensorMemory.h"

namespace mlir::blockscale {

class SoftOperand {
public:
  using Part = MatrixReader::Part;

  /// The bits of the instruction descriptor that are about an operand.
  struct Fields {
    unsigned format, negate, transpose;
  };

  /// `where` is a descriptor, or an address in tensor memory (i32). `isPacked`:
  /// of the kinds that have fp4 alone, two codes in a byte.
  SoftOperand(SoftTensorMemory memory, SoftNumbers numbers, Value where,
              const Word &word, Fields fields, bool isPacked);

  /// A row of A or column of B, and a step along K: parts of where elements
  /// are.
  Part getRow(const Word &number) const;
  Part getStep(const Word &k) const;
  /// The element there, as an f64.
  Value load(const Part &row, const Part &step);

  /// Whether the product changes its sign, a condition.
  Word isNegated;

private:
  SoftTensorMemory memory;
  SoftNumbers numbers;
  bool isPacked;
  /// The row of the table of numbers, bits of a code, and a condition.
  Word format, bits, isMN;
  /// In shared memory, or else where in tensor memory.
  std::optional<MatrixReader> matrix;
  std::optional<Word> address;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTOPERAND_H
