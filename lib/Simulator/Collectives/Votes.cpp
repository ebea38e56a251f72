//===- Votes.cpp - vote, match, activemask, elect -------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions whose results are masks of lanes or one lane: vote, match,
// activemask and elect.
//
// Source: PTX ISA, sections 9.7.13.9 "vote.sync", 9.7.13.10 "match.sync",
// 9.7.13.11 "activemask", 9.7.13.15 "elect.sync".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Lanewise.h"
#include "Collectives/CollectiveInstructions.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// The bytes of a mask of lanes that have a bit of `lanes`.
static uint8_t getBytesOf(LaneMask lanes) { return collapseBits(lanes); }

static void setResult(Lanes &to, unsigned lane, uint64_t value,
                      uint8_t undefined) {
  to.set(lane, value, undefined);
}

//===----------------------------------------------------------------------===//
// vote.sync
//===----------------------------------------------------------------------===//

namespace {
enum class VoteMode : uint8_t { All, Any, Uniform, Ballot };

/// Operands: the destination, the predicate and the member mask.
struct VoteForm {
  VoteMode mode;
  bool isNegated;
};

/// A predicate that may be undefined.
struct Outcome {
  bool value, isUndefined;
};
} // namespace

/// `yes` and `no` are the members whose predicates are known to be true or
/// false. Undefined predicates matter only if the others do not decide the
/// result.
static Outcome decide(VoteMode mode, LaneMask members, LaneMask yes,
                      LaneMask no) {
  bool isUnknown = (yes | no) != members;
  switch (mode) {
  case VoteMode::All:
    return {no == 0, no == 0 && isUnknown};
  case VoteMode::Any:
    return {yes != 0, yes == 0 && isUnknown};
  default:
    break;
  }
  bool isUniform = yes == 0 || no == 0;
  return {isUniform, isUniform && isUnknown};
}

static void executeVote(Warp &warp, const Step &step) {
  const auto &form = step.getForm<VoteForm>();
  Slot mask = step.operands[2];
  if (!requireMembers(warp, mask, "vote.sync"))
    return;
  const Predicate source = warp.pred(step.operands[1]);
  LaneMask value = form.isNegated ? ~source.value : source.value;
  forEachGroup(warp, mask, [&](LaneMask members) {
    LaneMask known = members & ~source.undefined;
    LaneMask yes = value & known, no = ~value & known;
    Outcome outcome = decide(form.mode, members, yes, no);
    forEachLane(members, [&](unsigned lane) {
      if (form.mode == VoteMode::Ballot)
        setResult(warp.reg(step.operands[0]), lane, yes,
                  getBytesOf(members & source.undefined));
      else
        setLane(warp.pred(step.operands[0]), lane, outcome.value,
                outcome.isUndefined);
    });
  });
}

void sim::translateVote(Translator &t, Modifiers &modifiers) {
  if (!takeSync(t, modifiers))
    return;
  std::optional<unsigned> mode =
      modifiers.takeOneOf({"all", "any", "uni", "ballot"});
  bool isBallot = mode == 3u;
  if (!mode || !modifiers.take(isBallot ? "b32" : "pred"))
    return t.fail("expected .all.pred, .any.pred, .uni.pred or .ballot.b32 "
                  "behind vote.sync");
  if (!t.finish(modifiers) || !t.expectOperands(3))
    return;
  VoteForm form = {static_cast<VoteMode>(*mode), false};
  const PtxOperand &to = t.current->operands[0];
  Slot slots[] = {isBallot ? t.destination(to, Type::B32)
                           : t.predicateDestination(to),
                  t.predicateSource(t.current->operands[1], &form.isNegated),
                  t.source(t.current->operands[2], Type::B32)};
  gather(
      t, t.emit(executeVote, StepClass::Synchronization, slots, t.keep(form)),
      /*predicates=*/isBallot ? 0b10 : 0b11, /*results=*/0b1, form.isNegated);
}

//===----------------------------------------------------------------------===//
// match.sync
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the destination, the predicate (kNoSlot where there is none), the
/// source and the member mask.
struct MatchForm {
  bool isAll;
  uint8_t bytes;
};
} // namespace

