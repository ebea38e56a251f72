//===- Tcgen05ScheduleEstimate.h - The cost model of tcgen05 ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cost model: the clocks that each unit of a chip needs for a GEMM with a
// schedule, on the SM that has most to do, from the rates in Support/Rates.h.
// It computes with integers only, so that every machine chooses the same.
//
// The model: a block has `tilesOfBlock` tiles, one after the other. The slowest
// of tensor core, shared memory, L2 cache and pipeline latency says how long
// one tile takes. The epilogue of a tile comes behind it; what shares no
// columns of tensor memory with the next tile overlaps with that tile. With
// split-K, each range of a tile counts as a tile, and a reduction kernel
// follows: its launch, and its bytes at the rate of memory.
//
// The blocks of a cluster start together, so they all have equally many tiles.
// Multicast saves nothing here: bytes arrive in the shared memory of each
// block. 2-CTA does save bytes: each block has half of B.
//
// Left out: how fast tensor memory is read (no figure is published), what
// filling takes of the bandwidth of shared memory, accumulators that are read,
// and the software producer.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULEESTIMATE_H
#define BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULEESTIMATE_H

#include "Kernels/Gemm/Mma/Tcgen05/TmemPlan.h"
#include "Kernels/Gemm/Problem/OpSizes.h"
#include "blockscale/Support/Rates.h"

namespace mlir::blockscale {

/// A product. Sizes are those of the op; a dynamic one counts as large, so that
/// all SMs are busy.
struct EstimatedProblem : OpSizes {
  /// Bits in memory of an element of x and of y along K; of a sparse x, with
  /// its metadata.
  int64_t aBits, bBits;
  /// Whether split-K is allowed.
  bool mayDivideK = true;
  /// Whether the tensor core is emulated, which has neither 2-CTA nor K = 96.
  bool isInSoftware = false;
  /// Whether rows are those of groups, of which any may have more rows than m,
  /// those that they have on average.
  bool hasGroups = false;
};
EstimatedProblem getEstimatedProblem(ProductOpInterface op);

/// The rates that the estimate needs.
struct ScheduleRates {
  Rate sms, megahertz, flops, sharedBytes, l2Bytes, copyLatency,
      memoryGigabytes, sparseFactor;
  /// From the end of a kernel to the work of the next one.
  uint64_t nextKernelNanoseconds;
};
ScheduleRates getScheduleRates(const Chip &chip, Kind kind);

/// The units that may be the bound.
enum class BoundingUnit : unsigned char {
  TensorCore,
  SharedMemory,
  L2Cache,
  /// Latency of the pipeline: a stage is filled, multiplied, and filled again.
  Latency,
  /// Stores of the epilogue.
  Epilogue,
  Memory,
  /// The reduction kernel of split-K.
  SplitKReduction,
};
inline constexpr unsigned kNumBoundingUnits = 7;
StringRef describeBoundingUnit(BoundingUnit unit);

struct ScheduleEstimate {
  /// The number of tiles, counting each split-K range, and the tiles of the
  /// block that has most.
  uint64_t tiles, tilesOfBlock;
  /// The clocks that each unit needs for these, by BoundingUnit: bounds.
  std::array<uint64_t, kNumBoundingUnits> clocks;
  /// The clocks of all units but memory together, and the estimate.
  uint64_t onChip, total;

  uint64_t getClocks(BoundingUnit unit) const {
    return clocks[static_cast<unsigned>(unit)];
  }
  /// The unit with the highest bound; the first among equal ones.
  BoundingUnit getNearest() const;
};

ScheduleEstimate estimateSchedule(const EstimatedProblem &asked,
                                  const Instruction &instruction,
                                  const TmemPlan &plan,
                                  const ScheduleRates &rates);

} // namespace mlir::blockscale

#endif // BLOCKSCALE_LIB_DIALECT_TRANSFORMS_KERNELS_GEMM_SCHEDULE_TCGEN05SCHEDULEESTIMATE_H
