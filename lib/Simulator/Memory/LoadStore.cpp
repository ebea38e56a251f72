//===- LoadStore.cpp - ld and st ------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalars and vectors of all state spaces; a kernel with accesses by which
// blocks can synchronize runs its blocks one after another.
//
// Source: PTX ISA, sections 9.7.9.8 "ld", 9.7.9.11 "st".
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyInstructions.h"
#include "Machine/BlockGroup.h"
#include "Memory/MemoryOperands.h"
#include "Translation/OpcodeTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <map>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// Operands are the base of the address and then the registers of the elements;
/// an element of 128 bits is two registers.
struct AccessForm {
  AddressSpace space;
  MemoryOrder order;
  int64_t offset;
  /// Bytes of a register's value in memory, and of all values.
  unsigned size, total;
  /// Whether a load sign-extends to the width of its register.
  bool isSigned;
  /// A mask of the bits of each register.
  llvm::ArrayRef<uint64_t> masks;
};
} // namespace

static bool makeAccess(Warp &warp, const Step &step, AccessKind kind,
                       WarpAccess &access) {
  const auto &form = step.getForm<AccessForm>();
  access.size = form.total;
  access.kind = kind;
  access.order = form.order;
  return getAddresses(warp, form.space, step.operands[0], form.offset, access);
}

static void executeLoad(Warp &warp, const Step &step) {
  const auto &form = step.getForm<AccessForm>();
  WarpAccess access;
  if (!makeAccess(warp, step, AccessKind::Load, access))
    return;
  forEachAccess(
      warp, access, [&](unsigned lane, AddressSpace, const Span &span) {
        for (unsigned i = 0; i != form.masks.size(); ++i) {
          uint64_t value;
          uint8_t undefined;
          readBytes(span.at(i * form.size), form.size, value, undefined);
          if (form.isSigned)
            value = llvm::SignExtend64(value, form.size * 8);
          // The sign extension depends on the highest byte.
          if (form.isSigned && (undefined >> (form.size - 1) & 1))
            undefined |= ~llvm::maskTrailingOnes<uint8_t>(form.size);
          Lanes &reg = warp.reg(step.operands[1 + i]);
          reg.set(lane, value & form.masks[i], undefined);
        }
      });
}

/// Lanes that store the same value at the same address as a lower lane: the
/// outcome does not depend on their order.
static LaneMask findRepeated(Warp &warp, const Step &step,
                             const WarpAccess &access) {
  LaneMask repeated = 0;
  std::map<uint64_t, unsigned> first;
  forEachLane(access.lanes, [&](unsigned lane) {
    unsigned other =
        first.try_emplace(access.addresses[lane], lane).first->second;
    bool isSame = llvm::all_of(step.operands.drop_front(), [&](Slot slot) {
      const Lanes &reg = warp.reg(slot);
      return reg.value[lane] == reg.value[other];
    });
    if (other != lane && isSame)
      repeated |= LaneMask(1) << lane;
  });
  return repeated;
}

/// Notes stores of undefined values, for the message of an output that is
/// undefined at the end.
static void noteUndefined(Warp &warp, const Step &step, unsigned lane,
                          Slot slot, uint64_t address, uint64_t size) {
  GlobalMemory::Allocation *allocation =
      warp.block.launch.memory->lookup(address);
  uint64_t offset = allocation ? address - allocation->address : 0;
  if (!allocation || !allocation->wantsUndefinedStore(offset, step.line))
    return;
  allocation->noteUndefinedStore(
      offset,
      {size, step.line,
       "stored in line " + std::to_string(step.line) + " by lane " +
           std::to_string(lane) + " of warp " + std::to_string(warp.index) +
           " of block " + print(warp.block.index) +
           warp.describeOrigin(slot, /*isPredicate=*/false, lane)});
}

/// The values of all lanes, one behind the other.
static void collectStored(Warp &warp, const Step &step,
                          const WarpAccess &access,
                          llvm::SmallVectorImpl<uint8_t> &values) {
  const auto &form = step.getForm<AccessForm>();
  values.resize(kLanes * access.size);
  for (unsigned i = 0; i != form.masks.size(); ++i) {
    const Lanes &reg = warp.reg(step.operands[1 + i]);
    forEachLane(access.lanes, [&](unsigned lane) {
      std::memcpy(values.data() + lane * access.size + i * form.size,
                  &reg.value[lane], form.size);
    });
  }
}

