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

#include "Kernels/Gemm/Mma/Tcgen05/TmemPlan.h"

#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/TensorMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// Blocks of a cluster wait for each other while each of them has all tensor
/// memory of its SM. Were there two of different clusters on each
/// of two SMs, each cluster could have one half, and wait for the
/// other half for ever: so they take more than half of the shared memory.
static int64_t getUnusedBytes(const Instruction &instruction,
                              WarpSpecializedScheduleAttr schedule) {
  constexpr int64_t kAloneBytes = 116 * 1024;
  if (schedule.getCluster() == ClusterSize())
    return 0;
  int64_t stages = SharedMemoryPlan(instruction, schedule).getStagesBytes();
  return std::max<int64_t>(kAloneBytes - stages, 0);
}

TmemPlan::TmemPlan(const Instruction &instruction,
                   WarpSpecializedScheduleAttr schedule)
    : SharedMemoryPlan(instruction, schedule, /*codes=*/std::nullopt,
                       /*parts=*/1, getUnusedBytes(instruction, schedule)) {
  scaleColumns = getScaleColumns(true) + getScaleColumns(false);
  scaleSlots = getSchedule().getStages();
  if (getSchedule().getAccumulators() == 1)
    return;
  auto getShared = [&](int64_t slots) {
    int64_t sums = getSumColumns() * getSchedule().getAccumulators();
    return std::max<int64_t>(sums + scaleColumns * slots - kTensorColumns, 0);
  };
  // A stage whose scales have columns of their own needs no further wait. But
  // if accumulators share more than a quarter for that, two slots are enough:
  // one is read while the other one is written.
  constexpr int64_t kSlots = 2;
  bool sharesMuch = getShared(scaleSlots) > getSumColumns() / 4;
  if (sharesMuch && getSchedule().getStages() % kSlots == 0)
    scaleSlots = kSlots;
  sharedColumns = getShared(scaleSlots);
}

const SumLayout &TmemPlan::getSumLayout() const {
  return *lookupSumLayout(getGroup(), getSchedule().getM() * getGroup());
}

int64_t TmemPlan::getScaleCopies(bool isA) const {
  return isA ? kScaleCopies : getSumLayout().getScaleCopies();
}

int64_t TmemPlan::getScaleColumns(bool isA) const {
  const ScaleRegion *region =
      lookupScaleRegion(getRowAtoms(isA) * kScaleAtomRows, getScaleCopies(isA));
  return region->columnsOfWord * getWords();
}

int64_t TmemPlan::getAccColumn(int64_t i) const {
  return i * (getSumColumns() - sharedColumns);
}

int64_t TmemPlan::getScaleColumn(bool isA) const {
  int64_t first =
      getAccColumn(getSchedule().getAccumulators() - 1) + getSumColumns();
  return isA ? first : first + getScaleColumns(true);
}

bool TmemPlan::fitsTensorMemory() const {
  int64_t end = getScaleColumn(true) + scaleColumns * scaleSlots;
  // Sums that are shared have to be read first, those that are not are what
  // is read while the next tile is multiplied.
  bool canShare = sharedColumns < getSumColumns() &&
                  getSumColumns() % getPartColumns() == 0;
  return end <= kTensorColumns && (sharedColumns == 0 || canShare);
}

int64_t TmemPlan::getWaitedColumns() const {
  if (getSchedule().getAccumulators() == 1)
    return getSumColumns();
  return llvm::alignTo(sharedColumns, getPartColumns());
}

int64_t TmemPlan::getPartColumns() const {
  // Of a single row of a thread's own each has an address of its own where
  // tiles may reach beyond the result: with 32 of them ptxas 13.0 spills. So it
  // does with 16 where lanes hold two parts of the columns.
  if (getSumLayout().parts != 1)
    return 8;
  return getSchedule().getSwapAb() ? 16 : 32;
}

AccType TmemPlan::getPartType(int64_t columns) const {
  MLIRContext *context = getSchedule().getContext();
  if (getSchedule().getSwapAb())
    return AccType::get(context, columns, kTensorLanes,
                        LaneColumnsAttr::get(context));
  return AccType::get(context, kTensorLanes, columns,
                      WarpsAttr::get(context, 4, 1));
}

int64_t TmemPlan::getHandedSums() const {
  return sharedColumns ? 1 : getSchedule().getAccumulators();
}

PipelineBarriers TmemPlan::getBarriers() const {
  int64_t stages = getSchedule().getStages(), sums = getHandedSums();
  return {0, stages, 2 * stages, 2 * stages + sums, 2 * (stages + sums)};
}
