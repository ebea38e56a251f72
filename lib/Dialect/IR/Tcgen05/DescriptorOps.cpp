//===- DescriptorOps.cpp - Descriptors of tcgen05 -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Checks of instructions
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyScaleId(Operation *op,
                                        InstructionAttr instruction,
                                        const InstructionOperand &operand) {
  ScaleIds ids = instruction.getInstruction().scaleIds;
  if (isLegalScaleId(ids, operand.scaleId))
    return success();
  return op->emitOpError("expected the scale id of ")
         << operand.name << " to be one of " << describeScaleIds(ids) << " for "
         << instruction << ", got " << operand.scaleId;
}

LogicalResult blockscale::verifyTransposed(Operation *op,
                                           InstructionAttr instruction,
                                           const InstructionOperand &operand) {
  // A and B have elements of as many bytes.
  unsigned bits = getFormatInfo(instruction.getA()).bits;
  if (!operand.isTransposed ||
      canLie(instruction.getKind(), bits, Major::MN, Storage::Slots))
    return success();
  return op->emitOpError("expected an instruction with a byte or two for each "
                         "element to transpose ")
         << operand.name << ", got " << instruction;
}

LogicalResult blockscale::verifyN(Operation *op, InstructionAttr instruction,
                                  int64_t group, bool isTransposedB) {
  const AccColumns *rule = lookupAccColumns(
      group, isTransposedB && hasContainers(instruction.getKind()));
  if (rule && isLegalN(*rule, instruction.getN()))
    return success();
  return op->emitOpError("expected N to be a multiple of ")
         << (rule ? rule->step : 0) << " up to " << kMostN
         << (isTransposedB ? " where B is transposed, got " : ", got ")
         << instruction.getN();
}

//===----------------------------------------------------------------------===//
// instruction_descriptor
//===----------------------------------------------------------------------===//

static InstructionFields getFields(InstructionDescriptorOp op) {
  InstructionAttr attr = op.getInstruction();
  InstructionFields fields =
      getInstructionFields(attr.getInstruction(), attr.getM(), attr.getN());
  fields.isTransposedA = op.getTransposeA();
  fields.isTransposedB = op.getTransposeB();
  fields.isNegatedA = op.getNegateA();
  fields.isNegatedB = op.getNegateB();
  fields.aScaleId = op.getAScaleId();
  fields.bScaleId = op.getBScaleId();
  return fields;
}

uint32_t InstructionDescriptorOp::getWord() {
  return encodeInstructionDescriptor(getFields(*this)).value_or(0);
}

LogicalResult InstructionDescriptorOp::verify() {
  InstructionAttr instruction = getInstruction();
  if (!getDescriptorForm(instruction.getKind()) ||
      instruction.getPath() != Path::Tcgen05) // (I1)
    return emitOpError("expected an instruction of tcgen05, got ")
           << instruction;
  auto id = [](uint64_t value) { return static_cast<int64_t>(value); };
  for (const InstructionOperand &operand :
       {InstructionOperand{"a", id(getAScaleId()), getTransposeA()},
        InstructionOperand{"b", id(getBScaleId()), getTransposeB()}})
    if (failed(verifyScaleId(*this, instruction, operand)) ||  // (I2)
        failed(verifyTransposed(*this, instruction, operand))) // (I3)
      return failure();
  // An M that one CTA does not have is that of a pair of CTAs.
  int64_t group = lookupAccLayout(1, instruction.getM()) ? 1 : 2;
  return verifyN(*this, instruction, group, getTransposeB()); // (I4)
}

OpFoldResult InstructionDescriptorOp::fold(FoldAdaptor) {
  return IntegerAttr::get(getType(), APInt(32, getWord()));
}

//===----------------------------------------------------------------------===//
// matrix_descriptor
//===----------------------------------------------------------------------===//

MatrixShape Matrix::getShape() const {
  ArrayRef<int64_t> shape = memory.getShape();
  int64_t columns = shape.size() == 3 ? shape.front() : 1;
  return {layout.major, layout.isSwizzled, columns, shape[shape.size() - 2],
          shape.back()};
}

static Matrix getMatrix(MatrixDescriptorOp op) {
  return {"memory", op.getMemory().getType(), op.getLayout().getLayout()};
}

MatrixShape MatrixDescriptorOp::getMatrixShape() {
  return getMatrix(*this).getShape();
}

/// The bytes of an instruction along K.
static constexpr int64_t kStepBytes = 2 * kChunkBytes;

LogicalResult blockscale::verifyMatrix(Operation *op, const Matrix &matrix) {
  if (failed(verifySharedMemory(op, matrix.name, matrix.memory))) // (S1)
    return failure();
  MatrixShape shape = matrix.getShape();
  if (!lookupSwizzlePattern(shape.isSwizzled, shape.rowBytes)) // (S2)
    return op->emitOpError("expected ")
           << matrix.name
           << " with swizzle rows of 16 bytes, or of 32, 64 or 128 "
           << "that are swizzled, got " << shape.rowBytes
           << (shape.isSwizzled ? " that are swizzled" : "");
  if (shape.rows < 1 || shape.rows % kPatternRows != 0) // (S3)
    return op->emitOpError("expected ")
           << matrix.name << " with columns of a multiple of " << kPatternRows
           << " swizzle rows, got " << shape.rows;
  if (shape.columns < 1)
    return op->emitOpError("expected ")
           << matrix.name << " with at least one column, got " << shape.columns;
  if (shape.major == Major::K && !shape.isSwizzled &&
      shape.columns * shape.rowBytes < kStepBytes)
    return op->emitOpError("expected ")
           << matrix.name << " with at least " << kStepBytes / shape.rowBytes
           << " columns of swizzle rows of " << shape.rowBytes
           << " bytes along K, got " << shape.columns;
  Storage storage = matrix.layout.storage;
  if (storage != Storage::Slots && storage != Storage::Padded) // (S4)
    return op->emitOpError("expected ")
           << matrix.name << " with swizzle rows of "
           << StringRef(stringifyStorage(Storage::Slots)) << " or "
           << StringRef(stringifyStorage(Storage::Padded)) << ", got "
           << StringRef(stringifyStorage(storage));
  return success();
}

static LogicalResult verifyOffset(MatrixDescriptorOp op) { // (S5)
  std::optional<int64_t> offset = getConstantIntValue(op.getOffset());
  if (!offset)
    return success();
  MatrixShape shape = op.getMatrixShape();
  int64_t bytes = op.getMemory().getType().getNumElements();
  // A step without a swizzle continues in the next column.
  int64_t atOnce =
      shape.major == Major::K && shape.isSwizzled ? kStepBytes : kChunkBytes;
  int64_t most = shape.rowBytes - atOnce;
  if (*offset >= 0 && *offset < bytes && *offset % kChunkBytes == 0 &&
      *offset % getPatternBytes(shape.rowBytes) <= most)
    return success();
  return op.emitOpError("expected offset to be a multiple of ")
         << getPatternBytes(shape.rowBytes) << " plus at most " << most
         << " in steps of " << kChunkBytes << ", and less than " << bytes
         << ", got " << *offset;
}

LogicalResult MatrixDescriptorOp::verify() {
  if (failed(verifyMatrix(*this, getMatrix(*this))))
    return failure();
  return verifyOffset(*this);
}