static void executeStore(Warp &warp, const Step &step) {
  const auto &form = step.getForm<AccessForm>();
  WarpAccess access;
  if (!makeAccess(warp, step, AccessKind::Store, access))
    return;
  llvm::SmallVector<uint8_t, 512> stored;
  if (warp.block.group.races) {
    access.repeated = findRepeated(warp, step, access);
    collectStored(warp, step, access, stored);
    access.stored = stored.data();
  }
  bool hasChanged = false;
  forEachAccess(
      warp, access, [&](unsigned lane, AddressSpace space, const Span &span) {
        for (unsigned i = 0; i != form.masks.size(); ++i) {
          const Lanes &reg = warp.reg(step.operands[1 + i]);
          uint8_t undefined = reg.getUndefined(lane) &
                              llvm::maskTrailingOnes<uint8_t>(form.size);
          Span element = span.at(i * form.size);
          if (undefined && space == AddressSpace::Global)
            noteUndefined(warp, step, lane, step.operands[1 + i],
                          access.addresses[lane] + i * form.size, form.size);
          hasChanged |=
              std::memcmp(element.bytes, &reg.value[lane], form.size) != 0;
          writeBytes(element, form.size, reg.value[lane], undefined);
        }
      });
  if (hasChanged)
    warp.act();
}

//===----------------------------------------------------------------------===//
// st.bulk
//===----------------------------------------------------------------------===//

/// Operands are the base of the address and the size.
static void executeBulkStore(Warp &warp, const Step &step) {
  constexpr uint64_t kUnit = 8;
  WarpAccess access;
  access.kind = AccessKind::Store;
  const auto &form = step.getForm<AccessForm>();
  if (!getAddresses(warp, form.space, step.operands[0], form.offset, access) ||
      !warp.requireDefined(step.operands[1], warp.active,
                           "the size of st.bulk"))
    return;
  const Lanes &sizes = warp.reg(step.operands[1]);
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t size = sizes.value[lane];
    if (size % kUnit != 0 || size > kMaxSharedBytes)
      return warp.fail(lane, "expected the size of st.bulk to be a multiple of "
                             "8 up to " +
                                 llvm::Twine(kMaxSharedBytes) + ", got " +
                                 llvm::Twine(size));
    AddressSpace space = form.space;
    Span span;
    if (size == 0 ||
        !warp.resolve(lane, space, access.addresses[lane], size, kUnit,
                      /*isStore=*/true, span))
      return;
    if (space != AddressSpace::Shared)
      return warp.fail(lane, "expected an address in the shared memory of the "
                             "block (.shared::cta) for st.bulk");
    for (uint64_t at = 0; at != size; at += kUnit) {
      Span unit = span.at(at);
      writeBytes(unit, kUnit, 0, 0);
    }
    access.space = space;
    access.lanes = LaneMask(1) << lane;
    access.size = size;
    warp.block.observe(warp, access);
  });
  warp.act();
}

