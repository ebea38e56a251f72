//===- Atomics.cpp - atom and red -----------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes act one after the other, the lowest first. Memory semantics and scopes
// change nothing: an atomic operation is visible to all threads at once.
//
// Source: PTX ISA, sections 9.7.13.6 "atom", 9.7.13.7 "red".
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyInstructions.h"
#include "Memory/ElementOperation.h"
#include "Memory/MemoryOperands.h"
#include "Translation/OpcodeTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

using Kind = ElementOperation::Kind;

static constexpr unsigned kMaxElements = 8;

namespace {
/// Operands are the base of the address, the old elements, the elements, and
/// for cas the new elements; 128 bits are two elements of 64.
struct AtomicForm {
  AddressSpace space;
  MemoryOrder order;
  int64_t offset;
  /// How many elements, and the bytes of one.
  unsigned count, size;
  ElementOperation operation;
};
} // namespace

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Calls `body(lane, space, span)` for each lane, in order.
template <typename Body>
static void forEachAtomic(Warp &warp, const Step &step, Body body) {
  const auto &form = step.getForm<AtomicForm>();
  WarpAccess access;
  if (!getAddresses(warp, form.space, step.operands[0], form.offset, access))
    return;
  access.kind = AccessKind::Atomic;
  access.order = form.order;
  access.size = form.count * form.size;
  forEachAccess(
      warp, access, [&](unsigned lane, AddressSpace space, const Span &span) {
        if (space != AddressSpace::Global && space != AddressSpace::Shared &&
            space != AddressSpace::SharedCluster)
          return warp.fail(lane, "expected an atomic access of "
                                 "global or shared memory");
        std::array<uint8_t, kMaxElements * 8> before;
        std::memcpy(before.data(), span.bytes, access.size);
        body(lane, space, span);
        if (std::memcmp(before.data(), span.bytes, access.size) != 0)
          warp.act();
      });
}

/// The old value of an element goes to its register.
static void loadOld(Warp &warp, const Step &step, unsigned i, unsigned lane,
                    const Span &span) {
  Lanes &old = warp.reg(step.operands[1 + i]);
  uint8_t undefined;
  readBytes(span, step.getForm<AtomicForm>().size, old.value[lane], undefined);
  old.setUndefined(lane, undefined);
}

static void executeAtomic(Warp &warp, const Step &step) {
  const auto &form = step.getForm<AtomicForm>();
  forEachAtomic(
      warp, step, [&](unsigned lane, AddressSpace space, const Span &span) {
        ElementOperation operation = form.operation;
        // f32 sums in global memory flush subnormals.
        operation.isFlushing = operation.kind == Kind::Add &&
                               operation.type == Type::F32 &&
                               space == AddressSpace::Global;
        // The old values may go to the registers of the operand.
        std::array<uint64_t, kMaxElements> values;
        std::array<uint8_t, kMaxElements> undefined;
        for (unsigned i = 0; i != form.count; ++i) {
          const Lanes &operand = warp.reg(step.operands[1 + form.count + i]);
          values[i] = operand.value[lane];
          undefined[i] = operand.getUndefined(lane) &
                         llvm::maskTrailingOnes<uint8_t>(form.size);
        }
        for (unsigned i = 0; i != form.count; ++i) {
          Span element = span.at(i * form.size);
          loadOld(warp, step, i, lane, element);
          operation.apply(element, values[i], undefined[i]);
        }
      });
}

