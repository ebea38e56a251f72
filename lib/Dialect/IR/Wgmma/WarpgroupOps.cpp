//===- WarpgroupOps.cpp - Products of warpgroups --------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The rows of an accumulator in a warpgroup, and the warps of a warpgroup.
static constexpr int64_t kWarpgroupRows = 64, kWarpgroupWarps = 4;

/// The bytes of an element.
static int64_t getUnit(WarpgroupMmaOp op) {
  return getFormatInfo(op.getInstruction().getA()).bits / 8;
}

static Matrix getTile(WarpgroupMmaOp op, Operand operand) {
  if (operand == Operand::A)
    return {"a", op.getA().getType(), op.getALayout().getLayout()};
  return {"b", op.getB().getType(), op.getBLayout().getLayout()};
}

/// Elements along K of a tile, and M or N of it.
static std::pair<int64_t, int64_t> getSizes(const MatrixShape &shape,
                                            int64_t unit) {
  int64_t inRows = shape.columns * shape.rowBytes / unit;
  if (shape.major == Major::K)
    return {inRows, shape.rows};
  return {shape.rows, inRows};
}

int64_t WarpgroupMmaOp::getNumSteps() {
  auto [k, rows] =
      getSizes(getTile(*this, Operand::A).getShape(), getUnit(*this));
  return k / getInstruction().getK();
}

LogicalResult WarpgroupMmaOp::verify() {
  InstructionAttr instruction = getInstruction();
  if (instruction.getPath() != Path::Wgmma) // (W1)
    return emitOpError("expected an instruction of wgmma, got ") << instruction;
  AccType acc = getAcc().getType();
  auto warps = dyn_cast<WarpsAttr>(Attribute(acc.getLayout()));
  bool isShared =
      warps && warps.getColumns() == 1 && warps.getInterleaveM() == 1 &&
      warps.getInterleaveN() == 1 && warps.getRows() % kWarpgroupWarps == 0 &&
      acc.getM() == warps.getRows() / kWarpgroupWarps * kWarpgroupRows;
  if (!isShared || acc.getN() != instruction.getN()) // (W3)
    return emitOpError("expected an accumulator of ")
           << instruction.getN() << " columns, of " << kWarpgroupRows
           << " rows for each " << kWarpgroupWarps
           << " warps, which divide its rows, got " << acc;
  const int64_t rows[] = {acc.getM(), acc.getN()};
  int64_t lengths[2];
  for (Operand operand : {Operand::A, Operand::B}) {
    Matrix tile = getTile(*this, operand);
    if (failed(verifyMatrix(*this, tile))) // (W2)
      return failure();
    if (tile.layout.storage != Storage::Slots)
      return emitOpError("expected ")
             << tile.name << " with swizzle rows of "
             << StringRef(stringifyStorage(Storage::Slots)) << ", got "
             << StringRef(stringifyStorage(tile.layout.storage));
    bool isB = operand == Operand::B;
    auto [k, size] = getSizes(tile.getShape(), getUnit(*this));
    lengths[isB] = k;
    if (size != rows[isB]) // (W4)
      return emitOpError("expected ")
             << tile.name << " to have " << rows[isB] << " rows, got " << size;
  }
  int64_t step = instruction.getK();
  if (lengths[0] != lengths[1] || lengths[0] < step ||
      lengths[0] % step != 0) // (W5)
    return emitOpError("expected tiles with the same multiple of ")
           << step << " elements along K, got " << lengths[0] << " and "
           << lengths[1];
  return success();
}

LogicalResult WarpgroupWaitOp::verify() {
  constexpr uint64_t kMost = 7;
  if (getAccs().empty() || getPending() > kMost) // (V1)
    return emitOpError("expected an accumulator, and at most ")
           << kMost << " products pending, got " << getAccs().size() << " and "
           << getPending();
  return success();
}
