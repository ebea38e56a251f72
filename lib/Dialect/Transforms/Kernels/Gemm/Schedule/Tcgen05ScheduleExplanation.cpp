//===- Tcgen05ScheduleExplanation.cpp - Texts of --explain ----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing is computed here: it prints the numbers by which the compiler chooses
// and by which kernels are made.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Gemm/Schedule/Tcgen05ScheduleExplanation.h"

#include "blockscale/Support/ScaleLayout.h"
#include "blockscale/Support/TensorMemory.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// For example "1 tile", "2 tiles".
static raw_ostream &printCount(raw_ostream &os, uint64_t count, StringRef of) {
  return os << count << ' ' << of << (count == 1 ? "" : "s");
}

static void printRate(raw_ostream &os, const Rate &rate, StringRef of) {
  os << rate.value << ' ' << of;
  if (rate.isAssumed)
    os << " (assumed, that of " << StringRef(rate.source->product) << ')';
}

void blockscale::printScheduleEstimate(raw_ostream &os,
                                       const EstimatedProblem &problem,
                                       const ScheduleEstimate &estimate,
                                       const ScheduleRates &rates) {
  struct Line {
    BoundingUnit unit;
    const Rate &rate;
    StringRef of;
  };
  const Rate launch = {static_cast<int64_t>(rates.nextKernelNanoseconds)};
  const Line lines[] = {
      {BoundingUnit::TensorCore, rates.flops, "operations per clock"},
      {BoundingUnit::SharedMemory, rates.sharedBytes, "bytes per clock"},
      {BoundingUnit::L2Cache, rates.l2Bytes, "bytes per clock"},
      {BoundingUnit::Latency, rates.copyLatency,
       "clocks until a copy is there"},
      {BoundingUnit::Epilogue, rates.l2Bytes, "bytes per clock"},
      {BoundingUnit::Memory, rates.memoryGigabytes, "GB/s"},
      {BoundingUnit::SplitKReduction, launch, "ns for a launch (assumed)"},
  };
  os << "  ";
  printCount(os, estimate.tiles, "tile") << " on ";
  printRate(os, rates.sms, "SMs");
  os << ", at most " << estimate.tilesOfBlock << " on each\n";
  for (const Line &line : lines) {
    // Few products use split-K.
    if (line.unit == BoundingUnit::SplitKReduction &&
        estimate.getClocks(line.unit) == 0)
      continue;
    os << llvm::format_decimal(estimate.getClocks(line.unit), 12)
       << " clocks  ";
    os << llvm::left_justify(describeBoundingUnit(line.unit), 16);
    printRate(os, line.rate, line.of);
    os << '\n';
  }
  double clocks = static_cast<double>(estimate.total);
  double microseconds = clocks / rates.megahertz.value;
  double flops = 2.0 * problem.m * problem.n * problem.k * problem.batch;
  os << llvm::format_decimal(estimate.total, 12)
     << " clocks  in all, limited by: "
     << describeBoundingUnit(estimate.getNearest()) << '\n'
     << llvm::format("%12.1f us, %.0f TFLOP/s at ", microseconds,
                     flops / microseconds * 1e-6);
  printRate(os, rates.megahertz, "MHz");
  os << '\n';
}

void blockscale::printScheduleCandidates(
    raw_ostream &os, ArrayRef<ScheduleCandidate> candidates) {
  auto print = [](bool value) { return value ? "yes" : "no"; };
  WarpSpecializedScheduleAttr best = chooseSchedule(candidates).schedule;
  os << "  N of tiles    swap_ab  2cta  wide K split_k  stages  accumulators   "
        "     clocks  "
        "limited by\n";
  for (const ScheduleCandidate &candidate : candidates) {
    WarpSpecializedScheduleAttr schedule = candidate.schedule;
    int64_t wideK = schedule.getInstructionK();
    os << llvm::format(
              "%12lld%11s%6s%8s%8lld%8lld%14lld%14llu  ",
              static_cast<long long>(schedule.getN()),
              print(schedule.getSwapAb()), print(schedule.getTwoCta()),
              wideK ? llvm::utostr(wideK).c_str() : "no",
              static_cast<long long>(schedule.getSplitK()),
              static_cast<long long>(schedule.getStages()),
              static_cast<long long>(schedule.getAccumulators()),
              static_cast<unsigned long long>(candidate.estimate.total))
       << describeBoundingUnit(candidate.estimate.getNearest())
       << (schedule == best ? ", the choice\n" : "\n");
  }
}

