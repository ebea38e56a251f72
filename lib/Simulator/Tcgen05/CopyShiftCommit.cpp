//===- CopyShiftCommit.cpp - tcgen05.cp, shift and commit -----------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tcgen05.cp, shift and commit: the instructions beside mma that one thread
// issues and that complete later.
//
// Source: PTX ISA, sections 9.7.16.9 "Data movement and conversion" and
// 9.7.16.12 "tcgen05.commit". The lanes of the rows are those that CUTLASS
// assumes. The ISA shows the direction of tcgen05.shift only in a figure; here
// row r gets the value of row r + 1, in agreement with .ashift.
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyInstructions.h"
#include "Machine/BlockGroup.h"
#include "Ptx/Targets.h"
#include "SharedDescriptors/SharedTile.h"
#include "Synchronization/MBarrierLocations.h"
#include "Tcgen05/Tcgen05Engine.h"
#include "Tcgen05/Tcgen05Instructions.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>

using namespace mlir::blockscale;
using namespace mlir::blockscale::sim;

//===----------------------------------------------------------------------===//
// tcgen05.cp
//===----------------------------------------------------------------------===//

namespace {
/// Row r of the source goes to lane r % group + r / group * groupStride, and
/// copy c of it `copyStride` lanes on.
struct CopyShape {
  llvm::StringRef name, multicast;
  unsigned rows, chunksOfRow;
  unsigned group, groupStride;
  unsigned numCopies, copyStride;

  unsigned getLane(unsigned row, unsigned copy) const {
    return row % group + row / group * groupStride + copy * copyStride;
  }
};

/// How fp4 and fp6 elements are unpacked to bytes.
struct Decompression {
  llvm::StringRef name;
  ElementPacking packing;
};

struct CopyForm {
  const CopyShape *shape;
  /// Null if bytes are copied unchanged.
  const Decompression *decompression;
  unsigned numBlocks;
  int64_t offset;
};
} // namespace

static constexpr CopyShape kCopyShapes[] = {
    {"128x256b", "", 128, 2, 128, 0, 1, 0},
    {"4x256b", "", 4, 2, 1, 32, 1, 0},
    {"128x128b", "", 128, 1, 128, 0, 1, 0},
    {"64x128b", "warpx2::02_13", 64, 1, 64, 0, 2, 64},
    {"64x128b", "warpx2::01_23", 64, 1, 32, 64, 2, 32},
    {"32x128b", "warpx4", 32, 1, 32, 0, 4, 32},
};

static constexpr Decompression kDecompressions[] = {
    {"b6x16_p32", {6, 16}},
    {"b4x16_p64", {4, 16}},
};

static constexpr unsigned kCellBytes = 4;
static constexpr unsigned kCellsOfChunk = kChunkBytes / kCellBytes;

/// Unpacks a chunk to 16 bytes; bit i of the result says that byte i is
/// undefined.
static uint16_t readChunk(const Storage &storage, uint32_t offset,
                          const Decompression *decompression,
                          uint8_t (&bytes)[kChunkBytes]) {
  const uint8_t *chunk = storage.data() + offset;
  const uint8_t *states = storage.states() + offset;
  uint16_t undefined = 0;
  for (unsigned i = 0; i != kChunkBytes; ++i) {
    unsigned first = i, last = i;
    bytes[i] = chunk[i];
    if (decompression) {
      const ElementPacking &packing = decompression->packing;
      bytes[i] = getElementBits(chunk, packing, i)
                 << getByteShift(packing.bits);
      first = i * packing.bits / 8;
      last = ((i + 1) * packing.bits - 1) / 8;
    }
    if ((states[first] | states[last]) & ByteUndefined)
      undefined |= 1u << i;
  }
  return undefined;
}

static void copyToBlock(Block &block, const CopyForm &form,
                        const Tcgen05Address &address,
                        llvm::ArrayRef<uint32_t> chunks) {
  const CopyShape &shape = *form.shape;
  TensorMemory &memory = block.group.get<Tcgen05Engine>().getMemory(block);
  for (auto [number, offset] : llvm::enumerate(chunks)) {
    unsigned row = number / shape.chunksOfRow;
    unsigned column =
        address.column + number % shape.chunksOfRow * kCellsOfChunk;
    uint8_t bytes[kChunkBytes];
    uint16_t undefined =
        readChunk(block.shared, offset, form.decompression, bytes);
    for (unsigned copy = 0; copy != shape.numCopies; ++copy)
      for (unsigned cell = 0; cell != kCellsOfChunk; ++cell) {
        unsigned lane = address.lane + shape.getLane(row, copy);
        std::memcpy(&memory.value(lane, column + cell),
                    bytes + cell * kCellBytes, kCellBytes);
        memory.undefined(lane, column + cell) =
            undefined >> cell * kCellBytes & 0xF;
      }
  }
}

