//===- StreamingMultiprocessor.h - Units of a SM in a replay ----*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When the units of a SM are free again. Each does one thing after
// another, in the order in which it is asked.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_STREAMINGMULTIPROCESSOR_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_STREAMINGMULTIPROCESSOR_H

#include "Trace/Recording.h"
#include "Trace/Timing.h"

#include <algorithm>

namespace mlir::blockscale::sim {

/// What is counted as busy, for all SMs together.
enum class BusyUnit : uint8_t {
  Schedulers,
  MatrixPipes,
  Tcgen05Core,
  SharedMemory,
  TensorMemory,
  L2Cache,
  Memory,
};
inline constexpr unsigned kNumBusyUnits = 7;
/// What statistics call it.
llvm::StringRef getName(BusyUnit unit);

/// A unit that does one thing after another.
struct Server {
  double free = 0, busy = 0;

  /// Begins at `time` or when it is free, for so many clocks; returns when it
  /// is done.
  double serve(double time, double clocks) {
    free = std::max(free, time) + clocks;
    busy += clocks;
    return free;
  }
};

/// Where a warp issues its instructions.
struct Quarter {
  Server scheduler, matrix;
  std::array<Server, kNumPipes> pipes;
};

struct StreamingMultiprocessor {
  std::array<Quarter, kNumQuarters> quarters;
  Server shared, l2, tensor, tensorMemory;
  /// Shared memory that other units than warps use. What tensor cores will
  /// read later does not delay warps now.
  double otherSharedBytes = 0;
  bool isUsed = false;
};

/// What all SMs share.
struct Chip {
  Chip(const Timing &timing, unsigned count) : timing(timing), sms(count) {}

  /// An instruction of a warp; returns when it is issued.
  double issue(unsigned number, unsigned quarter, const Step &step,
               double ready);
  /// Accesses of a warp.
  struct Access {
    /// When the warp can go on, and when the value is there.
    double accepted, result;
  };
  Access accessShared(unsigned number, uint32_t wavefronts, double time);
  Access accessGlobal(unsigned number, uint32_t sectors, uint32_t newSectors,
                      double time);
  /// An operation on a SM, from a warp in a quarter of its own;
  /// returns when it is complete.
  double run(unsigned number, unsigned quarter, const TraceOperation &operation,
             double time);
  /// Until when the tensor core, or a matrix pipe, is busy, as far as is known.
  double getTensorFree(unsigned number) const {
    return sms[number].tensor.free;
  }
  double getMatrixFree(unsigned number, unsigned quarter) const {
    return sms[number].quarters[quarter].matrix.free;
  }
  /// The part of `clocks` that units of the SMs in use were busy.
  double getBusyShare(BusyUnit unit, double clocks) const;

  const Timing &timing;
  std::vector<StreamingMultiprocessor> sms;
  Server memory;

private:
  double move(StreamingMultiprocessor &of, uint64_t bytes, uint64_t newBytes,
              double time);
};

} // namespace mlir::blockscale::sim

#endif // BLOCKSCALE_LIB_SIMULATOR_TRACE_STREAMINGMULTIPROCESSOR_H