static void executeMatch(Warp &warp, const Step &step) {
  const auto &form = step.getForm<MatchForm>();
  Slot mask = step.operands[3];
  if (!requireMembers(warp, mask, "match.sync"))
    return;
  const Lanes source = warp.reg(step.operands[2]);
  Lanes &to = warp.reg(step.operands[0]);
  forEachGroup(warp, mask, [&](LaneMask members) {
    LaneMask unknown = 0;
    forEachLane(members, [&](unsigned lane) {
      if (source.getUndefined(lane) & form.bytes)
        unknown |= LaneMask(1) << lane;
    });
    forEachLane(members, [&](unsigned lane) {
      LaneMask same = 0;
      forEachLane(members, [&](unsigned other) {
        if (source.value[other] == source.value[lane])
          same |= LaneMask(1) << other;
      });
      bool isUnknown = unknown >> lane & 1;
      if (!form.isAll)
        return setResult(to, lane, same,
                         getBytesOf(isUnknown ? members : unknown));
      bool areAll = same == members;
      setResult(to, lane, areAll ? members : 0,
                unknown ? getBytesOf(members) : 0);
      setLane(warp.pred(step.operands[1]), lane, areAll, unknown != 0);
    });
  });
}

void sim::translateMatch(Translator &t, Modifiers &modifiers) {
  if (!takeSync(t, modifiers))
    return;
  std::optional<unsigned> mode = modifiers.takeOneOf({"any", "all"});
  std::optional<Type> type = modifiers.takeType();
  if (!mode || (type != Type::B32 && type != Type::B64))
    return t.fail("expected .any or .all, and .b32 or .b64 behind match.sync");
  if (!t.finish(modifiers) || !t.expectOperands(3))
    return;
  MatchForm form = {mode == 1u,
                    static_cast<uint8_t>(type == Type::B64 ? 0xFF : 0xF)};
  const PtxOperand *to = &t.current->operands[0];
  PtxOperand unread;
  const PtxOperand *predicate = &unread;
  if (to->kind == PtxOperand::Kind::Pair && form.isAll) {
    predicate = &to->elements[1];
    to = &to->elements[0];
  }
  Slot slots[] = {t.destination(*to, Type::B32),
                  t.predicateDestination(*predicate),
                  t.source(t.current->operands[1], *type),
                  t.source(t.current->operands[2], Type::B32)};
  gather(t,
         t.emit(executeMatch, StepClass::Synchronization, slots, t.keep(form)),
         /*predicates=*/0b10, /*results=*/0b11);
}

//===----------------------------------------------------------------------===//
// activemask and elect.sync
//===----------------------------------------------------------------------===//

static void executeActiveMask(Warp &warp, const Step &step) {
  Lanes &to = warp.reg(step.operands[0]);
  forEachLane(warp.active,
              [&](unsigned lane) { setResult(to, lane, warp.active, 0); });
}

void sim::translateActiveMask(Translator &t, Modifiers &modifiers) {
  if (!modifiers.take("b32"))
    return t.fail("expected .b32 behind activemask");
  t.emit(executeActiveMask, StepClass::Synchronization,
         takeOperands(t, modifiers, Type::B32, {}));
}

/// Operands: the destination, the predicate and the member mask.
static void executeElect(Warp &warp, const Step &step) {
  Slot mask = step.operands[2];
  if (!requireMembers(warp, mask, "elect.sync"))
    return;
  Lanes &to = warp.reg(step.operands[0]);
  forEachGroup(warp, mask, [&](LaneMask members) {
    unsigned leader = __builtin_ctz(members);
    forEachLane(members, [&](unsigned lane) {
      setLane(warp.pred(step.operands[1]), lane, lane == leader, false);
      setResult(to, lane, leader, 0);
    });
  });
}

void sim::translateElect(Translator &t, Modifiers &modifiers) {
  if (!takeSync(t, modifiers) || !t.finish(modifiers) || !t.expectOperands(2))
    return;
  const PtxOperand &to = t.current->operands[0];
  if (to.kind != PtxOperand::Kind::Pair)
    return t.fail(to.location, "expected a register and a predicate, d|p");
  Slot slots[] = {t.destination(to.elements[0], Type::B32),
                  t.predicateDestination(to.elements[1]),
                  t.source(t.current->operands[1], Type::B32)};
  t.emit(executeElect, StepClass::Synchronization, slots);
}