static void copyLane(Warp &warp, const Step &step, unsigned lane) {
  const auto &form = step.getForm<CopyForm>();
  const CopyShape &shape = *form.shape;
  std::optional<uint64_t> base =
      getLaneValue(warp, step.operands[0], lane, "an address in tensor memory");
  std::optional<uint64_t> bits =
      getLaneValue(warp, step.operands[1], lane, "a shared memory descriptor");
  Tcgen05Engine &tensor = getTensorEngine(warp);
  llvm::SmallVector<Block *, 2> blocks;
  if (!base || !bits ||
      !tensor.findBlocks(warp, lane, form.numBlocks, "tcgen05.cp", blocks))
    return;
  Result<MatrixDescriptor> descriptor = MatrixDescriptor::decode(*bits);
  if (!descriptor)
    return warp.fail(lane, "tcgen05.cp: " + descriptor.message());
  if (descriptor->swizzle == SwizzleMode::Bytes128Atom32 ||
      descriptor->isLeadingAbsolute)
    return warp.fail(lane, "tcgen05.cp expected a swizzle out of 0, 2, 4 and 6 "
                           "and a relative leading offset; the descriptor is " +
                               descriptor->print());
  Tcgen05Address address = Tcgen05Address::decode(*base + form.offset);
  unsigned lanesOfShape =
      shape.getLane(shape.rows - 1, shape.numCopies - 1) + 1;
  if (address.lane + lanesOfShape > kTensorLanes)
    return warp.fail(lane, "tcgen05.cp." + shape.name +
                               " expected an address in a lane up to " +
                               llvm::Twine(kTensorLanes - lanesOfShape) +
                               ", got lane " + llvm::Twine(address.lane));
  ElementPacking packing = {8, kChunkBytes};
  TileShape tile = {shape.rows, shape.chunksOfRow * kChunkBytes,
                    /*isTransposed=*/false, packing};
  Result<std::vector<uint32_t>> chunks = findChunks(*descriptor, tile);
  if (!chunks)
    return warp.fail(lane, "tcgen05.cp: " + chunks.message());
  TensorRegion region = {{}, address.column, shape.chunksOfRow * kCellsOfChunk};
  for (unsigned row = 0; row != shape.rows; ++row)
    for (unsigned copy = 0; copy != shape.numCopies; ++copy)
      region.lanes.set(address.lane + shape.getLane(row, copy));

  Tcgen05Operation operation = {};
  operation.kind =
      shape.rows == 4 ? Tcgen05AccessKind::CopyOf4 : Tcgen05AccessKind::Copy;
  operation.lane = lane;
  for (Block *block : blocks) {
    operation.uses.push_back({block, region, /*isWrite=*/true});
    operation.shared.push_back({block, *chunks});
  }
  if (!tensor.begin(warp, std::move(operation)))
    return;
  for (Block *block : blocks)
    copyToBlock(*block, form, address, *chunks);
}

void sim::translateTensorCopy(Translator &t, Modifiers &modifiers) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  CopyForm form = {};
  form.numBlocks = takeNumBlocks(t, modifiers);
  for (const CopyShape &shape : kCopyShapes) {
    llvm::ArrayRef<llvm::StringRef> rest = modifiers.rest();
    if (form.shape || !llvm::is_contained(rest, shape.name) ||
        (!shape.multicast.empty() &&
         !llvm::is_contained(rest, shape.multicast)))
      continue;
    form.shape = &shape;
    modifiers.take(shape.name);
    modifiers.take(shape.multicast);
  }
  if (!form.shape)
    return t.fail("expected a shape and a multicast that tcgen05.cp has, such "
                  "as .128x256b or .32x128b.warpx4");
  form.decompression = modifiers.takeRow(kDecompressions);
  if (modifiers.take("b8x16") != (form.decompression != nullptr))
    return t.fail("expected .b8x16.b6x16_p32, .b8x16.b4x16_p64 or none of both "
                  "behind tcgen05.cp");
  if (!t.finish(modifiers) || !t.expectOperands(2))
    return;
  Slot slots[] = {takeTensorAddress(t, operands[0], form.offset),
                  t.source(operands[1], Type::B64)};
  t.emit(executeInLanes<copyLane>, StepClass::Memory, slots, t.keep(form));
}

//===----------------------------------------------------------------------===//
// tcgen05.shift
//===----------------------------------------------------------------------===//

namespace {
struct ShiftForm {
  unsigned numBlocks;
  int64_t offset;
};
} // namespace

/// Columns that are shifted: 32 bytes.
static constexpr unsigned kShiftColumns = 8;

