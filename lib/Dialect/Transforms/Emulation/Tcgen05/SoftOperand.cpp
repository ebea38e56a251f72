//===- SoftOperand.cpp - Operands of tcgen05.mma --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In tensor memory, row m of A is in lane m, and a column has four bytes. An
// element has a byte, in which fp4 has bits 2 to 5 and fp6 bits 1 to 6; for
// kinds with fp4 only, a byte has two elements.
//
// Sources: as MatrixReader.h; PTX ISA 9.0, "Packing formats", "Matrix A in
// tensor memory"; for fp6, which the ISA does not show, a sample of CUTLASS
// (cp_narrow_a_to_tmem_mma).
//
//===----------------------------------------------------------------------===//

#include "Emulation/Tcgen05/SoftOperand.h"

using namespace mlir;
using namespace mlir::blockscale;

static Word getFormat(const Word &word, unsigned field, bool isPacked) {
  if (isPacked)
    return {*word.b, DecodeTable::kE2M1};
  return word.field(field, 3);
}

/// The bits of a code: 8 for e4m3 and e5m2, 6 for both formats of fp6, 4 for
/// e2m1.
static Word getBits(const Word &format, bool isPacked) {
  ImplicitLocOpBuilder &b = *format.b;
  if (isPacked)
    return {b, 4};
  return format.isAtMost(1).select(
      Word(b, 8),
      format.isEqual(DecodeTable::kE2M1).select(Word(b, 4), Word(b, 6)));
}

static Word isSet(const Word &word, unsigned bit) {
  return word.field(bit, 1).isEqual(1);
}

SoftOperand::SoftOperand(SoftTensorMemory memory, DecodeTable decodeTable,
                         Value where, const Word &word, Fields fields,
                         bool isPacked)
    : isNegated(isSet(word, fields.negate)), memory(memory),
      decodeTable(decodeTable), isPacked(isPacked),
      format(getFormat(word, fields.format, isPacked)),
      bits(getBits(format, isPacked)),
      isMN(isPacked ? Word(*word.b, 0).isEqual(1)
                    : isSet(word, fields.transpose)) {
  ImplicitLocOpBuilder &b = *word.b;
  if (where.getType().isInteger(64)) {
    matrix = MatrixReader(b, where, "tcgen05.mma");
    return;
  }
  address = Word(b, where);
  emitCheck(word.field(fields.transpose, 1).isEqual(0),
            "tcgen05.mma: expected A in tensor memory along K");
}

// Elements are contiguous along K, or along M or N.

SoftOperand::Offset SoftOperand::getRow(const Word &number) const {
  if (address)
    return {number, Word(*number.b, 0)};
  MatrixReader::Packing packing{isPacked ? 5u : 4u, bits};
  Offset along = matrix->getAlong(number, packing, isMN);
  Offset swizzleRow = matrix->getSwizzleRow(number, isMN);
  return {isMN.select(along.bytes, swizzleRow.bytes),
          isMN.select(along.bit, swizzleRow.bit)};
}

SoftOperand::Offset SoftOperand::getStep(const Word &k) const {
  ImplicitLocOpBuilder &b = *k.b;
  if (address && isPacked)
    return {k >> 3, (k & 7) << 2};
  if (address) {
    // The code is in the middle of a byte.
    Word first = (Word(b, 8) - bits) >> 1;
    return {k >> 2, ((k & 3) << 3) + first};
  }
  MatrixReader::Packing packing{isPacked ? 5u : 4u, bits};
  Offset along = matrix->getAlong(k, packing, isMN);
  Offset swizzleRow = matrix->getSwizzleRow(k, isMN);
  return {isMN.select(swizzleRow.bytes, along.bytes),
          isMN.select(swizzleRow.bit, along.bit)};
}

Value SoftOperand::load(const Offset &row, const Offset &step) {
  ImplicitLocOpBuilder &b = *row.bytes.b;
  auto loadCode = [&]() -> Word {
    MatrixReader::Packing packing{isPacked ? 5u : 4u, bits};
    if (matrix)
      return matrix->loadCode(row, step, packing, /*mayCrossBytes=*/!isPacked);
    Value cell = memory.getCell(*address, row.bytes, step.bytes);
    return Word(b, LLVM::LoadOp::create(b, b.getI32Type(), cell)) >> step.bit;
  };
  Word one(b, 1);
  return decodeTable.get(format, loadCode() & ((one << bits) - 1));
}
