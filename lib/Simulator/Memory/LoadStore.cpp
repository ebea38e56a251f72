//===- LoadStore.cpp - ld and st ------------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalars and vectors of all state spaces; accesses that other blocks may see
// make their kernel run its blocks one after another.
//
// Source: PTX ISA, sections 9.7.9.8 "ld", 9.7.9.11 "st".
//
//===----------------------------------------------------------------------===//

#include "Copies/AsyncStores.h"
#include "Machine/BlockGroup.h"
#include "Memory/MemoryOperands.h"
#include "Translation/OpcodeTable.h"

#include "llvm/ADT/STLExtras.h"
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
  int64_t offset;
  /// Bytes in memory of a register's value, and of all of them.
  unsigned size, total;
  /// What a load extends to the width of its register.
  bool isSigned;
  /// The bits that each register has.
  llvm::ArrayRef<uint64_t> masks;
};
} // namespace

static bool makeAccess(Warp &warp, const Step &step, AccessKind kind,
                       WarpAccess &access) {
  const auto &form = step.getForm<AccessForm>();
  access.size = form.total;
  access.kind = kind;
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
          // What a register has above is made of the highest byte.
          if (form.isSigned && (undefined >> (form.size - 1) & 1))
            undefined |= ~llvm::maskTrailingOnes<uint8_t>(form.size);
          Lanes &reg = warp.reg(step.operands[1 + i]);
          reg.value[lane] = value & form.masks[i];
          reg.setUndefined(lane, undefined);
        }
      });
}

/// Lanes that store the same at the same address as one below them: whoever is
/// the last, the outcome is one.
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

static void executeStore(Warp &warp, const Step &step) {
  const auto &form = step.getForm<AccessForm>();
  WarpAccess access;
  if (!makeAccess(warp, step, AccessKind::Store, access))
    return;
  if (warp.block.group.races)
    access.repeated = findRepeated(warp, step, access);
  bool hasChanged = false;
  forEachAccess(
      warp, access, [&](unsigned lane, AddressSpace, const Span &span) {
        for (unsigned i = 0; i != form.masks.size(); ++i) {
          const Lanes &reg = warp.reg(step.operands[1 + i]);
          uint8_t undefined = reg.getUndefined(lane) &
                              llvm::maskTrailingOnes<uint8_t>(form.size);
          Span element = span.at(i * form.size);
          hasChanged |=
              std::memcmp(element.bytes, &reg.value[lane], form.size) != 0;
          writeBytes(element, form.size, reg.value[lane], undefined);
        }
      });
  if (hasChanged)
    warp.act();
}

static void translateAccess(Translator &t, const PtxInstruction &instruction,
                            bool isStore) {
  Modifiers modifiers(instruction);
  if (isStore && modifiers.take("async"))
    return translateAsyncStore(t, modifiers);
  AccessForm form = {};
  form.space = takeSpace(modifiers);
  bool hasCachePolicy;
  if (takeHints(modifiers, hasCachePolicy) &&
      (form.space == AddressSpace::Global ||
       form.space == AddressSpace::Generic))
    t.code.facilities |= UsesGlobalSynchronization;
  static constexpr llvm::StringRef vectors[] = {"v2", "v4", "v8"};
  unsigned count = 1;
  if (std::optional<unsigned> vector = modifiers.takeOneOf(vectors))
    count = 2u << *vector;
  std::optional<Type> type = modifiers.takeType();
  if (!type || !getTypeInfo(*type).isDeclarable || *type == Type::Pred)
    return t.fail("expected a type of 8 to 128 bits behind " +
                  llvm::Twine(instruction.opcode));
  if (!t.finish(modifiers) || !t.expectOperands(hasCachePolicy ? 3 : 2))
    return;
  unsigned bytes = getBytes(*type);
  form.total = bytes * count;
  if (form.total > 32)
    return t.fail("expected at most 32 bytes of an access, got " +
                  llvm::Twine(form.total));
  form.isSigned = getTypeInfo(*type).kind == TypeClass::Signed;
  form.size = std::min(bytes, 8u);

  std::optional<Translator::Address> address =
      t.address(instruction.operands[isStore ? 0 : 1], form.space);
  if (!address)
    return;
  form.space = address->space;
  form.offset = address->offset;
  llvm::SmallVector<Slot> slots = {address->base};
  llvm::SmallVector<uint64_t> masks;
  const PtxOperand &data = instruction.operands[isStore ? 1 : 0];
  llvm::SmallVector<Slot> registers;
  if (isStore)
    t.sources(data, *type, count, registers, /*isWide=*/true);
  else
    t.destinations(data, *type, count, registers, /*isWide=*/true);
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
  table["ld"] = [](Translator &t, const PtxInstruction &instruction) {
    translateAccess(t, instruction, /*isStore=*/false);
  };
  // Read-only and uniform loads of older versions.
  table["ldu"] = table["ld"];
  table["st"] = [](Translator &t, const PtxInstruction &instruction) {
    translateAccess(t, instruction, /*isStore=*/true);
  };
}
