//===- LoadStoreWait.cpp - tcgen05.ld, st, wait and fence -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between registers of a warp and its lanes of tensor memory; a shape is a row
// that says where the cells of a register are.
//
// Source: PTX ISA, sections 9.7.16.2.3 "Data movement shape" and 9.7.16.8
// "Tensor memory and register load/store"; the ISA shows fragments in pictures,
// the formulas here are those that CUTLASS assumes.
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"
#include "Tcgen05/TensorEngine.h"
#include "Tcgen05/TensorInstructions.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// A cell, counted from the address: that of register `r` of thread `t`.
struct Cell {
  unsigned lane, column;
};

struct Shape {
  llvm::StringRef name;
  /// Lanes that are accessed: all of a warp's window, or half of it.
  unsigned lanes;
  /// Of .x1.
  unsigned registers, columns;
  unsigned maxCount;
  Cell (*locate)(unsigned t, unsigned r);
  /// Threads 16 to 31 access cells of their own, behind a second address.
  bool isSplit;
};
} // namespace

static constexpr unsigned kHalfWarp = kLanes / 2;

static constexpr Shape kShapes[] = {
    {"32x32b", 32, 1, 1, 128, [](unsigned t, unsigned r) { return Cell{t, r}; },
     false},
    {"16x64b", 16, 1, 2, 128,
     [](unsigned t, unsigned r) {
       return Cell{t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * r};
     },
     false},
    {"16x128b", 16, 2, 4, 64,
     [](unsigned t, unsigned r) {
       return Cell{t / 4 + 8 * (r % 2), t % 4 + 4 * (r / 2)};
     },
     false},
    {"16x256b", 16, 4, 8, 32,
     [](unsigned t, unsigned r) {
       return Cell{t / 4 + 8 * (r / 2 % 2), 2 * (t % 4) + r % 2 + 8 * (r / 4)};
     },
     false},
    {"16x32bx2", 16, 1, 1, 128,
     [](unsigned t, unsigned r) { return Cell{t % kHalfWarp, r}; }, true},
};

namespace {
struct MoveForm {
  const Shape *shape;
  unsigned count;
  /// Two columns have 16 bits each of a register.
  bool isPacked;
  int64_t offset, splitOffset;

  unsigned getNumRegisters() const { return shape->registers * count; }
  unsigned getNumColumns() const {
    return shape->columns * count * (isPacked ? 2 : 1);
  }
};
} // namespace

/// The addresses of both halves of the threads; nothing after a failure.
static std::optional<std::array<TensorAddress, 2>>
getAddresses(Warp &warp, const Step &step, bool isLoad) {
  const auto &form = step.getForm<MoveForm>();
  std::string name = isLoad ? "tcgen05.ld" : "tcgen05.st";
  if (!warp.requireWholeWarp(name))
    return std::nullopt;
  std::optional<uint64_t> base =
      warp.getUniform(step.operands[0], "an address in tensor memory");
  if (!base)
    return std::nullopt;
  uint32_t first = *base + form.offset;
  uint32_t second = first + (form.shape->isSplit ? form.splitOffset : 0);
  std::array<TensorAddress, 2> addresses = {TensorAddress::decode(first),
                                            TensorAddress::decode(second)};
  unsigned window = warp.index % 4 * kTensorWindow;
  for (TensorAddress &address : addresses) {
    bool isOfFirst = address.lane < kTensorWindow && window != 0;
    unsigned inside = isOfFirst ? address.lane : address.lane - window;
    bool isGood =
        inside == 0 || (inside == kHalfWarp && form.shape->lanes == kHalfWarp);
    if (isGood && isOfFirst &&
        !warp.block.reportStrict(
            warp, 0,
            name + " of warp " + llvm::Twine(warp.index) +
                " expected an address in lane " + llvm::Twine(window + inside) +
                ", got lane " + llvm::Twine(address.lane) +
                ", which is taken as one of the warp's own",
            "PTX ISA, tcgen05.ld, \"Access restrictions\""))
      return std::nullopt;
    if (isGood) {
      address.lane = window + inside;
      continue;
    }
    warp.fail(0, name + "." + form.shape->name + " of warp " +
                     llvm::Twine(warp.index) + " expected an address in lane " +
                     llvm::Twine(window) +
                     (form.shape->lanes == kHalfWarp
                          ? " or " + std::to_string(window + kHalfWarp)
                          : std::string()) +
                     ", got lane " + llvm::Twine(address.lane));
    return std::nullopt;
  }
  TensorAccessKind kind =
      isLoad ? TensorAccessKind::Load : TensorAccessKind::Store;
  llvm::SmallVector<TensorRegion, 2> regions;
  for (unsigned half = 0; half <= form.shape->isSplit; ++half)
    regions.push_back({makeTensorLanes(addresses[half].lane, form.shape->lanes),
                       addresses[half].column, form.getNumColumns()});
  if (!getTensorEngine(warp).begin(warp, kind, regions))
    return std::nullopt;
  return addresses;
}

