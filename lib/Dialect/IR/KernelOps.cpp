//===- KernelOps.cpp - Ops in kernels -------------------------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Dialect/IR/BlockScale.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// tile_mma
//===----------------------------------------------------------------------===//

static LogicalResult verifySharedMemory(TileMmaOp op, StringRef name,
                                        MemRefType type) { // (T1)
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
    return op.emitOpError("expected ")
           << name
           << " to have a static shape, the identity layout and the workgroup "
              "memory space, got "
           << type;
  int64_t largest = 0;
  for (const Chip &chip : getChips())
    largest = std::max<int64_t>(largest, 1024 * chip.sharedMemoryKiB);
  if (type.getDimSize(0) > largest || type.getDimSize(1) > largest ||
      type.getNumElements() > largest)
    return op.emitOpError("expected ")
           << name << " to have at most " << largest << " bytes, got " << type;
  return success();
}

static LogicalResult verifyRows(TileMmaOp op, StringRef name, MemRefType type,
                                int64_t rows) { // (T2)
  if (type.getDimSize(0) == rows)
    return success();
  return op.emitOpError("expected ")
         << name << " to have the " << rows << " rows that "
         << op.getAcc().getType() << " has, got " << type.getDimSize(0);
}

/// The bytes of `count` elements of `format` in slots of `kind`.
static int64_t getSlotBytes(int64_t count, Kind kind, Format format) {
  return count * getSlot(kind, format).bits / 8;
}

LogicalResult TileMmaOp::verify() {
  std::pair<StringRef, MemRefType> operands[] = {
      {"a", getA().getType()},
      {"a_scale", getAScale().getType()},
      {"b", getB().getType()},
      {"b_scale", getBScale().getType()}};
  for (auto [name, type] : operands)
    if (failed(verifySharedMemory(*this, name, type)))
      return failure();
  auto acc = cast<AccType>(getAcc().getType());
  int64_t rows[] = {acc.getM(), acc.getM(), acc.getN(), acc.getN()};
  for (auto [operand, count] : llvm::zip_equal(operands, rows))
    if (failed(verifyRows(*this, operand.first, operand.second, count)))
      return failure();

  // (T3)
  OpRow row = getRow().getRow();
  const Instruction &instruction = getEmittedInstruction(row, Path::MmaSync);
  int64_t scales = getAScale().getType().getDimSize(1);
  int64_t k = scales * row.blockSize;
  if (getBScale().getType().getDimSize(1) != scales)
    return emitOpError("expected a_scale and b_scale to have one K_s, got ")
           << scales << " and " << getBScale().getType().getDimSize(1);
  if (scales < 1 || scales % kScalesPerWord != 0 || k % instruction.k != 0)
    return emitOpError("expected K_s to be a multiple of ")
           << kScalesPerWord << " and K of " << instruction.k << ", got "
           << scales << " and " << k;
  // (T4)
  for (unsigned i : {0, 2}) {
    auto [name, type] = operands[i];
    int64_t bytes =
        getSlotBytes(k, instruction.kind, i == 0 ? row.lhs : row.rhs);
    if (type.getDimSize(1) != bytes)
      return emitOpError("expected ")
             << name << " to have " << bytes << " bytes per row for " << k
             << " elements, got " << type.getDimSize(1);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// acc_load and acc_store
//===----------------------------------------------------------------------===//

template <typename AccOp>
static LogicalResult verifyIndices(AccOp op) {
  int64_t rank = op.getMemory().getType().getRank();
  if (static_cast<int64_t>(op.getIndices().size()) != rank)
    return op.emitOpError("expected one index for each of ")
           << rank << " dimensions, got " << op.getIndices().size();
  return success();
}

LogicalResult AccLoadOp::verify() { return verifyIndices(*this); }
LogicalResult AccStoreOp::verify() { return verifyIndices(*this); }

//===----------------------------------------------------------------------===//
// mma_sync
//===----------------------------------------------------------------------===//

LogicalResult MmaSyncOp::verify() { // (M2)
  unsigned scaleVec = getInstruction().getScaleVec();
  struct Selectors {
    StringRef name;
    Operand operand;
    uint64_t byte;
    uint64_t thread;
  };
  for (const Selectors &s :
       {Selectors{"a_scale", Operand::A, getAByte(), getAThread()},
        Selectors{"b_scale", Operand::B, getBByte(), getBThread()}}) {
    auto byte = static_cast<int64_t>(s.byte);
    auto thread = static_cast<int64_t>(s.thread);
    if (!isLegalByteSelector(scaleVec, byte))
      return emitOpError("expected the byte selector of ")
             << s.name << " to be one of " << describeByteSelectors(scaleVec)
             << " for scale_vec::" << scaleVec << "X, got " << byte;
    int64_t tiles = getScaleFragment(s.operand).tiles;
    if (thread < 0 || thread >= tiles)
      return emitOpError("expected the thread selector of ")
             << s.name << " to be 0 to " << tiles - 1 << ", got " << thread;
  }
  return success();
}
