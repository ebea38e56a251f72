//===- BulkCopyInstructions.cpp - cp.async.bulk and cp.reduce -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table has the directions of bulk copies: the state spaces of source and
// destination, and the completion mechanism.
//
// Source: PTX ISA, section 9.7.9.27 "Data Movement and Conversion Instructions:
// Bulk copy".
//
//===----------------------------------------------------------------------===//

#include "Copies/BulkCopyUnit.h"
#include "Copies/CopyInstructions.h"
#include "Machine/BlockGroup.h"
#include "Synchronization/MBarrierLocations.h"
#include "Trace/Recorder.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Sizes and addresses are multiples of this.
static constexpr uint64_t kBulkBytes = 16;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the destination, the source, the size, the mbarrier object, the
/// mask of bytes and that of blocks; kNoSlot where there is none.
struct BulkForm {
  AddressSpace destination, source;
  int64_t destinationOffset, sourceOffset, mbarrierOffset;
  bool isReduction;
  ElementOperation operation;
};
} // namespace

std::optional<uint64_t> sim::getLaneValue(Warp &warp, Slot slot, unsigned lane,
                                          llvm::StringRef use) {
  if (!warp.requireDefined(slot, LaneMask(1) << lane, use))
    return std::nullopt;
  return warp.reg(slot).value[lane];
}

/// One side of a copy.
static bool resolveSide(Warp &warp, const BulkCopy &copy, AddressSpace space,
                        uint64_t address, bool isStore, Span &span) {
  unsigned lane = copy.lane;
  if (!warp.resolve(lane, space, address, copy.size, kBulkBytes, isStore, span,
                    /*isAtomic=*/copy.operation) ||
      (!isStore && !warp.checkReadable(lane, span, copy.size)))
    return false;
  if (space != AddressSpace::Global)
    return true;
  WarpAccess access;
  access.isBulk = true;
  access.space = space;
  access.kind = isStore ? AccessKind::Store : AccessKind::Load;
  access.lanes = LaneMask(1) << lane;
  access.size = copy.size;
  access.addresses[lane] = address;
  warp.block.observe(warp, access);
  return true;
}

/// Begins a copy to this destination that signals at the mbarrier object.
static void beginCopyTo(Warp &warp, const BulkForm &form, BulkCopy copy,
                        uint64_t destination,
                        std::optional<uint64_t> mbarrier) {
  if (!resolveSide(warp, copy, form.destination, destination,
                   /*isStore=*/true, copy.destination))
    return;
  if (mbarrier) {
    copy.mbarrier = findMBarrierLocation(
        warp, copy.lane, AddressSpace::SharedCluster, *mbarrier);
    if (!copy.mbarrier || !copy.mbarrier->block->findMBarrier(
                              warp, copy.lane, copy.mbarrier->offset))
      return;
  }
  getBulkCopies(warp).begin(warp, std::move(copy));
}

/// Begins a copy to each block of a mask, to the same offset in their shared
/// memories.
static void beginMulticast(Warp &warp, const BulkForm &form,
                           const BulkCopy &copy, uint64_t destination,
                           uint64_t mbarrier, uint64_t mask) {
  llvm::SmallVector<Block *, 16> blocks;
  if (!findBlocks(warp, copy.lane, mask, blocks))
    return;
  for (Block *block : blocks)
    if (warp.state != WarpState::Failed)
      beginCopyTo(warp, form, copy,
                  block->getSharedBase() + getSharedOffset(destination),
                  block->getSharedBase() + getSharedOffset(mbarrier));
}

static void beginCopy(Warp &warp, const Step &step, unsigned lane) {
  const auto &form = step.getForm<BulkForm>();
  BulkCopy copy;
  copy.warp = &warp;
  copy.lane = lane;
  copy.line = step.line;
  copy.operation = form.isReduction ? &form.operation : nullptr;
  std::optional<uint64_t> size =
      getLaneValue(warp, step.operands[2], lane, "the size of a bulk copy");
  if (!size)
    return;
  if (*size % kBulkBytes != 0)
    return warp.fail(lane, "expected the size of a bulk copy to be a multiple "
                           "of 16, got " +
                               llvm::Twine(*size));
  copy.size = *size;
  if (Slot slot = step.operands[4]; slot != kNoSlot) {
    std::optional<uint64_t> mask =
        getLaneValue(warp, slot, lane, "the mask of bytes of a bulk copy");
    if (!mask)
      return;
    copy.byteMask = *mask;
  }
  std::optional<uint64_t> from =
      getLaneValue(warp, step.operands[1], lane, "an address");
  std::optional<uint64_t> to =
      getLaneValue(warp, step.operands[0], lane, "an address");
  std::optional<uint64_t> mbarrier, mask;
  if (step.operands[3] != kNoSlot)
    mbarrier = getLaneValue(warp, step.operands[3], lane, "an address");
  if (step.operands[5] != kNoSlot)
    mask = getLaneValue(warp, step.operands[5], lane,
                        "the mask of blocks of a bulk copy");
  if (warp.state == WarpState::Failed ||
      !resolveSide(warp, copy, form.source,
                   addOffset(form.source, *from, form.sourceOffset),
                   /*isStore=*/false, copy.source))
    return;
  *to = addOffset(form.destination, *to, form.destinationOffset);
  if (mbarrier)
    *mbarrier = addOffset(AddressSpace::Shared, *mbarrier, form.mbarrierOffset);
  if (mask)
    return beginMulticast(warp, form, copy, *to, *mbarrier, *mask);
  beginCopyTo(warp, form, std::move(copy), *to, mbarrier);
}

