//===- AsyncTileMmaOp.cpp - Products in tensor memory ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of ops of the kernel level with accumulators in tensor
// memory.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"

using namespace mlir;
using namespace mlir::blockscale;

int64_t AsyncTileMmaOp::getUnit() {
  constexpr int64_t kByteBits = 8;
  return std::max<int64_t>(
      getFormatInfo(getInstruction().getA()).bits / kByteBits, 1);
}

/// Bytes along K of a tile; with `mn`, a swizzle row is one element along K, of
/// `unit` bytes.
static int64_t getBytesOfK(const MatrixShape &shape, int64_t unit) {
  return shape.major == Major::K ? shape.columns * shape.rowBytes
                                 : shape.rows * unit;
}

/// M or N of a tile.
static int64_t getRows(const MatrixShape &shape, int64_t unit) {
  return shape.major == Major::K ? shape.rows
                                 : shape.columns * shape.rowBytes / unit;
}

static Matrix getTile(AsyncTileMmaOp op, Operand operand) {
  if (operand == Operand::A)
    return {"a", op.getA().getType(), op.getALayout().getLayout()};
  return {"b", op.getB().getType(), op.getBLayout().getLayout()};
}

int64_t AsyncTileMmaOp::getNumSteps() {
  return getBytesOfK(getTile(*this, Operand::A).getShape(), getUnit()) /
         kStepBytes;
}

int64_t AsyncTileMmaOp::getBytesOfB() {
  const Instruction &instruction = getInstruction().getInstruction();
  return kStepBytes * instruction.k / instruction.getKeptK();
}

/// Checks how swizzle rows of a tile store elements.
static LogicalResult verifyStorage(AsyncTileMmaOp op, Operand operand) {
  InstructionAttr instruction = op.getInstruction();
  Format format =
      operand == Operand::A ? instruction.getA() : instruction.getB();
  bool isNarrow =
      hasContainers(instruction.getKind()) && getFormatInfo(format).bits != 8;
  Storage expected = isNarrow ? Storage::Padded : Storage::Slots;
  Matrix tile = getTile(op, operand);
  if (tile.layout.storage == expected)
    return success();
  return op.emitOpError("expected ")
         << tile.name << " with swizzle rows of "
         << StringRef(stringifyStorage(expected)) << " for "
         << StringRef(getFormatInfo(format).ptxName) << ", got "
         << StringRef(stringifyStorage(tile.layout.storage));
}

LogicalResult AsyncTileMmaOp::verify() {
  InstructionAttr instruction = getInstruction();
  int64_t group = getAcc().getType().getGroup();
  const int64_t rows[] = {instruction.getM() / group,
                          instruction.getN() / group};
  for (Operand operand : {Operand::A, Operand::B}) {
    Matrix tile = getTile(*this, operand);
    if (failed(verifyMatrix(*this, tile)) || // (A2)
        failed(verifyStorage(*this, operand)))
      return failure();
    int64_t expected = rows[operand == Operand::B];
    if (int64_t got = getRows(tile.getShape(), getUnit());
        got != expected) // (A3)
      return emitOpError("expected ")
             << tile.name << " to have " << expected << " rows, got " << got;
  }
  int64_t a = getBytesOfK(getTile(*this, Operand::A).getShape(), getUnit());
  int64_t b = getBytesOfK(getTile(*this, Operand::B).getShape(), getUnit());
  if (a * getBytesOfB() != b * kStepBytes || a < kStepBytes ||
      a % kStepBytes != 0) { // (A4)
    InFlightDiagnostic diagnostic = emitOpError("expected tiles with ");
    if (instruction.getSparsity())
      diagnostic << "a multiple of " << kStepBytes
                 << " bytes of a and twice as many of b";
    else
      diagnostic << "the same multiple of " << kStepBytes << " bytes";
    return diagnostic << " along K, got " << a << " and " << b;
  }
  // Descriptors of swizzled rows along K do not go on in the next column.
  MatrixShape shapeOfB = getTile(*this, Operand::B).getShape();
  if (shapeOfB.major == Major::K && shapeOfB.isSwizzled &&
      shapeOfB.rowBytes < getBytesOfB()) // (A4)
    return emitOpError("expected swizzle rows of b of at least ")
           << getBytesOfB() << " bytes, got " << shapeOfB.rowBytes;
  if (std::optional<uint64_t> k = getInstructionK()) { // (A5)
    const Instruction *wide = lookupWide(instruction.getInstruction(), *k);
    constexpr int64_t kRowBytes = 128, kStepN = 16;
    auto hasRows = [&](Operand operand) {
      return getTile(*this, operand).getShape().rowBytes == kRowBytes;
    };
    if (!wide || getSteps() || !hasRows(Operand::A) || !hasRows(Operand::B) ||
        instruction.getN() % kStepN != 0)
      return emitOpError("expected types that have instructions with K of ")
             << *k << ", swizzle rows of " << kRowBytes
             << " bytes, N of a multiple of " << kStepN << " and no steps, got "
             << instruction;
  }
  // If the last instruction is legal, the others are.
  int64_t last = (getNumSteps() - 1) * instruction.getScaleVec();
  return verifyProduct( // (A1)
      *this,
      {instruction,
       getAcc().getType(),
       group,
       {getScalesType(getAScale()), last, getALayout().getMajor() == Major::MN},
       {getScalesType(getBScale()), last, getBLayout().getMajor() == Major::MN},
       getMetadataType(getMetadata()),
       getMetadata() ? getNumSteps() - 1 : 0}); // (A6)
}

LogicalResult AccReadOp::verify() {
  AccType type = getType();
  Attribute layout = type.getLayout();
  TmemAccType source = getSource().getType();
  bool isTransposed = isa<LaneColumnsAttr>(layout);
  int64_t rows = type.getM(), columns = type.getN();
  if (isTransposed)
    std::swap(rows, columns);
  bool isRead =
      (isTransposed || layout == WarpsAttr::get(getContext(), 4, 1)) &&
      rows == kTensorLanes && columns % 8 == 0;
  if (!isRead) // (R1)
    return emitOpError("expected a result of ")
           << kTensorLanes
           << " rows, of a multiple of 8 columns, in #blockscale.warps<4x1>, "
              "or its transpose in #blockscale.lane_columns, got "
           << type;
  return verifyColumns(*this, getColumn(), columns, source.getNumColumns(),
                       "the accumulator");
}
