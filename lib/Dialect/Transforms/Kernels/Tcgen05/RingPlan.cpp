//===- RingPlan.cpp - Where stages and sums are ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sums behind RingPlan.h, in one place for the kernel, for the choice of
// schedules and for their limits.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Tcgen05/RingPlan.h"

#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/TensorMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Bytes of an atom of scales.
static constexpr int64_t kAtomBytes = kScaleAtomOuter * kScaleAtomInner;
/// What tiles are aligned to: eight lines, over which swizzles go.
static constexpr int64_t kTileAlignment = 1024;

static bool isElements(unsigned operand) { return operand % 2 == 0; }
static bool isOfA(unsigned operand) { return operand < 2; }

RingPlan::RingPlan(const Instruction &instruction, RingScheduleAttr schedule)
    : schedule(schedule),
      words(schedule.getK() / instruction.blockSize / kBlocksOfWord) {
  // Tiles of elements first, which are multiples of what they are aligned to.
  for (unsigned operand : {0, 2, 1, 3}) {
    offsets[operand] = stageBytes;
    stageBytes += getBytes(operand);
  }
  stageBytes = llvm::alignTo(stageBytes, kTileAlignment);

  constexpr int64_t kColumnsOfAtom = kScaleAtomRows / kTensorWindow;
  scaleColumns =
      (getRowAtoms(true) + getRowAtoms(false)) * kColumnsOfAtom * words;
  int64_t scales = scaleColumns * schedule.getStages();
  int64_t sums = schedule.getN() * schedule.getAccumulators();
  if (schedule.getAccumulators() > 1)
    sharedColumns = std::max<int64_t>(sums + scales - kTensorColumns, 0);
}

int64_t RingPlan::getRowAtoms(bool isA) const {
  return llvm::divideCeilSigned(isA ? schedule.getM() : schedule.getN(),
                                kScaleAtomRows);
}

int64_t RingPlan::getBytes(unsigned operand) const {
  if (!isElements(operand))
    return getRowAtoms(isOfA(operand)) * words * kAtomBytes;
  return (isOfA(operand) ? schedule.getM() : schedule.getN()) * kLineBytes;
}

int64_t RingPlan::getSharedBytes() const {
  return stageBytes * schedule.getStages();
}

int64_t RingPlan::getAccColumn(int64_t i) const {
  return i * (schedule.getN() - sharedColumns);
}

int64_t RingPlan::getScaleColumn(bool isA) const {
  constexpr int64_t kColumnsOfAtom = kScaleAtomRows / kTensorWindow;
  int64_t first =
      getAccColumn(schedule.getAccumulators() - 1) + schedule.getN();
  return isA ? first : first + getRowAtoms(true) * kColumnsOfAtom * words;
}

bool RingPlan::fitsTensorMemory() const {
  int64_t end = getScaleColumn(true) + scaleColumns * schedule.getStages();
  // Sums that are shared have to be read first, those that are not are what
  // is read while the next tile is multiplied.
  constexpr int64_t kPart = 32;
  bool canShare =
      sharedColumns < schedule.getN() && schedule.getN() % kPart == 0;
  return end <= kTensorColumns && (sharedColumns == 0 || canShare);
}

int64_t blockscale::getColumnBytes(int64_t rows) {
  return std::min(kLineBytes, rows & -rows);
}
