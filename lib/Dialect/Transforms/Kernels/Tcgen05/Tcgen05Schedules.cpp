//===- Tcgen05Schedules.cpp - Schedules of the path tcgen05 ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form and the limits of RingScheduleAttr, and what says why one was
// chosen.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Tcgen05/Tcgen05Backend.h"

#include "Kernels/ScheduleText.h"
#include "Kernels/Tcgen05/RingChoice.h"
#include "Kernels/Tcgen05/RingExplanation.h"
#include "blockscale/Support/TensorMemory.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
struct ScheduleText {
  SmallVector<int64_t, 3> tile = {0, 0, 0};
  int64_t stages, accumulators, persistent;
  // Those that may be left out.
  int64_t group = kTileGroup, exchanged = 0, splits = 1;
};
} // namespace

/// Takes `name=A` off the start of `text` if it is there; false if what is
/// there is something else behind the name.
static bool takeOptional(StringRef &text, StringRef name, int64_t &number) {
  return !text.starts_with(name) || takeNumbers(text, name, number);
}

static std::optional<ScheduleText> parseText(StringRef text) {
  ScheduleText schedule;
  if (!takeNumbers(text, "tile", schedule.tile) ||
      !takeNumbers(text, "stages", schedule.stages) ||
      !takeNumbers(text, "accumulators", schedule.accumulators) ||
      !takeNumbers(text, "persistent", schedule.persistent) ||
      !takeOptional(text, "group", schedule.group) ||
      !takeOptional(text, "exchanged", schedule.exchanged) ||
      !takeOptional(text, "splits", schedule.splits) || !text.empty())
    return std::nullopt;
  return schedule;
}

namespace {
class Tcgen05ScheduleRules final : public ScheduleRules {
public:
  StringRef getForm() const override {
    return "tile=MxNxK,stages=S,accumulators=A,persistent=P[,group=G]"
           "[,exchanged=E][,splits=N]";
  }

  bool hasForm(StringRef text) const override {
    return parseText(text).has_value();
  }

  FailureOr<ScheduleInterface> parse(MLIRContext *context, StringRef text,
                                     EmitErrorFn emitError) const override {
    ScheduleText numbers = *parseText(text);
    for (auto [name, number] : {std::pair("persistent", numbers.persistent),
                                std::pair("exchanged", numbers.exchanged)})
      if (number > 1)
        return emitError() << "expected " << name << " to be 0 or 1, got "
                           << number;
    bool isPersistent = numbers.persistent, isExchanged = numbers.exchanged;
    if (failed(RingScheduleAttr::verify(
            emitError, numbers.tile, numbers.stages, numbers.accumulators,
            isPersistent, numbers.group, isExchanged, numbers.splits)))
      return failure();
    return ScheduleInterface(RingScheduleAttr::get(
        context, numbers.tile, numbers.stages, numbers.accumulators,
        isPersistent, numbers.group, isExchanged, numbers.splits));
  }

  ScheduleInterface choose(MmaScaledOp op, InstructionAttr instruction,
                           const Chip &chip) const override;
  LogicalResult verify(MmaScaledOp op, InstructionAttr instruction,
                       ScheduleInterface schedule, const Chip &chip,
                       EmitErrorFn emitError) const override;
  void explain(MmaScaledOp op, InstructionAttr instruction,
               ScheduleInterface schedule, const Chip &chip, bool hasPictures,
               raw_ostream &os) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

LogicalResult Tcgen05ScheduleRules::verify(MmaScaledOp op, InstructionAttr attr,
                                           ScheduleInterface given,
                                           const Chip &chip,
                                           EmitErrorFn emitError) const {
  auto schedule = cast<RingScheduleAttr>(given);
  const Instruction &instruction = attr.getInstruction();
  int64_t elements = getElementsOfLine(instruction);
  if (schedule.getK() != elements)
    return emitError() << "expected K of the tile to be " << elements << " for "
                       << attr << ", got " << given;
  RingPlan plan(instruction, schedule);
  if (plan.getSharedBytes() > getMostStageBytes(chip))
    return emitError() << "expected a schedule that needs at most "
                       << getMostStageBytes(chip)
                       << " bytes of shared memory on " << StringRef(chip.name)
                       << ", got " << given << ", which needs "
                       << plan.getSharedBytes();
  // N of the instruction are columns of the result, or rows of it.
  bool isExchanged = schedule.getExchanged();
  ArrayRef<int64_t> shape = cast<ShapedType>(op.getType()).getShape();
  int64_t n = shape[shape.size() - (isExchanged ? 2 : 1)];
  bool isOneTile = !ShapedType::isDynamic(n) && n <= schedule.getN();
  if (!isOneTile && schedule.getN() % kTileUnit != 0)
    return emitError() << "expected N of the tile to be a multiple of "
                       << kTileUnit << " for a result of more "
                       << (isExchanged ? "rows" : "columns") << ", got "
                       << given;
  int64_t k = getRingProblem(op).k;
  int64_t steps = llvm::divideCeilSigned(k, schedule.getK());
  if (schedule.getSplits() > steps)
    return emitError() << "expected at most " << steps
                       << " parts of K, one for each stage, got " << given;
  if (!plan.fitsTensorMemory())
    return emitError() << "expected a schedule whose sums and scales fit into "
                       << kTensorColumns << " columns of tensor memory, got "
                       << given;
  return success();
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

static SmallVector<RingCandidate>
getCandidates(MmaScaledOp op, InstructionAttr attr, const Chip &chip) {
  return getRingCandidates(op.getContext(), getRingProblem(op),
                           attr.getInstruction(), chip);
}

ScheduleInterface Tcgen05ScheduleRules::choose(MmaScaledOp op,
                                               InstructionAttr attr,
                                               const Chip &chip) const {
  return chooseRing(getCandidates(op, attr, chip)).schedule;
}

void Tcgen05ScheduleRules::explain(MmaScaledOp op, InstructionAttr attr,
                                   ScheduleInterface given, const Chip &chip,
                                   bool hasPictures, raw_ostream &os) const {
  const Instruction &instruction = attr.getInstruction();
  RingProblem problem = getRingProblem(op);
  RingPlan plan(instruction, cast<RingScheduleAttr>(given));
  RingRates rates = getRingRates(chip, instruction.kind);
  printRingEstimate(os, problem,
                    estimateRing(problem, instruction, plan, rates), rates);
  printRingCandidates(os, getCandidates(op, attr, chip));
  if (!hasPictures)
    return;
  drawStages(os, plan);
  drawTensorMemory(os, plan);
}

const ScheduleRules &blockscale::getTcgen05ScheduleRules() {
  static const Tcgen05ScheduleRules rules;
  return rules;
}