//===----------------------------------------------------------------------===//
// Pictures
//===----------------------------------------------------------------------===//

/// The operand that has byte `byte` of a stage; none for an unused byte.
static std::optional<GemmOperand> findOperand(const TmemPlan &plan,
                                              int64_t byte) {
  for (GemmOperand operand : kGemmOperands)
    if (byte >= plan.getOffset(operand) &&
        byte < plan.getOffset(operand) + plan.getBytes(operand))
      return operand;
  return std::nullopt;
}

static void printBytes(raw_ostream &os, char letter, int64_t first,
                       int64_t end) {
  os << "  " << letter << "  bytes " << llvm::format_decimal(first, 6) << " to "
     << llvm::format_decimal(end - 1, 6) << ": ";
}

/// The operands of a stage, by offset.
static void printStage(raw_ostream &os, const TmemPlan &plan) {
  int64_t end = 0;
  for (GemmOperand operand : kElementsFirst) {
    GemmOperandInfo info = getInfo(operand);
    int64_t first = plan.getOffset(operand), bytes = plan.getBytes(operand);
    if (bytes == 0)
      continue;
    end = first + bytes;
    printBytes(os, info.letter, first, end);
    os << info.name << ", ";
    if (info.isMetadata)
      printCount(os, bytes / kMetadataAtomBytes, "row")
          << " of " << kMetadataAtomBytes;
    else if (!info.isScale)
      printCount(os, bytes / kSwizzleRowBytes, "row")
          << " of " << kSwizzleRowBytes;
    else
      printCount(os, bytes / kScaleAtomBytes, "atom")
          << " of " << kScaleAtomBytes;
    os << " bytes\n";
  }
  if (end == plan.getStageBytes())
    return;
  printBytes(os, '.', end, plan.getStageBytes());
  os << "unused, as stages are aligned\n";
}

void blockscale::drawStages(raw_ostream &os, const TmemPlan &plan) {
  int64_t stages = plan.getSchedule().getStages();
  if (plan.getSchedule().getSwapAb())
    os << "A is y, and B is x: the result is the transpose of what is "
          "multiplied\n";
  os << "shared memory: ";
  printCount(os, stages, "stage")
      << " of " << plan.getStageBytes() << " bytes\n";
  printStage(os, plan);
  // The first byte that a character stands for.
  constexpr int64_t kUnit = 1024;
  os << "  a character is " << kUnit << " bytes\n";
  PipelineBarriers barriers = plan.getBarriers();
  for (int64_t stage = 0; stage != stages; ++stage) {
    os << "  stage " << stage << " |";
    for (int64_t byte = 0; byte < plan.getStageBytes(); byte += kUnit) {
      std::optional<GemmOperand> operand = findOperand(plan, byte);
      os << (operand ? getInfo(*operand).letter : '.');
    }
    os << "| from " << llvm::format_decimal(stage * plan.getStageBytes(), 6)
       << ", full " << barriers.fullStages + stage << ", empty "
       << barriers.emptyStages + stage << '\n';
  }
  os << "mbarriers: " << barriers.count
     << "; those of stages as above, those of sums ";
  for (int64_t i = 0; i != plan.getAccumulatorStages(); ++i)
    os << (i == 0 ? "" : "; ") << "full " << barriers.fullAccumulators + i
       << ", empty " << barriers.emptyAccumulators + i;
  os << '\n';
}

/// Columns that a character stands for.
static constexpr int64_t kColumnUnit = 8;

/// A line that marks columns `first` to `last`.
static void drawColumns(raw_ostream &os, const Twine &name, int64_t first,
                        int64_t last) {
  os << "  " << llvm::left_justify(name.str(), 8) << '|';
  for (int64_t column = 0; column != kTensorColumns; column += kColumnUnit)
    os << (column + kColumnUnit > first && column <= last ? '#' : '.');
  os << "| " << first << " to " << last << '\n';
}