//===----------------------------------------------------------------------===//
// Translation of copies
//===----------------------------------------------------------------------===//

namespace {
/// The directions of bulk copies, and their completion mechanisms.
struct Direction {
  llvm::StringRef destination, source, completion;
  AddressSpace to, from;
  bool canReduce;
};
} // namespace

static constexpr llvm::StringRef kTransactions = "mbarrier::complete_tx::bytes";
static constexpr Direction kDirections[] = {
    {"shared::cta", "global", kTransactions, AddressSpace::Shared,
     AddressSpace::Global, false},
    {"shared::cluster", "global", kTransactions, AddressSpace::SharedCluster,
     AddressSpace::Global, false},
    {"shared::cluster", "shared::cta", kTransactions,
     AddressSpace::SharedCluster, AddressSpace::Shared, true},
    {"global", "shared::cta", "bulk_group", AddressSpace::Global,
     AddressSpace::Shared, true},
};

/// Takes out the spaces, the destination first, and the completion.
static const Direction *takeDirection(Translator &t, Modifiers &modifiers,
                                      bool isReduction) {
  llvm::ArrayRef<llvm::StringRef> names = modifiers.rest();
  if (names.size() >= 3)
    for (const Direction &row : kDirections) {
      if (names[0] != row.destination || names[1] != row.source ||
          names[2] != row.completion || (isReduction && !row.canReduce))
        continue;
      modifiers.take(row.destination);
      modifiers.take(row.source);
      modifiers.take(row.completion);
      return &row;
    }
  return t.error(
      "expected a destination, a source and a completion behind .bulk, such "
      "as .shared::cta.global.mbarrier::complete_tx::bytes or "
      ".global.shared::cta.bulk_group");
}

const ReductionName *sim::takeReduction(Modifiers &modifiers) {
  using Kind = ElementOperation::Kind;
  static constexpr ReductionName rows[] = {
      {"add", Kind::Add}, {"min", Kind::Min}, {"max", Kind::Max},
      {"and", Kind::And}, {"or", Kind::Or},   {"xor", Kind::Xor},
      {"inc", Kind::Inc}, {"dec", Kind::Dec},
  };
  return modifiers.takeRow(rows);
}

/// The operation and the type of a reduction.
static bool takeOperation(Translator &t, Modifiers &modifiers,
                          ElementOperation &operation) {
  const ReductionName *reduction = takeReduction(modifiers);
  bool keepsSubnormals = modifiers.take("noftz");
  std::optional<Type> type = modifiers.takeLastType();
  if (!reduction || !type)
    return t.error(
        "expected an operation and a type behind cp.reduce.async.bulk");
  operation = {reduction->kind, *type, /*isFlushing=*/*type == Type::F32};
  bool isPacked = getTypeInfo(*type).elements != 1;
  bool needsNoftz = operation.kind == ElementOperation::Kind::Add &&
                    (*type == Type::F16 || *type == Type::BF16);
  if (operation.isLegal() && !isPacked && keepsSubnormals == needsNoftz)
    return true;
  return t.error("expected an operation that cp.reduce.async.bulk has, got ." +
                 reduction->name + (keepsSubnormals ? ".noftz." : ".") +
                 std::string(getName(*type)));
}

static void translateBulkCopy(Translator &t, Modifiers &modifiers,
                              bool isReduction) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  if (modifiers.take("tensor"))
    return translateTensorMapCopy(t, modifiers, isReduction);
  bool isMulticast = modifiers.take("multicast::cluster");
  const Direction *direction = takeDirection(t, modifiers, isReduction);
  if (!direction)
    return;
  BulkForm form = {};
  form.isReduction = isReduction;
  form.destination = direction->to;
  form.source = direction->from;
  bool hasMBarrier = direction->completion == kTransactions;
  bool isGlobal = direction->to == AddressSpace::Global ||
                  direction->from == AddressSpace::Global;
  if (isMulticast &&
      (direction->to != AddressSpace::SharedCluster || !isGlobal))
    return t.fail("expected .shared::cluster.global before "
                  ".multicast::cluster");
  bool hasCachePolicy = isGlobal && modifiers.take("L2::cache_hint");
  bool hasMask = !hasMBarrier && !isReduction && modifiers.take("cp_mask");
  if (isReduction && !takeOperation(t, modifiers, form.operation))
    return;
  if (!t.finish(modifiers) || !t.expectOperands(3 + hasMBarrier + isMulticast +
                                                hasCachePolicy + hasMask))
    return;
  Slot slots[] = {
      t.addressIn(form.destination, operands[0], form.destinationOffset),
      t.addressIn(form.source, operands[1], form.sourceOffset),
      t.source(operands[2], Type::U32),
      kNoSlot,
      kNoSlot,
      kNoSlot};
  operands = operands.drop_front(3);
  if (hasMBarrier)
    slots[3] = t.addressIn(AddressSpace::Shared, operands.consume_front(),
                           form.mbarrierOffset);
  if (isMulticast)
    slots[5] = t.source(operands.consume_front(), Type::B16);
  if (hasCachePolicy)
    t.source(operands.consume_front(), Type::B64);
  if (hasMask)
    slots[4] = t.source(operands.front(), Type::B16);
  t.code.facilities |= UsesAsyncProxy;
  // Other blocks can see the results of a reduction.
  if (isReduction && form.destination == AddressSpace::Global)
    t.code.facilities |= UsesGlobalSynchronization;
  t.emit(executeInLanes<beginCopy>, StepClass::Memory, slots, t.keep(form));
}

