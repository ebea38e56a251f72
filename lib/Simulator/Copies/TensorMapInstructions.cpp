//===- TensorMapInstructions.cpp - cp.async.bulk.tensor -------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor copies in tiled mode, and prefetches.
//
// Source: PTX ISA, section 9.7.9.27.1 "Data Movement and Conversion
// Instructions: Tensor copy".
//
//===----------------------------------------------------------------------===//

#include "Copies/BulkCopyUnit.h"
#include "Copies/CopyInstructions.h"
#include "Copies/TensorMapOperands.h"
#include "Machine/BlockGroup.h"
#include "Ptx/Targets.h"
#include "Synchronization/MBarrierLocations.h"

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

using OperationKind = ElementOperation::Kind;

/// The alignment of a box in shared memory.
static constexpr uint64_t kBoxAlignment = 128;

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {
/// Operands: the tensor map, the box in shared memory, the mbarrier object, the
/// mask of blocks, then coordinates; kNoSlot where there is none.
struct TensorCopyForm {
  bool isLoad, isReduction;
  OperationKind operation;
  int64_t mapOffset, sharedOffset, mbarrierOffset;
  AddressSpace mapSpace, sharedSpace;
  /// .cta_group::2
  bool isCtaPair;
  /// .tile::gather4 or .tile::scatter4.
  bool isOfRows;
};
} // namespace

static_assert(1 + kFewRows <= maxTensorRank);

/// The element type of a reduction; nothing if the tensor's type has none.
static std::optional<Type> getElementType(const TensorMapType &type,
                                          OperationKind operation) {
  static constexpr struct {
    llvm::StringRef name;
    Type type, untyped;
  } rows[] = {
      {"u4", Type::U32, Type::B32},    {"i4", Type::S32, Type::B32},
      {"u8", Type::U64, Type::B64},    {"i8", Type::S64, Type::B64},
      {"f2", Type::F16, Type::F16},    {"bf16", Type::BF16, Type::BF16},
      {"f4", Type::F32, Type::F32},    {"f8", Type::F64, Type::F64},
      {"f4ftz", Type::F32, Type::F32},
  };
  bool isBitwise = operation == OperationKind::And ||
                   operation == OperationKind::Or ||
                   operation == OperationKind::Xor;
  for (const auto &row : rows)
    if (row.name == llvm::StringRef(type.name))
      return isBitwise ? row.untyped : row.type;
  return std::nullopt;
}

/// Makes the reduction operation for the elements of a tensor; fails if there
/// is none.
static bool makeOperation(Warp &warp, unsigned lane, const TensorMap &map,
                          OperationKind kind,
                          std::optional<ElementOperation> &operation) {
  if (std::optional<Type> type = getElementType(*map.type, kind)) {
    operation = {kind, *type, /*isFlushing=*/*type == Type::F32};
    if (operation->isLegal())
      return true;
  }
  return warp.error(lane,
                    "expected an element type that the operation of "
                    "cp.reduce.async.bulk.tensor has, got a tensor map of " +
                        llvm::Twine(llvm::StringRef(map.type->name)));
}

/// Reports to observers what a copy accesses in global memory.
static void observePieces(Warp &warp, unsigned lane, bool isLoad,
                          uint64_t tensor, const TensorBox &box) {
  WarpAccess access;
  access.isBulk = true;
  access.space = AddressSpace::Global;
  access.kind = isLoad ? AccessKind::Load : AccessKind::Store;
  access.lanes = LaneMask(1) << lane;
  uint64_t begin = 0, end = 0;
  auto flush = [&] {
    if (begin == end)
      return;
    access.size = end - begin;
    access.addresses[lane] = tensor + begin;
    warp.block.observe(warp, access);
  };
  for (const BoxPiece &piece : box.pieces) {
    if (piece.kind != BoxPiece::Kind::Copy &&
        piece.kind != BoxPiece::Kind::Pack6)
      continue;
    // Chunks that only the swizzle separates are one access.
    if (piece.global != end) {
      flush();
      begin = piece.global;
    }
    end = piece.global + piece.getGlobalSize();
  }
  flush();
}

/// Whether the memory of a tensor, of `size` bytes, has what a box touches; a
/// failure if not.
static bool checkPieces(Warp &warp, unsigned lane, const TensorBox &box,
                        uint64_t size) {
  for (const BoxPiece &piece : box.pieces) {
    uint64_t bytes = piece.getGlobalSize();
    if (piece.isInTensor() &&
        (piece.global > size || bytes > size - piece.global))
      return warp.error(lane, "expected a box within the " + llvm::Twine(size) +
                                  " bytes of memory behind the start of the "
                                  "tensor, got one with " +
                                  llvm::Twine(bytes) + " bytes from byte " +
                                  llvm::Twine(piece.global) + " on");
  }
  return true;
}

