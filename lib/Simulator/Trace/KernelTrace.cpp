//===- KernelTrace.cpp - Estimated times of a kernel ----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replays a launch, and writes the results to statistics.
//
//===----------------------------------------------------------------------===//

#include "Trace/KernelTrace.h"

#include "Machine/BlockGroup.h"
#include "blockscale/Simulator/Simulator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The most groups that are recorded, except for kernels whose groups take each
/// other's work.
static constexpr uint64_t kMaxRecorded = 64;

uint64_t sim::getRecordingStride(const LaunchedKernel &launch) {
  if (launch.uses(UsesLaunchControl))
    return 1;
  return llvm::divideCeil(BlockGroup::count(launch), kMaxRecorded);
}

uint64_t sim::countRecordings(const LaunchedKernel &launch) {
  // If groups take each other's work, as many are recorded as fit a chip.
  return std::min(
      llvm::divideCeil(BlockGroup::count(launch), getRecordingStride(launch)),
      launch.getResidentGroups());
}

KernelTrace sim::traceKernel(const LaunchedKernel &launch,
                             std::vector<Recording> recordings) {
  unsigned clusters = launch.getClustersOfGroup();
  uint64_t beside = std::max<uint64_t>(launch.getBlocksOfSm() / clusters, 1);
  KernelTrace trace = {
      launch.kernel->function->name.str(),
      Timing(launch.target, launch.options->sms),
      {launch.uses(UsesLaunchControl) ? recordings.size()
                                      : BlockGroup::count(launch),
       launch.getClusterSize(), clusters, static_cast<unsigned>(beside),
       launch.getNumWarps(), getRecordingStride(launch)},
      std::move(recordings),
      std::nullopt,
      "",
      {}};
  if (llvm::any_of(trace.recordings,
                   [](const Recording &each) { return each.isCut; })) {
    trace.problem = "a block does too much to be recorded";
    return trace;
  }
  bool wantsSlices = launch.options->wantsTrace;
  trace.result = replay(trace.timing, trace.shape, trace.recordings,
                        wantsSlices ? &trace.slices : nullptr);
  if (!trace.result)
    trace.problem = "warps wait for something that no recorded block does";
  if (!wantsSlices)
    trace.recordings.clear();
  return trace;
}

/// Shares are rounded to four digits.
static double round4(double share) {
  constexpr double digits = 1e4;
  return std::round(share * digits) / digits;
}

void sim::writeEstimate(llvm::json::OStream &json, const KernelTrace &trace) {
  json.attributeObject("estimate", [&] {
    json.attribute("chip", trace.timing.product);
    json.attributeArray("assumed", [&] {
      for (const std::string &figure : trace.timing.assumed)
        json.value(figure);
    });
    if (!trace.result) {
      json.attribute("problem", trace.problem);
      return;
    }
    const ReplayResult &result = *trace.result;
    json.attribute("clocks", std::round(result.clocks));
    json.attribute("microseconds",
                   round4(trace.getMicroseconds(result.clocks)));
    json.attribute("multiprocessors", result.sms);
    json.attributeObject("busy", [&] {
      for (unsigned i = 0; i != kNumBusyUnits; ++i)
        json.attribute(getName(BusyUnit(i)), round4(result.busy[i]));
    });
    json.attributeObject("waits", [&] {
      for (unsigned i = 0; i != kNumWaitCauses; ++i)
        if (WaitCause(i) != WaitCause::Issue)
          json.attribute(getName(WaitCause(i)), round4(result.waits[i]));
    });
    json.attributeObject("idle", [&] {
      for (BusyUnit unit : {BusyUnit::TensorCore, BusyUnit::MatrixPipes}) {
        if (result.busy[static_cast<unsigned>(unit)] == 0)
          continue;
        json.attributeObject(getName(unit), [&] {
          for (unsigned i = 0; i != kNumWaitCauses; ++i)
            json.attribute(getName(WaitCause(i)),
                           round4(result.idle[static_cast<unsigned>(unit)][i]));
        });
      }
    });
  });
}
