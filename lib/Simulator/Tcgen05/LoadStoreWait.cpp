//===- LoadStoreWait.cpp - tcgen05.ld, st, wait and fence -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.ld and st move data between registers of a warp and its lanes of
// tensor memory. A table has the cells of each register for each shape.
//
// Source: PTX ISA, sections 9.7.16.2.3 "Data movement shape" and 9.7.16.8
// "Tensor memory and register load/store"; the ISA shows fragments only in
// figures; the formulas here are those that CUTLASS assumes.
//
//===----------------------------------------------------------------------===//

#include "Arithmetic/Extremum.h"
#include "Machine/BlockGroup.h"
#include "Ptx/Targets.h"
#include "Tcgen05/Tcgen05Engine.h"
#include "Tcgen05/Tcgen05Instructions.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
/// The cell of register `r` of thread `t`, relative to the address.
struct Cell {
  unsigned lane, column;
};

struct Shape {
  llvm::StringRef name;
  /// How many lanes are accessed: all 32 lanes of a warp, or 16.
  unsigned lanes;
  /// The registers and columns of .x1.
  unsigned registers, columns;
  unsigned maxCount;
  Cell (*locate)(unsigned t, unsigned r);
  /// Threads 16 to 31 access other columns, at a second address.
  bool isSplit;
  /// A thread gets cells of one lane, which .red reduces to one value.
  bool canReduce;
};
} // namespace

static constexpr unsigned kHalfWarp = kLanes / 2;

static constexpr Shape kShapes[] = {
    {"32x32b", 32, 1, 1, 128, [](unsigned t, unsigned r) { return Cell{t, r}; },
     false, true},
    {"16x64b", 16, 1, 2, 128,
     [](unsigned t, unsigned r) {
       return Cell{t / 4 + 8 * (t % 2), t / 2 % 2 + 2 * r};
     },
     false, false},
    {"16x128b", 16, 2, 4, 64,
     [](unsigned t, unsigned r) {
       return Cell{t / 4 + 8 * (r % 2), t % 4 + 4 * (r / 2)};
     },
     false, false},
    {"16x256b", 16, 4, 8, 32,
     [](unsigned t, unsigned r) {
       return Cell{t / 4 + 8 * (r / 2 % 2), 2 * (t % 4) + r % 2 + 8 * (r / 4)};
     },
     false, false},
    {"16x32bx2", 16, 1, 1, 128,
     [](unsigned t, unsigned r) { return Cell{t % kHalfWarp, r}; }, true, true},
};

namespace {
struct MoveForm {
  const Shape *shape;
  unsigned count;
  /// A register holds 16 bits of each of two columns.
  bool isPacked;
  int64_t offset, splitOffset;
  /// ld.red: the last operand gets the reduction of a thread's registers.
  bool isReduced;
  ReductionRule reduction;

  unsigned getNumRegisters() const { return shape->registers * count; }
  unsigned getNumColumns() const {
    return shape->columns * count * (isPacked ? 2 : 1);
  }
};
} // namespace

/// The addresses of both halves of the threads; nothing after a failure.
static std::optional<std::array<Tcgen05Address, 2>>
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
  std::array<Tcgen05Address, 2> addresses = {Tcgen05Address::decode(first),
                                             Tcgen05Address::decode(second)};
  unsigned window = warp.index % 4 * kTensorWarpLanes;
  for (Tcgen05Address &address : addresses) {
    bool isOfFirst = address.lane < kTensorWarpLanes && window != 0;
    unsigned inside = isOfFirst ? address.lane : address.lane - window;
    bool isGood =
        inside == 0 || (inside == kHalfWarp && form.shape->lanes == kHalfWarp);
    if (isGood && isOfFirst &&
        !warp.block.reportStrict(
            warp, 0,
            name + " of warp " + llvm::Twine(warp.index) +
                " expected an address in lane " + llvm::Twine(window + inside) +
                ", got lane " + llvm::Twine(address.lane) +
                ", which is treated as one of the warp's own",
            "PTX ISA, tcgen05.ld, \"Access restrictions\""))
      return std::nullopt;
    if (isGood) {
      address.lane = window + inside;
      continue;
    }
    return warp.error(0, name + "." + form.shape->name + " of warp " +
                             llvm::Twine(warp.index) +
                             " expected an address in lane " +
                             llvm::Twine(window) +
                             (form.shape->lanes == kHalfWarp
                                  ? " or " + std::to_string(window + kHalfWarp)
                                  : std::string()) +
                             ", got lane " + llvm::Twine(address.lane));
  }
  Tcgen05AccessKind kind =
      isLoad ? Tcgen05AccessKind::Load : Tcgen05AccessKind::Store;
  llvm::SmallVector<TensorRegion, 2> regions;
  for (unsigned half = 0; half <= form.shape->isSplit; ++half)
    regions.push_back({makeTensorLanes(addresses[half].lane, form.shape->lanes),
                       addresses[half].column, form.getNumColumns()});
  if (!getTensorEngine(warp).begin(warp, kind, regions))
    return std::nullopt;
  return addresses;
}

