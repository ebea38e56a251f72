//===- Stack.cpp - alloca, stacksave and stackrestore ---------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stack of a lane is the end of its local memory. It grows upwards here;
// programs cannot rely on the direction.
//
// Source: PTX ISA, section 9.7.17 "Stack Manipulation Instructions".
//
//===----------------------------------------------------------------------===//

#include "Machine/Warp.h"
#include "Translation/OpcodeTable.h"
#include "Translation/Translator.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

static constexpr uint64_t kLeastAlignment = 8;
static constexpr int64_t kMostAlignment = 1 << 23;

static void resizeLocal(Warp &warp, unsigned lane, uint64_t size) {
  warp.local[lane].resize(size);
  warp.localStates[lane].resize(size, ByteUnmapped);
}

/// Operands: the address and the size. The form is the alignment.
static void executeAlloca(Warp &warp, const Step &step) {
  uint64_t alignment = step.getForm<uint64_t>();
  if (!warp.requireDefined(step.operands[1], warp.active,
                           "the size of an alloca"))
    return;
  const Lanes &sizes = warp.reg(step.operands[1]);
  Lanes &addresses = warp.reg(step.operands[0]);
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t size = sizes.value[lane];
    uint64_t begin =
        llvm::alignTo(warp.local[lane].size() + kVariableGap, alignment);
    if (begin > kMaxLocalBytes || size > kMaxLocalBytes - begin)
      return warp.fail(lane, "expected at most " + llvm::Twine(kMaxLocalBytes) +
                                 " bytes of local memory for a thread, got an "
                                 "alloca of " +
                                 llvm::Twine(size));
    resizeLocal(warp, lane, begin);
    warp.local[lane].resize(begin + size);
    warp.localStates[lane].resize(begin + size, ByteUndefined);
    addresses.set(lane, begin, 0);
  });
}

static void executeSave(Warp &warp, const Step &step) {
  Lanes &pointers = warp.reg(step.operands[0]);
  forEachLane(warp.active, [&](unsigned lane) {
    pointers.set(lane, warp.local[lane].size(), 0);
  });
}

static void executeRestore(Warp &warp, const Step &step) {
  if (!warp.requireDefined(step.operands[0], warp.active, "a stack pointer"))
    return;
  const Lanes &pointers = warp.reg(step.operands[0]);
  const Frame &frame = warp.frames.back();
  uint64_t least = frame.localBase + frame.code->localSize;
  forEachLane(warp.active, [&](unsigned lane) {
    uint64_t pointer = pointers.value[lane];
    if (pointer < least || pointer > warp.local[lane].size())
      return warp.fail(lane, "expected a stack pointer of stacksave in this "
                             "function, from " +
                                 llvm::Twine(least) + " to " +
                                 llvm::Twine(warp.local[lane].size()) +
                                 ", got " + llvm::Twine(pointer));
    resizeLocal(warp, lane, pointer);
  });
}

/// The type; nothing after a failure.
static std::optional<Type> takeWordType(Translator &t, Modifiers &modifiers) {
  std::optional<Type> type = modifiers.takeType();
  if (type == Type::U32 || type == Type::U64)
    return t.finish(modifiers) ? type : std::nullopt;
  return t.error("expected .u32 or .u64 behind " +
                 llvm::Twine(t.current->opcode));
}

static void translateAlloca(Translator &t, Modifiers &modifiers) {
  std::optional<Type> type = takeWordType(t, modifiers);
  if (!type || !t.expectOperands(2, 3))
    return;
  uint64_t form = kLeastAlignment;
  if (t.current->operands.size() == 3) {
    int64_t alignment =
        t.constant(t.current->operands[2], "the alignment of an alloca");
    if (alignment < 1 || alignment > kMostAlignment ||
        !llvm::isPowerOf2_64(alignment))
      return t.fail("expected a power of 2 up to 2^23 for the alignment of an "
                    "alloca, got " +
                    llvm::Twine(alignment));
    form = std::max<uint64_t>(alignment, kLeastAlignment);
  }
  Slot slots[] = {t.destination(t.current->operands[0], *type),
                  t.source(t.current->operands[1], *type)};
  t.emit(executeAlloca, StepClass::Control, slots, t.keep(form));
}

static void translatePointer(Translator &t, Modifiers &modifiers) {
  std::optional<Type> type = takeWordType(t, modifiers);
  if (!type || !t.expectOperands(1))
    return;
  bool isSave = t.current->opcode == "stacksave";
  Slot slot = t.registerOf(isSave, t.current->operands[0], *type);
  t.emit(isSave ? executeSave : executeRestore, StepClass::Control, slot);
}

void sim::addStackInstructions(OpcodeTable &table) {
  table["alloca"] = translateAlloca;
  table["stacksave"] = table["stackrestore"] = translatePointer;
}
