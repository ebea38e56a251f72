//===- WarpReductions.cpp - redux.sync ------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a mask get the sum, extremum or bits of the values of all of
// them.
//
// Source: PTX ISA, section 9.7.13.12 "redux.sync".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Lanewise.h"
#include "Collectives/CollectiveInstructions.h"
#include "Collectives/Members.h"
#include "Ptx/Targets.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
using Combine = uint32_t (*)(uint32_t a, uint32_t b);

/// Operands: the destination, the source and the member mask.
struct ReduxForm {
  Combine combine;
  bool isBitwise, isAbsolute, propagatesNaN;
  /// Floats that are no numbers are left out, or are the result.
  bool isFloat;
};

struct Reduction {
  llvm::StringRef name;
  Type type;
  Combine combine;
  bool isBitwise = false;
};
} // namespace

static constexpr uint32_t kCanonicalNaN = 0x7FFFFFFF;

static bool isNaN(uint32_t bits) {
  return std::isnan(llvm::bit_cast<float>(bits));
}

/// -0 is below +0.
static bool isFloatLess(uint32_t a, uint32_t b) {
  float x = llvm::bit_cast<float>(a), y = llvm::bit_cast<float>(b);
  return x < y || (x == y && std::signbit(x) && !std::signbit(y));
}

template <typename T>
static uint32_t least(uint32_t a, uint32_t b) {
  return std::min(static_cast<T>(a), static_cast<T>(b));
}
template <typename T>
static uint32_t most(uint32_t a, uint32_t b) {
  return std::max(static_cast<T>(a), static_cast<T>(b));
}
static uint32_t sum(uint32_t a, uint32_t b) { return a + b; }
static uint32_t bitAnd(uint32_t a, uint32_t b) { return a & b; }
static uint32_t bitOr(uint32_t a, uint32_t b) { return a | b; }
static uint32_t bitXor(uint32_t a, uint32_t b) { return a ^ b; }
static uint32_t leastFloat(uint32_t a, uint32_t b) {
  return isFloatLess(b, a) ? b : a;
}
static uint32_t mostFloat(uint32_t a, uint32_t b) {
  return isFloatLess(a, b) ? b : a;
}

static constexpr Reduction kReductions[] = {
    {"add", Type::U32, sum},
    {"add", Type::S32, sum},
    {"min", Type::U32, least<uint32_t>},
    {"min", Type::S32, least<int32_t>},
    {"min", Type::F32, leastFloat},
    {"max", Type::U32, most<uint32_t>},
    {"max", Type::S32, most<int32_t>},
    {"max", Type::F32, mostFloat},
    {"and", Type::B32, bitAnd, /*isBitwise=*/true},
    {"or", Type::B32, bitOr, /*isBitwise=*/true},
    {"xor", Type::B32, bitXor, /*isBitwise=*/true},
};

/// What a group of lanes comes to.
static uint32_t reduce(const ReduxForm &form, const Lanes &source,
                       LaneMask members) {
  std::optional<uint32_t> result;
  bool hasNaN = false;
  forEachLane(members, [&](unsigned lane) {
    uint32_t value = source.value[lane];
    if (form.isAbsolute)
      value &= 0x7FFFFFFF;
    if (form.isFloat && isNaN(value)) {
      hasNaN = true;
      return;
    }
    result = result ? form.combine(*result, value) : value;
  });
  bool isNumber = result && !(hasNaN && form.propagatesNaN);
  return isNumber ? *result : kCanonicalNaN;
}

static void executeRedux(Warp &warp, const Step &step) {
  const auto &form = step.getForm<ReduxForm>();
  Slot mask = step.operands[2];
  if (!requireMembers(warp, mask, "redux.sync"))
    return;
  const Lanes source = warp.reg(step.operands[1]);
  Lanes &to = warp.reg(step.operands[0]);
  forEachGroup(warp, mask, [&](LaneMask members) {
    uint32_t result = reduce(form, source, members);
    uint8_t undefined = 0;
    forEachLane(members, [&](unsigned lane) {
      undefined |= source.getUndefined(lane) & 0xF;
    });
    if (undefined && !form.isBitwise)
      undefined = 0xF;
    forEachLane(members, [&](unsigned lane) {
      to.value[lane] = result;
      to.setUndefined(lane, undefined);
    });
  });
}

void sim::translateRedux(Translator &t, const PtxInstruction &instruction) {
  Modifiers modifiers(instruction);
  if (!takeSync(t, modifiers))
    return;
  std::optional<Type> type = modifiers.takeLastType();
  ReduxForm form = {};
  form.isFloat = type == Type::F32;
  form.isAbsolute = form.isFloat && modifiers.take("abs");
  form.propagatesNaN = form.isFloat && modifiers.take("NaN");
  for (const Reduction &row : kReductions)
    if (type == row.type && modifiers.take(row.name)) {
      form.combine = row.combine;
      form.isBitwise = row.isBitwise;
      break;
    }
  if (!form.combine)
    return t.fail("expected .add, .min or .max of .u32 or .s32, .min or .max "
                  "of .f32, or .and, .or or .xor of .b32 behind redux.sync");
  llvm::StringRef target = t.program.module.target;
  if (form.isFloat && !hasFeature(target, Feature::FloatReductions))
    return t.fail("expected a target that has redux.sync of .f32, got " +
                  target);
  if (!t.finish(modifiers) || !t.expectOperands(3))
    return;
  Slot slots[] = {t.destination(instruction.operands[0], *type),
                  t.source(instruction.operands[1], *type),
                  t.source(instruction.operands[2], Type::B32)};
  if (!t.hasFailed())
    gather(
        t,
        t.emit(executeRedux, StepClass::Synchronization, slots, t.keep(form)),
        /*predicates=*/0, /*results=*/0b1);
}