/// Calls `body(thread, register, lane, column)` for all of a warp.
template <typename Body>
static void forEachCell(const MoveForm &form,
                        const std::array<TensorAddress, 2> &addresses,
                        Body body) {
  for (unsigned r = 0; r != form.getNumRegisters(); ++r)
    for (unsigned t = 0; t != kLanes; ++t) {
      auto [lane, column] = form.shape->locate(t, r);
      const TensorAddress &base = addresses[t / kHalfWarp];
      body(t, r, base.lane + lane,
           base.column + column * (form.isPacked ? 2 : 1));
    }
}

static constexpr uint32_t kHalfMask = 0xFFFF;

static void executeLoad(Warp &warp, const Step &step) {
  const auto &form = step.getForm<MoveForm>();
  auto addresses = getAddresses(warp, step, /*isLoad=*/true);
  if (!addresses)
    return;
  TensorMemory &memory = getTensorEngine(warp).getMemory(warp.block);
  forEachCell(form, *addresses,
              [&](unsigned t, unsigned r, unsigned lane, unsigned column) {
                Lanes &to = warp.reg(step.operands[1 + r]);
                uint32_t value = memory.value(lane, column);
                uint8_t undefined = memory.undefined(lane, column);
                if (form.isPacked) {
                  value = (value & kHalfMask) | memory.value(lane, column + 1)
                                                    << 16;
                  undefined = (undefined & 3) |
                              (memory.undefined(lane, column + 1) & 3) << 2;
                }
                to.value[t] = value;
                to.setUndefined(t, undefined);
              });
}

static void executeStore(Warp &warp, const Step &step) {
  const auto &form = step.getForm<MoveForm>();
  auto addresses = getAddresses(warp, step, /*isLoad=*/false);
  if (!addresses)
    return;
  TensorMemory &memory = getTensorEngine(warp).getMemory(warp.block);
  forEachCell(form, *addresses,
              [&](unsigned t, unsigned r, unsigned lane, unsigned column) {
                const Lanes &from = warp.reg(step.operands[1 + r]);
                auto value = static_cast<uint32_t>(from.value[t]);
                uint8_t undefined = from.getUndefined(t) & 0xF;
                if (!form.isPacked) {
                  memory.value(lane, column) = value;
                  memory.undefined(lane, column) = undefined;
                  return;
                }
                // The ISA does not say what becomes of the upper halves.
                for (unsigned half = 0; half != 2; ++half) {
                  memory.value(lane, column + half) =
                      value >> 16 * half & kHalfMask;
                  memory.undefined(lane, column + half) =
                      0b1100 | (undefined >> 2 * half & 3);
                }
              });
}

