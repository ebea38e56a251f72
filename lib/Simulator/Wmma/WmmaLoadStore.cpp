//===- WmmaLoadStore.cpp - wmma.load and wmma.store -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads and stores fragments element by element, with one access of the warp
// for each slot.
//
//===----------------------------------------------------------------------===//

#include "Memory/MemoryOperands.h"
#include "Wmma/WmmaFragment.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// Operands of the step: the base, the stride, and the fragment.
struct FragmentAccess {
  WmmaFragment fragment;
  bool isRowMajor;
  AddressSpace space;
  int64_t offset;
  bool isStore;
};
} // namespace

/// Adds the offsets of a slot to the addresses of the first element.
static void addElements(const FragmentAccess &form, unsigned slot,
                        uint64_t stride, WarpAccess &access) {
  const WmmaFragment &fragment = form.fragment;
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    unsigned element = fragment.getElement(lane, slot);
    uint64_t row = element / fragment.columns,
             column = element % fragment.columns;
    uint64_t index =
        form.isRowMajor ? row * stride + column : column * stride + row;
    access.addresses[lane] += index * access.size;
  }
}

/// Each row or column has to begin at a multiple of the fragment's size (PTX
/// ISA, "Matrix Storage"), or of 16 bytes, as in CUDA, if the size is larger.
static bool checkAlignment(Warp &warp, const FragmentAccess &form,
                           uint64_t address, uint64_t stride) {
  uint64_t alignment = std::min(16u, form.fragment.numRegisters * 4);
  address += form.offset;
  uint64_t bytes = stride * (form.fragment.bits / 8);
  if (address % alignment == 0 && bytes % alignment == 0)
    return true;
  return warp.error(0, "wmma expected rows or columns at multiples of " +
                           llvm::Twine(alignment) + " bytes, got the address " +
                           printHex(address) + " and a stride of " +
                           llvm::Twine(bytes) + " bytes");
}

static void executeAccess(Warp &warp, const Step &step) {
  const auto &form = step.getForm<FragmentAccess>();
  const WmmaFragment &fragment = form.fragment;
  if (!warp.requireWholeWarp(form.isStore ? "wmma.store" : "wmma.load"))
    return;
  std::optional<uint64_t> address =
      warp.getUniform(step.operands[0], "the address of wmma");
  if (!address)
    return;
  std::optional<uint64_t> stride =
      warp.getUniform(step.operands[1], "the stride of wmma");
  if (!stride || !checkAlignment(warp, form, *address, *stride))
    return;
  if (form.isStore)
    warp.act();
  WarpAccess first;
  first.space = form.space;
  first.kind = form.isStore ? AccessKind::Store : AccessKind::Load;
  first.lanes = warp.active;
  first.size = fragment.bits / 8;
  if (!getAddresses(warp, form.space, step.operands[0], form.offset, first))
    return;
  // Registers are written at the end, as the base may be one of them.
  std::vector<Lanes> loaded(form.isStore ? 0 : fragment.numRegisters);
  for (Lanes &lanes : loaded) {
    lanes.value.fill(0);
    lanes.undefinedLanes = 0;
  }
  for (unsigned slot = 0; slot != fragment.getSlots(); ++slot) {
    WarpAccess access = first;
    addElements(form, slot, *stride, access);
    unsigned index = slot / fragment.getPerRegister();
    unsigned byte = slot % fragment.getPerRegister() * access.size;
    std::array<uint8_t, kLanes * sizeof(uint64_t)> stored;
    if (form.isStore) {
      // If rows overlap, lanes store to the same address.
      const Lanes &lanes = warp.reg(step.operands[2 + index]);
      for (unsigned lane = 0; lane != kLanes; ++lane) {
        uint64_t value = lanes.value[lane] >> byte * 8;
        std::memcpy(stored.data() + lane * access.size, &value, access.size);
      }
      access.stored = stored.data();
    }
    forEachAccess(warp, access, [&](unsigned lane, AddressSpace, Span span) {
      uint64_t value;
      uint8_t undefined;
      if (form.isStore) {
        const Lanes &lanes = warp.reg(step.operands[2 + index]);
        undefined = lanes.getUndefined(lane) >> byte &
                    llvm::maskTrailingOnes<uint8_t>(access.size);
        return writeBytes(span, access.size, lanes.value[lane] >> byte * 8,
                          undefined);
      }
      readBytes(span, access.size, value, undefined);
      Lanes &lanes = loaded[index];
      lanes.value[lane] |= value << byte * 8;
      lanes.setUndefined(lane, lanes.getUndefined(lane) | undefined << byte);
    });
    if (warp.state == WarpState::Failed)
      return;
  }
  for (size_t i = 0; i != loaded.size(); ++i)
    warp.reg(step.operands[2 + i]) = loaded[i];
}

/// `operand` is a, b, c or d.
static void translateAccess(Translator &t, Modifiers &modifiers, char operand,
                            bool isStore) {
  bool isSynchronous = modifiers.take("sync");
  if (!modifiers.take("aligned") || !isSynchronous)
    return t.fail("expected .sync.aligned behind wmma");
  FragmentAccess form = {};
  form.isStore = isStore;
  form.isRowMajor = modifiers.take("row");
  if (!form.isRowMajor && !modifiers.take("col"))
    return t.fail("expected .row or .col behind wmma");
  const WmmaShape *shape = takeWmmaShape(t, modifiers);
  if (!shape)
    return;
  form.space = takeSpace(modifiers);
  std::optional<Type> type = modifiers.takeType();
  std::optional<WmmaFragment> fragment =
      type ? getWmmaFragment(operand, *shape, *type) : std::nullopt;
  if (!fragment)
    return t.fail("not supported in this version: type of wmma for this "
                  "operand and shape");
  if (!checkWmmaTarget(t, *type) || !t.finish(modifiers) ||
      !t.expectOperands(2, 3))
    return;
  form.fragment = *fragment;
  Slot base =
      t.address(t.current->operands[isStore ? 0 : 1], form.space, form.offset);
  // By default, rows (or columns) are contiguous.
  unsigned stride = form.isRowMajor ? fragment->columns : fragment->rows;
  llvm::SmallVector<Slot> slots = {
      base, t.current->operands.size() == 3
                ? t.source(t.current->operands[2], Type::B32)
                : t.constantSlot(stride)};
  const PtxOperand &data = t.current->operands[isStore ? 1 : 0];
  t.registers(/*isWritten=*/!isStore, data, fragment->registerType,
              fragment->numRegisters, slots);
  t.emit(executeAccess, StepClass::Memory, slots, t.keep(form));
}

void sim::translateWmmaLoad(Translator &t, Modifiers &modifiers) {
  modifiers.take("load");
  std::optional<unsigned> operand = modifiers.takeOneOf({"a", "b", "c"});
  if (!operand)
    return t.fail("expected .a, .b or .c behind wmma.load");
  translateAccess(t, modifiers, "abc"[*operand], /*isStore=*/false);
}

void sim::translateWmmaStore(Translator &t, Modifiers &modifiers) {
  modifiers.take("store");
  if (!modifiers.take("d"))
    return t.fail("expected .d behind wmma.store");
  translateAccess(t, modifiers, 'c', /*isStore=*/true);
}
