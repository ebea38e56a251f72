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
  scaleSlots = schedule.getStages();
  if (schedule.getAccumulators() == 1)
    return;
  auto getShared = [&](int64_t slots) {
    int64_t sums = schedule.getN() * schedule.getAccumulators();
    return std::max<int64_t>(sums + scaleColumns * slots - kTensorColumns, 0);
  };
  // A stage whose scales have columns of their own needs no further wait. But
  // if accumulators share more than a quarter for that, two slots are enough:
  // one is read while the other one is written.
  constexpr int64_t kSlots = 2;
  bool sharesMuch = getShared(scaleSlots) > schedule.getN() / 4;
  if (sharesMuch && schedule.getStages() % kSlots == 0)
    scaleSlots = kSlots;
  sharedColumns = getShared(scaleSlots);
}

int64_t RingPlan::getRowAtoms(bool isA) const {
  return llvm::divideCeilSigned(isA ? schedule.getM() : schedule.getN(),
                                kScaleAtomRows);
}

int64_t RingPlan::getBytes(unsigned operand) const {
  if (!isElements(operand))
    return getRowAtoms(isOfA(operand)) * words * kScaleAtomBytes;
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
  int64_t end = getScaleColumn(true) + scaleColumns * scaleSlots;
  // Sums that are shared have to be read first, those that are not are what
  // is read while the next tile is multiplied.
  bool canShare = sharedColumns < schedule.getN() &&
                  schedule.getN() % getPartColumns() == 0;
  return end <= kTensorColumns && (sharedColumns == 0 || canShare);
}

int64_t RingPlan::getWaitedColumns() const {
  if (schedule.getAccumulators() == 1)
    return schedule.getN();
  return llvm::alignTo(sharedColumns, getPartColumns());
}

int64_t RingPlan::getPartColumns() const {
  // Of a single row of a thread's own each has an address of its own where
  // tiles may reach beyond the result: with 32 of them ptxas 13.0 spills.
  return schedule.getExchanged() ? 16 : 32;
}

int64_t RingPlan::getHandedSums() const {
  return sharedColumns ? 1 : schedule.getAccumulators();
}

RingBarriers RingPlan::getBarriers() const {
  int64_t stages = schedule.getStages(), sums = getHandedSums();
  return {0, stages, 2 * stages, 2 * stages + sums, 2 * (stages + sums)};
}

int64_t blockscale::getColumnBytes(int64_t rows) {
  return std::min(kLineBytes, rows & -rows);
}
