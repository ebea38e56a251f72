//===- AsyncTileMmaOp.cpp - Products in tensor memory ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constraints of ops of the kernel level whose sums are in tensor memory.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Bytes along K of a tile.
static int64_t getBytesOfK(MemRefType type, Major major) {
  ArrayRef<int64_t> shape = type.getShape();
  int64_t columns = type.getRank() == 3 ? shape[0] : 1;
  // With `mn`, lines are steps of K, of a byte.
  return major == Major::K ? columns * shape.back() : shape[type.getRank() - 2];
}

int64_t AsyncTileMmaOp::getNumSteps() {
  // Instructions of all kinds take 32 bytes along K.
  constexpr int64_t kStepBytes = 32;
  return getBytesOfK(getA().getType(), getALayout().getMajor()) / kStepBytes;
}

LogicalResult AsyncTileMmaOp::verify() {
  InstructionAttr instruction = getInstruction();
  if (instruction.getPath() != Path::Tcgen05) // (A1)
    return emitOpError("expected an instruction of tcgen05, got ")
           << instruction;
  int64_t a = getBytesOfK(getA().getType(), getALayout().getMajor());
  int64_t b = getBytesOfK(getB().getType(), getBLayout().getMajor());
  int64_t steps = getNumSteps();
  if (a != b || steps == 0 || a % steps != 0) // (A2)
    return emitOpError("expected tiles with the same multiple of 32 bytes "
                       "along K, got ")
           << a << " and " << b;
  int64_t blocks = steps * instruction.getScaleVec();
  for (TmemScalesType scales : {getAScale().getType(), getBScale().getType()})
    if (scales.getBlocks() < blocks)
      return emitOpError("expected scales of ")
             << blocks << " blocks, got " << scales;
  return success();
}

LogicalResult AccReadOp::verify() {
  AccType type = getType();
  auto warps = dyn_cast<WarpsAttr>(Attribute(type.getLayout()));
  TmemAccType source = getSource().getType();
  bool isRead = warps == WarpsAttr::get(getContext(), 4, 1) &&
                type.getM() == source.getM() && type.getN() % 8 == 0;
  if (!isRead) // (R1)
    return emitOpError("expected a result of ")
           << source.getM()
           << " rows, of a multiple of 8 columns, in #blockscale.warps<4x1>, "
              "got "
           << type;
  return verifyColumns(*this, getColumn(), type.getN(), source.getN(),
                       "the accumulator");
}
