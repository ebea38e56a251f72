//===- Timing.h - How fast a chip is in a replay ----------------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rates of Support/Rates.h that a replay needs, for one target. What is not
// published for its chip is taken from another one and named.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_TIMING_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_TIMING_H

#include "Trace/Recording.h"

#include "llvm/ADT/StringRef.h"

#include <array>
#include <string>
#include <vector>

namespace mlir::blockscale::sim {

/// The quarters of a SM, each with a scheduler and pipes.
inline constexpr unsigned kNumQuarters = 4;

/// Clocks, and bytes or operations in a clock of a SM.
struct Timing {
  /// Of so many SMs, or all of the chip.
  Timing(llvm::StringRef target, std::optional<uint32_t> wanted);

  unsigned capability;
  /// Whose SMs are counted.
  std::string product;
  /// Figures that are not the chip's: "l2_bytes (H200)".
  std::vector<std::string> assumed;

  double sms, megahertz;
  double sharedBytes, tensorMemoryBytes, l2Bytes;
  /// Of the whole chip, in a clock.
  double memoryBytes;
  double floatResults, doubleResults;
  /// Of matrix instructions of warps.
  double byteFlops, nibbleFlops;
  double syncFlops, syncByteFlops, syncByteOperations, syncNibbleOperations,
      syncDoubleFlops;
  double arithmeticLatency, matrixLatency, sharedLatency, l2Latency,
      memoryLatency, bulkLatency, tensorLatency, barrierLatency,
      blockBarrierLatency;
  /// What accesses of warps may queue.
  double sharedQueue, globalQueue;

  /// Operations of a kind in a clock, see TraceOperation::rate.
  double getFlops(RateFigure rate) const;
  /// How long a warp's instruction takes a pipe of its quarter of a
  /// SM.
  double getClocks(const Step &step) const;
  double getMatrixClocks(const Step &step) const;
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_TIMING_H
