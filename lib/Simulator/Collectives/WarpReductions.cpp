//===- WarpReductions.cpp - redux.sync ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// redux.sync: each lane of a mask gets the sum, extremum or bitwise result of
// the values of all of them.
//
// Source: PTX ISA, section 9.7.13.12 "redux.sync".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Extremum.h"
#include "Arithmetic/Lanewise.h"
#include "Collectives/CollectiveInstructions.h"
#include "Ptx/Targets.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// Operands: the destination, the source and the member mask.
struct ReduxForm {
  ReductionRule rule;
  bool isBitwise;
};

/// Reductions that are no extremum.
struct ReductionRow {
  llvm::StringRef name;
  Type type;
  Combine combine;
  bool isBitwise = false;
};
} // namespace

static uint32_t sum(uint32_t a, uint32_t b) { return a + b; }
static uint32_t bitAnd(uint32_t a, uint32_t b) { return a & b; }
static uint32_t bitOr(uint32_t a, uint32_t b) { return a | b; }
static uint32_t bitXor(uint32_t a, uint32_t b) { return a ^ b; }

static constexpr ReductionRow kReductions[] = {
    {"add", Type::U32, sum},
    {"add", Type::S32, sum},
    {"and", Type::B32, bitAnd, /*isBitwise=*/true},
    {"or", Type::B32, bitOr, /*isBitwise=*/true},
    {"xor", Type::B32, bitXor, /*isBitwise=*/true},
};

static void executeRedux(Warp &warp, const Step &step) {
  const auto &form = step.getForm<ReduxForm>();
  Slot mask = step.operands[2];
  if (!requireMembers(warp, mask, "redux.sync"))
    return;
  const Lanes source = warp.reg(step.operands[1]);
  Lanes &to = warp.reg(step.operands[0]);
  forEachGroup(warp, mask, [&](LaneMask members) {
    Reduction reduction(form.rule);
    uint8_t undefined = 0;
    forEachLane(members, [&](unsigned lane) {
      reduction.add(source.value[lane]);
      undefined |= source.getUndefined(lane) & 0xF;
    });
    if (undefined && !form.isBitwise)
      undefined = 0xF;
    forEachLane(members, [&](unsigned lane) {
      to.set(lane, reduction.get(), undefined);
    });
  });
}

void sim::translateRedux(Translator &t, Modifiers &modifiers) {
  if (!takeSync(t, modifiers))
    return;
  std::optional<Type> type = modifiers.takeLastType();
  ReduxForm form = {};
  ReductionRule &rule = form.rule;
  rule.isFloat = type == Type::F32;
  rule.isAbsolute = rule.isFloat && modifiers.take("abs");
  rule.propagatesNaN = rule.isFloat && modifiers.take("NaN");
  for (llvm::StringRef name : {"min", "max"})
    if (Combine combine = type ? findExtremum(name, *type) : nullptr;
        combine && modifiers.take(name)) {
      rule.combine = combine;
      break;
    }
  for (const ReductionRow &row : kReductions)
    if (!rule.combine && type == row.type && modifiers.take(row.name)) {
      rule.combine = row.combine;
      form.isBitwise = row.isBitwise;
    }
  if (!rule.combine)
    return t.fail("expected .add, .min or .max of .u32 or .s32, .min or .max "
                  "of .f32, or .and, .or or .xor of .b32 behind redux.sync");
  llvm::StringRef target = t.program.module.target;
  if (rule.isFloat && !hasFeature(target, Feature::FloatReductions))
    return t.fail("expected a target that has redux.sync of .f32, got " +
                  target);
  Slots slots = takeOperands(t, modifiers, *type, {*type, Type::B32});
  gather(t,
         t.emit(executeRedux, StepClass::Synchronization, slots, t.keep(form)),
         /*predicates=*/0, /*results=*/0b1);
}