/// Begins the copy of a box to or from the shared memory of a block.
static void beginBox(Warp &warp, const Step &step, unsigned lane,
                     const BoundTensorMap &bound,
                     llvm::ArrayRef<int32_t> coordinates,
                     SharedLocation location,
                     std::optional<SharedLocation> mbarrier) {
  const auto &form = step.getForm<TensorCopyForm>();
  const TensorMap &map = bound.map;
  AddressSpace space = AddressSpace::SharedCluster;
  Storage &storage = bound.tensor->storage;
  Span shared,
      tensor =
          Span{storage.data(), storage.states(), &storage}.at(bound.offset);
  // Boxes may be larger than any memory, so their size is checked first.
  uint64_t window = location.block->getSharedBase() + location.offset;
  if (!warp.resolve(lane, space, window, getBoxBytes(map), kBoxAlignment,
                    /*isStore=*/form.isLoad, shared))
    return;
  TensorBox box =
      cutBox(map, coordinates, location.offset, /*isStore=*/!form.isLoad);
  if (!checkPieces(warp, lane, box, storage.size() - bound.offset))
    return;
  observePieces(warp, lane, form.isLoad, bound.tensor->address + bound.offset,
                box);
  auto transfer =
      std::make_shared<TensorMapTransfer>(map, std::move(box), form.isLoad);
  uint64_t size = std::max<uint64_t>(transfer->box.size, getBoxBytes(map));
  if (form.isReduction &&
      !makeOperation(warp, lane, map, form.operation, transfer->operation))
    return;
  if (!warp.resolve(lane, space, window, size, kBoxAlignment,
                    /*isStore=*/form.isLoad, shared) ||
      (!form.isLoad && !warp.checkReadable(lane, shared, size)))
    return;
  BulkCopy copy;
  copy.warp = &warp;
  copy.lane = lane;
  copy.line = step.line;
  copy.size = size;
  copy.source = form.isLoad ? tensor : shared;
  copy.destination = form.isLoad ? shared : tensor;
  copy.tensor = std::move(transfer);
  copy.mbarrier = mbarrier;
  getBulkCopies(warp).begin(warp, std::move(copy));
}

/// The mbarrier object at which a copy to a block signals. With .cta_group::2
/// it is in the block of the CTA pair whose rank has the same parity as the
/// rank of the named block.
static SharedLocation getMBarrierOf(Block &block, SharedLocation named,
                                    bool isCtaPair) {
  bool isPeer = isCtaPair && block.rank % 2 != named.block->rank % 2;
  Block *peer = isPeer ? block.findPeer() : nullptr;
  return {peer ? peer : &block, named.offset};
}

static void beginLoad(Warp &warp, const Step &step, unsigned lane,
                      const BoundTensorMap &bound,
                      llvm::ArrayRef<int32_t> coordinates,
                      SharedLocation location) {
  const auto &form = step.getForm<TensorCopyForm>();
  std::optional<uint64_t> base =
      getLaneValue(warp, step.operands[2], lane, "an address");
  if (!base)
    return;
  std::optional<SharedLocation> named = findMBarrierLocation(
      warp, lane, form.sharedSpace,
      addOffset(form.sharedSpace, *base, form.mbarrierOffset));
  if (!named)
    return;
  llvm::SmallVector<Block *, 16> blocks = {location.block};
  if (Slot slot = step.operands[3]; slot != kNoSlot) {
    std::optional<uint64_t> mask =
        getLaneValue(warp, slot, lane, "the mask of blocks of a multicast");
    if (!mask || !findBlocks(warp, lane, *mask, blocks))
      return;
  } else if (getMBarrierOf(*location.block, *named, form.isCtaPair).block !=
             named->block) {
    return warp.fail(lane, "expected an mbarrier object of block " +
                               print(location.block->index) +
                               (form.isCtaPair ? " or of its CTA pair" : "") +
                               ", as the destination is, got one of block " +
                               print(named->block->index));
  }
  for (Block *block : blocks) {
    SharedLocation mbarrier = getMBarrierOf(*block, *named, form.isCtaPair);
    if (!mbarrier.block->findMBarrier(warp, lane, mbarrier.offset))
      return;
    beginBox(warp, step, lane, bound, coordinates, {block, location.offset},
             mbarrier);
    if (warp.state == WarpState::Failed)
      return;
  }
}

