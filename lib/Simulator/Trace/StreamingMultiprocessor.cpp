//===- StreamingMultiprocessor.cpp - Timing model of an SM ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How long units take for their work.
//
//===----------------------------------------------------------------------===//

#include "Trace/StreamingMultiprocessor.h"

#include "Memory/WarpAccess.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

llvm::StringRef sim::getName(BusyUnit unit) {
  static constexpr llvm::StringLiteral names[kNumBusyUnits] = {
      "schedulers",    "matrix pipes", "tensor core", "shared memory",
      "tensor memory", "L2 cache",     "memory"};
  return names[static_cast<unsigned>(unit)];
}

double Chip::issue(unsigned number, unsigned quarter, const Step &step,
                   double ready) {
  if (step.pipe == Pipe::None)
    return ready;
  StreamingMultiprocessor &of = sms[number];
  of.isUsed = true;
  Quarter &on = of.quarters[quarter];
  Server &pipe = step.pipe == Pipe::Matrix
                     ? on.matrix
                     : on.pipes[static_cast<unsigned>(step.pipe)];
  double begin = std::max({ready, on.scheduler.free, pipe.free});
  pipe.serve(begin, timing.getClocks(step));
  on.scheduler.serve(begin, 1);
  return begin;
}

Chip::Access Chip::accessShared(unsigned number, uint32_t wavefronts,
                                double time) {
  Server &shared = sms[number].shared;
  double end =
      shared.serve(time, wavefronts * kWavefrontBytes / timing.sharedBytes);
  return {end - timing.sharedQueue, end + timing.sharedLatency - 1};
}

/// Moves bytes between the L2 cache and an SM.
double Chip::move(StreamingMultiprocessor &of, uint64_t bytes,
                  uint64_t newBytes, double time) {
  double end = of.l2.serve(time, bytes / timing.l2Bytes);
  if (newBytes)
    end = std::max(end, memory.serve(time, newBytes / timing.memoryBytes) +
                            timing.memoryLatency - timing.l2Latency);
  return end;
}

Chip::Access Chip::accessGlobal(unsigned number, uint32_t sectors,
                                uint32_t newSectors, double time) {
  StreamingMultiprocessor &of = sms[number];
  double end =
      move(of, sectors * kSectorBytes, newSectors * kSectorBytes, time);
  return {of.l2.free - timing.globalQueue, end + timing.l2Latency};
}

double Chip::run(unsigned number, unsigned quarter,
                 const TraceOperation &operation, double time) {
  StreamingMultiprocessor &of = sms[number];
  of.isUsed = true;
  of.otherSharedBytes += operation.sharedBytes;
  double reads = operation.sharedBytes / timing.sharedBytes;
  double flops = operation.flops
                     ? operation.flops / timing.getFlops(operation.rate) /
                           timing.getFactor(operation.isSparse)
                     : 0;
  switch (operation.unit) {
  case TraceUnit::BulkLoads:
    return move(of, operation.l2Bytes, operation.newBytes, time) +
           timing.bulkLatency;
  case TraceUnit::BulkStores:
  case TraceUnit::ThreadCopies:
    return move(of, operation.l2Bytes, operation.newBytes, time) +
           timing.l2Latency;
  case TraceUnit::TensorCore:
    // A commit has no work of its own; it completes after earlier operations.
    if (flops == 0 && reads == 0)
      return std::max(of.tensor.free, time) + timing.tensorLatency;
    return of.tensor.serve(time, std::max(flops, reads)) + timing.tensorLatency;
  case TraceUnit::Tcgen05Loads:
  case TraceUnit::Tcgen05Stores:
    return of.tensorMemory.serve(time, operation.tensorMemoryBytes /
                                           timing.tensorMemoryBytes) +
           timing.sharedLatency;
  case TraceUnit::Warpgroups:
    // One warp of the warpgroup, with the matrix pipe of its quarter.
    return of.quarters[quarter].matrix.serve(time, std::max(flops, reads) *
                                                       kNumQuarters) +
           timing.tensorLatency;
  }
  return time;
}

double Chip::getBusyShare(BusyUnit unit, double clocks) const {
  if (unit == BusyUnit::Memory)
    return clocks ? memory.busy / clocks : 0;
  double busy = 0, count = 0;
  for (const StreamingMultiprocessor &of : sms) {
    if (!of.isUsed)
      continue;
    ++count;
    switch (unit) {
    case BusyUnit::Schedulers:
      for (const Quarter &quarter : of.quarters)
        busy += quarter.scheduler.busy / kNumQuarters;
      break;
    case BusyUnit::MatrixPipes:
      for (const Quarter &quarter : of.quarters)
        busy += quarter.matrix.busy / kNumQuarters;
      break;
    case BusyUnit::TensorCore:
      busy += of.tensor.busy;
      break;
    case BusyUnit::SharedMemory:
      busy += of.shared.busy + of.otherSharedBytes / timing.sharedBytes;
      break;
    case BusyUnit::TensorMemory:
      busy += of.tensorMemory.busy;
      break;
    case BusyUnit::L2Cache:
      busy += of.l2.busy;
      break;
    case BusyUnit::Memory:
      break;
    }
  }
  return count && clocks ? busy / (count * clocks) : 0;
}
