//===- Tcgen05MmaOp.cpp - One tcgen05.mma ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an instruction asks of its operands; all of it is in no register that
// hardware or ptxas would check.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"

using namespace mlir;
using namespace mlir::blockscale;

unsigned Tcgen05MmaOp::getLowestPtxVersion() {
  return getInstruction().getInstruction().lowestPtx;
}

bool Tcgen05MmaOp::isSupportedOn(const Chip &chip) {
  return chip.has(getInstruction().getPath());
}

std::string Tcgen05MmaOp::describeInstruction() {
  return getOpcode(getInstruction().getInstruction());
}

InstructionFields Tcgen05MmaOp::getFields() {
  InstructionAttr attr = getInstruction();
  InstructionFields fields =
      getInstructionFields(attr.getInstruction(), attr.getN());
  fields.isTransposedA = getTransposeA();
  fields.isTransposedB = getTransposeB();
  fields.aScaleId = getABlock() % kBlocksOfWord;
  fields.bScaleId = getBBlock() % kBlocksOfWord;
  return fields;
}

namespace {
/// A or B with its scales.
struct ScaledOperand {
  StringRef name;
  TmemScalesType scales;
  int64_t block;
  /// M or N.
  int64_t rows;
  bool isTransposed;
};
} // namespace

static LogicalResult verifyScales(Tcgen05MmaOp op,
                                  const ScaledOperand &operand) {
  InstructionAttr instruction = op.getInstruction();
  const ScaleRegion *region = lookupScaleRegion(operand.rows);
  if (!region || operand.scales.getRows() != region->mostRows) // (T3)
    return op.emitOpError("expected scales of ")
           << operand.name << " to have " << (region ? region->mostRows : 0)
           << " rows for " << operand.rows << ", got " << operand.scales;
  int64_t most = operand.scales.getBlocks() -
                 static_cast<int64_t>(instruction.getScaleVec());
  if (operand.block < 0 || operand.block > most) // (T4)
    return op.emitOpError("expected the block of ")
           << operand.name << " to be 0 to " << most << " for "
           << operand.scales << ", got " << operand.block;
  InstructionOperand fields = {operand.name, operand.block % kBlocksOfWord,
                               operand.isTransposed};
  if (failed(verifyScaleId(op, instruction, fields)))
    return failure();
  return verifyTransposed(op, instruction, fields); // (T5)
}

LogicalResult Tcgen05MmaOp::verify() {
  InstructionAttr instruction = getInstruction();
  if (instruction.getPath() != Path::Tcgen05) // (T1)
    return emitOpError("expected an instruction of tcgen05, got ")
           << instruction;
  TmemAccType acc = getAcc().getType();
  if (failed(verifyGroup(*this, getGroup()))) // (T7)
    return failure();
  if (acc.getGroup() != static_cast<int64_t>(getGroup()))
    return emitOpError("expected an accumulator of group ")
           << getGroup() << ", got " << acc;
  if (acc.getM() != instruction.getM() ||
      acc.getN() != instruction.getN()) // (T2)
    return emitOpError("expected an accumulator of ")
           << instruction.getM() << "x" << instruction.getN() << ", got "
           << acc;
  for (const ScaledOperand &operand :
       {ScaledOperand{"a", getAScale().getType(),
                      static_cast<int64_t>(getABlock()), instruction.getM(),
                      getTransposeA()},
        ScaledOperand{"b", getBScale().getType(),
                      static_cast<int64_t>(getBBlock()), instruction.getN(),
                      getTransposeB()}})
    if (failed(verifyScales(*this, operand)))
      return failure();
  if (getTransposeA() && isa<TmemOperandType>(getA().getType())) // (T5)
    return emitOpError("expected a in shared memory to transpose it, got ")
           << getA().getType();
  return verifyN(*this, instruction, getGroup(), getTransposeB()); // (T6)
}
