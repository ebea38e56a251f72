//===- TmemPlan.h - Where sums and scales are -------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a block of the path tcgen05 has in tensor memory. The scales of each
// stage have columns of their own, so that who may fill the stage may also copy
// its scales.

//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TMEMPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TMEMPLAN_H

#include "Kernels/Gemm/Mainloop/WarpSpecialized/SharedMemoryPlan.h"
#include "blockscale/Support/TensorMemory.h"

namespace mlir::blockscale {

/// Numbers of mbarriers where those start that say that stages or sums are full
/// or empty, and how many there are.
struct PipelineBarriers {
  int64_t fullStages, emptyStages, fullSums, emptySums, count;
};

class TmemPlan : public SharedMemoryPlan {
public:
  TmemPlan(const Instruction &instruction,
           WarpSpecializedScheduleAttr schedule);

  /// Where sums are; the blocks that multiply together, and the columns that
  /// the sums of a tile have in each of them.
  const SumLayout &getSumLayout() const;
  int64_t getGroup() const { return getSchedule().getBlocksOfProduct(); }
  int64_t getSumColumns() const {
    return getSchedule().getN() / getSumLayout().parts;
  }
  /// The copies of scales in lanes, and the columns of those of a stage.
  int64_t getScaleCopies(bool isA) const;
  int64_t getScaleColumns(bool isA) const;

  /// Columns of tensor memory: of accumulator number `i`, and of the scales of
  /// A and B in a stage.
  int64_t getAccColumn(int64_t i) const;
  int64_t getScaleColumn(bool isA) const;
  int64_t getScaleColumnsOfStage() const { return scaleColumns; }
  /// For how many stages there are columns of scales, a divisor of their
  /// number: stage s has those number s modulo this.
  int64_t getScaleSlots() const { return scaleSlots; }
  /// Those that the two accumulators share.
  int64_t getSharedColumns() const { return sharedColumns; }
  /// Those of a tile that have to be read before the next tile is multiplied:
  /// all of a single accumulator, of two ones whole parts with the shared ones.
  int64_t getWaitedColumns() const;
  /// How many columns of sums are in registers at a time.
  int64_t getPartColumns() const;
  /// The type of so many of them, rows and columns of which are those of the
  /// result.
  AccType getPartType(int64_t columns) const;
  /// Whether all fits into the 512 columns.
  bool fitsTensorMemory() const;

  /// Accumulators that are handed over one by one: two that share columns go as
  /// one.
  int64_t getHandedSums() const;
  PipelineBarriers getBarriers() const;

private:
  int64_t scaleColumns, scaleSlots, sharedColumns = 0;
};

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_MMA_TCGEN05_TMEMPLAN_H
