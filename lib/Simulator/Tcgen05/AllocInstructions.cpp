//===- AllocInstructions.cpp - tcgen05.alloc, tcgen05.dealloc -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.alloc, dealloc and relinquish_alloc_permit: which warp gets columns,
// and which one waits for them.
//
// Source: PTX ISA, section 9.7.16.7 "Tensor memory allocation and management".
//
//===----------------------------------------------------------------------===//

#include "Machine/BlockGroup.h"
#include "Memory/MemoryOperands.h"
#include "Tcgen05/Tcgen05Engine.h"
#include "Tcgen05/Tcgen05Instructions.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

namespace {
struct AllocationForm {
  unsigned numBlocks;
  AddressSpace space;
  int64_t offset;
};
} // namespace

/// The number of columns of an operand; nothing after a failure.
static std::optional<unsigned> getNumColumns(Warp &warp, Slot slot) {
  std::optional<uint64_t> columns =
      warp.getUniform(slot, "a number of columns of tensor memory");
  if (!columns)
    return std::nullopt;
  bool isPower = (*columns & (*columns - 1)) == 0;
  if (*columns >= kTensorUnit && *columns <= kTensorColumns && isPower)
    return *columns;
  return warp.error(
      __builtin_ctz(warp.active),
      "expected a number of columns of tensor memory that is a power of "
      "two from 32 to 512, got " +
          llvm::Twine(*columns));
}

/// The first of `size` columns that are free in all memories. Programs must not
/// rely on the choice, so the seed draws one among the multiples of the size.
/// But shipped programs rely on getting the first columns if all are free.
static std::optional<unsigned>
findColumns(BlockGroup &group, llvm::ArrayRef<Block *> blocks, unsigned size) {
  llvm::SmallVector<unsigned, 16> candidates;
  bool isEmpty = true;
  for (Block *block : blocks)
    isEmpty &=
        group.get<Tcgen05Engine>().getMemory(*block).isFree(0, kTensorColumns);
  if (isEmpty && !group.launch.options->checkStrict)
    return 0;
  for (unsigned column = 0; column != kTensorColumns; column += size) {
    bool isFree = true;
    for (Block *block : blocks)
      isFree &=
          group.get<Tcgen05Engine>().getMemory(*block).isFree(column, size);
    if (isFree)
      candidates.push_back(column);
  }
  if (candidates.empty())
    return std::nullopt;
  return candidates[group.draw(candidates.size())];
}

/// Stores the address of the columns, as a weak store of one lane.
static void storeAddress(Warp &warp, const Step &step, unsigned column) {
  const auto &form = step.getForm<AllocationForm>();
  std::optional<uint64_t> base =
      warp.getUniform(step.operands[0], "an address");
  if (!base)
    return;
  WarpAccess access;
  access.space = form.space;
  access.kind = AccessKind::Store;
  access.lanes = 1;
  access.size = 4;
  access.addresses[0] = addOffset(form.space, *base, form.offset);
  forEachAccess(warp, access,
                [&](unsigned lane, AddressSpace space, Span &span) {
                  if (space != AddressSpace::Shared)
                    return warp.fail(lane, "expected an address in shared "
                                           "memory of this block");
                  writeBytes(span, 4, column, 0);
                });
}

/// Checks a request of a block against the rules of the ISA.
static bool checkRequest(Warp &warp, unsigned size) {
  BlockAllocation &own = getTensorEngine(warp).getAllocation(warp.block);
  auto fail = [&](const llvm::Twine &text) { return warp.error(0, text); };
  if (!own.isAllowed)
    return fail("tcgen05.alloc behind a tcgen05.relinquish_alloc_permit of the "
                "block");
  // PTX ISA, section 9.7.16.7.1: sizes must not grow.
  if (own.last && size > *own.last)
    return fail("expected at most as many columns as the tcgen05.alloc before, "
                "which were " +
                llvm::Twine(*own.last) + ", got " + llvm::Twine(size));
  if (own.wanted && own.warp != warp.index)
    return fail("expected one warp of the block in tcgen05.alloc at a time, "
                "but warp " +
                llvm::Twine(own.warp) + " is, too");
  return true;
}

/// Whether the other block of the CTA pair has made the same request; else this
/// one waits, or fails.
static bool meetPeer(Warp &warp, Block &peer, unsigned size) {
  Tcgen05Engine &tensor = getTensorEngine(warp);
  BlockAllocation &own = tensor.getAllocation(warp.block);
  BlockAllocation &other = tensor.getAllocation(peer);
  own.wanted = size;
  own.warp = warp.index;
  if (own.granted)
    return true;
  // Columns that it has got already belong to an earlier instruction.
  if (!other.wanted || other.granted) {
    tensor.awaitColumns(
        warp, "for the other block of the CTA pair to execute tcgen05.alloc");
    return false;
  }
  if (*other.wanted == size)
    return true;
  return warp.error(
      0, "expected as many columns as the other block of the CTA pair "
         "allocates, " +
             llvm::Twine(*other.wanted) + ", got " + llvm::Twine(size));
}

