//===- Shuffles.cpp - shfl.sync -------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The four modes differ in the source lane and in which source lanes are out of
// range.
//
// Source: PTX ISA, section 9.7.9.6 "shfl.sync".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Lanewise.h"
#include "Collectives/CollectiveInstructions.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
enum class Mode : uint8_t { Up, Down, Butterfly, Index };

/// Where a lane takes its value from.
struct SourceLane {
  unsigned lane;
  bool isInRange;
};
} // namespace

static SourceLane getSourceLane(Mode mode, int lane, uint64_t b, uint64_t c) {
  int offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  int least = lane & segment;
  int most = least | (clamp & ~segment);
  int from = mode == Mode::Up          ? lane - offset
             : mode == Mode::Down      ? lane + offset
             : mode == Mode::Butterfly ? lane ^ offset
                                       : least | (offset & ~segment);
  bool isInRange = mode == Mode::Up ? from >= most : from <= most;
  return {static_cast<unsigned>(isInRange ? from : lane), isInRange};
}

/// Operands: the destination, the predicate, the source, the lane or offset,
/// the clamp and the member mask. The form is the mode.
static void executeShuffle(Warp &warp, const Step &step) {
  Slot mask = step.operands[5];
  if (!requireMembers(warp, mask, "shfl.sync"))
    return;
  // Copies, since the destination may be any of the sources.
  const Lanes source = warp.reg(step.operands[2]);
  const Lanes offsets = warp.reg(step.operands[3]);
  const Lanes clamps = warp.reg(step.operands[4]);
  Lanes &to = warp.reg(step.operands[0]);
  Predicate &isInRange = warp.pred(step.operands[1]);
  forEachGroup(warp, mask, [&](LaneMask members) {
    forEachLane(members, [&](unsigned lane) {
      SourceLane from = getSourceLane(step.getForm<Mode>(), lane,
                                      offsets.value[lane], clamps.value[lane]);
      // The lowest byte of the offset counts, and two bytes of the clamp.
      bool isUndefined =
          (offsets.getUndefined(lane) & 1) || (clamps.getUndefined(lane) & 3);
      // A lane that is not a member gives an unpredictable value.
      bool isMember = members >> from.lane & 1;
      to.set(lane, source.value[from.lane],
             isUndefined || !isMember ? 0xF : source.getUndefined(from.lane));
      setLane(isInRange, lane, from.isInRange, isUndefined);
    });
  });
}

void sim::translateShuffle(Translator &t, Modifiers &modifiers) {
  if (!takeSync(t, modifiers))
    return;
  std::optional<unsigned> mode =
      modifiers.takeOneOf({"up", "down", "bfly", "idx"});
  if (!mode || !modifiers.take("b32"))
    return t.fail("expected .up, .down, .bfly or .idx, and .b32 behind "
                  "shfl.sync");
  if (!t.finish(modifiers) || !t.expectOperands(5))
    return;
  const PtxOperand *to = &t.current->operands[0];
  PtxOperand unread;
  const PtxOperand *predicate = &unread;
  if (to->kind == PtxOperand::Kind::Pair) {
    predicate = &to->elements[1];
    to = &to->elements[0];
  }
  Slot slots[] = {t.destination(*to, Type::B32),
                  t.predicateDestination(*predicate),
                  t.source(t.current->operands[1], Type::B32),
                  t.source(t.current->operands[2], Type::B32),
                  t.source(t.current->operands[3], Type::B32),
                  t.source(t.current->operands[4], Type::B32)};
  gather(t,
         t.emit(executeShuffle, StepClass::Synchronization, slots,
                t.keep(static_cast<Mode>(*mode))),
         /*predicates=*/0b10, /*results=*/0b11);
}
