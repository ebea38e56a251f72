//===- BulkCopyInstructions.cpp - cp.async.bulk and cp.reduce -------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Source: PTX ISA, section 9.7.9.27 "Data Movement and Conversion Instructions:
// Bulk copy".
//
//===----------------------------------------------------------------------===//

#include "Copies.h"
#include "MBarriers.h"

#include "../BlockGroup.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

/// Sizes and addresses are multiples of this.
static constexpr uint64_t kBulkBytes = 16;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the destination, the source, the size, the mbarrier object and the
/// mask of bytes; kNoSlot where there is none.
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

static bool resolveMBarrier(Warp &warp, const Step &step, unsigned lane,
                            BulkCopy &copy) {
  const auto &form = step.getForm<BulkForm>();
  if (step.operands[3] == kNoSlot)
    return true;
  std::optional<uint64_t> base =
      getLaneValue(warp, step.operands[3], lane, "an address");
  if (!base)
    return false;
  copy.mbarrier = findMBarrierPlace(warp, lane, AddressSpace::SharedCluster,
                                    *base + form.mbarrierOffset);
  return copy.mbarrier &&
         copy.mbarrier->block->findMBarrier(warp, lane, copy.mbarrier->offset);
}

/// One side of a copy.
static bool resolveSide(Warp &warp, unsigned lane, AddressSpace space,
                        Slot base, int64_t offset, bool isStore, uint64_t size,
                        Span &span) {
  std::optional<uint64_t> address =
      getLaneValue(warp, base, lane, "an address");
  if (!address)
    return false;
  *address += offset;
  if (!warp.resolve(lane, space, *address, size, kBulkBytes, isStore, span) ||
      (!isStore && !warp.checkReadable(lane, span, size)))
    return false;
  if (space != AddressSpace::Global)
    return true;
  WarpAccess access;
  access.space = space;
  access.kind = isStore ? AccessKind::Store : AccessKind::Load;
  access.lanes = LaneMask(1) << lane;
  access.size = size;
  access.addresses[lane] = *address;
  warp.block.observe(warp, access);
  return true;
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
  if (resolveSide(warp, lane, form.source, step.operands[1], form.sourceOffset,
                  /*isStore=*/false, copy.size, copy.source) &&
      resolveSide(warp, lane, form.destination, step.operands[0],
                  form.destinationOffset, /*isStore=*/true, copy.size,
                  copy.destination) &&
      resolveMBarrier(warp, step, lane, copy))
    warp.block.group.begin(warp, std::move(copy));
}

static void executeBulkCopy(Warp &warp, const Step &step) {
  forEachLane(warp.active, [&](unsigned lane) {
    if (warp.state != WarpState::Failed)
      beginCopy(warp, step, lane);
  });
}

//===----------------------------------------------------------------------===//
// Translation of copies
//===----------------------------------------------------------------------===//

namespace {
/// The ways that bulk copies go, and how their completion is waited for.
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
    {"shared::cluster", "global", kTransactions, AddressSpace::Shared,
     AddressSpace::Global, false},
    {"shared::cluster", "shared::cta", kTransactions, AddressSpace::Shared,
     AddressSpace::Shared, true},
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
  t.fail("expected a destination, a source and a completion behind .bulk, such "
         "as .shared::cta.global.mbarrier::complete_tx::bytes or "
         ".global.shared::cta.bulk_group");
  return nullptr;
}

/// The operation and the type of a reduction.
static bool takeOperation(Translator &t, Modifiers &modifiers,
                          ElementOperation &operation) {
  using Kind = ElementOperation::Kind;
  static constexpr llvm::StringRef names[] = {"add", "min", "max", "and",
                                              "or",  "xor", "inc", "dec"};
  static constexpr Kind kinds[] = {Kind::Add, Kind::Min, Kind::Max, Kind::And,
                                   Kind::Or,  Kind::Xor, Kind::Inc, Kind::Dec};
  std::optional<unsigned> row = modifiers.takeOneOf(names);
  bool keepsSubnormals = modifiers.take("noftz");
  std::optional<Type> type = modifiers.takeLastType();
  if (!row || !type) {
    t.fail("expected an operation and a type behind cp.reduce.async.bulk");
    return false;
  }
  operation = {kinds[*row], *type, /*isFlushing=*/*type == Type::F32};
  bool isPacked = getTypeInfo(*type).elements != 1;
  bool needsNoftz = operation.kind == Kind::Add &&
                    (*type == Type::F16 || *type == Type::BF16);
  if (operation.isLegal() && !isPacked && keepsSubnormals == needsNoftz)
    return true;
  t.fail("expected an operation that cp.reduce.async.bulk has, got ." +
         names[*row] + (keepsSubnormals ? ".noftz." : ".") +
         std::string(getName(*type)));
  return false;
}