static void shiftLane(Warp &warp, const Step &step, unsigned lane) {
  const auto &form = step.getForm<ShiftForm>();
  std::optional<uint64_t> base =
      getLaneValue(warp, step.operands[0], lane, "an address in tensor memory");
  Tcgen05Engine &tensor = getTensorEngine(warp);
  llvm::SmallVector<Block *, 2> blocks;
  if (!base ||
      !tensor.findBlocks(warp, lane, form.numBlocks, "tcgen05.shift", blocks))
    return;
  auto [first, column] = Tcgen05Address::decode(*base + form.offset);
  if (first % kTensorWarpLanes != 0 || first >= kTensorLanes)
    return warp.fail(lane, "tcgen05.shift expected an address in a lane that "
                           "is a multiple of 32, got lane " +
                               llvm::Twine(first));
  Tcgen05Operation operation = {};
  operation.kind = Tcgen05AccessKind::Shift;
  operation.lane = lane;
  TensorRegion region = {makeTensorLanes(first, kTensorWarpLanes), column,
                         kShiftColumns};
  for (Block *block : blocks)
    operation.uses.push_back({block, region, /*isWrite=*/true});
  if (!tensor.begin(warp, std::move(operation)))
    return;
  for (Block *block : blocks) {
    TensorMemory &memory = getTensorEngine(warp).getMemory(*block);
    for (unsigned row = first; row != first + kTensorWarpLanes - 1; ++row)
      for (unsigned i = column; i != column + kShiftColumns; ++i) {
        memory.value(row, i) = memory.value(row + 1, i);
        memory.undefined(row, i) = memory.undefined(row + 1, i);
      }
  }
}

void sim::translateTcgen05Shift(Translator &t, Modifiers &modifiers) {
  ShiftForm form = {};
  form.numBlocks = takeNumBlocks(t, modifiers);
  if (!modifiers.take("down"))
    return t.fail("expected .down behind tcgen05.shift");
  if (!hasFeature(t.program.module.target, Feature::Tcgen05Shift))
    return t.fail("expected a target that has tcgen05.shift, got " +
                  t.program.module.target);
  if (!t.finish(modifiers) || !t.expectOperands(1))
    return;
  Slot base = takeTensorAddress(t, t.current->operands[0], form.offset);
  t.emit(executeInLanes<shiftLane>, StepClass::Memory, base, t.keep(form));
}

//===----------------------------------------------------------------------===//
// tcgen05.commit
//===----------------------------------------------------------------------===//

namespace {
struct CommitForm {
  unsigned numBlocks;
  int64_t offset;
  bool isMulticast;
};
} // namespace

static void commitLane(Warp &warp, const Step &step, unsigned lane) {
  const auto &form = step.getForm<CommitForm>();
  std::optional<uint64_t> address =
      getLaneValue(warp, step.operands[0], lane, "an address");
  Tcgen05Engine &tensor = getTensorEngine(warp);
  llvm::SmallVector<Block *, 2> pair;
  if (!address ||
      !tensor.findBlocks(warp, lane, form.numBlocks, "tcgen05.commit", pair))
    return;
  // Shipped code passes addresses of .shared::cta as generic ones.
  std::optional<SharedLocation> location =
      findMBarrierLocation(warp, lane, AddressSpace::SharedCluster,
                           (*address + form.offset) & UINT32_MAX);
  if (!location)
    return;
  llvm::SmallVector<SharedLocation, 2> locations = {*location};
  if (form.isMulticast) {
    std::optional<uint64_t> mask = getLaneValue(
        warp, step.operands[1], lane, "the mask of blocks of a multicast");
    if (!mask)
      return;
    llvm::SmallVector<Block *, 16> blocks;
    if (!findBlocks(warp, lane, *mask, blocks))
      return;
    locations.clear();
    for (Block *block : blocks)
      locations.push_back({block, location->offset});
  }
  for (SharedLocation each : locations)
    if (!each.block->findMBarrier(warp, lane, each.offset))
      return;
  tensor.commit(warp, lane, locations);
}

void sim::translateTcgen05Commit(Translator &t, Modifiers &modifiers) {
  llvm::ArrayRef<PtxOperand> operands = t.current->operands;
  CommitForm form = {};
  form.numBlocks = takeNumBlocks(t, modifiers);
  bool hasMechanism = modifiers.take("mbarrier::arrive::one");
  modifiers.take("shared::cluster");
  form.isMulticast = modifiers.take("multicast::cluster");
  if (!hasMechanism || !modifiers.take("b64"))
    return t.fail("expected .mbarrier::arrive::one and .b64 behind "
                  "tcgen05.commit");
  if (!t.finish(modifiers) || !t.expectOperands(1 + form.isMulticast))
    return;
  Slot slots[] = {
      t.addressIn(AddressSpace::SharedCluster, operands[0], form.offset),
      kNoSlot};
  if (form.isMulticast)
    slots[1] = t.source(operands[1], Type::B16);
  t.emit(executeInLanes<commitLane>, StepClass::Synchronization, slots,
         t.keep(form));
}
