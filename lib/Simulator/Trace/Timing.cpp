//===- Timing.cpp - How fast a chip is in a replay ------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row for each figure. Where nobody has published one for any chip, the row
// has what is assumed.
//
//===----------------------------------------------------------------------===//

#include "Trace/Timing.h"

#include "Ptx/Targets.h"
#include "blockscale/Support/Rates.h"

#include "llvm/ADT/Twine.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
struct TimingRow {
  llvm::StringLiteral name;
  RateFigure figure;
  double Timing::*member;
  /// Where no chip has a figure.
  double otherwise;
};
} // namespace

static constexpr TimingRow kRows[] = {
    {"multiprocessors", &ChipRates::multiprocessors, &Timing::multiprocessors,
     1},
    {"megahertz", &ChipRates::megahertz, &Timing::megahertz, 1000},
    {"shared_bytes", &ChipRates::sharedBytes, &Timing::sharedBytes, 128},
    // A cell of 32 bits of each lane.
    {"tensor_memory_bytes", &ChipRates::tensorMemoryBytes,
     &Timing::tensorMemoryBytes, 512},
    {"l2_bytes", &ChipRates::l2Bytes, &Timing::l2Bytes, 64},
    {"memory_gigabytes", &ChipRates::memoryGigabytes, &Timing::memoryBytes,
     1000},
    {"sync_flops", &ChipRates::syncFlops, &Timing::syncFlops, 1024},
    {"arithmetic_latency", &ChipRates::arithmeticLatency,
     &Timing::arithmeticLatency, 4},
    {"matrix_latency", &ChipRates::matrixLatency, &Timing::matrixLatency, 32},
    {"shared_latency", &ChipRates::sharedLatency, &Timing::sharedLatency, 30},
    {"l2_latency", &ChipRates::l2Latency, &Timing::l2Latency, 250},
    {"memory_latency", &ChipRates::memoryLatency, &Timing::memoryLatency, 600},
    {"bulk_latency", &ChipRates::bulkLatency, &Timing::bulkLatency, 500},
    {"tensor_latency", &ChipRates::tensorLatency, &Timing::tensorLatency, 64},
    {"barrier_latency", &ChipRates::barrierLatency, &Timing::barrierLatency,
     20},
};

/// The chip's own figure, that of the next older chip, or of the oldest.
static std::optional<Rate> find(unsigned capability, RateFigure figure) {
  if (std::optional<Rate> rate = findRate(capability, figure))
    return rate;
  for (const ChipRates &row : getChipRates())
    if (row.*figure)
      return Rate{*(row.*figure), &row, /*isAssumed=*/true};
  return std::nullopt;
}

Timing::Timing(llvm::StringRef target, std::optional<uint32_t> wanted)
    : capability(getTargetNumber(target)) {
  for (const TimingRow &row : kRows) {
    std::optional<Rate> rate = find(capability, row.figure);
    this->*row.member = rate ? rate->value : row.otherwise;
    if (rate && row.figure == &ChipRates::multiprocessors)
      product = rate->source->product;
    if (!rate)
      assumed.push_back(row.name.str());
    else if (rate->isAssumed)
      assumed.push_back((llvm::Twine(row.name) + " (" +
                         llvm::StringRef(rate->source->product) + ")")
                            .str());
  }
  if (wanted)
    multiprocessors = *wanted;
  // From 10^9 bytes a second to bytes a clock.
  constexpr double megaOfGiga = 1000;
  memoryBytes *= megaOfGiga / megahertz;
}

double Timing::getFlops(RateFigure rate) const {
  std::optional<Rate> found = find(capability, rate);
  return found ? found->value : syncFlops;
}

/// The quarters of a multiprocessor, each with a scheduler.
static constexpr double kQuarters = 4;

double Timing::getMatrixClocks(const Step &step) const {
  constexpr unsigned halfBits = 16, byteBits = 8;
  double flops = 2.0 * step.multiplyAdds;
  if (step.hasScales)
    return flops * kQuarters /
           getFlops(step.matrixBits < byteBits ? &ChipRates::nibbleFlops
                                               : &ChipRates::byteFlops);
  // Before sm_120, fp8 is multiplied as f16 is.
  constexpr unsigned firstWithBytes = 120;
  unsigned least = capability < firstWithBytes ? halfBits : byteBits;
  double weight = std::max<double>(step.matrixBits, least) / halfBits;
  return flops * weight * kQuarters / syncFlops;
}

double Timing::getClocks(const Step &step) const {
  // By pipe: CUDA C++ Programming Guide, results in a clock for each
  // multiprocessor, of which a quarter is for a warp of 32 lanes.
  switch (step.pipe) {
  case Pipe::None:
    return 0;
  case Pipe::Integer:
  case Pipe::Multiply:
    return 2;
  case Pipe::Float:
  case Pipe::Issue:
  case Pipe::Memory:
    return 1;
  case Pipe::Double:
    return capability == 90 || capability == 100 ? 2 : 64;
  case Pipe::Special:
    return 8;
  case Pipe::Matrix:
    return getMatrixClocks(step);
  }
  return 1;
}