static void executeCompareAndSwap(Warp &warp, const Step &step) {
  const auto &form = step.getForm<AtomicForm>();
  llvm::ArrayRef<Slot> compared = step.operands.drop_front(1 + form.count);
  llvm::ArrayRef<Slot> swapped = compared.drop_front(form.count);
  forEachAtomic(warp, step, [&](unsigned lane, AddressSpace, const Span &span) {
    bool isEqual = true, isUndefined = false;
    uint64_t values[2];
    uint8_t undefined[2];
    uint8_t bytes = llvm::maskTrailingOnes<uint8_t>(form.size);
    uint64_t bits = llvm::maskTrailingOnes<uint64_t>(form.size * 8);
    for (unsigned i = 0; i != form.count; ++i) {
      uint64_t old;
      uint8_t oldUndefined;
      readBytes(span.at(i * form.size), form.size, old, oldUndefined);
      const Lanes &expected = warp.reg(compared[i]);
      isEqual &= old == (expected.value[lane] & bits);
      isUndefined |= oldUndefined || (expected.getUndefined(lane) & bytes);
      values[i] = warp.reg(swapped[i]).value[lane];
      undefined[i] = warp.reg(swapped[i]).getUndefined(lane) & bytes;
    }
    for (unsigned i = 0; i != form.count; ++i) {
      Span element = span.at(i * form.size);
      loadOld(warp, step, i, lane, element);
      // Memory may hold either value.
      if (isEqual || isUndefined)
        writeBytes(element, form.size, values[i],
                   isUndefined ? bytes : undefined[i]);
    }
  });
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

namespace {
struct Operation {
  llvm::StringRef name;
  Kind kind;
  bool isReduction;
};

/// A parsed instruction.
struct AtomicInstruction {
  AtomicForm form = {};
  /// The type of an element; B128 if the form has two halves.
  Type type;
  bool isReduction, isSwap, hasCachePolicy;
};
} // namespace

/// The operations; `red` has those that return no old value.
static constexpr Operation kOperations[] = {
    {"add", Kind::Add, true},        {"min", Kind::Min, true},
    {"max", Kind::Max, true},        {"and", Kind::And, true},
    {"or", Kind::Or, true},          {"xor", Kind::Xor, true},
    {"inc", Kind::Inc, true},        {"dec", Kind::Dec, true},
    {"exch", Kind::Exchange, false}, {"cas", Kind::Exchange, false},
};

/// Whether `count` elements of the type are legal; 128 bits are split.
static bool isTypeLegal(const ElementOperation &operation, unsigned count,
                        bool keepsSubnormals) {
  const TypeInfo &info = getTypeInfo(operation.type);
  if (operation.type == Type::B128)
    return operation.kind == Kind::Exchange && count == 1 && !keepsSubnormals;
  bool isHalf =
      info.kind == TypeClass::Float && info.bits / info.elements == 16;
  if (!operation.isLegal() || keepsSubnormals != isHalf)
    return false;
  if (count == 1)
    return !isHalf || operation.kind == Kind::Add;
  // Vectors: f32 sums of 2 or 4, halves up to 16 bytes.
  bool isFloat = operation.type == Type::F32 && operation.kind == Kind::Add;
  return (isFloat || isHalf) && count * getBytes(operation.type) <= 16;
}

/// Takes out the vector, the operation and the type.
static void takeOperation(Translator &t, Modifiers &modifiers,
                          AtomicInstruction &atomic) {
  AtomicForm &form = atomic.form;
  form.count = 1;
  if (std::optional<unsigned> vector = modifiers.takeOneOf({"v2", "v4", "v8"}))
    form.count = 2u << *vector;
  const Operation *found = llvm::find_if(kOperations, [&](const auto &row) {
    return (row.isReduction || !atomic.isReduction) && modifiers.take(row.name);
  });
  bool keepsSubnormals = modifiers.take("noftz");
  std::optional<Type> type = modifiers.takeLastType();
  // multimem has 16-bit sums that keep subnormals, without a `.noftz`.
  if (t.current->opcode == "multimem" && type && !keepsSubnormals) {
    const TypeInfo &info = getTypeInfo(*type);
    keepsSubnormals =
        info.kind == TypeClass::Float && info.bits / info.elements == 16;
  }
  if (found == std::end(kOperations) || !type)
    return t.fail("expected an operation and a type behind " +
                  llvm::Twine(t.current->opcode));
  atomic.type = *type;
  atomic.isSwap = found->name == "cas";
  form.operation = {found->kind, *type};
  bool isLegal = isTypeLegal(form.operation, form.count, keepsSubnormals) ||
                 (atomic.isSwap && type == Type::B16 && form.count == 1);
  if (!isLegal)
    return t.fail(
        "expected an operation that " + llvm::Twine(t.current->opcode) +
        " has, got ." + found->name + (keepsSubnormals ? ".noftz." : ".") +
        (form.count == 1 ? "" : "v" + std::to_string(form.count) + ".") +
        std::string(getName(*type)));
  bool isHalved = type == Type::B128;
  form.size = isHalved ? 8 : getBytes(*type);
  form.count *= isHalved ? 2 : 1;
  if (isHalved)
    form.operation.type = Type::B64;
}

/// Appends the registers of one operand.
static void addElements(Translator &t, const PtxOperand &operand,
                        const AtomicInstruction &atomic, bool isDestination,
                        llvm::SmallVectorImpl<Slot> &slots) {
  if (atomic.type == Type::B128) {
    Slot slot = t.registerOf(isDestination, operand, atomic.type);
    slots.append({slot, slot + 1});
  } else {
    t.registers(isDestination, operand, atomic.type, atomic.form.count, slots);
  }
}

static void emitAtomic(Translator &t, AtomicInstruction &atomic) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  AtomicForm &form = atomic.form;
  Slot base =
      t.address(operands[atomic.isReduction ? 0 : 1], form.space, form.offset);
  if (form.space != AddressSpace::Shared &&
      form.space != AddressSpace::SharedCluster)
    t.code.facilities |= UsesGlobalSynchronization;
  llvm::SmallVector<Slot, 8> slots = {base};
  if (atomic.isReduction)
    slots.append(form.count, t.newRegister());
  else
    addElements(t, operands[0], atomic, /*isDestination=*/true, slots);
  operands = operands.drop_front(atomic.isReduction ? 1 : 2);
  for (const PtxOperand &operand : operands.drop_back(atomic.hasCachePolicy))
    addElements(t, operand, atomic, /*isDestination=*/false, slots);
  if (atomic.hasCachePolicy)
    t.source(operands.back(), Type::B64);
  t.emit(atomic.isSwap ? executeCompareAndSwap : executeAtomic,
         StepClass::Memory, slots, t.keep(form));
}

