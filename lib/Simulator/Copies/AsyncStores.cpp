//===- AsyncStores.cpp - st.async and red.async ---------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane begins a copy whose bytes are there already. Unlike bulk copies, it
// does not go through the async proxy.
//
// Source: PTX ISA, sections 9.7.9.12 "st.async", 9.7.13.7 "red.async".
//
//===----------------------------------------------------------------------===//

#include "Copies/BulkCopyUnit.h"
#include "Copies/CopyInstructions.h"
#include "Machine/BlockGroup.h"
#include "Synchronization/MBarrierLocations.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

using Kind = ElementOperation::Kind;

static constexpr unsigned kMaxBytes = 16;

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the bases of the address and of that of the mbarrier object, and
/// the elements.
struct AsyncStoreForm {
  AddressSpace space, mbarrierSpace;
  int64_t offset, mbarrierOffset;
  /// How many elements, and the bytes of one.
  unsigned count, size;
  bool isReduction;
  ElementOperation operation;
};
} // namespace

/// The elements of a lane with their states.
static void takeElements(Warp &warp, const Step &step, unsigned lane,
                         BulkCopy &copy) {
  const auto &form = step.getForm<AsyncStoreForm>();
  std::array<uint8_t, kMaxBytes> bytes, states;
  for (unsigned i = 0; i != form.count; ++i) {
    const Lanes &element = warp.reg(step.operands[2 + i]);
    std::memcpy(&bytes[i * form.size], &element.value[lane], form.size);
    for (unsigned j = 0; j != form.size; ++j)
      states[i * form.size + j] =
          element.getUndefined(lane) >> j & 1 ? ByteUndefined : 0;
  }
  copy.size = form.count * form.size;
  copy.setBytes(llvm::ArrayRef(bytes).take_front(copy.size),
                llvm::ArrayRef(states).take_front(copy.size));
}

static void beginStore(Warp &warp, const Step &step, unsigned lane,
                       SharedLocation mbarrier) {
  const auto &form = step.getForm<AsyncStoreForm>();
  if (!mbarrier.block->findMBarrier(warp, lane, mbarrier.offset))
    return;
  BulkCopy copy;
  copy.warp = &warp;
  copy.lane = lane;
  copy.line = step.line;
  copy.mbarrier = mbarrier;
  copy.operation = form.isReduction ? &form.operation : nullptr;
  takeElements(warp, step, lane, copy);
  if (!warp.requireDefined(step.operands[0], LaneMask(1) << lane, "an address"))
    return;
  AddressSpace space = form.space;
  uint64_t address =
      addOffset(space, warp.reg(step.operands[0]).value[lane], form.offset);
  if (!warp.resolve(lane, space, address, copy.size, copy.size,
                    /*isStore=*/true, copy.destination, form.isReduction))
    return;
  Block *to = warp.block.group.findBlock(copy.destination);
  if (!to)
    return warp.fail(lane, step.name +
                               ".async expected shared memory, got "
                               "address " +
                               printHex(address));
  if (form.isReduction && to == &warp.block)
    return warp.fail(lane, "red.async expected shared memory of another block "
                           "of the cluster, got that of the own one");
  getBulkCopies(warp).begin(warp, std::move(copy));
}

static void executeAsyncStore(Warp &warp, const Step &step) {
  const auto &form = step.getForm<AsyncStoreForm>();
  forEachMBarrier(warp, form.mbarrierSpace, step.operands[1],
                  form.mbarrierOffset,
                  [&](unsigned lane, SharedLocation location) {
                    beginStore(warp, step, lane, location);
                  });
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

/// Takes out the space and the completion.
static bool takeQualifiers(Translator &t, Modifiers &modifiers,
                           AsyncStoreForm &form) {
  form.space = takeSpace(modifiers);
  bool isShared = form.space == AddressSpace::Generic ||
                  form.space == AddressSpace::SharedCluster;
  if (!isShared || !modifiers.take("mbarrier::complete_tx::bytes"))
    t.fail("expected .shared::cluster.mbarrier::complete_tx::bytes behind " +
           llvm::Twine(t.current->opcode) + ".async");
  return !t.hasFailed();
}

static void emitStore(Translator &t, AsyncStoreForm &form, Type type) {
  if (!t.expectOperands(3))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  form.mbarrierSpace = form.space;
  form.size = getBytes(type);
  llvm::SmallVector<Slot> slots = {
      t.address(operands[0], form.space, form.offset),
      t.address(operands[2], form.mbarrierSpace, form.mbarrierOffset)};
  t.sources(operands[1], type, form.count, slots);
  t.emit(executeAsyncStore, StepClass::Memory, slots, t.keep(form));
}

void sim::translateAsyncStore(Translator &t, Modifiers &modifiers) {
  if (modifiers.take("release") || modifiers.take("mmio"))
    return t.fail("not supported in this version: st.async to global memory");
  AsyncStoreForm form = {};
  modifiers.take("weak");
  modifiers.take("cluster");
  if (!takeQualifiers(t, modifiers, form))
    return;
  form.count = 1;
  if (std::optional<unsigned> vector = modifiers.takeOneOf({"v2", "v4"}))
    form.count = 2u << *vector;
  static constexpr Type types[] = {Type::B32, Type::B64, Type::U32, Type::U64,
                                   Type::S32, Type::S64, Type::F32, Type::F64};
  std::optional<Type> type = modifiers.takeType();
  if (!type || !llvm::is_contained(types, *type))
    return t.fail("expected a type of 32 or 64 bits behind st.async");
  if (form.count * getBytes(*type) > kMaxBytes)
    return t.fail("expected at most 16 bytes of st.async, got " +
                  llvm::Twine(form.count * getBytes(*type)));
  if (t.finish(modifiers))
    emitStore(t, form, *type);
}

namespace {
struct AsyncReduction {
  llvm::StringRef name;
  Kind kind;
  Type type;
};
} // namespace

static constexpr AsyncReduction kReductions[] = {
    {"inc", Kind::Inc, Type::U32}, {"dec", Kind::Dec, Type::U32},
    {"min", Kind::Min, Type::U32}, {"min", Kind::Min, Type::S32},
    {"max", Kind::Max, Type::U32}, {"max", Kind::Max, Type::S32},
    {"and", Kind::And, Type::B32}, {"or", Kind::Or, Type::B32},
    {"xor", Kind::Xor, Type::B32}, {"add", Kind::Add, Type::U32},
    {"add", Kind::Add, Type::S32}, {"add", Kind::Add, Type::U64},
};

void sim::translateAsyncReduction(Translator &t, Modifiers &modifiers) {
  if (modifiers.take("release") || modifiers.take("mmio"))
    return t.fail("not supported in this version: red.async to global memory");
  AsyncStoreForm form = {};
  form.isReduction = true;
  form.count = 1;
  if (!modifiers.take("relaxed") || !modifiers.take("cluster"))
    return t.fail("expected .relaxed.cluster behind red.async");
  if (!takeQualifiers(t, modifiers, form))
    return;
  std::optional<Type> type = modifiers.takeLastType();
  const AsyncReduction *row = llvm::find_if(kReductions, [&](const auto &row) {
    return row.type == type && modifiers.take(row.name);
  });
  if (row == std::end(kReductions))
    return t.fail("expected an operation and a type that red.async has");
  form.operation = {row->kind, row->type};
  if (t.finish(modifiers))
    emitStore(t, form, *type);
}
