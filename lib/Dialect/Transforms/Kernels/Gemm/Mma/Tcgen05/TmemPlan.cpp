//===- TmemPlan.cpp - The tensor-memory plan ------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Mma/Tcgen05/TmemPlan.h"

#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/TensorMemory.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blockscale;

/// The blocks of a cluster wait for each other, and each allocates all tensor
/// memory of its SM. If blocks of two clusters shared two SMs, each cluster
/// could hold one tensor memory and wait for the other one for ever. So a block
/// takes more than half of the shared memory, and no two blocks share an SM.
static int64_t getUnusedBytes(const Instruction &instruction,
                              WarpSpecializedScheduleAttr schedule) {
  constexpr int64_t kAloneBytes = 116 * 1024;
  if (schedule.getCluster() == ClusterSize())
    return 0;
  int64_t stages = SharedMemoryPlan(instruction, schedule).getStagesBytes();
  return std::max<int64_t>(kAloneBytes - stages, 0);
}

TmemPlan::TmemPlan(const Instruction &instruction,
                   WarpSpecializedScheduleAttr schedule, bool quantizesPairs)
    : SharedMemoryPlan(instruction, schedule, /*quantizedA=*/std::nullopt,
                       /*slices=*/1, getUnusedBytes(instruction, schedule)),
      quantizesPairs(quantizesPairs) {
  columnsOfStage = getScaleColumns(true) + getScaleColumns(false) +
                   getMetadataBytes() / kTensorColumnBytes;
  columnSlots = getSchedule().getStages();
  if (getSchedule().getAccumulators() == 1)
    return;
  auto getShared = [&](int64_t slots) {
    int64_t accumulators =
        getAccumulatorColumns() * getSchedule().getAccumulators();
    return std::max<int64_t>(
        accumulators + columnsOfStage * slots - kTensorColumns, 0);
  };
  // A stage with columns of its own needs no further wait. But if accumulators
  // had to share more than a quarter of their columns for that, two slots are
  // enough: one is read while the other one is written.
  constexpr int64_t kSlots = 2;
  bool sharesMuch = getShared(columnSlots) > getAccumulatorColumns() / 4;
  if (sharesMuch && getSchedule().getStages() % kSlots == 0)
    columnSlots = kSlots;
  sharedColumns = getShared(columnSlots);
}

const AccLayout &TmemPlan::getAccumulatorLayout() const {
  return *lookupAccLayout(getCtaGroup(), getSchedule().getM() * getCtaGroup());
}

int64_t TmemPlan::getScaleCopies(bool isA) const {
  return isA ? kScaleCopies : getAccumulatorLayout().getScaleCopies();
}

int64_t TmemPlan::getScaleColumns(bool isA) const {
  const ScaleRegion *region =
      lookupScaleRegion(getRowAtoms(isA) * kScaleAtomRows, getScaleCopies(isA));
  return region->columnsOfWord * getScaleWords();
}

int64_t TmemPlan::getAccColumn(int64_t i) const {
  return i * (getAccumulatorColumns() - sharedColumns);
}

int64_t TmemPlan::getScaleColumn(bool isA) const {
  int64_t first = getAccColumn(getSchedule().getAccumulators() - 1) +
                  getAccumulatorColumns();
  return isA ? first : first + getScaleColumns(true);
}

int64_t TmemPlan::getMetadataColumn() const {
  return getScaleColumn(false) + getScaleColumns(false);
}

bool TmemPlan::fitsTensorMemory() const {
  int64_t end = getScaleColumn(true) + columnsOfStage * columnSlots;
  // Shared columns have to be read first; the others are read while the next
  // tile is multiplied.
  bool canShare = sharedColumns < getAccumulatorColumns() &&
                  getAccumulatorColumns() % getEpilogueColumns() == 0;
  return end <= kTensorColumns && (sharedColumns == 0 || canShare);
}

int64_t TmemPlan::getWaitedColumns() const {
  if (getSchedule().getAccumulators() == 1)
    return getAccumulatorColumns();
  return llvm::alignTo(sharedColumns, getEpilogueColumns());
}

int64_t TmemPlan::getEpilogueColumns() const {
  // If tiles may reach beyond the result and a thread has a single row, each
  // value has an address of its own: with 32 of them ptxas 13.0 spills. It also
  // does with 16 if lanes hold two groups of columns.
  if (getAccumulatorLayout().parts != 1)
    return 8;
  if (getSchedule().getSwapAb())
    return 16;
  // The largest scale block has 32 values, one for each pair of columns.
  constexpr int64_t kColumns = 32, kColumnsOfPairs = 64;
  bool hasBlocks =
      quantizesPairs && getAccumulatorColumns() % kColumnsOfPairs == 0;
  return hasBlocks ? kColumnsOfPairs : kColumns;
}

AccType TmemPlan::getEpilogueType(int64_t columns) const {
  MLIRContext *context = getSchedule().getContext();
  if (getSchedule().getSwapAb())
    return AccType::get(context, columns, kTensorLanes,
                        LaneColumnsAttr::get(context));
  return AccType::get(context, kTensorLanes, columns,
                      WarpsAttr::get(context, 4, 1));
}

int64_t TmemPlan::getAccumulatorStages() const {
  return sharedColumns ? 1 : getSchedule().getAccumulators();
}

PipelineBarriers TmemPlan::getBarriers() const {
  int64_t stages = getSchedule().getStages(), accs = getAccumulatorStages();
  return {0, stages, 2 * stages, 2 * stages + accs, 2 * (stages + accs)};
}
