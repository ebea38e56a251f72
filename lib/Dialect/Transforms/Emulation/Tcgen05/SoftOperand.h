//===- SoftOperand.h - Operands of tcgen05.mma ------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The positions and values of the elements of an operand, according to the
// descriptors of an instruction.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTOPERAND_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTOPERAND_H

#include "Emulation/Tcgen05/DecodeTable.h"
#include "Emulation/Tcgen05/MatrixReader.h"
#include "Emulation/Tcgen05/TensorMemory.h"

namespace mlir::blockscale {

class SoftOperand {
public:
  using Offset = MatrixReader::Offset;

  /// The bit positions, in the instruction descriptor, of the fields of an
  /// operand.
  struct Fields {
    unsigned format, negate, transpose;
  };

  /// `where` is a descriptor, or an address in tensor memory (i32). `isPacked`:
  /// the kind has fp4 only, two elements in a byte.
  SoftOperand(SoftTensorMemory memory, DecodeTable decodeTable, Value where,
              const Word &word, Fields fields, bool isPacked);

  /// The offsets of a row of A or column of B, and of a step along K.
  Offset getRow(const Word &number) const;
  Offset getStep(const Word &k) const;
  /// The element at these offsets, as an f64.
  Value load(const Offset &row, const Offset &step);

  /// Whether the operand is negated, a condition.
  Word isNegated;

private:
  SoftTensorMemory memory;
  DecodeTable decodeTable;
  bool isPacked;
  /// The row of the decode table, the bits of a code, and a condition: whether
  /// elements are contiguous along M or N.
  Word format, bits, isMN;
  /// An operand in shared memory. If there is none, it is in tensor memory:
  std::optional<MatrixReader> matrix;
  std::optional<Word> address;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_EMULATION_TCGEN05_SOFTOPERAND_H
