//===- TmemOps.cpp - Ops on tensor memory ---------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verifiers of ops on tensor memory: allocation, regions, copies, loads and
// stores.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult blockscale::verifyGroup(Operation *op, int64_t group) {
  if (lookupAccColumns(group, /*isTransposed=*/false))
    return success();
  return op->emitOpError("expected group to be 1 or 2, got ") << group;
}

/// Whether the elements of a static shape, of at least one byte each, fit in
/// the shared memory of a block on some chip.
static bool fitsInBlock(MemRefType type, int64_t &most) {
  most = 0;
  for (const Chip &chip : getChips())
    most = std::max<int64_t>(most, 1024 * chip.sharedMemoryKiB);
  int64_t elements = 1;
  for (int64_t size : type.getShape()) {
    if (size > most)
      return false;
    elements *= size;
    if (elements > most)
      return false;
  }
  return true;
}

LogicalResult blockscale::verifySharedMemory(Operation *op, StringRef name,
                                             MemRefType type) {
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
    return op->emitOpError("expected ")
           << name
           << " to have a static shape, the identity layout and the workgroup "
              "memory space, got "
           << type;
  int64_t most = 0;
  if (!fitsInBlock(type, most))
    return op->emitOpError("expected ")
           << name << " to have at most " << most << " elements, got " << type;
  return success();
}

LogicalResult blockscale::verifyColumns(Operation *op, Value column,
                                        int64_t count, int64_t available,
                                        StringRef what) {
  std::optional<int64_t> first = getConstantIntValue(column);
  if (count > available)
    return op->emitOpError("expected at most the ")
           << available << " columns of " << what << ", got " << count;
  if (!first || (*first >= 0 && *first <= available - count))
    return success();
  return op->emitOpError("expected ")
         << count << " columns among the " << available << " of " << what
         << ", got those from " << *first << " on";
}

