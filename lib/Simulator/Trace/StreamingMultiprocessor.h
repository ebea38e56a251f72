//===- StreamingMultiprocessor.h - Timing model of an SM --------*- C++ -*-===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A timing model of an SM: when its units are free again. Each unit processes
// one thing after another, in the order of requests.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_SIMULATOR_TRACE_STREAMINGMULTIPROCESSOR_H
#define BLOCKSCALE_LIB_SIMULATOR_TRACE_STREAMINGMULTIPROCESSOR_H

#include "Trace/Recording.h"
#include "Trace/Timing.h"

#include <algorithm>

namespace mlir::blockscale::sim {

/// The units whose busy time is counted, for all SMs together.
enum class BusyUnit : uint8_t {
  Schedulers,
  MatrixPipes,
  TensorCore,
  SharedMemory,
  TensorMemory,
  L2Cache,
  Memory,
};
inline constexpr unsigned kNumBusyUnits = 7;
/// Its name in statistics.
llvm::StringRef getName(BusyUnit unit);

/// A unit that processes one thing after another.
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

/// A quarter of an SM, in which a warp issues its instructions.
struct Quarter {
  Server scheduler, matrix;
  std::array<Server, kNumPipes> pipes;
};

struct StreamingMultiprocessor {
  std::array<Quarter, kNumQuarters> quarters;
  Server shared, l2, tensor, tensorMemory;
  /// Shared memory traffic of units other than warps. Later reads of tensor
  /// cores do not delay warps now.
  double otherSharedBytes = 0;
  bool isUsed = false;
};

/// A chip: its SMs, and the units that they share.
struct Chip {
  Chip(const Timing &timing, unsigned count) : timing(timing), sms(count) {}

  /// An instruction of a warp; returns when it is issued.
  double issue(unsigned number, unsigned quarter, const Step &step,
               double ready);
  /// Accesses of a warp.
  struct Access {
    /// When the warp can go on, and when the value is available.
    double accepted, result;
  };
  Access accessShared(unsigned number, uint32_t wavefronts, double time);
  Access accessGlobal(unsigned number, uint32_t sectors, uint32_t newSectors,
                      double time);
  /// An operation on an SM, from a warp in a quarter; returns when it is
  /// complete.
  double run(unsigned number, unsigned quarter, const TraceOperation &operation,
             double time);
  /// Until when the tensor core, or a matrix pipe, is busy with the work so
  /// far.
  double getTensorFree(unsigned number) const {
    return sms[number].tensor.free;
  }
  double getMatrixFree(unsigned number, unsigned quarter) const {
    return sms[number].quarters[quarter].matrix.free;
  }
  /// The share of `clocks` in which units of the SMs in use were busy.
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
