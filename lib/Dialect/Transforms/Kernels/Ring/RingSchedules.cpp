//===- RingSchedules.cpp - The text of ring schedules ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One form for all paths whose kernels have roles, with numbers that may be
// left out at its end.

//===----------------------------------------------------------------------===//

#include "Kernels/Ring/RingSchedules.h"

#include "Kernels/Ring/RingPlan.h"
#include "Kernels/ScheduleText.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::blockscale;

namespace {
struct ScheduleText {
  SmallVector<int64_t, 3> tile = {0, 0, 0};
  int64_t stages = 0, accumulators = 0, persistent = 0;
  // Those that may be left out.
  int64_t group = kTileGroup, exchanged = 0, splits = 1;
  SmallVector<int64_t, 2> cluster = {1, 1};
  int64_t pair = 0, instructionK = 0;
};
} // namespace

static std::optional<ScheduleText> parseText(StringRef text) {
  ScheduleText schedule;
  if (!takeNumbers(text, "tile", schedule.tile) ||
      !takeNumbers(text, "stages", schedule.stages) ||
      !takeNumbers(text, "accumulators", schedule.accumulators) ||
      !takeNumbers(text, "persistent", schedule.persistent) ||
      !takeOptional(text, "group", schedule.group) ||
      !takeOptional(text, "exchanged", schedule.exchanged) ||
      !takeOptional(text, "splits", schedule.splits) ||
      !takeOptional(text, "cluster", schedule.cluster) ||
      !takeOptional(text, "pair", schedule.pair) ||
      !takeOptional(text, "k", schedule.instructionK) || !text.empty())
    return std::nullopt;
  return schedule;
}

SmallVector<StringRef> RingScheduleRules::getForms() const {
  return {"tile=MxNxK,stages=S,accumulators=A,persistent=P[,group=G]"
          "[,exchanged=E][,splits=N][,cluster=MxN][,pair=P][,k=K]"};
}

bool RingScheduleRules::hasForm(StringRef text) const {
  return parseText(text).has_value();
}

FailureOr<ScheduleInterface>
RingScheduleRules::parse(MLIRContext *context, StringRef text,
                         EmitErrorFn emitError) const {
  ScheduleText numbers = *parseText(text);
  for (auto [name, number] : {std::pair("persistent", numbers.persistent),
                              std::pair("exchanged", numbers.exchanged),
                              std::pair("pair", numbers.pair)})
    if (number > 1)
      return emitError() << "expected " << name << " to be 0 or 1, got "
                         << number;
  bool isPersistent = numbers.persistent, isExchanged = numbers.exchanged;
  ClusterSize cluster = {numbers.cluster[0], numbers.cluster[1]};
  if (failed(RingScheduleAttr::verify(
          emitError, numbers.tile, numbers.stages, numbers.accumulators,
          isPersistent, numbers.group, isExchanged, numbers.splits, cluster,
          numbers.pair, numbers.instructionK)))
    return failure();
  return ScheduleInterface(RingScheduleAttr::get(
      context, numbers.tile, numbers.stages, numbers.accumulators, isPersistent,
      numbers.group, isExchanged, numbers.splits, cluster, numbers.pair,
      numbers.instructionK));
}

std::string RingScheduleRules::print(ScheduleInterface given) const {
  auto schedule = cast<RingScheduleAttr>(given);
  std::string text = llvm::formatv(
      "tile={0}x{1}x{2},stages={3},accumulators={4},"
      "persistent={5}",
      schedule.getM(), schedule.getN(), schedule.getK(), schedule.getStages(),
      schedule.getAccumulators(), int(schedule.getPersistent()));
  const ScheduleText leftOut;
  for (auto [name, number, usual] :
       {std::tuple("group", schedule.getGroup(), leftOut.group),
        std::tuple("exchanged", int64_t(schedule.getExchanged()),
                   leftOut.exchanged),
        std::tuple("splits", schedule.getSplits(), leftOut.splits)})
    if (number != usual)
      text += llvm::formatv(",{0}={1}", name, number);
  if (ClusterSize cluster = schedule.getCluster(); cluster != ClusterSize())
    text += llvm::formatv(",cluster={0}x{1}", cluster.m, cluster.n);
  for (auto [name, number] : {std::pair("pair", int64_t(schedule.getPair())),
                              std::pair("k", schedule.getInstructionK())})
    if (number != 0)
      text += llvm::formatv(",{0}={1}", name, number);
  return text;
}

LogicalResult RingScheduleRules::verifyStages(ProductOpInterface op,
                                              InstructionAttr attr,
                                              RingScheduleAttr schedule,
                                              const Chip &chip,
                                              EmitErrorFn emitError) {
  const Instruction &instruction = attr.getInstruction();
  int64_t elements = getElementsOfLine(instruction);
  if (schedule.getK() != elements)
    return emitError() << "expected K of the tile to be " << elements << " for "
                       << attr << ", got " << schedule;
  if (schedule.getN() == 1)
    return emitError() << "expected N of the tile to be 1 only for exchanged "
                          "operands on the path wgmma, got "
                       << schedule;
  RingPlan plan = getRingPlan(op.getRow(), instruction, schedule);
  if (plan.getSharedBytes() > getMostStageBytes(chip))
    return emitError() << "expected a schedule that needs at most "
                       << getMostStageBytes(chip)
                       << " bytes of shared memory on " << StringRef(chip.name)
                       << ", got " << schedule << ", which needs "
                       << plan.getSharedBytes();
  return verifyParts(op, {schedule.getSplits(), schedule.getK()}, schedule,
                     emitError);
}
