//===- TmemPlan.cpp - Where sums and scales are ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sums behind TmemPlan.h, in one place for the kernel, for the choice of
// schedules and for their limits.

//===----------------------------------------------------------------------===//

#include "Kernels/Tcgen05/TmemPlan.h"

#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/TensorMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

TmemPlan::TmemPlan(const Instruction &instruction, RingScheduleAttr schedule)
    : RingPlan(instruction, schedule) {
  constexpr int64_t kColumnsOfAtom = kScaleAtomRows / kTensorWindow;
  scaleColumns =
      (getRowAtoms(true) + getRowAtoms(false)) * kColumnsOfAtom * getWords();
  scaleSlots = getSchedule().getStages();
  if (getSchedule().getAccumulators() == 1)
    return;
  auto getShared = [&](int64_t slots) {
    int64_t sums = getSchedule().getN() * getSchedule().getAccumulators();
    return std::max<int64_t>(sums + scaleColumns * slots - kTensorColumns, 0);
  };
  // A stage whose scales have columns of their own needs no further wait. But
  // if accumulators share more than a quarter for that, two slots are enough:
  // one is read while the other one is written.
  constexpr int64_t kSlots = 2;
  bool sharesMuch = getShared(scaleSlots) > getSchedule().getN() / 4;
  if (sharesMuch && getSchedule().getStages() % kSlots == 0)
    scaleSlots = kSlots;
  sharedColumns = getShared(scaleSlots);
}

int64_t TmemPlan::getAccColumn(int64_t i) const {
  return i * (getSchedule().getN() - sharedColumns);
}

int64_t TmemPlan::getScaleColumn(bool isA) const {
  constexpr int64_t kColumnsOfAtom = kScaleAtomRows / kTensorWindow;
  int64_t first =
      getAccColumn(getSchedule().getAccumulators() - 1) + getSchedule().getN();
  return isA ? first : first + getRowAtoms(true) * kColumnsOfAtom * getWords();
}

bool TmemPlan::fitsTensorMemory() const {
  int64_t end = getScaleColumn(true) + scaleColumns * scaleSlots;
  // Sums that are shared have to be read first, those that are not are what
  // is read while the next tile is multiplied.
  bool canShare = sharedColumns < getSchedule().getN() &&
                  getSchedule().getN() % getPartColumns() == 0;
  return end <= kTensorColumns && (sharedColumns == 0 || canShare);
}

int64_t TmemPlan::getWaitedColumns() const {
  if (getSchedule().getAccumulators() == 1)
    return getSchedule().getN();
  return llvm::alignTo(sharedColumns, getPartColumns());
}

int64_t TmemPlan::getPartColumns() const {
  // Of a single row of a thread's own each has an address of its own where
  // tiles may reach beyond the result: with 32 of them ptxas 13.0 spills.
  return getSchedule().getExchanged() ? 16 : 32;
}

int64_t TmemPlan::getHandedSums() const {
  return sharedColumns ? 1 : getSchedule().getAccumulators();
}

RingBarriers TmemPlan::getBarriers() const {
  int64_t stages = getSchedule().getStages(), sums = getHandedSums();
  return {0, stages, 2 * stages, 2 * stages + sums, 2 * (stages + sums)};
}
