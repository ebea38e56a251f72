//===- Timing.h - Rates for a replay ----------------------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rates of Support/Rates.h that a replay needs, for one target. Figures
// that are not published for its chip are taken from another chip, and named.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_TIMING_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_TIMING_H

#include "Trace/Recording.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace mlir::blockscale::sim {

/// The quarters of an SM, each with a scheduler and pipes.
inline constexpr unsigned kNumQuarters = 4;

/// Latencies in clocks, and rates in bytes or operations in a clock of an SM.
struct Timing {
  /// For so many SMs, or all of the chip.
  Timing(llvm::StringRef target, std::optional<uint32_t> wanted);

  unsigned capability;
  /// The product whose SMs are counted.
  std::string product;
  /// Figures that are taken from another chip: "l2_bytes (H200)".
  std::vector<std::string> assumed;

  double sms, megahertz;
  double sharedBytes, tensorMemoryBytes, l2Bytes;
  /// For the whole chip, in a clock.
  double memoryBytes;
  double floatResults, doubleResults;
  /// Rates of matrix instructions of warps.
  double byteFlops, nibbleFlops;
  double syncFlops, syncByteFlops, syncByteOperations, syncNibbleOperations,
      syncDoubleFlops;
  double sparseFactor;
  double arithmeticLatency, matrixLatency, sharedLatency, l2Latency,
      memoryLatency, bulkLatency, tensorLatency, barrierLatency,
      blockBarrierLatency;
  /// How much work the accesses of warps may queue.
  double sharedQueue, globalQueue;

  /// Operations of a kind in a clock, see TraceOperation::rate.
  double getFlops(RateFigure rate) const;
  /// How many times that matrix instructions do.
  double getFactor(bool isSparse) const { return isSparse ? sparseFactor : 1; }
  /// How long a warp's instruction takes a pipe of its quarter of a
  /// SM.
  double getClocks(const Step &step) const;
  double getMatrixClocks(const Step &step) const;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_TIMING_H
