//===- RingPlan.h - Where stages and sums are ----------------- -*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a block of the path tcgen05 has in shared memory and in tensor memory.
// Stages hold lines of 128 bytes of A and B, and the atoms of their scales; the
// scales of each stage have columns of their own in tensor memory, so that who
// may fill the stage may also copy its scales.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_TCGEN05_RINGPLAN_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_TCGEN05_RINGPLAN_H

#include "Kernels/KernelProblem.h"

namespace mlir::blockscale {

/// A and its scales, B and its scales.
inline constexpr unsigned kNumRingOperands = 4;

/// Numbers of mbarriers where those start that say that stages or sums are full
/// or empty, and how many there are.
struct RingBarriers {
  int64_t fullStages, emptyStages, fullSums, emptySums, count;
};

/// Where things are that depend on the schedule and the instruction alone.
class RingPlan {
public:
  RingPlan(const Instruction &instruction, RingScheduleAttr schedule);

  RingScheduleAttr getSchedule() const { return schedule; }

  /// Words of four scales along K in a stage.
  int64_t getWords() const { return words; }
  /// Atoms of 128 rows: those of A, or of B.
  int64_t getRowAtoms(bool isA) const;

  /// In a stage: the first byte of an operand, and how many it has.
  int64_t getOffset(unsigned operand) const { return offsets[operand]; }
  int64_t getBytes(unsigned operand) const;
  int64_t getStageBytes() const { return stageBytes; }
  /// Of all stages.
  int64_t getSharedBytes() const;

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
  /// Whether all fits into the 512 columns.
  bool fitsTensorMemory() const;

  /// Accumulators that are handed over one by one: two that share columns go as
  /// one.
  int64_t getHandedSums() const;
  RingBarriers getBarriers() const;

private:
  RingScheduleAttr schedule;
  int64_t words;
  std::array<int64_t, kNumRingOperands> offsets;
  int64_t stageBytes = 0;
  int64_t scaleColumns, scaleSlots, sharedColumns = 0;
};

/// What barriers and the address of tensor memory take of shared memory, at
/// most.
inline constexpr int64_t kBarrierBytes = 1024;

/// The bytes of one line of a stage, which is the span of a swizzle.
inline constexpr int64_t kLineBytes = 128;

/// How a tile of `rows` rows lies that are contiguous: in columns of so many
/// bytes, which divide the rows.
int64_t getColumnBytes(int64_t rows);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_TCGEN05_RINGPLAN_H
