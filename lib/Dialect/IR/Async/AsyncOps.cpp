//===- AsyncOps.cpp - Verifiers of asynchronous ops -----------------------===//
//
// Part of the blockscale project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tcgen05/Checks.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::blockscale;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

LogicalResult RolesOp::verify() {
  ArrayRef<int64_t> warps = getWarps();
  if (warps.size() != getBodies().size() ||
      llvm::any_of(warps, [](int64_t count) { return count < 1; })) // (Y1)
    return emitOpError("expected a positive number of warps for each of ")
           << getBodies().size() << " regions, got [" << warps << "]";
  constexpr int64_t kMostWarps = 32;
  int64_t sum = 0;
  for (int64_t count : warps)
    sum += std::min(count, kMostWarps + 1);
  if (sum > kMostWarps) // (Y2)
    return emitOpError("expected at most ")
           << kMostWarps << " warps, got [" << warps << "]";
  return success();
}

//===----------------------------------------------------------------------===//
// Barriers and copies
//===----------------------------------------------------------------------===//

static LogicalResult verifyBarrier(Operation *op, MemRefType type,
                                   Value index) {
  if (failed(verifySharedMemory(op, "barriers", type))) // (B1)
    return failure();
  std::optional<int64_t> known = getConstantIntValue(index);
  if (known && (*known < 0 || *known >= type.getNumElements())) // (B2)
    return op->emitOpError("expected one of ")
           << type.getNumElements() << " barriers, got number " << *known;
  return success();
}

/// The limit of the counts of arrivals and bytes of an mbarrier (PTX ISA,
/// "Contents of the mbarrier object").
static constexpr int64_t kMostCount = (1 << 20) - 1;

LogicalResult BarrierInitOp::verify() {
  auto count = static_cast<int64_t>(getCount());
  if (count < 1 || count > kMostCount) // (B3)
    return emitOpError("expected a count from 1 to ")
           << kMostCount << ", got " << count;
  return verifyBarrier(*this, getBarriers().getType(), getIndex());
}

LogicalResult BarrierArriveOp::verify() {
  auto bytes = static_cast<int64_t>(getBytes().value_or(0));
  if (bytes < 0 || bytes > kMostCount) // (B4)
    return emitOpError("expected 0 to ")
           << kMostCount << " bytes, got " << bytes;
  if (getBlock() && getBytes()) // (B5)
    return emitOpError("expected no block of the cluster for an arrival that "
                       "expects bytes, got ")
           << bytes << " bytes";
  if (getCluster() && !getBlock()) // (B5)
    return emitOpError("expected a block of the cluster for an arrival that "
                       "those of other blocks see");
  return verifyBarrier(*this, getBarriers().getType(), getIndex());
}

LogicalResult BarrierWaitOp::verify() {
  return verifyBarrier(*this, getBarriers().getType(), getIndex());
}

LogicalResult BlockMemoryOp::verify() {
  auto memory = cast<MemRefType>(getMemory().getType());
  if (failed(verifySharedMemory(*this, "memory", memory))) // (M1)
    return failure();
  auto space = IntegerAttr::get(
      IntegerType::get(getContext(), 64),
      static_cast<int64_t>(NVVM::NVVMMemorySpace::SharedCluster));
  MemRefType expected = MemRefType::Builder(memory).setMemorySpace(space);
  if (getType() != expected) // (M2)
    return emitOpError("expected a result of ")
           << expected << ", got " << getType();
  return success();
}

LogicalResult TensorLoadOp::verify() {
  constexpr size_t kMostDims = 5;
  size_t dims = getCoordinates().size();
  if (dims < 1 || dims > kMostDims) // (L2)
    return emitOpError("expected 1 to ")
           << kMostDims << " coordinates, got " << dims;
  auto memory = cast<MemRefType>(getMemory().getType());
  if (failed(verifySharedMemory(*this, "memory", memory))) // (L1)
    return failure();
  std::optional<int64_t> known = getConstantIntValue(getOffset());
  if (known && (*known < 0 || *known >= memory.getNumElements() ||
                *known % kBankRowBytes != 0))
    return emitOpError("expected an offset in memory that is a multiple of ")
           << kBankRowBytes << ", got " << *known;
  if (failed(verifyGroup(*this, getGroup()))) // (L3)
    return failure();
  return verifyBarrier(*this, getBarriers().getType(), getIndex());
}