static void beginCopy(Warp &warp, const Step &step, unsigned lane) {
  const auto &form = step.getForm<TensorCopyForm>();
  TensorMapUse use = {form.mapSpace, form.mapOffset, step.operands[0],
                      form.isOfRows};
  llvm::SmallVector<int32_t, maxTensorRank> coordinates;
  std::optional<BoundTensorMap> bound =
      findTensorMap(warp, lane, use, step.operands.drop_front(4), coordinates);
  std::optional<uint64_t> address =
      getLaneValue(warp, step.operands[1], lane, "an address");
  if (!bound || !address)
    return;
  const TensorMap &map = bound->map;
  if (!form.isLoad && map.type->elementsPerUnit && map.type->bits == 4)
    return warp.fail(lane, "expected a type that can be stored, got a tensor "
                           "map of " +
                               llvm::Twine(llvm::StringRef(map.type->name)));
  // An H200 refuses them as an illegal instruction; no document says so.
  for (int32_t coordinate : coordinates)
    if (!form.isLoad && coordinate < 0)
      return warp.fail(lane, "expected coordinates of a store from 0 on, got " +
                                 llvm::Twine(coordinate));
  *address = addOffset(form.sharedSpace, *address, form.sharedOffset);
  Block *owner = warp.block.findOwner(*address);
  if (!owner ||
      (form.sharedSpace == AddressSpace::Shared && owner != &warp.block)) {
    // Reports the error of the address.
    AddressSpace space = form.sharedSpace;
    Span none;
    warp.resolve(lane, space, *address, getBoxBytes(map), kBoxAlignment,
                 /*isStore=*/form.isLoad, none);
    return;
  }
  SharedLocation location = {owner,
                             static_cast<uint32_t>(getSharedOffset(*address))};
  if (form.isLoad)
    beginLoad(warp, step, lane, *bound, coordinates, location);
  else
    beginBox(warp, step, lane, *bound, coordinates, location, std::nullopt);
}