//===----------------------------------------------------------------------===//
// Groups and prefetches
//===----------------------------------------------------------------------===//

namespace {
struct WaitGroupForm {
  uint64_t keep;
  bool onlyReads;
};

struct PrefetchForm {
  int64_t offset;
};
} // namespace

static void executeCommit(Warp &warp, const Step &step) {
  if (Recorder *recorder = warp.block.group.recorder.get())
    recorder->commit(warp, TraceUnit::BulkStores);
  forEachLane(warp.active,
              [&](unsigned lane) { getBulkCopies(warp).commit(warp, lane); });
}

static void executeWaitGroup(Warp &warp, const Step &step) {
  const auto &form = step.getForm<WaitGroupForm>();
  if (Recorder *recorder = warp.block.group.recorder.get())
    recorder->awaitGroups(warp, TraceUnit::BulkStores, form.keep);
  forEachLane(warp.active, [&](unsigned lane) {
    getBulkCopies(warp).wait(warp, lane, form.keep, form.onlyReads);
  });
}

static void translateWaitGroup(Translator &t, Modifiers &modifiers) {
  WaitGroupForm form = {};
  form.onlyReads = modifiers.take("read");
  if (!t.finish(modifiers))
    return;
  form.keep = takeNumGroups(t);
  t.emit(executeWaitGroup, StepClass::Synchronization, {}, t.keep(form));
}

/// A prefetch changes nothing, but its addresses must be right.
static void executePrefetch(Warp &warp, const Step &step) {
  const auto &form = step.getForm<PrefetchForm>();
  forEachLane(warp.active, [&](unsigned lane) {
    std::optional<uint64_t> base =
        getLaneValue(warp, step.operands[0], lane, "an address");
    std::optional<uint64_t> size =
        getLaneValue(warp, step.operands[1], lane, "the size of a prefetch");
    if (!base || !size)
      return;
    if (*size % kBulkBytes != 0)
      return warp.fail(lane, "expected the size of a prefetch to be a multiple "
                             "of 16, got " +
                                 llvm::Twine(*size));
    AddressSpace space = AddressSpace::Global;
    uint64_t address = *base + form.offset;
    Span span;
    warp.resolve(lane, space, address, *size, kBulkBytes, /*isStore=*/false,
                 span);
  });
}

static void translatePrefetch(Translator &t, Modifiers &modifiers) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  if (modifiers.take("tensor"))
    return translateTensorMapPrefetch(t, modifiers);
  if (!modifiers.take("L2") || !modifiers.take("global"))
    return t.fail("expected cp.async.bulk.prefetch.L2.global");
  bool hasCachePolicy = modifiers.take("L2::cache_hint");
  if (!t.finish(modifiers) || !t.expectOperands(2 + hasCachePolicy))
    return;
  PrefetchForm form;
  Slot slots[] = {t.addressIn(AddressSpace::Global, operands[0], form.offset),
                  t.source(operands[1], Type::U32)};
  if (hasCachePolicy)
    t.source(operands[2], Type::B64);
  t.emit(executePrefetch, StepClass::Memory, slots, t.keep(form));
}

//===----------------------------------------------------------------------===//
// The families
//===----------------------------------------------------------------------===//

void sim::translateBulk(Translator &t, Modifiers &modifiers) {
  if (modifiers.take("prefetch"))
    return translatePrefetch(t, modifiers);
  if (modifiers.take("wait_group"))
    return translateWaitGroup(t, modifiers);
  if (!modifiers.take("commit_group"))
    return translateBulkCopy(t, modifiers, /*isReduction=*/false);
  if (t.finish(modifiers) && t.expectOperands(0))
    t.emit(executeCommit, StepClass::Synchronization, {});
}

void sim::translateBulkReduction(Translator &t, Modifiers &modifiers) {
  if (!modifiers.take("bulk"))
    return t.fail("expected cp.reduce.async.bulk");
  translateBulkCopy(t, modifiers, /*isReduction=*/true);
}