/// Calls `body(thread, register, lane, column)` for all registers of all
/// threads.
template <typename Body>
static void forEachCell(const MoveForm &form,
                        const std::array<Tcgen05Address, 2> &addresses,
                        Body body) {
  for (unsigned r = 0; r != form.getNumRegisters(); ++r)
    for (unsigned t = 0; t != kLanes; ++t) {
      auto [lane, column] = form.shape->locate(t, r);
      const Tcgen05Address &base = addresses[t / kHalfWarp];
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
  llvm::SmallVector<Reduction, kLanes> reductions(kLanes,
                                                  Reduction(form.reduction));
  LaneMask undefinedReductions = 0;
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
                to.set(t, value, undefined);
                if (!form.isReduced)
                  return;
                reductions[t].add(value);
                if (undefined)
                  undefinedReductions |= LaneMask(1) << t;
              });
  if (!form.isReduced)
    return;
  Lanes &to = warp.reg(step.operands[1 + form.getNumRegisters()]);
  for (unsigned t = 0; t != kLanes; ++t) {
    to.set(t, reductions[t].get(), undefinedReductions >> t & 1 ? 0xF : 0);
  }
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
                // The ISA does not specify the upper halves.
                for (unsigned half = 0; half != 2; ++half) {
                  memory.value(lane, column + half) =
                      value >> 16 * half & kHalfMask;
                  memory.undefined(lane, column + half) =
                      0b1100 | (undefined >> 2 * half & 3);
                }
              });
}

/// Takes out the modifiers behind .red; false after a failure.
static bool takeReduction(Translator &t, Modifiers &modifiers, MoveForm &form) {
  const Module &module = t.program.module;
  constexpr unsigned lowestMajor = 8, lowestMinor = 8;
  if (!hasFeature(module.target, Feature::Tcgen05Reductions))
    t.fail("expected a target that has tcgen05.ld.red, got " + module.target);
  else if (std::pair(module.versionMajor, module.versionMinor) <
           std::pair(lowestMajor, lowestMinor))
    t.fail("expected PTX version 8.8 or above for tcgen05.ld.red, got " +
           llvm::Twine(module.versionMajor) + "." +
           llvm::Twine(module.versionMinor));
  else if (!form.shape->canReduce)
    t.fail("expected .32x32b or .16x32bx2 with tcgen05.ld.red, got ." +
           form.shape->name);
  else if (form.count == 1)
    t.fail("expected at least .x2 with tcgen05.ld.red, got .x1");
  std::optional<Type> type = modifiers.takeType();
  ReductionRule &rule = form.reduction;
  rule.isFloat = type == Type::F32;
  rule.isAbsolute = rule.isFloat && modifiers.take("abs");
  rule.propagatesNaN = rule.isFloat && modifiers.take("NaN");
  for (llvm::StringRef name : {"min", "max"})
    if (!rule.combine && modifiers.take(name))
      rule.combine = type ? findExtremum(name, *type) : nullptr;
  if (!t.hasFailed() && !rule.combine)
    t.fail("expected .min or .max of .f32, .u32 or .s32 behind "
           "tcgen05.ld.red");
  form.isReduced = true;
  return !t.hasFailed();
}

