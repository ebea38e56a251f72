//===- ScheduleEstimate.h - How long a pipeline kernel takes ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each unit of a chip needs for a product with a schedule, in clocks of
// the SM that has most to do, out of the rates in Support/Rates.h.
// Whole numbers only, so that every machine chooses the same.
//
// The model: a block has `tilesOfBlock` tiles, one after the other. While a
// tile is multiplied, its stages are filled, its sums wait, and the slowest of
// tensor core, shared memory, L2 cache and latency of the pipeline says how
// long that takes. Sums are stored behind it; what of them shares no columns of
// tensor memory with the next tile is stored while that one is multiplied.
// Where K is divided, each part of a tile counts as a tile, and a second kernel
// comes behind: its launch, and its bytes by the rate of memory.
//
// Clusters begin together, so that each block of one has as many tiles. What
// blocks load for each other saves nothing here: bytes come to the shared
// memory of each of them. Pairs do: each block has half of B.
//
// Left out: how fast tensor memory is read (no figure is published), what
// filling takes of shared memory, accumulators that are read, and warps that
// fill instead of copies.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_SCHEDULEESTIMATE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_SCHEDULEESTIMATE_H

#include "Kernels/Gemm/Mma/Tcgen05/TmemPlan.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "blockscale/Support/Rates.h"

namespace mlir::blockscale {

/// A product. Sizes are those of the op; a dynamic one counts as a large one,
/// so that all SMs are busy.
struct EstimatedProblem : OpSizes {
  /// Of an element of x and of y in memory.
  int64_t aBits, bBits;
  /// Whether parts of K may be given to blocks of their own.
  bool mayDivideK = true;
  /// Whether the tensor core is software, which has neither pairs nor K = 96.
  bool isInSoftware = false;
};
EstimatedProblem getEstimatedProblem(ProductOpInterface op);

/// The rates that the estimate needs.
struct ScheduleRates {
  Rate sms, megahertz, flops, sharedBytes, l2Bytes, copyLatency,
      memoryGigabytes;
  /// From the end of a kernel to the work of the next one.
  uint64_t nextKernelNanoseconds;
};
ScheduleRates getScheduleRates(const Chip &chip, Kind kind);

/// What may take longest.
enum class BoundingUnit : unsigned char {
  TensorCore,
  SharedMemory,
  L2Cache,
  /// Of a stage: filled, multiplied, and filled again.
  Latency,
  /// Stores of sums.
  Sums,
  Memory,
  /// The second kernel, where K is divided.
  Parts,
};
inline constexpr unsigned kNumBoundingUnits = 7;
StringRef describeBoundingUnit(BoundingUnit unit);

struct ScheduleEstimate {
  /// Tiles in all, each part of K one, and those of the block that has most.
  uint64_t tiles, tilesOfBlock;
  /// The clocks that a unit needs for these, by BoundingUnit: bounds.
  std::array<uint64_t, kNumBoundingUnits> clocks;
  /// The clocks that everything but memory takes together, and all.
  uint64_t onChip, total;

  uint64_t getClocks(BoundingUnit unit) const {
    return clocks[static_cast<unsigned>(unit)];
  }
  /// The unit with the highest bound; of equal ones the first.
  BoundingUnit getNearest() const;
};

ScheduleEstimate estimateSchedule(const EstimatedProblem &asked,
                                  const Instruction &instruction,
                                  const TmemPlan &plan,
                                  const ScheduleRates &rates);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_SCHEDULEESTIMATE_H