static void executeAlloc(Warp &warp, const Step &step) {
  const auto &form = step.getForm<AllocationForm>();
  Block &block = warp.block;
  BlockGroup &group = block.group;
  if (!warp.requireWholeWarp("tcgen05.alloc"))
    return;
  std::optional<unsigned> size = getNumColumns(warp, step.operands[1]);
  Tcgen05Engine &tensor = getTensorEngine(warp);
  llvm::SmallVector<Block *, 2> blocks;
  if (!size ||
      !tensor.findBlocks(warp, 0, form.numBlocks, "tcgen05.alloc", blocks) ||
      !checkRequest(warp, *size) ||
      (form.numBlocks == 2 && !meetPeer(warp, *blocks[1], *size)))
    return;
  BlockAllocation &own = tensor.getAllocation(block);
  if (!own.granted) {
    std::optional<unsigned> column = findColumns(group, blocks, *size);
    if (!column)
      return tensor.awaitColumns(
          warp, "for " + std::to_string(*size) +
                    " columns of tensor memory, of which " +
                    std::to_string(tensor.getMemory(block).getNumFree()) +
                    " are free");
    for (Block *owner : blocks) {
      tensor.getMemory(*owner).allocate(*column,
                                        {owner, *size, warp.number, step.line});
      tensor.getAllocation(*owner).granted = column;
    }
  }
  unsigned column = *own.granted;
  // The peer may have allocated the columns for this block.
  tensor.getMemory(block).claim(column, warp.number, step.line);
  own.granted.reset();
  own.wanted.reset();
  own.last = *size;
  group.noteProgress();
  tensor.wakeAllocations();
  storeAddress(warp, step, column);
}

void sim::translateTcgen05Alloc(Translator &t, Modifiers &modifiers) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  AllocationForm form = {};
  form.numBlocks = takeNumBlocks(t, modifiers);
  bool isWhole = modifiers.take("sync");
  modifiers.take("aligned");
  form.space = takeSpace(modifiers);
  bool isTyped = modifiers.take("b32");
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  if (!isWhole || !isTyped ||
      (form.space != AddressSpace::Generic &&
       form.space != AddressSpace::Shared))
    return t.fail("expected .sync.aligned, .shared::cta or no state space, and "
                  ".b32 behind tcgen05.alloc");
  Slot base = t.address(operands[0], form.space, form.offset);
  Slot slots[] = {base, t.source(operands[1], Type::U32)};
  t.emit(executeAlloc, StepClass::Synchronization, slots, t.keep(form));
}

static void executeDealloc(Warp &warp, const Step &step) {
  Block &block = warp.block;
  Tcgen05Engine &tensor = getTensorEngine(warp);
  if (!warp.requireWholeWarp("tcgen05.dealloc"))
    return;
  std::optional<uint64_t> address =
      warp.getUniform(step.operands[0], "an address in tensor memory");
  std::optional<unsigned> size = getNumColumns(warp, step.operands[1]);
  if (!address || !size)
    return;
  TensorMemory &memory = tensor.getMemory(block);
  auto found = memory.getAllocations().find(*address);
  if (found == memory.getAllocations().end() || found->second.owner != &block)
    return warp.fail(0, "expected an address that tcgen05.alloc gave to this "
                        "block and that is still allocated, got " +
                            printHex(*address));
  if (found->second.numColumns != *size)
    return warp.fail(0, "expected " + llvm::Twine(found->second.numColumns) +
                            " columns, as were allocated at " +
                            printHex(*address) + ", got " + llvm::Twine(*size));
  if (!tensor.checkUnused(warp, 0, *address, *size))
    return;
  memory.free(*address);
  block.group.noteProgress();
  tensor.wakeAllocations();
}

void sim::translateTcgen05Dealloc(Translator &t, Modifiers &modifiers) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  takeNumBlocks(t, modifiers);
  bool isWhole = modifiers.take("sync");
  modifiers.take("aligned");
  bool isTyped = modifiers.take("b32");
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  if (!isWhole || !isTyped)
    return t.fail("expected .sync.aligned.b32 behind tcgen05.dealloc");
  Slot slots[] = {t.source(operands[0], Type::B32),
                  t.source(operands[1], Type::U32)};
  t.emit(executeDealloc, StepClass::Synchronization, slots);
}

static void executeRelinquish(Warp &warp, const Step &step) {
  if (warp.requireWholeWarp("tcgen05.relinquish_alloc_permit"))
    getTensorEngine(warp).getAllocation(warp.block).isAllowed = false;
}

void sim::translateTcgen05Relinquish(Translator &t, Modifiers &modifiers) {
  takeNumBlocks(t, modifiers);
  if (!modifiers.take("sync"))
    t.fail("expected .sync.aligned behind tcgen05.relinquish_alloc_permit");
  modifiers.take("aligned");
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(executeRelinquish, StepClass::Synchronization, {});
}