static void translateBulkStore(Translator &t, Modifiers &modifiers) {
  AccessForm form = {};
  modifiers.take("weak");
  form.space = takeSpace(modifiers);
  if (form.space != AddressSpace::Generic && form.space != AddressSpace::Shared)
    return t.fail("expected .shared::cta or no state space behind st.bulk");
  if (!t.finish(modifiers) || !t.expectOperands(3))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  Slot base = t.address(operands[0], form.space, form.offset);
  int64_t value = t.constant(operands[2], "what st.bulk stores");
  if (value != 0)
    return t.fail(operands[2].location,
                  "expected 0 for what st.bulk stores, got " +
                      llvm::Twine(value));
  // A register of 32 or 64 bits, or a constant.
  bool isWord = operands[1].kind == PtxOperand::Kind::Register &&
                getBits(t.function.registers[operands[1].index].type) == 32;
  Slot slots[] = {base, t.source(operands[1], isWord ? Type::U32 : Type::U64)};
  t.emit(executeBulkStore, StepClass::Memory, slots, t.keep(form));
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// The untyped bits of a packed or narrow type; others are themselves.
static Type getContainer(Type type) {
  const TypeInfo &info = getTypeInfo(type);
  if (info.isDeclarable && type != Type::F16x2)
    return type;
  return info.bits == 32   ? Type::B32
         : info.bits == 16 ? Type::B16
         : info.bits == 8  ? Type::B8
                           : type;
}

/// `multimem.ld_reduce` and `.st` on a machine with one device: the result over
/// all devices is its own value.
static bool takeMultimem(Translator &t, Modifiers &modifiers, bool isStore) {
  bool isReduced =
      isStore || modifiers.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  modifiers.takeOneOf({"acc::f32", "acc::f16"});
  if (!isReduced)
    t.fail("expected an operation behind multimem.ld_reduce");
  return isReduced;
}

static void translateAccess(Translator &t, Modifiers &modifiers) {
  bool isMultimem = t.current->opcode == "multimem";
  bool isStore = t.current->opcode == "st";
  if (isMultimem) {
    isStore = modifiers.take("st");
    if (!isStore && !modifiers.take("ld_reduce"))
      return modifiers.take("red")
                 ? translateReduction(t, modifiers)
                 : t.fail("expected .ld_reduce, .st or .red behind multimem");
    if (!takeMultimem(t, modifiers, isStore))
      return;
  }
  if (isStore && modifiers.take("async"))
    return translateAsyncStore(t, modifiers);
  if (isStore && !isMultimem && modifiers.take("bulk"))
    return translateBulkStore(t, modifiers);
  AccessForm form = {};
  form.space = takeSpace(modifiers);
  if (isMultimem && form.space != AddressSpace::Global &&
      form.space != AddressSpace::Generic)
    return t.fail("expected .global or no state space behind multimem");
  // multimem means that others may access the same memory.
  if (isMultimem)
    t.code.facilities |= UsesGlobalSynchronization;
  bool hasCachePolicy;
  form.order = takeHints(modifiers, hasCachePolicy);
  if (form.order != MemoryOrder::Weak && (form.space == AddressSpace::Global ||
                                          form.space == AddressSpace::Generic))
    t.code.facilities |= UsesGlobalSynchronization;
  unsigned count = 1;
  if (std::optional<unsigned> vector = modifiers.takeOneOf({"v2", "v4", "v8"}))
    count = 2u << *vector;
  std::optional<Type> type = modifiers.takeType();
  if (type && isMultimem)
    type = getContainer(*type);
  if (!type || !getTypeInfo(*type).isDeclarable || *type == Type::Pred)
    return t.fail("expected a type of 8 to 128 bits behind " +
                  llvm::Twine(t.current->opcode));
  if (!t.finish(modifiers) || !t.expectOperands(hasCachePolicy ? 3 : 2))
    return;
  unsigned bytes = getBytes(*type);
  form.total = bytes * count;
  if (form.total > 32)
    return t.fail("expected at most 32 bytes of an access, got " +
                  llvm::Twine(form.total));
  form.isSigned = getTypeInfo(*type).kind == TypeClass::Signed;
  form.size = std::min(bytes, 8u);

  Slot base =
      t.address(t.current->operands[isStore ? 0 : 1], form.space, form.offset);
  llvm::SmallVector<Slot> slots = {base};
  llvm::SmallVector<uint64_t> masks;
  const PtxOperand &data = t.current->operands[isStore ? 1 : 0];
  llvm::SmallVector<Slot> registers;
  t.registers(/*isWritten=*/!isStore, data, *type, count, registers,
              /*isWide=*/true);
  if (t.hasFailed())
    return;
  for (auto [slot, operand] : llvm::zip_equal(registers, t.elements(data))) {
    for (unsigned half = 0; half != bytes / form.size; ++half) {
      slots.push_back(slot + half);
      masks.push_back(t.getRegisterMask(operand));
    }
  }
  form.masks = t.keepArray(llvm::ArrayRef(masks));
  t.emit(isStore ? executeStore : executeLoad, StepClass::Memory, slots,
         t.keep(form));
}

void sim::addMemoryInstructions(OpcodeTable &table) {
  table["ld"] = table["st"] = table["multimem"] = translateAccess;
  // The uniform load of older versions.
  table["ldu"] = translateAccess;
}
