//===- Tcgen05Schedules.cpp - Schedules of the path tcgen05 ---------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form, the choice and the limits of RingScheduleAttr.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Tcgen05/Tcgen05Backend.h"

#include "Kernels/ScheduleText.h"
#include "Kernels/Tcgen05/RingPlan.h"
#include "blockscale/Support/TensorMemory.h"

using namespace mlir;
using namespace mlir::blockscale;

using Side = MmaScaledOp::Side;

/// What barriers and the address of tensor memory take at most.
static constexpr int64_t kBarrierBytes = 1024;

static int64_t getMostSharedBytes(const Chip &chip) {
  return int64_t(1024) * chip.sharedMemoryKiB - kBarrierBytes;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
struct ScheduleText {
  SmallVector<int64_t, 3> tile = {0, 0, 0};
  int64_t stages, accumulators, persistent;
};
} // namespace

static std::optional<ScheduleText> parseText(StringRef text) {
  ScheduleText schedule;
  if (!takeNumbers(text, "tile", schedule.tile) ||
      !takeNumbers(text, "stages", schedule.stages) ||
      !takeNumbers(text, "accumulators", schedule.accumulators) ||
      !takeNumbers(text, "persistent", schedule.persistent) || !text.empty())
    return std::nullopt;
  return schedule;
}

namespace {
class Tcgen05ScheduleRules final : public ScheduleRules {
public:
  StringRef getForm() const override {
    return "tile=MxNxK,stages=S,accumulators=A,persistent=P";
  }

  bool hasForm(StringRef text) const override {
    return parseText(text).has_value();
  }

  FailureOr<ScheduleInterface> parse(MLIRContext *context, StringRef text,
                                     EmitErrorFn emitError) const override {
    ScheduleText numbers = *parseText(text);
    if (numbers.persistent > 1)
      return emitError() << "expected persistent to be 0 or 1, got "
                         << numbers.persistent;
    bool isPersistent = numbers.persistent == 1;
    if (failed(RingScheduleAttr::verify(emitError, numbers.tile, numbers.stages,
                                        numbers.accumulators, isPersistent)))
      return failure();
    return ScheduleInterface(
        RingScheduleAttr::get(context, numbers.tile, numbers.stages,
                              numbers.accumulators, isPersistent));
  }

  ScheduleInterface choose(MmaScaledOp op, InstructionAttr instruction,
                           const Chip &chip) const override;
  LogicalResult verify(MmaScaledOp op, InstructionAttr instruction,
                       ScheduleInterface schedule, const Chip &chip,
                       EmitErrorFn emitError) const override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// The elements that fill a line of a stage.
static int64_t getElementsOfLine(const Instruction &instruction) {
  constexpr int64_t kStepBytes = 32;
  return kLineBytes / kStepBytes * instruction.k;
}

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
  if (plan.getSharedBytes() > getMostSharedBytes(chip))
    return emitError() << "expected a schedule that needs at most "
                       << getMostSharedBytes(chip)
                       << " bytes of shared memory on " << StringRef(chip.name)
                       << ", got " << given << ", which needs "
                       << plan.getSharedBytes();
  // Scales of B come in atoms of 128 rows; in the middle of one, only the half
  // is where an instruction may start.
  constexpr int64_t kUnit = 64;
  int64_t n = cast<ShapedType>(op.getType()).getShape().back();
  bool isOneTile = !ShapedType::isDynamic(n) && n <= schedule.getN();
  if (!isOneTile && schedule.getN() % kUnit != 0)
    return emitError() << "expected N of the tile to be a multiple of " << kUnit
                       << " for a result of more columns, got " << given;
  if (!plan.fitsTensorMemory())
    return emitError() << "expected a schedule whose sums and scales fit into "
                       << kTensorColumns << " columns of tensor memory, got "
                       << given;
  return success();
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// As wide as the sums allow, since a wide tile reads less for each product,
/// then as many stages as there is room for.
ScheduleInterface Tcgen05ScheduleRules::choose(MmaScaledOp op,
                                               InstructionAttr attr,
                                               const Chip &chip) const {
  const Instruction &instruction = attr.getInstruction();
  constexpr int64_t kUnit = 64, kLargest = 256;
  int64_t n = cast<ShapedType>(op.getType()).getShape().back();
  if (ShapedType::isDynamic(n))
    n = kLargest;
  // A single tile may have any N that is a multiple of 16; several are
  // multiples of what scale columns allow.
  constexpr int64_t kStep = 16;
  int64_t tileN =
      n <= kLargest ? llvm::alignTo(n, n <= kUnit ? kStep : kUnit) : kLargest;
  SmallVector<int64_t> tile = {kTensorLanes, tileN,
                               getElementsOfLine(instruction)};
  auto make = [&](int64_t stages, int64_t accumulators) {
    return RingScheduleAttr::get(op.getContext(), tile, stages, accumulators,
                                 /*persistent=*/true);
  };
  constexpr int64_t kMostStages = 8;
  for (int64_t accumulators : {2, 1})
    for (int64_t stages = kMostStages; stages > 1; --stages) {
      RingScheduleAttr schedule = make(stages, accumulators);
      RingPlan plan(instruction, schedule);
      if (plan.getSharedBytes() <= getMostSharedBytes(chip) &&
          plan.fitsTensorMemory())
        return schedule;
    }
  return make(1, 1);
}

const ScheduleRules &blockscale::getTcgen05ScheduleRules() {
  static const Tcgen05ScheduleRules rules;
  return rules;
}