static void translateBulkCopy(Translator &t, Modifiers &modifiers,
                              bool isReduction) {
  llvm::ArrayRef<Operand> operands = t.current->operands;
  if (modifiers.take("tensor"))
    return translateTensorCopy(t, modifiers, isReduction);
  if (modifiers.take("multicast::cluster"))
    return t.fail("not supported in this version: clusters");
  const Direction *direction = takeDirection(t, modifiers, isReduction);
  if (!direction)
    return;
  BulkForm form = {};
  form.isReduction = isReduction;
  form.destination = direction->to;
  form.source = direction->from;
  bool hasMBarrier = direction->completion == kTransactions;
  bool isGlobal = direction->to != direction->from;
  bool hasCachePolicy = isGlobal && modifiers.take("L2::cache_hint");
  bool hasMask = !hasMBarrier && !isReduction && modifiers.take("cp_mask");
  if (isReduction && !takeOperation(t, modifiers, form.operation))
    return;
  if (!t.finish(modifiers) ||
      !t.expectOperands(3 + hasMBarrier + hasCachePolicy + hasMask))
    return;
  std::optional<Translator::Address> to =
      t.address(operands[0], form.destination);
  std::optional<Translator::Address> from = t.address(operands[1], form.source);
  if (!to || !from)
    return;
  form.destinationOffset = to->offset;
  form.sourceOffset = from->offset;
  Slot slots[] = {to->base, from->base, t.source(operands[2], Type::U32),
                  kNoSlot, kNoSlot};
  operands = operands.drop_front(3);
  if (hasMBarrier) {
    std::optional<Translator::Address> mbarrier =
        t.address(operands.front(), AddressSpace::Shared);
    if (!mbarrier)
      return;
    slots[3] = mbarrier->base;
    form.mbarrierOffset = mbarrier->offset;
    operands = operands.drop_front();
  }
  if (hasCachePolicy) {
    t.source(operands.front(), Type::B64);
    operands = operands.drop_front();
  }
  if (hasMask)
    slots[4] = t.source(operands.front(), Type::B16);
  t.code.hasAsyncProxy = true;
  // Blocks would see each other's sums.
  t.code.hasGlobalSynchronization |=
      isReduction && form.destination == AddressSpace::Global;
  if (!t.hasFailed())
    t.emit(executeBulkCopy, StepClass::Memory, slots, t.keep(form));
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
  forEachLane(warp.active, [&](unsigned lane) {
    warp.block.group.bulkCopies.commit(warp, lane);
  });
}

static void executeWaitGroup(Warp &warp, const Step &step) {
  const auto &form = step.getForm<WaitGroupForm>();
  forEachLane(warp.active, [&](unsigned lane) {
    warp.block.group.waitBulkCopies(warp, lane, form.keep, form.onlyReads);
  });
}

static void translateWaitGroup(Translator &t, Modifiers &modifiers) {
  WaitGroupForm form = {};
  form.onlyReads = modifiers.take("read");
  if (!t.finish(modifiers))
    return;
  std::optional<uint64_t> keep = takeNumGroups(t);
  if (!keep)
    return;
  form.keep = *keep;
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
  llvm::ArrayRef<Operand> operands = t.current->operands;
  if (modifiers.take("tensor"))
    return translateTensorPrefetch(t, modifiers);
  if (!modifiers.take("L2") || !modifiers.take("global"))
    return t.fail("expected cp.async.bulk.prefetch.L2.global");
  bool hasCachePolicy = modifiers.take("L2::cache_hint");
  if (!t.finish(modifiers) || !t.expectOperands(2 + hasCachePolicy))
    return;
  std::optional<Translator::Address> address =
      t.address(operands[0], AddressSpace::Global);
  if (!address)
    return;
  if (hasCachePolicy)
    t.source(operands[2], Type::B64);
  Slot slots[] = {address->base, t.source(operands[1], Type::U32)};
  if (!t.hasFailed())
    t.emit(executePrefetch, StepClass::Memory, slots,
           t.keep(PrefetchForm{address->offset}));
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