/// Takes out the shape and the other modifiers; false after a failure.
static bool takeForm(Translator &t, Modifiers &modifiers, bool isLoad,
                     MoveForm &form) {
  std::string name = isLoad ? "tcgen05.ld" : "tcgen05.st";
  bool isReduced = isLoad && modifiers.take("red");
  form.shape = modifiers.takeRow(kShapes);
  for (unsigned count = 1; count <= 128 && !form.count; count *= 2)
    if (modifiers.take("x" + std::to_string(count)))
      form.count = count;
  form.isPacked =
      !isReduced && modifiers.take(isLoad ? "pack::16b" : "unpack::16b");
  bool isWhole = modifiers.take("sync");
  modifiers.take("aligned");
  bool isTyped = isReduced || modifiers.take("b32");
  if (!form.shape || !form.count || !isWhole || !isTyped)
    t.fail("expected .sync.aligned, a shape such as .32x32b, a count such as "
           ".x4, and .b32 behind " +
           llvm::Twine(name));
  else if (form.count > form.shape->maxCount)
    t.fail("expected at most .x" + llvm::Twine(form.shape->maxCount) +
           " behind " + name + "." + form.shape->name + ", got .x" +
           llvm::Twine(form.count));
  else if (isReduced)
    takeReduction(t, modifiers, form);
  return !t.hasFailed() && t.finish(modifiers);
}

void sim::translateTcgen05Move(Translator &t, Modifiers &modifiers) {
  bool isLoad = t.current->modifiers.front() == "ld";
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  MoveForm form = {};
  if (!takeForm(t, modifiers, isLoad, form) ||
      !t.expectOperands(2 + form.shape->isSplit + form.isReduced))
    return;
  // ld: registers, the result of .red, address, offset; st: address, offset,
  // registers.
  const PtxOperand &registers = isLoad ? operands.front() : operands.back();
  operands = isLoad ? operands.drop_front(1 + form.isReduced) : operands;
  if (form.shape->isSplit)
    form.splitOffset =
        t.constant(operands[1], "the offset of the second half of the threads");
  if (registers.kind != PtxOperand::Kind::Vector)
    return t.fail(registers.location, "expected registers in braces");
  llvm::SmallVector<Slot> slots = {
      takeTensorAddress(t, operands.front(), form.offset)};
  t.registers(/*isWritten=*/isLoad, registers, Type::B32,
              form.getNumRegisters(), slots);
  if (form.isReduced)
    t.destinations(t.current->operands[1], Type::B32, 1, slots);
  t.emit(isLoad ? executeLoad : executeStore, StepClass::Memory, slots,
         t.keep(form));
}

//===----------------------------------------------------------------------===//
// Waits and fences
//===----------------------------------------------------------------------===//

static void executeWait(Warp &warp, const Step &step) {
  if (warp.requireWholeWarp("tcgen05.wait"))
    getTensorEngine(warp).wait(warp, step.getForm<Tcgen05AccessKind>());
}

void sim::translateTcgen05Wait(Translator &t, Modifiers &modifiers) {
  bool isLoad = modifiers.take("wait::ld");
  if (!isLoad)
    modifiers.take("wait::st");
  Tcgen05AccessKind kind =
      isLoad ? Tcgen05AccessKind::Load : Tcgen05AccessKind::Store;
  if (!modifiers.take("sync") || !modifiers.take("aligned"))
    return t.fail("expected .sync.aligned behind tcgen05.wait");
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(executeWait, StepClass::Synchronization, {}, t.keep(kind));
}

static void executeFence(Warp &warp, const Step &step) {
  getTensorEngine(warp).fence(warp, step.getForm<bool>());
}

void sim::translateTcgen05Fence(Translator &t, Modifiers &modifiers) {
  bool isBefore = modifiers.take("fence::before_thread_sync");
  if (!isBefore)
    modifiers.take("fence::after_thread_sync");
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(executeFence, StepClass::Synchronization, {}, t.keep(isBefore));
}
