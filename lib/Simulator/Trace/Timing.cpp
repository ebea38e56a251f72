//===- Timing.cpp - Rates for a replay ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of figures. If none is published for any chip, the row has an
// assumed value.
//
//===----------------------------------------------------------------------===//

#include "Trace/Timing.h"

#include "Ptx/Targets.h"
#include "blockscale/Support/Rates.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
struct TimingRow {
  llvm::StringLiteral name;
  RateFigure figure;
  double Timing::*member;
  /// The value if no chip has a figure; nothing if chips without a figure, of
  /// their own or of an older chip, do not have the instructions.
  std::optional<double> otherwise;
};
} // namespace

static constexpr TimingRow kRows[] = {
    {"multiprocessors", &ChipRates::sms, &Timing::sms, 1},
    {"megahertz", &ChipRates::megahertz, &Timing::megahertz, 1000},
    {"shared_bytes", &ChipRates::sharedBytes, &Timing::sharedBytes, 128},
    // One 32-bit cell of each lane.
    {"tensor_memory_bytes", &ChipRates::tensorMemoryBytes,
     &Timing::tensorMemoryBytes, 512},
    {"l2_bytes", &ChipRates::l2Bytes, &Timing::l2Bytes, 64},
    {"memory_gigabytes", &ChipRates::memoryGigabytes, &Timing::memoryBytes,
     1000},
    {"float_results", &ChipRates::floatResults, &Timing::floatResults, 128},
    {"double_results", &ChipRates::doubleResults, &Timing::doubleResults, 2},
    {"sync_flops", &ChipRates::syncFlops, &Timing::syncFlops, 1024},
    {"sync_byte_flops", &ChipRates::syncByteFlops, &Timing::syncByteFlops,
     std::nullopt},
    {"byte_flops", &ChipRates::byteFlops, &Timing::byteFlops, std::nullopt},
    {"nibble_flops", &ChipRates::nibbleFlops, &Timing::nibbleFlops,
     std::nullopt},
    {"sparse_factor", &ChipRates::sparseFactor, &Timing::sparseFactor,
     std::nullopt},
    {"sync_byte_operations", &ChipRates::syncByteOperations,
     &Timing::syncByteOperations, 2048},
    {"sync_nibble_operations", &ChipRates::syncNibbleOperations,
     &Timing::syncNibbleOperations, 2048},
    {"sync_double_flops", &ChipRates::syncDoubleFlops, &Timing::syncDoubleFlops,
     4},
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
    {"block_barrier_latency", &ChipRates::blockBarrierLatency,
     &Timing::blockBarrierLatency, 10},
};

Timing::Timing(llvm::StringRef target, std::optional<uint32_t> wanted)
    : capability(getTargetNumber(target)), sharedQueue(kSharedQueueClocks),
      globalQueue(kGlobalQueueClocks) {
  for (const TimingRow &row : kRows) {
    std::optional<Rate> rate = row.otherwise
                                   ? findAnyRate(capability, row.figure)
                                   : findRate(capability, row.figure);
    this->*row.member = rate ? rate->value : row.otherwise.value_or(0);
    if (rate && row.figure == &ChipRates::sms)
      product = rate->source->product;
    if (!rate && row.otherwise)
      assumed.push_back(row.name.str());
    else if (rate && rate->isAssumed)
      assumed.push_back((llvm::Twine(row.name) + " (" +
                         llvm::StringRef(rate->source->product) + ")")
                            .str());
  }
  if (wanted)
    sms = *wanted;
  // From 10^9 bytes a second to bytes a clock.
  constexpr double megaOfGiga = 1000;
  memoryBytes *= megaOfGiga / megahertz;
}

double Timing::getFlops(RateFigure rate) const {
  std::optional<Rate> found = findAnyRate(capability, rate);
  return found ? found->value : syncFlops;
}

namespace {
/// The rate of a matrix class: operations in a clock, and how many of them one
/// operation of the class counts as.
struct MatrixRow {
  MatrixClass matrixClass;
  double Timing::*operations;
  double weight;
};

/// The throughput of a pipe, in results in a clock of an SM: the same on all
/// chips, or a figure.
struct PipeRow {
  Pipe pipe;
  double results;
  double Timing::*member;
};
} // namespace

/// Indexed by MatrixClass.
static constexpr MatrixRow kMatrices[kNumMatrixClasses] = {
    {MatrixClass::Halves, &Timing::syncFlops, 1},
    {MatrixClass::TF32, &Timing::syncFlops, 2},
    {MatrixClass::Doubles, &Timing::syncDoubleFlops, 1},
    {MatrixClass::Bytes, &Timing::syncByteFlops, 1},
    {MatrixClass::ScaledBytes, &Timing::byteFlops, 1},
    {MatrixClass::ScaledNibbles, &Timing::nibbleFlops, 1},
    {MatrixClass::ByteIntegers, &Timing::syncByteOperations, 1},
    {MatrixClass::NibbleIntegers, &Timing::syncNibbleOperations, 1},
};

double Timing::getMatrixClocks(const Step &step) const {
  const MatrixRow &row = kMatrices[static_cast<unsigned>(step.matrixClass)];
  double operations = 2.0 * step.multiplyAdds * row.weight;
  return operations * kNumQuarters /
         (this->*row.operations * getFactor(step.isSparse));
}

/// Indexed by Pipe, without matrices. Source: CUDA C++ Programming Guide,
/// "Throughput of Native Arithmetic Instructions"; for Pipe::Issue, the rate of
/// the schedulers.
static constexpr PipeRow kPipes[] = {
    {Pipe::Integer, 64, nullptr},
    {Pipe::Multiply, 64, nullptr},
    {Pipe::Float, 0, &Timing::floatResults},
    {Pipe::Double, 0, &Timing::doubleResults},
    {Pipe::Special, 16, nullptr},
    {Pipe::Memory, 128, nullptr},
    {Pipe::Issue, 128, nullptr},
};

double Timing::getClocks(const Step &step) const {
  if (step.pipe == Pipe::None)
    return 0;
  if (step.pipe == Pipe::Matrix)
    return getMatrixClocks(step);
  const PipeRow *row = llvm::find_if(
      kPipes, [&](const PipeRow &row) { return row.pipe == step.pipe; });
  double results = row->member ? this->*row->member : row->results;
  return kLanes * kNumQuarters / results;
}
