//===- Tcgen05MmaOp.cpp - One tcgen05.mma ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of an instruction on its operands, which neither hardware nor
// ptxas checks.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

unsigned Tcgen05MmaOp::getLowestPtxVersion() {
  return getInstruction().getInstruction().lowestPtx;
}

bool Tcgen05MmaOp::isSupportedOn(const Chip &chip) {
  return getInstruction().getInstruction().isOn(chip);
}

std::string Tcgen05MmaOp::describeInstruction() {
  return getOpcode(getInstruction().getInstruction());
}

InstructionFields Tcgen05MmaOp::getFields() {
  InstructionAttr attr = getInstruction();
  InstructionFields fields =
      getInstructionFields(attr.getInstruction(), attr.getM(), attr.getN());
  fields.isTransposedA = getTransposeA();
  fields.isTransposedB = getTransposeB();
  fields.aScaleId = getABlock() % kBlocksOfWord;
  fields.bScaleId = getBBlock() % kBlocksOfWord;
  return fields;
}

static LogicalResult verifyScales(Operation *op, const Product &product,
                                  StringRef name, const ProductScales &scales,
                                  int64_t rows, int64_t copies) {
  InstructionOperand fields = {name, scales.block % kBlocksOfWord,
                               scales.isTransposed};
  if (failed(verifyTransposed(op, product.instruction, fields))) // (T5)
    return failure();
  bool hasScales = product.instruction.getInstruction().scaleVec != 0;
  if (hasScales != (scales.type != nullptr)) // (T3)
    return op->emitOpError("expected ")
           << (hasScales ? "scales of " : "no scales of ") << name << " for "
           << product.instruction;
  if (!hasScales)
    return success();
  // With two copies, a region has only one size.
  const ScaleRegion *region = lookupScaleRegion(rows, copies);
  if (!region || scales.type.getRows() != region->mostRows ||
      scales.type.getCopies() != copies) // (T3)
    return op->emitOpError("expected scales of ")
           << name << " to have " << copies << " copies of "
           << (region ? region->mostRows : 0) << " rows for " << rows
           << ", got " << scales.type;
  int64_t most = scales.type.getBlocks() -
                 static_cast<int64_t>(product.instruction.getScaleVec());
  if (scales.block < 0 || scales.block > most) // (T4)
    return op->emitOpError("expected the block of ")
           << name << " to be 0 to " << most << " for " << scales.type
           << ", got " << scales.block;
  return verifyScaleId(op, product.instruction, fields);
}

static LogicalResult verifyMetadata(Operation *op,
                                    const Product &product) { // (T9)
  bool isSparse = product.instruction.getInstruction().isSparse();
  if (isSparse != (product.metadata != nullptr))
    return op->emitOpError("expected ")
           << (isSparse ? "metadata for " : "no metadata for ")
           << product.instruction;
  if (!isSparse && product.metadataStep != 0)
    return op->emitOpError("expected metadata_step 0 without metadata, got ")
           << product.metadataStep;
  if (!isSparse)
    return success();
  int64_t most = product.metadata.getNumSteps() - 1;
  if (product.metadataStep >= 0 && product.metadataStep <= most)
    return success();
  return op->emitOpError("expected the step of metadata to be 0 to ")
         << most << " for " << product.metadata << ", got "
         << product.metadataStep;
}

LogicalResult blockscale::verifyProduct(Operation *op, const Product &product) {
  InstructionAttr instruction = product.instruction;
  if (instruction.getPath() != Path::Tcgen05) // (T1)
    return op->emitOpError("expected an instruction of tcgen05, got ")
           << instruction;
  if (failed(verifyGroup(op, product.group))) // (T7)
    return failure();
  if (product.acc.getGroup() != product.group)
    return op->emitOpError("expected an accumulator of group ")
           << product.group << ", got " << product.acc;
  if (product.acc.getM() != instruction.getM() ||
      product.acc.getN() != instruction.getN()) // (T2)
    return op->emitOpError("expected an accumulator of ")
           << instruction.getM() << "x" << instruction.getN() << ", got "
           << product.acc;
  const AccLayout &layout = product.acc.getLayout();
  if (failed(verifyScales(op, product, "a", product.a, layout.rowsOfBlock,
                          kScaleCopies)) ||
      failed(verifyScales(op, product, "b", product.b, instruction.getN(),
                          layout.getScaleCopies())))
    return failure();
  const Instruction &row = instruction.getInstruction();
  if ((row.isWide() || row.isSparse()) && layout.parts != 1) // (T8)
    return op->emitOpError("expected M of 256 for pairs of CTAs with ")
           << (row.isSparse() ? "a sparse A" : "K of " + llvm::utostr(row.k))
           << ", got " << instruction;
  if (failed(verifyMetadata(op, product)))
    return failure();
  return verifyN(op, instruction, product.group,
                 product.b.isTransposed); // (T6)
}

LogicalResult Tcgen05MmaOp::verify() {
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  Product product = {
      getInstruction(),
      getAcc().getType(),
      number(getGroup()),
      {getScalesType(getAScale()), number(getABlock()), getTransposeA()},
      {getScalesType(getBScale()), number(getBBlock()), getTransposeB()},
      getMetadataType(getMetadata()),
      number(getMetadataStep())};
  if (failed(verifyProduct(*this, product)))
    return failure();
  bool isSparse = getInstruction().getInstruction().isSparse();
  if (isSparse && isa<TmemOperandType>(getA().getType())) // (T9)
    return emitOpError("expected a sparse a in shared memory, got ")
           << getA().getType();
  if (getTransposeA() && isa<TmemOperandType>(getA().getType())) // (T5)
    return emitOpError("expected a in shared memory to transpose it, got ")
           << getA().getType();
  return success();
}
