//===- TmemPlan.h - The tensor-memory plan ----------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The columns of tensor memory: accumulator stages, and the scale factors and
// metadata of stages. Each stage has such columns of its own where they fit, so
// that the same wait covers both: whoever may fill a stage may also copy them.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TMEMPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TMEMPLAN_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "blockscale/Support/TensorMemory.h"

namespace mlir::blockscale {

/// The indices of the first full and empty mbarriers of stages and of
/// accumulators, and the number of all mbarriers.
struct PipelineBarriers {
  int64_t fullStages, emptyStages, fullAccumulators, emptyAccumulators, count;
};

class TmemPlan : public SharedMemoryPlan {
public:
  /// With `quantizesPairs`, the epilogue quantizes what pairs of columns
  /// become.
  TmemPlan(const Instruction &instruction, WarpSpecializedScheduleAttr schedule,
           bool quantizesPairs = false);

  /// The layout of accumulators in lanes; the blocks of the cta_group, and the
  /// columns that the accumulator of a tile has in each of them.
  const AccLayout &getAccumulatorLayout() const;
  int64_t getCtaGroup() const { return getSchedule().getBlocksOfProduct(); }
  int64_t getAccumulatorColumns() const {
    return getSchedule().getN() / getAccumulatorLayout().parts;
  }
  /// How often scales are repeated over lanes, and the columns that the scales
  /// of a stage take.
  int64_t getScaleCopies(bool isA) const;
  int64_t getScaleColumns(bool isA) const;

  /// The first column of accumulator stage `i`, and of the scales of A or B and
  /// the metadata of A in a stage.
  int64_t getAccColumn(int64_t i) const;
  int64_t getScaleColumn(bool isA) const;
  int64_t getMetadataColumn() const;
  /// The columns of a stage: those of its scales and its metadata.
  int64_t getColumnsOfStage() const { return columnsOfStage; }
  /// How many stages have such columns at a time, a divisor of the number of
  /// stages: stage s has slot s modulo this.
  int64_t getColumnSlots() const { return columnSlots; }
  /// The columns that the two accumulators share.
  int64_t getSharedColumns() const { return sharedColumns; }
  /// The columns of a tile that have to be read before the next tile is
  /// multiplied: all of a single accumulator; of two accumulators, the groups
  /// with shared columns.
  int64_t getWaitedColumns() const;
  /// How many columns the epilogue has in registers at a time.
  int64_t getEpilogueColumns() const;
  /// The type of so many columns in registers, with rows and columns of the
  /// result.
  AccType getEpilogueType(int64_t columns) const;
  /// Whether all fits into the 512 columns.
  bool fitsTensorMemory() const;

  /// The stages of the accumulator pipeline: two accumulators that share
  /// columns count as one.
  int64_t getAccumulatorStages() const;
  PipelineBarriers getBarriers() const;

private:
  int64_t columnsOfStage, columnSlots, sharedColumns = 0;
  bool quantizesPairs;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TMEMPLAN_H
