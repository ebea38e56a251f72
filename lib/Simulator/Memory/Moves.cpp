//===- Moves.cpp - mov, cvta, selp and the like ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves, packing and address conversions, which need no arithmetic.
//
// Source: PTX ISA, sections 9.7.9.3 "mov", 9.7.9.5 "prmt" and following,
// 9.7.9.20 "cvta", 9.7.9.18 "isspacep".
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Lanewise.h"
#include "Memory/MemoryOperands.h"
#include "Translation/OpcodeTable.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Copies a lane's value with its undefined bytes.
static void copyLane(const Lanes &from, Lanes &to, unsigned lane) {
  to.set(lane, from.value[lane], from.getUndefined(lane));
}

static void executeMove(Warp &warp, const Step &step) {
  for (size_t i = 0; i != step.operands.size(); i += 2) {
    Lanes &to = warp.reg(step.operands[i]);
    const Lanes &from = warp.reg(step.operands[i + 1]);
    forEachLane(warp.active, [&](unsigned lane) { copyLane(from, to, lane); });
  }
}

static void executePredicateMove(Warp &warp, const Step &step) {
  Predicate &to = warp.pred(step.operands[0]);
  const Predicate &from = warp.pred(step.operands[1]);
  to.value = (to.value & ~warp.active) | (from.value & warp.active);
  to.undefined = (to.undefined & ~warp.active) | (from.undefined & warp.active);
}

//===----------------------------------------------------------------------===//
// Packing and unpacking: mov.b32 %r, {%rs0, %rs1} and back
//===----------------------------------------------------------------------===//

/// Operands: the packed value, then its elements, the lowest first. The form is
/// the number of bytes of an element.
static void executePack(Warp &warp, const Step &step) {
  unsigned size = step.getForm<unsigned>();
  Lanes &whole = warp.reg(step.operands[0]);
  llvm::ArrayRef<Slot> elements = step.operands.drop_front();
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t value = 0;
    uint8_t undefined = 0;
    uint64_t mask = llvm::maskTrailingOnes<uint64_t>(size * 8);
    for (size_t i = 0; i != elements.size(); ++i) {
      const Lanes &element = warp.reg(elements[i]);
      value |= (element.value[lane] & mask) << (i * size * 8);
      undefined |=
          (element.getUndefined(lane) & llvm::maskTrailingOnes<uint8_t>(size))
          << (i * size);
    }
    whole.set(lane, value, undefined);
  });
}

static void executeUnpack(Warp &warp, const Step &step) {
  unsigned size = step.getForm<unsigned>();
  llvm::ArrayRef<Slot> elements = step.operands.drop_front();
  forEachLane(warp.active, [&](unsigned lane) {
    // Read before elements are written, as an element may be the packed
    // register.
    uint64_t value = warp.reg(step.operands[0]).value[lane];
    uint8_t undefined = warp.reg(step.operands[0]).getUndefined(lane);
    for (size_t i = 0; i != elements.size(); ++i) {
      Lanes &element = warp.reg(elements[i]);
      element.set(
          lane,
          value >> (i * size * 8) & llvm::maskTrailingOnes<uint64_t>(size * 8),
          undefined >> (i * size) & llvm::maskTrailingOnes<uint8_t>(size));
    }
  });
}

/// The untyped type of so many bits; nothing if there is none.
static std::optional<Type> getUntyped(unsigned bits) {
  switch (bits) {
  case 8:
    return Type::B8;
  case 16:
    return Type::B16;
  case 32:
    return Type::B32;
  case 64:
    return Type::B64;
  default:
    return std::nullopt;
  }
}

static void translateVectorMove(Translator &t, Type type, bool isPack) {
  const PtxOperand &whole = t.current->operands[isPack ? 0 : 1];
  const PtxOperand &vector = t.current->operands[isPack ? 1 : 0];
  unsigned count = vector.elements.size();
  std::optional<Type> element = getUntyped(getBits(type) / count);
  if (getBits(type) % count != 0 || !element)
    return t.fail(vector.location, "expected 2, 4 or 8 elements of ." +
                                       llvm::Twine(getName(type)) + ", got " +
                                       llvm::Twine(count));
  Slot wholeSlot = t.registerOf(/*isWritten=*/isPack, whole, type);
  llvm::SmallVector<Slot> elements;
  t.registers(/*isWritten=*/!isPack, vector, *element, count, elements);
  if (t.hasFailed())
    return;
  // 128 bits are two halves of 64, each with half of the elements.
  unsigned halves = type == Type::B128 ? 2 : 1;
  for (unsigned half = 0; half != halves; ++half) {
    llvm::SmallVector<Slot> slots = {wholeSlot + half};
    llvm::append_range(slots, llvm::ArrayRef(elements).slice(
                                  half * count / halves, count / halves));
    t.emit(isPack ? executePack : executeUnpack, StepClass::Arithmetic, slots,
           t.keep(getBytes(*element)));
  }
}