static void translateAtomic(Translator &t, Modifiers &modifiers,
                            bool isReduction) {
  AtomicInstruction atomic = {};
  atomic.isReduction = isReduction;
  atomic.form.space = takeSpace(modifiers);
  // Without a qualifier it is relaxed.
  atomic.form.order = std::max(takeHints(modifiers, atomic.hasCachePolicy),
                               MemoryOrder::Relaxed);
  takeOperation(t, modifiers, atomic);
  if (t.hasFailed() || !t.finish(modifiers))
    return;
  bool isVector = atomic.form.count > 1 && atomic.type != Type::B128;
  if (isVector && (atomic.form.space == AddressSpace::Shared ||
                   atomic.form.space == AddressSpace::SharedCluster))
    return t.fail("expected .global or no state space behind a vector " +
                  llvm::Twine(t.current->opcode));
  if (t.expectOperands(3 - atomic.isReduction + atomic.isSwap +
                       atomic.hasCachePolicy))
    emitAtomic(t, atomic);
}

void sim::translateReduction(Translator &t, Modifiers &modifiers) {
  translateAtomic(t, modifiers, /*isReduction=*/true);
}

void sim::addAtomicInstructions(OpcodeTable &table) {
  table["atom"] = [](Translator &t, Modifiers &modifiers) {
    if (modifiers.take("async"))
      return t.fail("expected red.async, got atom.async");
    translateAtomic(t, modifiers, /*isReduction=*/false);
  };
  table["red"] = [](Translator &t, Modifiers &modifiers) {
    if (modifiers.take("async"))
      return translateAsyncReduction(t, modifiers);
    translateAtomic(t, modifiers, /*isReduction=*/true);
  };
}