static LogicalResult verifySlot(Operation *op, MemRefType type) { // (A2)
  if (failed(verifySharedMemory(op, "slot", type)))
    return failure();
  if (type.getNumElements() == 1)
    return success();
  return op->emitOpError("expected slot to have one element, got ") << type;
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

LogicalResult TmemAllocOp::verify() {
  auto columns = static_cast<int64_t>(getColumns());
  if (!isTensorAllocation(columns)) // (A1)
    return emitOpError("expected columns to be a power of two from ")
           << kLeastTensorColumns << " to " << kTensorColumns << ", got "
           << columns;
  if (failed(verifySlot(*this, getSlot().getType())))
    return failure();
  return verifyGroup(*this, getGroup()); // (A3)
}

LogicalResult TmemRelinquishOp::verify() {
  return verifyGroup(*this, getGroup());
}

LogicalResult TmemBaseOp::verify() {
  return verifySlot(*this, getSlot().getType());
}

LogicalResult TmemDeallocOp::verify() { return verifyGroup(*this, getGroup()); }

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

template <typename RegionOp>
static LogicalResult verifyRegion(RegionOp op) { // (R1)
  return verifyColumns(op, op.getColumn(), op.getType().getNumColumns(),
                       op.getTmem().getType().getColumns(), "the allocation");
}

LogicalResult TmemAccOp::verify() { return verifyRegion(*this); }
LogicalResult TmemScalesOp::verify() { return verifyRegion(*this); }
LogicalResult TmemOperandOp::verify() { return verifyRegion(*this); }

LogicalResult TmemMetadataOp::verify() {
  // CUTLASS starts its metadata at such columns; the PTX ISA does not say more.
  constexpr int64_t kAlignment = kMetadataAtomBytes / kTensorColumnBytes;
  if (std::optional<int64_t> column = getConstantIntValue(getColumn());
      column && *column % kAlignment != 0)
    return emitOpError("expected column to be a multiple of ")
           << kAlignment << ", got " << *column;
  return verifyRegion(*this);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Checks that `bytes` bytes, an atom, from `offset` on are in `memory`.
static LogicalResult verifyAtom(Operation *op, MemRefType memory, Value offset,
                                int64_t bytes) { // (P1), (P3)
  if (failed(verifySharedMemory(op, "memory", memory)))
    return failure();
  int64_t most = memory.getNumElements() - bytes;
  if (most < 0)
    return op->emitOpError("expected memory to have at least the ")
           << bytes << " bytes of an atom, got " << memory;
  std::optional<int64_t> first = getConstantIntValue(offset);
  if (first && (*first < 0 || *first > most || *first % kChunkBytes != 0))
    return op->emitOpError("expected offset to be a multiple of ")
           << kChunkBytes << " from 0 to " << most << ", got " << *first;
  return success();
}

LogicalResult CopyScalesOp::verify() {
  TmemScalesType scales = getScales().getType(); // (P2)
  auto atom = static_cast<int64_t>(getRowAtom());
  auto word = static_cast<int64_t>(getWord());
  // With two copies, each copy is an atom of its own.
  int64_t copied = kScaleCopies / scales.getCopies();
  int64_t atoms = scales.getRows() / kScaleAtomRows / copied;
  if (atom < 0 || atom >= atoms)
    return emitOpError("expected row_atom to be less than ")
           << atoms << " for " << scales << ", got " << atom;
  if (word < 0 || word >= scales.getNumWords())
    return emitOpError("expected word to be less than ")
           << scales.getNumWords() << " for " << scales << ", got " << word;
  if (failed(verifyAtom(*this, getMemory().getType(), getOffset(),
                        kScaleAtomBytes * copied)))
    return failure();
  return verifyGroup(*this, getGroup()); // (P4)
}

LogicalResult CopyMetadataOp::verify() {
  TmemMetadataType metadata = getMetadata().getType();
  auto atom = static_cast<int64_t>(getAtom());
  if (int64_t atoms = metadata.getBytes() / kMetadataAtomBytes;
      atom < 0 || atom >= atoms) // (P2)
    return emitOpError("expected atom to be less than ")
           << atoms << " for " << metadata << ", got " << atom;
  if (failed(verifyAtom(*this, getMemory().getType(), getOffset(),
                        kMetadataAtomRows * kMetadataAtomBytes)))
    return failure();
  return verifyGroup(*this, getGroup()); // (P4)
}

LogicalResult Tcgen05CommitOp::verify() {
  MemRefType type = getBarriers().getType();
  if (failed(verifySharedMemory(*this, "barriers", type))) // (B1)
    return failure();
  std::optional<int64_t> index = getConstantIntValue(getIndex()); // (B2)
  if (index && (*index < 0 || *index >= type.getNumElements()))
    return emitOpError("expected index to be less than ")
           << type.getNumElements() << ", got " << *index;
  return verifyGroup(*this, getGroup()); // (B3)
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

/// The columns of an accumulator or of A.
static int64_t getNumColumns(Type type) {
  if (auto acc = dyn_cast<TmemAccType>(type))
    return acc.getNumColumns();
  return cast<TmemOperandType>(type).getNumColumns();
}

static LogicalResult verifyMove(Operation *op, Type vector, Value region,
                                Value column, int64_t columnsOfRegister = 1) {
  int64_t count = cast<VectorType>(vector).getNumElements();
  if (cast<VectorType>(vector).isScalable() || !isTensorMove(count)) // (L1)
    return op->emitOpError("expected a vector of 1, 2, 4, 8, 16, 32, 64 or 128 "
                           "elements, got ")
           << vector;
  return verifyColumns(op, column, count * columnsOfRegister,
                       getNumColumns(region.getType()), "the region"); // (L2)
}

LogicalResult TmemLoadOp::verify() {
  std::optional<uint64_t> lane = getFirstLane();
  if (!lane)
    return verifyMove(*this, getType(), getAcc(), getColumn());
  constexpr int64_t kLanes = 16, kLeast = 4, kColumnsOfRegister = 2;
  if (*lane != 0 && *lane != kLanes) // (L3)
    return emitOpError("expected first_lane to be 0 or ")
           << kLanes << ", got " << *lane;
  if (cast<VectorType>(getType()).getNumElements() < kLeast) // (L1)
    return emitOpError("expected a vector of at least ")
           << kLeast << " elements with first_lane, got " << getType();
  return verifyMove(*this, getType(), getAcc(), getColumn(),
                    kColumnsOfRegister);
}

LogicalResult TmemStoreOp::verify() {
  return verifyMove(*this, getValue().getType(), getAcc(), getColumn());
}