/// A prefetch changes nothing, but its operands must be right.
static void executeTensorPrefetch(Warp &warp, const Step &step) {
  const auto &form = step.getForm<TensorCopyForm>();
  forEachLane(warp.active, [&](unsigned lane) {
    TensorMapUse use = {form.mapSpace, form.mapOffset, step.operands[0],
                        form.isOfRows};
    llvm::SmallVector<int32_t, maxTensorRank> coordinates;
    findTensorMap(warp, lane, use, step.operands.drop_front(1), coordinates);
  });
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

static constexpr llvm::StringRef kTransactions = "mbarrier::complete_tx::bytes";
static constexpr struct {
  llvm::StringRef destination, source, completion;
  bool isLoad;
} kDirections[] = {
    {"shared::cta", "global", kTransactions, true},
    {"shared::cluster", "global", kTransactions, true},
    {"global", "shared::cta", "bulk_group", false},
};

/// Takes out the spaces, the destination first, and the completion; a store can
/// be a reduction.
static bool takeDirection(Translator &t, Modifiers &modifiers,
                          TensorCopyForm &form) {
  llvm::ArrayRef<llvm::StringRef> names = modifiers.rest();
  for (const auto &row : kDirections) {
    if (names.size() < 3 || names[0] != row.destination ||
        names[1] != row.source || names[2] != row.completion ||
        (form.isReduction && row.isLoad))
      continue;
    modifiers.take(row.destination);
    modifiers.take(row.source);
    modifiers.take(row.completion);
    form.isLoad = row.isLoad;
    form.sharedSpace = row.destination == "shared::cluster"
                           ? AddressSpace::SharedCluster
                           : AddressSpace::Shared;
    return true;
  }
  return t.error(
      "expected a destination, a source and a completion behind .tensor, "
      "such as .shared::cta.global.mbarrier::complete_tx::bytes or "
      ".global.shared::cta.bulk_group");
}

static bool takeOperation(Translator &t, Modifiers &modifiers,
                          TensorCopyForm &form) {
  const ReductionName *reduction = takeReduction(modifiers);
  if (!reduction)
    return t.error("expected an operation behind cp.reduce.async.bulk.tensor");
  form.operation = reduction->kind;
  return true;
}

/// The modes of four rows are for one direction each, and for some targets.
static bool checkMode(Translator &t, const TensorCopyMode &mode,
                      const TensorCopyForm &form) {
  if (!mode.isOfRows())
    return true;
  if (mode.isGather != form.isLoad)
    return t.error(
        "expected .tile::gather4 with a load, or .tile::scatter4 with a "
        "store");
  bool isOwn = form.isLoad && form.sharedSpace == AddressSpace::Shared;
  llvm::StringRef target = t.program.module.target;
  if (hasFeature(target,
                 isOwn ? Feature::GatherFour : Feature::RowsBeyondBlock))
    return true;
  return t.error(
      llvm::Twine("expected a target with ") +
      (form.isLoad ? ".tile::gather4 to this space" : ".tile::scatter4") +
      ", such as sm_100a, got " + target);
}

void sim::translateTensorMapCopy(Translator &t, Modifiers &modifiers,
                                 bool isReduction) {
  TensorCopyForm form = {};
  form.isReduction = isReduction;
  std::optional<TensorCopyMode> mode = takeTensorCopyMode(t, modifiers);
  // The ISA has it behind the direction; ptxas also accepts it before.
  static constexpr llvm::StringRef groups[] = {"cta_group::1", "cta_group::2"};
  std::optional<unsigned> group = modifiers.takeOneOf(groups);
  if (!mode || (isReduction && !takeOperation(t, modifiers, form)) ||
      !takeDirection(t, modifiers, form) || !checkMode(t, *mode, form))
    return;
  form.isOfRows = mode->isOfRows();
  bool isMulticast = form.isLoad && modifiers.take("multicast::cluster");
  if (isMulticast && form.sharedSpace != AddressSpace::SharedCluster)
    return t.fail("expected .shared::cluster with .multicast::cluster");
  if (group && !form.isLoad)
    return t.fail("expected a load with ." + llvm::Twine(groups[*group]));
  form.isCtaPair = group == 1u;
  bool hasCachePolicy = modifiers.take("L2::cache_hint");
  if (!t.finish(modifiers) ||
      !t.expectOperands(2 + form.isLoad + isMulticast + hasCachePolicy))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  llvm::SmallVector<Slot, 4 + maxTensorRank> slots(4, kNoSlot);
  slots[1] = t.addressIn(AddressSpace::Shared, operands[!form.isLoad],
                         form.sharedOffset);
  if (!takeTensorMap(t, operands[form.isLoad], mode->numCoordinates,
                     form.mapSpace, form.mapOffset, slots[0], slots))
    return;
  operands = operands.drop_front(2);
  if (form.isLoad)
    slots[2] = t.addressIn(AddressSpace::Shared, operands.consume_front(),
                           form.mbarrierOffset);
  if (isMulticast)
    slots[3] = t.source(operands.consume_front(), Type::B16);
  if (hasCachePolicy)
    t.source(operands.front(), Type::B64);
  t.code.facilities |= UsesAsyncProxy;
  // Other blocks can see the results of a reduction.
  if (isReduction)
    t.code.facilities |= UsesGlobalSynchronization;
  t.emit(executeInLanes<beginCopy>, StepClass::Memory, slots, t.keep(form));
}

void sim::translateTensorMapPrefetch(Translator &t, Modifiers &modifiers) {
  TensorCopyForm form = {};
  std::optional<TensorCopyMode> mode = takeTensorCopyMode(t, modifiers);
  if (!mode)
    return;
  form.isOfRows = mode->isOfRows();
  llvm::StringRef target = t.program.module.target;
  if (mode->isScatter ||
      (mode->isGather && !hasFeature(target, Feature::RowsBeyondBlock)))
    return t.fail("expected .tile or, on targets such as sm_100a, "
                  ".tile::gather4 with a prefetch, got " +
                  target);
  if (!modifiers.take("L2") || !modifiers.take("global"))
    return t.fail("expected .L2.global behind cp.async.bulk.prefetch.tensor");
  bool hasCachePolicy = modifiers.take("L2::cache_hint");
  if (!t.finish(modifiers) || !t.expectOperands(1 + hasCachePolicy))
    return;
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  llvm::SmallVector<Slot, 1 + maxTensorRank> slots(1, kNoSlot);
  if (!takeTensorMap(t, operands[0], mode->numCoordinates, form.mapSpace,
                     form.mapOffset, slots[0], slots))
    return;
  if (hasCachePolicy)
    t.source(operands[1], Type::B64);
  t.emit(executeTensorPrefetch, StepClass::Memory, slots, t.keep(form));
}