/// Prints what the scale columns of a stage hold, from its column `first` on.
static void printScaleColumns(raw_ostream &os, const TmemPlan &plan, bool isA,
                              int64_t first) {
  constexpr int64_t kColumnsOfAtom = kScaleAtomRows / kTensorWarpLanes;
  int64_t rows = plan.getRowAtoms(isA) * kScaleAtomRows;
  const ScaleRegion *region = lookupScaleRegion(rows, plan.getScaleCopies(isA));
  for (int64_t word = 0; word != plan.getScaleWords(); ++word)
    for (int64_t atom = 0; atom != plan.getRowAtoms(isA); ++atom) {
      int64_t column = first + word * region->columnsOfWord +
                       atom * kColumnsOfAtom % region->columnsOfWord;
      int64_t row = atom * kScaleAtomRows, block = word * kBlocksOfWord;
      os << "    +" << column << " to +" << column + kColumnsOfAtom - 1
         << ": rows " << row << " to " << row + kScaleAtomRows - 1 << " of "
         << (isA ? 'A' : 'B') << ", blocks " << block << " to "
         << block + kBlocksOfWord - 1;
      // With fewer copies, each half of the lanes has an atom of its own.
      if (region->copies != kScaleCopies)
        os << ", in lanes " << atom * kTensorLanes / 2 << " to "
           << (atom + 1) * kTensorLanes / 2 - 1;
      os << '\n';
    }
}

void blockscale::drawTensorMemory(raw_ostream &os, const TmemPlan &plan) {
  WarpSpecializedScheduleAttr schedule = plan.getSchedule();
  os << "tensor memory: " << kTensorLanes << " lanes of " << kTensorColumns
     << " columns, a character is " << kColumnUnit << " columns\n";
  for (int64_t i = 0; i != schedule.getAccumulators(); ++i) {
    int64_t first = plan.getAccColumn(i);
    drawColumns(os, "sums " + Twine(i), first,
                first + plan.getAccumulatorColumns() - 1);
  }
  int64_t first = plan.getScaleColumn(true);
  int64_t columns = plan.getColumnsOfStage();
  if (columns != 0)
    drawColumns(os, plan.getMetadataBytes() ? "stages" : "scales", first,
                first + columns * plan.getColumnSlots() - 1);
  if (int64_t shared = plan.getSharedColumns())
    os << "  both sums have columns " << plan.getAccColumn(1) << " to "
       << plan.getAccColumn(1) + shared - 1 << "; the first "
       << plan.getWaitedColumns() << " columns that are read release them\n";
  if (plan.getAccumulatorLayout().parts == 1)
    os << "  sums: lane l has row l of the tile, column c its column c\n";
  else
    os << "  sums: lane l has row l mod " << schedule.getM()
       << " of the tile, column c its column c; from lane " << schedule.getM()
       << " on column " << plan.getAccumulatorColumns() << " + c\n";
  if (columns == 0)
    return;
  if (int64_t bytes = plan.getMetadataBytes()) {
    int64_t column = plan.getMetadataColumn() - first;
    os << "  metadata of stage s: the last " << bytes / kTensorColumnBytes
       << " of its columns; +" << column
       << " + i has bytes 4 i to 4 i + 3 of row l in lane l\n";
  }
  os << "  scales of stage s: columns " << first << " + " << columns << " s to "
     << first + columns - 1 << " + " << columns << " s";
  if (plan.getColumnSlots() != schedule.getStages())
    os << ", where s counts modulo " << plan.getColumnSlots();
  os << '\n';
  printScaleColumns(os, plan, true, 0);
  printScaleColumns(os, plan, false, plan.getScaleColumn(false) - first);
  os << "  of these, column +i of an atom has rows " << kTensorWarpLanes
     << " i to " << kTensorWarpLanes << " i + " << kTensorWarpLanes - 1
     << " in lanes 0 to " << kTensorWarpLanes - 1
     << ",\n  and once more in each further " << kTensorWarpLanes
     << " lanes; byte b is block b\n";
}