static void translateMove(Translator &t, Modifiers &modifiers) {
  std::optional<Type> type = modifiers.takeType();
  if (!type || !getTypeInfo(*type).isDeclarable)
    return t.fail("expected a type behind mov");
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  const PtxOperand &to = t.current->operands[0], &from = t.current->operands[1];
  if (*type == Type::Pred) {
    Slot slots[] = {t.predicateDestination(to),
                    t.predicateSource(from, nullptr)};
    t.emit(executePredicateMove, StepClass::Arithmetic, slots);
    return;
  }
  bool isPack =
      from.kind == PtxOperand::Kind::Vector && from.elements.size() > 1;
  bool isUnpack = to.kind == PtxOperand::Kind::Vector && to.elements.size() > 1;
  if (isPack && isUnpack)
    return t.fail(from.location, "expected at most one vector");
  if (isPack || isUnpack)
    return translateVectorMove(t, *type, isPack);
  llvm::SmallVector<Slot> slots = {t.destination(to, *type),
                                   t.source(from, *type)};
  if (*type == Type::B128)
    slots.append({slots[0] + 1, slots[1] + 1});
  t.emit(executeMove, StepClass::Arithmetic, slots);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

namespace {
struct ConvertAddressForm {
  AddressSpace space;
  bool isToSpace;
};
} // namespace

/// The first generic address of a window; 0 if generic addresses equal those of
/// the space.
static uint64_t getWindow(AddressSpace space) {
  switch (space) {
  case AddressSpace::Shared:
  case AddressSpace::SharedCluster:
    return getRegionBase(kSharedRegion);
  case AddressSpace::Local:
    return getRegionBase(kLocalRegion);
  case AddressSpace::Param:
    return getRegionBase(kParamRegion);
  default:
    return 0;
  }
}

static void executeConvertAddress(Warp &warp, const Step &step) {
  const auto &form = step.getForm<ConvertAddressForm>();
  Lanes &to = warp.reg(step.operands[0]);
  const Lanes &from = warp.reg(step.operands[1]);
  uint64_t window = getWindow(form.space);
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t value = from.value[lane];
    // Addresses of parameters are already generic in this simulator.
    if (form.space != AddressSpace::Param)
      value = form.isToSpace ? value - window : value + window;
    to.set(lane, value, from.isUndefined(lane) ? 0xFF : 0);
  });
}

static void translateConvertAddress(Translator &t, Modifiers &modifiers) {
  ConvertAddressForm form;
  form.isToSpace = modifiers.take("to");
  form.space = takeSpace(modifiers);
  std::optional<Type> type = modifiers.takeType();
  if (type == Type::U32)
    return t.fail("not supported in this version: addresses of 32 bits");
  if (type != Type::U64 || form.space == AddressSpace::Generic)
    return t.fail("expected a state space and .u64 behind cvta");
  t.emit(executeConvertAddress, StepClass::Arithmetic,
         takeOperands(t, modifiers, Type::U64, {Type::U64}), t.keep(form));
}

static void executeIsSpace(Warp &warp, const Step &step) {
  AddressSpace space = step.getForm<AddressSpace>();
  const Lanes &from = warp.reg(step.operands[1]);
  Predicate &to = warp.pred(step.operands[0]);
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t region = getRegion(from.value[lane]);
    bool isInSpace = false;
    if (uint64_t window = getWindow(space)) {
      isInSpace = region == getRegion(window);
      if (space == AddressSpace::Shared)
        isInSpace &= warp.block.findOwner(getRegionOffset(from.value[lane])) ==
                     &warp.block;
    } else {
      GlobalMemory::Allocation *allocation =
          warp.block.launch.memory->lookup(from.value[lane]);
      isInSpace = allocation &&
                  allocation->isConstant == (space == AddressSpace::Const);
    }
    setLane(to, lane, isInSpace, from.isUndefined(lane));
  });
}

static void translateIsSpace(Translator &t, Modifiers &modifiers) {
  AddressSpace space = takeSpace(modifiers);
  if (space == AddressSpace::Generic)
    return t.fail("expected a state space behind isspacep");
  t.emit(executeIsSpace, StepClass::Arithmetic,
         takeOperands(t, modifiers, Type::Pred, {Type::U64}), t.keep(space));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

namespace {
struct SelectForm {
  bool isNegated;
  uint8_t bytes;
};
} // namespace

static void executeSelect(Warp &warp, const Step &step) {
  const auto &form = step.getForm<SelectForm>();
  Lanes &to = warp.reg(step.operands[0]);
  const Lanes &a = warp.reg(step.operands[1]), &b = warp.reg(step.operands[2]);
  const Predicate &condition = warp.pred(step.operands[3]);
  LaneMask chosen = form.isNegated ? ~condition.value : condition.value;
  forEachLane(warp.active, [&](unsigned lane) {
    copyLane(chosen >> lane & 1 ? a : b, to, lane);
    if (condition.undefined >> lane & 1)
      to.setUndefined(lane, llvm::maskTrailingOnes<uint8_t>(form.bytes));
  });
}

static void translateSelect(Translator &t, Modifiers &modifiers) {
  std::optional<Type> type = modifiers.takeType();
  if (!type || !getTypeInfo(*type).isDeclarable || getBits(*type) < 16 ||
      getBits(*type) > 64)
    return t.fail("expected a type of 16 to 64 bits behind selp");
  if (!t.finish(modifiers) || !t.expectOperands(4))
    return;
  SelectForm form = {false, static_cast<uint8_t>(getBytes(*type))};
  Slot slots[] = {t.destination(t.current->operands[0], *type),
                  t.source(t.current->operands[1], *type),
                  t.source(t.current->operands[2], *type),
                  t.predicateSource(t.current->operands[3], &form.isNegated)};
  t.emit(executeSelect, StepClass::Arithmetic, slots, t.keep(form));
}

void sim::addMoveInstructions(OpcodeTable &table) {
  table["mov"] = translateMove;
  table["cvta"] = translateConvertAddress;
  table["isspacep"] = translateIsSpace;
  table["selp"] = translateSelect;
}