static void translateMove(Translator &t, Modifiers &modifiers, bool isLoad) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  std::string name = isLoad ? "tcgen05.ld" : "tcgen05.st";
  if (modifiers.take("red"))
    return t.fail("not supported in this version: tcgen05.ld.red");
  MoveForm form = {};
  for (const Shape &shape : kShapes)
    if (!form.shape && modifiers.take(shape.name))
      form.shape = &shape;
  for (unsigned count = 1; count <= 128 && !form.count; count *= 2)
    if (modifiers.take("x" + std::to_string(count)))
      form.count = count;
  form.isPacked = modifiers.take(isLoad ? "pack::16b" : "unpack::16b");
  bool isWhole = modifiers.take("sync");
  modifiers.take("aligned");
  bool isTyped = modifiers.take("b32");
  if (!form.shape || !form.count || !isWhole || !isTyped)
    return t.fail("expected .sync.aligned, a shape such as .32x32b, a count "
                  "such as .x4, and .b32 behind " +
                  llvm::Twine(name));
  if (form.count > form.shape->maxCount)
    return t.fail("expected at most .x" + llvm::Twine(form.shape->maxCount) +
                  " behind " + name + "." + form.shape->name + ", got .x" +
                  llvm::Twine(form.count));
  if (!t.finish(modifiers) || !t.expectOperands(2 + form.shape->isSplit))
    return;
  // ld: registers, address, offset; st: address, offset, registers.
  const PtxOperand &registers = isLoad ? operands.front() : operands.back();
  const PtxOperand &place = operands[isLoad ? 1 : 0];
  if (form.shape->isSplit)
    form.splitOffset =
        t.constant(operands[isLoad ? 2 : 1],
                   "the offset of the second half of the threads")
            .value_or(0);
  if (registers.kind != PtxOperand::Kind::Vector)
    return t.fail(registers.location, "expected registers in braces");
  std::optional<Translator::Address> address = takeTensorAddress(t, place);
  if (!address)
    return;
  form.offset = address->offset;
  llvm::SmallVector<Slot> slots = {address->base};
  if (isLoad)
    t.destinations(registers, Type::B32, form.getNumRegisters(), slots);
  else
    t.sources(registers, Type::B32, form.getNumRegisters(), slots);
  if (!t.hasFailed())
    t.emit(isLoad ? executeLoad : executeStore, StepClass::Memory, slots,
           t.keep(form));
}

void sim::translateTensorLoad(Translator &t, Modifiers &modifiers) {
  translateMove(t, modifiers, /*isLoad=*/true);
}

void sim::translateTensorStore(Translator &t, Modifiers &modifiers) {
  translateMove(t, modifiers, /*isLoad=*/false);
}

//===----------------------------------------------------------------------===//
// Waits and fences
//===----------------------------------------------------------------------===//

static void executeWait(Warp &warp, const Step &step) {
  if (warp.requireWholeWarp("tcgen05.wait"))
    getTensorEngine(warp).wait(warp, step.getForm<TensorAccessKind>());
}

void sim::translateTensorWait(Translator &t, Modifiers &modifiers) {
  bool isLoad = modifiers.take("wait::ld");
  if (!isLoad)
    modifiers.take("wait::st");
  TensorAccessKind kind =
      isLoad ? TensorAccessKind::Load : TensorAccessKind::Store;
  if (!modifiers.take("sync") || !modifiers.take("aligned"))
    return t.fail("expected .sync.aligned behind tcgen05.wait");
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(executeWait, StepClass::Synchronization, {}, t.keep(kind));
}

static void executeFence(Warp &warp, const Step &step) {
  getTensorEngine(warp).fence(warp, step.getForm<bool>());
}

void sim::translateTensorFence(Translator &t, Modifiers &modifiers) {
  bool isBefore = modifiers.take("fence::before_thread_sync");
  if (!isBefore)
    modifiers.take("fence::after_thread_sync");
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(executeFence, StepClass::Synchronization, {}, t.keep(isBefore));
}
